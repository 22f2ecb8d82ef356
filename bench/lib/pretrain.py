"""moil-pretrain: the cloud phase."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .programs import program, run
from .settings import Training


@dataclass(frozen=True)
class Pretrained:
    """What `moil-pretrain train` left: a model folder, a global pack and its figures."""

    model: Path
    pack: Path
    figures: dict[str, Any]


def pretrain(
    description: Path,
    train: Path,
    held_out: Path,
    classes: list[str],
    training: Training,
    out: Path,
    *,
    groups: dict[str, list[str]] | None = None,
    threads: int | None = None,
    seed: int = 1,
    further: Sequence[str | Path] = (),
) -> Pretrained:
    """Trains a network from scratch and measures it on the held-out folder. `further` options are passed on."""
    figures = out.parent / f"{out.name}.json"
    command: list[str | Path] = [program("moil-pretrain"), "train", "--model", description]
    command += ["--data", train, "--val-data", held_out, "--format", "image-folder"]
    command += ["--classes", ",".join(classes), *training.options(), "--seed", str(seed), *further]
    command += ["--out", out, "--json", figures]
    if groups:
        command += ["--eval-groups", ";".join(f"{name}={','.join(names)}" for name, names in groups.items())]
    if threads:
        command += ["--threads", str(threads)]
    run(command, show_stderr=True)  # an epoch a line, with the time left
    return Pretrained(out / "model", out / "pack", json.loads(figures.read_text()))
