"""A network that is pretrained on what the classes of D_G show, and a daemon that learns the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .daemon import Daemon
from .jobs import job_spec
from .moilctl import Moilctl
from .pretrain import Pretrained, pretrain
from .results import Result, result_of
from .samples import Files, count, only
from .say import say
from .settings import Row, Settings
from .workplace import Workplace

MODEL = "demo"


@dataclass
class Night:
    """A daemon at work on a scenario: its model imported, its local samples labelled."""

    settings: Settings
    place: Workplace
    pretrained: Pretrained
    ctl: Moilctl

    def run(self, row: Row, settings: Settings | None = None) -> Result:
        """Submits a row's job, watches it to its end and returns its figures."""
        say(f"{row.title}, α {100 * row.alpha:g}%, trained layers {row.trainable_layers}")
        settings = settings or self.settings
        job = self.ctl.submit(job_spec(settings, row, MODEL, self.pretrained.pack))
        return result_of(row, self.ctl.watch(job), settings.basis)

    def label(self, files: Files, split: str) -> None:
        self.ctl.add_labels(files, split)


def pretrain_global(settings: Settings, place: Workplace, *, seed: int = 1) -> Pretrained:
    names = settings.global_classes
    say(f"pretraining on {', '.join(names)}: {count(only(place.train, names))} images")
    return pretrain(
        settings.model,
        place.train_folder,
        place.held_out_folder,
        names,
        settings.pretraining,
        place.folder / f"pretrained-{seed}",
        threads=settings.threads,
        seed=seed,
    )


def with_daemon(settings: Settings, place: Workplace, pretrained: Pretrained, work: Callable[[Night], None]) -> None:
    """Starts a daemon on a state folder of its own, prepares the night and does `work`."""
    with Daemon(place.folder / "state") as daemon:
        night = Night(settings, place, pretrained, Moilctl(daemon.socket))
        night.ctl.import_model(pretrained.model, MODEL)
        local = settings.local_classes
        say(f"labelling {count(only(place.train, local))} local images and {count(only(place.held_out, local))} held out")
        night.label(only(place.train, local), "train")
        night.label(only(place.held_out, local), "val")
        work(night)
