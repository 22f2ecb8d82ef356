"""The CIFAR-10 night: seven classes are the global dataset, three the user's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .archives import FOLDER
from .programs import ROOT
from .samples import Split, export_images, hold_out
from .settings import Settings, Training

TRAIN, TEST = FOLDER / "cifar10-train.tar", FOLDER / "cifar10-test.tar"

_PRETRAINING = Training(epochs=20, batch=64, learning_rate=0.1, weight_decay=5e-4)

SETTINGS = Settings(
    model=ROOT / "config" / "models" / "cifar-mobilenet.json",
    global_classes=["airplane", "automobile", "bird", "cat", "deer", "dog", "frog"],
    local_classes=["horse", "ship", "truck"],
    pretraining=_PRETRAINING,
    centralised=_PRETRAINING,
    night=Training(epochs=10, batch=64, learning_rate=0.01),
    alpha=0.1,
    trainable_layers=5,
    kept_back=30,
    judged_by="CIFAR-10's test images",
    tuned_on="a fifth of the training images",
)

# What --tune tries: every combination.
GRID: dict[str, list[Any]] = {
    "trainable_layers": [1, 5, 9],
    "learning_rate": [0.01, 0.05],
    "epochs": [10],
    "alpha": [0.1],
}


@dataclass(frozen=True)
class Size:
    """How much of CIFAR-10 is used; None is all of it."""

    train_per_global_class: int | None
    train_per_local_class: int | None
    held_out_per_class: int | None


# At α = 10%, as many of a global class as of a local one.
WHOLE = Size(None, 500, None)  # some hours on two cores
USUAL = Size(2000, 200, 300)
QUICK = Size(400, 40, 100)


def split_of(size: Size, folder: Path) -> Split:
    """CIFAR-10's own split: its test set is what is held out."""
    train = export_images(TRAIN, SETTINGS.global_classes, folder / "train-global", size.train_per_global_class)
    train |= export_images(TRAIN, SETTINGS.local_classes, folder / "train-local", size.train_per_local_class)
    return Split(train, export_images(TEST, SETTINGS.classes, folder / "test", size.held_out_per_class))


def tuning_splits_of(size: Size, folder: Path) -> list[Split]:
    """A split of the training samples alone, to choose settings on."""
    return [hold_out(split_of(size, folder).train, 0.2, seed=1)]


def quick() -> Settings:
    """A few minutes on two cores; says what it left out."""
    shorter = replace(_PRETRAINING, epochs=8)
    fewer = replace(SETTINGS, pretraining=shorter, centralised=shorter).with_night(epochs=4)
    return replace(
        fewer,
        reduced=[
            f"{QUICK.train_per_global_class} training images of each global class (of 5,000), "
            f"{QUICK.train_per_local_class} of each local class, {QUICK.held_out_per_class} held out of "
            f"each (usually {USUAL.train_per_global_class:,}, {USUAL.train_per_local_class} and "
            f"{USUAL.held_out_per_class})",
            f"{shorter.epochs} epochs of pretraining (usually {_PRETRAINING.epochs}), "
            f"{fewer.night.epochs} a night (usually {SETTINGS.night.epochs})",
        ],
    )


def usual() -> Settings:
    """A part of the images, at the full length."""
    return replace(
        SETTINGS,
        reduced=[
            f"{USUAL.train_per_global_class:,} training images of each global class (of 5,000), "
            f"{USUAL.train_per_local_class} of each local class, {USUAL.held_out_per_class} held out of each "
            "(of 1,000); --whole takes all"
        ],
    )
