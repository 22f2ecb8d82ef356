"""The sixth speaker: digits spoken by five people are known, those of a sixth are learned at night.

YAMNet's last layer learns the digits of five speakers (moil-pretrain train --from), whose recordings
are D_G. Beside the night stands a head trained on all six speakers' recordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.moilctl import Moilctl
from lib.results import Unset, result_of
from lib.samples import Files
from lib.say import say
from lib.settings import Basis
from lib.sounds import data, people
from lib.sounds.world import answers, device

MODEL = "digits"


@dataclass(frozen=True)
class Night:
    name: str
    title: str
    job: dict[str, Any]  # its description, beside name, model and pack
    basis: Basis


# As a user submits it, who sets nothing; beside it nights of so many layers, set by hand.
NIGHT = Night("auto", "no settings", {}, people.BASIS.chosen_by_itself())
BY_HAND = [Night(f"lf{layers}", f"LF({layers})", people.by_hand(layers), people.BASIS) for layers in people.RATES]


def speakers_case(folder: Path, model: Path, sounds: Path, quick: bool) -> dict[str, Any]:
    """Each speaker as the local one; `quick`: two of them, and the night without settings alone."""
    known = {name: data.held_out_fifth(data.digits(sounds, name)) for name in data.speakers(sounds)}
    local = list(known)[:2] if quick else list(known)
    everything = _all_data(folder / "everybody", model, known)
    nights = [NIGHT] if quick else [NIGHT, *BY_HAND]
    figures = [_speaker(folder / name, model, known, name, nights) | {"all_data": everything[name]} for name in local]
    return {"speakers": [one.pop(NIGHT.name) | one for one in figures]}


def _speaker(folder: Path, model: Path, known: dict[str, data.Clips], speaker: str, nights: list[Night]) -> dict[str, Any]:
    say(f"{speaker}: a head of five speakers")
    people.pretrain_head(folder, model, [clips for name, clips in known.items() if name != speaker])
    return {"speaker": speaker} | {night.name: _night(folder, night, known[speaker]) for night in nights}


def _night(folder: Path, night: Night, local: data.Clips) -> dict[str, Any]:
    say(f"{folder.name}: {night.title}")
    with device(folder / night.name, folder / "base" / "model", MODEL, local, {}) as ctl:
        spec = {"name": night.name, "model": MODEL} | night.job
        spec["global"] = {"pack": str((folder / "base" / "pack").resolve())} | night.job.get("global", {})
        result = result_of(Unset(f"{folder.name}, {night.name}", night.title), ctl.watch(ctl.submit(spec)), night.basis)
    return result.told("local_before", "local_after", "global_before", "global_after", "seconds", "promoted", "chosen")


def _all_data(folder: Path, model: Path, known: dict[str, data.Clips]) -> dict[str, float]:
    """A head trained on all six speakers: its accuracy for each of them."""
    say("a head of all six speakers")
    people.pretrain_head(folder, model, list(known.values()))
    with device(folder / "asked", folder / "base" / "model", MODEL, data.Clips({}, {}), {}) as ctl:
        return {name: _accuracy(ctl, clips.held_out) for name, clips in known.items()}


def _accuracy(ctl: Moilctl, held_out: Files) -> float:
    files = [(digit, clip) for digit, clips in held_out.items() for clip in clips]
    said = answers(ctl, [clip for _, clip in files], 1)
    return sum(digit in top for (digit, _), top in zip(files, said)) / len(files)
