"""Sounds through the real programs: labels, pieces of recordings, a night, and kills in its middle."""

from __future__ import annotations

import array
import io
import json
import math
import os
import random
import sys
import tarfile
import tempfile
import unittest
import wave
from pathlib import Path
from typing import Any

from browser import Browser, missing
from review_test import Review
from world import ROOT, ctl_of, daemon_in, kill_daemon, kill_worker, pausing_worker, small_night, stage_of, wait_for, weights_digest
from night.daemon import Daemon
from night.moilctl import Moilctl
from night.networks import Layers, dense, relu, write_model
from night.programs import ProgramError, program, run

USAGE, BAD_DATA, NO_INPUT, CANNOT_CREATE = 64, 65, 66, 73  # sysexits.h
RATE = 8000
FRAMES, BANDS = 24, 16
KNOWN = {"hum": 300.0, "whistle": 2500.0}
PICTURES = os.environ.get("MOIL_PICTURES")  # a folder for what the page looks like
SHARED = ROOT.parent / "shared" / "data"  # real clips, where the device has them


def tone(hertz: float, seconds: float, draw: random.Random) -> list[int]:
    """In noise; "beep" is a tone that comes and goes."""
    phase, loud = draw.uniform(0, 6.3), draw.uniform(4000, 9000)
    step = 2 * math.pi * hertz / RATE
    return [round(loud * math.sin(phase + step * i) + draw.uniform(-300, 300)) for i in range(round(seconds * RATE))]


def beep(seconds: float, draw: random.Random) -> list[int]:
    return [sample if i // 400 % 2 else sample // 30 for i, sample in enumerate(tone(1000, seconds, draw))]


def wav(samples: list[int], channels: int = 1) -> bytes:
    numbers = array.array("h", samples)
    if sys.byteorder == "big":
        numbers.byteswap()
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(numbers.tobytes())
    return out.getvalue()


def samples_of(content: bytes) -> tuple[int, int, int, list[int]]:
    """Channels, bytes a sample, rate, and the samples themselves."""
    with wave.open(io.BytesIO(content)) as file:
        numbers = array.array("h", file.readframes(file.getnframes()))
        return file.getnchannels(), file.getsampwidth(), file.getframerate(), list(numbers)


class SoundsTest(unittest.TestCase):
    """One daemon with a network of two sounds, to which a night adds a third."""

    folder: Path
    daemon: Daemon
    ctl: Moilctl

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-sounds-")))
        draw = random.Random(1)
        for name, hertz in KNOWN.items():
            cls.write(f"global/{name}", [wav(tone(hertz, draw.uniform(0.2, 0.8), draw)) for _ in range(30)])
        cls.beeps = cls.write("local/beep", [wav(beep(draw.uniform(0.3, 0.8), draw)) for _ in range(18)])
        layers: Layers = [{"name": "flat", "type": "flatten", "inputs": ["patch"]}]
        layers += [dense("one", "flat", 24), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        model = write_model(cls.folder / "sounds.json", {"patch": [1, FRAMES, BANDS]}, layers)
        training = ["--optimizer", "adam", "--learning-rate", "0.003", "--epochs", "20", "--threads", "1"]
        run([program("moil-pretrain"), "train", "--data", cls.folder / "global", "--model", model, *training, "--out", cls.folder / "base"])
        (cls.folder / "device").mkdir()
        worker = {"path": str(pausing_worker(cls.folder)), "backoff_seconds": 0.05}
        cls.daemon = cls.enterClassContext(daemon_in(cls.folder / "device", {"worker": worker}))
        cls.ctl = ctl_of(cls.daemon)
        cls.ctl.import_model(cls.folder / "base" / "model", "sounds")

    @classmethod
    def write(cls, name: str, contents: list[bytes]) -> list[Path]:
        folder = cls.folder / name
        folder.mkdir(parents=True)
        files = [folder / f"{i:02}.wav" for i in range(len(contents))]
        for file, content in zip(files, contents):
            file.write_bytes(content)
        return files

    def refused(self, code: int, words: str, *command: str | Path) -> None:
        with self.assertRaises(ProgramError) as caught:
            self.ctl.text(*command)
        self.assertEqual(caught.exception.code, code, caught.exception.stderr)
        self.assertIn(words, caught.exception.stderr)

    def forget_all(self, label: str) -> None:
        self.ctl.text("label", "rm", label, "--with-samples")

    def content(self, digest: str) -> bytes:
        out = Path(tempfile.mkdtemp(dir=self.folder)) / "out"
        self.ctl.text("label", "export", out)
        (file,) = (out / "files").glob(digest[:12] + "-*")
        return file.read_bytes()

    def spec(self, **changes: Any) -> dict[str, Any]:
        return small_night("sounds", "sounds", self.folder / "base" / "pack", **changes)

    def test_a_night_learns_a_third_sound_and_survives_kills(self) -> None:
        self.ctl.add_label(self.beeps[:12], "beep", "train")
        self.ctl.add_label(self.beeps[12:], "beep", "val")
        (self.folder / "job.json").write_text(json.dumps(self.spec()))
        planned = self.ctl.json("plan", self.folder / "job.json")["maps"]
        ended = self.ctl.wait(self.ctl.submit(self.spec()))
        self.assertEqual(ended["state"], "succeeded", ended["message"])
        result = ended["result"]
        for figure in ("global_before", "global_after", "local_after"):
            self.assertGreater(result[figure], 0.9, figure)
        cache = result["details"]["cache"]
        self.assertGreater(cache["computed"], len(self.beeps))
        self.assertEqual(cache["maps"]["split"], planned["split"])
        self.assertAlmostEqual(cache["maps"]["bytes"] / planned["bytes"], 1, delta=0.3, msg="guessed from a few recordings")
        answers = self.ctl.json("predict", self.beeps[-1], self.folder / "global" / "hum" / "03.wav")["predictions"]
        self.assertEqual([answer["top"][0]["label"] for answer in answers], ["beep", "hum"])
        page = self.ctl.text("report", str(ended["id"]), "--html", "-")
        self.assertIn("data:image/jpeg;base64,", page, "the outlines of sounds whose answer changed")
        self.check_kills()
        self.forget_all("beep")

    def check_kills(self) -> None:
        """Killed in a stage, a night comes to the weights of one that was not."""
        spec = self.spec(activate=False, guard={"max_global_drop": 1}, augment={"views": 2})
        digests = set()
        for stage, kill in (("", None), ("cache", kill_worker), ("train", kill_worker), ("train", kill_daemon)):
            (self.folder / "pause").write_text(stage)
            job = self.ctl.submit(spec)
            if kill:
                wait_for(f"stage {stage}", lambda: stage_of(self.ctl, job) == stage)
                kill(self.daemon)
            ended = self.ctl.wait(job)
            self.assertEqual(ended["state"], "succeeded", ended["message"])
            self.assertEqual(ended["attempts"], 2 if kill else 1)
            digests.add(weights_digest(self.daemon.state, ended))
        self.assertEqual(len(digests), 1)

    def test_folders_are_imported_and_watched(self) -> None:
        draw = random.Random(3)
        self.write("in/drip", [wav(beep(0.2, draw)) for _ in range(3)])
        (self.folder / "in" / "drip" / "cut off.wav").write_bytes(b"RIFF")
        self.refused(BAD_DATA, "cut off.wav: it is text, which no model reads", "label", "watch", self.folder / "in", "--once")
        found = self.ctl.json("label", "samples", "--label", "drip")["samples"]
        self.assertEqual([sample["media_type"] for sample in found], ["audio/wav"] * 3)
        self.ctl.text("label", "export", self.folder / "backup", "--format", "folder")
        self.forget_all("drip")
        self.assertEqual(self.ctl.json("label", "import", self.folder / "backup")["added"], 3)
        self.forget_all("drip")

    def test_a_piece_of_a_recording(self) -> None:
        draw = random.Random(2)
        left, right = tone(300, 4, draw), beep(4, draw)
        both = [sample for pair in zip(left, right) for sample in pair]
        walk = self.folder / "walk.wav"
        walk.write_bytes(wav(both, channels=2))
        cut = ["label", "cut", walk, "--from", "1.25", "--to", "2.5"]
        text = self.ctl.text(*cut, "--label", "knock", "--split", "val")
        self.assertIn("walk.wav 1.25-2.5 s: added, 1.25 s", text)
        (sample,) = self.ctl.json("label", "samples", "--label", "knock")["samples"]
        self.assertEqual((sample["name"], sample["split"]), (f"{walk} 1.25-2.5 s", "val"))
        self.assertEqual(samples_of(self.content(sample["digest"])), (2, 2, RATE, both[2 * 10000 : 2 * 20000]))
        again = self.ctl.json(*cut, "--label", "knock")
        self.assertEqual((again["digest"], again["new"]), (sample["digest"], False))
        self.check_refusals(walk)
        self.forget_all("knock")

    @unittest.skipIf(missing(), missing())
    def test_the_review_plays_sounds(self) -> None:
        draw = random.Random(4)
        files = self.write("heard", [wav(tone(300, 3, draw)), wav(beep(2, draw))])
        digests = [sample["digest"] for sample in self.ctl.json("label", "add", "--unlabelled", *files)["samples"]]
        review, browser = Review(self.daemon, "--no-open"), Browser()
        self.addCleanup(review.end)
        self.addCleanup(browser.close)
        browser.open(review.address)
        browser.until("document.querySelectorAll('.cell img').length === 2 && document.querySelectorAll('.play:not([hidden])').length === 2")
        self.assertEqual(browser.text("#cell-0 .play"), "\u25b6 3.0 s")
        player = "document.querySelector('#player')"
        browser.press("p")
        browser.until(f"{player}.currentTime > 0.1")
        self.assertEqual(browser.run(f"{player}.duration"), 3)
        browser.press("p")
        browser.until(f"{player}.paused")
        browser.click("#cell-1 .play")
        browser.until(f"{player}.src.endsWith('{digests[1]}') && {player}.currentTime > 0.1")
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            browser.picture(Path(PICTURES) / "sounds.png")
        self.assertEqual(browser.complaints(), [])
        for digest in digests:
            self.ctl.text("label", "forget", digest)

    def test_real_clips(self) -> None:
        clips = self.folder / "clips"
        for name, count in {"esc10.tar": 6, "fsdd.tar": 6}.items():
            if not (SHARED / name).exists():
                self.skipTest(f"{SHARED / name} is not there")
            with tarfile.open(SHARED / name) as archive:
                members = (member for member in archive if member.isfile())
                for _, member in zip(range(count), members):
                    content = archive.extractfile(member)
                    assert content
                    file = clips / Path(member.name).parent.name / Path(member.name).name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(content.read())
        taken = self.ctl.json("label", "import", clips)
        self.assertEqual((taken["added"], taken["failed"]), (12, 0))
        found = self.ctl.json("label", "samples")["samples"]
        self.assertEqual({sample["media_type"] for sample in found}, {"audio/ogg", "audio/wav"})
        bark = next(clips.rglob("*.ogg"))
        piece = self.ctl.json("label", "cut", bark, "--from", "0.5", "--to", "1.75", "--label", bark.parent.name)
        self.assertEqual((piece["new"], piece["seconds"], piece["frames"]), (True, 1.25, round(1.25 * piece["rate"])))
        for label in {label for sample in found for label in sample["labels"]}:
            self.forget_all(label)

    def test_a_recording_that_is_too_long_is_cut(self) -> None:
        """An hour and more: no sample as a whole, but its pieces are."""
        long = self.folder / "long.wav"
        head = bytearray(wav([]))
        size = 5000 * RATE * 2
        head[4:8], head[40:44] = (size + 36).to_bytes(4, "little"), size.to_bytes(4, "little")
        with long.open("wb") as file:
            file.write(head)
            file.truncate(len(head) + size)
        self.refused(BAD_DATA, "larger than the limit of 67108864 bytes: add pieces of it, with moilctl label cut", "label", "add", long, "--label", "quiet")
        piece = self.ctl.json("label", "cut", long, "--from", "4998.5", "--to", "5000", "--label", "quiet")
        self.assertEqual(samples_of(self.content(piece["digest"]))[3], [0] * (3 * RATE // 2))
        self.forget_all("quiet")

    def check_refusals(self, walk: Path) -> None:
        def cut(file: Path, begin: str, end: str) -> list[str | Path]:
            return ["label", "cut", file, "--from", begin, "--to", end, "--label", "knock"]

        notes = self.folder / "notes.txt"
        notes.write_text("a knock at 3.2\n")
        empty = self.folder / "empty.wav"
        empty.write_bytes(wav([]))
        self.refused(USAGE, "walk.wav: it is 4 s long, and the piece would end at 4.5 s; let it end at 4 s or before", *cut(walk, "1", "4.5"))
        self.refused(USAGE, "a piece ends behind its beginning, not at 1 s where it begins at 2 s", *cut(walk, "2", "1"))
        self.refused(USAGE, "a piece begins at 0 s or later, not at -1 s", *cut(walk, "-1", "1"))
        self.refused(USAGE, "there is no sample; it has 8000 samples a second", *cut(walk, "1", "1.00001"))
        self.refused(BAD_DATA, "notes.txt: it is text, no sound", *cut(notes, "1", "2"))
        self.refused(BAD_DATA, "empty.wav: it holds no sound", *cut(empty, "0", "1"))
        self.refused(USAGE, "it is a folder, a pipe or a device", *cut(self.folder, "0", "1"))
        self.refused(NO_INPUT, "none.wav", *cut(self.folder / "none.wav", "0", "1"))
        self.refused(USAGE, "give either --label or --unlabelled", *cut(walk, "0", "1")[:-2])
        self.refused(CANNOT_CREATE, "it is there already as 'knock'", *cut(walk, "1.25", "2.5")[:-1], "bark")


if __name__ == "__main__":
    unittest.main()
