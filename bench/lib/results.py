"""What a run came to, in the shape that reports and tables take."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .settings import Layers, Row


@dataclass
class Memory:
    """Peak bytes: the plan's, and VmHWM of the worker above what it held before the model."""

    predicted_bytes: int
    measured_bytes: int


@dataclass
class Run:
    """A row of the table. Accuracies are fractions, measured on held-out samples."""

    name: str
    title: str
    alpha: float
    trainable_layers: Layers
    cached: bool
    global_before: float | None
    global_after: float
    local_before: float | None
    local_after: float
    epochs: int
    seconds: float
    curve: list[dict[str, Any]] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)  # seconds of each stage
    train_seconds: float = 0.0  # of training alone, without what each epoch's accuracies took
    train_cpu_seconds: float = 0.0  # of all threads meanwhile, reading ahead included
    samples: dict[str, int] = field(default_factory=dict)  # trained on and held out
    computed: int = 0  # feature maps
    reused: int = 0
    feature_bytes: int = 0
    memory: Memory | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def sample_seconds(self) -> float:
        """Of training, a sample and epoch."""
        return self.train_seconds / (self.epochs * (self.samples["global"] + self.samples["local"]))

    @property
    def epoch_seconds(self) -> float:
        return self.train_seconds / max(1, self.epochs)

    @property
    def epoch_cpu_seconds(self) -> float:
        return self.train_cpu_seconds / max(1, self.epochs)


class JobFailed(RuntimeError):
    """A job that did not come to a result."""


def result_of(name: str, job: dict[str, Any]) -> dict[str, Any]:
    """The result of a job that came to one; JobFailed, beginning with `name`."""
    if job["state"] not in ("succeeded", "rejected-by-guard"):
        raise JobFailed(f"{name}: the job is {job['state']}: {job['message']}")
    result: dict[str, Any] = job["result"]
    return result


def run_of_job(row: Row, job: dict[str, Any]) -> Run:
    """The row of a finished job, from what `moilctl job get --json` says of it."""
    result = result_of(row.name, job)
    details = result.get("details", {})
    cache = details.get("cache", {})
    memory = details.get("memory")
    return Run(
        name=row.name,
        title=row.title,
        alpha=row.alpha,
        trainable_layers=row.trainable_layers,
        cached=row.cached,
        global_before=result["global_before"],
        global_after=result["global_after"],
        local_before=result["local_before"],
        local_after=result["local_after"],
        epochs=result["epochs"],
        seconds=result["seconds"],
        curve=details.get("curve", []),
        stages=details.get("stages", {}),
        train_seconds=details.get("train_seconds", 0.0),
        train_cpu_seconds=details.get("train_cpu_seconds", 0.0),
        samples=details.get("samples", {}),
        computed=cache.get("computed", 0),
        reused=cache.get("reused", 0),
        feature_bytes=cache.get("feature_bytes", 0),
        memory=Memory(memory["predicted_bytes"], memory["measured_bytes"]) if memory else None,
    )
