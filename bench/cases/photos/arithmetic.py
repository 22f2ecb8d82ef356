"""The paper's image case in our seconds: its dataset sizes and epochs, our measured cost of a sample.

The paper extrapolates the same way: nobody trains 3.2 years to know that it takes 3.2 years.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lib.results import Result

GLOBAL, LOCAL, MIXED = 1_281_167, 31_316, 44_128  # ImageNet, 225 birds, GDM(1 %) with the birds
CENTRALISED_EPOCHS, EPOCHS = 150, 60
PAPER = {"gdm": 74.0, "lf": 30.1, "fmc": 15.7}
PAPER_MINUTES = 48.0  # of its last row


@dataclass(frozen=True)
class Costs:
    """Seconds a sample."""

    training: float  # all layers, decoding included
    frozen: float  # LF(1) without cache, decoding included
    computing: float  # decoding and forward, once
    head: float  # LF(1) on cached features


def costs(runs: dict[str, Result], night: dict[str, Any]) -> Costs:
    """The caching stage is taken of a night that judges nothing."""
    computing = min(stages["cache"] for stages in night["ours_stages"]) / night["samples"]
    return Costs(runs["gdm"].sample_seconds, runs["gdm_lf1"].sample_seconds, computing, runs["gdm_lf1_fmc"].sample_seconds)


def extrapolate(cost: Costs) -> dict[str, Any]:
    seconds = {
        "centralised": (GLOBAL + LOCAL) * CENTRALISED_EPOCHS * cost.training,
        "gdm": MIXED * EPOCHS * cost.training,
        "gdm_lf1": MIXED * EPOCHS * cost.frozen,
        "gdm_lf1_fmc": MIXED * (cost.computing + EPOCHS * cost.head),
    }
    return {
        "seconds_a_sample": vars(cost),
        "seconds": seconds,
        "factors": [
            _factor("GDM(1%)", "gdm", seconds["centralised"] / seconds["gdm"], (GLOBAL + LOCAL) * CENTRALISED_EPOCHS / (MIXED * EPOCHS), "counting"),
            _factor("LF(1)", "lf", seconds["gdm"] / seconds["gdm_lf1"], cost.training / cost.computing, "training step / forward pass"),
            _factor("FMC", "fmc", seconds["gdm_lf1"] / seconds["gdm_lf1_fmc"], EPOCHS, "number of epochs"),
        ],
        "paper_minutes": PAPER_MINUTES,
    }


def _factor(title: str, name: str, ours: float, bound: float, what: str) -> dict[str, Any]:
    return {"factor": title, "ours": ours, "paper": PAPER[name], "bound": bound, "bound_is": what}
