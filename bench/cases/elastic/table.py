"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from statistics import median
from typing import Any

from lib.table import mib, percent, table

from .claims import Claim
from .jobs import Trial, trials_of
from .studies import STUDIES, Study
from .summary import Summary, by_case, find, summaries


def text(document: dict[str, Any]) -> str:
    cases = by_case(trials_of(document))
    if document["study"]:
        study = STUDIES[document["study"]]
        return "\n\n".join(study_text(study, trials) for trials in cases.values())
    parts = [case_text(_title(trials), trials) for trials in cases.values()]
    judged = [Claim(**claim) for claim in document.get("claims", [])]
    return "\n\n".join([*parts, benches_text(document["benches"]), claims_text(judged)])


def study_text(study: Study, trials: list[Trial]) -> str:
    return f"{study.title}: {_title(trials)}\n\n{study.text(trials)}"


def _title(trials: list[Trial]) -> str:
    return f"{trials[0].model} on {trials[0].dataset}"


def case_text(title: str, results: list[Trial]) -> str:
    ways = summaries(results)
    full = find(ways, "full")
    header = ["method", "ρ", "seeds", "seconds", "/ full", "/ (ρ·full)", "local accuracy", "global accuracy", "planned MiB", "measured MiB", "remark"]
    return f"{title}\n\n{table(header, [_cells(way, full) for way in ways])}"


def _cells(way: Summary, full: Summary | None) -> list[str]:
    share = way.share_of(full) if full else None
    return [
        way.method,
        f"{way.rho:g}" if way.rho else "",
        str(len(way.done)),
        _number(way.seconds, 1),
        _number(share, 3),
        _number(share / way.rho, 3) if share and way.rho else "",
        accuracy_text(way),
        percent(way.global_accuracy) + (way.mark if way.global_accuracy is not None else ""),
        mib(way.planned_bytes),
        mib(way.peak_bytes),
        "; ".join(way.remarks_beside(full)),
    ]


def accuracy_text(way: Summary) -> str:
    """The mean, and the range if there are several accuracies."""
    if len(way.accuracies) < 2:
        return percent(way.accuracy) + way.mark
    return f"{percent(way.accuracy)}{way.mark} ({100 * min(way.accuracies):.1f}–{100 * max(way.accuracies):.1f})"


def benches_text(benches: list[dict[str, Any]]) -> str:
    header = ["elastic_bench", "tensors", "selector ms: median", "largest"]
    lines = []
    for bench in benches:
        figures = [f"{f(bench['selector_ms']):.1f}" for f in (median, max)]
        lines.append([bench["case"], str(bench["tensors"]), *figures])
    return table(header, lines)


def claims_text(claims: list[Claim]) -> str:
    words = {True: "yes", False: "NO", None: "–"}
    return table(["case", "claim", "holds", "figures"], [[c.case, c.text, words[c.holds], c.figures] for c in claims])


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
