"""report.json: the table and what it was made with, for machines."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .results import Memory, Run
from .settings import Settings
from .workplace import Workplace
from .samples import count, only


def report(settings: Settings, place: Workplace, runs: list[Run], second: Run, memory: Memory) -> dict[str, Any]:
    return {
        "runs": [run.to_json() for run in runs],
        "second_night": {"labels": count(place.later), **second.to_json()},
        "memory": asdict(memory),
        "samples": _samples(settings, place),
        "settings": _settings(settings),
        "machine": machine(),
    }


def machine() -> dict[str, Any]:
    return {"cpu": _cpu(), "cpus": os.cpu_count(), "system": platform.platform()}


def write_json(document: Any, file: Path) -> None:
    """Written aside and renamed, so that a reader never sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(file.name + ".new")
    aside.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    aside.replace(file)


def _samples(settings: Settings, place: Workplace) -> dict[str, dict[str, int]]:
    parts = {"train": place.train, "held_out": place.held_out}
    return {
        name: {
            "global": count(only(files, settings.global_classes)),
            "local": count(only(files, settings.local_classes)),
        }
        for name, files in parts.items()
    }


def _settings(settings: Settings) -> dict[str, Any]:
    document = asdict(settings)
    document["model"] = settings.model.name
    return document


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
