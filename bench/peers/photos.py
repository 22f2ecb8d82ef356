"""Photos of a tar in the ImageFolder layout, and their pixels as Pillow makes them."""

from __future__ import annotations

import csv
import io
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps

SHORT_SIDE, CROP = 256, 224
MEAN, STD = 127, 128


@dataclass(frozen=True)
class Photo:
    """A member of a tar: CLASS/FILE."""

    name: str
    file: int  # descriptor of the tar
    offset: int
    size: int

    @property
    def label(self) -> str:
        return self.name.split("/")[-2]

    def read(self) -> bytes:
        return os.pread(self.file, self.size, self.offset)


def photos_of(archive: Path) -> list[Photo]:
    """The photos, sorted by name. The tar stays open."""
    file = os.open(archive, os.O_RDONLY)
    with tarfile.open(archive) as tar:
        found = [Photo(m.name, file, m.offset_data, m.size) for m in tar if m.isfile()]
    return sorted(found, key=lambda photo: photo.name)


def imagenet_classes(table: Path) -> list[str]:
    """The 1,000 WordNet ids in the order of an ImageNet classifier."""
    with table.open(encoding="utf-8", newline="") as lines:
        return [row["wnid"] for row in csv.DictReader(lines, delimiter="\t")]


def crop(encoded: bytes) -> np.ndarray:
    """Short side 256 (bicubic), centre crop 224: uint8 [224, 224, 3].

    Only the crop is resampled; cropping afterwards gives the same pixels but for one level of 255 in
    one value of 200,000.
    """
    image = Image.open(io.BytesIO(encoded))
    image = ImageOps.exif_transpose(image).convert("RGB")
    scale = min(image.size) / SHORT_SIDE
    sizes = [SHORT_SIDE if s == min(image.size) else int(s / scale) for s in image.size]
    starts = [int(round((size - CROP) / 2)) for size in sizes]
    box = [start * full / size for start, full, size in zip(starts, image.size, sizes)]
    box += [(start + CROP) * full / size for start, full, size in zip(starts, image.size, sizes)]
    return np.asarray(image.resize((CROP, CROP), Image.Resampling.BICUBIC, box=tuple(box)))


def normalised(crops: np.ndarray) -> torch.Tensor:
    """float32 [n, 3, 224, 224], channels last in memory, as the crops are."""
    return torch.from_numpy(crops).permute(0, 3, 1, 2).float().sub_(MEAN).div_(STD)


def crops_of(photos: list[Photo]) -> np.ndarray:
    return np.stack([crop(photo.read()) for photo in photos])
