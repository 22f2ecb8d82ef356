"""SIGKILL of the worker and of the daemon at random moments, then disks, databases and caches that
fail, then power cuts.

Night after night a schedule queues the same job, while a client labels, puts versions in service and
changes schedules without a pause. Every night must end in the very weights of one that was never
disturbed, and what was acknowledged must be there at the end. Then calls of the system fail at random
(tests/preload): each night ends well or with a clear error, with the old model in service.

Last, days and nights are recorded as the disk saw them, and what a power cut may leave of them is made at many
moments (recorded_disk.py): moild starts on it, has all that was acknowledged, and ends the night under way in the
same weights.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lib.figures import machine, write_json  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from stress.crash.cutting import Cut, Cutting  # noqa: E402
from stress.crash.device import Device  # noqa: E402
from stress.crash.faults import Fault, Faults  # noqa: E402
from stress.crash.killing import Killing, Tally  # noqa: E402
from stress.crash.recorded_life import Life, Migration  # noqa: E402
from stress.crash.table import text  # noqa: E402


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the daemon is stopped, too
    options = parse()
    tally, faults, cuts = Tally(), list[Fault](), list[Cut]()
    with tempfile.TemporaryDirectory(prefix="moil-crash-") as folder:
        if options.kills or options.faults:
            faults = kill_and_fail(Path(folder), options, tally)
        if options.cuts:
            cuts = cut_power(Path(folder) / "cuts", options)
    document = {**tally.document(), "faults": [fault.document() for fault in faults], "cuts": [cut.document() for cut in cuts]}
    print(text(document))
    if options.json:
        write_json({**document, "seed": options.seed, "machine": machine()}, options.json)
    is_bad = any(fault.is_bad for fault in faults) or any(cut.is_bad for cut in cuts)
    return 0 if tally.is_clean() and not is_bad else 1


def kill_and_fail(folder: Path, options: argparse.Namespace, tally: Tally) -> list[Fault]:
    device = Device(folder, options.digits)
    chance = random.Random(options.seed)
    with device.daemon:
        device.furnish()
        if options.kills:
            Killing(device, chance, tally).run(options.kills, options.kills_a_night, lambda: say_kills(tally, options))
        return Faults(device, chance).run(options.faults, say_fault) if options.faults else []


def cut_power(folder: Path, options: argparse.Namespace) -> list[Cut]:
    """One life's cuts; and a tenth as many of the first start on an old state."""
    folder.mkdir()
    device = Device(folder, options.digits)
    with device.daemon:
        device.furnish()
        life = Life(device, folder / "life")
        life.live()
    migration = Migration(device, folder / "migration")
    migration.live()
    cuts: list[Cut] = []
    for recorded, count in ((life, options.cuts), (migration, options.cuts // 10)):
        cutting = Cutting(device, recorded, recorded.log.parent)
        if differs := cutting.what_differs():
            raise RuntimeError(f"the log does not have all of what was written: {differs}")
        say_cut = Progress(count).say
        cuts += cutting.run_answers(say_cut) + cutting.run_removals(say_cut)
        cuts += cutting.run(count, options.seed, say_cut) if count else []
    return cuts


class Progress:
    def __init__(self, count: int):
        self._count = count
        self._done = 0

    def say(self, cut: Cut) -> None:
        self._done += cut.seed is not None
        if cut.is_bad or (self._done % 20 == 0 and cut.seed is not None):
            trouble = "; ".join([*filter(None, [cut.refused_start]), *cut.lost, *cut.other_weights])
            print(f"· {self._done} of {self._count} power cuts, {cut.stage}: {trouble or 'well'}", file=sys.stderr, flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--kills-a-night", type=int, default=4, help="at most so many, that nights come to their end")
    parser.add_argument("--faults", type=int, default=48, help="nights that fail; 0: none")
    parser.add_argument("--cuts", type=int, default=200, help="power cuts at moments of a recorded life; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="20 kills, 15 nights that fail, 20 power cuts")
    parser.add_argument("--digits", type=Path, default=ROOT / "build" / "data" / "digits.csv.gz")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.kills, options.faults, options.cuts = 20, 15, 20
    return options


def say_kills(tally: Tally, options: argparse.Namespace) -> None:
    print(f"· {tally.kills} of {options.kills} kills, {tally.nights} nights", file=sys.stderr, flush=True)


def say_fault(fault: Fault) -> None:
    print(f"· {fault.kind}, {fault.who}, {fault.how}: {fault.outcome} {fault.message[:200]}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
