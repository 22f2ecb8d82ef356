"""Data frames out of the lazy-load database that an R package keeps its data in: a .rdb file of objects, compressed one by
one, and a .rdx file that says where each lies. Of R's serialization (XDR, versions 2 and 3) what data frames are made of."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zlib
from pathlib import Path
from typing import Any

_SYMBOL, _PAIRS, _CHARS, _LOGICAL, _INTEGER, _REAL, _STRINGS, _LIST = 1, 2, 9, 10, 13, 14, 16, 19
_ALTREP, _NULL, _REFERENCE = 238, 254, 255
_HAS_ATTRIBUTES, _HAS_TAG = 0x200, 0x400
_XZ = [{"id": lzma.FILTER_LZMA2, "preset": 6 | lzma.PRESET_EXTREME}]


def data_frame(database: Path, name: str) -> dict[str, list[Any]]:
    """Its columns. `database`: without .rdb. KeyError if there is none of this name."""
    index = _Reader(gzip.decompress(database.with_suffix(".rdx").read_bytes())).document()
    begin, size = index["variables"][name]
    stored = database.with_suffix(".rdb").read_bytes()[begin : begin + size]
    frame: dict[str, list[Any]] = _Reader(_uncompressed(stored)).document()
    return frame


def _uncompressed(stored: bytes) -> bytes:
    """Behind the size comes a letter, or at once what zlib packed."""
    kind, rest = stored[4:5], stored[5:]
    if kind == b"Z":
        return lzma.decompress(rest, lzma.FORMAT_RAW, filters=_XZ)
    if kind == b"2":
        return bz2.decompress(rest)
    return rest if kind == b"0" else zlib.decompress(stored[4:])


class _Reader:
    """Vectors are lists, those with names dictionaries; factors are the numbers of their levels."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._known: list[Any] = []  # symbols, which later ones refer to

    def document(self) -> Any:
        if self._take(2) != b"X\n":
            raise ValueError("no R object in XDR")
        version = self._numbers("i", 3)[0]
        if version == 3:
            self._take(self._numbers("i", 1)[0])  # the encoding's name
        return self._object()

    def _take(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def _numbers(self, kind: str, count: int) -> list[Any]:
        return list(struct.unpack(f">{count}{kind}", self._take(count * struct.calcsize(f">{kind}"))))

    def _object(self) -> Any:
        flags = self._numbers("i", 1)[0]
        kind = flags & 0xFF
        if kind == _NULL:
            return None
        if kind == _REFERENCE:
            return self._known[(flags >> 8) - 1]
        if kind == _SYMBOL:
            self._known.append(self._object())
            return self._known[-1]
        if kind == _PAIRS:
            return self._pairs(flags)
        if kind == _ALTREP:
            return self._altrep()
        if kind == _CHARS:
            length = self._numbers("i", 1)[0]
            return None if length < 0 else self._take(length).decode(errors="replace")
        values = self._vector(kind)
        attributes = self._object() if flags & _HAS_ATTRIBUTES else {}
        names = attributes.get("names")
        return dict(zip(names, values)) if names else values

    def _vector(self, kind: int) -> list[Any]:
        length = self._numbers("i", 1)[0]
        if kind in (_LOGICAL, _INTEGER):
            return self._numbers("i", length)
        if kind == _REAL:
            return self._numbers("d", length)
        if kind in (_STRINGS, _LIST):
            return [self._object() for _ in range(length)]
        raise ValueError(f"an R object of type {kind}, which no data frame has")

    def _pairs(self, flags: int) -> dict[Any, Any]:
        if flags & _HAS_ATTRIBUTES:
            self._object()
        tag = self._object() if flags & _HAS_TAG else None
        found = {tag if tag is not None else 0: self._object()}
        rest = self._object()
        return found | {key if isinstance(key, str) else key + 1: value for key, value in (rest or {}).items()}

    def _altrep(self) -> Any:
        kind, state, _attributes = self._object()[0], self._object(), self._object()
        if kind == "compact_intseq":
            count, first, step = (int(number) for number in state)
            return list(range(first, first + count * step, step))
        if kind.startswith("wrap_"):
            return state[0]
        raise ValueError(f"an R vector kept as {kind}")
