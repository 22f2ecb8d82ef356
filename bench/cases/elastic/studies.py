"""The paper's studies: what each of elastic training's settings is worth, and time to accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import hypot
from statistics import mean
from typing import Any

from lib.table import percent, table

from .cases import BN_BIAS, FULL, HALF, LAST_LAYER, SEEDS, Method
from .jobs import Trial


@dataclass(frozen=True)
class Study:
    title: str
    methods: list[Method]
    text: Callable[[list[Trial]], str]
    seeds: list[int]
    every_epoch: bool = False  # accuracies by epoch are needed


def _varied(field: str, values: list[Any]) -> list[Method]:
    return [Method(HALF.name, HALF.rho, {field: value}) for value in values]


# --- how alike importances are ------------------------------------------------------------------
def cosine(a: list[float], b: list[float]) -> float:
    lengths = hypot(*a) * hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def importances(result: Trial) -> list[list[float]]:
    """By interval, of every tensor in the job's order."""
    return [interval["importance"] for interval in result.elastic["intervals"]] if result.elastic else []


def alike_after(result: Trial) -> dict[int, float]:
    """How alike importances are so many epochs apart, on average.

    Only intervals that were probed count: others go on with the importances before them.
    """
    probed = [i for i in result.elastic["intervals"] if i["probe_seconds"] > 0] if result.elastic else []
    alike: dict[int, list[float]] = {}
    for earlier, later in combinations(probed, 2):
        apart = later["epoch"] - earlier["epoch"]
        alike.setdefault(apart, []).append(cosine(earlier["importance"], later["importance"]))
    return {apart: mean(alike[apart]) for apart in sorted(alike)}


# --- tables -------------------------------------------------------------------------------------
def _variant_text(results: list[Trial], more: Callable[[Trial], list[str]] = lambda _: [], header: tuple[str, ...] = ()) -> str:
    head = ["setting", "seed", "seconds", "local accuracy", "choosing", "probe ms", "selector ms", *header]
    return table(head, [[*_variant_cells(result), *more(result)] for result in results])


def _variant_cells(result: Trial) -> list[str]:
    setting = ", ".join(str(value) for value in result.options.values())
    if result.seconds is None or result.elastic is None:
        return [setting, str(result.seed), "–", "–", "–", "–", "–"]
    probe, selector = ([1000 * i[key] for i in result.elastic["intervals"]] for key in ("probe_seconds", "selector_seconds"))
    figures = [f"{result.seconds:.1f}", percent(result.accuracy), percent(result.choosing_share, 2), f"{mean(probe):.1f}", f"{mean(selector):.1f}"]
    return [setting, str(result.seed), *figures]


def _interval_text(results: list[Trial]) -> str:
    often = next((r for r in results if r.options == {"interval_epochs": 1}), None)
    line = _alike_text(often) if often and often.elastic else "–"
    return _variant_text(results) + f"\ncosine of importances so many epochs apart: {line}"


def _alike_text(result: Trial) -> str:
    return ", ".join(f"{epochs}: {value:.2f}" for epochs, value in alike_after(result).items()) or "– (probed once alone)"


def _probe_text(results: list[Trial]) -> str:
    """The first interval's importances are of the same weights, however many samples probe them."""
    reference = next((found[0] for r in reversed(results) if (found := importances(r))), [])
    return _variant_text(results, lambda r: [f"{cosine(importances(r)[0], reference):.2f}" if importances(r) else "–"], ("as the largest probe",))


def reached(result: Trial, target: float) -> float | None:
    """The seconds of training until local accuracy first came to the target."""
    return next((point["seconds"] for point in result.curve if (point.get("local") or 0.0) >= target), None)


PARTS = [0.9, 0.95, 0.98, 1.0]  # of what full training ends with


def _accuracy_text(results: list[Trial]) -> str:
    full = next(r for r in results if r.method == FULL.name)
    targets = [part * (full.accuracy or 0.0) for part in PARTS]
    return table(["seconds to reach", *map(percent, targets)], list(_reached_cells(results, targets)))


def _reached_cells(results: list[Trial], targets: list[float]) -> Iterator[list[str]]:
    for result in results:
        times = [reached(result, target) for target in targets]
        name = Method(result.method, result.rho).title
        yield [name, *("–" if seconds is None else f"{seconds:.1f}" for seconds in times)]


STUDIES = {
    "importance": Study("what importance is", _varied("importance", ["loss", "gradient", "update"]), _variant_text, SEEDS),
    "pace": Study("how rho's time is shared among the intervals", _varied("pace", ["front", "even"]), _variant_text, SEEDS),
    "interval": Study("epochs between selections", _varied("interval_epochs", [1, 2, 3, 5, 10]), _interval_text, SEEDS[:1]),
    "probe": Study("samples of a probe", _varied("probe_samples", [1, 2, 4, 8, 16, 32]), _probe_text, SEEDS[:1]),
    "resolution": Study("the selector's resolution", _varied("resolution", [100, 1_000, 10_000, 100_000, 1_000_000]), _variant_text, SEEDS[:1]),
    "accuracy": Study("time to accuracy", [FULL, LAST_LAYER, BN_BIAS, HALF], _accuracy_text, SEEDS[:1], every_epoch=True),
}
