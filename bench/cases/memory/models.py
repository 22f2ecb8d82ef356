"""The models that are trained: those that ship, and the papers' small test cases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lib.programs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from zoo.builder import Builder  # noqa: E402

from .sequences import tacotron2_decoder, transformer  # noqa: E402

FEATURES = 3 * 224 * 224  # of an image as one row

# The width of FC-FC-FC's two hidden layers. The paper does not give it; with 3000 its way of
# counting comes within 0.2 % of its 135,928 KiB (tests/engine/plan/paper_accounting.h).
WIDE = 3000

RATING_ROWS, RATING_WIDTH = 193_610, 64


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


def add_recurrent(b: Builder, name: str, kind: str, units: int, **more: bool) -> None:
    steps, features = b.shape
    b.weights += {"lstm": 4, "gru": 3}[kind] * units * (features + units + 2)
    b.layer(name, kind, (steps, units) if more.get("sequence", True) else (units,), {"units": units, **more})


def lstm(features: int, units: int) -> Builder:
    """A sequence of one step, as the papers have it."""
    b = Builder(f"lstm-{units}", (1, features), "steps")
    add_recurrent(b, "lstm", "lstm", units, sequence=False)
    return b


def recurrent(kind: str, unroll: bool) -> Builder:
    """Two layers over 64 steps of 128 numbers."""
    b = Builder(f"{kind}-cells" if unroll else kind, (64, 128), "steps")
    more = {"unroll": True} if unroll else {}
    add_recurrent(b, "first", kind, 256, **more)
    add_recurrent(b, "second", kind, 256, sequence=False, **more)
    b.fully_connected("fc", 10)
    return b


def rating() -> Builder:
    """Product rating: what a user thinks of a product, both rows of one table."""
    b = Builder("rating", (2,), "numbers")
    b.input["type"] = "int32"
    b.weights += RATING_ROWS * RATING_WIDTH
    b.layer("table", "embedding", (2, RATING_WIDTH), {"rows": RATING_ROWS, "width": RATING_WIDTH})
    b.layer("both", "flatten", (2 * RATING_WIDTH,))
    b.fully_connected("fc1", 128)
    b.activation("relu1", "relu")
    b.fully_connected("fc2", 32)
    b.activation("relu2", "relu")
    b.fully_connected("fc3", 1)
    return b


def generated() -> list[Builder]:
    small = [linear(10), linear(300), conv2d(), three_linear("fc3", 784), three_linear("fc3-wide", WIDE)]
    sequences = [recurrent(kind, unroll) for kind in ("lstm", "gru") for unroll in (False, True)]
    return [*small, lstm(FEATURES, 10), *sequences, rating(), tacotron2_decoder(), transformer()]


def write_generated(folder: Path) -> None:
    for builder in generated():
        (folder / f"{builder.name}.json").write_text(builder.text())


def path_of(model: str, folder: Path) -> Path:
    """The description of a model: one that ships, or else one of those in `folder`."""
    shipped = ROOT / "config" / "models" / f"{model}.json"
    return shipped if shipped.exists() else folder / f"{model}.json"


def layer_names(path: Path) -> list[str]:
    return [layer["name"] for layer in json.loads(path.read_text())["layers"]]
