"""How many of wrong labels `moilctl label audit` lists first.

A share of the training photos gets a label of another class, drawn; the audit is to find them.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from lib.photos.data import Photos
from lib.photos.world import MODEL, world
from lib.samples import Files, count


def flipped(files: Files, share: float, seed: int) -> tuple[Files, set[str]]:
    """The photos with their labels as they are now, and the names of those whose label is wrong."""
    draw = random.Random(seed)
    classes = sorted(files)
    every = [(name, file) for name in classes for file in files[name]]
    wrong = set(draw.sample(range(len(every)), round(share * len(every))))
    found: Files = {name: [] for name in classes}
    for i, (name, file) in enumerate(every):
        found[draw.choice([other for other in classes if other != name]) if i in wrong else name].append(file)
    return found, {every[i][1].name for i in wrong}


def measure_audit(folder: Path, model: Path, photos: Photos, *, share: float = 0.05, seed: int = 1) -> dict[str, Any]:
    """`folder` must not exist. Photos are told apart by their files' names."""
    labelled, wrong = flipped(photos.local_train, share, seed)
    with world(folder, model, Photos(photos.global_train, photos.global_val, labelled, {}), judged=False) as place:
        began = time.monotonic()
        reply = place.ctl.json("label", "audit", "--model", MODEL, "--limit", "10000")
        seconds = time.monotonic() - began
    samples = count(labelled)
    first = reply["wrong"][: samples // 10]
    found = sum(Path(doubt["name"]).name in wrong for doubt in first)
    return {
        "samples": samples,
        "flipped": len(wrong),
        "found_in_first_tenth": found,
        "listed": reply["wrong_count"],
        "likely": sum(doubt["likely"] for doubt in reply["wrong"]),
        "seed": seed,
        "seconds": seconds,
    }
