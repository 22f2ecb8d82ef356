"""The images of a case: what is trained on and what is held out."""

from __future__ import annotations

import json
from pathlib import Path

from lib import cifar
from lib.archives import extract
from lib.photos import data as photos
from lib.samples import Files, Split, export_images, hold_out_last

from .cases import Case

LEFT_OVER_PER_CLASS = 300  # to tune on
ALIKE = Path(__file__).with_name("grocery_alike.json")  # alike.py made it


def archives(case: Case) -> list[Path]:
    """What a case cannot do without."""
    images = [photos.LOCAL_TRAIN, photos.LOCAL_VAL] if case.dataset == "grocery61" else _cifar_archives()
    return images if case.pretraining else [photos.GLOBAL, *images]


def split_of(case: Case, folder: Path, *, tuning: bool) -> Split:
    """`tuning`: training images are held out, and nothing that judges local accuracy is touched."""
    if case.pretraining:
        split = cifar.split_of(case.size, folder)
        return Split(split.train, split.held_out | _left_over(case, folder)) if tuning else split
    split = _grocery(folder) if case.dataset == "grocery61" else _cifar(case, folder)
    train = _first(split.train, case.size.train_per_local_class)
    if tuning:
        return hold_out_alike(train) if case.dataset == "grocery61" else hold_out_last(train, 0.25)
    return Split(train, _first(split.held_out, case.size.held_out_per_class))


def hold_out_alike(files: Files) -> Split:
    """Each class's photos that look alike: probably of one visit to a shop."""
    alike: dict[str, list[str]] = json.loads(ALIKE.read_text())

    def part(held_out: bool) -> Files:
        return {name: [f for f in members if (f.name in alike[name]) == held_out] for name, members in files.items()}

    return Split(part(False), part(True))


def _left_over(case: Case, folder: Path) -> Files:
    """Training images of the local classes that no run trains on: the network is the one to be tuned."""
    used = case.size.train_per_local_class
    assert used is not None
    train, _ = _cifar_archives()
    files = export_images(train, cifar.SETTINGS.local_classes, folder / "left-over", used + LEFT_OVER_PER_CLASS)
    return {name: members[used:] for name, members in files.items()}


def _grocery(folder: Path) -> Split:
    return Split(extract(photos.LOCAL_TRAIN, folder / "train"), extract(photos.LOCAL_VAL, folder / "held-out"))


def _cifar(case: Case, folder: Path) -> Split:
    """All ten classes: ImageNet's network knows none of them by that name."""
    train, test = _cifar_archives()
    classes, size = cifar.SETTINGS.classes, case.size
    return Split(
        export_images(train, classes, folder / "train", size.train_per_local_class),
        export_images(test, classes, folder / "held-out", size.held_out_per_class),
    )


def _cifar_archives() -> list[Path]:
    return [cifar.TRAIN, cifar.TEST]


def _first(files: Files, count: int | None) -> Files:
    return {name: members[:count] for name, members in files.items()}
