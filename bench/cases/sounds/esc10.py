"""ESC-10: YAMNet learns the sounds of a place, ten labels that stand for AudioSet's tags.

D_G is what of AudioSet is at hand, spoken digits tagged as speech; what the model says of every clip
itself is taught beside its tags. Held out is a fold of ESC-10: on the local side by its ten labels, on
the global side by AudioSet's tags. What a row is trained with is chosen for each fold without its clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.nested import TUNED_ON, Choice, Pair, choose
from lib.results import JobFailed, Result, mean_of, result_of
from lib.samples import Files, count, hold_out_last
from lib.say import say
from lib.settings import Basis, Layers, Training
from lib.sounds import data
from lib.sounds.places import ALPHA, MODEL, NIGHT, Row, pack_for, top1
from lib.sounds.sides import FOLDS, in_folds
from lib.sounds.world import device

from .peers import yamnet_head

NEW = 0.1  # of the local clips come before the second night

DEEPER = Row("gdm_lf3_fmc", "GDM+LF(3)+FMC", ALPHA, 3, True)
ALL = Row("gdm", "GDM, all layers", ALPHA, "all", False)
AUTO = Row("auto", "no settings", None, "chosen", True)
IN_ALL_FOLDS = [NIGHT, DEEPER, AUTO]
# In one fold: they are there for their seconds, and for what is forgotten.
IN_ONE_FOLD = [
    Row("centralised_fmc", "head on everything, FMC", 1.0, 1, True),
    Row("centralised", "head on everything", 1.0, 1, False),
    Row("gdm_lf1", "GDM+LF(1)", ALPHA, 1, False),
    Row("gdm_lf3", "GDM+LF(3)", ALPHA, 3, False),
    ALL,
    Row("alpha0_lf1_fmc", "α=0, LF(1)+FMC", 0.0, 1, True),
    Row("alpha0_lf3_fmc", "α=0, LF(3)+FMC", 0.0, 3, True),
]


def _grid(epochs: tuple[int, ...], rates: tuple[float, ...]) -> list[Training]:
    return [Training(epochs=each, learning_rate=rate, distill=1.0) for each in epochs for rate in rates]


# What rows that train so many layers choose from, and the row that tries it.
GRIDS: dict[Layers, tuple[Row, list[Training]]] = {
    1: (NIGHT, _grid((60, 120), (0.03, 0.1, 0.3))),
    3: (DEEPER, _grid((40,), (0.001, 0.003, 0.01))),
    "all": (ALL, _grid((40,), (0.0001, 0.0003))),
}
Chosen = dict[Layers, dict[int, Choice[Training]]]  # by layers that learn and the fold that judges


def basis_of(row: Row, fold: int) -> Basis:
    basis = Basis(f"fold {fold}", TUNED_ON)
    return basis if row.trainable_layers in GRIDS else basis.chosen_by_itself()


def esc10_case(folder: Path, model: Path, sounds: Path, clips: Files, quick: bool) -> dict[str, Any]:
    """{"runs", ...}: a run a row, its accuracies means over the folds that it was run for."""
    folds = [1] if quick else list(range(1, FOLDS + 1))
    judges: dict[Layers, list[int]] = {1: folds, 3: folds} if quick else {1: folds, 3: folds, "all": folds[:1]}
    chosen = {layers: _choose(folder / f"tried-{layers}", model, sounds, clips, layers, of) for layers, of in judges.items()}
    found: dict[str, list[Result]] = {}
    for fold in folds:
        parts = data.without_folds(clips, {fold})
        pack = pack_for(folder / str(fold), model, parts, sounds)
        for row in IN_ALL_FOLDS if quick or fold > 1 else IN_ALL_FOLDS + IN_ONE_FOLD:
            say(f"ESC-10, fold {fold}: {row.title}")
            found.setdefault(row.name, []).append(_run(folder / str(fold) / row.name, model, row, training_of(row, fold, chosen), parts, pack, basis_of(row, fold)))
    rows = [row for row in IN_ALL_FOLDS + IN_ONE_FOLD if row.name in found]
    return {
        "runs": [_document(row, found[row.name]) for row in rows],
        "chosen": {str(layers): {str(fold): _told(choice) for fold, choice in choices.items()} for layers, choices in chosen.items()},
        "peer": yamnet_head(folder / "peer", clips, folds),
        "second_night": _second_night(folder / "second", model, data.without_folds(clips, {1}), sounds, training_of(NIGHT, 1, chosen)),
        "clip_bytes": _clip_bytes(clips),
    }


def training_of(row: Row, fold: int, chosen: Chosen) -> Training | None:
    choices = chosen.get(row.trainable_layers)
    return choices[fold].setting if choices else None


def _choose(folder: Path, model: Path, sounds: Path, clips: Files, layers: Layers, judges: list[int]) -> dict[int, Choice[Training]]:
    def try_all(pair: Pair) -> Iterator[tuple[Training, dict[int, float]]]:
        """On one device, so that its nights share what they cache. What is held out teaches a night nothing."""
        row, grid = GRIDS[layers]
        say(f"settings of {row.title} without folds {pair[0]} and {pair[1]}")
        here, parts = folder / f"{pair[0]}-{pair[1]}", data.without_folds(clips, set(pair))
        pack = pack_for(here, model, parts, sounds)
        with device(here / "device", model, MODEL, parts, data.AUDIOSET) as ctl:
            (base,) = [version["version"] for version in ctl.json("model", "list")["models"] if version["active"]]
            for training in grid:
                job = ctl.watch(ctl.submit(row.job_spec(pack, training)))
                if job["state"] != "succeeded":
                    raise JobFailed(f"{row.name}: the job is {job['state']}: {job['message']}")
                yield training, {fold: top1(ctl, in_folds(parts.held_out, {fold})) for fold in pair}
                ctl.json("model", "activate", MODEL, str(base))

    return choose(FOLDS, judges, try_all)


def _told(choice: Choice[Training]) -> dict[str, Any]:
    def words(training: Training) -> str:
        return f"{training.epochs} epochs, rate {training.learning_rate:g}"

    return {"setting": words(choice.setting), "top1": {words(training): score for training, score in choice.scores.items()}}


def _run(folder: Path, model: Path, row: Row, training: Training | None, clips: data.Clips, pack: Path, basis: Basis) -> Result:
    """The night of a row on a device of its own. The local metric is top-1 among the ten labels; a model that was
    kept back cannot be asked."""
    with device(folder, model, MODEL, clips, data.AUDIOSET) as ctl:
        before = top1(ctl, clips.held_out)
        run = result_of(row, ctl.watch(ctl.submit(row.job_spec(pack, training))), basis)
        return replace(run, local_before=before, local_after=top1(ctl, clips.held_out) if run.promoted else None)


def _second_night(folder: Path, model: Path, clips: data.Clips, sounds: Path, training: Training | None) -> dict[str, Any]:
    """A night without a tenth of the local clips, and the next one with them."""
    split, basis = hold_out_last(clips.train, NEW), basis_of(NIGHT, 1)
    pack = pack_for(folder, model, clips, sounds)
    with device(folder / "device", model, MODEL, data.Clips(split.train, clips.held_out), data.AUDIOSET) as ctl:
        say("ESC-10: the first of two nights, and the second")
        first = result_of(NIGHT, ctl.watch(ctl.submit(NIGHT.job_spec(pack, training))), basis)
        for label, files in split.held_out.items():
            ctl.add_label(files, label, "train")
        second = result_of(NIGHT, ctl.watch(ctl.submit(NIGHT.job_spec(pack, training))), basis)
    return {
        "new_clips": count(split.held_out),
        "first_seconds": first.seconds,
        "second_seconds": second.seconds,
        "computed": second.computed,
        "reused": second.reused,
        "first_stages": first.stages,
        "second_stages": second.stages,
        "times_as_fast": first.seconds / second.seconds,
    }


def _document(row: Row, runs: list[Result]) -> dict[str, Any]:
    """Means are of what is in service after the nights."""
    document = {name: value for name, value in asdict(runs[0]).items() if not name.endswith("_after")}
    document |= {"case": "esc10", "folds": len(runs), "maps_a_clip": data.PATCHES}
    promoted = [run.promoted for run in runs]
    document |= {"promoted": all(promoted), "kept_back": promoted.count(False), "judged_by": "; ".join(run.judged_by for run in runs)}
    figures = ("global_before", "global_in_service", "local_before", "local_in_service", "seconds")
    document |= {name: mean_of(promoted, [getattr(run, name) for run in runs]).value for name in figures}
    document["each_fold"] = [{name: getattr(run, name) for name in (*figures, "promoted")} for run in runs]
    return document


def _clip_bytes(clips: Files) -> dict[str, float]:
    """A clip's as a file, and as 16-bit samples."""
    files = [clip for members in clips.values() for clip in members]
    return {"file": fmean(clip.stat().st_size for clip in files), "samples": 5 * 16000 * 2.0}
