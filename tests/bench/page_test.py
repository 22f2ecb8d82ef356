"""The photos that the page's waits are measured with."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from cases.first_hour.page import memory_of, with_comment, write_photos  # noqa: E402

JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")  # no picture: two markers


class Photos(unittest.TestCase):
    def test_a_photo_that_comes_again_is_another_sample_with_the_same_picture(self) -> None:
        other = with_comment(JPEG, "7")
        self.assertEqual(other[:7], b"\xff\xd8\xff\xfe\x00\x037")
        self.assertEqual(other[:2] + other[7:], JPEG)
        self.assertNotEqual(other, with_comment(JPEG, "8"))

    def test_there_are_as_many_as_are_asked_for(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            sources = [Path(name) / "apple" / "a.jpg", Path(name) / "pear" / "b.jpg"]
            for source in sources:
                source.parent.mkdir()
                source.write_bytes(JPEG)
            files = sorted(write_photos(sources, Path(name) / "photos", 5).iterdir())
            self.assertEqual([file.name for file in files], [f"{i:05}-{('apple', 'pear')[i % 2]}.jpg" for i in range(5)])
            self.assertEqual(len({file.read_bytes() for file in files}), 5)

    def test_memory_is_what_a_process_holds(self) -> None:
        before = memory_of(os.getpid())
        held = bytearray(b"x" * (32 << 20))
        self.assertGreater(memory_of(os.getpid()) - before, len(held) // 2)


if __name__ == "__main__":
    unittest.main()
