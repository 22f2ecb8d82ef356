"""Command line: `python3 bench/elastic` (scripts/bench elastic calls it)."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from elastic import table  # noqa: E402
from elastic.cases import CASES, GROCERY, ONCE, REPEATED, TRIED, Case, cases, reduced, seeds  # noqa: E402
from elastic.claims import claims  # noqa: E402
from elastic.data import archives  # noqa: E402
from elastic.jobs import Result  # noqa: E402
from elastic.native import selections  # noqa: E402
from elastic.place import Place, with_place  # noqa: E402
from elastic.studies import STUDIES, Study  # noqa: E402
from image_night.data import missing  # noqa: E402
from night.night import say  # noqa: E402
from night.programs import ProgramError  # noqa: E402
from night.report import machine, write_json  # noqa: E402
from night.results import JobFailed  # noqa: E402
from night.table import percent  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="elastic", description="Ways of choosing what is trained, compared.")
    parser.add_argument("--quick", action="store_true", help="two cases, smaller and shorter, with one seed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; written anew after every row")
    names = [case.name for case in CASES]
    parser.add_argument("--case", action="append", choices=names, help="this case alone; may be repeated")
    parser.add_argument("--study", choices=STUDIES, help=f"one of the paper's studies instead ({GROCERY.name} unless --case is given)")
    parser.add_argument("--tune", action="store_true", help="try batches and learning rates on a part of the training images")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    options = parser.parse_args()
    if options.study and not options.case:
        options.case = [GROCERY.name]
    return options


@dataclass
class Record:
    """The figures so far, in the file as soon as they are there: an interrupted run leaves its rows."""

    file: Path | None
    document: dict[str, Any]
    results: list[Result]

    def add(self, result: Result) -> None:
        self.results.append(result)
        self.document["rows"].append(result.to_json())
        self.write()

    def add_bench(self, case: Case, figures: dict[str, Any]) -> None:
        benches = self.document["benches"]
        benches.append({"case": case.name, **figures})
        self.document["selector_ms"] = max(ms for bench in benches for ms in bench["selector_ms"])
        self.document["profile_error_percent"] = [error for bench in benches for error in bench["profile_error_percent"]]
        self.write()

    def write(self) -> None:
        if self.file:
            write_json(self.document, self.file)


def record_of(options: argparse.Namespace) -> Record:
    document = {"quick": options.quick, "study": options.study, "machine": machine(), "rows": [], "benches": []}
    return Record(options.json, document, [])


def measure(chosen: list[Case], folder: Path, options: argparse.Namespace) -> None:
    record = record_of(options)
    benched: set[tuple[Any, ...]] = set()

    def work(place: Place) -> None:
        for seed in seeds(options.quick):
            for method in REPEATED + (ONCE if seed == seeds(options.quick)[0] else []):
                record.add(place.run(method, seed))
        case = place.case
        alike = (case.model, case.trainable_layers, case.training.batch)
        if alike not in benched:  # two cases may have one network
            benched.add(alike)
            record.add_bench(case, selections(case, place.model))
        print(table.case_text(case.title, [r for r in record.results if r.case == case.name]) + "\n", flush=True)

    for case in chosen:
        with_place(case, folder / case.name, work)
    judged = claims(record.results, record.document["benches"])
    print(table.benches_text(record.document["benches"]) + "\n\n" + table.claims_text(judged))
    record.document["claims"] = [claim.to_json() for claim in judged]
    record.write()


def run_study(study: Study, chosen: list[Case], folder: Path, options: argparse.Namespace) -> None:
    record = record_of(options)

    def work(place: Place) -> None:
        began = len(record.results)
        for seed in study.seeds[:1] if options.quick else study.seeds:
            for method in study.methods:
                record.add(place.run(method, seed, every_epoch=study.every_epoch))
        print(f"{study.title}: {place.case.title}\n\n{study.text(record.results[began:])}\n", flush=True)

    for case in chosen:
        with_place(case, folder / case.name, work)


def tune(chosen: list[Case], folder: Path) -> None:
    def work(place: Place) -> None:
        for batch, rate in TRIED:
            training = replace(place.case.training, batch=batch, learning_rate=rate)
            tried = replace(place, case=replace(place.case, training=training))
            found = {method.title: tried.run(method, 1).accuracy for method in REPEATED}
            print(f"{place.case.name}, batch {batch}, learning rate {rate:g}: " + "; ".join(f"{title} {percent(a)}" for title, a in found.items()), flush=True)

    for case in chosen:
        with_place(case, folder / case.name, work, tuning=True)


def run(chosen: list[Case], folder: Path, options: argparse.Namespace) -> None:
    began = time.monotonic()
    if options.tune:
        tune(chosen, folder)
    elif options.study:
        run_study(STUDIES[options.study], chosen, folder, options)
    else:
        measure(chosen, folder, options)
    print(f"\nall together: {time.monotonic() - began:.0f} s")
    for line in reduced(chosen) if options.quick else []:
        print(f"reduced: {line}")


def main() -> int:
    options = arguments()
    chosen = cases(options.case, options.quick)
    absent = missing(*(archive for case in chosen for archive in archives(case)))
    if absent:
        print(f"skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return 0
    # Asked to end, it ends as by an error: the daemon is stopped and the folder removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    # Below /tmp and short: a socket's path may have 107 bytes at most.
    folder = options.keep or Path(tempfile.mkdtemp(prefix="moil-elastic-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run(chosen, folder, options)
    except (JobFailed, ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"elastic: {error}", file=sys.stderr)
        return 1
    finally:
        if not options.keep:
            say("cleaning up")
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
