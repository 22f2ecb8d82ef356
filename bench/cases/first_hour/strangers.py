"""How many photos of classes that nobody taught are caught: answered "something else", or "not sure".

Groceries that ImageNet does not have are dealt into three: some are taught, some are shown as
`--label-none`, and the others are the strangers, of which the device has seen nothing. Each draw is learned without the
label, then with it. A photo of a taught class counts if it is answered right and the model is sure.

Classes are halved before they are dealt: nights' settings were chosen on one half, and the other half judges.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.archives import extract
from lib.moilctl import Moilctl
from lib.photos.data import GLOBAL, GLOBAL_VAL, LOCAL_TRAIN, LOCAL_VAL, Photos
from lib.photos.world import MODEL, World, world
from lib.samples import Files, only
from lib.say import say

LABEL = "something else"
KNOWN_TO_IMAGENET = {"banana", "brown-cap-mushroom", "cucumber", "lemon", "orange", "orange-bell-pepper", "pineapple", "red-bell-pepper", "yellow-bell-pepper", "zucchini"}
TAUGHT, SHOWN = 8, 6  # classes
SHOTS, SHOTS_OF_NONE = 10, 5  # photos of each that are learned from
HELD_OUT, HELD_OUT_OF_NONE = 3, 2  # of each
GOAL, MOST_LOST = 0.70, 0.01
LET_PASS = {"max_global_drop": 1.0, "min_local_accuracy": 0.0}
JOBS: dict[str, dict[str, Any]] = {"learn": {"train": {"epochs": 0}}, "night": {"settings": "defaults", "freeze": {"trainable_layers": 1}}}


def halves(classes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that ImageNet does not know: the half that settings were chosen on, and the one that judges."""
    left = sorted(set(classes) - KNOWN_TO_IMAGENET)
    return left[0::2], left[1::2]


@dataclass(frozen=True)
class Deal:
    taught: list[str]
    shown: list[str]
    strangers: list[str]


def deal(classes: Sequence[str], seed: int) -> Deal:
    mixed = random.Random(seed).sample(sorted(classes), len(classes))
    return Deal(mixed[:TAUGHT], mixed[TAUGHT : TAUGHT + SHOWN], mixed[TAUGHT + SHOWN :])


def some(files: Files, classes: Sequence[str], first: int, end: int, seed: int) -> Files:
    """The samples of each class that stand so in an order that is drawn."""
    return {name: random.Random(f"{seed}/{name}").sample(files[name], len(files[name]))[first:end] for name in classes}


def joined(files: Files) -> list[Path]:
    return [file for name in sorted(files) for file in files[name]]


@dataclass(frozen=True)
class Said:
    label: str
    probability: float
    not_sure: bool

    @property
    def is_caught(self) -> bool:
        return self.not_sure or self.label == LABEL


def said_of(ctl: Moilctl, files: Sequence[Path]) -> list[Said]:
    found: list[Said] = []
    for start in range(0, len(files), 100):
        for answer in ctl.json("predict", "--top", "1", *files[start : start + 100])["predictions"]:
            likeliest = answer["top"][0]
            found.append(Said(likeliest["label"], likeliest["probability"], answer.get("not_sure", False)))
    return found


def figures_of(known: Sequence[tuple[str, Said]], strangers: Sequence[Said]) -> dict[str, Any]:
    """known: the label of each beside what was said of it."""
    return {
        "known": len(known),
        "right": fmean(said.label == label for label, said in known),
        "right_and_sure": fmean(said.label == label and not said.not_sure for label, said in known),
        "strangers": len(strangers),
        "caught": fmean(said.is_caught for said in strangers),
        "said_something_else": fmean(said.label == LABEL for said in strangers),
        "answered_at_80": fmean(said.probability >= 0.8 and not said.is_caught for said in strangers),
    }


@dataclass(frozen=True)
class Photographed:
    train: Files
    val: Files


def _night(place: World, job: str, photos: Photographed, dealt: Deal) -> dict[str, Any]:
    spec = {"name": job, "model": MODEL, "global": {"pack": str(place.pack.resolve())}, "guard": LET_PASS, "seed": 1}
    ended = place.ctl.watch(place.ctl.submit(spec | JOBS[job]))
    known = [(name, file) for name in sorted(dealt.taught) for file in photos.val[name]]
    answers = said_of(place.ctl, [file for _, file in known])
    strangers = said_of(place.ctl, joined(only(photos.val, dealt.strangers)))
    place.ctl.json("model", "activate", MODEL, "1")
    result = ended["result"]
    calibration = result["details"]["calibration"] or {}
    told = figures_of([(label, said) for (label, _), said in zip(known, answers, strict=True)], strangers)
    return {**told, "global_before": result["global_before"], "global_after": result["global_after"], "calibration": calibration}


def _draw(place: World, photos: Photographed, classes: Sequence[str], seed: int) -> dict[str, Any]:
    dealt = deal(classes, seed)
    place.label(some(photos.train, dealt.taught, 0, SHOTS, seed), "train")
    place.label(some(photos.train, dealt.taught, SHOTS, SHOTS + HELD_OUT, seed), "val")
    without = {job: _night(place, job, photos, dealt) for job in JOBS}
    _label_none(place.ctl, joined(some(photos.train, dealt.shown, 0, SHOTS_OF_NONE, seed)), "train")
    _label_none(place.ctl, joined(some(photos.train, dealt.shown, SHOTS_OF_NONE, SHOTS_OF_NONE + HELD_OUT_OF_NONE, seed)), "val")
    with_label = {job: _night(place, job, photos, dealt) for job in JOBS}
    for label in [*dealt.taught, LABEL]:
        place.ctl.json("label", "rm", label, "--with-samples", "--yes")
    for job in JOBS:
        say(f"strangers, draw {seed}, {job}: {without[job]['caught']:.2f} → {with_label[job]['caught']:.2f} caught")
    return {"seed": seed, "taught": dealt.taught, "shown": dealt.shown, "strangers": dealt.strangers, "without": without, "with": with_label}


def _label_none(ctl: Moilctl, files: Sequence[Path], split: str) -> None:
    ctl.json("label", "add", *files, "--label-none", "--split", split)


def mean_over(draws: Sequence[dict[str, Any]], job: str) -> dict[str, Any]:
    """lost: points of known photos that were right and sure before the label came."""
    mean = {side: {name: fmean(draw[side][job][name] for draw in draws) for name in ("right", "right_and_sure", "caught", "said_something_else", "answered_at_80", "global_after")} for side in ("without", "with")}
    lost = mean["without"]["right_and_sure"] - mean["with"]["right_and_sure"]
    return {**mean, "lost": lost, "reached": mean["with"]["caught"] >= GOAL and lost <= MOST_LOST}


def measure_strangers(folder: Path, model: Path, *, draws: int = 4, tune: bool = False) -> dict[str, Any]:
    """By job, the means of all draws. `folder` must not exist. `tune`: on the half that settings may be chosen on."""
    folder.mkdir()
    photos = Photographed(extract(LOCAL_TRAIN, folder / "train"), extract(LOCAL_VAL, folder / "val"))
    classes = halves(sorted(photos.train))[0 if tune else 1]
    with world(folder / "world", model, Photos(GLOBAL, GLOBAL_VAL, {}, {})) as place:
        found = [_draw(place, photos, classes, seed) for seed in range(1, draws + 1)]
    return {"goal": GOAL, "most_lost": MOST_LOST, "chosen_on": tune, "draws": found, **{job: mean_over(found, job) for job in JOBS}}
