"""A clock that can be set and a disk that fails, for real programs (tests/preload/preload.c)."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from .programs import build_dir

KINDS = {"none": 0, "ENOSPC": 1, "EIO": 2, "EINTR": 3, "short": 4}
DAEMON, WORKER = 1, 2
_FIELDS = ["clock_ahead", "kind", "one_in", "who", "left", "struck", "seen"]  # of struct Wishes


class Preload:
    """The wishes that the programs see; `environment` makes a program see them."""

    def __init__(self, folder: Path, below: Path):
        library = build_dir() / "tests" / "preload" / "libmoil_preload.so"
        if not library.is_file():
            raise FileNotFoundError(f"{library} is not built; build moil_preload, or set MOIL_BUILD")
        file = folder / "wishes"
        file.write_bytes(bytes(8 * len(_FIELDS)))
        with file.open("r+b") as opened:
            self._map = mmap.mmap(opened.fileno(), 0)
        self.environment = {"LD_PRELOAD": str(library), "MOIL_PRELOAD": str(file), "MOIL_PRELOAD_BELOW": str(below)}

    def set_clock_ahead(self, seconds: float) -> None:
        self._write("clock_ahead", round(seconds * 1e9))

    def fail(self, kind: str, one_in: int, who: int = DAEMON | WORKER, most: int = -1) -> None:
        """From now on one call in so many fails, at random, `most` of them (below 0: no end)."""
        self.heal()
        for name, value in {"one_in": one_in, "who": who, "left": most, "struck": 0, "seen": 0}.items():
            self._write(name, value)
        self._write("kind", KINDS[kind])

    def heal(self) -> None:
        self._write("kind", 0)

    @property
    def struck(self) -> int:
        return self._read("struck")

    @property
    def seen(self) -> int:
        return self._read("seen")

    def _write(self, name: str, value: int) -> None:
        struct.pack_into("<q", self._map, 8 * _FIELDS.index(name), value)

    def _read(self, name: str) -> int:
        return int(struct.unpack_from("<q", self._map, 8 * _FIELDS.index(name))[0])
