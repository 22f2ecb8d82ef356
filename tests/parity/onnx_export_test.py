#!/usr/bin/env python3
"""Exported models, computed by ONNX Runtime: the logits are ours, and the file is as ONNX asks.

    onnx_export_test.py BUILD CASES

BUILD has the programs, CASES what onnx_cases.py wrote. Each model is imported by moil-import, some get
new classes, and moil-export writes it. ONNX Runtime comes from PyPI into a virtual environment below
BUILD. Ends with status 77 if it cannot be had, or if there are no cases.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from lib import from_pypi  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD, CASES = (pathlib.Path(argument) for argument in sys.argv[1:3])
# Case: how many of its 10 classes the exported model has in the end.
MODELS = {"mobilenet_v2": 13, "mobilenet_v3_small": 10, "efficientnet_lite0": 11, "squeezenet1_1": 12,
          "densenet121-folded": 10, "resnet18-folded": 14}
WORDS = ["text-lstm", "text-transformer"]  # those that ship, with fresh weights
PREPROCESSING = {"channels": 3, "resize": "exact", "filter": "bilinear", "mean": [127, 126, 125], "std": [128, 127, 126]}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def use_onnx_runtime():
    """Goes on in a Python that has ONNX Runtime: this one, or one made for it."""
    try:
        exec(from_pypi.ONNX_RUNTIME, {})
        return
    except ImportError:
        pass
    if not CASES.joinpath("resnet18.onnx").exists():
        skip("no cases: PyTorch or torchvision is not installed, or the test onnx_cases has not run")
    try:
        python = from_pypi.with_onnx_runtime(BUILD)
    except from_pypi.NotToBeHad as error:
        skip(str(error))
    os.execv(python, [python, "-B", *sys.argv])


use_onnx_runtime()
import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + at for at in entry["data_offsets"])
        tensors[name] = numpy.frombuffer(data[begin:end], numpy.float32).reshape(entry["shape"])
    return tensors


def run(program, *words):
    subprocess.run([BUILD / program, *words], check=True, stdout=subprocess.DEVNULL)


class ExportTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def exported(self, name, classes):
        """The model's folder, and the file that came of it."""
        image = read_safetensors(CASES / f"{name.removesuffix('-folded')}.safetensors")["image"]
        labels, preprocessing = self.folder / "labels.json", self.folder / "preprocessing.json"
        labels.write_text(json.dumps([f"class {i}" for i in range(10)]))
        preprocessing.write_text(json.dumps({**PREPROCESSING, "height": image.shape[2], "width": image.shape[3]}))
        model, grown, file = (self.folder / part for part in ("model", "grown", "model.onnx"))
        run("daemon/moil-import", CASES / f"{name}.onnx", "--out", model, "--labels", labels,
            "--preprocessing", preprocessing)
        run("tests/parity/model_tool", "grow", model, str(classes), grown)
        run("daemon/moil-export", grown, "--out", file)
        return grown, file

    def check_file(self, file, folder):
        model = onnx.load(file)
        onnx.checker.check_model(model, full_check=True)
        metadata = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
        self.assertEqual(metadata["moil.labels"], json.loads((folder / "labels.json").read_text()))
        self.assertEqual(metadata["moil.preprocessing"], json.loads((folder / "preprocessing.json").read_text()))

    def check_logits(self, file, folder, case, classes):
        run("tests/parity/model_tool", "logits", folder, case, self.folder / "ours")
        ours = read_safetensors(self.folder / "ours")["logits"]
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        (theirs,) = session.run(None, {session.get_inputs()[0].name: read_safetensors(case)["image"]})
        self.assertEqual(theirs.shape[1], classes)
        self.assertEqual(theirs.shape, ours.shape)
        self.assertLessEqual(numpy.abs(theirs - ours).max() / numpy.abs(theirs).max(), 1e-4)


def test_of(name, classes):
    def test(self):
        folder, file = self.exported(name, classes)
        self.check_file(file, folder)
        self.check_logits(file, folder, CASES / f"{name.removesuffix('-folded')}.safetensors", classes)
    return test


def test_of_words(name):
    def test(self):
        out = self.folder / name
        run("tests/parity/model_tool", "fresh", SOURCES / f"config/models/{name}.json", "3", out)
        onnx.checker.check_model(onnx.load(f"{out}.onnx"), full_check=True)
        expected = read_safetensors(pathlib.Path(f"{out}.safetensors"))
        session = onnxruntime.InferenceSession(f"{out}.onnx", providers=["CPUExecutionProvider"])
        words = expected["image"].astype(numpy.int64)
        (theirs,) = session.run(None, {session.get_inputs()[0].name: words})
        self.assertEqual(theirs.shape, expected["logits"].shape)
        self.assertLessEqual(numpy.abs(theirs - expected["logits"]).max() / numpy.abs(theirs).max(), 1e-4)
    return test


for model_name in WORDS:
    setattr(ExportTest, "test_" + model_name.replace("-", "_"), test_of_words(model_name))
for model_name, model_classes in MODELS.items():
    setattr(ExportTest, "test_" + model_name.replace("-", "_"), test_of(model_name, model_classes))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
