"""A small network that learns a table's global records, and what nights of it are trained with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.networks import dense, relu, write_model
from lib.pretrain import Pretrained
from lib.programs import program, run
from lib.settings import Basis, Row

from .tables import Table

HELD_OUT = 5  # every fifth record
HIDDEN = 32
# For cross-entropy and for squared errors in deviations, whose gradients do not fade as errors do.
RATES = {"classify": 0.05, "predict": 0.005}
BASIS = Basis("every fifth record", "no table: the settings are the same for all")
# The network is small: what its hidden layers learned of some labels serves the others, so the last
# two learn at night.
NIGHT = Row("night", "GDM+LF+FMC", 0.5, 2, cached=True, activate=True)


def pretrain_records(table: Table, known: Path, folder: Path, *, seed: int = 1) -> Pretrained:
    command: list[str | Path] = [program("moil-pretrain"), "train", "--model", _network(table, folder / "network.json")]
    command += ["--data", known, "--label-column", table.label_column, "--task", table.task]
    if table.task == "classify":  # named, for there may be a single one
        command += ["--classes", ",".join(sorted({record[table.label_column] for record in table.records() if not table.is_local(record)}))]
    command += ["--epochs", "40", "--learning-rate", str(RATES[table.task]), "--val-fraction", str(1 / HELD_OUT), "--seed", str(seed)]
    run([*command, "--out", folder / "base", "--json", folder / "base.json"])
    return Pretrained(folder / "base" / "model", folder / "base" / "pack", json.loads((folder / "base.json").read_text()))


def samples_of(table: Table, local: Path, folder: Path) -> dict[str, list[tuple[int, Path]]]:
    """Files by their label, numbered through: tables are sorted by what they were made from."""
    out = folder / "samples"
    run([program("moil-pretrain"), "images", "--data", local, "--label-column", table.label_column, "--out", out])
    files = enumerate(sorted(out.glob("*/*")))
    samples: dict[str, list[tuple[int, Path]]] = {}
    for number, file in files:
        samples.setdefault(file.parent.name, []).append((number, file))
    return samples


def job_spec(table: Table, row: Row, model: str, pack: Path) -> dict[str, Any]:
    """The guard lets a row pass that is there to show forgetting."""
    return {
        "name": f"{table.name}, {row.name}",
        "model": model,
        "settings": "defaults",
        "global": {"pack": str(pack.resolve()), "alpha": row.alpha},
        "freeze": {"trainable_layers": row.trainable_layers},
        "cache": {"enabled": row.cached},
        "train": {"epochs": 30, "batch": 8, "optimizer": {"learning_rate": RATES[table.task]}},
        "guard": {"max_global_drop": 0.1 if row.activate else 1.0},
        "seed": 1,
        "activate": row.activate,
    }


def _network(table: Table, file: Path) -> Path:
    layers = [dense("hidden1", "record", HIDDEN), relu("hidden1"), dense("hidden2", "hidden1_relu", HIDDEN), relu("hidden2")]
    layers.append(dense("outputs", "hidden2_relu", 1))  # pretraining gives it as many as there are
    return write_model(file, {"record": [len(table.records()[0]) - 1]}, layers)
