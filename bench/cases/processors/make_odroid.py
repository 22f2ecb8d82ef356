#!/usr/bin/env python3
"""Makes up the ODROID-XU4 of the processor selection paper (Sensors 2021, 21, 2364) as a recorded device.

    make_odroid.py pocl-measured.json > odroid-xu4-made-up.json

pocl-measured.json is what `processors_bench --record` wrote: our CPU's seconds for every pass of the paper's network at
batch 32. They are scaled to the paper's sum for its CPU. The GPU's are that times a factor for what the paper
says of the kind of layer, and a factor for what it leaves open, chosen so that their sum is the paper's, too.
Nothing here was measured on a Mali.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

CPU_SECONDS, GPU_SECONDS = 11.43, 10.57  # Table 1
LARGEST_UPDATE = 0.02  # "the time of UP is less than 0.02"

# "In the convolutional layers between 0 and 16, the latency of the GPU is lower"; batch norms and
# activations are a part of Darknet's convolutional layers.
EARLY = ("stem", "stage1", "stage2", "stage3.block1")
OF_CONVOLUTIONS = ("conv2d", "batch_norm", "relu")
EARLY_FACTOR = 0.66
# "In the maxpool and shortcut layers, the latency of the GPU was lower"; a fan-out is a shortcut's BP.
POOL_OR_SHORTCUT = ("max_pool", "add", "multi_out")
POOL_OR_SHORTCUT_FACTOR = 0.6
# "The latency of the CPU in the avgpool and softmax layers was lower."
SLOWER_FACTOR = 3.0
# The figure shows both for UP: the larger a layer's weights, the better for the GPU.
UPDATE_FACTORS = {"early": 1.6, "late": 0.7}
# BP of late layers is close: here the two methods differ (§4.3: in 4 BP steps).
CLOSE = ("stage3.block2",)
CLOSE_FACTOR = 0.98

TRANSFERS = {
    # Mapping changes who may touch the memory, whatever there is of it.
    "map": {"seconds": 0.0005, "seconds_per_byte": 0},
    # A copy of about 0.5 GB/s, caches flushed, and what starting it takes.
    "copy": {"seconds": 0.004, "seconds_per_byte": 2e-9},
}


def factor(layer: dict[str, Any], part: str, open_factor: float) -> float:
    """The GPU's seconds as a multiple of the CPU's."""
    early = layer["name"].startswith(EARLY)
    if part == "UP":
        return UPDATE_FACTORS["early" if early else "late"]
    if layer["type"] in POOL_OR_SHORTCUT:
        return POOL_OR_SHORTCUT_FACTOR
    if layer["type"] not in OF_CONVOLUTIONS:
        return SLOWER_FACTOR
    if early:
        return EARLY_FACTOR
    return CLOSE_FACTOR if part == "BP" and layer["name"].startswith(CLOSE) else open_factor


def seconds_of(layers: list[dict[str, Any]], processor: str) -> float:
    return sum(layer[part].get(processor, 0) for layer in layers for part in ("FP", "BP", "UP") if part in layer)


def with_gpu(layers: list[dict[str, Any]], open_factor: float) -> list[dict[str, Any]]:
    return [
        {"name": layer["name"], "type": layer["type"]}
        | {part: {"c": layer[part]["c"], "g": layer[part]["c"] * factor(layer, part, open_factor)} for part in ("FP", "BP", "UP") if part in layer}
        for layer in layers
    ]


def open_factor_for(layers: list[dict[str, Any]]) -> float:
    low, high = 0.1, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if seconds_of(with_gpu(layers, middle), "g") < GPU_SECONDS else (low, middle)
    return low


def scaled(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """To the paper's sum, UP to its largest."""
    updates = [layer["UP"]["c"] for layer in layers if "UP" in layer]
    of_updates = LARGEST_UPDATE / max(updates)
    rest = seconds_of(layers, "c") - sum(updates)
    of_rest = (CPU_SECONDS - of_updates * sum(updates)) / rest
    scale = {"FP": of_rest, "BP": of_rest, "UP": of_updates}
    return [layer | {part: {"c": layer[part]["c"] * scale[part]} for part in scale if part in layer} for layer in layers]


def main() -> None:
    measured = json.loads(Path(sys.argv[1]).read_text())
    layers = scaled(measured["layers"])
    layers = with_gpu(layers, open_factor_for(layers))
    rounded = [
        {key: {p: float(f"{s:.5g}") for p, s in value.items()} if isinstance(value, dict) else value for key, value in layer.items()}
        for layer in layers
    ]
    device = {
        "device": "ODROID-XU4, made up",
        "note": "made up by bench/cases/processors/make_odroid.py from another CPU's times and what the paper says; no Mali was measured",
        "network": measured["network"],
        "batch": 32,
        "layers": rounded,
        "transfers": {kind: {way: cost for way in ("take", "give")} for kind, cost in TRANSFERS.items()},
    }
    print(json.dumps(device, indent=1))


if __name__ == "__main__":
    main()
