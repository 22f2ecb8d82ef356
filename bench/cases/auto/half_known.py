"""What `moilctl learn` reaches if the model half knows what is labelled: it calls the photos by names of its own.

Two to six labels at a time, five photos of each, drawn. One daemon learns all draws, each from the model as it was
imported, with the same pack; only the first draw computes the pack's feature maps. Global accuracy is judged on
photos of classes that no label of the draw shows.
"""

from __future__ import annotations

import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.photos.data import GLOBAL, GLOBAL_TUNE, GLOBAL_VAL, LOCAL_TRAIN, LOCAL_VAL, Photos
from lib.photos.world import MODEL, World, make_pack, predictions, world
from lib.results import mean_of
from lib.samples import Files, count, only
from lib.say import say
from lib.settings import Basis

from .learn import BASIS as LEARNED
from .learn import few, learn_once

BASIS = Basis("other photos of the labels, and of classes that no label shows", LEARNED.tuned_on)
SHOTS = 5
GOAL = 0.8  # of local photos
MOST_LOST = 0.005  # of global accuracy

# Groceries that ImageNet has, or has the like of: a golden delicious is called a Granny Smith, a carton a packet.
GROCERIES = [
    ["banana", "lemon"],
    ["orange", "pineapple"],
    ["cucumber", "zucchini"],
    ["arla-sour-cream", "golden-delicious", "watermelon"],
    ["orange-bell-pepper", "red-bell-pepper", "yellow-bell-pepper"],
    ["brown-cap-mushroom", "golden-delicious", "lemon", "pineapple"],
    ["alpro-shelf-soy-milk", "banana", "brown-cap-mushroom", "cucumber", "mango", "red-bell-pepper"],
]
# ImageNet's own classes, under other names.
IMAGENETTE = [
    ["n01440764", "n02979186"],
    ["n02102040", "n03000684"],
    ["n03028079", "n03394916"],
    ["n03417042", "n03425413", "n03888257"],
    ["n02979186", "n03028079", "n03445777", "n03000684"],
]


@dataclass(frozen=True)
class Labels:
    """Files of one dataset by class, and the photos that judge what the network knew."""

    dataset: str
    sets: list[list[str]]
    train: Files
    val: Files


def _without(archive: Path, classes: list[str], out: Path) -> Path:
    """The tar without folders of these names."""
    with tarfile.open(archive) as source, tarfile.open(out, "w") as target:
        for member in source:
            if member.isfile() and Path(member.name).parent.name not in classes:
                target.addfile(member, source.extractfile(member))
    return out


def _called(place: World, files: Files) -> dict[str, Any]:
    """By label: the name by which the model calls most of its photos, and how many."""
    names = {}
    for label, members in files.items():
        name, said = Counter(predictions(place.ctl, members)).most_common(1)[0]
        names[label] = {"name": name, "said": said, "samples": len(members)}
    return names


def _draw(place: World, labels: Labels, chosen: list[str], seed: int, pack: Path) -> dict[str, Any]:
    train, val = few(only(labels.train, chosen), SHOTS, seed), only(labels.val, chosen)
    if labels.train is labels.val:
        val = {name: [file for file in members if file not in train[name]] for name, members in val.items()}
    called = _called(place, train)
    base = place.active_version()
    mine = {f"my {name}": members for name, members in train.items()}
    place.label(mine, "train")
    place.label({f"my {name}": members for name, members in val.items()}, "val")
    place.pack = pack
    run = learn_once(place, BASIS)
    for label in mine:
        place.ctl.json("label", "rm", label, "--with-samples", "--yes")
    if place.active_version() != base:
        place.ctl.json("model", "activate", MODEL, str(base))
    say(f"{', '.join(chosen)}, seed {seed}: {run['local_after']:.3f} local, {run['global_before']:.3f} → {run['global_after']:.3f} global")
    return {"labels": chosen, "seed": seed, "held_out": count(val), "called": called, **run}


def _of_dataset(place: World, labels: Labels, model: Path, folder: Path, seeds: int) -> dict[str, Any]:
    draws = []
    for number, chosen in enumerate(labels.sets):
        pack = place.pack
        if labels.train is labels.val:  # what is labelled has judges among the global photos
            others = _without(GLOBAL_VAL, chosen, folder / f"{labels.dataset}-{number}.tar")
            pack = make_pack(model, GLOBAL, others, folder / f"{labels.dataset}-{number}")
        draws += [_draw(place, labels, chosen, seed, pack) for seed in range(1, seeds + 1)]
    promoted = [draw["promoted"] for draw in draws]
    local = [draw["local_after"] for draw in draws]
    lost = [draw["global_before"] - draw["global_after"] for draw in draws]
    return {
        "dataset": labels.dataset,
        "draws": draws,
        "local_mean": mean_of(promoted, local).value,
        "local_worst": min(local),
        "reached": sum(share >= GOAL for share in local),
        "lost_mean": mean_of(promoted, lost).value,
        "lost_worst": max(lost),
        "kept_back": mean_of(promoted, local).kept_back,
        "lost_more": sum(share > MOST_LOST for share in lost),
    }


def measure_half_known(folder: Path, model: Path, *, seeds: int = 5) -> list[dict[str, Any]]:
    """One entry a dataset. `folder` must not exist."""
    folder.mkdir()
    groceries = extract(LOCAL_TRAIN, folder / "train"), extract(LOCAL_VAL, folder / "val")
    own = extract(GLOBAL_TUNE, folder / "own")
    with world(folder / "world", model, Photos(GLOBAL, GLOBAL_VAL, {}, {})) as place:
        return [
            _of_dataset(place, labels, model, folder, seeds)
            for labels in (Labels("groceries", GROCERIES, *groceries), Labels("imagenette", IMAGENETTE, own, own))
        ]
