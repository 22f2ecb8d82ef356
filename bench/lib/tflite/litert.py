"""What LiteRT answers of a file. Needs LiteRT and NumPy (from_pypi.use_litert)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

OWN_KERNELS = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES  # those that LiteRT is defined by
OTHER_KERNELS = OpResolverType.AUTO


def shape_of(file: Path) -> tuple[int, ...]:
    """Of the only input; an extent that is open is 1."""
    (entry,) = Interpreter(str(file)).get_input_details()
    return tuple(map(int, entry["shape"]))


def output_names(file: Path) -> list[str]:
    return [entry["name"] for entry in Interpreter(str(file)).get_output_details()]


def operators_of(file: Path) -> Counter[str]:
    """How many there are of each kind."""
    plain = Interpreter(str(file), experimental_op_resolver_type=OWN_KERNELS)
    return Counter(one["op_name"] for one in plain._get_ops_details())


def takes_bytes(file: Path) -> bool:
    return bool(Interpreter(str(file)).get_input_details()[0]["dtype"] == np.int8)


def _floats(entry: dict[str, Any], numbers: Any) -> Any:
    """That quantised numbers stand for."""
    scale, zero = entry["quantization"]
    return (numbers.astype(np.float32) - zero) * np.float32(scale) if scale else numbers


def answers_of(file: Path, numbers: Any, kernels: OpResolverType = OWN_KERNELS) -> dict[str, Any]:
    """Each output by its name, in floats. Bytes are numbers from 0 to 255, whatever the file calls them."""
    interpreter = Interpreter(str(file), experimental_op_resolver_type=kernels)
    (entry,) = interpreter.get_input_details()
    if tuple(entry["shape"]) != numbers.shape:
        interpreter.resize_tensor_input(entry["index"], numbers.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(entry["index"], (numbers - 128).astype(np.int8) if entry["dtype"] == np.int8 else numbers)
    interpreter.invoke()
    return {out["name"]: _floats(out, interpreter.get_tensor(out["index"])) for out in interpreter.get_output_details()}


def apart(ours: Any, theirs: Any) -> float:
    """Of the largest number."""
    return float(np.abs(ours.ravel() - theirs.ravel()).max() / np.abs(theirs).max())
