"""Nights whose disk, database or cache fails: each ends well, or says what is wrong, and the model
in service stays in service."""

from __future__ import annotations

import random
import sqlite3
import time
from dataclasses import asdict, dataclass
from typing import Any

from night.moilctl import FINAL_STATES
from night.night import MODEL
from night.preload import DAEMON, WORKER
from night.rpc import Refused

from .device import BASE, Device

WHO = {"daemon": DAEMON, "worker": WORKER, "both": DAEMON | WORKER}
RATES = [2, 10, 50]  # one call in so many
ENDLESS = -1
PATIENCE = 60.0  # seconds in which a night ends when nothing fails any more
SMALL_CACHE = 256 << 10


@dataclass
class Fault:
    """`outcome` is "completed", "refused" or "failed", the last two with a message; what a user should
    never see is "bad": and says what."""

    kind: str
    who: str
    how: str
    struck: int
    outcome: str
    message: str
    seconds: float

    @property
    def is_bad(self) -> bool:
        return self.outcome.startswith("bad")

    def document(self) -> dict[str, Any]:
        return asdict(self)


def attempts(count: int) -> str:
    return "at once" if count == 1 else f"in {count} attempts"


class Faults:
    def __init__(self, device: Device, chance: random.Random):
        self._device = device
        self._chance = chance
        self._answers = device.answers()

    def run(self, count: int, each: Any) -> list[Fault]:
        """About so many nights that fail, of every kind by turns."""
        cases = [(kind, who) for kind in ("ENOSPC", "EIO", "EINTR", "short") for who in WHO]
        faults = []
        for number in range(max(count - 3, len(cases))):
            kind, who = cases[number % len(cases)]
            faults.append(self._disk(kind, who))
            each(faults[-1])
        for special in (lambda: self._busy(2), lambda: self._busy(13), self._full_cache):
            faults.append(special())
            each(faults[-1])
        faults.append(self._undisturbed())
        each(faults[-1])
        return faults

    def _disk(self, kind: str, who: str) -> Fault:
        one_in = self._chance.choice(RATES)
        most = self._chance.choice([1, 5, ENDLESS])
        how = f"one call in {one_in}" + ("" if most == ENDLESS else f", {most} in all")
        preload = self._device.preload
        job_first = self._chance.random() < 0.5  # else it may be refused, which is an end, too
        return self._night(kind, who, how, lambda: preload.fail(kind, one_in, WHO[who], most), preload.heal, job_first=job_first)

    def _busy(self, seconds: float) -> Fault:
        """Somebody else holds the database's lock."""
        held: list[sqlite3.Connection] = []

        def begin() -> None:
            held.append(sqlite3.connect(self._device.daemon.state / "moild.db", isolation_level=None, check_same_thread=False))
            held[0].execute("BEGIN IMMEDIATE")

        def end() -> None:
            held[0].rollback()
            held[0].close()

        return self._night("SQLite busy", "daemon", f"for {seconds:g} s", begin, end, most_seconds=seconds, job_first=True)

    def _full_cache(self) -> Fault:
        """The map is full long before the night's feature maps are in it. A night of so small a cache may keep
        those of a layer further back, and comes to the weights of another such night."""
        device = self._device
        device.restart({"cache": {"quota_bytes": SMALL_CACHE}})
        usual, device.expected = device.expected, device.undisturbed()
        fault = self._night("LMDB map full", "worker", f"{SMALL_CACHE >> 10} KiB", lambda: None, lambda: None)
        device.expected = usual
        device.restart({})
        return fault

    def _undisturbed(self) -> Fault:
        """After all that, a night is what it was."""
        return self._night("none", "both", "after all others", lambda: None, lambda: None)

    def _night(self, kind: str, who: str, how: str, begin: Any, end: Any, most_seconds: float = 0, job_first: bool = False) -> Fault:
        device = self._device
        began = time.monotonic()
        job, message = None, ""
        device.rpc("cache.gc", all=True)
        if job_first:
            job = device.submit()
        begin()
        try:
            job = job or int(device.rpc("job.submit", job=device.spec, now=True)["id"])
            message = self._watch(job, most_seconds or max(4 * device.seconds, 5))
        except Refused as error:
            message = str(error)
        except OSError as error:
            message = f"no answer: {error}"
        finally:
            end()
        struck = device.preload.struck if kind in ("ENOSPC", "EIO", "EINTR", "short") else 1
        outcome, message = self._settle(job, message)
        return Fault(kind, who, how, struck, outcome, message, round(time.monotonic() - began, 1))

    def _watch(self, job: int, seconds: float) -> str:
        """The night while it fails: what is said of it last."""
        give_up = time.monotonic() + seconds
        said = ""
        while time.monotonic() < give_up:
            try:
                found = self._device.job(job)
                said = found["message"] or said
                if found["state"] in FINAL_STATES:
                    break
            except Refused as error:
                said = str(error)
            time.sleep(0.1)
        return said

    def _settle(self, job: int | None, message: str) -> tuple[str, str]:
        """Nothing fails any more: how the night ends, and whether the model is in service."""
        device = self._device
        if not device.daemon.is_alive():
            last = device.daemon.last_line()
            device.rpc.close()
            device.daemon.start()
            return "bad: moild ended", last
        device.pass_minutes(10)
        if job is None:
            return self._in_service(BASE, "refused" if message else "bad: no message", message)
        found = device.wait(job, PATIENCE)
        if found["state"] not in FINAL_STATES:
            device.rpc("job.cancel", id=job)
            device.wait(job, PATIENCE)
            return "bad: did not end", found["message"]
        if found["state"] != "succeeded":
            return self._in_service(BASE, "failed" if found["message"] else "bad: no message", found["message"])
        if device.weights(found) != device.expected:
            return "bad: other weights", message
        outcome = self._in_service(found["version"], "completed", attempts(found["attempts"]))
        device.rpc("model.activate", model=MODEL, version=BASE)
        return outcome

    def _in_service(self, version: int, outcome: str, message: str) -> tuple[str, str]:
        device = self._device
        active = device.rpc("model.get", model=MODEL)["version"]
        if active != version:
            device.rpc("model.activate", model=MODEL, version=BASE)
            return f"bad: version {active} is in service, not {version}", message
        if version == BASE and device.answers() != self._answers:
            return "bad: the model in service answers otherwise", message
        return outcome, message
