"""The images of a scenario as folders of PNG files, and which of them are held out.

Folders have the ImageFolder layout, CLASS/FILE. Splits depend on the files' names and a seed alone.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

from .programs import program, run

Files = dict[str, list[Path]]  # by class


@dataclass(frozen=True)
class Split:
    train: Files
    held_out: Files


def export_images(data: Path, classes: list[str], out: Path, limit_per_class: int | None = None) -> Files:
    """Writes the images of a dataset as PNG files, at most `limit_per_class` of each class."""
    command: list[str | Path] = [program("moil-pretrain"), "images", "--data", data]
    command += ["--classes", ",".join(classes), "--out", out]
    if limit_per_class is not None:
        command += ["--limit-per-class", str(limit_per_class)]
    run(command)
    return files_of(out, classes)


def files_of(folder: Path, classes: list[str]) -> Files:
    return {name: sorted((folder / name).iterdir()) for name in classes}


def hold_out(files: Files, fraction: float, seed: int) -> Split:
    """Splits every class by itself, `fraction` of it held out."""
    train: Files = {}
    held_out: Files = {}
    for name, members in files.items():
        shuffled = list(members)
        random.Random(f"{seed}/{name}").shuffle(shuffled)
        count = round(fraction * len(shuffled))
        held_out[name], train[name] = sorted(shuffled[:count]), sorted(shuffled[count:])
    return Split(train, held_out)


def hold_out_last(files: Files, fraction: float) -> Split:
    """Splits every class by itself: the last of its files by name. Photos taken together, which are all
    but the same, more often stay on one side than in a random part."""
    train: Files = {}
    held_out: Files = {}
    for name, members in files.items():
        at = len(members) - round(fraction * len(members))
        train[name], held_out[name] = members[:at], members[at:]
    return Split(train, held_out)


def link_tree(files: Files, folder: Path) -> Path:
    """The files as an ImageFolder of hard links."""
    for name, members in files.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for file in members:
            os.link(file, folder / name / file.name)
    return folder


def only(files: Files, classes: list[str]) -> Files:
    return {name: files[name] for name in classes}


def count(files: Files) -> int:
    return sum(len(members) for members in files.values())
