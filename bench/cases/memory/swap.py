"""The swap modes: memory, time, and what the disk alone would take."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .cases import SWAP_CASE, SwapCase, swaps
from .measure import Setting, ours, roofline_ms
from .progress import Progress


def run_swaps(setting: Setting, folder: Path, progress: Progress) -> list[dict[str, Any]]:
    """A row a mode; the modes take turns, for disk and machine are not the same from minute to minute.
    RuntimeError if `folder` is no disk."""
    check_disk(folder)
    modes = swaps(setting.quick)
    found: list[list[dict[str, Any]]] = [[] for _ in modes]
    for turn in range(turns(setting.quick)):
        for swap, figures in zip(modes, found):
            with progress.row(f"{SWAP_CASE.title}, swap {swap.mode}, turn {turn + 1}"):
                figures.append(ours(SWAP_CASE, setting, *swap.options, "--swap-folder", str(folder)))
    return [_row(swap, figures) for swap, figures in zip(modes, found)]


def turns(quick: bool) -> int:
    return 1 if quick else 3


def check_disk(folder: Path) -> None:
    """Memory dressed as a file system would make swap look free of both costs."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["stat", "--file-system", "--format=%T", str(folder)]
    kind = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise RuntimeError(f"{folder} lies on {kind}, in memory; --swap-folder names one on a disk")


def _row(swap: SwapCase, turns_: list[dict[str, Any]]) -> dict[str, Any]:
    """The turn of the median time, with the largest peak of all."""
    figures = dict(sorted(turns_, key=lambda f: f["ms_per_iteration"])[len(turns_) // 2])
    figures["peak_rss_bytes"] = max(f["peak_rss_bytes"] for f in turns_)
    keys = [
        "batch",
        "lower_bound_bytes",
        "planned_bytes",
        "baseline_rss_bytes",
        "peak_rss_bytes",
        "ms_per_iteration",
        "swaps",
        "bytes_read",
        "bytes_written",
        "waited_ms",
        "disk_read_bytes_per_second",
        "disk_write_bytes_per_second",
        "loss",
    ]
    row = {"model": SWAP_CASE.title, "mode": swap.mode, **{key: figures[key] for key in keys}}
    row["roofline_ms"] = roofline_ms(row)
    row["ms_of_each_turn"] = [f["ms_per_iteration"] for f in turns_]
    return row
