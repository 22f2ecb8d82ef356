"""Progress, for people; results go to stdout."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    print(f"· {line}", file=sys.stderr, flush=True)
