"""The sounds' benchmark: a device is the same for a seed, and no recording is on two sides."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.sounds.sides import FOLDS, halves, recording_of, sides  # noqa: E402
from cases.sounds.words import RATE, noise, patches, read_wav, stream, write_wav  # noqa: E402
from lib.samples import Files  # noqa: E402

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
        from cases.sounds import device

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
