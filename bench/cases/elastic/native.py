"""elastic_bench: how long the selector takes, and what steps of its selections take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib.programs import native, run
from lib.say import say

from .cases import Case


def selections(case: Case, model: Path) -> dict[str, Any]:
    say(f"{case.name}: the selector, and steps of what it selects")
    command: list[str | Path] = [native("elastic_bench"), "--model", model]
    command += ["--trainable-layers", str(case.trainable_layers), "--batch", str(case.training.batch)]
    command += ["--rounds", str(case.rounds)]
    return json.loads(run([*command, "--json"]))
