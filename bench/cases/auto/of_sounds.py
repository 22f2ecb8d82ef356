"""The sounds: those of a place, the sixth speaker, another microphone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lib.archives import extract
from lib.photos.rows import DEEP_NIGHT, NIGHT
from lib.samples import Files, hold_out_last
from lib.settings import Basis
from lib.sounds import data, people, places, scenes
from lib.sounds.sides import sides
from lib.sounds.world import can_record, import_tagger

from .case import Base, Case, Job
from .of_photos import jobs_of

FOLD = 1  # of ESC-10, which judges
SPEAKERS = 2  # of six, each in turn the one that is learned
ROTATION = 0  # of the microphones
NEW = 0.1  # of the local clips come before the second night
NEW_OF_B = 0.25  # B hears about four clips of a class


def sound_cases(folder: Path, *, quick: bool) -> Iterator[Case]:
    """Each is made when its turn comes. `quick`: beside the shallow row alone, and one speaker."""
    folder.mkdir()
    tagger, sounds, clips = import_tagger(folder), data.extract(data.FSDD, folder / "fsdd"), extract(data.ESC10, folder / "esc10")
    yield _place(folder / "place", tagger, sounds, clips)
    for speaker in data.speakers(sounds)[: 1 if quick else SPEAKERS]:
        yield _speaker(folder / speaker, tagger, sounds, speaker, quick=quick)
    if can_record():
        yield _microphone(folder / "microphone", clips, quick=quick)
    else:
        print("another microphone skipped: python3-torchaudio is absent (scripts/install-deps --tests installs it)")


def _place(folder: Path, tagger: Path, sounds: Path, clips: Files) -> Case:
    parts = data.without_folds(clips, {FOLD})
    base = Base(tagger, places.pack_for(folder, tagger, parts, sounds))
    split = hold_out_last(parts.train, NEW)
    hand: dict[str, list[Job]] = {places.NIGHT.name: [places.NIGHT.job_spec(base.pack, places.HEAD)]}
    basis = Basis(f"fold {FOLD}", "all folds: one setting for all")
    return Case(
        f"ESC-10, fold {FOLD}", lambda _: base, split.train, split.held_out, parts.held_out, hand, basis, tags=data.AUDIOSET, asked=lambda ctl: places.top1(ctl, parts.held_out)
    )


def _speaker(folder: Path, tagger: Path, sounds: Path, speaker: str, *, quick: bool) -> Case:
    known = {name: data.held_out_fifth(data.digits(sounds, name)) for name in data.speakers(sounds)}
    local = known.pop(speaker)
    head = people.pretrain_head(folder, tagger, list(known.values()))
    split = hold_out_last(local.train, NEW)
    hand: dict[str, list[Job]] = {f"lf{layers}": [{"name": f"lf{layers}", **people.by_hand(layers)}] for layers in people.RATES if not quick or layers == 1}
    return Case(f"speaker {speaker}", lambda _: Base(head.model, head.pack), split.train, split.held_out, local.held_out, hand, people.BASIS)


def _microphone(folder: Path, clips: Files, *, quick: bool) -> Case:
    """The rows are the photos': nobody chose any for sounds that are learned from scratch."""
    folder.mkdir()
    known = sides(clips, ROTATION)
    trained, heard = scenes.pretrain_scenes(folder, known, ROTATION), scenes.heard_by_b(folder, known, ROTATION)
    split = hold_out_last(heard.train, NEW_OF_B)
    hand = {row.name: jobs_of(row) for row in ([NIGHT] if quick else [NIGHT, DEEP_NIGHT])}
    basis = Basis(scenes.JUDGED_BY, "photos: the settings are theirs")
    return Case("another microphone", lambda _: Base(trained.model, trained.pack), split.train, split.held_out, heard.held_out, hand, basis)
