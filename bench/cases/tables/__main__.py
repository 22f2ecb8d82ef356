"""Command line: `python3 bench/cases/tables` (scripts/bench rows-night calls it)."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.tables import table  # noqa: E402
from cases.tables.run import Night, nights  # noqa: E402
from lib.figures import machine, write_json  # noqa: E402
from lib.programs import ProgramError  # noqa: E402
from lib.records.tables import Table, chosen_table, fetched  # noqa: E402
from lib.results import JobFailed  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="rows-night", description="Nights over tables of numbers.")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a table of your own, a record a line, instead of scikit-learn's")
    parser.add_argument("--label-column", metavar="NAME", help="of --csv: the column of the labels")
    parser.add_argument("--local", metavar="A,B", help="of --csv: the labels that the device is to learn; of numbers the lowest and the highest")
    parser.add_argument("--task", choices=["classify", "predict"], default="classify", help="of --csv: whether labels are classes or numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there")
    options = parser.parse_args()
    if options.csv and not (options.label_column and options.local):
        parser.error("--csv goes with --label-column and --local")
    if not options.csv and (options.label_column or options.local or options.task != "classify"):
        parser.error("--label-column, --local and --task are of a table that --csv names")
    if options.task == "predict" and not re.fullmatch(r"[^,]+,[^,]+", options.local):
        parser.error("--local of numbers is LOWEST,HIGHEST")
    return options


def tables(options: argparse.Namespace, folder: Path) -> list[Table]:
    if options.csv:
        return [chosen_table(options.csv, options.label_column, options.local, options.task)]
    return fetched(folder)


def run(options: argparse.Namespace, folder: Path) -> None:
    results: list[Night] = []
    for i, chosen in enumerate(tables(options, folder)):
        place = folder / str(i)
        place.mkdir()
        results += nights(chosen, place)
    document = {"runs": [result.to_json() for result in results], "machine": machine()}
    print(table.text(document))
    if options.json:
        write_json(document, options.json)


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="moil-rows-") as folder:
        try:
            run(options, Path(folder))
        except (JobFailed, ProgramError, FileNotFoundError, KeyError, ValueError) as error:
            print(f"rows-night: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
