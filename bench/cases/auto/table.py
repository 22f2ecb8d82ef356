"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lib.results import kept_back_mark
from lib.table import percent, table


def text(document: dict[str, Any]) -> str:
    parts = [case_text(case) for case in document["cases"]]
    texts: dict[str, Callable[[Any], str]] = {"learn": learn_text, "audit": audit_text, "half_known": half_known_text}
    for member, told in texts.items():
        if document[member]:
            parts.append(told(document[member]))
    return "\n\n".join(parts)


def case_text(case: dict[str, Any]) -> str:
    header = ["night", "global before → after", "local", "seconds", "second night", "chosen"]
    lines = []
    for name, night in [("no settings", case["auto"]), *case["hand"].items()]:
        chosen = ", ".join(f"{key} {value}" for key, value in (night["chosen"] or {}).items())
        before = f"{percent(night['global_before'])} → {percent(night['global_after'])}"
        second = f"{night['second']['seconds']:.1f} s, {percent(night['second']['local_after'])}"
        name += "" if night["promoted"] else " (kept back)"
        lines.append([name, before, percent(night["local_after"]), f"{night['seconds']:.1f}", second, chosen])
    return f"{case['dataset']}\n" + table(header, lines) + f"\n{case['auto']['why']}"


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
