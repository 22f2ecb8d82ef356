"""One dataset: a night with its settings, and a night without any, then each once more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from lib.moilctl import Moilctl
from lib.results import Result, Unset, result_of
from lib.say import say
from lib.settings import Basis


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
    basis: Basis  # of those jobs


TOLD = ("global_before", "global_after", "local_after", "seconds", "promoted", "stages", "chosen", "trials", "why")


def night_of(ctl: Moilctl, specs: list[dict[str, Any]], basis: Basis) -> Result:
    """The jobs one after the other, as one night."""
    nights = [result_of(Unset(spec["name"], spec["name"]), ctl.watch(ctl.submit(spec)), basis) for spec in specs]
    return replace(nights[-1], global_before=nights[0].global_before, seconds=sum(night.seconds for night in nights))


def run_case(case: Case) -> dict[str, Any]:
    """The case's figures, and the second night's beside the first's."""
    document: dict[str, Any] = {"dataset": case.dataset, "hand": {}}
    for name, specs in [("auto", [case.auto]), *case.hand.items()]:
        basis = case.basis.chosen_by_itself() if name == "auto" else case.basis
        with case.device(name) as device:
            say(f"{case.dataset}, {name}")
            first = night_of(device.ctl, specs, basis)
            device.label_later()
            second = night_of(device.ctl, specs, basis)
        figures = first.told(*TOLD) | {"second": second.told(*TOLD)}
        if name == "auto":
            document["auto"] = figures
        else:
            document["hand"][name] = figures
    return document
