"""Chooses a night's settings on a part of the training samples; the held-out split is not seen.

The training samples are split once more, in several ways: networks learn from the larger part and
candidates are judged on the smaller one. What is printed is the mean over the splits.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from lib.night import Night, pretrain_global, with_daemon
from lib.results import Mean, Result, mean_of
from lib.settings import Row, Settings
from lib.table import percent, table
from lib.workplace import Workplace


@dataclass(frozen=True)
class Candidate:
    """One combination: the settings that it amounts to, and the values that were chosen."""

    settings: Settings
    values: tuple[Any, ...]

    def row(self) -> Row:
        s = self.settings
        return Row("tune", f"LF({s.trainable_layers})", s.alpha, s.trainable_layers, cached=True)


def candidates(settings: Settings, grid: dict[str, list[Any]]) -> list[Candidate]:
    """Every combination of the grid; keys are fields of Settings or of its night's Training."""
    found = []
    for values in itertools.product(*grid.values()):
        chosen = dict(zip(grid, values))
        own = {key: chosen.pop(key) for key in ("alpha", "trainable_layers") if key in chosen}
        found.append(Candidate(replace(settings.with_night(**chosen), **own), values))
    return found


def tune(settings: Settings, places: list[Workplace], grid: dict[str, list[Any]]) -> None:
    """Runs every candidate in every place and prints them, best first."""
    tried: dict[tuple[Any, ...], list[Result]] = defaultdict(list)

    def nights(night: Night) -> None:
        for candidate in candidates(settings, grid):
            tried[candidate.values].append(night.run(candidate.row(), candidate.settings))

    for place in places:
        with_daemon(settings, place, pretrain_global(settings, place), nights)
    lines = sorted(tried.items(), key=lambda item: -_score(item[1]))
    print(table([*grid, "global before", "after", "local after", "seconds"], [_line(*item) for item in lines]))


def _score(runs: list[Result]) -> float:
    return _mean(runs, "global_after").value + _mean(runs, "local_after").value


def _line(values: tuple[Any, ...], runs: list[Result]) -> list[str]:
    return [
        *(str(value) for value in values),
        percent(_mean(runs, "global_before").value),
        _mean(runs, "global_after").text(),
        _mean(runs, "local_after").text(),
        f"{_mean(runs, 'seconds').value:.1f}",
    ]


def _mean(runs: list[Result], figure: str) -> Mean:
    return mean_of([run.promoted for run in runs], [getattr(run, figure) for run in runs])
