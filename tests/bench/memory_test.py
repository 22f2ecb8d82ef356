"""The memory benchmark's own logic, and that the peer trains the same network as its description."""

from __future__ import annotations

import importlib.util
import json
import sys
import tarfile
import tempfile
import unittest
import wave
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.memory import speech, sweep  # noqa: E402
from cases.memory.cases import CASES, PUBLISHED, SEQUENCES, SWEEP_LIMIT  # noqa: E402
from cases.memory.models import generated  # noqa: E402
from cases.memory.sequences import DecoderSize  # noqa: E402
from cases.memory.table import frozen_line, speech_line  # noqa: E402
from lib.table import mib  # noqa: E402
from cases.memory.measure import roofline_ms  # noqa: E402
from cases.memory.swap import check_disk  # noqa: E402

sys.path.insert(0, str(ROOT / "scripts"))
from zoo import classic, mobilenet, resnet  # noqa: E402

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
HAS_TORCH = importlib.util.find_spec("torch") is not None


class LargestBatch(unittest.TestCase):
    """A process takes 100 MiB, and 2 MiB a sample: 206 samples fit, 200 in steps of 8."""

    def setUp(self) -> None:
        self.asked: list[int] = []

    def peak(self, batch: int) -> int:
        self.asked.append(batch)
        return (100 + 2 * batch) << 20

    def test_refined_between_what_fits_and_what_does_not(self) -> None:
        known = {batch: self.peak(batch) for batch in (64, 128, 256)}
        self.asked.clear()
        self.assertEqual(sweep.largest_batch(known, self.peak, refine=True), 200)
        self.assertLessEqual(len(self.asked), 5)

    def test_of_those_known(self) -> None:
        known = {batch: self.peak(batch) for batch in (64, 128, 256)}
        self.asked.clear()
        self.assertEqual(sweep.largest_batch(known, self.peak, refine=False), 128)
        self.assertEqual(self.asked, [])

    def test_all_fit(self) -> None:
        self.assertEqual(sweep.largest_batch({8: 1, 16: SWEEP_LIMIT}, self.peak, refine=True), 16)

    def test_none_fits(self) -> None:
        self.assertEqual(sweep.largest_batch({8: SWEEP_LIMIT + 1}, self.peak, refine=True), 0)

    def test_what_found_no_memory_does_not_fit(self) -> None:
        self.assertEqual(sweep.largest_batch({8: 1, 16: None}, self.peak, refine=True), 8)


class Swap(unittest.TestCase):
    def test_roofline_is_what_the_disk_takes(self) -> None:
        row = {"bytes_read": 3e6, "bytes_written": 1e6}
        speeds = {"disk_read_bytes_per_second": 1e9, "disk_write_bytes_per_second": 5e8}
        self.assertAlmostEqual(roofline_ms(row | speeds), 5.0)
        self.assertIsNone(roofline_ms(row | dict.fromkeys(speeds, 0)))

    @unittest.skipUnless(Path("/dev/shm").is_dir(), "no file system in memory at hand")
    def test_refuses_memory_for_a_disk(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "tmpfs"):
            check_disk(Path("/dev/shm"))


class Report(unittest.TestCase):
    def test_sizes(self) -> None:
        self.assertEqual(mib(3 * 2**19), "1.5")
        self.assertEqual(mib(None), "–")

    def test_published_figures_belong_to_cases(self) -> None:
        self.assertLessEqual(set(PUBLISHED), {case.title for case in [*CASES, *SEQUENCES]})

    def test_says_what_the_decoder_was_fed(self) -> None:
        self.assertIn("7 sentences", speech_line([{}, {"speech": "7 sentences"}]))
        self.assertIn("random", speech_line([{"speech": None}]))
        self.assertEqual(speech_line([{}]), "")

    def test_what_freezing_saves(self) -> None:
        rows = [
            {"model": title, "planned_bytes": size << 20, "peak_rss_bytes": (size + 9) << 20}
            for title, size in (("A", 30), ("A, middle frozen", 10))
        ]
        self.assertIn("saves 20.0 MiB planned, 20.0 MiB measured", frozen_line(rows))
        self.assertEqual(frozen_line(rows[:1]), "")


@unittest.skipUnless(HAS_NUMPY, "NumPy is not installed")
class Frames(unittest.TestCase):
    """A person hums a tone for three quarters of a second, five times, in an archive like the recordings'."""

    HERTZ = 1000.0

    def setUp(self) -> None:
        import numpy as np

        self.np = np
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        tone = 0.5 * np.sin(2 * np.pi * self.HERTZ * np.arange(6000) / speech.RATE)
        with tarfile.open(self.folder / "fsdd.tar", "w") as tar:
            for i in range(5):
                file = self.folder / f"7_anna_{i}.wav"
                with wave.open(str(file), "wb") as sound:
                    sound.setnchannels(1)
                    sound.setsampwidth(2)
                    sound.setframerate(speech.RATE)
                    sound.writeframes((32767 * tone).astype("<i2").tobytes())
                tar.add(file, f"anna/7/{file.name}")

    def test_are_of_what_is_said_and_then_silence(self) -> None:
        with mock.patch.object(speech, "FSDD", self.folder / "fsdd.tar"):
            made = speech.write_speech(self.folder)
        assert made is not None
        size = DecoderSize()
        numbers = self.np.fromfile(made.file, "<f4").reshape(-1, size.frames, 3 * size.mel + 1)
        self.assertEqual(len(numbers), 4)  # two do not fit into 100 frames, and the last has no next one yet
        before = numbers.reshape(4, -1)[:, : size.frames * size.mel].reshape(4, size.frames, size.mel)
        target = numbers.reshape(4, -1)[:, size.frames * size.mel :].reshape(4, size.frames, 2 * size.mel + 1)
        spoken = 1 + (6000 - speech.WINDOW) // speech.HOP
        self.assertTrue((target[:, :, : size.mel] == target[:, :, size.mel : -1]).all())
        self.assertTrue((before[:, 1:] == target[:, :-1, : size.mel]).all())
        self.assertFalse(before[:, 0].any())
        self.assertTrue((target[:, :, -1].sum(1) == size.frames - spoken + 1).all())
        loudest = target[0, :spoken, : size.mel].argmax(1)
        nearest = speech.mel_filters(size.mel)[round(self.HERTZ * speech.FFT / speech.RATE)].argmax()
        self.assertEqual(set(loudest.tolist()), {int(nearest)})
        self.assertTrue(self.np.allclose(target[:, spoken:, : size.mel], self.np.log(speech.SILENCE)))

    def test_every_band_hears_something(self) -> None:
        self.assertTrue((speech.mel_filters(80).sum(0) > 0).all())

    def test_are_random_without_recordings(self) -> None:
        with mock.patch.object(speech, "FSDD", self.folder / "none.tar"):
            self.assertIsNone(speech.write_speech(self.folder))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Peer(unittest.TestCase):
    def test_takes_samples_one_after_the_other(self) -> None:
        import torch
        from peers.torch_training import Samples

        with tempfile.NamedTemporaryFile() as file:
            file.write(torch.arange(15.0).numpy().tobytes())  # three samples of 2 and 3 numbers
            file.flush()
            x, target = torch.zeros(2, 2), torch.zeros(2, 3)
            samples = Samples(file.name)
            samples.fill(x, target)
            self.assertEqual(x.tolist(), [[0, 1], [5, 6]])
            self.assertEqual(target.tolist(), [[2, 3, 4], [7, 8, 9]])
            samples.fill(x, target)
            self.assertEqual(x.tolist(), [[10, 11], [0, 1]])
            samples.file.close()

    def test_has_the_weights_and_output_of_the_description(self) -> None:
        from peers.torch_training import Model

        shipped = [b for family in (mobilenet, resnet, classic) for b in family.models()]
        for builder in [*shipped, *generated()]:
            with self.subTest(builder.name):
                model = Model(json.loads(builder.text()))
                self.assertEqual(sum(w.numel() for w in model.parameters()), builder.weights)
                self.assertEqual(tuple(model.output_dims), tuple(builder.shape))

    def test_trains_only_what_it_is_told(self) -> None:
        from peers.torch_training import Model

        model = Model(json.loads(next(iter(classic.models())).text()))
        model.train_only({"classifier"})
        trained = {name for name, w in model.named_parameters() if w.requires_grad}
        self.assertEqual(trained, {"parts.classifier.weight", "parts.classifier.bias"})


if __name__ == "__main__":
    unittest.main()
