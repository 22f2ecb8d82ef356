"""ESC-10: YAMNet learns the sounds of a place, ten labels that stand for AudioSet's tags.

D_G is what of AudioSet is at hand, spoken digits tagged as speech; what the model says of every clip
itself is taught beside its tags. Held out is a fold of ESC-10: on the local side by its ten labels, on
the global side by AudioSet's tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from night.moilctl import Moilctl
from night.night import say
from night.results import Run, run_of_job
from night.samples import Files
from night.settings import Layers, Training

from . import data
from .world import answers, device, make_pack

MODEL = "yamnet"


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    alpha: float
    trainable_layers: Layers
    cached: bool
    training: Training
    views: int = 1

    def job_spec(self, pack: Path) -> dict[str, Any]:
        """The guard lets every model pass: here, forgetting is to be seen."""
        return {
            "name": self.name,
            "model": MODEL,
            "settings": "defaults",
            "global": {"pack": str(pack.resolve()), "alpha": self.alpha},
            "freeze": {"trainable_layers": self.trainable_layers},
            "cache": {"enabled": self.cached},
            "augment": {"views": self.views},
            "train": self.training.job_fields(),
            "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        }


HEAD = Training(epochs=20, learning_rate=0.03, distill=1.0)
DEEP = Training(epochs=10, learning_rate=0.003, distill=1.0)
ALPHA = 0.1

NIGHT = Row("gdm_lf1_fmc", "GDM+LF(1)+FMC", ALPHA, 1, True, HEAD)


def rows() -> list[Row]:
    return [
        Row("centralised_fmc", "head on everything, FMC", 1.0, 1, True, HEAD),
        Row("centralised", "head on everything", 1.0, 1, False, HEAD),
        NIGHT,
        Row("gdm_lf1", "GDM+LF(1)", ALPHA, 1, False, HEAD),
        Row("gdm_lf3_fmc", "GDM+LF(3)+FMC", ALPHA, 3, True, DEEP),
        Row("gdm_lf3", "GDM+LF(3)", ALPHA, 3, False, DEEP),
        Row("gdm", "GDM, all layers", ALPHA, "all", False, DEEP),
        Row("alpha0_lf1_fmc", "α=0, LF(1)+FMC", 0.0, 1, True, HEAD),
    ]


def tags_of(label: str) -> str:
    return "+".join(data.AUDIOSET[label])


def pack_for(folder: Path, model: Path, clips: data.Clips, speech: data.Clips) -> Path:
    train: Files = {data.SPEECH: [clip for clips in speech.train.values() for clip in clips]}
    held_out: Files = {tags_of(label): files for label, files in clips.held_out.items()}
    held_out[data.SPEECH] = [clip for clips in speech.held_out.values() for clip in clips]
    return make_pack(model, train, held_out, folder / "pack")


def top1(ctl: Moilctl, held_out: Files) -> float:
    """How often a label's own tag is the likeliest of the ten labels' own tags."""
    own = {data.AUDIOSET[label][0]: label for label in held_out}
    files = [(label, clip) for label, clips in held_out.items() for clip in clips]
    right = 0
    for (label, _), said in zip(files, answers(ctl, [clip for _, clip in files], len(data.tags()))):
        right += own[max(own, key=lambda tag: said.get(tag, 0.0))] == label
    return right / len(files)


def run_row(folder: Path, model: Path, row: Row, clips: data.Clips, pack: Path) -> tuple[Run, dict[str, Any]]:
    """The night of a row on a device of its own; with it the top-1 among the ten labels and AUCs."""
    say(row.title)
    with device(folder / row.name, model, MODEL, clips, data.AUDIOSET) as ctl:
        before = top1(ctl, clips.held_out)
        job = ctl.watch(ctl.submit(row.job_spec(pack)))
        run = run_of_job(row, job)
        more = {"auc": {"local_before": run.local_before, "local_after": run.local_after}, "scores": job["result"]["details"].get("scores")}
        run.local_before, run.local_after = before, top1(ctl, clips.held_out)
    return run, more
