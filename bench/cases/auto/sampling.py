"""What importance sampling gains: the same nights with shuffled epochs and with drawn ones, and the
seconds of training until each has learned as much as the shuffled night has at its end.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lib.photos import rows
from lib.photos.data import Photos
from lib.photos.world import MODEL, World, world
from lib.results import JobFailed, result_of

SAMPLINGS = ("shuffled", "importance")
# The classifier alone, and deep layers of the model as it was imported.
NIGHTS = [rows.NIGHT, replace(rows.DEEP_NIGHT, name=f"lf{rows.DEEP_LAYERS}", after=None)]


def seconds_to(curve: list[dict[str, Any]], local: float) -> float | None:
    """Training's, to the first epoch at whose end so many local samples are known."""
    return next((point["seconds"] for point in curve if point["local"] >= local), None)


def _night(place: World, row: rows.Row, sampling: str, seed: int) -> dict[str, Any]:
    spec = row.job_spec(place.pack, MODEL)
    spec["train"]["sampling"] = sampling
    job = place.ctl.watch(place.ctl.submit(spec | {"seed": seed, "evaluate_every_epoch": True}))
    result = result_of(row, job, place.basis)
    if not result.promoted:
        raise JobFailed(f"{row.name}, {sampling}: the job is {job['state']}: {job['message']}")
    return result.told("global_after", "local_after", "train_seconds", "curve")


def measure_sampling(folder: Path, model: Path, photos: Photos, *, seeds: int = 2) -> list[dict[str, Any]]:
    """One entry a night and seed. `folder` must not exist."""
    found = []
    with world(folder, model, photos) as place:
        for row in NIGHTS:
            for seed in range(1, seeds + 1):
                entry: dict[str, Any] = {"night": row.name, "seed": seed}
                for sampling in SAMPLINGS:
                    entry[sampling] = _night(place, row, sampling, seed)
                goal = entry["shuffled"]["local_after"]
                for sampling in SAMPLINGS:
                    entry[sampling]["seconds_to_goal"] = seconds_to(entry[sampling]["curve"], goal)
                found.append(entry | {"goal": goal})
    return found
