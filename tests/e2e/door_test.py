"""At the door: what cannot be decoded is refused when it is added, in the same words whichever way it comes."""

from __future__ import annotations

import random
import subprocess
import tempfile
import unittest
from pathlib import Path

from images import grey_png
from recordings import beep, wav
from world import ctl_of, daemon_in
from lib.programs import program

SIDE, TORN, TAKEN = 32, 6, 30


def photo(seed: int) -> bytes:
    draw = random.Random(seed)
    return grey_png(SIDE, [draw.randint(0, 255) for _ in range(SIDE * SIDE)])


class DoorTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "device").mkdir()
        self.daemon = self.enterContext(daemon_in(self.folder / "device"))
        self.ctl = ctl_of(self.daemon)
        frog = self.folder / "in" / "frog"
        for site in ("site1", "site2"):
            (frog / site).mkdir(parents=True)
        self.whole, self.torn = [], []
        for seed in range(TAKEN + TORN):
            bytes_, is_torn = photo(seed), seed % 6 == 5
            file = frog / f"site{1 + seed % 2}" / f"{seed}.png"
            file.write_bytes(bytes_[: len(bytes_) // 2] if is_torn else bytes_)
            (self.torn if is_torn else self.whole).append(file)
        sound = wav(beep(1, random.Random(1)))
        (frog / "croak.wav").write_bytes(sound)
        self.whole.append(frog / "croak.wav")
        for name, content in (("empty.wav", sound[:40]), ("one.csv", b"1,2\n3,4\n5\n")):
            (frog / name).write_bytes(content)
            self.torn.append(frog / name)

    def moilctl(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [program("moilctl"), "--socket", self.daemon.socket, *words]
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def forget_all(self) -> None:
        if self.ctl.json("label", "list")["labels"]:
            self.ctl.text("label", "rm", "frog", "--with-samples", "--yes")

    def test_each_way_refuses_the_same_in_the_same_words(self) -> None:
        said = []
        inbox = self.folder / "in"
        for words in (
            ("label", "add", inbox, "--label", "frog"),
            ("label", "import", inbox),
            ("label", "watch", inbox, "--once"),
            ("add", inbox),
        ):
            done = self.moilctl(*words)
            self.assertEqual(done.returncode, 65, done.stderr)
            (label,) = self.ctl.json("label", "list")["labels"]
            self.assertEqual((label["name"], label["samples"]), ("frog", len(self.whole)))
            said.append(sorted(line for line in done.stderr.splitlines() if ": it cannot be read: " in line))
            self.forget_all()
        self.assertEqual([line.split(": ")[0] for line in said[0]], sorted(map(str, self.torn)))
        for lines in said[1:]:
            self.assertEqual(lines, said[0])

    def test_what_is_there_is_not_refused_again_and_what_is_mended_is_taken(self) -> None:
        inbox = self.folder / "in"
        self.assertEqual(self.moilctl("label", "import", inbox).returncode, 65)
        for number, file in enumerate(self.torn):
            file.write_bytes(photo(1000 + number))
        done = self.moilctl("label", "import", inbox)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{len(self.torn)} added, {len(self.whole)} known already", done.stdout)


if __name__ == "__main__":
    unittest.main()
