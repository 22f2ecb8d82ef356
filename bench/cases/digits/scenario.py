"""The table of a scenario: every row, the second night, the memory line and the report."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from lib.figures import machine
from lib.night import Night, pretrain_global, with_daemon
from lib.pretrain import pretrain
from lib.results import Result
from lib.samples import count, only
from lib.say import say
from lib.settings import Row, Settings
from lib.workplace import Workplace

from .sweeps import Sweep


@dataclass
class Outcome:
    runs: list[Result] = field(default_factory=list)
    second: Result | None = None
    sweeps: dict[str, list[Result]] = field(default_factory=dict)
    job_seconds: float = 0.0


def run_scenario(settings: Settings, place: Workplace, sweeps: list[Sweep] | None = None) -> Outcome:
    """Pretrains, runs every row through a daemon, then the sweeps and the second night."""
    outcome = Outcome()
    pretrained = pretrain_global(settings, place)
    accuracy = pretrained.figures["accuracy"]
    say(f"pretrained: {100 * accuracy:.1f}% on held-out images, {pretrained.figures['seconds']:.0f} s")
    outcome.runs.append(centralised(settings, place))

    def nights(night: Night) -> None:
        began = time.monotonic()
        # Sweeps come before the last row, which puts its model in service.
        *first, last = settings.rows()
        outcome.runs += [night.run(row) for row in first]
        for sweep in sweeps or []:
            outcome.sweeps[sweep.name] = [night.run(row) for row in sweep.rows]
        outcome.runs.append(night.run(last))
        outcome.second = second_night(night)
        outcome.job_seconds = time.monotonic() - began

    with_daemon(settings, place, pretrained, nights)
    return outcome


def centralised(settings: Settings, place: Workplace) -> Result:
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
    return Result(
        name="centralised",
        title="centralised",
        alpha=1.0,
        trainable_layers="all",
        cached=False,
        global_before=None,
        global_after=accuracy["global"],
        local_before=None,
        local_after=accuracy["local"],
        promoted=True,  # nothing guards it
        judged_by=settings.judged_by,
        tuned_on=settings.tuned_on,
        epochs=settings.centralised.epochs,
        seconds=figures.get("seconds", time.monotonic() - began),
        curve=figures["curve"],
    )


def second_night(night: Night) -> Result:
    """More labels, and the job again on the model that the last row put in service."""
    night.label(night.place.later, "train")
    settings = night.settings
    row = Row("second_night", "second night", settings.alpha, settings.trainable_layers, cached=True)
    return night.run(row)


def report_of(settings: Settings, place: Workplace, outcome: Outcome) -> dict[str, Any]:
    assert outcome.second is not None
    memory = outcome.runs[-1].memory
    if memory is None:
        raise RuntimeError("the job's result says nothing of memory")
    document = {
        "runs": [run.to_json() for run in outcome.runs],
        "second_night": {"labels": count(place.later), **outcome.second.to_json()},
        "memory": asdict(memory),
        "samples": _samples(settings, place),
        "settings": _settings(settings),
        "machine": machine(),
        "job_seconds": outcome.job_seconds,
    }
    if outcome.sweeps:
        document["sweeps"] = {name: [run.to_json() for run in runs] for name, runs in outcome.sweeps.items()}
    return document


def _samples(settings: Settings, place: Workplace) -> dict[str, dict[str, int]]:
    parts = {"train": place.train, "held_out": place.held_out}
    return {
        name: {
            "global": count(only(files, settings.global_classes)),
            "local": count(only(files, settings.local_classes)),
        }
        for name, files in parts.items()
    }


def _settings(settings: Settings) -> dict[str, Any]:
    document = asdict(settings)
    document["model"] = settings.model.name
    return document
