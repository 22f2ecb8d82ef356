"""ESC-10's recordings on two sides: what microphone A hears, and what B hears.

Clips are called FOLD-RECORDING-TAKE.ogg. Folds hold whole recordings, and so does every part made here: no
recording is in two parts. Two and a half of the five folds teach A, half a one teaches B ("a little"), and
one judges each.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from lib.samples import Files

FOLDS = 5


@dataclass(frozen=True)
class Sides:
    a_train: Files
    a_test: Files
    b_train: Files
    b_test: Files


def fold_of(file: Path) -> int:
    return int(file.name.split("-")[0])


def recording_of(file: Path) -> str:
    return "-".join(file.name.split("-")[:2])


def in_folds(files: Files, folds: set[int]) -> Files:
    return {name: [file for file in members if fold_of(file) in folds] for name, members in files.items()}


def halves(files: Files, seed: str) -> tuple[Files, Files]:
    """Whole recordings of every class to each; neither gets all if there are two."""
    first: Files = {}
    second: Files = {}
    for name, members in files.items():
        recordings = sorted({recording_of(file) for file in members})
        random.Random(f"{seed}/{name}").shuffle(recordings)
        taken: set[str] = set()
        for recording in recordings[:-1] or recordings:
            if 2 * sum(recording_of(file) in taken for file in members) >= len(members):
                break
            taken.add(recording)
        first[name] = [file for file in members if recording_of(file) in taken]
        second[name] = [file for file in members if recording_of(file) not in taken]
    return first, second


def together(one: Files, other: Files) -> Files:
    return {name: sorted(one[name] + other[name]) for name in one}


def sides(files: Files, rotation: int) -> Sides:
    """`rotation`, 0 to 4, says which folds are whose."""
    fold = [(rotation + i) % FOLDS + 1 for i in range(FOLDS)]
    for_b, for_a = halves(in_folds(files, {fold[2]}), str(rotation))
    return Sides(
        a_train=together(in_folds(files, {fold[0], fold[1]}), for_a),
        a_test=in_folds(files, {fold[3]}),
        b_train=for_b,
        b_test=in_folds(files, {fold[4]}),
    )
