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
from stress.stall.stall import Size, Stall  # noqa: E402
from stress.stall.table import text  # noqa: E402


def main() -> int:
    options = parse()
    size = Size.quick() if options.quick else Size()
    return run("stall", lambda folder: Stall(folder, size, options.flush).measure(), text, options.json)


def parse() -> argparse.Namespace:
    parser = options_of("stall", __doc__, "a tenth of the samples, schedules and jobs")
    parser.add_argument("--flush", type=int, default=12, metavar="MS", help="what a flush of the disk takes (12)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
