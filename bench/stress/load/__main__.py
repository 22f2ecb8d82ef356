"""What a daemon owes its clients while a job trains on every core.

200 clients send 20,000 requests of mixed kinds; in the second half, a silent, a slow and a greedy
client are beside them. Nothing may be lost, and nobody may wait long. Then the daemon is started
again, to see how soon it is ready and what it holds when it has nothing to do.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib import digits  # noqa: E402
from lib.frame import options_of, run  # noqa: E402
from lib.night import pretrain_global  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.settings import Training  # noqa: E402
from lib.workplace import lay_out  # noqa: E402
from stress.load.load import Figures, Load  # noqa: E402
from stress.load.table import text  # noqa: E402

SETTINGS = replace(digits.SETTINGS, pretraining=Training(epochs=3, learning_rate=0.05), threads=2)


def main() -> int:
    options = parse()

    def measure(folder: Path) -> Figures:
        place = lay_out(folder, SETTINGS, digits.split_of(options.digits, folder))
        pretrained = pretrain_global(SETTINGS, place)
        load = Load(folder, SETTINGS, place, pretrained, clients=options.clients, rate=options.rate)
        return load.measure(options.requests, options.seed)

    return run("load", measure, text, options.json)


def parse() -> argparse.Namespace:
    parser = options_of("load", __doc__, "2,000 requests")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=1000, help="requests a second, of all clients together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--digits", type=Path, default=ROOT / "build" / "data" / "digits.csv.gz")
    options = parser.parse_args()
    if options.quick:
        options.requests = 2000
    return options


if __name__ == "__main__":
    sys.exit(main())
