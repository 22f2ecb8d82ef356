"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lib.results import kept_back_mark
from lib.table import percent, table

from .tried import words


def text(document: dict[str, Any]) -> str:
    parts = [case_text(case) for case in document["cases"]]
    texts: dict[str, Callable[[Any], str]] = {"learn": learn_text, "audit": audit_text, "half_known": half_known_text, "nights30": nights_text, "regret": regret_text}
    for member, told in texts.items():
        if document[member]:
            parts.append(told(document[member]))
    return "\n\n".join(parts)


def case_text(case: dict[str, Any]) -> str:
    header = ["night", "global before → after", "local", "seconds", "second night", "chosen"]
    lines = [_night_cells(name, night) for name, night in [("no settings", case["auto"]), *case["hand"].items()]]
    seeds = len(case["auto"]["runs"])
    title = case["dataset"] + (f", medians of {seeds} seeds (least to most)" if seeds > 1 else "")
    reasons = dict.fromkeys(run["why"] for run in case["auto"]["runs"])
    return "\n".join([title, table(header, lines), *reasons, *([tried_text(case)] if case["tried"] is not None else [])])


def _night_cells(name: str, night: dict[str, Any]) -> list[str]:
    second = night["second"]
    chosen = dict.fromkeys(f"{words(run['chosen'])}, {run['chosen']['epochs']} epochs" for run in night["runs"] if run["chosen"])
    return [
        name + kept_back_mark(night["kept_back"], len(night["runs"])),
        f"{score(night, night['global_before'])} → {_spread(night, 'global_after', score)}",
        _spread(night, "local_after", score),
        _spread(night, "seconds", seconds),
        f"{seconds(second, second['seconds'])} s, {score(second, second['local_after'])}",
        "; ".join(chosen),
    ]


def _spread(night: dict[str, Any], name: str, told: Callable[[dict[str, Any], float | None], str]) -> str:
    """The median, and where the seeds lie if they differ."""
    least, most = told(night, night["least"][name]), told(night, night["most"][name])
    return told(night, night[name]) + (f" ({least} to {most})" if least != most else "")


def score(night: dict[str, Any], value: float | None) -> str:
    """R2 is no share."""
    return f"{value:.3f}" if night["metric"] == "R2" and value is not None else percent(value)


def seconds(_: dict[str, Any], value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def tried_text(case: dict[str, Any]) -> str:
    """What was tried, what it cost in trials, and what it would have brought as a night of its own."""
    header = ["what was tried", "its trial, s", "local and global there", "the night of it: global before → after", "local", "seconds"]
    lines = [_tried_cells(one, case["auto"]) for one in case["tried"]]
    points, lost = case["regret_points"], case["regret_seconds"]
    return table(header, lines) + f"\nregret: {points:.1f} points to {case['best']}, {lost:.1f} s to {case['cheapest']}"


def _tried_cells(one: dict[str, Any], like: dict[str, Any]) -> list[str]:
    trial, night = one["trial"], one["night"]
    title = words(one["settings"]) + (" (chosen)" if one["chosen"] else "")
    cost = [seconds(like, trial["seconds"]), f"{score(like, trial['local'])}, {score(like, trial['global'])}"] if trial else ["–", "–"]
    if night is None:
        return [title, *cost, one["failed"], "–", "–"]
    return [title, *cost, f"{score(night, night['global_before'])} → {score(night, night['global_after'])}", score(night, night["local_after"]), seconds(night, night["seconds"])]


def regret_text(regret: dict[str, Any]) -> str:
    points, lost = regret["points"], regret["seconds"]
    return (
        f"regret over all cases: {points['mean']:.1f} points on average, {points['worst']:.1f} at most ({points['worst_of']}); "
        f"{lost['mean']:.1f} s on average, {lost['worst']:.1f} at most ({lost['worst_of']})"
    )


def nights_text(found: list[dict[str, Any]]) -> str:
    header = ["night after night", "nights", "samples", "global", "local", "one night over all: global", "local", "seconds beyond maps: median", "worst"]
    lines = []
    for one in found:
        judged = [score(one[name], one[name][side]) for name in ("last", "single") for side in ("global_in_service", "local_in_service")]
        beyond = one["seconds_beyond_maps"]
        lines.append([one["dataset"], str(len(one["nights"])), str(one["samples"]), *judged, f"{beyond['median']:.1f}", f"{beyond['worst']:.1f}"])
    return table(header, lines)


def learn_text(learn: dict[str, Any]) -> str:
    lines = []
    for name in ("cold", "warm"):
        run = learn[name]
        change = f"{percent(run['global_before'])} → {percent(run['global_after'])}"
        name += "" if run["promoted"] else " (kept back)"
        lines.append([f"learn, {name}", str(learn["shots"]), change, percent(run["local_after"]), f"{run['seconds']:.1f}"])
    return table(["run", "photos a class", "global before → after", "local", "seconds"], lines)


def half_known_text(sets: list[dict[str, Any]]) -> str:
    lines = []
    for one in sets:
        kept = kept_back_mark(one["kept_back"], len(one["draws"]))
        local = f"{percent(one['local_mean'])}{kept} ({percent(one['local_worst'])})"
        lost = f"{percent(one['lost_mean'])}{kept} ({percent(one['lost_worst'])})"
        draws = len(one["draws"])
        lines.append([one["dataset"], str(draws), local, f"{one['reached']} of {draws}", lost])
    return table(["half known", "draws", "local (worst)", "80 % or more", "lost global (worst)"], lines)


def audit_text(audit: dict[str, Any]) -> str:
    return "audit: " + ", ".join(f"{key} {value}" for key, value in audit.items())
