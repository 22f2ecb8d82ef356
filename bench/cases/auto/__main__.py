"""Command line: `python3 bench/cases/auto` (scripts/bench auto calls it)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.auto.audit import measure_audit  # noqa: E402
from cases.auto.case import Case, run_case  # noqa: E402
from cases.auto.cases import digits_case, photos_case  # noqa: E402
from cases.auto.half_known import measure_half_known  # noqa: E402
from cases.auto.learn import measure_learn  # noqa: E402
from cases.auto.table import audit_text, case_text, half_known_text, learn_text  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.photos import data  # noqa: E402
from lib.photos.world import fetch_model  # noqa: E402
from lib.programs import ROOT  # noqa: E402

DIGITS = ROOT / "build" / "data" / "digits.csv.gz"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="auto", description="Nights without settings beside nights set by hand.")
    parser.add_argument("--quick", action="store_true", help="the digits, and photos beside the shallow night alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--only", choices=["digits", "photos", "labels", "half-known"], help="a dataset, learn and audit, or learning what is half known")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="photos, CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def measure_photos(options: argparse.Namespace, folder: Path, figures: Figures) -> None:
    absent = missing(data.GLOBAL, data.GLOBAL_VAL, options.local_train, options.local_val)
    if absent:
        print(f"photos skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return
    folder.mkdir()
    model = fetch_model(folder)
    photos = data.judged(folder, options.local_train, options.local_val)
    if options.only in (None, "photos"):
        add_case(figures, photos_case(folder, options.local_train.stem, model, photos, quick=options.quick))
    if options.only in (None, "photos", "labels"):
        learn = measure_learn(folder / "learn", model, photos)
        figures.add(learn_text(learn), learn=learn)
        audit = measure_audit(folder / "audit", model, photos)
        figures.add(audit_text(audit), audit=audit)
    if options.only == "half-known" or (options.only is None and not options.quick):
        known = measure_half_known(folder / "half-known", model)
        figures.add(half_known_text(known), half_known=known)


def add_case(figures: Figures, case: Case) -> None:
    found = run_case(case)
    figures.add(case_text(found), cases=[*figures["cases"], found])


def measure(options: argparse.Namespace, folder: Path) -> None:
    figures = Figures(options.json, quick=options.quick, cases=[], learn=None, audit=None, half_known=None)
    if options.only in (None, "digits"):
        (folder / "digits").mkdir()
        add_case(figures, digits_case(folder / "digits", DIGITS))
    if options.only != "digits":
        measure_photos(options, folder / "photos", figures)


def main() -> int:
    options = arguments()
    return in_folder("auto", "moil-auto-", options.keep, lambda folder: measure(options, folder))


if __name__ == "__main__":
    sys.exit(main())
