"""Samples as a newcomer has them: a few of each in sub-folders, or a table."""

from __future__ import annotations

from pathlib import Path

from lib.archives import FOLDER, extract
from lib.records.tables import fetched

PHOTOS, SOUNDS = FOLDER / "grocery61-train.tar", FOLDER / "esc10.tar"
LABELS, EACH = 10, 18  # of the groceries: as many photos as a first evening has


def groceries(folder: Path) -> Path:
    """Some photos of every sixth label."""
    files = extract(PHOTOS, folder)
    kept = sorted(files)[:: len(files) // LABELS][:LABELS]
    for name, members in files.items():
        for member in members[EACH:] if name in kept else members:
            member.unlink()
        if name not in kept:
            (folder / name).rmdir()
    return folder


def surroundings(folder: Path) -> Path:
    """ESC-10, whole."""
    extract(SOUNDS, folder)
    return folder


def cancer(folder: Path) -> Path:
    """Scikit-learn's table of breast cancer."""
    folder.mkdir()
    return next(table.file for table in fetched(folder) if table.name == "breast cancer")


# Each makes its folder, and raises FileNotFoundError or CalledProcessError if the data is not to be had.
USUAL = {"photos": groceries, "sounds": surroundings, "table": cancer}
