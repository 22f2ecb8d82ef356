"""One dataset: what a device has of it, and nights on such a device."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.results import Result, Unset, result_of
from lib.samples import Files
from lib.settings import Basis

Job = dict[str, Any]  # a job's description, beside its model, its pack and its seed

MODEL = "network"
NO_SETTINGS: Job = {"name": "no settings"}
# Every model passes: here, forgetting is to be seen.
LET_PASS = {"max_global_drop": 1.0, "min_local_accuracy": 0.0}


@dataclass(frozen=True)
class Base:
    """What comes to the device from elsewhere."""

    model: Path
    pack: Path


@dataclass(frozen=True)
class Case:
    dataset: str
    base: Callable[[int], Base]  # by the seed
    now: Files  # labelled before the first night
    later: Files  # labelled before the second
    held_out: Files
    hand: dict[str, list[Job]]  # jobs of one night by name of the row, the later ones from the model of the earlier
    basis: Basis  # of those jobs
    tags: Mapping[str, list[str]] = field(default_factory=dict)  # what labels stand for
    asked: Callable[[Moilctl], float] | None = None  # how good the model in service is, if not the night's own figure counts


@dataclass(frozen=True)
class Device:
    """A daemon with the model imported."""

    case: Case
    ctl: Moilctl
    pack: Path
    seed: int

    def label(self, files: Files, split: str) -> None:
        self.ctl.add_labels(files, split)
        for label in files.keys() & self.case.tags.keys():
            self.ctl.json("label", "map", label, *self.case.tags[label])

    def night(self, jobs: Sequence[Job]) -> Result:
        """The jobs one after the other, as one night."""
        asked = self.case.asked
        before = asked(self.ctl) if asked else None
        nights = [self._job(job) for job in jobs]
        night = replace(nights[-1], global_before=nights[0].global_before, local_before=nights[0].local_before, seconds=sum(night.seconds for night in nights))
        if not asked:
            return night
        # A model that was kept back cannot be asked.
        return replace(night, local_before=before, local_after=asked(self.ctl) if night.promoted else None)

    def _job(self, job: Job) -> Result:
        shared = {**job.get("global", {}), "pack": str(self.pack.resolve())}
        ended = self.ctl.watch(self.ctl.submit({**job, "model": MODEL, "global": shared, "seed": self.seed}))
        basis = self.case.basis if job.get("settings") == "defaults" else self.case.basis.chosen_by_itself()
        return result_of(Unset(job["name"], job["name"]), ended, basis)


@contextmanager
def device(case: Case, folder: Path, seed: int) -> Iterator[Device]:
    """In a new folder; nothing is labelled. What stays of it is without feature maps: of deep nights they take gigabytes."""
    base = case.base(seed)
    folder.mkdir(parents=True)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(base.model, MODEL)
        yield Device(case, ctl, base.pack, seed)
    shutil.rmtree(folder / "state" / "cache", ignore_errors=True)


@contextmanager
def labelled(case: Case, folder: Path, seed: int) -> Iterator[Device]:
    """As before the first night."""
    with device(case, folder, seed) as found:
        found.label(case.now, "train")
        found.label(case.held_out, "val")
        yield found
