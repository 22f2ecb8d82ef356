"""Another microphone: a network that was trained on what device A hears learns in a night how B hears.

The acoustic scene case of the processor selection paper (Sensors 2021, 21, 2364, section 4.2), with ESC-10's
ten sounds for its three scenes: ResNet18 of half width on log-mel spectrograms of 64 bands x 64 frames with
their differences in time, from scratch. A hears the recordings as they are; B is drawn by a seed (device.py).
The night has no settings: its job names the model and the pack of A's clips.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.jobs import shortest
from lib.results import Result, Unset, mean_of, result_of
from lib.samples import Files, count
from lib.say import say
from lib.settings import Basis
from lib.sounds import data, scenes
from lib.sounds.sides import FOLDS, Sides, sides
from lib.sounds.world import device

PAPER = {"a_on_a": 0.7012, "a_on_b": 0.5012, "b_in_service": 0.6022}
MODEL = "scenes"
FIGURES = ("a_on_a", "a_on_b", "b_in_service", "a_in_service", "night_seconds")
BASIS = Basis(scenes.JUDGED_BY, "nothing").chosen_by_itself()


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
    trained, heard = scenes.pretrain_scenes(folder, known, rotation), scenes.heard_by_b(folder, known, rotation)
    with device(folder / "device", trained.model, MODEL, heard, {}) as ctl:
        result = result_of(Unset("another microphone", "no settings"), ctl.watch(ctl.submit(shortest(MODEL, trained.pack))), BASIS)
    return _figures(result) | {"rotation": rotation, "pretraining_seconds": trained.figures["seconds"], "clips": _counts(known)}


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
