"""A daemon with a case's network imported and its images labelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lib import night
from lib.moilctl import Moilctl
from lib.photos import world
from lib.photos.data import GLOBAL, GLOBAL_VAL, Photos
from lib.say import say
from lib.workplace import lay_out

from .cases import Case, Method
from .data import split_of
from .jobs import Trial, blank, job_spec, trial_of
from .models import imported, pretrained, settings_of


@dataclass
class Place:
    case: Case
    ctl: Moilctl
    pack: Path
    name: str  # of the network in the daemon
    model: Path  # its folder, as it was imported

    def run(self, method: Method, seed: int, *, every_epoch: bool = False) -> Trial:
        """A job that fails is a row, too."""
        say(f"{self.case.name}: {method.title}, seed {seed}")
        spec = job_spec(self.case, method, seed, self.name, self.pack, every_epoch=every_epoch)
        job = self.ctl.watch(self.ctl.submit(spec))
        if method.elastic and job["state"] == "failed":
            result = replace(blank(self.case, method, seed), remark=job["message"])
        else:
            result = trial_of(self.case, method, seed, job)
        say(_outcome(result))
        return result


def with_place(case: Case, folder: Path, work: Callable[[Place], None], *, tuning: bool = False) -> None:
    folder.mkdir(parents=True)
    (_with_pretrained if case.pretraining else _with_imported)(case, folder, work, tuning)


def _with_imported(case: Case, folder: Path, work: Callable[[Place], None], tuning: bool) -> None:
    """Held-out images of the local classes alone: what happens to ImageNet's is another benchmark's."""
    model = imported(folder)
    split = split_of(case, folder, tuning=tuning)
    photos = Photos(GLOBAL, GLOBAL_VAL, split.train, split.held_out)
    with world.world(folder / "world", model, photos, judged=False) as place:
        place.label(split.held_out, "val")
        work(Place(case, place.ctl, place.pack, world.MODEL, model))


def _with_pretrained(case: Case, folder: Path, work: Callable[[Place], None], tuning: bool) -> None:
    settings = settings_of(case)
    laid_out = lay_out(folder, settings, split_of(case, folder, tuning=tuning))
    found = pretrained(case, laid_out)
    night.with_daemon(settings, laid_out, found, lambda n: work(Place(case, n.ctl, found.pack, night.MODEL, found.model)))


def _outcome(result: Trial) -> str:
    if result.seconds is None or result.accuracy is None:
        return f"failed: {result.remark}"
    return f"{result.seconds:.1f} s, local {100 * result.accuracy:.1f}%" + (f" ({result.remark})" if result.remark else "")
