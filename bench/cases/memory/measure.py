"""Runs memory_bench and the peer, each in a process of its own, and takes their figures."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.programs import ROOT, ProgramError, native, run

from .cases import Case
from .models import path_of

Figures = dict[str, Any]

# What a process says that was refused memory: the standard library, ours, PyTorch.
OUT_OF_MEMORY = ("bad_alloc", "cannot map a memory pool", "can't allocate memory")


@dataclass(frozen=True)
class Setting:
    """How every case is run. `folder` holds the generated models and what was measured."""

    folder: Path
    iterations: int
    rounds: int
    threads: int
    quick: bool


def ours(case: Case, setting: Setting, *more: str) -> Figures:
    """memory_bench's JSON object; `more`: options of its own."""
    program = native("memory_bench")
    words: list[str | Path] = [program, "--json", *_common(case, setting), *more]
    words += ["--profile", setting.folder / "kernels.json"]  # measured once, for every run
    if case.trainable_layers is not None:
        words += ["--trainable-layers", str(case.trainable_layers)]
    if case.freeze:
        words += ["--freeze", case.freeze]
    return json.loads(run(words))


def theirs(case: Case, setting: Setting, trained: list[str]) -> Figures:
    """The peer's JSON object. `trained`: names of the layers that it trains."""
    peer = ROOT / "bench" / "peers" / "torch_training.py"
    return json.loads(run([sys.executable, peer, *_common(case, setting), "--trained", ",".join(trained)]))


def row(case: Case, setting: Setting) -> Figures:
    """A row: rounds of ours, then theirs. The median counts for times, the largest for peaks."""
    first: list[Figures] = []
    second: list[Figures] = []
    for _ in range(setting.rounds):
        first.append(ours(case, setting))
        second.append(theirs(case, setting, first[0]["trained_layers"]))
    _check_same(first[0], second[0])
    keys = ["lower_bound_bytes", "sorting_bytes", "planned_bytes", "choosing_peak_rss_bytes", "threads"]
    return {
        "model": case.title,
        "batch": case.batch,
        **{key: first[0][key] for key in keys},  # the first chose the kernels
        "baseline_rss_bytes": _most(first, "baseline_rss_bytes"),
        "peak_rss_bytes": _most(first, "peak_rss_bytes"),
        "ms_per_iteration": _median(first),
        "torch_baseline_rss_bytes": _most(second, "baseline_rss_bytes"),
        "torch_peak_rss_bytes": _most(second, "peak_rss_bytes"),
        "torch_ms_per_iteration": _median(second),
        "torch_version": second[0]["version"],
    }


def peak_or_none(measure: Any, *arguments: Any) -> int | None:
    """The peak of a run, or None if the machine has no memory for it."""
    try:
        return measure(*arguments)["peak_rss_bytes"]
    except ProgramError as error:
        if error.code == -9 or any(sign in error.stderr for sign in OUT_OF_MEMORY):
            return None
        raise


def _check_same(ours_: Figures, theirs_: Figures) -> None:
    for key in ("trained_weights", "threads"):
        if ours_[key] != theirs_[key]:
            raise RuntimeError(f"the peer differs in {key}: {theirs_[key]}, ours {ours_[key]}")


def _common(case: Case, setting: Setting) -> list[str]:
    words = {
        "--model": path_of(case.model, setting.folder),
        "--batch": case.batch,
        "--loss": case.loss,
        "--iterations": setting.iterations,
        "--threads": setting.threads,
    }
    return [str(word) for pair in words.items() for word in pair]


def _most(figures: list[Figures], key: str) -> int:
    return max(f[key] for f in figures)


def _median(figures: list[Figures]) -> float:
    return statistics.median(f["ms_per_iteration"] for f in figures)
