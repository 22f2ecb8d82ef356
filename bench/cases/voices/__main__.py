"""Command line: `python3 bench/cases/voices` (scripts/bench voices calls it)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.voices import table  # noqa: E402
from cases.voices.birds import birds  # noqa: E402
from cases.voices.imports import imports  # noqa: E402
from cases.voices.words import words  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder, options_of  # noqa: E402
from lib.sounds import data  # noqa: E402

CASES = {"imports": imports, "birds": birds, "words": words}


def main() -> int:
    parser = options_of("voices", "Networks that hear birds and words, personalized.", "one network, one speaker")
    parser.add_argument("--only", choices=sorted(CASES), action="append", help="this case; several times for several")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    options = parser.parse_args()
    absent = data.missing()
    if absent:
        print(f"skipped: {absent} is not there (docs/voices-benchmark.md says what is needed)")
        return 0
    figures = Figures(options.json)

    def work(folder: Path) -> None:
        for name in options.only or CASES:
            found = CASES[name](folder / name, options.quick)
            figures.add(table.TEXTS[name](found), **{name: found})

    return in_folder("voices", "moil-voices-", options.keep, work)


if __name__ == "__main__":
    sys.exit(main())
