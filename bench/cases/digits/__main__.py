"""Command line: `python3 bench/cases/digits digits|cifar` (scripts/quickstart and scripts/bench call it)."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a folder
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.digits import table
from cases.digits.scenario import report_of, run_scenario
from cases.digits.sweeps import Sweep, sweeps, write_charts
from cases.digits.tune import tune
from lib import cifar, digits
from lib.archives import missing
from lib.figures import write_json
from lib.programs import ProgramError
from lib.results import JobFailed
from lib.samples import Split
from lib.settings import Settings
from lib.workplace import lay_out


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="night", description="Runs whole nights through the daemon.")
    parser.add_argument("scenario", choices=["digits", "cifar"])
    parser.add_argument("--digits", type=Path, metavar="CSV.GZ", help="of scripts/fetch-digits")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where report.json and charts are left")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the report, as a file of that name")
    parser.add_argument("--quick", action="store_true", help="smaller and shorter")
    parser.add_argument("--whole", action="store_true", help="every image of the dataset")
    parser.add_argument("--tune", action="store_true", help="try settings on a part of the training samples")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def plan(options: argparse.Namespace, folder: Path) -> tuple[Settings, Split, list[Sweep]]:
    if options.scenario == "digits":
        settings = digits.quick() if options.quick else digits.SETTINGS
        return settings, digits.split_of(options.digits, folder), []
    settings, size = cifar_run(options)
    return settings, cifar.split_of(size, folder), sweeps(settings)


def cifar_run(options: argparse.Namespace) -> tuple[Settings, cifar.Size]:
    if options.quick:
        return cifar.quick(), cifar.QUICK
    return (cifar.SETTINGS, cifar.WHOLE) if options.whole else (cifar.usual(), cifar.USUAL)


def choose_settings(options: argparse.Namespace, folder: Path) -> None:
    if options.scenario == "digits":
        settings, grid = digits.SETTINGS, digits.GRID
        splits = digits.tuning_splits_of(options.digits, folder)
    else:
        (settings, size), grid = cifar_run(options), cifar.GRID
        splits = cifar.tuning_splits_of(size, folder)
    tune(settings, [lay_out(folder / f"tune-{i}", settings, split) for i, split in enumerate(splits)], grid)


def run(options: argparse.Namespace, folder: Path) -> None:
    if options.tune:
        choose_settings(options, folder)
        return
    settings, split, chosen = plan(options, folder)
    place = lay_out(folder, settings, split)
    outcome = run_scenario(settings, place, chosen)
    document = report_of(settings, place, outcome)
    print(table.text(document), flush=True)
    leave_report(options, document, chosen)


def leave_report(options: argparse.Namespace, document: dict[str, Any], chosen: list[Sweep]) -> None:
    if options.json:
        write_json(document, options.json)
    if options.out:
        write_json(document, options.out / "report.json")
        for sweep in chosen:
            write_charts(sweep, document["settings"]["alpha"], document["sweeps"][sweep.name], options.out)


def main() -> int:
    options = arguments()
    absent = missing(cifar.TRAIN, cifar.TEST) if options.scenario == "cifar" else None
    if absent:
        print(f"skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return 0
    # Below /tmp and short: a socket's path may have 107 bytes at most.
    folder = options.keep or Path(tempfile.mkdtemp(prefix="moil-night-"))
    try:
        run(options, folder)
    except (JobFailed, ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"night: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
