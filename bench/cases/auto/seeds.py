"""What the nights of a row come to over several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

FIGURES = ("global_before", "global_after", "local_before", "local_after", "seconds")

Night = dict[str, Any]  # Result.told(), with the second night under "second"


def of_seeds(runs: Sequence[Night]) -> Night:
    """The medians of figures, the least and the most of each; the rest is the first night's. `runs` are all of them."""
    known = {name: [run[name] for run in runs if run[name] is not None] for name in FIGURES}
    document = {**runs[0], **{name: median(values) if values else None for name, values in known.items()}}
    document["least"] = {name: min(values, default=None) for name, values in known.items()}
    document["most"] = {name: max(values, default=None) for name, values in known.items()}
    document["kept_back"] = sum(not run["promoted"] for run in runs)
    document["promoted"] = document["kept_back"] == 0
    document["runs"] = [{name: value for name, value in run.items() if name != "second"} for run in runs]
    if "second" in document:
        document["second"] = of_seeds([run["second"] for run in runs])
    return document
