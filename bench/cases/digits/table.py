"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import alpha_text, mib, percent, table, titled

from . import sweeps

Run = dict[str, Any]  # Result.to_json()

_HEADER = ["run", "α", "trained layers", "cache", "global before → after", "local before → after", "epochs", "seconds"]


def text(document: dict[str, Any]) -> str:
    runs, second, of_sweeps = document["runs"], document["second_night"], document.get("sweeps", {})
    lines = [
        runs_table(runs),
        "",
        second_night_line(second),
        memory_line(document["memory"]),
        *exceeded_lines([*runs, *sum(of_sweeps.values(), []), second]),
        epoch_line(runs[-2], runs[-1]),
        f"all jobs together: {document['job_seconds']:.0f} s",
        *(f"reduced: {line}" for line in document["settings"]["reduced"]),
    ]
    for name, found in of_sweeps.items():
        lines += ["", sweeps.sweep_tables(sweeps.title_of(name, document["settings"]["alpha"]), found)]
    return "\n".join(lines)


def runs_table(runs: list[Run]) -> str:
    return table(_HEADER, [_cells(run) for run in runs])


def second_night_line(run: Run) -> str:
    return (
        f"second night, {run['labels']} more labels: {run['computed']:,} feature maps computed, "
        f"{run['reused']:,} reused; global {_change(run, 'global')}, local {_change(run, 'local')}, {run['seconds']:.1f} s"
    )


def memory_line(memory: dict[str, int]) -> str:
    return (
        f"memory (GDM+LF+FMC): predicted peak {mib(memory['predicted_bytes'])} MiB, "
        f"measured peak {mib(memory['measured_bytes'])} MiB"
    )


def epoch_line(uncached: Run, cached: Run) -> str:
    """Batches are read ahead on another thread, so that what caching saves may show in CPU time alone."""

    def seconds(run: Run, member: str) -> float:
        return float(run[member]) / max(1, run["epochs"])

    return (
        f"an epoch of training: {seconds(uncached, 'train_seconds'):.3f} s ({seconds(uncached, 'train_cpu_seconds'):.3f} s of CPU) "
        f"without cached feature maps, {seconds(cached, 'train_seconds'):.3f} s ({seconds(cached, 'train_cpu_seconds'):.3f} s) with"
    )


def exceeded_lines(runs: list[Run]) -> list[str]:
    """One for each run that took more memory than was predicted; there should be none."""
    return [
        f"memory: {run['title']} was predicted to take {mib(run['memory']['predicted_bytes'])} MiB "
        f"and took {mib(run['memory']['measured_bytes'])} MiB"
        for run in runs
        if run["memory"] and run["memory"]["measured_bytes"] > run["memory"]["predicted_bytes"]
    ]


def _cells(run: Run) -> list[str]:
    return [
        titled(run),
        "–" if run["alpha"] is None else alpha_text(run["alpha"]),
        str(run["trainable_layers"]),
        "yes" if run["cached"] else "no",
        _change(run, "global"),
        _change(run, "local"),
        str(run["epochs"]),
        f"{run['seconds']:.1f}",
    ]


def _change(run: Run, side: str) -> str:
    return f"{percent(run[f'{side}_before'])} → {percent(run[f'{side}_after'])}"
