"""Command line: `python3 bench/cases/auto` (scripts/bench auto calls it)."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.auto import regret, table  # noqa: E402
from cases.auto.audit import measure_audit  # noqa: E402
from cases.auto.case import Case  # noqa: E402
from cases.auto.compare import run_case  # noqa: E402
from cases.auto.half_known import measure_half_known  # noqa: E402
from cases.auto.learn import measure_learn  # noqa: E402
from cases.auto.nights30 import measure_nights  # noqa: E402
from cases.auto.of_digits import digits_case  # noqa: E402
from cases.auto.of_photos import photos_case  # noqa: E402
from cases.auto.of_sounds import sound_cases  # noqa: E402
from cases.auto.of_tables import table_case  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.photos import data  # noqa: E402
from lib.photos.world import fetch_model  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.records.tables import fetched  # noqa: E402
from lib.sounds.data import missing as missing_sounds  # noqa: E402

DIGITS = ROOT / "build" / "data" / "digits.csv.gz"
PARTS = ["digits", "tables", "sounds", "photos", "labels", "half-known", "nights30"]
QUICK_PARTS = ["digits", "tables", "photos", "labels"]
SEEDS, QUICK_SEEDS = 3, 1
ELSEWHERE = "MOIL_SHARED_DATA names the folder of the data"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="auto", description="Nights without settings beside nights set by hand.")
    parser.add_argument("--quick", action="store_true", help="digits, tables, photos beside the shallow night alone, and labels; one seed, and nothing that a night tried is run by hand")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--only", choices=PARTS, help="this part: some datasets, learn and audit of labels, learning what is half known, or thirty nights")
    parser.add_argument("--seeds", type=int, metavar="N", help=f"nights of each row, of which medians are told ({SEEDS}; --quick: {QUICK_SEEDS})")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="photos, CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything but feature maps")
    options = parser.parse_args()
    if options.seeds is None:
        options.seeds = QUICK_SEEDS if options.quick else SEEDS
    if options.seeds < 1:
        parser.error("--seeds is a number of nights, 1 at least")
    return options


def skipped(part: str, why: str) -> None:
    print(f"{part} skipped: {why}", flush=True)


class Bench:
    """The parts, and what several of them need, made once. What is absent is said once."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.figures = Figures(options.json, quick=options.quick, seeds=options.seeds, cases=[], learn=None, audit=None, half_known=None, nights30=None, regret=None)

    def run(self) -> None:
        parts: dict[str, Callable[[], None]] = {
            "digits": lambda: self.compare([self.digits] if self.digits else [], "digits"),
            "tables": lambda: self.compare(self.tables(), "tables"),
            "sounds": lambda: self.compare(self.sounds(), "sounds"),
            "photos": lambda: self.compare([self.photos_case] if self.photos else [], "photos"),
            "labels": self.labels,
            "half-known": self.half_known,
            "nights30": self.nights,
        }
        for part in [self.options.only] if self.options.only else QUICK_PARTS if self.options.quick else PARTS:
            parts[part]()
        if self.figures["regret"]:
            print(table.regret_text(self.figures["regret"]))

    def compare(self, cases: Iterator[Case] | list[Case], name: str) -> None:
        seeds, tries = range(1, self.options.seeds + 1), not self.options.quick
        for i, case in enumerate(cases):
            found = run_case(case, self.folder / f"{name}-{i}", seeds, tries=tries)
            known = [*self.figures["cases"], found]
            self.figures.add(table.case_text(found), cases=known, regret=regret.over_cases(known))

    @cached_property
    def digits(self) -> Case | None:
        if not DIGITS.is_file():
            skipped("digits", f"{DIGITS} is absent (scripts/bench auto fetches it)")
            return None
        (folder := self.folder / "digits").mkdir()
        return digits_case(folder, DIGITS)

    def tables(self) -> Iterator[Case]:
        (folder := self.folder / "tables").mkdir()
        try:
            known = fetched(folder)
        except subprocess.CalledProcessError as error:
            skipped("tables", f"they are not to be had ({Path(error.cmd[0]).name} exited {error.returncode})")
            return
        for i, one in enumerate(known):
            yield table_case(folder / str(i), one)

    def sounds(self) -> Iterator[Case]:
        if absent := missing_sounds():
            skipped("sounds", f"{absent} is absent ({ELSEWHERE})")
            return
        yield from sound_cases(self.folder / "sounds", quick=self.options.quick)

    @cached_property
    def photos(self) -> tuple[Path, data.Photos] | None:
        """With the network that learns them."""
        train, val = self.options.local_train, self.options.local_val
        if absent := missing(data.GLOBAL, data.GLOBAL_VAL, train, val):
            skipped("photos", f"{absent} is absent ({ELSEWHERE})")
            return None
        (folder := self.folder / "photos").mkdir()
        return fetch_model(folder), data.judged(folder, train, val)

    @cached_property
    def photos_case(self) -> Case:
        assert self.photos
        return photos_case(self.folder / "photos" / "case", self.options.local_train.stem, *self.photos, quick=self.options.quick)

    def labels(self) -> None:
        if self.photos:
            learn = measure_learn(self.folder / "learn", *self.photos)
            self.figures.add(table.learn_text(learn), learn=learn)
            audit = measure_audit(self.folder / "audit", *self.photos)
            self.figures.add(table.audit_text(audit), audit=audit)

    def half_known(self) -> None:
        if absent := missing(data.GLOBAL_TUNE, data.LOCAL_TRAIN, data.LOCAL_VAL):
            skipped("half-known", f"{absent} is absent ({ELSEWHERE})")
        elif self.photos:
            known = measure_half_known(self.folder / "half-known", self.photos[0])
            self.figures.add(table.half_known_text(known), half_known=known)

    def nights(self) -> None:
        for case in [self.digits, self.photos_case if self.photos else None]:
            if case:
                found = measure_nights(case, self.folder / f"nights30-{case.dataset}")
                self.figures.add(table.nights_text([found]), nights30=[*(self.figures["nights30"] or []), found])


def main() -> int:
    options = arguments()
    return in_folder("auto", "moil-auto-", options.keep, lambda folder: Bench(options, folder).run())


if __name__ == "__main__":
    sys.exit(main())
