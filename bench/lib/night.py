"""One scenario from pretraining to the second night."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .daemon import Daemon
from .jobs import job_spec
from .moilctl import Moilctl
from .pretrain import Pretrained, pretrain
from .results import Run, run_of_job
from .samples import Files, count, only
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

    def run(self, row: Row, settings: Settings | None = None) -> Run:
        """Submits a row's job, watches it to its end and returns its figures."""
        say(f"{row.title}, α {100 * row.alpha:g}%, trained layers {row.trainable_layers}")
        job = self.ctl.submit(job_spec(settings or self.settings, row, MODEL, self.pretrained.pack))
        return run_of_job(row, self.ctl.watch(job))

    def label(self, files: Files, split: str) -> None:
        for name, members in files.items():
            self.ctl.add_label(members, name, split)


def say(line: str) -> None:
    """Progress, for people; results go to stdout."""
    print(f"· {line}", file=sys.stderr, flush=True)


def pretrain_global(settings: Settings, place: Workplace) -> Pretrained:
    names = settings.global_classes
    say(f"pretraining on {', '.join(names)}: {count(only(place.train, names))} images")
    return pretrain(
        settings.model,
        place.train_folder,
        place.held_out_folder,
        names,
        settings.pretraining,
        place.folder / "pretrained",
        threads=settings.threads,
    )


def centralised(settings: Settings, place: Workplace) -> Run:
    """From scratch on all of D_G ∪ D_L: what the night is measured against."""
    say(f"centralised: from scratch on all {len(settings.classes)} classes")
    groups = {"global": settings.global_classes, "local": settings.local_classes}
    began = time.monotonic()
    figures = pretrain(
        settings.model,
        place.train_folder,
        place.held_out_folder,
        settings.classes,
        settings.centralised,
        place.folder / "centralised",
        groups=groups,
        threads=settings.threads,
    ).figures
    accuracy = figures["groups"]
    return Run(
        name="centralised",
        title="centralised",
        alpha=1.0,
        trainable_layers="all",
        cached=False,
        global_before=None,
        global_after=accuracy["global"],
        local_before=None,
        local_after=accuracy["local"],
        epochs=settings.centralised.epochs,
        seconds=figures.get("seconds", time.monotonic() - began),
        curve=figures["curve"],
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


def second_night(night: Night) -> Run:
    """More labels, and the job again on the model that the last row put in service."""
    night.label(night.place.later, "train")
    settings = night.settings
    row = Row("second_night", "second night", settings.alpha, settings.trainable_layers, cached=True)
    return night.run(row)


def fresh_folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir(parents=True)
    return folder
