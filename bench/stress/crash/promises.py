"""What the daemon acknowledges while it is being killed, and whether it keeps its word."""

from __future__ import annotations

import base64
import random
import threading
import time
from pathlib import Path

from lib.client import Refused
from lib.night import MODEL
from lib.rpc import Rpc

LABEL = "added meanwhile"  # that no night learns
OTHER = "other"  # a model whose versions are put in service in turn


class Promises:
    """A client that labels, puts versions in service, adds and removes schedules without a pause.

    Only what was answered counts. It asks on a thread of its own, from start() to stop().
    """

    def __init__(self, socket: Path, seed: int, spec: dict[str, object]):
        self._rpc = Rpc(socket)
        self._chance = random.Random(seed)
        self._spec = {**spec, "model": MODEL, "name": "never"}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self.labels: set[str] = set()
        self.in_service: set[int] = set()  # one; two if the last change was not answered
        self.schedules: set[str] = set()
        self._unsure: set[str] = set()  # schedules whose removal was not answered
        self.kept = 0  # promises made
        self._number = 0
        self.refused: list[str] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._rpc.close()

    def lost(self, rpc: Rpc) -> list[str]:
        """What was promised and is not there."""
        found = {sample["digest"] for sample in rpc.pages("label.samples", "samples", label=LABEL, limit=1000)}
        lost = [f"label {digest}" for digest in self.labels - found]
        active = rpc("model.get", model=OTHER)["version"]
        if self.in_service and active not in self.in_service:
            lost.append(f"version {sorted(self.in_service)} of {OTHER} in service: it is {active}")
        there = {schedule["name"] for schedule in rpc("schedule.list")["schedules"]}
        lost += [f"schedule {name}" for name in self.schedules - there]
        gone = {name for name in there if name.startswith("extra-")} - self.schedules - self._unsure
        return lost + [f"removal of schedule {name}" for name in gone]

    def _ask(self) -> None:
        while not self._stop.is_set():
            try:
                self._chance.choice([self._label, self._label, self._serve, self._add_schedule, self._remove_schedule])()
            except Refused as error:
                self.refused.append(str(error))
            except OSError:
                time.sleep(0.02)  # it is dead; nothing was promised
            time.sleep(0.02)

    def _label(self) -> None:
        self._number += 1
        content = base64.b64encode(f"{self._number},{self._chance.random()}\n".encode()).decode()
        (sample,) = self._rpc("label.add", labels=[LABEL], split="train", samples=[{"content": content}])["samples"]
        self.labels.add(sample["digest"])
        self.kept += 1

    def _serve(self) -> None:
        version = self._chance.choice([1, 2])
        self.in_service.add(version)
        self._rpc("model.activate", model=OTHER, version=version)
        self.in_service = {version}
        self.kept += 1

    def _add_schedule(self) -> None:
        if len(self.schedules) >= 20:
            return
        self._number += 1
        name = f"extra-{self._number}"
        self._unsure.add(name)
        self._rpc("schedule.add", schedule={"name": name, "enabled": False, "job": self._spec})
        self._unsure.discard(name)
        self.schedules.add(name)
        self.kept += 1

    def _remove_schedule(self) -> None:
        if not self.schedules:
            return
        name = self._chance.choice(sorted(self.schedules))
        self.schedules.discard(name)
        self._unsure.add(name)
        self._rpc("schedule.rm", name=name)
        self._unsure.discard(name)
        self.kept += 1


def files_with(state: Path, digest: str) -> list[str]:
    """Where a sample's digest is to be found, in letters or in bytes."""
    return [str(path.relative_to(state)) for path in state.rglob("*") if path.is_file() and _has(path, digest)]


def _has(path: Path, digest: str) -> bool:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    return digest.encode() in content or bytes.fromhex(digest) in content
