"""Prints a benchmark's tables from the JSON that it left (scripts/bench NAME --table FILE)."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

# By the name that scripts/bench knows. Each has a table.py whose text() is all that the benchmark prints of its figures.
ROOMS = {
    "digits-night": "cases.digits",
    "cifar-night": "cases.digits",
    "image-night": "cases.photos",
    "audio-night": "cases.sounds",
    "voices": "cases.voices",
    "rows-night": "cases.tables",
    "sequence-nights": "cases.sequence_nights",
    "auto": "cases.auto",
    "first-hour": "cases.first_hour",
    "elastic": "cases.elastic",
    "memory": "cases.memory",
    "crash": "stress.crash",
    "load": "stress.load",
    "stall": "stress.stall",
    "nights": "stress.years",
}


def text_of(name: str, document: dict[str, Any]) -> str:
    text: str = importlib.import_module(f"{ROOMS[name]}.table").text(document)
    return text


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: scripts/bench NAME --table FILE.json", file=sys.stderr)
        return 64
    name, file = sys.argv[1:]
    if name not in ROOMS:
        print(f"bench: {name} has no tables to be made of JSON; these have: {', '.join(ROOMS)}", file=sys.stderr)
        return 64
    try:
        document = json.loads(Path(file).read_text())
        print(text_of(name, document))
    except (OSError, ValueError) as error:
        print(f"bench: {file}: {error}", file=sys.stderr)
        return 65
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        print(f"bench: {file} is not what {name} leaves with --json: {type(error).__name__} {error}", file=sys.stderr)
        return 65
    return 0


if __name__ == "__main__":
    sys.exit(main())
