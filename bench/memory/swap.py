"""The swap modes: memory, time, and what the disk alone would take."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .cases import SWAP_CASE, SWAPS, SwapCase
from .measure import Setting, ours
from .progress import Progress


def run_swaps(setting: Setting, folder: Path, progress: Progress) -> list[dict[str, Any]]:
    """A row a mode. RuntimeError where `folder` is no disk."""
    check_disk(folder)
    rows = []
    for swap in SWAPS:
        if setting.quick and not swap.quick:
            continue
        with progress.row(f"{SWAP_CASE.title}, swap {swap.mode}"):
            rows.append(_row(swap, ours(SWAP_CASE, setting, *swap.options, "--swap-folder", str(folder))))
    return rows


def check_disk(folder: Path) -> None:
    """Memory dressed as a file system would make swap look free of both costs."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["stat", "--file-system", "--format=%T", str(folder)]
    kind = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        raise RuntimeError(f"{folder} lies on {kind}, in memory; --swap-folder names one on a disk")


def roofline_ms(row: dict[str, Any]) -> float | None:
    """What an iteration's transfers take at the disk's measured speed, one after the other."""
    read, write = row["disk_read_bytes_per_second"], row["disk_write_bytes_per_second"]
    if not read or not write:
        return None
    return 1e3 * (row["bytes_read"] / read + row["bytes_written"] / write)


def _row(swap: SwapCase, figures: dict[str, Any]) -> dict[str, Any]:
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
    return row
