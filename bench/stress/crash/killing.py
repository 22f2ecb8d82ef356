"""Nights of a schedule, each killed at random moments."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lib.moilctl import FINAL_STATES
from lib.night import MODEL

from .device import BASE, SCHEDULE, Device, kill_process
from .promises import OTHER, Promises

STAGES = ["mix", "measure", "cache", "distill", "imprint", "train", "judge", "promote"]


@dataclass
class Tally:
    kills: int = 0
    nights: int = 0
    hits: Counter[tuple[str, str]] = field(default_factory=Counter)  # stage, who was killed
    acknowledged: int = 0  # labels, versions put in service, schedules, nights
    lost: list[str] = field(default_factory=list)
    different_weights: int = 0
    failures: list[str] = field(default_factory=list)

    def is_clean(self) -> bool:
        return not (self.lost or self.different_weights or self.failures)

    def document(self) -> dict[str, Any]:
        hits = [{"stage": stage, "killed": who, "count": count} for (stage, who), count in sorted(self.hits.items())]
        return {
            "kills": self.kills,
            "nights": self.nights,
            "lost": len(self.lost),
            "lost_what": self.lost,
            "acknowledged": self.acknowledged,
            "different_weights": self.different_weights,
            "failures": self.failures,
            "hits": hits,
        }


class Killing:
    """A device whose schedule queues a job every night, and a client that never rests."""

    def __init__(self, device: Device, chance: random.Random, tally: Tally):
        self._device = device
        self._chance = chance
        self._tally = tally
        for _ in range(2):
            device.rpc("model.import", name=OTHER, path=device.rpc("model.get", model=MODEL)["folder"])
        device.add_schedule()
        self._promises = Promises(device.daemon.socket, chance.randrange(1 << 30), device.spec)

    def run(self, kills: int, kills_a_night: int, each: Any) -> None:
        self._promises.start()
        try:
            while self._tally.kills < kills:
                self._night(min(kills_a_night, kills - self._tally.kills))
                each()
        finally:
            self._promises.stop()
        self._tally.acknowledged += self._promises.kept + self._tally.nights
        self._tally.lost += self._promises.lost(self._device.rpc)
        self._tally.failures += [f"refused: {text}" for text in self._promises.refused]
        self._device.rpc("schedule.rm", name=SCHEDULE)

    def _night(self, kills: int) -> None:
        """The night comes; whoever is killed in it, its job comes to the same end, once."""
        device = self._device
        device.rpc("cache.gc", all=True)
        before = device.schedule()["last_job"] or 0
        device.set_night()
        self._tally.nights += 1
        for _ in range(kills):
            self._let_pass(before)
            if not self._kill(before):
                break
        job = self._job_behind(before)
        if job is None:
            remark = device.schedule()["remark"]
            self._tally.lost.append(f"night {self._tally.nights}: no job was queued: {remark}")
            return device.set_day()
        self._judge(device.wait(job))
        device.set_day()
        later = device.schedule()["last_job"]
        if later != job:
            self._tally.lost.append(f"night {self._tally.nights}: jobs {job} and {later} were queued")
        if device.rpc("model.get", model=MODEL)["version"] != BASE:
            device.rpc("model.activate", model=MODEL, version=BASE)

    def _let_pass(self, before: int) -> None:
        """A while, or until a stage has begun: most of them are so short that chance would miss them."""
        if self._chance.random() < 0.5:
            return time.sleep(self._chance.uniform(0, 0.6 * self._device.seconds))
        wanted = self._chance.choice(STAGES)
        give_up = time.monotonic() + 2 * self._device.seconds
        while time.monotonic() < give_up:
            job = self._device.schedule()["last_job"]
            if job and job != before:
                found = self._device.job(job)
                stage = (found["progress"] or {}).get("stage")
                if found["state"] in FINAL_STATES or (stage in STAGES and STAGES.index(stage) >= STAGES.index(wanted)):
                    return
            time.sleep(0.005)

    def _job_behind(self, before: int, seconds: float = 60) -> int | None:
        """The job that the schedule has queued since."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            job = self._device.schedule()["last_job"]
            if job and job != before:
                return int(job)
            time.sleep(0.05)
        return None

    def _kill(self, before: int) -> bool:
        """Kills somebody; False if the night's job has ended before that."""
        device = self._device
        last = device.schedule()["last_job"]
        stage = "queueing"
        if last and last != before:
            found = device.job(last)
            if found["state"] in FINAL_STATES:
                return False
            stage = (found["progress"] or {}).get("stage", "between")
        workers = device.daemon.workers()
        who = self._chance.choice(["worker", "daemon"]) if workers else "daemon"
        if who == "daemon":
            device.restart_after_kill()
        else:
            for worker in workers:
                kill_process(worker)
        self._tally.kills += 1
        self._tally.hits[stage, who] += 1
        return True

    def _judge(self, ended: dict[str, Any]) -> None:
        device, tally = self._device, self._tally
        if ended["state"] != "succeeded":
            tally.failures.append(f"job {ended['id']} {ended['state']}: {ended['message']}")
            return
        if device.weights(ended) != device.expected:
            tally.different_weights += 1
        active = device.rpc("model.get", model=MODEL)["version"]
        if active != ended["version"]:
            tally.lost.append(f"version {ended['version']} of job {ended['id']} in service: it is {active}")
