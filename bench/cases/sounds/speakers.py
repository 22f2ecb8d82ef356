"""The sixth speaker: digits spoken by five people are known, those of a sixth are learned at night.

YAMNet's last layer learns the digits of five speakers (moil-pretrain train --from), whose recordings
are D_G. Beside the night stands a head trained on all six speakers' recordings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.moilctl import Moilctl
from lib.programs import program, run
from lib.results import Unset, result_of
from lib.samples import Files, link_tree
from lib.say import say
from lib.settings import Basis, Training

from . import data
from .world import answers, device

MODEL = "digits"
PRETRAINING = Training(epochs=30, learning_rate=0.03)


@dataclass(frozen=True)
class Night:
    name: str
    title: str
    job: dict[str, Any]  # its description, beside name, model and pack
    basis: Basis


# As a user submits it, who sets nothing; beside it nights of so many layers, set by hand.
BY_HAND = Basis("the first ten recordings of each digit", "not known: set by hand, the same for all speakers")
NIGHT = Night("auto", "no settings", {}, BY_HAND.chosen_by_itself())
RATES = {1: 0.03, 3: 0.003, 7: 0.001}  # of nights that train so many layers; deeper ones diverge at more


def by_hand(layers: int) -> Night:
    training = Training(epochs=20, learning_rate=RATES[layers], distill=1.0)
    job = {
        "settings": "defaults",
        "global": {"alpha": 0.25},
        "freeze": {"trainable_layers": layers},
        "train": training.job_fields(),
        "guard": {"max_global_drop": 1.0},
    }
    return Night(f"lf{layers}", f"LF({layers})", job, BY_HAND)


def joined(parts: list[Files]) -> Files:
    return {digit: [clip for part in parts for clip in part[digit]] for digit in parts[0]}


def speakers_case(folder: Path, model: Path, sounds: Path, quick: bool) -> dict[str, Any]:
    """Each speaker as the local one; `quick`: two of them, and the night without settings alone."""
    people = {name: data.held_out_fifth(data.digits(sounds, name)) for name in data.speakers(sounds)}
    local = list(people)[:2] if quick else list(people)
    everything = _all_data(folder / "everybody", model, people)
    nights = [NIGHT] if quick else [NIGHT, *map(by_hand, RATES)]
    figures = [_speaker(folder / name, model, people, name, nights) | {"all_data": everything[name]} for name in local]
    return {"speakers": [one.pop(NIGHT.name) | one for one in figures]}


def _speaker(folder: Path, model: Path, people: dict[str, data.Clips], speaker: str, nights: list[Night]) -> dict[str, Any]:
    others = [clips for name, clips in people.items() if name != speaker]
    say(f"{speaker}: a head of five speakers")
    _pretrain(folder, model, joined([clips.train for clips in others]), joined([clips.held_out for clips in others]))
    return {"speaker": speaker} | {night.name: _night(folder, night, people[speaker]) for night in nights}


def _night(folder: Path, night: Night, local: data.Clips) -> dict[str, Any]:
    say(f"{folder.name}: {night.title}")
    with device(folder / night.name, folder / "base" / "model", MODEL, local, {}) as ctl:
        spec = {"name": night.name, "model": MODEL} | night.job
        spec["global"] = {"pack": str((folder / "base" / "pack").resolve())} | night.job.get("global", {})
        result = result_of(Unset(f"{folder.name}, {night.name}", night.title), ctl.watch(ctl.submit(spec)), night.basis)
    return result.told("local_before", "local_after", "global_before", "global_after", "seconds", "promoted", "chosen")


def _pretrain(folder: Path, model: Path, train: Files, held_out: Files) -> dict[str, Any]:
    """A head for the digits on YAMNet's backbone; its figures. The model and its pack are in folder/base."""
    folder.mkdir(parents=True)
    trees = [link_tree(files, folder / side) for side, files in (("train", train), ("held-out", held_out))]
    command: list[str | Path] = [program("moil-pretrain"), "train", "--from", model, "--trainable-layers", "1", "--data", trees[0]]
    command += ["--val-data", trees[1], *PRETRAINING.options(), "--out", folder / "base", "--json", folder / "figures.json"]
    run(command)
    figures: dict[str, Any] = json.loads((folder / "figures.json").read_text())
    return figures


def _all_data(folder: Path, model: Path, people: dict[str, data.Clips]) -> dict[str, float]:
    """A head trained on all six speakers: its accuracy for each of them."""
    say("a head of all six speakers")
    _pretrain(folder, model, joined([clips.train for clips in people.values()]), joined([clips.held_out for clips in people.values()]))
    with device(folder / "asked", folder / "base" / "model", MODEL, data.Clips({}, {}), {}) as ctl:
        return {name: _accuracy(ctl, clips.held_out) for name, clips in people.items()}


def _accuracy(ctl: Moilctl, held_out: Files) -> float:
    files = [(digit, clip) for digit, clips in held_out.items() for clip in clips]
    said = answers(ctl, [clip for _, clip in files], 1)
    return sum(digit in top for (digit, _), top in zip(files, said)) / len(files)
