"""ONNX Runtime from PyPI, in a virtual environment of the build folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ["onnxruntime>=1.17,<2", "onnx>=1.15,<2"]
MODULES = "import numpy, onnx, onnxruntime"


class NotToBeHad(RuntimeError):
    """It says why."""


def python_of(build: Path) -> Path:
    """A Python that has MODULES; made if there is none yet."""
    place = build / "onnxruntime"
    python = place / "bin" / "python"
    if python.exists() and _works(python):
        return python
    shutil.rmtree(place, ignore_errors=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES]
    try:
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True, capture_output=True, timeout=120)
        subprocess.run(install, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None) or str(error).encode()
        raise NotToBeHad("ONNX Runtime cannot be installed: " + (told.decode().strip().splitlines() or ["?"])[-1]) from error
    if not _works(python):
        raise NotToBeHad("ONNX Runtime is installed and does not start")
    return python


def _works(python: Path) -> bool:
    return subprocess.run([str(python), "-c", MODULES], stderr=subprocess.DEVNULL, check=False).returncode == 0
