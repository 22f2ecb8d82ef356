"""What the benchmark prints."""

from __future__ import annotations

from lib.results import Memory, Result
from lib.table import alpha_text, mib, percent, table

_HEADER = ["run", "α", "trained layers", "cache", "global before → after", "local before → after", "epochs", "seconds"]


def runs_table(runs: list[Result]) -> str:
    return table(_HEADER, [_cells(run) for run in runs])


def second_night_line(run: Result, labels: int) -> str:
    return (
        f"second night, {labels} more labels: {run.computed:,} feature maps computed, "
        f"{run.reused:,} reused; global {_change(run.global_before, run.global_after)}, "
        f"local {_change(run.local_before, run.local_after)}, {run.seconds:.1f} s"
    )


def memory_line(memory: Memory) -> str:
    return (
        f"memory (GDM+LF+FMC): predicted peak {mib(memory.predicted_bytes)} MiB, "
        f"measured peak {mib(memory.measured_bytes)} MiB"
    )


def epoch_line(uncached: Result, cached: Result) -> str:
    """Batches are read ahead on another thread, so that what caching saves may show in CPU time alone."""
    return (
        f"an epoch of training: {uncached.epoch_seconds:.3f} s ({uncached.epoch_cpu_seconds:.3f} s of CPU) "
        f"without cached feature maps, {cached.epoch_seconds:.3f} s ({cached.epoch_cpu_seconds:.3f} s) with"
    )


def exceeded_lines(runs: list[Result]) -> list[str]:
    """One for each run that took more memory than was predicted; there should be none."""
    return [
        f"memory: {run.title} was predicted to take {mib(run.memory.predicted_bytes)} MiB "
        f"and took {mib(run.memory.measured_bytes)} MiB"
        for run in runs
        if run.memory and run.memory.measured_bytes > run.memory.predicted_bytes
    ]


def _cells(run: Result) -> list[str]:
    return [
        run.title + ("" if run.promoted else " (kept back)"),
        "–" if run.alpha is None else alpha_text(run.alpha),
        str(run.trainable_layers),
        "yes" if run.cached else "no",
        _change(run.global_before, run.global_after),
        _change(run.local_before, run.local_after),
        str(run.epochs),
        f"{run.seconds:.1f}",
    ]


def _change(before: float | None, after: float | None) -> str:
    return f"{percent(before)} → {percent(after)}"
