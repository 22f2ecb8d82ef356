"""The figures of a benchmark as they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .report import machine, write_json


class Figures(dict[str, Any]):
    """What is known so far; in the file, too, so that a run that is stopped leaves what it has."""

    def __init__(self, file: Path | None, **known: Any) -> None:
        super().__init__(known, machine=machine())
        self.file = file

    def add(self, text: str, **parts: Any) -> None:
        self.update(parts)
        print(text + "\n", flush=True)
        if self.file:
            write_json(self, self.file)
