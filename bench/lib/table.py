"""Tables for people."""

from __future__ import annotations

import unicodedata

from .results import Memory, Run

_HEADER = ["run", "α", "trained layers", "cache", "global before → after", "local before → after", "epochs", "seconds"]


def runs_table(runs: list[Run]) -> str:
    return table(_HEADER, [_cells(run) for run in runs])


def second_night_line(run: Run, labels: int) -> str:
    return (
        f"second night, {labels} more labels: {run.computed:,} feature maps computed, "
        f"{run.reused:,} reused; global {_change(run.global_before, run.global_after)}, "
        f"local {_change(run.local_before, run.local_after)}, {run.seconds:.1f} s"
    )


def memory_line(memory: Memory) -> str:
    return (
        f"memory (GDM+LF+FMC): predicted peak {_mib(memory.predicted_bytes)}, "
        f"measured peak {_mib(memory.measured_bytes)}"
    )


def epoch_line(uncached: Run, cached: Run) -> str:
    """Batches are read ahead on another thread, so that what caching saves may show in CPU time alone."""
    return (
        f"an epoch of training: {uncached.epoch_seconds:.3f} s ({uncached.epoch_cpu_seconds:.3f} s of CPU) "
        f"without cached feature maps, {cached.epoch_seconds:.3f} s ({cached.epoch_cpu_seconds:.3f} s) with"
    )


def exceeded_lines(runs: list[Run]) -> list[str]:
    """One for each run that took more memory than was predicted; there should be none."""
    return [
        f"memory: {run.title} was predicted to take {_mib(run.memory.predicted_bytes)} "
        f"and took {_mib(run.memory.measured_bytes)}"
        for run in runs
        if run.memory and run.memory.measured_bytes > run.memory.predicted_bytes
    ]


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, aligned so that it also reads in a terminal."""
    widths = [max(_width(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(_pad(cell, width) for cell, width in zip(line, widths)) + " |" for line in lines)


def percent(fraction: float | None, digits: int = 1) -> str:
    return "–" if fraction is None else f"{100 * fraction:.{digits}f}%"


def alpha_text(alpha: float) -> str:
    return f"{100 * alpha:g}%"


def _cells(run: Run) -> list[str]:
    return [
        run.title,
        alpha_text(run.alpha),
        str(run.trainable_layers),
        "yes" if run.cached else "no",
        _change(run.global_before, run.global_after),
        _change(run.local_before, run.local_after),
        str(run.epochs),
        f"{run.seconds:.1f}",
    ]


def _change(before: float | None, after: float) -> str:
    return f"{percent(before)} → {percent(after)}"


def _mib(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
