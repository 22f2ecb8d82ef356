"""Command line: `python3 bench/cases/sounds` (scripts/bench audio-night calls it)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cases.sounds import table  # noqa: E402
from cases.sounds.esc10 import esc10_case  # noqa: E402
from cases.sounds.frontend import frontend  # noqa: E402
from cases.sounds.microphone import microphone  # noqa: E402
from cases.sounds.speakers import speakers_case  # noqa: E402
from cases.sounds.words import words_case  # noqa: E402
from lib.archives import extract  # noqa: E402
from lib.figures import Figures  # noqa: E402
from lib.frame import in_folder  # noqa: E402
from lib.sounds import data  # noqa: E402
from lib.sounds.world import import_tagger  # noqa: E402

CASES = ("esc10", "speakers", "words", "microphone", "frontend")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="audio-night", description="Audio networks, personalized with sounds.")
    parser.add_argument("--only", choices=CASES, action="append", help="this case; several times for several")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures")
    parser.add_argument("--quick", action="store_true", help="one fold, two speakers, one device B")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work there and keep everything")
    return parser.parse_args()


def measure(folder: Path, cases: list[str], quick: bool, figures: Figures) -> None:
    found: dict[str, Any]
    model = import_tagger(folder)
    if "esc10" in cases:
        sounds, clips = data.extract(data.FSDD, folder / "fsdd"), extract(data.ESC10, folder / "esc10")
        found = esc10_case(folder / "nights", model, sounds, clips, quick)
        found["factors"] = table.factors(found["runs"])
        figures.add(table.esc10_text(found), **found)
    if "speakers" in cases:
        found = speakers_case(folder / "speakers", model, data.extract(data.FSDD, folder / "people"), quick)
        figures.add(table.speakers_text(found["speakers"]), **found)
    if "words" in cases:
        found = words_case(folder / "words", model, data.extract(data.FSDD, folder / "speech"), extract(data.ESC10, folder / "places"), quick)
        figures.add(table.words_text(found), words=found)
    if "microphone" in cases:
        found = microphone(made(folder / "microphone"), quick)
        figures.add(table.microphone_text(found), microphone=found)
    if "frontend" in cases:
        found = frontend(made(folder / "frontend"))
        figures.add(table.frontend_text(found), frontend=found)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def main() -> int:
    options = arguments()
    if absent := data.missing():
        print(f"skipped: {absent} is absent (MOIL_SHARED_DATA names the folder of the data)")
        return 0

    def work(folder: Path) -> None:
        measure(folder, options.only or list(CASES), options.quick, Figures(options.json, quick=options.quick))

    return in_folder("audio-night", "moil-audio-", options.keep, work)


if __name__ == "__main__":
    sys.exit(main())
