#!/usr/bin/env python3
"""Exported models, computed by LiteRT: its answers are ours.

    tflite_export_test.py BUILD CASES

BUILD has the programs, CASES what onnx_cases.py wrote. A model of each layer, models that ship, a table's, and networks
that are imported, grown by new classes and exported by moil-export. Ends with status 77 if LiteRT cannot be had.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from lib import from_pypi  # noqa: E402

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BUILD, CASES = (pathlib.Path(argument) for argument in sys.argv[1:3])
try:
    from_pypi.use_litert(BUILD, sys.argv)
except from_pypi.NotToBeHad as error:
    print(f"skipped: {error}")
    sys.exit(77)
import numpy  # noqa: E402
from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402

# The kernels that LiteRT is defined by, and those that it takes of itself.
KERNELS = [OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, OpResolverType.AUTO]
# Case: how many classes the exported model has in the end, of 10.
NETWORKS = {"mobilenet_v1": 11, "mobilenet_v2": 13, "mobilenet_v3_small": 10, "mobilenet_v3_large": 12, "efficientnet_lite0": 11,
            "squeezenet1_1": 12, "densenet121-folded": 10, "resnet18": 14, "resnet50-folded": 10, "swin": 10, "vit_tiny": 10}
OF_ONE_SAMPLE = ["vit_tiny"]  # it has a class token
SHIPPED = ["lenet5", "digits-mobilenet", "cifar-mobilenet", "cifar-resnet20", "mobilenet_v2", "resnet18-sound", "text-lstm", "text-transformer"]
TABLE = {"format": "moil-model", "version": 1, "name": "table", "inputs": [{"name": "rows", "dims": [12]}], "outputs": ["shares"],
         "layers": [{"name": "hidden", "type": "fully_connected", "inputs": ["rows"], "properties": {"units": 32}},
                    {"name": "bent", "type": "relu", "inputs": ["hidden"]},
                    {"name": "classes", "type": "fully_connected", "inputs": ["bent"], "properties": {"units": 4}},
                    {"name": "shares", "type": "softmax", "inputs": ["classes"]}]}
PREPROCESSING = {"channels": 3, "resize": "exact", "filter": "bilinear", "mean": [127, 126, 125], "std": [128, 127, 126]}
CLOSE = 1e-4  # of the largest number


def run(program, *words):
    subprocess.run([BUILD / program, *words], check=True, stdout=subprocess.DEVNULL)


def answers_of(file, inputs, kernels):
    """To inputs by their order; images with their channels first, as we have them."""
    interpreter = Interpreter(str(file), experimental_op_resolver_type=kernels)
    entries = interpreter.get_input_details()
    inputs = [numbers.transpose(0, 2, 3, 1) if numbers.ndim == 4 else numbers for numbers in inputs]
    for entry, numbers in zip(entries, inputs, strict=True):
        assert numbers.shape[1:] == tuple(entry["shape"][1:]), (numbers.shape, entry["shape"])
        if len(numbers) != entry["shape"][0]:  # of so many samples
            interpreter.resize_tensor_input(entry["index"], numbers.shape, strict=False)
    interpreter.allocate_tensors()
    for entry, numbers in zip(entries, inputs, strict=True):
        interpreter.set_tensor(entry["index"], numpy.ascontiguousarray(numbers.astype(entry["dtype"])))
    interpreter.invoke()
    (output,) = interpreter.get_output_details()
    return interpreter.get_tensor(output["index"])


class TfliteExport(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def check(self, file, inputs, ours):
        for kernels in KERNELS:
            theirs = answers_of(file, inputs, kernels)
            self.assertEqual(theirs.shape, ours.shape)
            self.assertLessEqual(numpy.abs(theirs - ours).max(), CLOSE * numpy.abs(ours).max(), kernels)

    def test_layers(self):
        run("tests/parity/model_tool", "layers", self.folder)
        names = json.loads((self.folder / "names.json").read_text())
        self.assertGreater(len(names), 150)
        for number, name in enumerate(names):
            with self.subTest(layer=name):
                case = load_file(self.folder / f"{number}.safetensors")
                inputs = [case[str(k)] for k in range(len(case) - 1)]
                self.check(self.folder / f"{number}.tflite", inputs, case["logits"])

    def check_fresh(self, description):
        out = self.folder / "model"
        run("tests/parity/model_tool", "lite", description, "3", out)
        case = load_file(f"{out}.safetensors")
        self.check(f"{out}.tflite", [case["image"]], case["logits"])

    def test_models_that_ship(self):
        for name in SHIPPED:
            with self.subTest(model=name):
                self.check_fresh(SOURCES / f"config/models/{name}.json")

    def test_a_table_s_model(self):
        (self.folder / "table.json").write_text(json.dumps(TABLE))
        self.check_fresh(self.folder / "table.json")

    def exported(self, name, image, classes):
        """The model's folder, and the file that came of it."""
        labels, preprocessing = self.folder / "labels.json", self.folder / "preprocessing.json"
        labels.write_text(json.dumps([f"class {i}" for i in range(10)]))
        preprocessing.write_text(json.dumps({**PREPROCESSING, "height": image.shape[2], "width": image.shape[3]}))
        model, grown, file = (self.folder / f"{part}-{name}" for part in ("model", "grown", "exported"))
        run("daemon/moil-import", CASES / f"{name}.onnx", "--out", model, "--labels", labels, "--preprocessing", preprocessing)
        run("tests/parity/model_tool", "grow", model, str(classes), grown)
        run("daemon/moil-export", "--tflite", grown, "--out", file)
        return grown, file

    def check_network(self, name, classes):
        images = load_file(CASES / f"{name.removesuffix('-folded')}.safetensors")["image"]
        grown, file = self.exported(name, images, classes)
        again = self.folder / f"again-{name}"
        run("daemon/moil-import", file, "--out", again)
        for part in ("labels.json", "preprocessing.json"):
            self.assertEqual((again / part).read_text(), (grown / part).read_text())
        run("tests/parity/model_tool", "logits", grown, CASES / f"{name.removesuffix('-folded')}.safetensors", self.folder / "ours")
        ours = load_file(self.folder / "ours")["logits"]
        self.assertEqual(ours.shape, (len(images), classes))
        self.check(file, [images[:1]], ours[:1])
        if name not in OF_ONE_SAMPLE:
            self.check(file, [images], ours)

    def test_networks(self):
        if not CASES.joinpath("resnet18.onnx").exists():
            self.skipTest("no cases: PyTorch or torchvision is not installed, or the test onnx_cases has not run")
        for name, classes in NETWORKS.items():
            with self.subTest(network=name):
                self.check_network(name, classes)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
