"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import percent, table

_HEADER = ["dataset", "metric", "night", "global before → after", "local before → after", "guard", "seconds"]


def text(document: dict[str, Any]) -> str:
    return table(_HEADER, [_cells(run) for run in document["runs"]])


def _cells(run: dict[str, Any]) -> list[str]:
    def told(value: float | None) -> str:
        return percent(value) if run["task"] == "classify" or value is None else f"{value:.3f}"

    changes = [f"{told(run[f'{side}_before'])} → {told(run[f'{side}_after'])}" for side in ("global", "local")]
    guard = "passed" if run["state"] == "succeeded" else "kept back"
    return [run["dataset"], run["metric"], run["name"], *changes, guard, f"{run['seconds']:.1f}"]
