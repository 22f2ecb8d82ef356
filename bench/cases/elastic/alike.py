"""Which of the groceries' training photos --tune holds out: of each class a group that look alike.

    python3 alike.py grocery61-train.tar > grocery_alike.json

Photos of a visit to a shop share its light, crate and colours; beside the rest of such a visit even a
poor network knows them. Ward's clustering of colours and of 6 × 6 thumbnails finds the visits, and the
group nearest to WANTED of the class is held out. Wants numpy and PIL; its result is kept here.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image

WANTED = 0.28  # of a class
GROUPS = 6  # at most


def features(photo: bytes) -> np.ndarray:
    image = Image.open(io.BytesIO(photo)).convert("RGB")
    thumbnail = np.asarray(image.resize((6, 6), Image.BOX), float).ravel() / 255
    pixels = np.asarray(image.convert("HSV").resize((64, 64)), int).reshape(-1, 3)
    counts, _ = np.histogramdd(pixels, bins=(8, 4, 4), range=((0, 256),) * 3)
    return np.concatenate([0.7 * thumbnail, 2 * np.sqrt(counts.ravel() / len(pixels))])


def merged(points: np.ndarray, groups: list[list[int]]) -> list[list[int]]:
    """The two groups as one whose joining adds least to the squared distances from the means."""

    def cost(a: int, b: int) -> float:
        apart = points[groups[a]].mean(0) - points[groups[b]].mean(0)
        sizes = len(groups[a]), len(groups[b])
        return float(sizes[0] * sizes[1] / sum(sizes) * (apart**2).sum())

    a, b = min(((a, b) for a in range(len(groups)) for b in range(a)), key=lambda pair: cost(*pair))
    return [g + groups[a] if i == b else g for i, g in enumerate(groups) if i != a]


def held_out(points: np.ndarray) -> list[int]:
    groups, candidates = [[i] for i in range(len(points))], []
    while len(groups) > 2:
        groups = merged(points, groups)
        if len(groups) <= GROUPS:
            candidates = groups + candidates
    return sorted(min(candidates, key=lambda group: abs(len(group) / len(points) - WANTED)))


def main(archive: str) -> None:
    photos: dict[str, dict[str, bytes]] = defaultdict(dict)
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                path = Path(member.name)
                photos[path.parent.name][path.name] = tar.extractfile(member).read()  # type: ignore[union-attr]
    found = {}
    for name, of_class in sorted(photos.items()):
        files = sorted(of_class)
        found[name] = [files[i] for i in held_out(np.array([features(of_class[f]) for f in files]))]
    print("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(files)}" for name, files in found.items()) + "\n}")


if __name__ == "__main__":
    main(sys.argv[1])
