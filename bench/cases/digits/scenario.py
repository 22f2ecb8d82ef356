"""The table of a scenario: every row, the second night, the memory line and the report."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.night import Night, centralised, pretrain_global, say, second_night, with_daemon
from lib.report import report
from lib.results import Run
from lib.settings import Settings
from lib.sweeps import Sweep
from lib.table import epoch_line, exceeded_lines, memory_line, runs_table, second_night_line
from lib.workplace import Workplace


@dataclass
class Outcome:
    runs: list[Run] = field(default_factory=list)
    second: Run | None = None
    sweeps: dict[str, list[Run]] = field(default_factory=dict)
    job_seconds: float = 0.0


def run_scenario(settings: Settings, place: Workplace, sweeps: list[Sweep] | None = None) -> Outcome:
    """Pretrains, runs every row through a daemon, then the sweeps and the second night."""
    outcome = Outcome()
    pretrained = pretrain_global(settings, place)
    accuracy = pretrained.figures["accuracy"]
    say(f"pretrained: {100 * accuracy:.1f}% on held-out images, {pretrained.figures['seconds']:.0f} s")
    outcome.runs.append(centralised(settings, place))

    def nights(night: Night) -> None:
        began = time.monotonic()
        # Sweeps come before the last row, which puts its model in service.
        *first, last = settings.rows()
        outcome.runs += [night.run(row) for row in first]
        for sweep in sweeps or []:
            outcome.sweeps[sweep.name] = [night.run(row) for row in sweep.rows]
        outcome.runs.append(night.run(last))
        outcome.second = second_night(night)
        outcome.job_seconds = time.monotonic() - began

    with_daemon(settings, place, pretrained, nights)
    return outcome


def print_outcome(settings: Settings, place: Workplace, outcome: Outcome) -> None:
    assert outcome.second is not None
    print(runs_table(outcome.runs))
    print()
    print(second_night_line(outcome.second, settings.kept_back))
    memory = outcome.runs[-1].memory
    if memory:
        print(memory_line(memory))
    for line in exceeded_lines([*outcome.runs, *sum(outcome.sweeps.values(), []), outcome.second]):
        print(line)
    cached, uncached = outcome.runs[-1], outcome.runs[-2]
    print(epoch_line(uncached, cached))
    print(f"all jobs together: {outcome.job_seconds:.0f} s", flush=True)
    for line in settings.reduced:
        print(f"reduced: {line}")


def report_of(settings: Settings, place: Workplace, outcome: Outcome) -> dict[str, Any]:
    assert outcome.second is not None
    memory = outcome.runs[-1].memory
    if memory is None:
        raise RuntimeError("the job's result says nothing of memory")
    document = report(settings, place, outcome.runs, outcome.second, memory)
    document["job_seconds"] = outcome.job_seconds
    if outcome.sweeps:
        document["sweeps"] = {name: [run.to_json() for run in runs] for name, runs in outcome.sweeps.items()}
    return document


