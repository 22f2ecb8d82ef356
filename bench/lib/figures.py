"""The figures of a benchmark as they come."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any


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


def machine() -> dict[str, Any]:
    return {"cpu": _cpu(), "cpus": os.cpu_count(), "system": platform.platform()}


def write_json(document: Any, file: Path) -> None:
    """Written aside and renamed, so that a reader never sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(file.name + ".new")
    aside.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    aside.replace(file)


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
