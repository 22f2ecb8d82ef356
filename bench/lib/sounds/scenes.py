"""A network that knows ESC-10's sounds as one microphone hears them, trained from scratch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.pretrain import Pretrained, pretrain
from lib.programs import ROOT
from lib.samples import link_tree
from lib.settings import Training

from .data import Clips
from .sides import Sides
from .world import as_wav

NETWORK = ROOT / "config" / "models" / "resnet18-sound.json"
PREPROCESSING: dict[str, Any] = {
    "kind": "sound",
    "front_end": {
        "type": "log_mel_deltas",
        "window": 1024,
        "hop": 512,
        "fft": 1024,
        "low": 50,
        "high": 8000,
        "power": 2,
        "log_offset": 1e-4,
        "frames": 64,
        "patch_hop": 32,
    },
}
TRAINING = Training(epochs=40, learning_rate=0.05, weight_decay=5e-4)
VIEWS = 8
JUDGED_BY = "a fold of A's clips, and one as B hears it"


def pretrain_scenes(folder: Path, known: Sides, rotation: int) -> Pretrained:
    """On what A hears."""
    preprocessing = folder / "preprocessing.json"
    preprocessing.write_text(json.dumps(PREPROCESSING))
    train, test = link_tree(known.a_train, folder / "a-train"), link_tree(known.a_test, folder / "a-test")
    further: list[str | Path] = ["--preprocessing", preprocessing, "--views", str(VIEWS)]
    return pretrain(NETWORK, train, test, sorted(known.a_train), TRAINING, folder / "a", further=further, seed=rotation + 1)


def heard_by_b(folder: Path, known: Sides, rotation: int) -> Clips:
    """B is drawn anew for each rotation."""
    drawn = ("--seed", str(rotation))
    return Clips(as_wav(folder / "b-train", known.b_train, *drawn), as_wav(folder / "b-test", known.b_test, *drawn))
