"""Command line: `python3 bench/cases/elastic` (scripts/bench elastic calls it)."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.elastic import table  # noqa: E402
from cases.elastic.cases import CASES, COMPARED, GROCERY, METHODS, TRIED, Case, Method, cases, reduced, usual_seeds  # noqa: E402
from cases.elastic.claims import claims  # noqa: E402
from cases.elastic.data import archives  # noqa: E402
from cases.elastic.native import selections  # noqa: E402
from cases.elastic.place import Place, with_place  # noqa: E402
from cases.elastic.record import Record, new_record, resumed_record  # noqa: E402
from cases.elastic.studies import STUDIES, Study  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.table import percent  # noqa: E402


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="elastic", description="Ways of choosing what is trained, compared.")
    parser.add_argument("--quick", action="store_true", help="two cases, smaller and shorter, with one seed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; written anew after every row")
    names = [case.name for case in CASES]
    parser.add_argument("--case", action="append", choices=names, help="this case alone; may be repeated")
    parser.add_argument("--study", choices=STUDIES, help=f"one of the paper's studies instead ({GROCERY.name} unless --case is given)")
    parser.add_argument("--tune", action="store_true", help="try batches and learning rates on a part of the training images")
    parser.add_argument("--seeds", type=int, metavar="N", help="of the ways that are compared (3; with --quick 1)")
    parser.add_argument("--resume", action="store_true", help="do not measure again what FILE of --json has")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    options = parser.parse_args()
    if options.resume and not options.json:
        parser.error("--resume goes on with the FILE of --json: name it")
    if options.tune and (options.study or options.json):
        parser.error("--tune only prints what it finds: it goes without --study and --json")
    if options.seeds is not None and (options.tune or options.study):
        parser.error("--seeds is for the ways that are compared: studies have their own, --tune one")
    if options.seeds is None:
        options.seeds = usual_seeds(options.quick)
    if options.seeds < 1:
        parser.error("--seeds must be 1 or more")
    if options.study and not options.case:
        options.case = [GROCERY.name]
    return options


def record_of(options: argparse.Namespace) -> Record:
    if options.resume and options.json.exists():
        return resumed_record(options.json, quick=options.quick, study=options.study)
    return new_record(options.json, quick=options.quick, study=options.study)


def row(record: Record, place: Place, method: Method, seed: int, *, every_epoch: bool = False) -> None:
    if not record.find(place.case, method, seed):
        record.add(place.run(method, seed, every_epoch=every_epoch))


def measure(chosen: list[Case], folder: Path, options: argparse.Namespace) -> None:
    record = record_of(options)

    def work(place: Place) -> None:
        for seed in range(1, options.seeds + 1):
            for method in METHODS:
                row(record, place, method, seed)
        case = place.case
        if not _is_benched(record, case):
            record.add_bench(case, selections(case, place.model))
        print(table.case_text(case.title, record.of(case)) + "\n", flush=True)

    for case in chosen:
        with_place(case, folder / case.name, work)
    judged = claims(record.results, record.document["benches"])
    print(table.benches_text(record.document["benches"]) + "\n\n" + table.claims_text(judged))
    record.document["claims"] = [claim.to_json() for claim in judged]
    record.write()


def _is_benched(record: Record, case: Case) -> bool:
    """Or another case that has the same network."""
    alike = {other.name for other in CASES if _network(other) == _network(case)}
    return any(bench["case"] in alike for bench in record.document["benches"])


def _network(case: Case) -> tuple[Any, ...]:
    return case.model, case.trainable_layers, case.training.batch


def run_study(study: Study, chosen: list[Case], folder: Path, options: argparse.Namespace) -> None:
    record = record_of(options)

    def work(place: Place) -> None:
        for seed in study.seeds[:1] if options.quick else study.seeds:
            for method in study.methods:
                row(record, place, method, seed, every_epoch=study.every_epoch)
        print(table.study_text(study, record.of(place.case)) + "\n", flush=True)

    for case in chosen:
        with_place(case, folder / case.name, work)


def tune(chosen: list[Case], folder: Path) -> None:
    def work(place: Place) -> None:
        for batch, rate in TRIED:
            training = replace(place.case.training, batch=batch, learning_rate=rate)
            tried = replace(place, case=replace(place.case, training=training))
            found = {method.title: tried.run(method, 1).accuracy for method in COMPARED}
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
    for line in reduced(chosen, options.seeds) if options.quick else []:
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
    return in_folder("elastic", "moil-elastic-", options.keep, lambda folder: run(chosen, folder, options))


if __name__ == "__main__":
    sys.exit(main())
