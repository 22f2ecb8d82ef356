"""What ours is beside: scripts of bench/peers, by a Python that has PyTorch or ONNX Runtime."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from lib import from_pypi
from lib.nested import TUNED_ON
from lib.programs import PEER_PYTHON, ROOT, build_dir, run
from lib.samples import Files
from lib.say import say
from lib.sounds import data
from lib.sounds.world import as_wav, listed

THREADS = 2


def peer(script: str, *words: str | Path, python: str | Path = PEER_PYTHON) -> Any:
    """The JSON that a script of bench/peers prints."""
    return json.loads(run([python, "-W", "ignore", ROOT / "bench" / "peers" / script, *words]))


def by_onnx_runtime(script: str, *words: str | Path) -> Any:
    """The same of a script that asks YAMNet; None if there is no ONNX Runtime."""
    try:
        python = from_pypi.with_onnx_runtime(build_dir())
    except from_pypi.NotToBeHad as error:
        say(f"without the peer: {error}")
        return None
    return peer(script, "--model", data.YAMNET, "--threads", str(THREADS), *words, python=python)


def yamnet_head(folder: Path, clips: Files, folds: list[int]) -> dict[str, Any] | None:
    """A linear head on YAMNet's embedding: its mean top-1 over the folds, and the seconds that embedding all clips
    and a fold's training take."""
    say("ESC-10: a linear head on YAMNet's embedding")
    files, embeddings = listed(as_wav(folder, clips)), folder / "embeddings.npy"
    embedding = by_onnx_runtime("sound_embedding.py", "--out", embeddings, *files)
    if embedding is None:
        return None
    found = peer("sound_head.py", "--embeddings", embeddings, "--judges", *map(str, folds), "--sounds", *files)
    return {
        "title": "a linear head on YAMNet's embedding, PyTorch",
        "local_after": fmean(fold["top1"] for fold in found),
        "seconds": embedding["seconds"] + fmean(fold["seconds"] for fold in found),
        "judged_by": "; ".join(f"fold {fold}" for fold in folds),
        "tuned_on": TUNED_ON,
        "each_fold": found,
    }
