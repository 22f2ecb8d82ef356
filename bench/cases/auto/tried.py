"""What a night tried, run as nights of their own: what each would have brought."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lib.programs import ProgramError
from lib.results import JobFailed
from lib.say import say

from .case import LET_PASS, Case, Job, labelled

TOLD = ("metric", "global_before", "global_after", "local_before", "local_after", "seconds")
TRIAL = ("seconds", "local", "global")


def by_hand(settings: dict[str, Any]) -> Job:
    """The job that sets these, and leaves the rest open."""
    return {
        "name": words(settings),
        "freeze": {"trainable_layers": settings["layers"]},
        "train": {"optimizer": {"learning_rate": settings["learning_rate"]}},
        "augment": {"views": settings["views"]},
        "guard": LET_PASS,
    }


def words(settings: dict[str, Any]) -> str:
    layers, rate, views = settings["layers"], settings["learning_rate"], settings["views"]
    depth = "all layers" if layers == "all" else f"LF({layers})"
    return f"{depth}, rate {rate:g}" + (f", {views} views" if views > 1 else "")


def tried_and_chosen(night: dict[str, Any]) -> list[dict[str, Any]]:
    """By settings, in the order in which they were tried: what the trial cost and said. What was chosen without a trial
    comes last."""
    found: dict[str, dict[str, Any]] = {}
    for trial in night["trials"]:
        settings = trial["settings"]
        found[words(settings)] = {"settings": settings, "chosen": False, "trial": {name: trial[name] for name in TRIAL}}
    if chosen := night["chosen"]:
        settings = {name: chosen[name] for name in ("layers", "learning_rate", "views")}
        found.setdefault(words(settings), {"settings": settings, "trial": None})["chosen"] = True
    return list(found.values())


def run_tried(case: Case, folder: Path, seed: int, night: dict[str, Any]) -> list[dict[str, Any]]:
    """Each on a device of its own; `night` None and `failed` say that it cannot be had."""
    return [one | _run(case, folder / f"tried-{i}", seed, one["settings"]) for i, one in enumerate(tried_and_chosen(night))]


def _run(case: Case, folder: Path, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    say(f"{case.dataset}, by hand: {words(settings)}")
    try:
        with labelled(case, folder, seed) as device:
            return {"night": device.night([by_hand(settings)]).told(*TOLD), "failed": ""}
    except (JobFailed, ProgramError) as error:
        return {"night": None, "failed": str(error)}
