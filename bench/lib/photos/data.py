"""The photos: which tars there are, and what of them is trained on, held out and kept back."""

from __future__ import annotations

import os
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path

from lib.programs import ROOT
from lib.samples import Files, files_of, hold_out_last

FOLDER = Path(os.environ.get("MOIL_SHARED_DATA", ROOT.parent / "shared" / "data"))
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


def missing(*archives: Path) -> Path | None:
    """The archive that is not there, if one is."""
    return next((archive for archive in archives if not archive.is_file()), None)


def classes_of(archive: Path) -> list[str]:
    """The folders of a tar in the ImageFolder layout, sorted; ImageNet's own order is that."""
    with tarfile.open(archive) as tar:
        return sorted({Path(member.name).parent.name for member in tar if member.isfile()})


def extract(archive: Path, folder: Path) -> Files:
    """CLASS/FILE below the folder, whatever stands before that in the tar."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile():
                continue
            name = Path(member.name)
            (folder / name.parent.name).mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            (folder / name.parent.name / name.name).write_bytes(content.read())
    return files_of(folder, sorted(entry.name for entry in folder.iterdir()))


def judged(folder: Path, local_train: Path, local_val: Path) -> Photos:
    """What the table is made of."""
    train, val = extract(local_train, folder / "local-train"), extract(local_val, folder / "local-val")
    return Photos(GLOBAL, GLOBAL_VAL, train, val)


def tuning(folder: Path, local_train: Path) -> Photos:
    """To choose settings on: a part of the training photos is held out; nothing judged is touched."""
    split = hold_out_last(extract(local_train, folder / "local-train"), 0.25)
    return Photos(GLOBAL, GLOBAL_TUNE, split.train, split.held_out)
