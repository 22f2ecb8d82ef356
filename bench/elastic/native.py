"""elastic_bench: how long the selector takes, and how far predictions of a step are off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from night.night import say
from night.programs import build_dir, run

from .cases import Case


def selections(case: Case, model: Path) -> dict[str, Any]:
    say(f"{case.name}: the selector, and {case.selections} selections predicted and measured")
    command: list[str | Path] = [build_dir() / "bench" / "elastic_bench", "--model", model]
    command += ["--trainable-layers", str(case.trainable_layers), "--batch", str(case.training.batch)]
    command += ["--selections", str(case.selections), "--rounds", str(case.rounds)]
    return json.loads(run([*command, "--json"]))
