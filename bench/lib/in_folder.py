"""A benchmark's work in a folder of its own, and what is said when it fails."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .night import say
from .programs import ProgramError
from .results import JobFailed


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
