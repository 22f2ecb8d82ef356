"""Command line: `python3 bench/stress/years` (scripts/bench nights calls it)."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.chart import Chart, Series  # noqa: E402
from lib.figures import machine, write_json  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from stress.years.table import text  # noqa: E402
from stress.years.years import Device, Years  # noqa: E402


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemon is stopped, too
    options = arguments()
    years = Years()

    def each(night: int) -> None:
        if night % 25 == 24 or night == options.nights - 1:
            print(f"· {night + 1} of {options.nights} nights, {years.seconds:.0f} s", file=sys.stderr, flush=True)
            write(years, options)

    with tempfile.TemporaryDirectory(prefix="moil-nights-") as folder:
        Device(Path(folder), options.seed).run(options.nights, years, each)
    write(years, options)
    print(text(years.document()))
    return 1 if years.failed else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench nights", description="Years of nights by a made-up clock.")
    parser.add_argument("--nights", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="30 nights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--svg", type=Path, metavar="FILE", default=ROOT / "build" / "nights.svg", help="the accuracy curve")
    options = parser.parse_args()
    if options.quick:
        options.nights = 30
    return options


def write(years: Years, options: argparse.Namespace) -> None:
    options.svg.parent.mkdir(parents=True, exist_ok=True)
    options.svg.write_text(chart(years).svg())
    if options.json:
        write_json({**years.document(), "seed": options.seed, "machine": machine()}, options.json)


def chart(years: Years) -> Chart:
    """Accuracies of what was in service after each night: means of neighbours over models that were kept back would tell nothing."""
    drawn = Chart("Accuracy by night", "night", "%")
    for model in sorted({night.model for night in years.nights}):
        for what in ("local", "global"):
            results = [(night.night, night.result) for night in years.nights if night.model == model and night.result]
            points = [(float(night), 100 * value) for night, result in results if (value := getattr(result, f"{what}_in_service")) is not None]
            drawn.add(Series(f"{model}, {what}", _thinned(points)))
    return drawn


def _thinned(points: list[tuple[float, float]], most: int = 200) -> list[tuple[float, float]]:
    """Means of neighbours, so that a thousand nights remain lines."""
    width = -(-len(points) // most)
    groups = [points[i : i + width] for i in range(0, len(points), width)] if width else []
    return [(sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups]


if __name__ == "__main__":
    sys.exit(main())
