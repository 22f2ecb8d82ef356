"""Chooses a night's settings on a part of the training samples; the held-out split is not seen.

The training samples are split once more: networks learn from the larger part and candidates are
judged on the smaller one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

from .night import Night, pretrain_global, with_daemon
from .results import JobFailed, Run
from .settings import Row, Settings
from .table import alpha_text, percent, table
from .workplace import Workplace


@dataclass(frozen=True)
class Candidate:
    settings: Settings

    def row(self) -> Row:
        s = self.settings
        return Row("tune", f"LF({s.trainable_layers})", s.alpha, s.trainable_layers, cached=True)

    def words(self) -> list[str]:
        s, night = self.settings, self.settings.night
        values = (s.trainable_layers, alpha_text(s.alpha), night.optimizer, night.learning_rate, night.epochs, night.schedule)
        return [str(value) for value in values]


def candidates(settings: Settings, grid: dict[str, list[Any]]) -> list[Candidate]:
    """Every combination of the grid; keys are fields of Settings or of its night's Training."""
    found = []
    for values in itertools.product(*grid.values()):
        chosen = dict(zip(grid, values))
        own = {key: chosen.pop(key) for key in ("alpha", "trainable_layers") if key in chosen}
        found.append(Candidate(replace(settings.with_night(**chosen), **own)))
    return found


def tune(settings: Settings, place: Workplace, grid: dict[str, list[Any]]) -> None:
    """Runs every candidate and prints them, best first."""
    tried: list[tuple[Candidate, Run]] = []

    def nights(night: Night) -> None:
        for candidate in candidates(settings, grid):
            try:
                tried.append((candidate, night.run(candidate.row(), candidate.settings)))
            except JobFailed as error:
                print(error)

    with_daemon(settings, place, pretrain_global(settings, place), nights)
    tried.sort(key=lambda pair: -(pair[1].global_after + pair[1].local_after))
    header = ["n", "α", "optimizer", "rate", "epochs", "schedule", "global before", "after", "local after", "seconds"]
    print(table(header, [_line(candidate, run) for candidate, run in tried]))


def _line(candidate: Candidate, run: Run) -> list[str]:
    accuracies = [percent(run.global_before), percent(run.global_after), percent(run.local_after)]
    return [*candidate.words(), *accuracies, f"{run.seconds:.1f}"]
