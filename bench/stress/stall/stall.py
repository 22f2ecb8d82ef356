"""A daemon with much in it, and every method of its protocol asked for much."""

from __future__ import annotations

import base64
import os
import resource
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.client import Client, Refused
from lib.daemon import Daemon
from lib.programs import build_dir

from .greed import Greed
from .probe import Echo, Probe
from .requests import Request, Requests

GOAL_MS = 100
_SLACK = 4  # an answer takes several turns of a machine that is busy
_GREEDY_SECONDS = 3.0
_USERS = {"read": "nobody", "label": "daemon", "operate": "games"}  # every system has these
_MODEL = "digits"


def _limit(machine_ms: float, goal_ms: float) -> float:
    """If the machine is busy with something else, every turn of the daemon takes longer."""
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return goal_ms * busy + _SLACK * machine_ms


@dataclass(frozen=True)
class Size:
    """How much there is, and how much is asked for."""

    samples: int = 10_000
    added: int = 3000  # by one request
    schedules: int = 1000
    jobs: int = 300

    @staticmethod
    def quick() -> Size:
        return Size(samples=1000, added=100, schedules=100, jobs=30)


@dataclass
class MethodFigures:
    method: str
    input: str
    seconds: float
    longest_wait_ms: float  # of another client's system.status
    machine_ms: float  # of another process that answers at once: how busy the machine is with something else
    descriptors: int  # of the daemon, at most
    loop_flushes: list[str]  # files that the loop itself flushed, while nobody was served

    def is_too_long(self, goal_ms: float = GOAL_MS) -> bool:
        return self.longest_wait_ms > _limit(self.machine_ms, goal_ms)


@dataclass
class RoleFigures:
    role: str
    requests: int
    longest_wait_ms: float
    machine_ms: float
    predict_seconds: float  # of another user's model.predict meanwhile
    descriptors: int
    loop_flushes: list[str]

    def is_too_long(self, goal_ms: float = GOAL_MS) -> bool:
        return self.longest_wait_ms > _limit(self.machine_ms, goal_ms)


@dataclass
class Figures:
    flush_ms: int
    methods: list[MethodFigures] = field(default_factory=list)
    roles: list[RoleFigures] = field(default_factory=list)  # empty if this is not root
    unasked: list[str] = field(default_factory=list)  # methods of the daemon that are not tried here
    rest_ms: float = 0  # what system.status waits while nothing is asked for
    longest_wait_ms: float = 0
    descriptors: int = 0
    descriptor_limit: int = 0

    def faults(self) -> list[str]:
        """What is not as it was promised."""
        wrong = [f"{method} is not tried" for method in self.unasked]
        for one in self.methods:
            if one.is_too_long():
                wrong.append(f"{one.method} ({one.input}): system.status waits {one.longest_wait_ms:.0f} ms")
        for role in self.roles:
            if role.is_too_long():
                wrong.append(f"beside a user of role {role.role} system.status waits {role.longest_wait_ms:.0f} ms")
        if self.descriptors > self.descriptor_limit * 3 / 4:
            wrong.append(f"{self.descriptors} descriptors are open, of {self.descriptor_limit}")
        return wrong


def daemon_by_day(folder: Path) -> Daemon:
    """Its night is far, so that what is queued stays so, and its worker computes nothing."""
    hour = time.localtime().tm_hour
    config = {
        "window": {"start": f"{(hour + 6) % 24:02}:00", "end": f"{(hour + 7) % 24:02}:00"},
        "worker": {"path": str(build_dir() / "tests" / "daemon" / "fake_worker"), "backoff_seconds": 0.05},
        "poll_seconds": 0.5,
        "server": {"requests_per_second": 100_000},
        "access": {role: [user] for role, user in _USERS.items()},
    }
    return Daemon(folder / "state", config=config)


class Stall:
    """`flush_ms`: what a flush of the disk takes while it is measured."""

    def __init__(self, folder: Path, size: Size, flush_ms: int):
        self._folder = folder
        self._size = size
        self._flush_ms = flush_ms
        folder.chmod(0o711)  # others come to the socket through it
        self._daemon = daemon_by_day(folder)

    def measure(self) -> Figures:
        figures = Figures(self._flush_ms, descriptor_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        requests = self._furnish()
        self._echo = Echo()
        self._daemon.start_without_waiting(self._disk(self._flush_ms))
        try:
            self._daemon._wait_until_it_answers(60)
            self._rest(figures)
            client = Client(self._daemon.socket)
            known = {method["name"] for method in client.ask("system.methods")["methods"]}
            self._ask_all(client, requests.of_all_methods(client), figures)
            if os.geteuid() == 0:
                self._be_greedy(requests, figures)
            self._ask_all(client, requests.removals(client), figures)
            client.close()
            figures.unasked = sorted(known - {one.method for one in figures.methods})
        finally:
            self._daemon.stop()
            self._echo.close()
        waits = [one.longest_wait_ms for one in [*figures.methods, *figures.roles]]
        figures.longest_wait_ms = max(waits)
        figures.descriptors = max(one.descriptors for one in [*figures.methods, *figures.roles])
        return figures

    # --- what is there ----------------------------------------------------------------------------

    def _disk(self, milliseconds: int) -> dict[str, str]:
        library = build_dir() / "tests" / "preload" / "libmoil_slow_disk.so"
        if not library.is_file():
            raise FileNotFoundError(f"{library} is not built; build moil_slow_disk, or set MOIL_BUILD")
        log = {"MOIL_FLUSH_LOG": str(self._folder / "flushes"), "MOIL_FLUSH_OF": "moild"}
        return {"LD_PRELOAD": str(library), "MOIL_FLUSH_MS": str(milliseconds), **log}

    def _flushes(self) -> list[str]:
        """Files that the loop has flushed, below the state folder or beside it."""
        log = self._folder / "flushes"
        return [line.removeprefix(f"{self._folder}/") for line in log.read_text().splitlines()] if log.exists() else []

    def _furnish(self) -> Requests:
        """Models, a canary, samples, schedules and jobs; on a disk whose flushes take no time."""
        source = self._folder / "source"
        source.mkdir()
        (source / "model.json").write_text("{}")
        self._daemon.start_without_waiting(self._disk(0))
        self._daemon._wait_until_it_answers(60)
        client = Client(self._daemon.socket)
        requests = Requests(source, self._daemon.socket, self._size.added)
        try:
            for model in (_MODEL, "other"):
                client.ask("model.import", {"name": model, "path": str(source)})
            requests.samples = self._add_samples(client)
            for name in ("night", "long", "night"):  # the last has a canary
                self._night(client, requests.job(name, canary={} if name == "night" else None))
            client.ask("schedule.add", {"schedule": requests.schedule("one")})
        finally:
            client.close()
            self._daemon.stop()
        self._multiply()
        return requests

    def _add_samples(self, client: Client) -> list[str]:
        digests: list[str] = []
        for at in range(0, self._size.samples, 500):
            photos = [f"photo {i} of many".encode() for i in range(at, min(at + 500, self._size.samples))]
            samples = [{"content": base64.b64encode(b"\xff\xd8\xff" + p).decode(), "name": f"{at}.jpg"} for p in photos]
            added = client.ask("label.add", {"labels": [f"label {at // 500}"], "samples": samples})
            digests += [sample["digest"] for sample in added["samples"]]
        return digests

    def _night(self, client: Client, job: dict[str, Any]) -> None:
        number = client.ask("job.submit", {"job": job, "now": True})["id"]
        give_up = time.monotonic() + 60
        while (found := client.ask("job.get", {"id": number, "details": False})["job"])["state"] != "succeeded":
            if time.monotonic() > give_up or found["state"] == "failed":
                raise RuntimeError(f"job {number} does not succeed: {found}")
            time.sleep(0.02)

    def _multiply(self) -> None:
        """More jobs and schedules, as if they had been there for long: copies of those that are."""
        counting = "WITH RECURSIVE n (i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        with sqlite3.connect(self._folder / "state" / "moild.db") as database:
            jobs = [row[1] for row in database.execute("PRAGMA table_info(jobs)") if row[1] not in ("id", "version", "base_version")]
            columns = ", ".join(jobs)
            database.execute(
                f"{counting} INSERT INTO jobs ({columns}) SELECT {columns} FROM n, jobs WHERE id = (SELECT min(id) + i % 2 FROM jobs)",
                (self._size.jobs,),
            )
            columns = ", ".join(row[1] for row in database.execute("PRAGMA table_info(schedules)"))
            copied = columns.replace("name", "'schedule-' || i", 1)
            copied = copied.replace("description", "json_set(description, '$.name', 'schedule-' || i)", 1)
            copied = copied.replace("last_job", f"(SELECT min(id) + i % {self._size.jobs} FROM jobs)", 1)
            database.execute(f"{counting} INSERT INTO schedules ({columns}) SELECT {copied} FROM n, schedules WHERE name = 'one'", (self._size.schedules,))
        database.close()

    # --- what is asked ----------------------------------------------------------------------------

    def _rest(self, figures: Figures) -> None:
        with Probe(self._daemon.socket, self._daemon.pid, self._echo) as probe:
            time.sleep(1.5)
        figures.rest_ms = round(probe.longest_ms, 1)

    def _ask_all(self, client: Client, requests: Iterator[Request], figures: Figures) -> None:
        for method, what, params, files in requests:
            figures.methods.append(self._ask(client, method, what, params, files))

    def _ask(self, client: Client, method: str, what: str, params: dict[str, Any], files: list[int]) -> MethodFigures:
        before = len(self._flushes())
        with Probe(self._daemon.socket, self._daemon.pid, self._echo) as probe:
            began = time.monotonic()
            try:
                client.ask(method, params, files)
            except Refused as error:
                if error.code in ("invalid_argument", "internal", "unimplemented"):  # it was not carried out at all
                    raise
            seconds = time.monotonic() - began
        return MethodFigures(method, what, round(seconds, 3), round(probe.longest_ms, 1), round(probe.machine_ms, 1), probe.descriptors, self._flushes()[before:])

    def _be_greedy(self, requests: Requests, figures: Figures) -> None:
        for role, user in _USERS.items():
            before = len(self._flushes())
            greed = Greed(self._daemon.socket, user, _GREEDY_SECONDS, requests.of_a_greedy_user(role))
            with Probe(self._daemon.socket, self._daemon.pid, self._echo) as probe:
                greed.begin()
                time.sleep(_GREEDY_SECONDS / 2)
                began = time.monotonic()
                client = Client(self._daemon.socket, 60)
                client.ask("model.predict", requests.small_predict())
                seconds = time.monotonic() - began
                client.close()
                sent = greed.end()
            figures.roles.append(RoleFigures(role, sent, round(probe.longest_ms, 1), round(probe.machine_ms, 1), round(seconds, 3), probe.descriptors, self._flushes()[before:]))
