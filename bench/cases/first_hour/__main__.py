"""Command line: `python3 bench/cases/first_hour` (scripts/bench first-hour calls it)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.first_hour.calibration import measure_calibration  # noqa: E402
from cases.first_hour.folders import USUAL  # noqa: E402
from cases.first_hour.hour import measure_hour, user_of_folder, user_of_table  # noqa: E402
from cases.first_hour.page import measure_page  # noqa: E402
from cases.first_hour.strangers import measure_strangers  # noqa: E402
from cases.first_hour.table import calibration_text, hour_text, page_text, strangers_text  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.photos import data  # noqa: E402
from lib.photos.world import fetch_model  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.review.browser import missing as missing_browser  # noqa: E402
from lib.sounds.data import missing as missing_sounds  # noqa: E402


PARTS = ["hour", "strangers", "calibration", "page"]
PAGES = 1_000, 10_000  # photos
ELSEWHERE = "MOIL_SHARED_DATA names the folder of the data"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="first-hour", description="moilctl setup on a fresh device; then who answers strangers, how sure, and how fast the page is.")
    parser.add_argument("--photos", type=Path, metavar="DIR", help="LABEL/FILE, and nothing else; groceries, sounds and a table if all three are left out")
    parser.add_argument("--sounds", type=Path, metavar="DIR", help="likewise")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a table, whose last column is the label")
    parser.add_argument("--networks", type=Path, metavar="DIR", help="as moild-models installs them; made if left out")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--quick", action="store_true", help="the first hour of photos alone")
    parser.add_argument("--only", choices=PARTS, help="this part; the first hour alone if samples are named")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def made_networks(folder: Path) -> Path:
    """Those of the package, unpacked."""
    command = [ROOT / "scripts/package", "--models", "--out", folder]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    subprocess.run(["dpkg-deb", "--extract", made.stdout.split()[-1], folder / "unpacked"], check=True)
    return folder / "unpacked/usr/share/moild/networks"


def user_samples(options: argparse.Namespace, folder: Path) -> dict[str, Path]:
    """Those that were named, else the usual ones that are at hand, by kind."""
    named = {kind: given for kind, given in (("photos", options.photos), ("sounds", options.sounds), ("table", options.csv)) if given}
    if named:
        return named
    found = {}
    for kind, make in USUAL.items():
        if options.quick and kind != "photos":
            continue
        try:
            found[kind] = make(folder / f"all-{kind}")
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            skipped(kind, str(error))
    return found


def skipped(part: str, why: str) -> None:
    print(f"{part} skipped: {why}", flush=True)


def hours(options: argparse.Namespace, folder: Path, figures: Figures) -> None:
    users = user_samples(options, folder)
    networks = options.networks or made_networks(folder / "package")
    for kind, samples in users.items():
        shown = folder / f"shown-{kind}"
        user = user_of_table(samples, shown) if kind == "table" else user_of_folder(kind, samples, shown)
        found = measure_hour(folder / f"device-{kind}", user, networks)
        figures.add(hour_text([found]), cases=[*figures["cases"], found])


def strangers(folder: Path, figures: Figures) -> None:
    if absent := missing(data.GLOBAL, data.GLOBAL_VAL, data.LOCAL_TRAIN, data.LOCAL_VAL):
        return skipped("strangers", f"{absent} is absent ({ELSEWHERE})")
    found = measure_strangers(folder / "strangers", fetch_model(folder))
    figures.add(strangers_text(found), strangers=found)


def calibration(folder: Path, figures: Figures) -> None:
    if absent := missing(data.GLOBAL, data.LOCAL_TRAIN, data.LOCAL_VAL) or missing_sounds():
        return skipped("calibration", f"{absent} is absent ({ELSEWHERE})")
    found = measure_calibration(folder / "calibration", fetch_model(folder))
    figures.add(calibration_text(found), calibration=found)


def page(folder: Path, figures: Figures) -> None:
    if why := missing_browser():
        return skipped("page", why)
    if absent := missing(data.LOCAL_TRAIN, data.LOCAL_VAL):
        return skipped("page", f"{absent} is absent ({ELSEWHERE})")
    for photos in PAGES:
        found = measure_page(folder / f"page-{photos}", photos)
        figures.add(page_text([found]), page=[*figures["page"], found])


def run(options: argparse.Namespace, folder: Path) -> None:
    figures = Figures(options.json, quick=options.quick, cases=[], strangers=None, calibration=[], page=[])
    first = options.quick or options.photos or options.sounds or options.csv
    for part in [options.only] if options.only else PARTS[:1] if first else PARTS:
        if part == "hour":
            hours(options, folder, figures)
        else:
            (place := folder / part).mkdir()
            {"strangers": strangers, "calibration": calibration, "page": page}[part](place, figures)


def main() -> int:
    options = arguments()
    return in_folder("first-hour", "moil-first-hour-", options.keep, lambda folder: run(options, folder))


if __name__ == "__main__":
    sys.exit(main())
