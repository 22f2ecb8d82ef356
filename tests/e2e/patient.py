"""patient.py SECONDS TEST [ARGUMENT ...]: runs a file of tests, and shows where it stands if it takes longer.

CTest ends a test that takes too long without a word. A little before that, this prints what each thread of
the test does, each process below it (state, what the kernel has it wait for) and the end of each daemon's log.
"""

from __future__ import annotations

import faulthandler
import os
import runpy
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_LOG_LINES = 15


def main() -> None:
    seconds, test, *_ = sys.argv[1:]
    watch = threading.Timer(0.95 * float(seconds), _show)
    watch.daemon = True
    watch.start()
    sys.argv = sys.argv[2:]
    try:
        runpy.run_path(test, run_name="__main__")
    finally:
        watch.cancel()


def _show() -> None:
    print("\n== it takes too long", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(all_threads=True)
    for process in _below(os.getpid()):
        _show_process(process)


def _below(process: int) -> Iterator[int]:
    """The processes that it started, and those that they did."""
    for children in sorted(Path(f"/proc/{process}/task").glob("*/children")):
        for child in map(int, _read(children).split()):
            yield child
            yield from _below(child)


def _show_process(process: int) -> None:
    words = _read(Path(f"/proc/{process}/cmdline")).split("\0")
    print(f"-- {process}: {' '.join(words)}", file=sys.stderr)
    for task in sorted(Path(f"/proc/{process}/task").glob("*")):
        name, call, state = (_read(task / file).strip() for file in ("comm", "syscall", "stat"))
        print(f"   {name}: {state.rpartition(')')[2][:2].strip()}, {_read(task / 'wchan')}, system call {call}", file=sys.stderr)
    if "--state-dir" in words:
        log = Path(words[words.index("--state-dir") + 1]).parent / "moild.log"
        print(*_read(log).splitlines()[-_LOG_LINES:], sep="\n", file=sys.stderr, flush=True)


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    main()
