"""Small networks as model descriptions (docs/model-format.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Layers = list[dict[str, Any]]


def dense(name: str, source: str, units: int) -> dict[str, Any]:
    return {"name": name, "type": "fully_connected", "inputs": [source], "properties": {"units": units}}


def relu(source: str) -> dict[str, Any]:
    return {"name": f"{source}_relu", "type": "relu", "inputs": [source]}


def write_model(file: Path, inputs: dict[str, list[int]], layers: Layers) -> Path:
    """Ends in its last layer."""
    taken = [{"name": name, "dims": dims} for name, dims in inputs.items()]
    model = {"format": "moil-model", "version": 1, "name": file.stem, "inputs": taken, "layers": layers}
    file.write_text(json.dumps({**model, "outputs": [layers[-1]["name"]]}))
    return file
