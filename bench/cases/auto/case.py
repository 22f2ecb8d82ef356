"""One dataset: a night with its settings, and a night without any, then each once more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from lib.moilctl import Moilctl
from lib.results import result_of
from lib.say import say


@dataclass
class Night:
    """What a night came to; `chosen` by the night itself."""

    global_before: float | None
    global_after: float
    local_after: float
    seconds: float
    promoted: bool
    stages: dict[str, float]
    chosen: dict[str, Any] | None = None
    trials: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass
class Device:
    """A daemon with the model imported and the first photos labelled."""

    ctl: Moilctl
    label_later: Callable[[], None]  # what comes before the second night


@dataclass
class Case:
    dataset: str
    device: Callable[[str], AbstractContextManager[Device]]  # by a name for its folder
    auto: dict[str, Any]  # a job's description
    # Jobs of one night by name of the row, the later ones from the model of the earlier.
    hand: dict[str, list[dict[str, Any]]]


def night_of(ctl: Moilctl, specs: list[dict[str, Any]]) -> Night:
    """The jobs one after the other, as one night."""
    nights = [_job(ctl, spec) for spec in specs]
    last = nights[-1]
    last.global_before = nights[0].global_before
    last.seconds = sum(night.seconds for night in nights)
    return last


def _job(ctl: Moilctl, spec: dict[str, Any]) -> Night:
    result = result_of(spec["name"], ctl.watch(ctl.submit(spec)))
    details = result["details"]
    auto = details.get("auto") or {}
    return Night(
        global_before=result["global_before"],
        global_after=result["global_after"],
        local_after=result["local_after"],
        seconds=result["seconds"],
        promoted=result["promoted"],
        stages=details.get("stages", {}),
        chosen=auto.get("chosen"),
        trials=auto.get("trials", []),
        why=auto.get("why", ""),
    )


def run_case(case: Case) -> dict[str, Any]:
    """The case's figures, and the second night's beside the first's."""
    document: dict[str, Any] = {"dataset": case.dataset, "hand": {}}
    for name, specs in [("auto", [case.auto]), *case.hand.items()]:
        with case.device(name) as device:
            say(f"{case.dataset}, {name}")
            first = night_of(device.ctl, specs)
            device.label_later()
            second = night_of(device.ctl, specs)
        figures = first.to_json() | {"second": second.to_json()}
        if name == "auto":
            document["auto"] = figures
        else:
            document["hand"][name] = figures
    return document
