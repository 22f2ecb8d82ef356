"""The models that are trained: those that ship, and the papers' small test cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lib.programs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from zoo.builder import Builder  # noqa: E402

FEATURES = 3 * 224 * 224  # of an image as one row

# The width of FC-FC-FC's two hidden layers. The paper does not give it; with 3000 its way of
# counting comes within 0.2 % of its 135,928 KiB (tests/engine/plan/paper_accounting.h).
WIDE = 3000


def linear(units: int) -> Builder:
    b = Builder(f"linear-{units}", (FEATURES,), "features")
    b.fully_connected("fc", units)
    return b


def conv2d() -> Builder:
    b = Builder("conv2d", (3, 224, 224))
    b.conv("conv", 3, 3, stride=2, bias=True)
    return b


def three_linear(name: str, width: int) -> Builder:
    b = Builder(name, (784,), "features")
    for i, units in enumerate([width, width, 100], start=1):
        b.fully_connected(f"fc{i}", units)
    return b


def generated() -> list[Builder]:
    return [linear(10), linear(300), conv2d(), three_linear("fc3", 784), three_linear("fc3-wide", WIDE)]


def write_generated(folder: Path) -> None:
    for builder in generated():
        (folder / f"{builder.name}.json").write_text(builder.text())


def path_of(model: str, folder: Path) -> Path:
    """The description of a model: one that ships, or else one of those in `folder`."""
    shipped = ROOT / "config" / "models" / f"{model}.json"
    return shipped if shipped.exists() else folder / f"{model}.json"


def layer_names(path: Path) -> list[str]:
    return [layer["name"] for layer in json.loads(path.read_text())["layers"]]
