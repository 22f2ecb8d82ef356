"""Settings for each fold that judges, chosen without its samples: nested cross-validation.

Two folds at a time are held out, and every setting learns from the others. How good it is on one of the two
counts where the other one judges.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)
Pair = tuple[int, int]
TUNED_ON = "the folds that do not judge, each held out in turn"


@dataclass(frozen=True)
class Choice(Generic[S]):
    setting: S
    scores: dict[S, float]  # of every setting, the mean over the folds that do not judge


def choose(folds: int, judges: Collection[int], try_all: Callable[[Pair], Iterable[tuple[S, Mapping[int, float]]]]) -> dict[int, Choice[S]]:
    """By the fold that judges; of equals the first. try_all: every setting without a pair of folds, and its score on each of the two."""
    found: dict[int, dict[S, list[float]]] = {judge: {} for judge in judges}
    for pair in combinations(range(1, folds + 1), 2):
        if found.keys().isdisjoint(pair):
            continue
        for setting, scores in try_all(pair):
            for judge, other in (pair, pair[::-1]):
                if judge in found:
                    found[judge].setdefault(setting, []).append(scores[other])
    means = {judge: {setting: fmean(scores) for setting, scores in tried.items()} for judge, tried in found.items()}
    # Rounded: equals may differ in their last bits.
    return {judge: Choice(max(scores, key=lambda setting: round(scores[setting], 9)), scores) for judge, scores in means.items()}
