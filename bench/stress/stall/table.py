"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import table

from .stall import GOAL_MS


def text(document: dict[str, Any]) -> str:
    rows = [[m["method"], m["input"], f"{m['seconds']:.2f}", *_waits(m), str(m["descriptors"]), str(len(m["loop_flushes"]))] for m in document["methods"]]
    parts = [table(["method", "with", "seconds", "longest wait ms", "machine ms", "descriptors", "flushes of the loop"], rows)]
    rows = [[r["role"], str(r["requests"]), *_waits(r), f"{r['predict_seconds']:.2f}", str(r["descriptors"]), str(len(r["loop_flushes"]))] for r in document["roles"]]
    if rows:
        parts.append(table(["role that asks for all", "requests", "longest wait ms", "machine ms", "another's predict s", "descriptors", "flushes of the loop"], rows))
    parts.append(
        f"system.status waits {document['longest_wait_ms']:.0f} ms at most (goal: {GOAL_MS} ms); at rest {document['rest_ms']:.0f} ms\n"
        f"{document['descriptors']} descriptors at most, of {document['descriptor_limit']}"
    )
    return "\n\n".join(parts)


def _waits(one: dict[str, Any]) -> list[str]:
    return [f"{one['longest_wait_ms']:.0f}", f"{one['machine_ms']:.0f}"]
