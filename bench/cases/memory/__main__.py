"""Command line: `python3 bench/cases/memory` (scripts/bench calls it)."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

if __package__ in (None, ""):  # started as a folder
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.memory import table
from cases.memory.cases import CASES, SEQUENCES, swaps
from cases.memory.half import MODES, run_half
from cases.memory.measure import Setting, row
from cases.memory.models import write_generated
from cases.memory.progress import Progress
from cases.memory.speech import write_speech
from cases.memory.swap import check_disk, run_swaps, turns
from cases.memory.sweep import batches, run_sweep
from lib.programs import ROOT, ProgramError

CASES_OF = {"rows": CASES, "sequences": SEQUENCES}
PARTS = ("rows", "sequences", "sweep", "swap", "half")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="memory", description="Memory of training, ours and PyTorch's.")
    parser.add_argument("--quick", action="store_true", help="fewer rows and iterations")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures, in bytes")
    parser.add_argument("--swap-folder", type=Path, default=ROOT / "build" / "swap", metavar="DIR")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", choices=PARTS, help="one part of the benchmark")
    parser.add_argument("--model", metavar="TEXT", help="only rows whose title contains this")
    return parser.parse_args()


def cases_of(options: argparse.Namespace, part: str) -> list[Any]:
    wanted = [case for case in CASES_OF[part] if case.quick or not options.quick]
    return [case for case in wanted if not options.model or options.model in case.title]


def count(options: argparse.Namespace, parts: tuple[str, ...]) -> int:
    swap_rows = len(swaps(options.quick)) * turns(options.quick)
    sizes = {part: len(cases_of(options, part)) for part in CASES_OF} | {"sweep": len(batches(options.quick)) + 2, "swap": swap_rows}
    sizes["half"] = len(MODES) * turns(options.quick)
    return sum(sizes[part] for part in parts)


def run(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    write_generated(folder)
    quick, swap_folder = options.quick, options.swap_folder.resolve()
    setting = Setting(folder, 2 if quick else 5, 1 if quick else 2, options.threads, quick, write_speech(folder))
    parts = (options.only,) if options.only else PARTS
    if "sequences" in parts:
        check_disk(swap_folder)
    progress = Progress(count(options, parts))
    report: dict[str, Any] = {"quick": quick, "threads": options.threads, "rows": [], "swap": [], "half": []}
    for part in CASES_OF:
        for case in cases_of(options, part) if part in parts else []:
            with progress.row(f"{case.title}, batch {case.batch}"):
                report["rows"].append(row(case, setting, swap_folder))
    if "sweep" in parts:
        report["sweep"] = run_sweep(setting, progress)
    if "swap" in parts:
        report["swap"] = run_swaps(setting, swap_folder, progress)
    if "half" in parts:
        report["half"] = run_half(setting, swap_folder, progress)
    return report


def main() -> int:
    options = arguments()
    folder = Path(tempfile.mkdtemp(prefix="moil-memory-"))
    try:
        report = run(options, folder)
    except (ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"memory: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table.text(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
