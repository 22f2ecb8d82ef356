"""ONNX Runtime from PyPI, in a virtual environment of the build folder."""

from __future__ import annotations

from pathlib import Path

from .from_pypi import NotToBeHad, python_with

__all__ = ["MODULES", "NotToBeHad", "python_of"]

PACKAGES = ["onnxruntime>=1.17,<2", "onnx>=1.15,<2"]
MODULES = "import numpy, onnx, onnxruntime"


def python_of(build: Path) -> Path:
    """A Python that has MODULES; made if there is none yet."""
    return python_with(build / "onnxruntime", PACKAGES, MODULES, "ONNX Runtime")
