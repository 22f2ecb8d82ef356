"""Command line: `python3 bench/cases/auto` (scripts/bench auto calls it)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.auto.audit import measure_audit  # noqa: E402
from cases.auto.case import run_case  # noqa: E402
from cases.auto.cases import digits_case, photos_case  # noqa: E402
from cases.auto.half_known import measure_half_known  # noqa: E402
from cases.auto.learn import measure_learn  # noqa: E402
from cases.auto.sampling import SAMPLINGS, measure_sampling  # noqa: E402
from lib.archives import missing  # noqa: E402
from lib.figures import machine, write_json  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.photos import data  # noqa: E402
from lib.photos.world import fetch_model  # noqa: E402
from lib.programs import ROOT  # noqa: E402
from lib.results import kept_back_mark  # noqa: E402
from lib.table import percent, table  # noqa: E402

DIGITS = ROOT / "build" / "data" / "digits.csv.gz"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="auto", description="Nights without settings beside nights set by hand.")
    parser.add_argument("--quick", action="store_true", help="the digits, and photos beside the shallow night alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures; the file grows as they come")
    parser.add_argument("--only", choices=["digits", "photos", "labels", "half-known", "sampling"], help="a dataset, learn and audit, learning what is half known, or importance sampling")
    parser.add_argument("--local-train", type=Path, default=data.LOCAL_TRAIN, metavar="TAR", help="photos, CLASS/FILE")
    parser.add_argument("--local-val", type=Path, default=data.LOCAL_VAL, metavar="TAR", help="held out, of the same classes")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def case_text(case: dict[str, Any]) -> str:
    header = ["night", "global before → after", "local", "seconds", "second night", "chosen"]
    lines = []
    for name, night in [("no settings", case["auto"]), *case["hand"].items()]:
        chosen = ", ".join(f"{key} {value}" for key, value in (night["chosen"] or {}).items())
        before = f"{percent(night['global_before'])} → {percent(night['global_after'])}"
        second = f"{night['second']['seconds']:.1f} s, {percent(night['second']['local_after'])}"
        name += "" if night["promoted"] else " (kept back)"
        lines.append([name, before, percent(night["local_after"]), f"{night['seconds']:.1f}", second, chosen])
    return f"{case['dataset']}\n" + table(header, lines) + f"\n{case['auto']['why']}"


def learn_text(learn: dict[str, Any]) -> str:
    lines = []
    for name in ("cold", "warm"):
        run = learn[name]
        change = f"{percent(run['global_before'])} → {percent(run['global_after'])}"
        name += "" if run["promoted"] else " (kept back)"
        lines.append([f"learn, {name}", str(learn["shots"]), change, percent(run["local_after"]), f"{run['seconds']:.1f}"])
    return table(["run", "photos a class", "global before → after", "local", "seconds"], lines)


def half_known_text(sets: list[dict[str, Any]]) -> str:
    lines = []
    for one in sets:
        kept = kept_back_mark(one["kept_back"], len(one["draws"]))
        local = f"{percent(one['local_mean'])}{kept} ({percent(one['local_worst'])})"
        lost = f"{percent(one['lost_mean'])}{kept} ({percent(one['lost_worst'])})"
        draws = len(one["draws"])
        lines.append([one["dataset"], str(draws), local, f"{one['reached']} of {draws}", lost])
    return table(["half known", "draws", "local (worst)", "80 % or more", "lost global (worst)"], lines)


def sampling_text(nights: list[dict[str, Any]]) -> str:
    lines = []
    for night in nights:
        for sampling in SAMPLINGS:
            run = night[sampling]
            to_goal = "never" if run["seconds_to_goal"] is None else f"{run['seconds_to_goal']:.1f}"
            after = [percent(run["global_after"]), percent(run["local_after"])]
            lines.append([night["night"], str(night["seed"]), sampling, *after, f"{run['train_seconds']:.1f}", to_goal])
    header = ["night", "seed", "sampling", "global", "local", "training, s", "s to the shuffled night's local"]
    return table(header, lines)


class Figures:
    """What is known so far; in the file, too, so that a run that is stopped leaves what it has."""

    def __init__(self, file: Path | None, quick: bool):
        self._file = file
        self._known: dict[str, Any] = {"machine": machine(), "quick": quick, "cases": [], "learn": None, "audit": None, "half_known": None, "sampling": None}

    def add_case(self, case: dict[str, Any]) -> None:
        self._known["cases"].append(case)
        self._told(case_text(case))

    def add(self, name: str, figures: Any, text: str) -> None:
        self._known[name] = figures
        self._told(text)

    def _told(self, text: str) -> None:
        print(text + "\n", flush=True)
        if self._file:
            write_json(self._known, self._file)


def measure_photos(options: argparse.Namespace, folder: Path, figures: Figures) -> None:
    absent = missing(data.GLOBAL, data.GLOBAL_VAL, options.local_train, options.local_val)
    if absent:
        print(f"photos skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return
    folder.mkdir()
    model = fetch_model(folder)
    photos = data.judged(folder, options.local_train, options.local_val)
    if options.only in (None, "photos"):
        figures.add_case(run_case(photos_case(folder, options.local_train.stem, model, photos, quick=options.quick)))
    if options.only in (None, "photos", "labels"):
        learn = measure_learn(folder / "learn", model, photos)
        figures.add("learn", learn, learn_text(learn))
        audit = measure_audit(folder / "audit", model, photos)
        figures.add("audit", audit, "audit: " + ", ".join(f"{key} {value}" for key, value in audit.items()))
    if options.only == "half-known" or (options.only is None and not options.quick):
        known = measure_half_known(folder / "half-known", model)
        figures.add("half_known", known, half_known_text(known))
    if options.only == "sampling" or (options.only is None and not options.quick):
        sampling = measure_sampling(folder / "sampling", model, photos)
        figures.add("sampling", sampling, sampling_text(sampling))


def measure(options: argparse.Namespace, folder: Path) -> None:
    figures = Figures(options.json, options.quick)
    if options.only in (None, "digits"):
        (folder / "digits").mkdir()
        figures.add_case(run_case(digits_case(folder / "digits", DIGITS)))
    if options.only != "digits":
        measure_photos(options, folder / "photos", figures)


def main() -> int:
    options = arguments()
    return in_folder("auto", "moil-auto-", options.keep, lambda folder: measure(options, folder))


if __name__ == "__main__":
    sys.exit(main())
