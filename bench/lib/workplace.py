"""A scenario's folders, laid out once: images to train on, held out, and kept back for later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .samples import Files, Split, link_tree, only
from .settings import Settings


@dataclass(frozen=True)
class Workplace:
    """`train` lacks what `later` holds; `held_out` is never trained on."""

    folder: Path
    train: Files
    held_out: Files
    later: Files  # local samples, labelled before the second night

    @property
    def train_folder(self) -> Path:
        return self.folder / "train"

    @property
    def held_out_folder(self) -> Path:
        return self.folder / "held-out"


def lay_out(folder: Path, settings: Settings, split: Split) -> Workplace:
    """Links a split's files into `folder` and keeps back local samples, as many of each class."""
    train = dict(split.train)
    later: Files = {}
    each = settings.kept_back // len(settings.local_classes)
    for name in settings.local_classes:
        keep = len(train[name]) - each
        if keep <= 0:
            raise ValueError(f"class {name} has {len(train[name])} samples to train on; {each} cannot be kept back")
        train[name], later[name] = train[name][:keep], train[name][keep:]
    place = Workplace(folder, train, only(split.held_out, settings.classes), later)
    link_tree(only(train, settings.classes), place.train_folder)
    link_tree(place.held_out, place.held_out_folder)
    return place
