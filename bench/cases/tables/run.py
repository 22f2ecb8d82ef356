"""A table from pretraining to the night that learns its local records, and to ONNX and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.pretrain import Pretrained
from lib.programs import program, run
from lib.records.network import BASIS, HELD_OUT, NIGHT, job_spec, pretrain_records, samples_of
from lib.records.tables import Table
from lib.results import Result, result_of
from lib.say import say
from lib.settings import Row

MODEL = "rows"
ROWS = [Row("alpha0", "α=0, all layers", 0.0, "all", cached=False), NIGHT]
# For outputs of 1 or a standard deviation, to fp32's rounding.
SAME = 1e-3


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
    base = pretrain_records(table, known, folder)
    samples = samples_of(table, local, folder)
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


def _night(table: Table, row: Row, ctl: Moilctl, base: Pretrained) -> Night:
    say(f"{table.name}: {row.title}")
    return Night(table, result_of(row, ctl.watch(ctl.submit(job_spec(table, row, MODEL, base.pack))), BASIS))


def _check_export(ctl: Moilctl, versions: Path, samples: Sequence[Path], folder: Path) -> None:
    """The version in service gives the same answers when it comes back from ONNX."""
    (serving,) = [version for version in ctl.json("model", "list")["models"] if version["active"]]
    file, again = folder / "exported.onnx", folder / "again"
    run([program("moil-export"), versions / str(serving["version"]), "--out", file])
    run([program("moil-import"), file, "--out", again])
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
