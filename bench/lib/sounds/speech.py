"""The speech embedding that openWakeWord's words are made with, as a network whose classifier a night can grow.

Its file in PyPI's openwakeword (Apache 2.0) takes 76 frames of 32 bands and gives 96 numbers. It is convolutions alone: more frames
give more positions, 8 frames from one to the next, which a classifier reads together.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from pathlib import Path
from typing import Any

from lib.programs import program, run
from lib.tflite.files import EMBEDDING, OPENWAKEWORD, fetch, path_of

WIDTH, BANDS, FIRST, STEP = 96, 32, 76, 8
POSITIONS = 8
FRAMES = FIRST + STEP * (POSITIONS - 1)
FULL_SCALE = 32768  # its samples are whole numbers
# Of the logarithm it sees log10(x) + 2.
FRONT_END = {"type": "log_mel", "bands": BANDS, "low": 60, "high": 3800, "triangles": "slaney", "power": 2, "log_offset": 1e-19}
LEVEL = {"mean": -math.log(10) * (2 + 2 * math.log10(FULL_SCALE)), "std": math.log(10)}


def speech_network(folder: Path) -> Path:
    """Its folder; the classifier knows nothing yet."""
    fetch(Path(sys.executable), OPENWAKEWORD)
    model = folder / "speech"
    run([program("moil-import"), path_of(OPENWAKEWORD, EMBEDDING), "--kind", "rows", "--out", model])
    description = json.loads((model / "model.json").read_text())
    (model / "model.json").write_text(json.dumps(with_classifier(description)))
    add_zeros(model / "weights.safetensors", {"classifier.weight": [2, WIDTH * POSITIONS], "classifier.bias": [2]})
    (model / "labels.json").write_text(json.dumps(["nothing", "nothing else"]))
    sound = {"kind": "sound", "front_end": {**FRONT_END, "frames": FRAMES, "patch_hop": FRAMES // 2}, **LEVEL}
    (model / "preprocessing.json").write_text(json.dumps(sound))
    return model


def with_classifier(description: dict[str, Any]) -> dict[str, Any]:
    """Between the first convolution and the last, what it reads and what reads it are made anew."""
    layers = description["layers"]
    convolutions = [i for i, layer in enumerate(layers) if layer["type"] == "conv2d"]
    kept = layers[convolutions[0] : convolutions[-1] + 1]
    kept[0]["inputs"] = [description["inputs"][0]["name"]]
    flat = {"name": "flat", "type": "flatten", "inputs": [kept[-1]["name"]], "properties": {}}
    classifier = {"name": "classifier", "type": "fully_connected", "inputs": ["flat"], "properties": {"units": 2}}
    inputs = [{**description["inputs"][0], "dims": [1, FRAMES, BANDS]}]
    return {**description, "inputs": inputs, "layers": [*kept, flat, classifier], "outputs": ["classifier"]}


def add_zeros(file: Path, tensors: dict[str, list[int]]) -> None:
    content = file.read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    head, numbers = json.loads(content[8 : 8 + size]), content[8 + size :]
    for name, dims in tensors.items():
        more = bytes(4 * math.prod(dims))
        head[name] = {"dtype": "F32", "shape": dims, "data_offsets": [len(numbers), len(numbers) + len(more)]}
        numbers += more
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(struct.pack("<Q", len(text)) + text + numbers)
