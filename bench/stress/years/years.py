"""Nights one after the other, by a clock that jumps from evening to night to day."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import FINAL_STATES
from lib.preload import Preload
from lib.results import Result, Unset, result_of
from lib.rpc import Rpc
from lib.settings import Basis

from .people import Person, people

FIRST_DAY = datetime(2030, 1, 1)
NOON, NIGHT = timedelta(hours=12), timedelta(days=1, hours=1, minutes=30)
CONFIG = {
    "poll_seconds": 0.02,
    "worker": {"backoff_seconds": 0.1},
}
RESULTS = ("succeeded", "rejected-by-guard")
PATIENCE = 300.0  # seconds of real time for a night
PARTS = ["models", "jobs", "cache", "labels"]  # of the state folder; what is left is the database


BASIS = Basis("samples of the person that the daemon holds out", "nothing: the same for all people and nights")


@dataclass(frozen=True)
class Night:
    """One model's: `outcome` is a job's final state, or "nothing new"; anything else is a failure."""

    night: int
    model: str
    outcome: str
    message: str
    job: int | None
    result: Result | None
    seconds: float  # of the night, or of waiting for it

    @property
    def global_accuracy(self) -> float | None:
        return self.result.global_after if self.result else None

    @property
    def local_accuracy(self) -> float | None:
        return self.result.local_after if self.result else None

    def to_json(self) -> dict[str, Any]:
        told = self.result.told() if self.result else {}
        accuracies = {"global_accuracy": self.global_accuracy, "local_accuracy": self.local_accuracy}
        names = ("night", "model", "outcome", "message", "job", "seconds")
        return {name: getattr(self, name) for name in names} | accuracies | told


@dataclass
class Size:
    """The state folder's in bytes on the disk, and the daemon's memory, after a night."""

    night: int
    state_bytes: int
    parts: dict[str, int]
    rss_bytes: int


@dataclass
class Years:
    nights: list[Night] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    rss_peak: int = 0
    seconds: float = 0
    people: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(night.outcome for night in self.nights)

    @property
    def failed(self) -> list[Night]:
        return [night for night in self.nights if night.outcome not in (*RESULTS, "nothing new")]

    def document(self) -> dict[str, Any]:
        return {
            "nights": len(self.sizes),
            "state_bytes_peak": max((size.state_bytes for size in self.sizes), default=0),
            "rss_peak": self.rss_peak,
            "failed": [night.to_json() for night in self.failed],
            "outcomes": dict(self.outcomes),
            "seconds": self.seconds,
            "people": self.people,
            "sizes": [asdict(size) for size in self.sizes],
            "curve": [night.to_json() for night in self.nights],
        }


class Device:
    """A daemon with a model a person, each with its schedule, and the clock."""

    def __init__(self, folder: Path, seed: int):
        self._folder = folder
        self._people = people(seed)
        state = folder / "state"
        self._preload = Preload(folder, state)
        self._daemon = Daemon(state, config=CONFIG, environment={**self._preload.environment, "TZ": "UTC"})
        self._rpc = Rpc(self._daemon.socket)
        self._set_clock(FIRST_DAY + NOON)

    def run(self, nights: int, years: Years, each: Any = None) -> None:
        """Adds what the nights come to; `each` is called after every one."""
        began = time.monotonic()
        with self._daemon:
            for person in self._people:
                self._set_up(person)
            for night in range(nights):
                self._one(night, years)
                years.seconds = time.monotonic() - began
                if each:
                    each(night)
            self._rpc.close()
        years.people = {p.name: {"added": p.added, "corrected": p.corrected, "forgotten": p.forgotten} for p in self._people}

    def _set_up(self, person: Person) -> None:
        base = person.pretrain(self._folder)
        self._rpc("model.import", name=person.name, path=str(base / "model"))
        person.begin(self._rpc)
        schedule = {"name": person.name, "only_if": {"new_labels": 1}, "job": person.job(base)}
        self._rpc("schedule.add", schedule=schedule)

    def _one(self, night: int, years: Years) -> None:
        day = FIRST_DAY + timedelta(days=night)
        self._set_clock(day + NOON)
        for person in self._people:
            person.live(self._rpc, night)
        before = self._schedules()
        self._set_clock(day + NIGHT)
        for person in self._people:
            years.nights.append(self._await(night, person, before[person.name]))
        years.sizes.append(self._size(night))
        years.rss_peak = max(years.rss_peak, self._memory("VmHWM"))

    # Its moment has come when the schedule was looked at; then it has a job, or a remark.
    def _await(self, night: int, person: Person, before: dict[str, Any]) -> Night:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            schedule = self._schedules()[person.name]
            if schedule["last_at"] != before["last_at"]:
                if schedule["last_job"] == before["last_job"]:
                    nothing = "labelled since the last run" in schedule["remark"]
                    return Night(night, person.name, "nothing new" if nothing else "passed over", schedule["remark"], None, None, 0)
                job = self._rpc("job.get", id=schedule["last_job"])["job"]
                if job["state"] in FINAL_STATES:
                    return self._ended(night, person, job)
            time.sleep(0.02)
        return Night(night, person.name, "not ended", json.dumps(self._rpc("system.status"))[:2000], None, None, PATIENCE)

    def _ended(self, night: int, person: Person, job: dict[str, Any]) -> Night:
        result = result_of(Unset(person.name, person.name, 0.5, 2), job, BASIS) if job["state"] in RESULTS else None
        return Night(night, person.name, job["state"], job["message"], job["id"], result, result.seconds if result else 0)

    def _schedules(self) -> dict[str, dict[str, Any]]:
        return {schedule["name"]: schedule for schedule in self._rpc("schedule.list")["schedules"]}

    def _set_clock(self, moment: datetime) -> None:
        self._preload.set_clock_ahead((moment - datetime(1970, 1, 1)).total_seconds() - time.time())

    def _size(self, night: int) -> Size:
        state = self._daemon.state
        parts = {part: _disk_bytes(state / part) for part in PARTS}
        whole = _disk_bytes(state)
        parts["other"] = whole - sum(parts.values())
        return Size(night, whole, parts, self._memory("VmRSS"))

    def _memory(self, name: str) -> int:
        for line in Path(f"/proc/{self._daemon.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
        raise KeyError(name)


def _disk_bytes(folder: Path) -> int:
    whole = 0
    for parent, _, files in os.walk(folder):
        for path in [parent, *(os.path.join(parent, name) for name in files)]:
            try:
                whole += os.lstat(path).st_blocks * 512
            except FileNotFoundError:
                pass  # removed meanwhile
    return whole
