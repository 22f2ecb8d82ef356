"""What the rows of ESC-10 are trained with: chosen on training clips alone.

For every fold that judges, the others take turns at being held out. So the clips that judge a fold have
no say in what it is trained with.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from lib.results import JobFailed, Result, mean_of, result_of
from lib.samples import Files
from lib.say import say
from lib.settings import Basis, Training

from . import data
from .esc10 import DEEP, DEEPER, HEAD, MODEL, NIGHT, Row, pack_for, top1
from .sides import FOLDS, in_folds
from .world import device


def grid() -> list[Row]:
    heads = [replace(HEAD, epochs=epochs, learning_rate=rate) for epochs in (20, 60, 120) for rate in (0.03, 0.1, 0.3)]
    deep = [replace(DEEP, epochs=epochs, learning_rate=rate) for epochs in (20, 40) for rate in (0.003, 0.01, 0.03)]
    return [replace(row, training=training) for row, settings in ((NIGHT, heads), (DEEPER, deep)) for training in settings]


def tune(folder: Path, model: Path, sounds: Path, clips: Files) -> dict[str, Any]:
    """Each fold's and setting's mean top-1 of the folds that are held out in turn, and the best of each row."""
    found: dict[int, dict[Row, list[Result]]] = {}
    for judge in range(1, FOLDS + 1):
        found[judge] = {row: [] for row in grid()}
        for held_out in sorted(set(range(1, FOLDS + 1)) - {judge}):
            say(f"fold {judge} judges: fold {held_out} is held out")
            learned = set(range(1, FOLDS + 1)) - {judge, held_out}
            parts = data.Clips(in_folds(clips, learned), in_folds(clips, {held_out}))
            _try(folder / f"{judge}-{held_out}", model, sounds, parts, found[judge])
    return {str(judge): _told(results) for judge, results in found.items()}


def _try(folder: Path, model: Path, sounds: Path, clips: data.Clips, found: dict[Row, list[Result]]) -> None:
    """On one device, so that its nights share what they cache."""
    pack = pack_for(folder, model, clips, sounds)
    with device(folder / "device", model, MODEL, clips, data.AUDIOSET) as ctl:
        (base,) = [version["version"] for version in ctl.json("model", "list")["models"] if version["active"]]
        for row, nights in found.items():
            night = result_of(row, ctl.watch(ctl.submit(row.job_spec(pack))), Basis("the fold that is held out", "nothing yet"))
            if not night.promoted:
                raise JobFailed(f"{row.name}: the guard kept the model back, so that nothing can be asked of it")
            nights.append(replace(night, local_after=top1(ctl, clips.held_out)))
            ctl.json("model", "activate", MODEL, str(base))


def _told(results: dict[Row, list[Result]]) -> dict[str, Any]:
    def words(training: Training | None) -> str:
        assert training is not None
        return f"{training.epochs} epochs, rate {training.learning_rate:g}"

    means = {row: mean_of([night.promoted for night in nights], [night.local_after for night in nights]).value for row, nights in results.items()}
    best = {name: max((row for row in means if row.name == name), key=lambda row: means[row]) for name in {row.name for row in means}}
    return {
        "best": {name: words(row.training) for name, row in best.items()},
        "top1": {f"{row.name}, {words(row.training)}": mean for row, mean in means.items()},
    }
