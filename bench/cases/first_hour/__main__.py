"""Command line: `python3 bench/cases/first_hour` (scripts/bench first-hour calls it)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.first_hour.folders import USUAL  # noqa: E402
from cases.first_hour.hour import measure_hour, split_of  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.table import percent, table  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="first-hour", description="moilctl setup on a fresh device: photos, then sounds.")
    parser.add_argument("--photos", type=Path, metavar="DIR", help="LABEL/FILE, and nothing else; groceries and sounds if both are left out")
    parser.add_argument("--sounds", type=Path, metavar="DIR", help="likewise")
    parser.add_argument("--networks", type=Path, metavar="DIR", help="as moild-models installs them; made if left out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--quick", action="store_true", help="photos alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def made_networks(folder: Path) -> Path:
    """Those of the package, unpacked."""
    command = [ROOT / "scripts/package", "--models", "--out", folder]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run(["dpkg-deb", "--extract", made.stdout.split()[-1], folder / "unpacked"], check=True)
    return folder / "unpacked/usr/share/moild/networks"


def user_folders(options: argparse.Namespace, folder: Path) -> dict[str, Path]:
    """Those that were named, else the usual ones that are at hand, by kind."""
    named = {kind: given for kind, given in (("photos", options.photos), ("sounds", options.sounds)) if given}
    if named:
        return named
    found = {}
    for kind, (archive, make) in USUAL.items():
        if options.quick and kind != "photos":
            continue
        if archive.is_file():
            found[kind] = make(folder / f"all-{kind}")
        else:
            print(f"{kind} skipped: {archive} is absent (MOIL_SHARED_DATA names the folder of the data)", flush=True)
    return found


def run(options: argparse.Namespace, folder: Path) -> None:
    users = user_folders(options, folder)
    networks = options.networks or made_networks(folder / "package")
    figures = Figures(options.json, quick=options.quick, cases=[])
    for kind, samples in users.items():
        user = split_of(kind, samples, folder / f"shown-{kind}")
        found = measure_hour(folder / f"device-{kind}", user, networks)
        figures.add(hour_text(found), cases=[*figures["cases"], found])


def hour_text(case: dict[str, Any]) -> str:
    header = ["first hour", "samples", "labels", "to the first prediction, s", "local after learn", "after the night", "global before → after", "which is"]
    cells = [case["kind"], str(case["samples"]), str(case["labels"]), f"{case['seconds_to_predict']:.1f}"]
    cells += [percent(case["local_after_learn"]), percent(case["local_after_night"])]
    cells += [f"{percent(case['global_before'])} → {percent(case['global_after'])}", case["metric"]]
    return table(header, [cells])


def main() -> int:
    options = arguments()
    return in_folder("first-hour", "moil-first-hour-", options.keep, lambda folder: run(options, folder))


if __name__ == "__main__":
    sys.exit(main())
