"""Power cuts at moments of a recorded life: what is left is started again, held against what was told, and lives on."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lib.client import Refused
from lib.daemon import Daemon
from lib.moilctl import FINAL_STATES
from lib.rpc import Rpc

from .device import Device, wait_until_gone
from .promises import files_with
from .recorded_disk import MARK, RENAME, Disk, records_of
from .recorded_life import Recorded, View, view_of

PATIENCE = 120.0  # seconds for a night


@dataclass
class Cut:
    """`lost` is what was told and is not so any more."""

    record: int
    stage: str
    kind: str
    seed: int | None
    refused_start: str
    lost: list[str]
    other_weights: list[str]
    nights: int  # that went on to their end
    seconds: float

    @property
    def is_bad(self) -> bool:
        return bool(self.refused_start or self.lost or self.other_weights)

    def document(self) -> dict[str, Any]:
        return asdict(self)


class _Told:
    """What a client knows at a moment of the life, and what it comes to know: of a request without an answer, and of
    a night under way, any of these may be so."""

    def __init__(self, views: list[_Look], moment: int):
        self.before = [look.view for look in views if look.moment <= moment][-1]
        self.after: list[View] = []
        for look in views:
            if look.moment > moment:
                self.after.append(look.view)
                if not look.is_night:
                    break

    def lost(self, found: View) -> list[str]:
        return [text for kind in self.before for text in self._lost(kind, found[kind])]

    def _lost(self, kind: str, found: dict[str, Any]) -> list[str]:
        known = [view[kind] for view in (self.before, *self.after)]
        lost = []
        for name in sorted(found.keys() | {name for one in known for name in one}):
            told = [one.get(name) for one in known]
            if found.get(name) in told or (kind == "job" and _goes_on(told, found.get(name))):
                continue
            lost.append(f"{kind} {name} is {found.get(name)}, not {' or '.join(dict.fromkeys(map(str, told)))}")
        return lost

    def is_gone(self, digest: str) -> bool:
        return all(digest not in view["labels of sample"] for view in (self.before, *self.after))


def _goes_on(told: list[Any], state: Any) -> bool:
    """A job that had not ended may be anywhere on its way."""
    return told[0] not in FINAL_STATES and state in ("queued", "running", *(one for one in told if one))


class Cutting:
    def __init__(self, device: Device, life: Recorded, folder: Path):
        self._device = device
        self._life = life
        self._folder = folder / "cut"
        self._folder.mkdir()
        self._records = list(records_of(life.log))
        texts = [(number, json.loads(record.other)) for number, record in enumerate(self._records) if record.kind == MARK]
        self._stages = [(number, text["stage"]) for number, text in texts]
        self._views = _views(texts, life.first)
        self._answers = [number for number, text in texts if "answered" in text or text.get("is_night")]

    @property
    def length(self) -> int:
        return len(self._records)

    def what_differs(self) -> list[str]:
        """Between the folder that was recorded and what comes of its log: files, other than those of maps alone."""
        disk = Disk(self._life.beginning, self._life.state)
        for record in self._records:
            disk.take(record)
        whole = self._folder / "whole"
        disk.write_all(whole)
        differ = _difference(whole, self._life.state)
        shutil.rmtree(whole)
        return differ

    def run(self, count: int, seed: int, each: Callable[[Cut], None]) -> list[Cut]:
        """So many cuts, spread evenly over the log."""
        chance = random.Random(seed)
        room = self.length / count
        return self._cut_at([int((number + chance.random()) * room) for number in range(count)], chance, each)

    def run_answers(self, each: Callable[[Cut], None]) -> list[Cut]:
        """A cut after each answer and event, and some time later in a night, with nothing left of what was not
        flushed."""
        return self._cut_at(self._answers, Disk.write_flushed, each)

    def run_removals(self, each: Callable[[Cut], None]) -> list[Cut]:
        """A cut after each move of a folder or file into the trash, which is all that the disk has of late."""
        moves = [number for number, record in enumerate(self._records) if record.kind == RENAME and "/trash/" in record.other]
        return self._cut_at(moves, Disk.write_names, each)

    def _cut_at(self, moments: list[int], how: Callable[[Disk, Path], str] | random.Random, each: Callable[[Cut], None]) -> list[Cut]:
        disk, taken = Disk(self._life.beginning, self._life.state), 0
        cuts = []
        for moment in moments:
            for record in self._records[taken : moment + 1]:
                disk.take(record)
            taken = moment + 1
            cuts.append(self._cut(disk, moment, how.randrange(1 << 32) if isinstance(how, random.Random) else how))
            each(cuts[-1])
        return cuts

    def _cut(self, disk: Disk, moment: int, how: Callable[[Disk, Path], str] | int) -> Cut:
        began = time.monotonic()
        state = self._folder / "state"
        seed = how if isinstance(how, int) else None
        kind = how(disk, state) if callable(how) else disk.write_cut(state, random.Random(how))
        stage = [stage for at, stage in self._stages if at <= moment][-1:] or ["start"]
        cut = Cut(moment, stage[0], kind, seed, "", [], [], 0, 0.0)
        daemon = Daemon(state, config=self._device.daemon.config, environment=self._device.environment)
        daemon.log.unlink(missing_ok=True)
        try:
            daemon.start()
            self._look(daemon, _Told(self._views, moment), cut)
        except RuntimeError as error:
            cut.refused_start = str(error)
        finally:
            if daemon.is_alive():
                workers = daemon.workers()
                daemon.kill()
                wait_until_gone(workers)
        cut.seconds = round(time.monotonic() - began, 2)
        return cut

    def _look(self, daemon: Daemon, told: _Told, cut: Cut) -> None:
        rpc = Rpc(daemon.socket)
        try:
            cut.lost += told.lost(view_of(rpc, daemon.state))
            self._go_on(rpc, daemon.state, told, cut)
            for digest in self._life.forgotten:
                if told.is_gone(digest):
                    cut.lost += [f"forgetting of a sample: {file} has its digest" for file in _files_at_last_with(daemon.state, digest)]
        except (OSError, Refused) as error:
            cut.lost.append(f"{error}; the log ends: {daemon.last_line()}")
        finally:
            rpc.close()

    def _go_on(self, rpc: Rpc, state: Path, told: _Told, cut: Cut) -> None:
        """The nights that were under way come to the end that they came to."""
        present = {one["digest"] for one in rpc.pages("label.samples", "samples", limit=1000)}
        for job, weights in self._life.nights.items():
            if told.before["job"].get(str(job)) in FINAL_STATES:
                continue  # compared with the versions
            try:
                found = _ended(rpc, job)
            except Refused:
                continue  # it was not queued yet
            cut.nights += 1
            if found["state"] != "succeeded":
                cut.lost.append(f"job {job} {found['state']}: {found['message']}")
                continue
            expected = self._life.unforgotten.get(job, weights) if present & set(self._life.forgotten) else weights
            if self._device.weights(found, state) != expected:
                cut.other_weights.append(f"job {job} in {found['attempts']} attempts")
            elif rpc("model.get", model=found["model"])["version"] != found["version"]:
                cut.lost.append(f"version {found['version']} of job {job} is not in service")


@dataclass
class _Look:
    """`is_night`: what it saw was changing meanwhile."""

    moment: int
    view: View
    is_night: bool


def _views(texts: list[tuple[int, dict[str, Any]]], first: View | None) -> list[_Look]:
    """What the client knows from which moment on. What a request changed it knows with its answer, what it saw
    after that when it has looked."""
    looks = [_Look(number, text["view"], text["is_night"]) for number, text in texts if "view" in text]
    views = [_Look(-1, first or looks[0].view, False)]
    for number, text in texts:
        if "view" in text:
            views.append(looks.pop(0))
        elif "answered" in text:
            seen, before = looks[0].view, views[-1].view
            known = {**before, **{kind: seen[kind] for kind in text["answered"]}}
            known["job"] = {**before["job"], **text["jobs"]} if all(text["jobs"].values()) else seen["job"]
            views.append(_Look(number, known, True))
    return views


def _ended(rpc: Rpc, job: int) -> dict[str, Any]:
    give_up = time.monotonic() + PATIENCE
    while (found := dict(rpc("job.get", id=job)["job"]))["state"] not in FINAL_STATES and time.monotonic() < give_up:
        time.sleep(0.02)
    return found


def _files_at_last_with(state: Path, digest: str, seconds: float = 5) -> list[str]:
    """Once what the start removes is gone."""
    give_up = time.monotonic() + seconds
    while (found := files_with(state, digest)) and time.monotonic() < give_up:
        time.sleep(0.1)
    return found


def _difference(one: Path, other: Path) -> list[str]:
    files = {path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*") if path.is_file()}
    # SQLite's and LMDB's tables of who reads are written into maps.
    compared = [file for file in sorted(files) if file.name != "lock.mdb" and not file.name.endswith("-shm")]
    return [str(file) for file in compared if _content(one / file) != _content(other / file)]


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None
