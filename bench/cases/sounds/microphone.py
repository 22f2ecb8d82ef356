"""Another microphone: a network that was trained on what device A hears learns in a night how B hears.

The acoustic scene case of the processor selection paper (Sensors 2021, 21, 2364, section 4.2), with ESC-10's
ten sounds for its three scenes: ResNet18 of half width on log-mel spectrograms of 64 bands x 64 frames with
their differences in time, from scratch. A hears the recordings as they are; B is drawn by a seed (device.py).
The night has no settings: its job names the model and the pack of A's clips.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.jobs import shortest
from lib.pretrain import Pretrained, pretrain
from lib.programs import ROOT
from lib.results import Result, Unset, mean_of, result_of
from lib.samples import Files, count, link_tree
from lib.say import say
from lib.settings import Basis, Training

from . import data
from .sides import FOLDS, Sides, sides
from .world import as_wav, device

PAPER = {"a_on_a": 0.7012, "a_on_b": 0.5012, "b_in_service": 0.6022}
MODEL = "scenes"
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
FIGURES = ("a_on_a", "a_on_b", "b_in_service", "a_in_service", "night_seconds")
BASIS = Basis("a fold of A's clips, and one as B hears it", "nothing").chosen_by_itself()


def microphone(folder: Path, quick: bool) -> dict[str, Any]:
    """Means over fold rotations, each with a device B of its own; `rotations` has each. After a night what is in
    service counts: if the guard kept the new network back, the old one. Works in `folder`."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    clips = extract(data.ESC10, folder / "clips")
    rotations = [_rotation(folder / str(i), clips, i) for i in range(1 if quick else FOLDS)]
    promoted = [rotation["promoted"] for rotation in rotations]
    means = {name: mean_of(promoted, [rotation[name] for rotation in rotations]).value for name in FIGURES}
    return means | {"kept_back": promoted.count(False), "seconds": time.monotonic() - began, "paper": PAPER, "rotations": rotations}


def _rotation(folder: Path, clips: Files, rotation: int) -> dict[str, Any]:
    folder.mkdir()
    known = sides(clips, rotation)
    say(f"another microphone, {rotation + 1}: A learns from {count(known.a_train)} clips, B from {count(known.b_train)}")
    trained, drawn = _pretrain(folder, known, rotation), ("--seed", str(rotation))
    heard = data.Clips(as_wav(folder / "b-train", known.b_train, *drawn), as_wav(folder / "b-test", known.b_test, *drawn))
    with device(folder / "device", trained.model, MODEL, heard, {}) as ctl:
        result = result_of(Unset("another microphone", "no settings"), ctl.watch(ctl.submit(shortest(MODEL, trained.pack))), BASIS)
    return _figures(result) | {"rotation": rotation, "pretraining_seconds": trained.figures["seconds"], "clips": _counts(known)}


def _pretrain(folder: Path, known: Sides, seed: int) -> Pretrained:
    preprocessing = folder / "preprocessing.json"
    preprocessing.write_text(json.dumps(PREPROCESSING))
    train, test = link_tree(known.a_train, folder / "a-train"), link_tree(known.a_test, folder / "a-test")
    further: list[str | Path] = ["--preprocessing", preprocessing, "--views", str(VIEWS)]
    return pretrain(NETWORK, train, test, sorted(known.a_train), TRAINING, folder / "a", further=further, seed=seed + 1)


def _figures(result: Result) -> dict[str, Any]:
    return {
        "a_on_a": result.global_before,
        "a_on_b": result.local_before,
        "b_after": result.local_after,
        "a_after": result.global_after,
        "b_in_service": result.local_in_service,
        "a_in_service": result.global_in_service,
        "night_seconds": result.seconds,
        **result.told("promoted", "stages", "chosen", "why", "trials"),
    }


def _counts(known: Sides) -> dict[str, int]:
    return {part: count(files) for part, files in vars(known).items()}
