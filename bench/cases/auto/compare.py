"""A case's nights: without settings and by hand, in turns, seed by seed; then what the night tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lib.say import say

from .case import NO_SETTINGS, Case, Job, labelled
from .regret import outcome_of, regret_of
from .seeds import Night, of_seeds
from .tried import TOLD as FIGURES
from .tried import run_tried, words

AUTO = "auto"
TOLD = (*FIGURES, "stages", "chosen", "trials", "why")


def run_case(case: Case, folder: Path, seeds: Sequence[int], *, tries: bool) -> dict[str, Any]:
    """The figures. `tries`: what the first seed's night tried is run by hand, and regret is that night's."""
    rows = {AUTO: [NO_SETTINGS], **case.hand}
    runs: dict[str, list[Night]] = {name: [] for name in rows}
    for seed in seeds:
        for name, jobs in rows.items():
            say(f"{case.dataset}, seed {seed}, {name}")
            runs[name].append(_two_nights(case, folder / f"{name}-{seed}", seed, jobs))
    document: dict[str, Any] = {"dataset": case.dataset, "auto": of_seeds(runs[AUTO]), "hand": {name: of_seeds(runs[name]) for name in case.hand}}
    firsts = {name: found[0] for name, found in runs.items()}
    tried = run_tried(case, folder, seeds[0], firsts[AUTO]) if tries else None
    return document | {"tried": tried} | _regret(firsts, tried)


def _two_nights(case: Case, folder: Path, seed: int, jobs: list[Job]) -> Night:
    with labelled(case, folder, seed) as device:
        first = device.night(jobs)
        device.label(case.later, "train")
        second = device.night(jobs)
    return first.told(*TOLD) | {"second": second.told(*TOLD)}


def _regret(firsts: dict[str, Night], tried: list[dict[str, Any]] | None) -> dict[str, Any]:
    if tried is None:
        return dict.fromkeys(("regret_points", "regret_seconds", "best", "cheapest"))
    others = [outcome_of(name, night) for name, night in firsts.items() if name != AUTO]
    others += [outcome_of(words(one["settings"]), one["night"]) for one in tried if one["night"]]
    return regret_of(outcome_of("no settings", firsts[AUTO]), others)
