"""The models that PyPI's onnx brings, whose weights are made of their shapes: with random ones written out."""
import pathlib

import numpy
import onnx
from onnx import numpy_helper

FOLDER = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
# The others' fully connected layers are half a gigabyte of random numbers.
NAMES = ["densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet"]


def weight(random, shape, op, place):
    """As a network has it whose activations neither vanish nor grow."""
    values = random.standard_normal(shape)
    if op in ("Conv", "Gemm") and place == 1:
        return values * (2 / numpy.prod(shape[1:])) ** 0.5
    if op == "BatchNormalization" and place == 4:
        return numpy.abs(1 + 0.2 * values)
    return 0.1 * values + (op == "Mul" or (op == "BatchNormalization" and place == 1))


def written_out(name):
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    graph, random = model.graph, numpy.random.default_rng(1)
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    readers = {name: (node, i) for node in graph.node for i, name in enumerate(node.input)}
    for node in [n for n in graph.node if n.op_type == "ConstantOfShape"]:
        reader, place = readers[node.output[0]]
        while reader.op_type in ("Unsqueeze", "Reshape"):
            reader, place = readers[reader.output[0]]
        values = weight(random, shapes[node.input[0]].tolist(), reader.op_type, place)
        graph.initializer.append(numpy_helper.from_array(values.astype(numpy.float32), node.output[0]))
        graph.node.remove(node)
    known = {t.name for t in graph.initializer}
    used = {name for node in graph.node for name in node.input}
    for field in (graph.input, graph.initializer):
        for value in [v for v in field if v.name not in used or (field is graph.input and v.name in known)]:
            field.remove(value)
    return model
