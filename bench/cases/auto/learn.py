"""What `moilctl learn` reaches with a few photos of each class, and in how many seconds.

First from nothing: the feature maps of pack and photos are computed. Then again from the cache: the
rows that were made are made anew, and everything is judged again.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

from lib.photos import rows
from lib.photos.data import Photos
from lib.photos.world import MODEL, World, world
from lib.results import Unset, result_of
from lib.samples import Files
from lib.settings import Basis

BASIS = Basis(rows.BASIS.judged_by, "nothing: learn has no settings")


def few(files: Files, photos: int, seed: int) -> Files:
    """So many photos of each class, drawn."""
    return {name: sorted(random.Random(f"{seed}/{name}").sample(members, min(photos, len(members)))) for name, members in files.items()}


def learn_once(place: World, basis: Basis = BASIS) -> dict[str, Any]:
    began = time.monotonic()
    lines = place.ctl.text("--json", "learn", MODEL, "--pack", place.pack).splitlines()
    seconds = time.monotonic() - began
    job = json.loads(lines[-1])["job"]
    result = result_of(Unset("learn", "learn"), job, basis)
    return {
        "state": job["state"],
        "seconds": seconds,
        "stages": result.stages,
        "imprinted": job["result"]["details"]["imprinted"],
        "calibration": job["result"]["details"]["calibration"],
        **result.told("global_before", "global_after", "local_after"),
    }


def measure_learn(folder: Path, model: Path, photos: Photos, *, shots: int = 5, seed: int = 1) -> dict[str, Any]:
    """`folder` must not exist. `cold` begins with an empty cache; `warm` follows it."""
    some = Photos(photos.global_train, photos.global_val, few(photos.local_train, shots, seed), photos.local_val)
    with world(folder, model, some) as place:
        cold = learn_once(place)
        return {"shots": shots, "seed": seed, "cold": cold, "warm": learn_once(place)}
