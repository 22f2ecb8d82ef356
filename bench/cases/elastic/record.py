"""The figures so far, in the file as soon as they are there: an interrupted run leaves its rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.figures import machine, write_json

from .cases import Case, Method
from .jobs import Trial, trials_of


@dataclass
class Record:
    file: Path | None
    document: dict[str, Any]
    results: list[Trial]

    def add(self, result: Trial) -> None:
        self.results.append(result)
        self.document["rows"].append(result.to_json())
        self.write()

    def add_bench(self, case: Case, figures: dict[str, Any]) -> None:
        benches = self.document["benches"]
        benches.append({"case": case.name, **figures})
        self.document["selector_ms"] = max(ms for bench in benches for ms in bench["selector_ms"])
        self.write()

    def find(self, case: Case, method: Method, seed: int) -> Trial | None:
        wanted = (case.name, method.name, method.rho, method.options, seed)
        return next((r for r in self.results if (r.case, r.method, r.rho, r.options, r.seed) == wanted), None)

    def of(self, case: Case) -> list[Trial]:
        return [result for result in self.results if result.case == case.name]

    def write(self) -> None:
        if self.file:
            write_json(self.document, self.file)


def new_record(file: Path | None, *, quick: bool, study: str | None) -> Record:
    return Record(file, {"quick": quick, "study": study, "machine": machine(), "rows": [], "benches": []}, [])


def resumed_record(file: Path, *, quick: bool, study: str | None) -> Record:
    """What an earlier run of the same kind left. Throws RuntimeError if it is of another kind."""
    try:
        document = json.loads(file.read_text())
        results = trials_of(document)
        kind = (document["quick"], document["study"])
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"{file} has no figures of this benchmark; without --resume it is written anew") from error
    if kind != (quick, study):
        raise RuntimeError(f"{file} is of another run (quick: {kind[0]}, study: {kind[1]}); name another file")
    return Record(file, document, results)
