"""A table from pretraining to the night that learns its local labels."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from night.daemon import Daemon
from night.moilctl import Moilctl
from night.night import say
from night.pretrain import Pretrained
from night.programs import program, run
from night.results import run_of_job
from night.settings import Row

from .tables import Table

MODEL = "rows"
HELD_OUT = 0.2
HIDDEN = 32
# The network is small: what its hidden layers learned of some labels serves the others, so the last
# two learn at night.
ROWS = [Row("alpha0", "α=0, all layers", 0.0, "all", cached=False), Row("night", "GDM+LF+FMC", 0.5, 2, cached=True)]


@dataclass
class Result:
    dataset: str
    task: str
    name: str
    global_before: float | None
    global_after: float | None
    local_before: float | None
    local_after: float | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def nights(table: Table, folder: Path) -> list[Result]:
    """One result a row of ROWS."""
    known = [label for label in table.labels() if label not in table.local]
    say(f"{table.name}: pretraining on {', '.join(known)}")
    base = _pretrained(table, known, folder)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(base.model, MODEL)
        for label in table.local:
            _label(ctl, label, _samples(table, label, folder))
        return [_night(table, row, ctl, base) for row in ROWS]


def _network(table: Table, known: list[str], file: Path) -> Path:
    def dense(name: str, source: str, units: int) -> dict[str, Any]:
        return {"name": name, "type": "fully_connected", "inputs": [source], "properties": {"units": units}}

    layers = [dense("hidden1", "record", HIDDEN), {"name": "relu1", "type": "relu", "inputs": ["hidden1"]}]
    layers += [dense("hidden2", "relu1", HIDDEN), {"name": "relu2", "type": "relu", "inputs": ["hidden2"]}]
    layers.append(dense("classes", "relu2", len(known)))
    head = {"format": "moil-model", "version": 1, "name": table.name, "inputs": [{"name": "record", "dims": [table.columns()]}]}
    file.write_text(json.dumps({**head, "layers": layers, "outputs": ["classes"]}))
    return file


def _pretrained(table: Table, known: list[str], folder: Path) -> Pretrained:
    command = [program("moil-pretrain"), "train", "--model", _network(table, known, folder / "network.json")]
    command += ["--data", table.file, "--label-column", table.label_column, "--classes", ",".join(known)]
    command += ["--epochs", "40", "--learning-rate", "0.05", "--val-fraction", str(HELD_OUT)]
    run([*command, "--out", folder / "base", "--json", folder / "base.json"])
    return Pretrained(folder / "base" / "model", folder / "base" / "pack", json.loads((folder / "base.json").read_text()))


def _samples(table: Table, label: str, folder: Path) -> list[Path]:
    out = folder / "samples" / label
    run([program("moil-pretrain"), "images", "--data", table.file, "--label-column", table.label_column, "--classes", label, "--out", out])
    return sorted((out / label).iterdir())


def _label(ctl: Moilctl, label: str, files: list[Path]) -> None:
    """Every fifth record is held out: tables are sorted by what they were made from."""
    every = round(1 / HELD_OUT)
    ctl.add_label([file for i, file in enumerate(files) if i % every], label, "train")
    ctl.add_label(files[::every], label, "val")


def _night(table: Table, row: Row, ctl: Moilctl, base: Pretrained) -> Result:
    say(f"{table.name}: {row.title}")
    spec = {
        "name": f"{table.name}, {row.name}",
        "model": MODEL,
        "global": {"pack": str(base.pack.resolve()), "alpha": row.alpha},
        "freeze": {"trainable_layers": row.trainable_layers},
        "cache": {"enabled": row.cached},
        "train": {"epochs": 30, "batch": 8, "optimizer": {"learning_rate": 0.05}},
        "guard": {"max_global_drop": 1.0},
        "seed": 1,
        "activate": False,
    }
    done = run_of_job(row, ctl.watch(ctl.submit(spec)))
    return Result(table.name, "classify", row.name, done.global_before, done.global_after, done.local_before, done.local_after, done.seconds)
