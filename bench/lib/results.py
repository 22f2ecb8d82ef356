"""What nights come to, in the shape that reports and tables take, and what several come to together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from .settings import Asked, Basis, Layers
from .table import percent


@dataclass(frozen=True)
class Memory:
    """Peak bytes: the plan's, and VmHWM of the worker above what it held before the model."""

    predicted_bytes: int
    measured_bytes: int


@dataclass(frozen=True)
class Unset(Asked):
    """The row of a night whose job sets nothing."""

    alpha: float | None = None
    trainable_layers: Layers = "chosen"
    cached: bool = True


@dataclass(frozen=True)
class Result(Asked):
    """What a night came to. Accuracies are fractions, None if nothing judges them; those after the night are of the new
    model, whether it was promoted or not."""

    global_before: float | None
    global_after: float | None
    local_before: float | None
    local_after: float | None
    promoted: bool  # False: the guard kept the new model back, and the old one stays in service
    judged_by: str
    tuned_on: str
    epochs: int
    seconds: float
    metric: str = "accuracy"
    curve: list[dict[str, Any]] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each stage
    train_seconds: float = 0.0  # of training alone, without what each epoch's accuracies took
    train_cpu_seconds: float = 0.0  # of all threads meanwhile, reading ahead included
    samples: dict[str, int] = field(default_factory=dict)  # trained on and held out
    computed: int = 0  # feature maps
    reused: int = 0
    feature_bytes: int = 0
    memory: Memory | None = None
    chosen: dict[str, Any] | None = None  # by a night without settings, and what it tried
    trials: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def told(self, *names: str) -> dict[str, Any]:
        """These members, and what tells how far they can be trusted."""
        return {name: getattr(self, name) for name in dict.fromkeys([*names, "promoted", "judged_by", "tuned_on"])}

    @property
    def global_in_service(self) -> float | None:
        """What the model that is in service after the night knows."""
        return self.global_after if self.promoted else self.global_before

    @property
    def local_in_service(self) -> float | None:
        return self.local_after if self.promoted else self.local_before

    @property
    def sample_seconds(self) -> float:
        """Training's, a sample and epoch."""
        return self.train_seconds / (self.epochs * (self.samples["global"] + self.samples["local"]))

    @property
    def epoch_seconds(self) -> float:
        return self.train_seconds / max(1, self.epochs)

    @property
    def epoch_cpu_seconds(self) -> float:
        return self.train_cpu_seconds / max(1, self.epochs)


class JobFailed(RuntimeError):
    """A job that did not come to a result."""


def result_of(row: Asked, job: dict[str, Any], basis: Basis) -> Result:
    """From what `moilctl job get --json` says of a finished job. JobFailed if it came to no result."""
    if job["state"] not in ("succeeded", "rejected-by-guard"):
        raise JobFailed(f"{row.name}: the job is {job['state']}: {job['message']}")
    result = job["result"]
    details = result.get("details", {})
    cache, auto = details.get("cache", {}), details.get("auto") or {}
    memory = details.get("memory")
    return Result(
        name=row.name,
        title=row.title,
        alpha=row.alpha,
        trainable_layers=row.trainable_layers,
        cached=row.cached,
        global_before=result["global_before"],
        global_after=result["global_after"],
        local_before=result["local_before"],
        local_after=result["local_after"],
        promoted=job["state"] == "succeeded",
        judged_by=basis.judged_by,
        tuned_on=basis.tuned_on,
        epochs=result["epochs"],
        seconds=result["seconds"],
        metric=result.get("metric", "accuracy"),
        curve=details.get("curve", []),
        stages=details.get("stages", {}),
        train_seconds=details.get("train_seconds", 0.0),
        train_cpu_seconds=details.get("train_cpu_seconds", 0.0),
        samples=details.get("samples", {}),
        computed=cache.get("computed", 0),
        reused=cache.get("reused", 0),
        feature_bytes=cache.get("feature_bytes", 0),
        memory=Memory(memory["predicted_bytes"], memory["measured_bytes"]) if memory else None,
        chosen=auto.get("chosen"),
        trials=auto.get("trials", []),
        why=auto.get("why", ""),
    )


@dataclass(frozen=True)
class Mean:
    """A figure's mean over several nights; if the guard kept some of their models back, it says so wherever it stands."""

    value: float
    nights: int
    kept_back: int

    def text(self, digits: int = 1) -> str:
        return percent(self.value, digits) + self.mark

    @property
    def mark(self) -> str:
        return kept_back_mark(self.kept_back, self.nights)


def mean_of(promoted: Sequence[bool], figures: Sequence[float | None]) -> Mean:
    """The mean of a figure of each night; nights that do not have it are left out. ValueError if none has it."""
    known = [(good, figure) for good, figure in zip(promoted, figures, strict=True) if figure is not None]
    if not known:
        raise ValueError("this figure is known of no night")
    return Mean(fmean(figure for _, figure in known), len(known), sum(not good for good, _ in known))


def kept_back_mark(kept_back: int, nights: int) -> str:
    """What stands behind a mean over models of which some are not in service."""
    return f" ({kept_back} of {nights} kept back)" if kept_back else ""
