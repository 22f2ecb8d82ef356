"""The digits night: 0 to 6 are the global dataset, 7, 8 and 9 the user's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from .programs import ROOT
from .samples import Split, export_images, hold_out
from .settings import Settings, Training

HELD_OUT = 0.2
SEED = 7

SETTINGS = Settings(
    model=ROOT / "config" / "models" / "digits-mobilenet.json",
    global_classes=list("0123456"),
    local_classes=list("789"),
    pretraining=Training(epochs=20, learning_rate=0.05, weight_decay=1e-4),
    centralised=Training(epochs=20, learning_rate=0.05, weight_decay=1e-4),
    night=Training(epochs=10, learning_rate=0.01, schedule="cosine"),
    alpha=0.2,
    trainable_layers=5,
    kept_back=30,
)

GRID: dict[str, list[Any]] = {
    "trainable_layers": [1, 3, 5, 7],
    "learning_rate": [0.003, 0.01, 0.03],
    "epochs": [10],
}


def split_of(csv: Path, folder: Path) -> Split:
    """The fixed split: a fifth of every digit is held out."""
    classes = SETTINGS.classes
    return hold_out(export_images(csv, classes, folder / "images"), HELD_OUT, SEED)


def tuning_split_of(csv: Path, folder: Path) -> Split:
    """A split of the training samples alone, to choose settings on."""
    return hold_out(split_of(csv, folder).train, HELD_OUT, SEED + 1)


def quick() -> Settings:
    """Fewer epochs: for a look at the machinery, not at the figures."""
    shorter = Training(epochs=4, learning_rate=0.05, weight_decay=1e-4)
    fewer = replace(SETTINGS, pretraining=shorter, centralised=shorter).with_night(epochs=3)
    return replace(fewer, reduced=["4 epochs of pretraining and centralised training, 3 a night"])
