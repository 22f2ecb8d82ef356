"""The photos: which tars there are, and what of them is trained on, held out and kept back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lib.archives import FOLDER, extract
from lib.samples import Files, hold_out_last

GLOBAL = FOLDER / "imagenet-1k-sample.tar"  # D_G: one photo of each of ImageNet's classes
GLOBAL_VAL = FOLDER / "imagenette-val.tar"
# Settings are chosen against these photos of ImageNet. They are never mixed into D_G: they show ten
# classes many times over, and just those are judged.
GLOBAL_TUNE = FOLDER / "imagenette-train.tar"
LOCAL_TRAIN = FOLDER / "grocery61-train.tar"
LOCAL_VAL = FOLDER / "grocery61-val.tar"


@dataclass(frozen=True)
class Photos:
    """Tars of the global side and files of the local side, by class."""

    global_train: Path
    global_val: Path
    local_train: Files
    local_val: Files

    @property
    def local_classes(self) -> list[str]:
        return sorted(self.local_train)


PART = 0.125


def in_part(photos: Photos) -> Photos:
    """The first photos of each local class, nothing held out: to time what takes long."""
    return replace(photos, local_train=hold_out_last(photos.local_train, 1 - PART).train, local_val={})


def judged(folder: Path, local_train: Path, local_val: Path) -> Photos:
    """What the table is made of."""
    train, val = extract(local_train, folder / "local-train"), extract(local_val, folder / "local-val")
    return Photos(GLOBAL, GLOBAL_VAL, train, val)


def tuning(folder: Path, local_train: Path) -> Photos:
    """To choose settings on: a part of the training photos is held out; nothing judged is touched."""
    split = hold_out_last(extract(local_train, folder / "local-train"), 0.25)
    return Photos(GLOBAL, GLOBAL_TUNE, split.train, split.held_out)
