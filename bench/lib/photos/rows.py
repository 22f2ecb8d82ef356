"""The two nights of the photos, and what they are trained with.

One set of settings for every local dataset. They were chosen with `scripts/bench image-night --tune`, which sees
training photos alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lib import settings
from lib.settings import Asked, Basis


@dataclass(frozen=True)
class Training(settings.Training):
    backbone_factor: float = 1.0
    freeze_batch_norms: bool = True
    clip_norm: float | None = None
    warmup_epochs: float = 0.0
    views: int = 1

    def job_fields(self) -> dict[str, Any]:
        fields = super().job_fields()
        fields["optimizer"]["backbone_factor"] = self.backbone_factor
        fields["schedule"]["warmup_epochs"] = self.warmup_epochs
        fields["clip_norm"] = self.clip_norm
        return fields


@dataclass(frozen=True)
class Row(Asked):
    training: Training
    dtype: str = "fp32"
    # A job of the same night before it: this one starts from its model. A classifier with fresh rows
    # would pull at the layers below it before it knows what to ask of them.
    after: Row | None = None
    # One epoch of a part of the photos is run, and the seconds of all of it are worked out from that.
    in_part: bool = False

    def job_spec(self, pack: Path, model: str, *, activate: bool = False) -> dict[str, Any]:
        """The guard lets every model pass: here, forgetting is to be seen."""
        training = replace(self.training, epochs=1) if self.in_part else self.training
        return {
            "name": self.name,
            "model": model,
            "settings": "defaults",
            "global": {"pack": str(pack.resolve()), "alpha": self.alpha, "limit": PART_OF_GLOBAL if self.in_part else None},
            "freeze": {
                "trainable_layers": self.trainable_layers,
                "batch_norms": training.freeze_batch_norms,
            },
            "cache": {"enabled": self.cached, "dtype": self.dtype},
            "augment": {"views": training.views},
            "train": training.job_fields(),
            "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
            "activate": activate,
        }


# What every row stands on, and a night of a world in which nothing is held out.
BASIS = Basis("imagenette-val, and photos of the local classes", "a quarter of the local training photos, and imagenette-train")
UNJUDGED = Basis("nothing", BASIS.tuned_on)

PART_OF_GLOBAL = 125  # photos

DEEP_LAYERS = 14  # the last four blocks, the last convolution and the classifier

HEAD = Training(epochs=20, learning_rate=0.03, distill=1.0)
DEEP = Training(epochs=8, learning_rate=0.02, backbone_factor=0.5, distill=1.0, clip_norm=2.0, warmup_epochs=1.0, views=4)

NIGHT = Row("gdm_lf1_fmc", "GDM+LF(1)+FMC", 1.0, 1, True, HEAD)
DEEP_NIGHT = Row(f"gdm_lf{DEEP_LAYERS}_fmc", f"GDM+LF(1), then LF({DEEP_LAYERS}), +FMC", 1.0, DEEP_LAYERS, True, DEEP, after=NIGHT)
