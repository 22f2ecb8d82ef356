"""R's data frames: what a package's lazy-load database holds is read as it was written."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from lib.records.r_data import data_frame  # noqa: E402

NULL = struct.pack(">i", 254)
HEAD = b"X\n" + struct.pack(">iii", 3, 0x30503, 0x30500) + struct.pack(">i", 5) + b"UTF-8"


def chars(text: str) -> bytes:
    return struct.pack(">ii", 9, len(text)) + text.encode()


def vector(kind: int, items: list[bytes], attributes: bytes = b"") -> bytes:
    return struct.pack(">ii", kind | (0x200 if attributes else 0), len(items)) + b"".join(items) + attributes


def strings(*texts: str) -> bytes:
    return vector(16, [chars(text) for text in texts])


def integers(*numbers: int, attributes: bytes = b"") -> bytes:
    return vector(13, [struct.pack(">i", number) for number in numbers], attributes)


def reals(*numbers: float) -> bytes:
    return vector(14, [struct.pack(">d", number) for number in numbers])


def pairs(*entries: tuple[bytes, bytes]) -> bytes:
    return b"".join(struct.pack(">i", 0x402) + tag + value for tag, value in entries) + NULL


def symbol(name: str) -> bytes:
    return struct.pack(">i", 1) + chars(name)


def list_of(names: list[str], items: list[bytes], *more: tuple[bytes, bytes]) -> bytes:
    return vector(19, items, pairs((symbol("names"), strings(*names)), *more))


def compact(count: int) -> bytes:
    """1 to count, as R keeps row names."""
    kind = b"".join(struct.pack(">i", 2) + part for part in (symbol("compact_intseq"), symbol("base"), integers(13))) + NULL
    return struct.pack(">i", 238) + kind + reals(count, 1, 1) + NULL


FRAME = list_of(
    ["user", "stars", "genre"],
    [integers(7, -2147483648), reals(2.5, 4), integers(1, 2, attributes=pairs((symbol("levels"), strings("a", "b"))))],
    (symbol("row.names"), compact(2)),
)


class RData(unittest.TestCase):
    def frame(self, stored: bytes) -> dict[str, list[object]]:
        with tempfile.TemporaryDirectory() as name:
            database = Path(name) / "Rdata"
            variables = list_of(["other", "films"], [integers(0, 1), integers(3, len(stored))])
            index = list_of(["variables"], [variables])
            database.with_suffix(".rdx").write_bytes(gzip.compress(HEAD + index))
            database.with_suffix(".rdb").write_bytes(b"xyz" + stored)
            return data_frame(database, "films")

    def test_whatever_packed_it(self) -> None:
        data = HEAD + FRAME
        size = struct.pack(">i", len(data))
        raw = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        for packed in (zlib.compress(data), b"2" + bz2.compress(data), b"0" + data, b"Z" + lzma.compress(data, lzma.FORMAT_RAW, filters=raw)):
            found = self.frame(size + packed)
            self.assertEqual(found, {"user": [7, -2147483648], "stars": [2.5, 4.0], "genre": [1, 2]})

    def test_what_is_none_is_refused(self) -> None:
        for data in (b"A\n" + FRAME, HEAD + struct.pack(">ii", 3, 0)):
            with self.assertRaises(ValueError):
                self.frame(struct.pack(">i", len(data)) + zlib.compress(data))


if __name__ == "__main__":
    unittest.main()
