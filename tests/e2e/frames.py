"""Scenes of frames that are all but the same, as a burst or a film has them; a function of the seed."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

_HILLS = 6


def write_frames(folder: Path, scenes: int, frames: int, side: int, seed: int = 1) -> list[list[Path]]:
    """Grey images of so many pixels a side, by scene: soft hills, which every frame sees in another light."""
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    written = []
    for scene in range(scenes):
        hills = [[rng.randint(20, 200) for _ in range(_HILLS)] for _ in range(_HILLS)]
        files = [folder / f"scene-{scene}-{frame}.png" for frame in range(frames)]
        for frame, file in enumerate(files):
            file.write_bytes(grey_png(side, [_light(hills, side, p, frame, rng) for p in range(side * side)]))
        written.append(files)
    return written


def _light(hills: list[list[int]], side: int, pixel: int, frame: int, rng: random.Random) -> int:
    u, v = (_HILLS - 1) * (pixel % side) / side, (_HILLS - 1) * (pixel // side) / side
    i, j = int(u), int(v)
    a, b = u - i, v - j
    upper = hills[j][i] * (1 - a) + hills[j][i + 1] * a
    lower = hills[j + 1][i] * (1 - a) + hills[j + 1][i + 1] * a
    return int(upper * (1 - b) + lower * b) + 3 * frame + rng.randint(0, 3)


def grey_png(side: int, pixels: list[int]) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + bytes(pixels[y * side : (y + 1) * side]) for y in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
