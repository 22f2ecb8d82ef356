"""What a night is run with: plain values, shared by every row of a table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

Layers = int | str  # LF(n), or "all"


@dataclass(frozen=True)
class Training:
    """Optimizer, schedule and length of one training run."""

    epochs: int
    batch: int = 32
    optimizer: str = "sgd"
    learning_rate: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 0.0
    schedule: str = "cosine"
    distill: float = 0.0  # of a night, which asks for it by default; pretraining has no teacher

    def job_fields(self) -> dict[str, Any]:
        """As the "train" object of a job description."""
        optimizer: dict[str, Any] = {"type": self.optimizer, "learning_rate": self.learning_rate}
        optimizer["weight_decay"] = self.weight_decay
        if self.optimizer.startswith("sgd"):
            optimizer["momentum"] = self.momentum
        return {
            "epochs": self.epochs,
            "batch": self.batch,
            "distill": self.distill,
            "optimizer": optimizer,
            "schedule": {"type": self.schedule},
        }

    def options(self) -> list[str]:
        """As options of `moil-pretrain train`."""
        words = {
            "--epochs": self.epochs,
            "--batch": self.batch,
            "--optimizer": self.optimizer,
            "--learning-rate": self.learning_rate,
            "--weight-decay": self.weight_decay,
            "--schedule": self.schedule,
        }
        if self.optimizer.startswith("sgd"):
            words["--momentum"] = self.momentum
        return [str(word) for pair in words.items() for word in pair]


@dataclass(frozen=True)
class Basis:
    """What a night's accuracies are measured on, and what its settings were chosen with."""

    judged_by: str
    tuned_on: str

    def chosen_by_itself(self) -> Basis:
        """The same of a night that has no settings: it tries some on a part of what it learns from."""
        return Basis(self.judged_by, "a part of the training samples, in the night's own trials")


@dataclass(frozen=True)
class Asked:
    """A row of a table, as it is before its night. alpha: None if the job sets nothing."""

    name: str
    title: str
    alpha: float | None
    trainable_layers: Layers
    cached: bool


@dataclass(frozen=True)
class Row(Asked):
    """One job of the table. `activate` puts its model in service, for the night that follows."""

    alpha: float
    activate: bool = False


@dataclass(frozen=True)
class Settings:
    """A scenario: which classes are whose, and how everything is trained."""

    model: Path
    global_classes: list[str]
    local_classes: list[str]
    pretraining: Training
    centralised: Training
    night: Training
    alpha: float
    trainable_layers: int
    kept_back: int  # local samples that are labelled only before the second night
    judged_by: str
    tuned_on: str
    threads: int | None = None
    reduced: list[str] = field(default_factory=list)  # what was made smaller than the full run

    @property
    def classes(self) -> list[str]:
        return self.global_classes + self.local_classes

    @property
    def basis(self) -> Basis:
        return Basis(self.judged_by, self.tuned_on)

    def rows(self) -> list[Row]:
        n = self.trainable_layers
        return [
            Row("alpha0", "α=0, all layers", 0.0, "all", cached=False),
            Row("gdm", "GDM", self.alpha, "all", cached=False),
            Row("gdm_lf", "GDM+LF", self.alpha, n, cached=False),
            Row("gdm_lf_fmc", "GDM+LF+FMC", self.alpha, n, cached=True, activate=True),
        ]

    def with_night(self, **changes: Any) -> Settings:
        return replace(self, night=replace(self.night, **changes))
