"""What benchmarks have around them: options, a folder that goes with them, and a document of figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .figures import write_json
from .programs import ProgramError
from .results import JobFailed
from .say import say


def options_of(name: str, about: str | None, quick: str) -> argparse.ArgumentParser:
    """The options of scripts/bench NAME; `quick`: what is made smaller then."""
    parser = argparse.ArgumentParser(prog=f"scripts/bench {name}", description=about)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path)
    return parser


def run(name: str, measure: Callable[[Path], Any], text: Callable[[dict[str, Any]], str], to: Path | None) -> int:
    """Measures in a folder of its own, tells the figures and what is not as promised; the program's status."""
    with tempfile.TemporaryDirectory(prefix=f"moil-{name}-") as folder:
        figures = measure(Path(folder))
    document = asdict(figures)
    print(text(document))
    faults = figures.faults()
    for fault in faults:
        print(f"failed: {fault}")
    if to:
        write_json(document, to)
    return 1 if faults else 0


def in_folder(name: str, prefix: str, keep: Path | None, work: Callable[[Path], None]) -> int:
    """Works in `keep`, which stays, or in a new folder, which goes; the exit status. `name` begins what went wrong."""
    # Below /tmp and short: a socket's path may have 107 bytes at most.
    folder = keep or Path(tempfile.mkdtemp(prefix=prefix))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        work(folder)
    except (JobFailed, ProgramError, FileNotFoundError, RuntimeError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    finally:
        if not keep:
            say("cleaning up")
            shutil.rmtree(folder, ignore_errors=True)
    return 0
