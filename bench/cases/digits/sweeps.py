"""The thesis's two sweeps (figures 5.5 to 5.8): over the sharing ratio, and over LF(n)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.chart import Chart, Series
from lib.settings import Layers, Row, Settings
from lib.table import alpha_text, percent, table

Run = dict[str, Any]  # Result.to_json()

ALPHAS = [0.0, 0.001, 0.01, 0.1, 1.0]
LAYERS: list[Layers] = [1, 3, 5, 9, 15, "all"]


@dataclass(frozen=True)
class Sweep:
    name: str  # also of the files
    rows: list[Row]


def alpha_sweep(alphas: list[float]) -> Sweep:
    rows = [Row(f"alpha_{alpha:g}", f"α={alpha_text(alpha)}", alpha, "all", cached=False) for alpha in alphas]
    return Sweep("sweep-alpha", rows)


def layers_sweep(settings: Settings, counts: list[Layers]) -> Sweep:
    alpha = settings.alpha
    rows = [Row(f"lf_{n}", f"LF({n})", alpha, n, cached=n != "all") for n in counts]
    return Sweep("sweep-layers", rows)


def sweeps(settings: Settings) -> list[Sweep]:
    return [alpha_sweep(ALPHAS), layers_sweep(settings, LAYERS)]


def title_of(name: str, alpha: float) -> str:
    """A sweep's title, by its name and the scenario's sharing ratio."""
    return {"sweep-alpha": "GDM(α), all layers trained", "sweep-layers": f"GDM({alpha_text(alpha)})+LF(n)+FMC"}[name]


def sweep_tables(title: str, runs: list[Run]) -> str:
    """Where each run ended, then its accuracies epoch by epoch."""
    parts = [f"{title}\n\n{_ends(runs)}"]
    for accuracy in ("global", "local"):
        parts.append(f"{accuracy} accuracy by epoch\n\n{_by_epoch(runs, accuracy)}")
    return "\n\n".join(parts)


def write_charts(sweep: Sweep, alpha: float, runs: list[Run], folder: Path) -> list[Path]:
    """One SVG each for global and local accuracy over the epochs."""
    files = []
    for accuracy in ("global", "local"):
        chart = Chart(f"{accuracy.capitalize()} accuracy, {title_of(sweep.name, alpha)}", "epoch", "accuracy (%)")
        for run in runs:
            chart.add(Series(run["title"], _points(run, accuracy)))
        file = folder / f"{sweep.name}-{accuracy}.svg"
        file.write_text(chart.svg())
        files.append(file)
    return files


def _points(run: Run, accuracy: str) -> list[tuple[float, float]]:
    before = run["global_before"] if accuracy == "global" else run["local_before"]
    start = [] if before is None else [(0.0, 100 * before)]
    return start + [(point["epoch"], 100 * point[accuracy]) for point in run["curve"] if point.get(accuracy) is not None]


def _ends(runs: list[Run]) -> str:
    rows = [[run["title"], percent(run["global_after"]), percent(run["local_after"]), f"{run['seconds']:.1f}"] for run in runs]
    return table(["run", "global after", "local after", "seconds"], rows)


def _by_epoch(runs: list[Run], accuracy: str) -> str:
    epochs = sorted({point["epoch"] for run in runs for point in run["curve"]})
    shown = _thinned(epochs, 10)
    rows = []
    for run in runs:
        found = {point["epoch"]: point.get(accuracy) for point in run["curve"]}
        rows.append([run["title"], *(percent(found.get(epoch)) for epoch in shown)])
    return table(["run", *map(str, shown)], rows)


def _thinned(epochs: list[int], most: int) -> list[int]:
    """At most about `most` of them, evenly, always with the last."""
    step = max(1, -(-len(epochs) // most))
    return epochs[::-1][::step][::-1]
