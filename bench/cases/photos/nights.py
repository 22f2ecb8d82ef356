"""How long a night takes from nothing to the new model: the first, the same in PyTorch, the second."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from lib.photos.data import Photos
from lib.photos.rows import NIGHT
from lib.photos.world import world
from lib.samples import count, hold_out_last
from lib.say import say

from . import peers

NEW = 0.1  # of the local photos come before the second night


def first_night(folder: Path, model: Path, photos: Photos, local_train: Path, turns: int) -> dict[str, Any]:
    """The same photos, decoded, fed forward, cached and trained on; neither side measures accuracy."""
    ours: list[float] = []
    torch: dict[str, list[float]] = {"published": [], "fastest": []}
    stages: list[dict[str, float]] = []
    for turn in range(turns):
        with world(folder / f"first-{turn}", model, photos, judged=False) as place:
            run = place.run(NIGHT)
        ours.append(run.seconds)
        stages.append(run.stages)
        say("the same night in PyTorch")
        for form, seconds in torch.items():
            theirs = peers.torch_night(NIGHT, local_train, published=form == "published")
            seconds.append(theirs["seconds"]["total"])
    return {
        "samples": run.samples["global"] + run.samples["local"],
        "epochs": run.epochs,
        "ours_seconds": ours,
        "ours_stages": stages,
        "torch_seconds": torch["published"],
        "torch_fastest_seconds": torch["fastest"],
        "times_as_fast": median(torch["published"]) / median(ours),
        "times_as_fast_as_fastest": median(torch["fastest"]) / median(ours),
    }


def second_night(folder: Path, model: Path, photos: Photos, turns: int) -> dict[str, Any]:
    """A night without a tenth of the local photos, and the next one with them."""
    local = hold_out_last(photos.local_train, NEW)
    now, later = local.train, local.held_out
    firsts, seconds = [], []
    for turn in range(turns):
        with world(folder / f"second-{turn}", model, Photos(photos.global_train, photos.global_val, now, {}), judged=False) as place:
            first = place.run(NIGHT, activate=True)
            place.label(later, "train")
            second = place.run(NIGHT)
        firsts.append(first.seconds)
        seconds.append(second.seconds)
    return {
        "new_photos": count(later),
        "computed": second.computed,
        "reused": second.reused,
        "first_seconds": firsts,
        "second_seconds": seconds,
        "first_stages": first.stages,
        "second_stages": second.stages,
        "times_as_fast": median(firsts) / median(seconds),
    }
