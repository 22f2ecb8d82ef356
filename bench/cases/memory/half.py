"""Training in half of what it takes: outputs made again, and swap."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from .cases import Case
from .measure import Setting, ours
from .progress import Progress
from .swap import check_disk, turns

# Its batch norms learn, so that no micro-batches may be taken.
HALF_CASE = Case("MobileNetV2 224", "mobilenet_v2", 32)
MODES = ("all of it", "made again", "swap, measured")


def run_half(setting: Setting, folder: Path, progress: Progress) -> list[dict[str, Any]]:
    """A row a mode, in turns: medians of times, the largest of peaks. RuntimeError if `folder` is no disk."""
    check_disk(folder)
    found: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}
    half = 0
    for turn in range(turns(setting.quick)):
        for mode in MODES:
            with progress.row(f"{HALF_CASE.title} in half its memory, {mode}, turn {turn + 1}"):
                found[mode].append(ours(HALF_CASE, setting, *_options(mode, half, folder)))
                half = half or found[mode][0]["planned_bytes"] // 2
    return [_row(mode, turns_, half) for mode, turns_ in found.items()]


def _options(mode: str, half: int, folder: Path) -> list[str]:
    if mode == "made again":
        return ["--again", str(half)]
    if mode == "swap, measured":
        return ["--swap", "proactive", "--swap-budget", str(half), "--measured", "--swap-folder", str(folder)]
    return []


def _row(mode: str, turns_: list[dict[str, Any]], half: int) -> dict[str, Any]:
    row = {key: turns_[0][key] for key in ("batch", "planned_bytes", "made_again", "loss")}
    row["peak_rss_bytes"] = max(t["peak_rss_bytes"] for t in turns_)
    times = [t["ms_per_iteration"] for t in turns_]
    row["ms_per_iteration"], row["ms_of_each_turn"] = statistics.median(times), times
    return {"model": HALF_CASE.title, "mode": mode, "half_bytes": half, **row}
