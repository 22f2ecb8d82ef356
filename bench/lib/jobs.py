"""Job descriptions, as a client of the daemon writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .settings import Row, Settings


def job_spec(settings: Settings, row: Row, model: str, pack: Path) -> dict[str, Any]:
    """The job of a row. The guard lets every model pass: here, forgetting is to be seen."""
    spec: dict[str, Any] = {
        "name": row.name,
        "model": model,
        "settings": "defaults",
        "global": {"pack": str(pack.resolve()), "alpha": row.alpha},
        "freeze": {"trainable_layers": row.trainable_layers},
        "cache": {"enabled": row.cached},
        "train": settings.night.job_fields(),
        "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        "seed": 1,
        "activate": row.activate,
        "evaluate_every_epoch": True,
    }
    if settings.threads:
        spec["threads"] = settings.threads
    return spec


def shortest(model: str, pack: Path) -> dict[str, Any]:
    """The job of a night that chooses its settings itself."""
    return {"name": "no settings", "model": model, "global": {"pack": str(pack.resolve())}}
