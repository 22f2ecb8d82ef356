"""Tables for people."""

from __future__ import annotations

import unicodedata
from typing import Any


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, aligned so that it also reads in a terminal."""
    widths = [max(_width(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(_pad(cell, width) for cell, width in zip(line, widths)) + " |" for line in lines)


def percent(fraction: float | None, digits: int = 1) -> str:
    return "–" if fraction is None else f"{100 * fraction:.{digits}f}%"


def mib(count: float | None) -> str:
    return "–" if count is None else f"{count / 2**20:.1f}"


def titled(run: dict[str, Any]) -> str:
    """A row's title, and that its model is not in service."""
    return str(run["title"]) + ("" if run.get("promoted", True) else " (kept back)")


def alpha_text(alpha: float) -> str:
    return f"{100 * alpha:g}%"


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
