"""SIGKILL of the worker and of the daemon at random moments, then disks, databases and caches that
fail.

Night after night a schedule queues the same job, while a client labels, puts versions in service and
changes schedules without a pause. Every night must end in the very weights of one that was never
disturbed, and what was acknowledged must be there at the end. Then calls of the system fail at random
(tests/preload): each night ends well or with a clear error, with the old model in service.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crash.device import Device  # noqa: E402
from crash.faults import Fault, Faults  # noqa: E402
from crash.killing import Killing, Tally  # noqa: E402
from night.programs import ROOT  # noqa: E402
from night.report import machine, write_json  # noqa: E402
from night.table import table  # noqa: E402


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemon is stopped, too
    options = parse()
    tally, faults = Tally(), []
    with tempfile.TemporaryDirectory(prefix="moil-crash-") as folder:
        device = Device(Path(folder), options.digits)
        chance = random.Random(options.seed)
        with device.daemon:
            device.furnish()
            if options.kills:
                Killing(device, chance, tally).run(options.kills, options.kills_a_night, lambda: say_kills(tally, options))
            if options.faults:
                faults = Faults(device, chance).run(options.faults, say_fault)
    report(tally, faults)
    if options.json:
        document = {**tally.document(), "faults": [fault.document() for fault in faults]}
        write_json({**document, "seed": options.seed, "machine": machine()}, options.json)
    return 0 if tally.is_clean() and not any(fault.is_bad for fault in faults) else 1


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--kills-a-night", type=int, default=4, help="at most so many, that nights come to their end")
    parser.add_argument("--faults", type=int, default=48, help="nights that fail; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="20 kills, 15 nights that fail")
    parser.add_argument("--digits", type=Path, default=ROOT / "build" / "data" / "digits.csv.gz")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.kills, options.faults = 20, 15
    return options


def say_kills(tally: Tally, options: argparse.Namespace) -> None:
    print(f"· {tally.kills} of {options.kills} kills, {tally.nights} nights", file=sys.stderr, flush=True)


def say_fault(fault: Fault) -> None:
    print(f"· {fault.kind}, {fault.who}, {fault.how}: {fault.outcome} {fault.message[:200]}", file=sys.stderr, flush=True)


def report(tally: Tally, faults: list[Fault]) -> None:
    if tally.kills:
        print(table(["stage", "worker killed", "daemon killed"], rows(tally.hits)))
        print(
            f"\n{tally.kills} kills in {tally.nights} nights: {tally.different_weights} ended in other weights, "
            f"{len(tally.failures)} failed, {len(tally.lost)} of {tally.acknowledged} promises broken"
        )
        for failure in [*tally.failures, *tally.lost]:
            print(f"failed: {failure}")
    if faults:
        print("\n" + table(["fault", "nights", "struck calls", "completed", "refused", "failed", "bad"], fault_rows(faults)))
        for fault in faults:
            if fault.is_bad:
                print(f"{fault.kind}, {fault.who}, {fault.how}: {fault.outcome}: {fault.message}")


def rows(hits: Counter[tuple[str, str]]) -> list[list[str]]:
    stages = sorted({stage for stage, _ in hits})
    return [[stage, str(hits[stage, "worker"]), str(hits[stage, "daemon"])] for stage in stages]


def fault_rows(faults: list[Fault]) -> list[list[str]]:
    out = []
    for kind in dict.fromkeys(fault.kind for fault in faults):
        mine = [fault for fault in faults if fault.kind == kind]
        ends = Counter("bad" if fault.is_bad else fault.outcome for fault in mine)
        out.append([kind, str(len(mine)), str(sum(fault.struck for fault in mine)), *(str(ends[end]) for end in ("completed", "refused", "failed", "bad"))])
    return out


if __name__ == "__main__":
    sys.exit(main())
