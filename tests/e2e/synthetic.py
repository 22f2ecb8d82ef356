"""Digit-like images if the real digits cannot be fetched, in the same file format.

Seven-segment figures of 8x8 pixels and 17 grey levels, shifted, dimmed and with noise; a function
of the seed alone.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

# Segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
_SEGMENTS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]
_STROKES = [
    [(0, x) for x in range(1, 4)],
    [(y, 0) for y in range(1, 3)],
    [(y, 4) for y in range(1, 3)],
    [(3, x) for x in range(1, 4)],
    [(y, 0) for y in range(4, 6)],
    [(y, 4) for y in range(4, 6)],
    [(6, x) for x in range(1, 4)],
]


def write_digits(file: Path, per_class: int, seed: int = 1) -> None:
    """Writes `per_class` rows of each digit: 64 pixels and the digit."""
    rng = random.Random(seed)
    rows = [_row(digit, rng) for _ in range(per_class) for digit in range(10)]
    # Without name and time, so that the same seed gives the same bytes.
    with file.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
        out.write("".join(rows).encode())


def _row(digit: int, rng: random.Random) -> str:
    top, left = rng.randint(0, 1), rng.randint(0, 3)
    ink = rng.randint(10, 16)
    pixels = [rng.randint(0, 3) for _ in range(64)]
    for lit, stroke in zip(_SEGMENTS[digit], _STROKES):
        for y, x in stroke if lit == "1" else []:
            pixels[8 * (y + top) + x + left] = max(0, ink - rng.randint(0, 3))
    return ",".join(map(str, [*pixels, digit])) + "\n"
