"""How much better a night could have chosen, in points of local accuracy and in seconds.

A night that forgets more than half a point of global accuracy is no better choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

MOST_LOST = 0.005  # of global accuracy
ALIKE = 0.005  # of local accuracy
DIGITS = 9  # fractions that differ by less are equal


@dataclass(frozen=True)
class Outcome:
    name: str
    lost: float
    local: float
    seconds: float


def outcome_of(name: str, night: dict[str, Any]) -> Outcome:
    """Of what is in service after the night."""
    after = ("global_after", "local_after") if night["promoted"] else ("global_before", "local_before")
    return Outcome(name, night["global_before"] - night[after[0]], night[after[1]], night["seconds"])


def regret_of(night: Outcome, others: Sequence[Outcome]) -> dict[str, Any]:
    """The night's, beside those that did the same by hand: points to the best of them, and seconds to the cheapest that
    is as good as that one."""
    allowed = [other for other in others if round(other.lost, DIGITS) <= MOST_LOST]
    best = max(allowed, key=lambda other: other.local, default=night)
    alike = [other for other in allowed if round(best.local - other.local, DIGITS) <= ALIKE]
    cheapest = min(alike, key=lambda other: other.seconds, default=night)
    return {
        "regret_points": max(0.0, 100 * (best.local - night.local)),
        "regret_seconds": night.seconds - cheapest.seconds,
        "best": best.name,
        "cheapest": cheapest.name,
    }


def over_cases(cases: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The mean and the worst, and which case that is; None if no case has tried by hand what its night tried."""
    known = [case for case in cases if case["tried"] is not None]
    return {name: _mean_and_worst(known, f"regret_{name}") for name in ("points", "seconds")} if known else None


def _mean_and_worst(cases: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    worst = max(cases, key=lambda case: float(case[name]))
    return {"mean": fmean(case[name] for case in cases), "worst": worst[name], "worst_of": worst["dataset"]}
