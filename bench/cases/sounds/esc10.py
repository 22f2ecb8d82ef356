"""ESC-10: YAMNet learns the sounds of a place, ten labels that stand for AudioSet's tags.

D_G is what of AudioSet is at hand, spoken digits tagged as speech; what the model says of every clip
itself is taught beside its tags. Held out is a fold of ESC-10: on the local side by its ten labels, on
the global side by AudioSet's tags.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.moilctl import Moilctl
from lib.results import Result, mean_of, result_of
from lib.samples import Files, count, hold_out_last
from lib.say import say
from lib.settings import Asked, Basis, Training

from . import data
from .world import answers, device, make_pack

MODEL = "yamnet"


@dataclass(frozen=True)
class Row(Asked):
    training: Training | None  # None: the night chooses, as one does whose job sets nothing

    def job_spec(self, pack: Path) -> dict[str, Any]:
        """The guard lets every model pass: here, forgetting is to be seen."""
        spec: dict[str, Any] = {"name": self.name, "model": MODEL, "global": {"pack": str(pack.resolve())}}
        if self.training is None:
            return spec
        return spec | {
            "settings": "defaults",
            "global": spec["global"] | {"alpha": self.alpha},
            "freeze": {"trainable_layers": self.trainable_layers},
            "cache": {"enabled": self.cached},
            "train": self.training.job_fields(),
            "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        }


# Chosen with --tune: the best of its grid, or within a point and a half of that, for each of the five folds.
HEAD = Training(epochs=120, learning_rate=0.1, distill=1.0)
DEEP = Training(epochs=40, learning_rate=0.003, distill=1.0)
ALL = Training(epochs=40, learning_rate=0.0003, distill=1.0)  # ten times as much diverges
ALPHA = 0.1
NEW = 0.1  # of the local clips come before the second night

NIGHT = Row("gdm_lf1_fmc", "GDM+LF(1)+FMC", ALPHA, 1, True, HEAD)
DEEPER = Row("gdm_lf3_fmc", "GDM+LF(3)+FMC", ALPHA, 3, True, DEEP)
AUTO = Row("auto", "no settings", 1.0, "chosen", True, None)
IN_ALL_FOLDS = [NIGHT, DEEPER, AUTO]
# In one fold: they are there for their seconds, and for what is forgotten.
IN_ONE_FOLD = [
    Row("centralised_fmc", "head on everything, FMC", 1.0, 1, True, HEAD),
    Row("centralised", "head on everything", 1.0, 1, False, HEAD),
    Row("gdm_lf1", "GDM+LF(1)", ALPHA, 1, False, HEAD),
    Row("gdm_lf3", "GDM+LF(3)", ALPHA, 3, False, DEEP),
    Row("gdm", "GDM, all layers", ALPHA, "all", False, ALL),
    Row("alpha0_lf1_fmc", "α=0, LF(1)+FMC", 0.0, 1, True, HEAD),
    Row("alpha0_lf3_fmc", "α=0, LF(3)+FMC", 0.0, 3, True, DEEP),
]


def basis_of(row: Row, fold: int) -> Basis:
    """One setting by hand serves all folds."""
    by_hand = Basis(f"fold {fold}", "the training clips of all folds, with --tune")
    return by_hand if row.training else by_hand.chosen_by_itself()


def esc10_case(folder: Path, model: Path, sounds: Path, clips: Files, quick: bool) -> dict[str, Any]:
    """{"runs", "esc10"}: a run a row, its accuracies means over the folds that it was run for."""
    found: dict[str, list[Result]] = {}
    for fold in [1] if quick else range(1, data.FOLDS + 1):
        parts = data.without_fold(clips, fold)
        pack = pack_for(folder / str(fold), model, parts, sounds)
        chosen = IN_ALL_FOLDS if quick or fold > 1 else IN_ALL_FOLDS + IN_ONE_FOLD
        for row in chosen:
            say(f"ESC-10, fold {fold}: {row.title}")
            found.setdefault(row.name, []).append(_run(folder / str(fold) / row.name, model, row, parts, pack, basis_of(row, fold)))
    rows = [row for row in IN_ALL_FOLDS + IN_ONE_FOLD if row.name in found]
    second = _second_night(folder / "second", model, data.without_fold(clips, 1), sounds)
    return {"runs": [_document(row, found[row.name]) for row in rows], "second_night": second, "clip_bytes": _clip_bytes(clips)}


def _speech(sounds: Path) -> data.Clips:
    """A recording in ten of each speaker's, and of those one in five held out."""
    every = [clip for name in data.speakers(sounds) for files in data.digits(sounds, name).values() for clip in files]
    tenth = [clip for clip in every if data.number_of(clip) % 10 == 0]
    return data.Clips({data.SPEECH: [c for c in tenth if data.number_of(c) >= 10]}, {data.SPEECH: [c for c in tenth if data.number_of(c) < 10]})


def pack_for(folder: Path, model: Path, clips: data.Clips, sounds: Path) -> Path:
    """D_G: speech to learn from; held out are speech and the clips that are, by AudioSet's tags."""
    folder.mkdir(parents=True)
    speech = _speech(sounds)
    held_out = {"+".join(data.AUDIOSET[label]): files for label, files in clips.held_out.items()}
    return make_pack(model, speech.train, held_out | speech.held_out, folder / "pack")


def _run(folder: Path, model: Path, row: Row, clips: data.Clips, pack: Path, basis: Basis) -> Result:
    """The night of a row on a device of its own. The local metric is top-1 among the ten labels."""
    with device(folder, model, MODEL, clips, data.AUDIOSET) as ctl:
        before = top1(ctl, clips.held_out)
        run = result_of(row, ctl.watch(ctl.submit(row.job_spec(pack))), basis)
        return replace(run, local_before=before, local_after=top1(ctl, clips.held_out))


def top1(ctl: Moilctl, held_out: Files) -> float:
    """How often a label's own tag is the likeliest of the ten labels' own tags."""
    own = {data.AUDIOSET[label][0]: label for label in held_out}
    files = [(label, clip) for label, clips in held_out.items() for clip in clips]
    said = answers(ctl, [clip for _, clip in files], len(data.tags()))
    right = [own[max(own, key=lambda tag: answer.get(tag, 0.0))] == label for (label, _), answer in zip(files, said)]
    return sum(right) / len(right)


def _second_night(folder: Path, model: Path, clips: data.Clips, sounds: Path) -> dict[str, Any]:
    """A night without a tenth of the local clips, and the next one with them."""
    split, basis = hold_out_last(clips.train, NEW), basis_of(NIGHT, 1)
    pack = pack_for(folder, model, clips, sounds)
    with device(folder / "device", model, MODEL, data.Clips(split.train, clips.held_out), data.AUDIOSET) as ctl:
        say("ESC-10: the first of two nights, and the second")
        first = result_of(NIGHT, ctl.watch(ctl.submit(NIGHT.job_spec(pack))), basis)
        for label, files in split.held_out.items():
            ctl.add_label(files, label, "train")
        second = result_of(NIGHT, ctl.watch(ctl.submit(NIGHT.job_spec(pack))), basis)
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
    document = asdict(runs[0]) | {"case": "esc10", "folds": len(runs), "maps_a_clip": data.PATCHES, "settings": row.training.job_fields() if row.training else None}
    promoted = [run.promoted for run in runs]
    document |= {"promoted": all(promoted), "kept_back": promoted.count(False), "judged_by": "; ".join(run.judged_by for run in runs)}
    for name in ("global_before", "global_after", "local_before", "local_after", "seconds"):
        document[name] = mean_of(promoted, [getattr(run, name) for run in runs]).value
    document["each_fold"] = [{name: getattr(run, name) for name in ("global_before", "global_after", "local_before", "local_after", "promoted")} for run in runs]
    return document


def _clip_bytes(clips: Files) -> dict[str, float]:
    """A clip's as a file, and as 16-bit samples."""
    files = [clip for members in clips.values() for clip in members]
    return {"file": fmean(clip.stat().st_size for clip in files), "samples": 5 * 16000 * 2.0}
