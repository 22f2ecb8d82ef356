"""Command line: `python3 bench/auto` (scripts/bench auto calls it)."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from auto.case import run_case  # noqa: E402
from auto.cases import digits_case, photos_case  # noqa: E402
from image_night import data  # noqa: E402
from night.night import say  # noqa: E402
from night.programs import ROOT, ProgramError  # noqa: E402
from night.report import machine, write_json  # noqa: E402
from night.results import JobFailed  # noqa: E402
from night.table import percent, table  # noqa: E402

DIGITS = ROOT / "build" / "data" / "digits.csv.gz"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="auto", description="Nights without settings beside nights set by hand.")
    parser.add_argument("--quick", action="store_true", help="the digits, and photos beside the shallow night alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--only", choices=["digits", "photos"], help="one of the datasets")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="photos, CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def case_text(case: dict[str, Any]) -> str:
    header = ["night", "global before → after", "local", "seconds", "second night", "chosen"]
    lines = []
    for name, night in [("no settings", case["auto"]), *case["hand"].items()]:
        chosen = ", ".join(f"{key} {value}" for key, value in (night["chosen"] or {}).items())
        before = f"{percent(night['global_before'])} → {percent(night['global_after'])}"
        second = f"{night['second']['seconds']:.1f} s, {percent(night['second']['local_after'])}"
        lines.append([name, before, percent(night["local_after"]), f"{night['seconds']:.1f}", second, chosen])
    return f"{case['dataset']}\n" + table(header, lines) + f"\n{case['auto']['why']}"


def cases(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for dataset in ["digits", "photos"]:
        if options.only not in (None, dataset):
            continue
        place = folder / dataset
        place.mkdir()
        if dataset == "digits":
            case = digits_case(place, DIGITS)
        else:
            absent = data.missing(data.GLOBAL, data.GLOBAL_VAL, options.local_train, options.local_val)
            if absent:
                print(f"photos skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
                continue
            case = photos_case(place, options.local_train.stem, options.local_train, options.local_val, quick=options.quick)
        found.append(run_case(case))
        print(case_text(found[-1]) + "\n", flush=True)
        if options.json:
            write_json({"machine": machine(), "quick": options.quick, "cases": found}, options.json)
    return found


def main() -> int:
    options = arguments()
    # Below /tmp and short: a socket's path may have 107 bytes at most.
    folder = options.keep or Path(tempfile.mkdtemp(prefix="moil-auto-"))
    folder.mkdir(exist_ok=True)
    try:
        cases(options, folder)
    except (JobFailed, ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"auto: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            say("cleaning up")
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
