"""Night after night with a few new samples each, beside one night over all of them."""

from __future__ import annotations

import random
from pathlib import Path
from statistics import median
from typing import Any

from lib.results import Result
from lib.samples import Files, count
from lib.say import say

from .case import NO_SETTINGS, Case, Device, device

NIGHTS, EACH = 30, 10
TOLD = ("metric", "global_before", "global_after", "local_before", "local_after", "global_in_service", "local_in_service", "seconds", "stages", "chosen")


def portions(files: Files, nights: int, each: int, seed: int) -> list[Files]:
    """So many samples a night, drawn; fewer nights if there are not enough."""
    every = [(name, file) for name in sorted(files) for file in files[name]]
    random.Random(seed).shuffle(every)
    return [_by_label(every[each * night : each * (night + 1)]) for night in range(min(nights, len(every) // each))]


def _by_label(samples: list[tuple[str, Path]]) -> Files:
    found: Files = {}
    for name, file in samples:
        found.setdefault(name, []).append(file)
    return found


def measure_nights(case: Case, folder: Path, *, nights: int = NIGHTS, each: int = EACH, seed: int = 1) -> dict[str, Any]:
    """`single` is one night on a device of its own. A label's held-out samples come with its first sample."""
    files = {name: case.now[name] + case.later.get(name, []) for name in case.now}
    days = portions(files, nights, each, seed)
    with device(case, folder / "nights", seed) as place:
        runs = [_night(place, days, i) for i in range(len(days))]
    with device(case, folder / "single", seed) as place:
        for i in range(len(days)):
            _label(place, days, i)
        single = place.night([NO_SETTINGS])
    return {"dataset": case.dataset, "samples": sum(map(count, days)), **figures_of(runs, single)}


def _label(place: Device, days: list[Files], i: int) -> None:
    known = {name for day in days[:i] for name in day}
    place.label(days[i], "train")
    place.label({name: place.case.held_out[name] for name in days[i] if name not in known and name in place.case.held_out}, "val")


def _night(place: Device, days: list[Files], i: int) -> Result:
    _label(place, days, i)
    night = place.night([NO_SETTINGS])
    say(f"{place.case.dataset}, night {i + 1} of {len(days)}: {night.seconds:.1f} s")
    return night


def figures_of(runs: list[Result], single: Result) -> dict[str, Any]:
    """Points are what is in service after the last night less what is after the single one."""
    last = runs[-1]
    beyond = [night.seconds - night.stages.get("cache", 0.0) for night in runs]
    return {
        "nights": [night.told(*TOLD) for night in runs],
        "last": last.told(*TOLD),
        "single": single.told(*TOLD),
        "global_points": _points(last.global_in_service, single.global_in_service),
        "local_points": _points(last.local_in_service, single.local_in_service),
        "seconds_beyond_maps": {"median": median(beyond), "worst": max(beyond)},
    }


def _points(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else 100 * (one - other)
