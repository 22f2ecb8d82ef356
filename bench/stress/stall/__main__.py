"""Whether a request can make moild stand still for others: every method of the protocol, each with the largest
input that it takes, on a disk whose flush takes 12 ms, beside canaries and schedules.

While a method works, another client asks for system.status again and again: nobody may wait for longer than 100 ms.
Then users of every role ask for as much as they can, and another user asks for little.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.frame import options_of, run  # noqa: E402
from lib.table import table  # noqa: E402
from stress.stall.stall import GOAL_MS, Figures, Size, Stall  # noqa: E402


def main() -> int:
    options = parse()
    size = Size.quick() if options.quick else Size()
    return run("stall", lambda folder: Stall(folder, size, options.flush).measure(), report, options.json)


def parse() -> argparse.Namespace:
    parser = options_of("stall", __doc__, "a tenth of the samples, schedules and jobs")
    parser.add_argument("--flush", type=int, default=12, metavar="MS", help="what a flush of the disk takes (12)")
    return parser.parse_args()


def report(figures: Figures) -> None:
    rows = [[m.method, m.input, f"{m.seconds:.2f}", f"{m.longest_wait_ms:.0f}", f"{m.machine_ms:.0f}", str(m.descriptors), str(len(m.loop_flushes))] for m in figures.methods]
    print(table(["method", "with", "seconds", "longest wait ms", "machine ms", "descriptors", "flushes of the loop"], rows))
    rows = [[r.role, str(r.requests), f"{r.longest_wait_ms:.0f}", f"{r.machine_ms:.0f}", f"{r.predict_seconds:.2f}", str(r.descriptors), str(len(r.loop_flushes))] for r in figures.roles]
    if rows:
        print()
        print(table(["role that asks for all", "requests", "longest wait ms", "machine ms", "another's predict s", "descriptors", "flushes of the loop"], rows))
    print(f"\nsystem.status waits {figures.longest_wait_ms:.0f} ms at most (goal: {GOAL_MS} ms); at rest {figures.rest_ms:.0f} ms; ")
    print(f"{figures.descriptors} descriptors at most, of {figures.descriptor_limit}")


if __name__ == "__main__":
    sys.exit(main())
