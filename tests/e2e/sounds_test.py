"""Sounds through the real programs: labels, pieces of recordings, a night, and kills in its middle."""

from __future__ import annotations

import array
import io
import math
import os
import random
import shutil
import tempfile
import unittest
import wave
from pathlib import Path

from case import BAD_DATA, CANNOT_CREATE, NO_INPUT, USAGE, OwnModelTest
from recordings import RATE, beep, tone, wav
from world import kill_daemon, kill_worker
from lib.networks import Layers, dense, relu, write_model
from lib.review.browser import Browser, missing
from lib.review.running import Review

FRAMES, BANDS = 24, 16
KNOWN = {"hum": 300.0, "whistle": 2500.0}
PICTURES = os.environ.get("MOIL_PICTURES")  # a folder for what the page looks like
CHIRP = Path(__file__).parent / "clips" / "chirp.ogg"  # two seconds at 16 kHz, made up


def samples_of(content: bytes) -> tuple[int, int, int, list[int]]:
    """Channels, bytes a sample, rate, and the samples themselves."""
    with wave.open(io.BytesIO(content)) as file:
        numbers = array.array("h", file.readframes(file.getnframes()))
        return file.getnchannels(), file.getsampwidth(), file.getframerate(), list(numbers)


class SoundsTest(OwnModelTest):
    """A network of two sounds, to which a night adds a third."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(1)
        for name, hertz in KNOWN.items():
            cls.sounds(f"global/{name}", [tone(hertz, draw.uniform(0.2, 0.8), draw) for _ in range(30)])
        cls.beeps = cls.sounds("local/beep", [beep(draw.uniform(0.3, 0.8), draw) for _ in range(18)])
        layers: Layers = [{"name": "flat", "type": "flatten", "inputs": ["patch"]}]
        layers += [dense("one", "flat", 24), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        model = write_model(cls.folder / "sounds.json", {"patch": [1, FRAMES, BANDS]}, layers)
        training = ["--optimizer", "adam", "--learning-rate", "0.003", "--epochs", "20"]
        cls.pretrain(model, "sounds", "--data", cls.folder / "global", *training)

    @classmethod
    def sounds(cls, name: str, sounds: list[list[int]]) -> list[Path]:
        return cls.write(name, map(wav, sounds), "wav")

    def forget_all(self, label: str) -> None:
        self.ctl.text("label", "rm", label, "--with-samples", "--yes")

    def content(self, digest: str) -> bytes:
        out = Path(tempfile.mkdtemp(dir=self.folder)) / "out"
        self.ctl.text("label", "export", out)
        (file,) = (out / "files").glob(digest[:12] + "-*")
        return file.read_bytes()

    def test_a_night_learns_a_third_sound_and_survives_kills(self) -> None:
        self.label(self.beeps, "beep", held_out=6)
        planned = self.plan(self.spec("sounds"))["maps"]
        ended = self.ended(self.spec("sounds"))
        result = ended["result"]
        for figure in ("global_before", "global_after", "local_after"):
            self.assertGreater(result[figure], 0.9, figure)
        cache = result["details"]["cache"]
        self.assertGreater(cache["computed"], len(self.beeps))
        self.assertEqual(cache["maps"]["split"], planned["split"])
        self.assertAlmostEqual(cache["maps"]["bytes"] / planned["bytes"], 1, delta=0.3, msg="guessed from a few recordings")
        answers = self.ctl.json("predict", self.beeps[-1], self.folder / "global" / "hum" / "003.wav")["predictions"]
        self.assertEqual([answer["top"][0]["label"] for answer in answers], ["beep", "hum"])
        page = self.ctl.text("report", str(ended["id"]), "--html", "-")
        self.assertIn("data:image/jpeg;base64,", page, "the outlines of sounds whose answer changed")
        kills = ("cache", kill_worker), ("train", kill_worker), ("train", kill_daemon)
        self.check_kills(self.spec("sounds", augment={"views": 2}), *kills)
        self.forget_all("beep")

    def test_folders_are_imported_and_watched(self) -> None:
        draw = random.Random(3)
        self.sounds("in/drip", [beep(0.2, draw) for _ in range(3)])
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

    def test_all_parts_of_a_recording_are_looked_at(self) -> None:
        """What it begins with is the least of it."""
        draw = random.Random(5)
        whistle, hum = KNOWN["whistle"], KNOWN["hum"]
        walks = self.sounds("walks", [tone(whistle, 0.3, draw) + tone(hum, 4, draw) for _ in range(4)])
        beginnings = self.sounds("beginnings", [tone(whistle, 0.3, draw) for _ in range(2)])
        added = self.ctl.json("label", "add", "--unlabelled", *walks, *beginnings)["samples"]
        digests = [sample["digest"] for sample in added]
        said = {sample["digest"]: sample["proposals"][0]["label"] for sample in self.ctl.json("label", "suggest")["suggestions"]}
        self.assertEqual([said[digest] for digest in digests], ["hum"] * 4 + ["whistle"] * 2)
        self.ctl.text("label", "assign", *digests[:4], "--label", "engine")
        self.ctl.text("label", "assign", *digests[4:], "--label", "bird")
        meant = {label["label"]: label["candidates"][0]["label"] for label in self.ctl.json("label", "map", "--suggest")["labels"]}
        self.assertEqual((meant["engine"], meant["bird"]), ("hum", "whistle"))
        # Held against recordings that hum throughout, it is one of them.
        hums = self.sounds("hums", [tone(hum, 4, draw) for _ in range(6)])
        birds = self.sounds("birds", [tone(whistle, 4, draw) for _ in range(6)])
        self.ctl.text("label", "add", *hums, "--label", "engine")
        self.ctl.text("label", "add", *birds, "--label", "bird")
        self.ctl.text("label", "assign", digests[0], "--label", "bird")
        wrong = self.ctl.json("label", "audit")["wrong"]
        self.assertEqual((wrong[0]["digest"], wrong[0]["looks_like"]), (digests[0], "engine"))
        for label in ("engine", "bird"):
            self.forget_all(label)

    def test_what_a_night_learned_from_is_no_evidence(self) -> None:
        """Four pieces of two recordings, a night, and a fifth piece."""
        draw = random.Random(6)
        walks = self.sounds("streets", [beep(4, draw) for _ in range(3)])

        def cut(walk: int, begin: float) -> str:
            return self.ctl.json("label", "cut", walks[walk], "--from", str(begin), "--to", str(begin + 1), "--label", "horn")["digest"]

        def sides() -> dict[str, str]:
            return {sample["digest"]: sample["split"] for sample in self.ctl.json("label", "samples", "--label", "horn")["samples"]}

        for walk in (0, 1):
            for begin in (0.5, 2):
                cut(walk, begin)
        trained = {digest for digest, side in sides().items() if side == "train"}
        self.assertGreaterEqual(len(trained), 2)
        self.night("sounds", activate=False, guard={"max_global_drop": 1})
        for begin in (0, 1, 2, 3):
            cut(2, begin)
        self.assertEqual({digest for digest in trained if sides()[digest] != "train"}, set())
        self.forget_all("horn")

    @unittest.skipIf(missing(), missing())
    def test_the_review_plays_sounds(self) -> None:
        draw = random.Random(4)
        files = self.sounds("heard", [tone(300, 3, draw), beep(2, draw)])
        digests = [sample["digest"] for sample in self.ctl.json("label", "add", "--unlabelled", *files)["samples"]]
        review, browser = Review(self.daemon, "--no-open"), Browser()
        self.addCleanup(review.end)
        self.addCleanup(browser.close)
        browser.open(review.address)
        browser.until("document.querySelector('#unlabelled-count')?.textContent.match(/[0-9]/)")
        browser.click("[data-tab=unlabelled]")
        browser.until("document.querySelectorAll('.cell img').length === 2 && document.querySelectorAll('.play:not([hidden])').length === 2")
        self.assertEqual(browser.text("#cell-0 .play"), "\u25b6 3.0 s")
        player = "document.querySelector('#player')"
        browser.press("p")
        browser.until(f"{player}.currentTime > 0.1")
        self.assertEqual(browser.run(f"{player}.duration"), 3)
        browser.press("p")
        browser.until(f"{player}.paused")
        first = browser.run(f"{player}.src")
        self.assertRegex(first, r"/sound/[0-9a-f]{64}$")
        self.assertNotIn(digests[0], first)
        browser.click("#cell-1 .play")
        browser.until(f"{player}.src !== '{first}' && {player}.currentTime > 0.1")
        self.assertEqual(browser.run(f"{player}.duration"), 2)
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            browser.picture(Path(PICTURES) / "sounds.png")
        self.assertEqual(browser.complaints(), [])
        for digest in digests:
            self.ctl.text("label", "forget", digest, "--yes")

    def test_clips_of_two_formats(self) -> None:
        clips = self.folder / "clips"
        (clips / "chirp").mkdir(parents=True)
        (clips / "hum").mkdir()
        chirp = Path(shutil.copy(CHIRP, clips / "chirp"))
        for i in range(5):
            (clips / "hum" / f"{i}.wav").write_bytes(wav(tone(300 + i, 0.5, random.Random(i))))
        taken = self.ctl.json("label", "import", clips)
        self.assertEqual((taken["added"], taken["failed"]), (6, 0))
        found = self.ctl.json("label", "samples")["samples"]
        self.assertEqual({sample["media_type"] for sample in found}, {"audio/ogg", "audio/wav"})
        piece = self.ctl.json("label", "cut", chirp, "--from", "0.5", "--to", "1.75", "--label", "chirp")
        self.assertEqual((piece["new"], piece["seconds"], piece["frames"], piece["rate"]), (True, 1.25, 20000, 16000))
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

    def test_a_recording_larger_than_samples_is_heard_as_it_is_read(self) -> None:
        """Three minutes of 48 kHz in 32 bits: more than 64 MiB, with a hum in its second minute."""
        rate, seconds, at, lasts = 48000, 180, 100, 5
        size = seconds * rate * 8
        head = b"RIFF" + (size + 36).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
        head += b"".join(n.to_bytes(w, "little") for n, w in ((1, 2), (2, 2), (rate, 4), (rate * 8, 4), (8, 2), (32, 2)))
        head += b"data" + size.to_bytes(4, "little")
        hum = [round(3e8 * math.sin(2 * math.pi * KNOWN["hum"] * i / rate)) for i in range(lasts * rate)]
        wide = self.folder / "wide.wav"
        with wide.open("wb") as file:
            file.write(head)
            file.seek(len(head) + at * rate * 8)
            file.write(b"".join(2 * sample.to_bytes(4, "little", signed=True) for sample in hum))
            file.truncate(len(head) + size)
        self.assertGreater(wide.stat().st_size, 64 << 20)
        (answer,) = self.ctl.json("predict", wide, "--timeline")["predictions"]
        self.assertNotIn("error", answer)
        intervals = answer["timeline"]["intervals"]

        def said(time: float) -> set[str]:
            return {i["label"] for i in intervals if i["from"] < time < i["to"]}

        self.assertTrue(said(at + lasts / 2), intervals)
        self.assertNotEqual(said(at + lasts / 2), said(at / 2), "what hums is no silence")
        self.assertEqual(said(at / 2), said(seconds - 10))
        self.assertLessEqual(max(i["to"] for i in intervals), seconds)
        self.assertNotIn("error", self.ctl.json("predict", wide)["predictions"][0])

    def test_channels_that_cancel_are_said(self) -> None:
        draw = random.Random(6)
        left = tone(300, 1, draw)
        opposite, alike = self.folder / "opposite.wav", self.folder / "alike.wav"
        opposite.write_bytes(wav([sample for one in left for sample in (one, -one)], channels=2))
        alike.write_bytes(wav([sample for one in left for sample in (one, one)], channels=2))
        answers = self.ctl.json("predict", opposite, alike)["predictions"]
        self.assertIn("its channels cancel each other", answers[0]["remark"])
        self.assertNotIn("remark", answers[1])

    def test_silence_is_told_when_it_is_added_and_when_it_is_asked_about(self) -> None:
        draw = random.Random(8)
        quiet = [draw.randint(-3, 3) for _ in range(2 * RATE)]  # about -84 dB
        silent, faint, loud = self.sounds("rooms", [[0] * 2 * RATE, quiet, tone(300, 2, draw)])
        words = "mostly silent (softer than -60 dB), which teaches nothing"
        self.assertIn("3 added; 2 " + words, self.ctl.text("label", "add", silent, faint, loud, "--label", "room"))
        half = self.folder / "half.wav"
        half.write_bytes(wav(tone(300, 2, draw) + quiet))
        self.assertNotIn("silent", self.ctl.text("label", "cut", half, "--from", "0", "--to", "1.5", "--label", "room"))
        self.assertIn("; " + words, self.ctl.text("label", "cut", half, "--from", "2.2", "--to", "3.7", "--label", "room"))
        self.assertEqual(self.ctl.json("label", "cut", half, "--from", "2.2", "--to", "3.7", "--label", "room")["silent"], 1)
        answers = self.ctl.json("predict", silent, faint, half, "--timeline")["predictions"]
        for answer in answers[:2]:
            self.assertIn("it is silent: nothing in it is as loud as -60 dB", answer["remark"])
            self.assertEqual((answer["not_sure"], answer["timeline"]["intervals"]), (True, []))
        self.assertNotIn("remark", answers[2])
        self.assertLess(max(line["to"] for line in answers[2]["timeline"]["intervals"]), 2.2, "where it hums")
        self.assertIn("not sure", self.ctl.text("predict", silent))
        self.forget_all("room")

    def test_a_short_recording_is_one_line_of_its_length(self) -> None:
        """Though it is heard in several places."""
        (knock,) = self.sounds("short", [tone(KNOWN["hum"], 0.2, random.Random(9))])
        (answer,) = self.ctl.json("predict", knock, "--timeline")["predictions"]
        self.assertEqual([(line["from"], line["to"], line["label"]) for line in answer["timeline"]["intervals"]], [(0, 0.2, answer["top"][0]["label"])])
        self.assertEqual(answer["timeline"]["intervals"][0]["probability"], answer["top"][0]["probability"])

    def check_refusals(self, walk: Path) -> None:
        def cut(file: Path, begin: str, end: str) -> list[str | Path]:
            return ["label", "cut", file, "--from", begin, "--to", end, "--label", "knock"]

        notes = self.folder / "notes.txt"
        notes.write_text("a knock at 3.2\n")
        empty = self.folder / "empty.wav"
        empty.write_bytes(wav([]))
        self.refused(USAGE, "walk.wav: it is 4 s long, and the piece would end at 4.5 s; let it end at 4 s or before", *cut(walk, "1", "4.5"))
        self.refused(USAGE, "a piece ends behind its beginning, not at 1 s where it begins at 2 s", *cut(walk, "2", "1"))
        self.refused(USAGE, "\"-1\" is no time", *cut(walk, "-1", "1"))
        self.refused(USAGE, "there is no sample; it has 8000 samples a second", *cut(walk, "1", "1.00001"))
        self.refused(BAD_DATA, "notes.txt: it is text, no sound", *cut(notes, "1", "2"))
        self.refused(BAD_DATA, "empty.wav: it holds no sound", *cut(empty, "0", "1"))
        self.refused(USAGE, "it is a folder, a pipe or a device", *cut(self.folder, "0", "1"))
        self.refused(NO_INPUT, "none.wav", *cut(self.folder / "none.wav", "0", "1"))
        self.refused(USAGE, "give --label or --not, or one of --label-none and --unlabelled", *cut(walk, "0", "1")[:-2])
        self.refused(CANNOT_CREATE, "it is there already as 'knock'", *cut(walk, "1.25", "2.5")[:-1], "bark")


if __name__ == "__main__":
    unittest.main()
