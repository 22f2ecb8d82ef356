"""Command line: `python3 bench/cases/photos` (scripts/bench image-night calls it)."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.photos import arithmetic, nights, peers, table  # noqa: E402
from cases.photos.rows import GRID, rows  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.photos import data  # noqa: E402
from lib.photos.rows import DEEP_NIGHT, NIGHT, Row  # noqa: E402
from lib.photos.world import MODEL, World, fetch_model, world  # noqa: E402
from lib.results import Result  # noqa: E402
from lib.samples import count  # noqa: E402
from lib.table import percent  # noqa: E402

TURNS = 3  # of a night, ours and PyTorch's; medians count


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="image-night", description="ImageNet's network, personalized with other photos.")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures")
    parser.add_argument("--quick", action="store_true", help="slow rows in part, no nights beside PyTorch's")
    parser.add_argument("--tune", action="store_true", help="try settings on a part of the training photos")
    parser.add_argument("--no-peers", action="store_true", help="without PyTorch")
    parser.add_argument("--nights", action="store_true", help="the nights beside PyTorch's, and the second night, alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def run_rows(chosen: list[Row], folder: Path, model: Path, photos: data.Photos, place: World) -> list[Result]:
    """Whole rows judge accuracy; rows in part run beside them and judge nothing."""
    runs = {row.name: place.run(row) for row in chosen if not row.in_part}
    parts = [row for row in chosen if row.in_part]
    if parts:
        local, shared = count(photos.local_train), runs[NIGHT.name].samples["global"]
        with world(folder / "parts", model, data.in_part(photos), judged=False) as part:
            runs |= {row.name: whole_run(row, part.run(row), local + round(row.alpha * shared)) for row in parts}
    return [runs[row.name] for row in chosen]


def whole_run(row: Row, run: Result, samples: int) -> Result:
    """The seconds of all epochs of so many samples; the rest of the night is as it was."""
    return replace(run, seconds=run.seconds + row.training.epochs * samples * run.sample_seconds - run.train_seconds)


def run_document(row: Row, run: Result) -> dict[str, Any]:
    document = run.to_json()
    document["distilled"] = row.training.distill > 0 and row.alpha > 0
    document["epochs"] = row.training.epochs
    document["in_part"] = row.in_part
    document["after"] = row.after.name if row.after else None
    spec = row.job_spec(Path("/"), MODEL)
    document["settings"] = {part: spec[part] for part in ("freeze", "augment", "train")}
    if row.in_part:  # not trained to its end: no accuracy to speak of
        document["global_after"] = document["local_after"] = None
    return document


def tune(options: argparse.Namespace, folder: Path, model: Path) -> None:
    photos = data.tuning(folder, options.local_train)
    with world(folder / "tune", model, photos) as place:
        for row in GRID:
            run = place.run(row)
            print(
                f"LF({row.trainable_layers}){' after LF(1)' if row.after else ''} {row.training}: global {percent(run.global_before)} -> "
                f"{percent(run.global_after)}, local {percent(run.local_after)}",
                flush=True,
            )


def features_of(runs: dict[str, Result]) -> dict[str, Any]:
    names = {"fp32": NIGHT.name, "bf16": f"{NIGHT.name}_bf16"}
    return {
        dtype: {"bytes": runs[name].feature_bytes, "global_after": runs[name].global_after, "local_after": runs[name].local_after}
        for dtype, name in names.items()
        if name in runs
    }


def measure(options: argparse.Namespace, folder: Path, model: Path) -> None:
    photos = data.judged(folder, options.local_train, options.local_val)
    figures = Figures(options.json, model=MODEL, local_classes=len(photos.local_classes), quick=options.quick)
    runs = {} if options.nights else measure_rows(options, folder, model, photos, figures)
    if not options.no_peers:
        if not options.nights:
            figures["forward"], figures["training"] = peers.speed(model, runs[DEEP_NIGHT.name], 3 if options.quick else 7)
            figures.add(table.speed_text(figures["forward"], figures["training"]))
        if not options.quick:
            measure_nights(options, folder, model, photos, figures)
            if runs:
                paper = arithmetic.extrapolate(arithmetic.costs(runs, figures["night"]))
                figures.add(table.paper_text(paper), paper=paper)


def measure_rows(options: argparse.Namespace, folder: Path, model: Path, photos: data.Photos, figures: Figures) -> dict[str, Result]:
    chosen = rows(options.quick)
    with world(folder / "rows", model, photos) as place:
        if not options.no_peers:
            archives, every = ([data.GLOBAL_VAL], 4) if options.quick else ([data.GLOBAL_VAL, data.GLOBAL], 1)
            agreement = [peers.agreement(place, archive, folder, every) for archive in archives]
            figures.add(table.agreement_text(agreement), agreement=agreement)
        runs = run_rows(chosen, folder, model, photos, place)
    by_name = {run.name: run for run in runs}
    documents = [run_document(row, run) for row, run in zip(chosen, runs)]
    figures.add(
        table.runs_text(documents),
        runs=documents,
        feature_bytes=by_name[NIGHT.name].feature_bytes,
    )
    features = features_of(by_name)
    figures.add("features at the split: " + table.features_text(features), features=features)
    return by_name


def measure_nights(options: argparse.Namespace, folder: Path, model: Path, photos: data.Photos, figures: Figures) -> None:
    first = nights.first_night(folder, model, photos, options.local_train, TURNS)
    figures.add(table.first_night_text(first), night=first)
    second = nights.second_night(folder, model, photos, TURNS)
    figures.add(table.second_night_text(second), second_night=second)


def main() -> int:
    options = arguments()
    absent = missing(data.GLOBAL, data.GLOBAL_VAL, data.GLOBAL_TUNE, options.local_train, options.local_val)
    if absent:
        print(f"skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return 0

    def work(folder: Path) -> None:
        if not options.no_peers and not options.tune:
            peers.check_installed()
        model = fetch_model(folder)
        if options.tune:
            tune(options, folder, model)
        else:
            measure(options, folder, model)

    return in_folder("image-night", "moil-image-", options.keep, work)


if __name__ == "__main__":
    sys.exit(main())
