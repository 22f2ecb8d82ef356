"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lib.table import mib, percent, table

_BIRDS = ["network", "night", "top-1", "of what is taught", "AUC", "agreement", "calibration error", "strangers called", "in any window", "seconds", "peak MiB"]
_BESIDE = ["its own recipe: of what is taught", "calibration error", "strangers called"]
_IMPORTS = ["file", "of", "MiB", "operators", "kinds", "the most", "seconds", "largest relative error", "of LiteRT's other kernels"]
_WORDS = ["user", "night", "others' digits", "told from", "recall", "false accepts", "in hours of speech", "seconds"]
_VERIFIER = ["verifier's recall", "false accepts", "from any: recall", "false accepts"]


def _guard(state: str) -> str:
    return "passed" if state == "succeeded" else "kept back"


def imports_text(found: list[dict[str, Any]]) -> str:
    rows = []
    for one in found:
        counts = one["operators"]
        often = ", ".join(f"{counts[kind]} {kind}" for kind in sorted(counts, key=lambda kind: (-counts[kind], kind))[:3])
        seconds = "–" if one["seconds"] is None else f"{one['seconds']:.2f}"
        cells = [one["file"], one["package"], mib(one["bytes"]), str(sum(counts.values())), str(len(counts)), often, seconds]
        rows.append([*cells, f"{one['error']:.1e}", f"{one['litert_error']:.1e}"])
    return table(_IMPORTS, rows)


def birds_text(found: list[dict[str, Any]]) -> str:
    rows = []
    for one in found:
        shares = [percent(one[name]) for name in ("top1", "top1_of_taught", "auc", "agreement", "calibration_error", "strange_called", "strange_heard")]
        beside = [percent(one[f"peer_{name}"]) for name in ("top1_of_taught", "calibration_error", "strange_called")]
        rows.append([one["network"], _guard(one["state"]), *shares, f"{one['seconds']:.0f}", mib(one["peak_bytes"]), *beside])
    return table(_BIRDS + _BESIDE, rows)


def words_text(found: list[dict[str, Any]]) -> str:
    rows = [
        [
            one["user"],
            _guard(one["state"]),
            f"{percent(one['others_before'])} → {percent(one['others_after'])}",
            f"{one['told_from']:.3g}",
            percent(one["recall"]),
            str(one["false_accepts"]),
            f"{one['speech_hours']:.2f}",
            f"{one['seconds']:.0f}",
            *_verifier([one]),
        ]
        for one in found
    ]
    hours, recall = (sum(one[name] for one in found) for name in ("speech_hours", "recall"))
    false, kept = sum(one["false_accepts"] for one in found), sum(one["state"] != "succeeded" for one in found)
    whole = "all" + (f", {kept} kept back" if kept else "")
    rows.append([whole, "", "", "", percent(recall / len(found)), str(false), f"{hours:.2f}", "", *_verifier(found)])
    return table(_WORDS + _VERIFIER, rows)


def _verifier(found: list[dict[str, Any]]) -> list[str]:
    """Of several users together, if each has one."""
    cells = []
    for prefix in ("peer", "peer_any"):
        recalls, false = ([one[f"{prefix}_{name}"] for one in found] for name in ("recall", "false_accepts"))
        cells += ["–", "–"] if None in recalls else [percent(sum(recalls) / len(found)), str(sum(false))]
    return cells


TEXTS: dict[str, Callable[[list[dict[str, Any]]], str]] = {"imports": imports_text, "birds": birds_text, "words": words_text}


def text(document: dict[str, Any]) -> str:
    return "\n\n".join(tell(document[name]) for name, tell in TEXTS.items() if name in document)
