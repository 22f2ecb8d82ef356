"""Command line: `python3 bench/cases/first_hour` (scripts/bench first-hour calls it)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.first_hour.hour import measure_hour, split_of  # noqa: E402
from lib.archives import FOLDER, extract  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.samples import only  # noqa: E402
from lib.table import percent, table  # noqa: E402

GROCERIES, SOUNDS = FOLDER / "grocery61-train.tar", FOLDER / "esc10.tar"
LABELS, EACH = 10, 18  # of the groceries: as many photos as a first evening has


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="first-hour", description="moilctl setup on a fresh device: photos, then sounds.")
    parser.add_argument("--photos", type=Path, metavar="DIR", help="LABEL/FILE; groceries if left out")
    parser.add_argument("--sounds", type=Path, metavar="DIR", help="LABEL/FILE; ESC-10 if left out")
    parser.add_argument("--networks", type=Path, metavar="DIR", help="as moild-models installs them; made if left out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--quick", action="store_true", help="photos alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def made_networks(folder: Path) -> Path:
    """Those of the package, unpacked."""
    made = subprocess.run([ROOT / "scripts/package", "--models", "--built", ROOT / "build/release", "--out", folder], check=True, capture_output=True, text=True)
    subprocess.run(["dpkg-deb", "--extract", made.stdout.split()[-1], folder / "unpacked"], check=True)
    return folder / "unpacked/usr/share/moild/networks"


def groceries(folder: Path) -> Path:
    """Some of each of some labels, the first by name."""
    files = extract(GROCERIES, folder)
    for i, (name, members) in enumerate(sorted(files.items())):
        for member in members if i % (len(files) // LABELS) or i // (len(files) // LABELS) >= LABELS else members[EACH:]:
            member.unlink()
        if not any((folder / name).iterdir()):
            (folder / name).rmdir()
    return folder


def run(options: argparse.Namespace, folder: Path) -> None:
    networks = options.networks or made_networks(folder / "package")
    figures = Figures(options.json, quick=options.quick, cases=[], strangers=None, calibration=[], page=None)
    asked = {"photos": options.photos, "sounds": options.sounds}
    usual = {"photos": (GROCERIES, lambda: groceries(folder / "groceries")), "sounds": (SOUNDS, lambda: Path(next(iter(extract(SOUNDS, folder / "esc10").values()))[0]).parents[1])}
    named = any(asked.values())
    for kind, given in asked.items():
        if given is None and (named or (options.quick and kind != "photos")):
            continue
        archive, make = usual[kind]
        if given is None and not archive.is_file():
            print(f"{kind} skipped: {archive} is absent (MOIL_SHARED_DATA names the folder of the data)", flush=True)
            continue
        user = split_of(kind, given or make(), folder / f"shown-{kind}")
        found = measure_hour(folder / f"device-{kind}", user, networks)
        figures.add(_text(found), cases=[*figures["cases"], found])


def _text(case: dict[str, object]) -> str:
    header = ["first hour", "samples", "labels", "to the first prediction, s", "local after learn", "after the night", "global before → after", "by"]
    cells = [str(case["kind"]), str(case["samples"]), str(case["labels"]), f"{case['seconds_to_predict']:.1f}"]
    cells += [percent(case["local_after_learn"]), percent(case["local_after_night"])]  # type: ignore[arg-type]
    cells += [f"{percent(case['global_before'])} → {percent(case['global_after'])}", str(case["metric"])]  # type: ignore[arg-type]
    return table(header, [cells])


def main() -> int:
    options = arguments()
    return in_folder("first-hour", "moil-first-hour-", options.keep, lambda folder: run(options, folder))


if __name__ == "__main__":
    sys.exit(main())
