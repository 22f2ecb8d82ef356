"""Command line: `python3 bench/cases/sequence_nights` (scripts/bench sequence-nights calls it)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.sequence_nights import file_types, language, ratings, table  # noqa: E402
from lib.figures import machine, write_json  # noqa: E402
from lib.programs import ProgramError  # noqa: E402

PARTS = {"language": language.nights, "file-types": file_types.nights, "ratings": ratings.nights}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sequence-nights", description="Nights of models that read sequences.")
    parser.add_argument("--only", choices=list(PARTS), help="this night alone")
    parser.add_argument("--quick", action="store_true", help="small, for a look at the machinery")
    parser.add_argument("--json", type=Path, metavar="FILE", help="leave the figures there")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    nights = []
    try:
        for name, run in PARTS.items():
            if options.only in (None, name):
                nights += run(options.quick)
    except (RuntimeError, ProgramError, subprocess.CalledProcessError, FileNotFoundError, KeyError, ValueError) as error:
        print(f"sequence-nights: {error}", file=sys.stderr)
        return 1
    document = {"nights": nights, "quick": options.quick, "machine": machine()}
    print(table.text(document))
    if options.json:
        write_json(document, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
