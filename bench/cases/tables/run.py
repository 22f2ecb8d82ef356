"""A table from pretraining to the night that learns its local records, and to ONNX and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.networks import dense, relu, write_model
from lib.pretrain import Pretrained
from lib.programs import program, run
from lib.results import Result, result_of
from lib.say import say
from lib.settings import Basis, Row

from .tables import Table

MODEL = "rows"
HELD_OUT = 5  # every fifth record
HIDDEN = 32
# For cross-entropy and for squared errors in deviations, whose gradients do not fade as errors do.
RATES = {"classify": 0.05, "predict": 0.005}
# The network is small: what its hidden layers learned of some labels serves the others, so the last
# two learn at night.
ROWS = [Row("alpha0", "α=0, all layers", 0.0, "all", cached=False), Row("night", "GDM+LF+FMC", 0.5, 2, cached=True, activate=True)]
# For outputs of 1 or a standard deviation, to fp32's rounding.
SAME = 1e-3


BASIS = Basis("every fifth record", "no table: the settings are the same for all")


@dataclass(frozen=True)
class Night:
    table: Table
    result: Result

    def to_json(self) -> dict[str, Any]:
        told = self.result.told("name", "metric", "global_before", "global_after", "local_before", "local_after", "seconds")
        state = "succeeded" if self.result.promoted else "rejected-by-guard"
        return {"dataset": self.table.name, "task": self.table.task, **told, "state": state}


def nights(table: Table, folder: Path) -> list[Night]:
    """One result a row of ROWS."""
    say(f"{table.name}: pretraining")
    known, local = table.split(folder)
    base = _pretrained(table, known, folder)
    samples = _samples(table, local, folder)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(base.model, MODEL)
        for label, files in samples.items():
            ctl.add_label([file for i, file in files if i % HELD_OUT], label, "train")
            ctl.add_label([file for i, file in files if i % HELD_OUT == 0], label, "val")
        results = [_night(table, row, ctl, base) for row in ROWS]
        held_out = [file for files in samples.values() for i, file in files if i % HELD_OUT == 0]
        _check_export(ctl, daemon.state / "models" / MODEL, held_out[:40], folder)
    return results


def _network(table: Table, file: Path) -> Path:
    layers = [dense("hidden1", "record", HIDDEN), relu("hidden1"), dense("hidden2", "hidden1_relu", HIDDEN), relu("hidden2")]
    layers.append(dense("outputs", "hidden2_relu", 1))  # pretraining gives it as many as there are
    return write_model(file, {"record": [len(table.records()[0]) - 1]}, layers)


def _pretrained(table: Table, known: Path, folder: Path) -> Pretrained:
    command: list[str | Path] = [program("moil-pretrain"), "train", "--model", _network(table, folder / "network.json")]
    command += ["--data", known, "--label-column", table.label_column, "--task", table.task]
    if table.task == "classify":  # named, for there may be a single one
        command += ["--classes", ",".join(sorted({record[table.label_column] for record in table.records() if not table.is_local(record)}))]
    command += ["--epochs", "40", "--learning-rate", str(RATES[table.task]), "--val-fraction", str(1 / HELD_OUT)]
    run([*command, "--out", folder / "base", "--json", folder / "base.json"])
    return Pretrained(folder / "base" / "model", folder / "base" / "pack", json.loads((folder / "base.json").read_text()))


def _samples(table: Table, local: Path, folder: Path) -> dict[str, list[tuple[int, Path]]]:
    """Files by their label, numbered through: tables are sorted by what they were made from."""
    out = folder / "samples"
    run([program("moil-pretrain"), "images", "--data", local, "--label-column", table.label_column, "--out", out])
    files = enumerate(sorted(out.glob("*/*")))
    samples: dict[str, list[tuple[int, Path]]] = {}
    for number, file in files:
        samples.setdefault(file.parent.name, []).append((number, file))
    return samples


def _night(table: Table, row: Row, ctl: Moilctl, base: Pretrained) -> Night:
    say(f"{table.name}: {row.title}")
    spec = {
        "name": f"{table.name}, {row.name}",
        "model": MODEL,
        "settings": "defaults",
        "global": {"pack": str(base.pack.resolve()), "alpha": row.alpha},
        "freeze": {"trainable_layers": row.trainable_layers},
        "cache": {"enabled": row.cached},
        "train": {"epochs": 30, "batch": 8, "optimizer": {"learning_rate": RATES[table.task]}},
        "guard": {"max_global_drop": 0.1 if row.activate else 1.0},
        "seed": 1,
        "activate": row.activate,
    }
    return Night(table, result_of(row, ctl.watch(ctl.submit(spec)), BASIS))


def _check_export(ctl: Moilctl, versions: Path, samples: Sequence[Path], folder: Path) -> None:
    """The version in service gives the same answers when it comes back from ONNX."""
    (serving,) = [version for version in ctl.json("model", "list")["models"] if version["active"]]
    file, again = folder / "exported.onnx", folder / "again"
    run([program("moil-onnx"), "export", versions / str(serving["version"]), "--out", file])
    run([program("moil-onnx"), "import", file, "--out", again])
    ctl.import_model(again, "again")
    answers = [_answers(ctl.json("predict", *samples, "--model", model)) for model in (MODEL, "again")]
    worst = max(abs(x - y) / max(1, abs(x)) for x, y in zip(*answers))
    if len(answers[0]) != len(answers[1]) or not worst < SAME:
        raise KeyError(f"{MODEL}: answers of the exported model differ by {worst}")


def _answers(reply: dict[str, Any]) -> list[float]:
    answers = []
    for one in reply["predictions"]:
        found = one["values"] if "values" in one else sorted(one["top"], key=lambda label: label["label"])
        answers += [each.get("value", each.get("probability")) for each in found]
    return answers
