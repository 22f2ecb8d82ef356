"""How far what the model says lies from how often it is right, by how many samples are held out.

Photos: EfficientNet-Lite0 learns 61 groceries, a few photos each, by `learn` and by a night. Sounds: YAMNet, whose head
knows the digits of two people, learns those of four others by a night. Nothing of the global side is held out, so what
is held out here is all that calibrates. Photos and recordings that judge are neither trained on nor held out; they are
drawn from where those that are held out come from.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.photos.data import GLOBAL, LOCAL_TRAIN, LOCAL_VAL
from lib.photos.world import make_pack
from lib.samples import Files, count, link_tree
from lib.say import say
from lib.sounds import data as sounds
from lib.sounds import people
from lib.sounds.world import import_tagger

HELD_OUT = (30, 100, 1000)
JUDGES = 600
SHOTS = 8  # samples of each label that are learned from
BINS = 10  # of the probability
MODEL = "network"
LET_PASS = {"max_global_drop": 1.0, "min_local_accuracy": 0.0}
LEARN = {"train": {"epochs": 0}}
NIGHT = {"settings": "defaults", "freeze": {"trainable_layers": 1}}

Sample = tuple[str, Path]  # its label
Answer = tuple[float, bool]  # the likeliest label's probability, and whether it is right


def calibration_error(answers: Sequence[Answer], bins: int = BINS) -> float:
    """The expected calibration error: how far what is said in each bin lies from how often it is right."""
    off = [0.0] * bins
    for probability, right in answers:
        off[min(bins - 1, int(probability * bins))] += right - probability
    return sum(map(abs, off)) / len(answers)


@dataclass(frozen=True)
class Drawn:
    train: Files
    held_out: list[Sample]  # the first so many are held out first
    judges: list[Sample]


def drawn(files: Files, seed: int, *, most: int = max(HELD_OUT), judges: int = JUDGES) -> Drawn:
    """SHOTS of each label to learn from; the rest is held out, or judges."""
    train: Files = {}
    rest: list[Sample] = []
    for label, members in sorted(files.items()):
        mixed = random.Random(f"{seed}/{label}").sample(members, len(members))
        train[label] = sorted(mixed[:SHOTS])
        rest += [(label, file) for file in mixed[SHOTS:]]
    random.Random(seed).shuffle(rest)
    return Drawn(train, rest[:most], rest[most : most + judges])


def by_label(samples: Sequence[Sample]) -> Files:
    found: Files = {}
    for label, file in samples:
        found.setdefault(label, []).append(file)
    return found


def answers_of(ctl: Moilctl, judges: Sequence[Sample]) -> list[Answer]:
    found: list[Answer] = []
    for start in range(0, len(judges), 100):
        part = judges[start : start + 100]
        reply = ctl.json("predict", "--top", "1", *[file for _, file in part])
        for (label, _), answer in zip(part, reply["predictions"], strict=True):
            likeliest = answer["top"][0]
            found.append((likeliest["probability"], likeliest["label"] == label))
    return found


@dataclass(frozen=True)
class Kind:
    name: str
    model: Path
    pack: Path
    files: Files
    jobs: dict[str, dict[str, Any]]


def measure_kind(kind: Kind, folder: Path, seed: int, held_out: Sequence[int] = HELD_OUT) -> Iterator[dict[str, Any]]:
    """One daemon for all; each job begins from the model as it was imported."""
    folder.mkdir()
    chosen = drawn(kind.files, seed)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(kind.model, MODEL)
        ctl.add_labels(chosen.train, "train")
        known = 0
        for samples in held_out:
            ctl.add_labels(by_label(chosen.held_out[known:samples]), "val")
            known = samples
            for name, settings in kind.jobs.items():
                job = {"name": name, "model": MODEL, "global": {"pack": str(kind.pack.resolve())}, "guard": LET_PASS, "seed": seed}
                ended = ctl.watch(ctl.submit(job | settings))
                told = figures_of(ended, answers_of(ctl, chosen.judges))
                say(f"{kind.name}, {name}, {samples} held out: off by {100 * told['error']:.1f} points")
                yield {"kind": kind.name, "by": name, "asked_for": samples, "seed": seed, **told}
                ctl.json("model", "activate", MODEL, "1")


def figures_of(job: dict[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    calibration = job["result"]["details"]["calibration"] or {}
    right = sum(good for _, good in answers) / len(answers)
    return {
        "held_out": calibration.get("held_out", 0),
        "temperature": calibration.get("temperature"),
        "not_sure_below": calibration.get("not_sure_below"),
        "judged": len(answers),
        "accuracy": right,
        "said": sum(probability for probability, _ in answers) / len(answers),
        "error": calibration_error(answers),
        "wrong_at_99": sum(probability >= 0.99 and not good for probability, good in answers),
        "at_99": sum(probability >= 0.99 for probability, _ in answers),
    }


def photos_kind(folder: Path, model: Path) -> Kind:
    folder.mkdir()
    pools = extract(LOCAL_TRAIN, folder / "train"), extract(LOCAL_VAL, folder / "val")
    files = {label: [file for pool in pools for file in pool.get(label, [])] for label in pools[0]}
    pack = make_pack(model, GLOBAL, None, folder / "pack")
    return Kind("photos", model, pack, files, {"learn": LEARN, "night": NIGHT})


def sounds_kind(folder: Path) -> Kind:
    folder.mkdir()
    tagger, clips = import_tagger(folder), sounds.extract(sounds.FSDD, folder / "fsdd")
    everyone = sounds.speakers(clips)
    taught = [sounds.held_out_fifth(sounds.digits(clips, name)) for name in everyone[:2]]
    head = people.pretrain_head(folder / "head", tagger, taught)
    pack = make_pack(head.model, link_tree(people.joined([clips.train for clips in taught]), folder / "taught"), None, folder / "pack")
    files = people.joined([sounds.digits(clips, name) for name in everyone[2:]])
    return Kind("sounds", head.model, pack, files, {"night": NIGHT})


def measure_calibration(folder: Path, model: Path, *, seeds: int = 1) -> list[dict[str, Any]]:
    """One entry a kind, a way of learning, a number of held-out samples and a seed. `folder` must not exist; `model` is
    the photos' network."""
    folder.mkdir()
    made: list[Callable[[], Kind]] = [lambda: photos_kind(folder / "photos", model), lambda: sounds_kind(folder / "sounds")]
    found: list[dict[str, Any]] = []
    for make in made:
        kind = make()
        say(f"calibration: {count(kind.files)} {kind.name} of {len(kind.files)} labels")
        for seed in range(1, seeds + 1):
            found += measure_kind(kind, folder / f"{kind.name}-{seed}", seed)
    return found
