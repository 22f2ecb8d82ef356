"""What moild makes of a file and answers. Needs NumPy and safetensors (from_pypi.use_litert)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from lib.programs import build_dir, program


def imported(file: Path, output: str, model: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """By moil-import, as numbers that nothing is done to."""
    command = [program("moil-import"), file, "--out", model, "--kind", "rows", "--output", output.split(";")[0], *more]
    return subprocess.run(command, capture_output=True, text=True)


def answer_of(model: Path, numbers: Any, folder: Path) -> Any:
    """Of a model's folder, or of a file that is no model; numbers as the original takes them."""
    if model.is_dir() and numbers.ndim == 4:
        dims = json.loads((model / "model.json").read_text())["inputs"][0]["dims"]
        if list(numbers.shape[1:]) != dims:
            numbers = numbers.transpose(0, 3, 1, 2)
    save_file({"image": np.ascontiguousarray(numbers)}, folder / "case")
    tool = build_dir() / "tests" / "parity" / "model_tool"
    subprocess.run([tool, "logits" if model.is_dir() else "file", model, folder / "case", folder / "ours"], check=True)
    return load_file(folder / "ours")["logits"]
