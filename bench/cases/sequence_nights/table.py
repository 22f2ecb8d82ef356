"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import percent, table

_HEADER = ["night", "metric", "global before → after", "local before → after", "guard", "seconds"]


def text(document: dict[str, Any]) -> str:
    return table(_HEADER, [_cells(night) for night in document["nights"]])


def _cells(night: dict[str, Any]) -> list[str]:
    def told(value: float | None) -> str:
        return percent(value) if night["metric"] == "accuracy" or value is None else f"{value:.3f}"

    changes = [f"{told(night[f'{side}_before'])} → {told(night[f'{side}_after'])}" for side in ("global", "local")]
    guard = "passed" if night["state"] == "succeeded" else "kept back"
    return [night["name"], night["metric"], *changes, guard, f"{night['seconds']:.0f}"]
