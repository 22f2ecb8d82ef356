"""Features of photos by the frozen backbone, and a file of them.

Workers of one thread take a few photos at a time, from the tar to the features: nobody waits for
anybody, and Pillow and PyTorch both let go of Python's lock while they work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from network import FEATURES, INFERENCE_BATCH
from photos import Photo, crops_of, normalised

PLAIN_BATCH = 32


@dataclass
class Seconds:
    """A night's, by part. Decoding and the forward pass run side by side in workers: theirs are the
    workers' sums, divided by the number of workers."""

    load: float = 0.0
    decode: float = 0.0
    forward: float = 0.0
    write: float = 0.0
    train: float = 0.0
    total: float = 0.0


@dataclass
class Extractor:
    backbone: torch.nn.Module
    workers: int
    seconds: Seconds = field(default_factory=Seconds)

    def features(self, photos: list[Photo]) -> Iterator[np.ndarray]:
        """In the photos' order, a few at a time."""
        parts = [photos[i : i + INFERENCE_BATCH] for i in range(0, len(photos), INFERENCE_BATCH)]
        with ThreadPoolExecutor(self.workers, initializer=lambda: torch.set_num_threads(1)) as pool:
            for features, decode, forward in pool.map(self._work, parts):
                self.seconds.decode += decode / self.workers
                self.seconds.forward += forward / self.workers
                yield features

    def _work(self, photos: list[Photo]) -> tuple[np.ndarray, float, float]:
        began = time.perf_counter()
        crops = crops_of(photos)
        decoded = time.perf_counter()
        with torch.inference_mode():
            features = self.backbone(normalised(crops)).numpy()
        return features, decoded - began, time.perf_counter() - decoded


@dataclass
class PlainExtractor(Extractor):
    """The published network as it is, batches of 32: what one writes before looking for speed."""

    def features(self, photos: list[Photo]) -> Iterator[np.ndarray]:
        with ThreadPoolExecutor(self.workers) as pool:
            for start in range(0, len(photos), PLAIN_BATCH):
                began = time.perf_counter()
                crops = np.concatenate(list(pool.map(lambda photo: crops_of([photo]), photos[start : start + PLAIN_BATCH])))
                decoded = time.perf_counter()
                with torch.no_grad():
                    maps = self.backbone.extract_features(normalised(crops).contiguous())
                    features = maps.mean((2, 3)).numpy()
                self.seconds.decode += decoded - began
                self.seconds.forward += time.perf_counter() - decoded
                yield features


class FeatureFile:
    """Rows of float32, appended and read through a memory map."""

    def __init__(self, path: Path):
        self.path = path

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, rows: Iterator[np.ndarray], seconds: Seconds) -> None:
        with self.path.open("ab") as out:
            for row in rows:
                began = time.perf_counter()
                out.write(row.astype(np.float32, copy=False).tobytes())
                seconds.write += time.perf_counter() - began
            began = time.perf_counter()
            out.flush()
            seconds.write += time.perf_counter() - began

    def read(self) -> torch.Tensor:
        """All rows. Pages are read as they are used."""
        rows = np.memmap(self.path, np.float32, mode="c")  # "c": PyTorch wants it writable
        return torch.from_numpy(rows.reshape(-1, FEATURES))
