"""Command line: `python3 bench/image_night` (scripts/bench image-night calls it)."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from image_night import arithmetic, data, nights, peers, table  # noqa: E402
from image_night.rows import GRID, NIGHT, Row, rows  # noqa: E402
from image_night.world import MODEL, fetch_model, world  # noqa: E402
from night.night import say  # noqa: E402
from night.programs import ProgramError  # noqa: E402
from night.report import machine, write_json  # noqa: E402
from night.results import JobFailed, Run  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="image-night", description="ImageNet's network, personalized with other photos.")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures")
    parser.add_argument("--quick", action="store_true", help="slow rows for an epoch or two, everything once")
    parser.add_argument("--tune", action="store_true", help="try settings on a part of the training photos")
    parser.add_argument("--no-peers", action="store_true", help="without PyTorch")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def whole_run(row: Row, run: Run) -> Run:
    """The seconds of all epochs where a part of them was run; the rest of the night is as it was."""
    if row.is_measured_in_part:
        run.seconds += run.train_seconds * (row.training.epochs / run.epochs - 1)
    return run


def run_document(row: Row, run: Run) -> dict[str, Any]:
    document = run.to_json()
    document["distilled"] = row.training.distill > 0 and row.alpha > 0
    document["epochs"] = row.training.epochs
    document["measured_epochs"] = run.epochs
    document["after"] = row.after.name if row.after else None
    document["settings"] = row.job_spec(Path("/"), MODEL)["train"]
    if row.is_measured_in_part:  # not trained to its end: no accuracy to speak of
        document["global_after"] = document["local_after"] = None
    return document


def tune(options: argparse.Namespace, folder: Path, model: Path) -> None:
    photos = data.tuning(folder, options.local_train)
    with world(folder / "tune", model, photos) as place:
        for row in GRID:
            run = place.run(row)
            print(
                f"LF({row.trainable_layers}){' after LF(1)' if row.after else ''} {row.training}: global {100 * run.global_before:.1f} -> "
                f"{100 * run.global_after:.1f}, local {100 * run.local_after:.1f}",
                flush=True,
            )


def features_of(runs: dict[str, Run]) -> dict[str, Any]:
    names = {"fp32": "gdm_lf1_fmc", "bf16": "gdm_lf1_fmc_bf16"}
    return {
        dtype: {"bytes": runs[name].feature_bytes, "global_after": runs[name].global_after, "local_after": runs[name].local_after}
        for dtype, name in names.items()
    }


def measure(options: argparse.Namespace, folder: Path, model: Path) -> dict[str, Any]:
    photos = data.judged(folder, options.local_train, options.local_val)
    chosen = rows(options.quick)
    runs: list[Run] = []
    document: dict[str, Any] = {"model": MODEL, "local_classes": len(photos.local_classes), "quick": options.quick}
    with world(folder / "rows", model, photos) as place:
        if not options.no_peers:
            archives = [data.GLOBAL_VAL] if options.quick else [data.GLOBAL_VAL, data.GLOBAL]
            document["agreement"] = [peers.agreement(place, archive, folder) for archive in archives]
            print(table.agreement_text(document["agreement"]) + "\n", flush=True)
        for row in chosen:
            runs.append(whole_run(row, place.run(row)))
    print(table.runs_text(chosen, runs) + "\n", flush=True)
    document["runs"] = [run_document(row, run) for row, run in zip(chosen, runs)]
    by_name = {run.name: run for run in runs}
    document["features"] = features_of(by_name)
    document["feature_bytes"] = by_name[NIGHT.name].feature_bytes
    print("features at the split: " + table.features_text(document["features"]) + "\n", flush=True)
    if not options.no_peers:
        compare(options, folder, model, photos, by_name, document)
    return document


def compare(options: argparse.Namespace, folder: Path, model: Path, photos: data.Photos, runs: dict[str, Run], document: dict[str, Any]) -> None:
    document["forward"], document["training"] = peers.speed(model, 3 if options.quick else 7)
    print(table.speed_text(document["forward"], document["training"]) + "\n", flush=True)
    turns = 1 if options.quick else 3
    document["night"] = nights.first_night(folder, model, photos, options.local_train, turns)
    document["second_night"] = nights.second_night(folder, model, photos, turns)
    print(table.night_text(document["night"], document["second_night"]) + "\n", flush=True)
    epochs = {row["name"]: row["measured_epochs"] for row in document["runs"]}
    document["paper"] = arithmetic.extrapolate(arithmetic.costs(runs, epochs, document["night"]))
    print(table.paper_text(document["paper"]), flush=True)


def main() -> int:
    options = arguments()
    absent = data.missing(data.GLOBAL, data.GLOBAL_VAL, data.GLOBAL_TUNE, options.local_train, options.local_val)
    if absent:
        print(f"skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return 0
    # Below /tmp and short: a socket's path may have 107 bytes at most.
    folder = options.keep or Path(tempfile.mkdtemp(prefix="moil-image-"))
    folder.mkdir(exist_ok=True)
    try:
        if not options.no_peers and not options.tune:
            peers.check_installed()
        model = fetch_model(folder)
        if options.tune:
            tune(options, folder, model)
            return 0
        document = {**measure(options, folder, model), "machine": machine()}
        if options.json:
            write_json(document, options.json)
    except (JobFailed, ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"image-night: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            say("cleaning up")
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
