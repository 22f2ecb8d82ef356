"""A row: one job of the daemon, trained in one way with one seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lib.results import result_of
from lib.settings import Basis, Row

from .cases import Case, Method


@dataclass(frozen=True)
class Trial:
    """What of a Result is compared. Accuracy is the local one, a fraction. No seconds: the job failed, and `remark`
    says why."""

    case: str
    model: str
    dataset: str
    method: str
    rho: float | None
    seed: int
    seconds: float | None = None  # of training; probes, selection and planning anew included
    accuracy: float | None = None
    peak_bytes: int | None = None  # resident during training, above the baseline
    planned_bytes: int | None = None  # elastic: of its largest selection
    epochs: int = 0
    learning_rate: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    global_before: float | None = None
    global_after: float | None = None
    remark: str | None = None
    elastic: dict[str, Any] | None = None  # as the job tells it
    curve: list[dict[str, Any]] = field(default_factory=list)
    promoted: bool = False
    judged_by: str = ""
    tuned_on: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def choosing_share(self) -> float | None:
        """What probes and selector took of the training's seconds."""
        if not self.elastic or not self.seconds:
            return None
        return sum(i["probe_seconds"] + i["selector_seconds"] for i in self.elastic["intervals"]) / self.seconds


def trials_of(document: dict[str, Any]) -> list[Trial]:
    """The rows of a benchmark's JSON. Those that do not say whether their model was promoted had a guard that let all pass."""
    return [Trial(**{"promoted": row["seconds"] is not None} | row) for row in document["rows"]]


def job_spec(case: Case, method: Method, seed: int, model: str, pack: Path, *, every_epoch: bool = False) -> dict[str, Any]:
    """The guard lets every model pass, and none is put in service: all begin with the same network.

    Batch norms learn, since one of the ways is to train little else.
    """
    training = case.training.job_fields()
    if method.elastic is None:
        training["method"] = method.name
    return {
        "name": f"{case.name}, {method.title}"[:200],
        "model": model,
        "settings": "defaults",
        "global": {"pack": str(pack.resolve()), "alpha": case.alpha},
        "freeze": {"trainable_layers": case.trainable_layers, "batch_norms": False},
        "cache": {"enabled": True},
        "train": training,
        "elastic": method.elastic,
        "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        "seed": seed,
        "activate": False,
        "evaluate_every_epoch": every_epoch,
    }


def blank(case: Case, method: Method, seed: int) -> Trial:
    rate = case.training.learning_rate
    told: dict[str, Any] = {"learning_rate": rate, "options": method.options, "judged_by": case.judged_by, "tuned_on": case.tuned_on}
    return Trial(case.name, case.model, case.dataset, method.name, method.rho, seed, **told)


def trial_of(case: Case, method: Method, seed: int, job: dict[str, Any]) -> Trial:
    """From what `moilctl job get --json` says of a job. Throws JobFailed as result_of() does."""
    row = Row(method.name, method.title, case.alpha, case.trainable_layers, cached=True)
    result = result_of(row, job, Basis(case.judged_by, case.tuned_on))
    details = job["result"]["details"]
    memory, elastic = details["memory"], details.get("elastic")
    return replace(
        blank(case, method, seed),
        seconds=result.train_seconds,
        epochs=result.epochs,
        accuracy=result.local_after,
        curve=result.curve,
        global_before=result.global_before,
        global_after=result.global_after,
        peak_bytes=memory["training_peak_bytes"],
        planned_bytes=memory["training_plan_bytes"],
        elastic=elastic,
        remark=elastic["remark"] if elastic else None,
        promoted=result.promoted,
    )
