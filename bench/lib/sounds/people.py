"""Digits that people speak: YAMNet's last layer learns those of some people, and a night those of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.pretrain import Pretrained
from lib.programs import program, run
from lib.samples import Files, link_tree
from lib.settings import Basis, Training

from .data import Clips

PRETRAINING = Training(epochs=30, learning_rate=0.03)
RATES = {1: 0.03, 3: 0.003, 7: 0.001}  # of nights that train so many layers; deeper ones diverge at more
BASIS = Basis("the first ten recordings of each digit", "not known: set by hand, the same for all speakers")


def by_hand(layers: int) -> dict[str, Any]:
    """The description of a night's job, beside name, model and pack."""
    return {
        "settings": "defaults",
        "global": {"alpha": 0.25},
        "freeze": {"trainable_layers": layers},
        "train": Training(epochs=20, learning_rate=RATES[layers], distill=1.0).job_fields(),
        "guard": {"max_global_drop": 1.0},
    }


def joined(parts: list[Files]) -> Files:
    return {digit: [clip for part in parts for clip in part[digit]] for digit in parts[0]}


def pretrain_head(folder: Path, model: Path, people: list[Clips]) -> Pretrained:
    """A head for the digits of these people on YAMNet's backbone."""
    folder.mkdir(parents=True)
    sides = {"train": joined([clips.train for clips in people]), "held-out": joined([clips.held_out for clips in people])}
    trees = [link_tree(files, folder / side) for side, files in sides.items()]
    base, figures = folder / "base", folder / "figures.json"
    command: list[str | Path] = [program("moil-pretrain"), "train", "--from", model, "--trainable-layers", "1", "--data", trees[0]]
    run([*command, "--val-data", trees[1], *PRETRAINING.options(), "--out", base, "--json", figures])
    return Pretrained(base / "model", base / "pack", json.loads(figures.read_text()))
