"""Nights whose disk, database or cache fails: each ends well, or says what is wrong, and the model
in service stays in service."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from dataclasses import asdict, dataclass
from typing import Any

from lib.client import Refused
from lib.moilctl import FINAL_STATES
from lib.night import MODEL
from lib.preload import DAEMON, WORKER

from .device import BASE, Device

WHO = {"daemon": DAEMON, "worker": WORKER, "both": DAEMON | WORKER}
# One call in so many. LMDB gives up a transaction at its first short write, and the night the cache once that has
# happened a few times: half of all writes may not be short.
RATES = {"ENOSPC": [2, 10, 50], "EIO": [2, 10, 50], "EINTR": [2, 10, 50], "short": [10, 50]}
HARMLESS = {"EINTR", "short"}  # such a call is made again, or goes on
ENDLESS = -1
MOST_TRIES = 4  # of a night in which no call was struck
PATIENCE = 60.0  # seconds in which a night ends when nothing fails any more
SMALL_CACHE = 0.8  # of what a night's feature maps take: it keeps those of the same layer, as many as there is room for
LONG_ANSWER = 0.2  # seconds


@dataclass
class Fault:
    """`outcome` is "completed", "refused" or "failed", the last two with a message; what a user should
    never see is "bad": and says what. `struck`: calls, answers that were kept waiting, maps that were not kept."""

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


def needs_strike(fault: Fault, struck: int, otherwise: str) -> Fault:
    """A night in which nothing failed shows nothing."""
    fault.struck = struck
    if not struck and not fault.is_bad:
        fault.outcome = f"bad: {otherwise}"
    return fault


class Faults:
    def __init__(self, device: Device, chance: random.Random):
        self._device = device
        self._chance = chance
        self._answers = device.answers()
        self._waits = 0  # answers of the last night that took long, or were refused
        self._uncached = 0  # feature maps that the last night did not keep

    def run(self, count: int, each: Any) -> list[Fault]:
        """About so many nights that fail, of every kind by turns."""
        cases = [(kind, who) for kind in RATES for who in WHO]
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
        """Until a call is struck; more of them each time."""
        rates, most = RATES[kind], self._chance.choice([1, 5, ENDLESS])
        preload = self._device.preload
        job_first = self._chance.random() < 0.5  # else it may be refused, which is an end, too
        for one_in in sorted(rates[: self._chance.randint(1, len(rates))], reverse=True) + MOST_TRIES * rates[:1]:
            how = f"one call in {one_in}" + ("" if most == ENDLESS else f", {most} in all")
            fault = self._night(kind, who, how, lambda: preload.fail(kind, one_in, WHO[who], most), preload.heal, job_first=job_first)
            if fault.struck or fault.is_bad:
                return fault
        return needs_strike(fault, 0, "no call was struck")

    def _busy(self, seconds: float) -> Fault:
        """Somebody else holds the database's lock, whoever waits for it."""
        held = sqlite3.connect(self._device.daemon.state / "moild.db", isolation_level=None, check_same_thread=False)
        let_go = threading.Timer(seconds, held.rollback)

        def begin() -> None:
            held.execute("BEGIN IMMEDIATE")
            let_go.start()

        def end() -> None:
            let_go.join()
            held.close()

        fault = self._night("SQLite busy", "daemon", f"for {seconds:g} s", begin, end, most_seconds=seconds, job_first=True)
        return needs_strike(fault, self._waits, "no answer was kept waiting")

    def _full_cache(self) -> Fault:
        """There is no room for all of the night's feature maps."""
        device = self._device
        quota = int(SMALL_CACHE * device.map_bytes)
        device.restart({"cache": {"quota_bytes": quota}})
        fault = self._night("small cache", "worker", f"{quota >> 10} KiB", lambda: None, lambda: None)
        device.restart({})
        return needs_strike(fault, self._uncached, "all feature maps were kept")

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
        struck = device.preload.struck if kind in RATES else 0
        outcome, message = self._settle(job, message)
        if kind in HARMLESS and outcome in ("refused", "failed"):
            outcome = f"bad: {outcome}"
        return Fault(kind, who, how, struck, outcome, message, round(time.monotonic() - began, 1))

    def _watch(self, job: int, seconds: float) -> str:
        """The night while it fails: what is said of it last."""
        give_up = time.monotonic() + seconds
        said = ""
        self._waits = 0
        while (began := time.monotonic()) < give_up:
            try:
                found = self._device.job(job)
                self._waits += time.monotonic() - began > LONG_ANSWER
                said = found["message"] or said
                if found["state"] in FINAL_STATES:
                    break
            except Refused as error:
                said = str(error)
                self._waits += 1
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
        self._uncached = int(found["result"]["details"]["cache"]["uncached"])
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
