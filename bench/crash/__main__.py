"""SIGKILL of the worker and of the daemon at random moments, until enough of them have hit.

The same night is run again and again. Every run must end in the very weights of one that was never
killed, and every label that was acknowledged meanwhile must be there at the end.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crash.killing import Killing, Tally  # noqa: E402
from night.programs import ROOT  # noqa: E402
from night.table import table  # noqa: E402


def main() -> int:
    options = parse()
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="moil-crash-") as folder:
        with Killing(Path(folder), options.digits, random.Random(options.seed)) as killing:
            while tally.kills < options.kills:
                killing.night(tally, min(options.kills_a_night, options.kills - tally.kills))
                print(f"· {tally.kills} of {options.kills} kills, {tally.nights} nights", file=sys.stderr, flush=True)
            killing.check_labels(tally)
    report(tally)
    if options.json:
        options.json.write_text(json.dumps(tally.document(options.seed), indent=2) + "\n")
    return 0 if tally.is_clean() else 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--kills-a-night", type=int, default=4, help="at most so many, that nights come to their end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="20 kills")
    parser.add_argument("--digits", type=Path, default=ROOT / "build" / "data" / "digits.csv.gz")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.kills = 20
    return options


def report(tally: Tally) -> None:
    print(table(["stage", "worker killed", "daemon killed"], rows(tally.hits)))
    print(
        f"\n{tally.kills} kills in {tally.nights} nights: {tally.different_weights} ended in other weights, "
        f"{len(tally.failures)} failed, {tally.lost} of {tally.acknowledged} acknowledged labels and jobs lost"
    )
    for failure in tally.failures:
        print(f"failed: {failure}")


def rows(hits: Counter[tuple[str, str]]) -> list[list[str]]:
    stages = sorted({stage for stage, _ in hits})
    return [[stage, str(hits[stage, "worker"]), str(hits[stage, "daemon"])] for stage in stages]


if __name__ == "__main__":
    sys.exit(main())
