"""The photos, with the nights that were set by hand for all of them."""

from __future__ import annotations

from pathlib import Path

from lib.photos.data import Photos
from lib.photos.rows import BASIS, DEEP_NIGHT, NIGHT, Row
from lib.photos.world import make_pack
from lib.samples import Files

from .case import MODEL, Base, Case, Job


def photos_case(folder: Path, dataset: str, model: Path, photos: Photos, *, quick: bool) -> Case:
    """`quick`: beside the shallow row alone. Works in a new folder."""
    folder.mkdir()
    now, later = _but_one(photos.local_train)
    base = Base(model, make_pack(model, photos.global_train, photos.global_val, folder / "pack"))
    hand = {row.name: jobs_of(row) for row in ([NIGHT] if quick else [NIGHT, DEEP_NIGHT])}
    return Case(dataset, lambda _: base, now, later, photos.local_val, hand, BASIS)


def jobs_of(row: Row) -> list[Job]:
    """With the job before it, if it has one."""
    chain = [row.after, row] if row.after else [row]
    return [one.job_spec(Path("/"), MODEL, activate=True) for one in chain]


def _but_one(files: Files) -> tuple[Files, Files]:
    """The last photo of each class that has many comes before the second night."""
    later = {name: members[-1:] for name, members in files.items() if len(members) > 10}
    now = {name: members[:-1] if name in later else members for name, members in files.items()}
    return now, later
