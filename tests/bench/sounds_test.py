"""The sounds' benchmark: a device is the same for a seed, no recording is on two sides, and no fold has a say in the
settings that it judges."""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.sounds import esc10, table  # noqa: E402
from cases.sounds.words import RATE, noise, patches, read_wav, stream, write_wav  # noqa: E402
from lib.nested import TUNED_ON, choose  # noqa: E402
from lib.samples import Files  # noqa: E402
from lib.sounds.data import Clips  # noqa: E402
from lib.sounds.sides import FOLDS, fold_of, halves, recording_of, sides  # noqa: E402

HAS_NUMPY = importlib.util.find_spec("numpy") is not None


def made_up() -> Files:
    """As ESC-10 has them: 8 clips of a class a fold, of 1 to 8 recordings; 'rain' of one recording a fold."""
    files: Files = {}
    for name, recordings in (("rain", 1), ("bark", 8), ("clock", 3)):
        files[name] = [
            Path(name) / f"{fold}-{100 * fold + i % recordings}-{'ABCDEFGH'[i // recordings]}.ogg" for fold in range(1, FOLDS + 1) for i in range(8)
        ]
    return files


class Sides(unittest.TestCase):
    def test_no_recording_is_in_two_parts(self) -> None:
        files = made_up()
        for rotation in range(FOLDS):
            known = sides(files, rotation)
            for name, members in files.items():
                parts = [part[name] for part in vars(known).values()]
                self.assertEqual(sorted(sum(parts, [])), sorted(members))
                recordings = [{recording_of(file) for file in part} for part in parts]
                self.assertEqual(sum(map(len, recordings)), len(set().union(*recordings)))
                self.assertTrue(all(parts[i] for i in (0, 1, 3)))

    def test_every_clip_judges_each_side_once(self) -> None:
        files = made_up()
        for part in ("a_test", "b_test"):
            judged = [file for rotation in range(FOLDS) for members in getattr(sides(files, rotation), part).values() for file in members]
            self.assertEqual(sorted(judged), sorted(sum(files.values(), [])))

    def test_halves_are_halves_where_recordings_allow(self) -> None:
        files = {name: members[:8] for name, members in made_up().items()}
        first, second = halves(files, "seed")
        self.assertEqual((len(first["bark"]), len(second["bark"])), (4, 4))
        self.assertEqual((len(first["rain"]), len(second["rain"])), (8, 0))
        self.assertGreater(len(first["clock"]), 0)
        self.assertGreater(len(second["clock"]), 0)
        self.assertEqual(halves(files, "seed"), (first, second))
        self.assertNotEqual(halves(files, "another"), (first, second))


def folds_of(files: Files) -> set[int]:
    return {fold_of(file) for members in files.values() for file in members}


class FakeDevice:
    """A daemon over ESC-10 on which a setting is as good as `score` says of it by the fold that is asked."""

    def __init__(self, clips: Clips, score: Any) -> None:
        self.clips, self.score, self.specs = clips, score, []

    def submit(self, spec: dict[str, Any]) -> int:
        self.specs.append(spec)
        return len(self.specs)

    def watch(self, number: int) -> dict[str, Any]:
        figures = {"global_before": 0.9, "global_after": 0.9, "local_before": 0.1, "local_after": 0.1, "epochs": 1, "seconds": 1.0}
        return {"state": "succeeded", "message": "", "result": {**figures, "details": {"stages": {"train": 1.0}}}}

    def add_label(self, *words: Any) -> None:
        pass

    def json(self, *words: Any) -> Any:
        return {"models": [{"active": True, "version": 1}]}

    def top1(self, held_out: Files) -> float:
        (fold,) = folds_of(held_out)
        return float(self.score(self.specs[-1]["train"]["optimizer"]["learning_rate"], fold)) if self.specs and "train" in self.specs[-1] else 0.0


class Settings(unittest.TestCase):
    """Whatever a fold that judges says of settings, they are chosen without it."""

    def test_a_fold_has_no_say_in_the_settings_that_it_judges(self) -> None:
        draw = random.Random(1)
        scores = {(pair, setting, fold): draw.random() for pair in ((i, j) for i in range(1, 6) for j in range(i, 6)) for setting in "abcd" for fold in pair}

        def chosen(judge: int, own: float) -> Any:
            score = lambda pair, setting, fold: own * ord(setting) if fold == judge else scores[pair, setting, fold]  # noqa: E731
            return choose(FOLDS, [judge], lambda pair: ((setting, {fold: score(pair, setting, fold) for fold in pair}) for setting in "abcd"))[judge]

        for judge in range(1, FOLDS + 1):
            self.assertEqual(chosen(judge, 1), chosen(judge, -1))
        everybodys = choose(FOLDS, range(1, 6), lambda pair: ((s, {fold: scores[pair, s, fold] for fold in pair}) for s in "abcd"))
        self.assertEqual(everybodys[3], chosen(3, 0))
        expected = [scores[tuple(sorted((3, other))), everybodys[3].setting, other] for other in (1, 2, 4, 5)]
        self.assertAlmostEqual(everybodys[3].scores[everybodys[3].setting], sum(expected) / 4)

    def test_of_equals_the_first_is_chosen(self) -> None:
        scores = {"a": (0.1, 0.7, 0.3, 0.2), "b": (0.7, 0.1, 0.2, 0.3)}
        found = choose(FOLDS, [1], lambda pair: ((s, {1: 0.0, pair[1]: scores[s][pair[1] - 2]}) for s in "ab"))
        self.assertEqual(found[1].setting, "a")
        higher = choose(FOLDS, [1], lambda pair: ((s, {1: 0.0, pair[1]: 0.1 + 0.2 if s == "b" else 0.3}) for s in "ab"))
        self.assertEqual(higher[1].setting, "a", "0.1 + 0.2 is no more than 0.3")

    def esc10(self, score: Any, quick: bool) -> tuple[dict[str, Any], list[FakeDevice]]:
        devices: list[FakeDevice] = []

        @contextmanager
        def device(folder: Path, model: Path, name: str, clips: Clips, tags: Any) -> Iterator[FakeDevice]:
            devices.append(FakeDevice(clips, score))
            yield devices[-1]

        fakes = {
            "device": device,
            "pack_for": lambda *_: Path("/pack"),
            "top1": lambda ctl, held_out: ctl.top1(held_out),
            "yamnet_head": lambda *_: None,
            "_clip_bytes": lambda _: {"file": 1.0, "samples": 1.0},
        }
        with ExitStack() as stack:
            for name, fake in fakes.items():
                stack.enter_context(patch.object(esc10, name, fake))
            return esc10.esc10_case(Path("/"), Path("/"), Path("/"), made_up(), quick), devices

    def test_a_night_of_esc10_is_judged_by_clips_that_chose_nothing(self) -> None:
        def nights(tempting: float) -> list[Any]:
            """Those that fold 1 judges, which praises a rate; the others praise 0.1 and 0.01."""
            found, devices = self.esc10(lambda rate, fold: rate == tempting if fold == 1 else rate in (0.1, 0.01), quick=True)
            judged = [one for one in devices if folds_of(one.clips.held_out) == {1} and folds_of(one.clips.train) == {2, 3, 4, 5}]
            self.assertTrue(all(run["tuned_on"] == TUNED_ON and run["judged_by"] == "fold 1" for run in found["runs"] if run["name"] != "auto"))
            return [spec for one in judged for spec in one.specs]

        specs = nights(0.03)
        self.assertEqual(specs, nights(0.3))
        rates = {spec["train"]["optimizer"]["learning_rate"] for spec in specs if "train" in spec}
        self.assertEqual(rates, {0.1, 0.01})

    def test_every_fold_has_settings_of_its_own_and_the_table_tells_them(self) -> None:
        found, devices = self.esc10(lambda rate, fold: rate == 0.03, quick=False)
        for one in devices:
            self.assertFalse(folds_of(one.clips.train) & folds_of(one.clips.held_out))
        self.assertEqual({layers: set(folds) for layers, folds in found["chosen"].items()}, {"1": set("12345"), "3": set("12345"), "all": {"1"}})
        self.assertTrue(all(choice["setting"].endswith("rate 0.03") for choice in found["chosen"]["1"].values()))
        head = {"title": "a head", "local_after": 0.98, "seconds": 2.0, "each_fold": [{"fold": 1, "weight_decay": 1e-5, "scores": {"1e-05": 0.97}}]}
        told = table.esc10_text(found | {"peer": head, "factors": []})
        self.assertRegex(told, r"\| a head +\| – +\| 1 +\| 1 +\| – +\| 98.0% +\| 2.0 +\| – +\|")
        self.assertRegex(told, r"\| the peer +\| 1 +\| weight decay 1e-05 +\| 97.0% +\|")
        self.assertRegex(told, r"\| 1 trained +\| 5 +\| 60 epochs, rate 0.03 +\| 100.0% +\|")


class Words(unittest.TestCase):
    def test_words_lie_where_the_stream_says(self) -> None:
        words = [[0.5] * 800, [0.25] * 1600]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "stream.wav"
            places = stream(file, words, noise(-60, 1, 1), 1)
            samples = read_wav(file)
        self.assertEqual(len(places), 2)
        for word, (begin, end) in zip(words, places):
            inside = samples[round(begin * RATE) : round(end * RATE)]
            self.assertAlmostEqual(sum(inside) / len(word), word[0], delta=0.01)
            self.assertLess(abs(samples[round(begin * RATE) - 2]), 0.05)

    def test_what_is_written_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(read_wav(write_wav(Path(folder) / "one.wav", [0.0, 0.5, -1.0])), [0.0, 0.5, -1.0])

    def test_a_line_counts_its_patches(self) -> None:
        self.assertEqual(patches([(0.48, 1.455), (2, 2 + 0.975 + 2 * 0.48)]), 1 + 3)


@unittest.skipUnless(HAS_NUMPY, "NumPy is not installed")
class Device(unittest.TestCase):
    def setUp(self) -> None:
        import numpy as np
        from lib.sounds import device

        self.np, self.device = np, device
        self.noise = 0.2 * np.random.default_rng(1).standard_normal(2 * device.RATE).clip(-4, 4)

    def hear(self, seed: int, samples, name: str = "a"):
        return self.device.hear(self.device.draw_device(seed), samples, name)

    def test_a_seed_is_a_device(self) -> None:
        equal = self.np.array_equal
        heard = self.hear(1, self.noise)
        self.assertTrue(equal(heard, self.hear(1, self.noise)))
        self.assertFalse(equal(heard, self.hear(2, self.noise)))
        self.assertFalse(equal(heard, self.hear(1, self.noise, "b")), "its noise is the clip's own")
        self.assertEqual(len(heard), len(self.noise))
        self.assertLessEqual(abs(heard).max(), 1)

    def test_it_hears_a_telephones_band(self) -> None:
        np = self.np
        for seed in range(5):
            power = abs(np.fft.rfft(self.hear(seed, self.noise))) ** 2
            per_hertz = len(self.noise) // self.device.RATE
            of = lambda low, high: power[low * per_hertz : high * per_hertz].mean()  # noqa: E731
            inside = of(400, 3000)
            self.assertLess(10 * np.log10(of(60, 120) / inside), -10)
            self.assertLess(10 * np.log10(of(5500, 8000) / inside), -15)

    def test_silence_hisses_and_soft_sounds_are_brought_up(self) -> None:
        rms = lambda samples: float(self.np.sqrt((samples**2).mean()))  # noqa: E731
        for seed in range(5):
            hiss, soft, loud = (rms(self.hear(seed, factor * self.noise)[-self.device.RATE // 2 :]) for factor in (0, 0.05, 2))
            self.assertGreater(hiss, 0.001)
            self.assertGreater(soft, 2 * hiss)
            self.assertLess(loud / soft, 10, "of a factor of 40")


if __name__ == "__main__":
    unittest.main()
