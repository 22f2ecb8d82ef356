"""Images as PNG; and scenes of frames that are all but the same, as a burst or a film has them: a function of the seed."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path

GREY, COLOURED = 0, 2  # as PNG numbers them
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


def png(width: int, height: int, kind: int, rows: bytes) -> bytes:
    """`rows`: each its filter, 0, and its pixels; for a file that lies about its size they may be none."""
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


def grey_png(side: int, pixels: list[int]) -> bytes:
    return png(side, side, GREY, b"".join(b"\0" + bytes(pixels[y * side : (y + 1) * side]) for y in range(side)))
