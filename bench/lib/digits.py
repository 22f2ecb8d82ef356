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

# Chosen with --tune: a sharing ratio of a half costs seconds here, as its feature maps are cached,
# and keeps twice as much of what was known as a fifth does; eleven layers keep as much as fewer do
# and learn more.
_PRETRAINING = Training(epochs=30, learning_rate=0.1, weight_decay=2e-3)
SETTINGS = Settings(
    model=ROOT / "config" / "models" / "digits-mobilenet.json",
    global_classes=list("0123456"),
    local_classes=list("789"),
    pretraining=_PRETRAINING,
    centralised=_PRETRAINING,
    night=Training(epochs=20, learning_rate=0.05, weight_decay=3e-3),
    alpha=0.5,
    trainable_layers=11,
    kept_back=30,
    judged_by="a fifth of every digit",
    tuned_on="six splits of the training digits",
)

# What --tune tries: every combination.
GRID: dict[str, list[Any]] = {
    "trainable_layers": [5, 8, 11, 14],
    "learning_rate": [0.05, 0.1],
    "epochs": [20, 40],
    "alpha": [0.2, 0.5],
    "weight_decay": [3e-3],
}


def split_of(csv: Path, folder: Path) -> Split:
    """The fixed split: a fifth of every digit is held out."""
    classes = SETTINGS.classes
    return hold_out(export_images(csv, classes, folder / "images"), HELD_OUT, SEED)


def tuning_splits_of(csv: Path, folder: Path) -> list[Split]:
    """Splits of the training samples alone, to choose settings on."""
    train = split_of(csv, folder).train
    return [hold_out(train, HELD_OUT, SEED + i) for i in range(1, 7)]


def quick() -> Settings:
    """Fewer epochs: for a look at the machinery, not at the figures."""
    shorter = replace(_PRETRAINING, epochs=4)
    fewer = replace(SETTINGS, pretraining=shorter, centralised=shorter).with_night(epochs=3)
    return replace(fewer, reduced=["4 epochs of pretraining and centralised training, 3 a night"])
