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
from .speech import Speech

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
    speech: Speech | None = None  # None: random frames


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


def row(case: Case, setting: Setting, swap_folder: Path) -> Figures:
    """A row: rounds of ours, ours with swap if the case wants that, then theirs. The median counts for times,
    the largest for peaks. A peer for which there is no memory leaves None."""
    first: list[Figures] = []
    swapped: list[Figures] = []
    second: list[Figures | None] = []
    for _ in range(setting.rounds):
        first.append(ours(case, setting))
        if case.swap_share is not None:
            swapped.append(ours(case, setting, *swap_options(case, first[0], swap_folder)))
        second.append(unless_out_of_memory(theirs, case, setting, first[0]["trained_layers"]))
    return {
        "model": case.title,
        "batch": case.batch,
        **({"speech": setting.speech.title if setting.speech else None} if case.speaks else {}),
        **_side(first, ["sorting_bytes", "choosing_peak_rss_bytes", "threads"]),
        **_peer(first[0], [figures for figures in second if figures]),
        **({"swap": swapped_side(swapped)} if swapped else {}),
    }


def swap_options(case: Case, whole: Figures, folder: Path) -> list[str]:
    """As NNTrainer's: what is swapped comes back one order ahead."""
    budget = int((case.swap_share or 0) * whole["planned_bytes"])
    words = ["--swap", "proactive", "--lookahead", "1", "--swap-budget", budget, "--swap-folder", folder]
    return [str(word) for word in words]


def swapped_side(runs: list[Figures]) -> Figures:
    keys = ["swaps", "bytes_read", "bytes_written", "waited_ms", "disk_read_bytes_per_second", "disk_write_bytes_per_second"]
    side = _side(runs, keys)
    return {**side, "roofline_ms": roofline_ms(side)}


def roofline_ms(figures: Figures) -> float | None:
    """What an iteration's transfers take at the disk's measured speed, one after the other."""
    read, write = figures["disk_read_bytes_per_second"], figures["disk_write_bytes_per_second"]
    if not read or not write:
        return None
    return 1e3 * (figures["bytes_read"] / read + figures["bytes_written"] / write)


def _side(runs: list[Figures], more: list[str]) -> Figures:
    return {
        **{key: runs[0][key] for key in ["lower_bound_bytes", "planned_bytes", *more]},  # the first chose the kernels
        "baseline_rss_bytes": _most(runs, "baseline_rss_bytes"),
        "peak_rss_bytes": _most(runs, "peak_rss_bytes"),
        "ms_per_iteration": _median(runs),
    }


def _peer(ours_: Figures, runs: list[Figures]) -> Figures:
    """Behind a check that it trains the same."""
    for figures in runs:
        _check_same(ours_, figures)
    return {
        "torch_baseline_rss_bytes": _most(runs, "baseline_rss_bytes") if runs else None,
        "torch_peak_rss_bytes": _most(runs, "peak_rss_bytes") if runs else None,
        "torch_ms_per_iteration": _median(runs) if runs else None,
        "torch_version": runs[0]["version"] if runs else None,
    }


def unless_out_of_memory(measure: Any, *arguments: Any) -> Figures | None:
    """A run's figures, or None if the machine has no memory for it."""
    try:
        return measure(*arguments)
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
        "--clip": case.clip,
        "--iterations": min(setting.iterations, 2) if case.large else setting.iterations,
        "--threads": setting.threads,
    }
    if case.speaks and setting.speech:
        words["--samples"] = setting.speech.file
    return [str(word) for pair in words.items() for word in pair]


def _most(figures: list[Figures], key: str) -> int:
    return max(f[key] for f in figures)


def _median(figures: list[Figures]) -> float:
    return statistics.median(f["ms_per_iteration"] for f in figures)
