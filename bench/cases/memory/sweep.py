"""Peak memory by batch size, and the largest batch that a small device has room for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable

from .cases import SWEEP_BATCHES, SWEEP_BATCHES_QUICK, SWEEP_LIMIT, SWEEP_MODEL, Case
from .measure import Setting, ours, theirs, unless_out_of_memory
from .models import layer_names, path_of
from .progress import Progress

Peak = Callable[[int], "int | None"]  # of a batch size; None if there is no memory for it
STEP = 8  # batch sizes that are tried are multiples of it


def batches(quick: bool) -> list[int]:
    return SWEEP_BATCHES_QUICK if quick else SWEEP_BATCHES


def run_sweep(setting: Setting, progress: Progress) -> dict[str, Any]:
    case = Case(SWEEP_MODEL, SWEEP_MODEL, 0)
    short = replace(setting, iterations=1)
    trained = layer_names(path_of(SWEEP_MODEL, setting.folder))
    sides: dict[str, Peak] = {
        "ours": lambda batch: _peak(ours, replace(case, batch=batch), short),
        "torch": lambda batch: _peak(theirs, replace(case, batch=batch), short, trained),
    }
    peaks: dict[str, dict[int, int | None]] = {side: {} for side in sides}
    for batch in batches(setting.quick):
        with progress.row(f"{SWEEP_MODEL}, batch {batch}, memory alone"):
            for side, peak in sides.items():
                peaks[side][batch] = peak(batch)
    sweep: dict[str, Any] = {"model": SWEEP_MODEL, "limit_bytes": SWEEP_LIMIT}
    sweep |= {"rows": _rows(peaks), "refined": not setting.quick}
    for side, peak in sides.items():
        with progress.row(f"{SWEEP_MODEL}, largest batch in {SWEEP_LIMIT >> 20} MiB, {side}"):
            sweep[f"{side}_largest_batch"] = largest_batch(peaks[side], peak, refine=not setting.quick)
    return sweep


def _peak(*run: Any) -> int | None:
    figures = unless_out_of_memory(*run)
    return figures and figures["peak_rss_bytes"]


def largest_batch(known: dict[int, int | None], peak: Peak, refine: bool) -> int:
    """The largest batch within the limit, 0 for none. `refine`: between those known, too."""
    fits = {batch: size is not None and size <= SWEEP_LIMIT for batch, size in known.items()}
    low = max((batch for batch, fit in fits.items() if fit), default=0)
    high = min((batch for batch, fit in fits.items() if not fit and batch > low), default=None)
    if not refine or high is None:
        return low
    while high - low > STEP:
        middle = (low + high) // 2 // STEP * STEP
        size = peak(middle)
        if size is not None and size <= SWEEP_LIMIT:
            low = middle
        else:
            high = middle
    return low


def _rows(peaks: dict[str, dict[int, int | None]]) -> list[dict[str, Any]]:
    return [
        {"batch": batch, "peak_rss_bytes": peaks["ours"][batch], "torch_peak_rss_bytes": peaks["torch"][batch]}
        for batch in peaks["ours"]
    ]
