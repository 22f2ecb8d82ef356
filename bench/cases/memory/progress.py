"""One line a row on stderr: which it is, and how long it took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    def __init__(self, total: int):
        self._total = total
        self._done = 0

    @contextmanager
    def row(self, title: str) -> Iterator[None]:
        self._done += 1
        began = time.monotonic()
        print(f"[{self._done}/{self._total}] {title} ...", end=" ", file=sys.stderr, flush=True)
        try:
            yield
        except BaseException:
            print("failed", file=sys.stderr, flush=True)
            raise
        print(f"{time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
