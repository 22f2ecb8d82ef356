"""The sounds of a place: YAMNet with ESC-10, ten labels that stand for AudioSet's tags.

D_G is what of AudioSet is at hand, spoken digits tagged as speech. Held out is a fold of ESC-10: on the local side by
its ten labels, on the global side by AudioSet's tags.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.moilctl import Moilctl
from lib.samples import Files
from lib.settings import Asked, Training

from . import data
from .world import answers, make_pack

MODEL = "yamnet"
ALPHA = 0.1
HEAD = Training(epochs=120, learning_rate=0.1, distill=1.0)  # one for all folds, which clips of all had a say in


@dataclass(frozen=True)
class Row(Asked):
    def job_spec(self, pack: Path, training: Training | None) -> dict[str, Any]:
        """The guard lets every model pass: here, forgetting is to be seen. training None: the night chooses, as
        one does whose job sets nothing."""
        spec: dict[str, Any] = {"name": self.name, "model": MODEL, "global": {"pack": str(pack.resolve())}}
        if training is None:
            return spec
        return spec | {
            "settings": "defaults",
            "global": spec["global"] | {"alpha": self.alpha},
            "freeze": {"trainable_layers": self.trainable_layers},
            "cache": {"enabled": self.cached},
            "train": training.job_fields(),
            "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        }


NIGHT = Row("gdm_lf1_fmc", "GDM+LF(1)+FMC", ALPHA, 1, True)


def pack_for(folder: Path, model: Path, clips: data.Clips, sounds: Path) -> Path:
    """D_G: speech to learn from; held out are speech and the clips that are, by AudioSet's tags."""
    folder.mkdir(parents=True)
    speech = _speech(sounds)
    held_out = {"+".join(data.AUDIOSET[label]): files for label, files in clips.held_out.items()}
    return make_pack(model, speech.train, held_out | speech.held_out, folder / "pack")


def _speech(sounds: Path) -> data.Clips:
    """A recording in ten of each speaker's, and of those one in five held out."""
    every = [clip for name in data.speakers(sounds) for files in data.digits(sounds, name).values() for clip in files]
    tenth = [clip for clip in every if data.number_of(clip) % 10 == 0]
    return data.Clips({data.SPEECH: [c for c in tenth if data.number_of(c) >= 10]}, {data.SPEECH: [c for c in tenth if data.number_of(c) < 10]})


def top1(ctl: Moilctl, held_out: Files) -> float:
    """How often a label's own tag is the likeliest of the ten labels' own tags."""
    own = {data.AUDIOSET[label][0]: label for label in held_out}
    files = [(label, clip) for label, clips in held_out.items() for clip in clips]
    said = answers(ctl, [clip for _, clip in files], len(data.tags()))
    right = [own[max(own, key=lambda tag: answer.get(tag, 0.0))] == label for (label, _), answer in zip(files, said)]
    return sum(right) / len(right)
