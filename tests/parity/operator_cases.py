#!/usr/bin/env python3
"""Small ONNX graphs of operators that an import passes over, folds or makes layers of, and what ONNX
Runtime computes.

    operator_cases.py FOLDER BUILD

For each operator FOLDER gets NAME.onnx and NAME.safetensors: an image of numbers that tell the operator
from nothing (fractions, negative and large ones), and the output. If passing over would be wrong and
an import must refuse, the name begins with "refused-", and the node to be named is called "culprit".
Graphs of layer_cases.py are called "layers-", or "rounded-" if an import leaves roundings out; "light-" are
the models of light_models.py.
ONNX Runtime comes from PyPI into a virtual environment below BUILD; ends with status 77 if it cannot
be had.
"""
import json
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from lib import from_pypi  # noqa: E402

FOLDER, BUILD = (pathlib.Path(argument) for argument in sys.argv[1:3])
try:
    exec(from_pypi.ONNX_RUNTIME, {})
except ImportError:
    try:
        python = from_pypi.with_onnx_runtime(BUILD)
    except from_pypi.NotToBeHad as error:
        print(f"skipped: {error}")
        sys.exit(77)
    os.execv(python, [python, "-B", *sys.argv])

import numpy  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto as T, helper, numpy_helper  # noqa: E402

import layer_cases  # noqa: E402
import light_models  # noqa: E402

OPSET, SHAPE = 13, [2, 3, 2, 2]
NUMBERS = [0.5, -0.5, 2.75, -2.75, 0, 1, -1, 7.25, 300.5, -300.5, 1e-3, -1e-3]
IMAGE = numpy.array(NUMBERS * 2, numpy.float32).reshape(SHAPE)
FLOATS = [T.FLOAT, T.DOUBLE, T.FLOAT16]
WHOLES = [T.BOOL, T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT32, T.INT64, T.UINT32, T.UINT64]


class Case:
    """A graph: x = -image at the beginning, so that a layer computes it; what behind it is `last`."""

    def __init__(self, shape=SHAPE, opset=OPSET, dtype=T.FLOAT, channels_last=False, alone=False):
        self.nodes, self.constants, self.last = [], [], "image"
        self.shape, self.opset, self.dtype = list(shape), opset, dtype
        self.channels_last = channels_last  # an image that an import takes as all others
        self.batch = shape[0] if alone else "n"  # for one sample at a time, or for any number
        if dtype == T.FLOAT:
            self.add("Neg")
        self.x = self.last

    def add(self, op, inputs=None, name=None, outputs=None, **attributes):
        outputs = outputs or [f"v{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, [self.last] if inputs is None else inputs, outputs,
                                           name or f"n{len(self.nodes)}", **attributes))
        self.last = outputs[0]
        return self.last

    def constant(self, values, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.array(values, dtype), name))
        return name

    def ints(self, *values):
        return self.constant(values, numpy.int64)

    def model(self):
        self.add("Neg")
        x = helper.make_tensor_value_info("image", self.dtype, [self.batch, *self.shape[1:]])
        y = helper.make_tensor_value_info(self.last, T.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [x], [y], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8 if self.opset < 20 else 10)


def there_and_back(case, to):
    case.add("Cast", name="culprit", to=to)
    case.add("Cast", to=T.FLOAT)


def split_one(case):
    case.add("Split", [case.x, case.ints(3)], axis=1)


def masked(case):
    case.add("Dropout", name="culprit", outputs=["kept", "mask"])
    case.add("Cast", ["mask"], to=T.FLOAT)
    case.add("Sub", ["kept", case.last])


PASSED_OVER = {
    "identity": lambda c: c.add("Identity"),
    "dropout": lambda c: c.add("Dropout", [c.x, c.constant(0.9, numpy.float32)]),
    "dropout-outside-training": lambda c: c.add(
        "Dropout", [c.x, c.constant(0.9, numpy.float32), c.constant(False, bool)]),
    "expand": lambda c: c.add("Expand", [c.x, c.ints(1, 3, 1, 2)]),
    "clip-without-limits": lambda c: c.add("Clip"),
    "pad-nothing": lambda c: c.add("Pad", [c.x, c.ints(*[0] * 8)]),
    "slice-all": lambda c: c.add("Slice", [c.x, c.ints(0, -2), c.ints(2**60, 2), c.ints(1, 3)]),
    "gather-all": lambda c: c.add("Gather", [c.x, c.ints(0, -2, 2)], axis=1),
    "split-one": split_one,
    "concat-one": lambda c: c.add("Concat", axis=1),
    "reshape-same": lambda c: c.add("Reshape", [c.x, c.ints(0, 3, -1, 2)]),
    "reshape": lambda c: c.add("Reshape", [c.x, c.ints(0, -1)]),
    "flatten": lambda c: c.add("Flatten"),
    "transpose-same": lambda c: c.add("Transpose", perm=[0, 1, 2, 3]),
    "unsqueeze-squeeze": lambda c: (c.add("Unsqueeze", [c.x, c.ints(2)]),
                                    c.add("Squeeze", [c.last, c.ints(2)])),
}
PASSED_OVER.update({f"cast-{T.DataType.Name(to).lower()}": lambda c, to=to: there_and_back(c, to) for to in FLOATS})

REFUSED = {f"cast-{T.DataType.Name(to).lower()}": lambda c, to=to: there_and_back(c, to) for to in WHOLES}
REFUSED["dropout-mask"] = masked


def folded(case, values, dtype, op="Cast", **attributes):
    """x plus what a chain of constants makes of the values."""
    chain = case.add(op, [case.constant(values, dtype)], **attributes)
    case.add("Cast", [chain], to=T.FLOAT)
    case.add("Add", [case.x, case.last])


def chosen(case):
    truth = case.add("Cast", [case.constant([[2.5, 0.0], [-0.25, 0.0]], numpy.float32)], to=T.BOOL)
    rest = case.add("Not", [truth])
    both = case.add("Where", [rest, case.constant([[1, 2], [3, 4]], numpy.float32),
                              case.constant([[-10, -20], [-30, -40]], numpy.float32)])
    case.add("Add", [case.x, both])


FOLDED = {"where-not": chosen}
for to in WHOLES:  # of what each type can hold, if C leaves nothing open
    values = [[0.5, 2.75], [100.25, 0.0]] if T.DataType.Name(to).startswith("U") else [[0.5, -2.75], [100.25, 0.0]]
    FOLDED[f"floats-{T.DataType.Name(to).lower()}"] = lambda c, v=values, to=to: folded(c, v, numpy.float32, to=to)
    FOLDED[f"wholes-{T.DataType.Name(to).lower()}"] = lambda c, to=to: folded(
        c, [[0, 3 if to == T.UINT64 else -3], [200, 70000]], numpy.int64, to=to)
FOLDED["floats-float16"] = lambda c: folded(c, [[0.1, 2049], [1e-7, -3.14159]], numpy.float32, to=T.FLOAT16)
FOLDED["negated"] = lambda c: folded(c, [[7, -3], [0, 5]], numpy.int64, op="Neg")


def write_safetensors(path, tensors):
    header, data, at = {}, [], 0
    for name, values in tensors.items():
        values = numpy.ascontiguousarray(values, numpy.float32)
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        data.append(values.tobytes())
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def computed(model, image):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: image})
    if found.size < 2 or not numpy.isfinite(found).all() or found.std() == 0:
        raise SystemExit("its numbers tell nothing")
    return found


def write_layers(name, case, build):
    """Of random numbers; whole ones if the input is."""
    random = numpy.random.default_rng(len(name))
    build(case)
    model = case.model()
    onnx.save(model, FOLDER / f"{name}.onnx")
    dtype = helper.tensor_dtype_to_np_dtype(case.dtype)
    image = random.standard_normal(case.shape) if case.dtype == T.FLOAT else random.integers(0, 120, case.shape)
    image = image.astype(dtype)
    found = computed(model, image)
    if case.channels_last:
        image = image.transpose(0, 3, 1, 2)
    write_safetensors(FOLDER / f"{name}.safetensors", {"image": image, "logits": found})
    print(name)


def write_light(name):
    model = light_models.written_out(name)
    onnx.save(model, FOLDER / f"light-{name}.onnx")
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    image = numpy.random.default_rng(5).standard_normal(shape).astype(numpy.float32)
    write_safetensors(FOLDER / f"light-{name}.safetensors", {"image": image, "logits": computed(model, image)})
    print(f"light-{name}")


def write_case(name, build):
    case = Case()
    build(case)
    model = case.model()
    onnx.save(model, FOLDER / f"{name}.onnx")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"image": IMAGE})
    same = found.size == IMAGE.size and numpy.abs(found.reshape(SHAPE) - IMAGE).max() < 0.01
    if same != (not name.startswith(("refused-", "folded-"))):
        raise SystemExit(f"{name}: its numbers do not tell whether the operator is passed over")
    write_safetensors(FOLDER / f"{name}.safetensors", {"image": IMAGE, "logits": found})
    print(name)


FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.glob("*"):
    old.unlink()
for kind, cases in (("", PASSED_OVER), ("refused-", REFUSED), ("folded-", FOLDED)):
    for operator, builder in cases.items():
        write_case(kind + operator, builder)
for name in light_models.NAMES:
    write_light(name)
for name, (arguments, builder) in layer_cases.CASES.items():
    write_layers(name, Case(**arguments), builder)
