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
from statistics import fmean
from typing import Any

from lib.archives import extract
from lib.jobs import shortest
from lib.pretrain import Pretrained, pretrain
from lib.programs import PEER_PYTHON, ROOT, run
from lib.results import result_of
from lib.samples import Files, count, files_of, link_tree
from lib.say import say
from lib.settings import Training

from . import data
from .sides import FOLDS, Sides, sides
from .world import device

PAPER = {"a_on_a": 0.7012, "a_on_b": 0.5012, "b_after": 0.6022}
MODEL = "scenes"
NETWORK = ROOT / "config" / "models" / "resnet18-sound.json"
PREPROCESSING = {
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
FIGURES = ("a_on_a", "a_on_b", "b_after", "a_after")


def microphone(folder: Path, quick: bool) -> dict[str, Any]:
    """Means over fold rotations, each with a device B of its own; `rotations` has each. Works in `folder`."""
    began = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    clips = extract(data.ESC10, folder / "clips")
    rotations = [_rotation(folder / str(i), clips, i) for i in range(1 if quick else FOLDS)]
    means = {name: fmean(rotation[name] for rotation in rotations) for name in (*FIGURES, "night_seconds")}
    return means | {"seconds": time.monotonic() - began, "paper": PAPER, "rotations": rotations}


def _rotation(folder: Path, clips: Files, rotation: int) -> dict[str, Any]:
    folder.mkdir()
    known = sides(clips, rotation)
    say(f"another microphone, {rotation + 1}: A learns from {count(known.a_train)} clips, B from {count(known.b_train)}")
    trained = _pretrain(folder, known, rotation)
    heard = data.Clips(_as_b_hears(folder / "b-train", known.b_train, rotation), _as_b_hears(folder / "b-test", known.b_test, rotation))
    with device(folder / "device", trained.model, MODEL, heard, {}) as ctl:
        result = result_of("another microphone", ctl.watch(ctl.submit(shortest(MODEL, trained.pack))))
    return _figures(result) | {"rotation": rotation, "pretraining_seconds": trained.figures["seconds"], "clips": _counts(known)}


def _pretrain(folder: Path, known: Sides, seed: int) -> Pretrained:
    preprocessing = folder / "preprocessing.json"
    preprocessing.write_text(json.dumps(PREPROCESSING))
    train, test = link_tree(known.a_train, folder / "a-train"), link_tree(known.a_test, folder / "a-test")
    further = ["--preprocessing", preprocessing, "--views", str(VIEWS)]
    return pretrain(NETWORK, train, test, sorted(known.a_train), TRAINING, folder / "a", further=further, seed=seed + 1)


def _as_b_hears(folder: Path, files: Files, seed: int) -> Files:
    clips = link_tree(files, folder / "clips")
    script = Path(__file__).with_name("device.py")
    run([PEER_PYTHON, "-W", "ignore", script, "--seed", str(seed), "--clips", clips, "--out", folder / "heard"])
    return files_of(folder / "heard", sorted(files))


def _figures(result: dict[str, Any]) -> dict[str, Any]:
    details = result["details"]
    return {
        "a_on_a": result["global_before"],
        "a_on_b": result["local_before"],
        "b_after": result["local_after"],
        "a_after": result["global_after"],
        "promoted": result["promoted"],
        "night_seconds": result["seconds"],
        "stages": details["stages"],
        "chosen": (details.get("auto") or {}).get("chosen"),
        "why": (details.get("auto") or {}).get("why", ""),
        "trials": (details.get("auto") or {}).get("trials", []),
    }


def _counts(known: Sides) -> dict[str, int]:
    return {part: count(files) for part, files in vars(known).items()}
