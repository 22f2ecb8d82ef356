"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import mib, table

MIB = 1 << 20
MOST = 10  # nights that are shown, about


def text(document: dict[str, Any]) -> str:
    sizes = document["sizes"]
    shown = sizes[:: max(1, len(sizes) // MOST)]
    if sizes and shown[-1] is not sizes[-1]:
        shown.append(sizes[-1])
    parts = list(shown[0]["parts"]) if shown else []
    rows = [[str(s["night"] + 1), *(f"{value / MIB:.2f}" for value in (s["state_bytes"], *s["parts"].values(), s["rss_bytes"]))] for s in shown]
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(document["outcomes"].items()))
    lines = [
        table(["night", "state MiB", *parts, "RSS MiB"], rows),
        "",
        f"{len(sizes)} nights of {len(document['people'])} models in {document['seconds']:.0f} s: {told}; RSS at most {mib(document['rss_peak'])} MiB",
        *(f"failed: night {night['night'] + 1}, {night['model']}: {night['outcome']}: {night['message']}" for night in document["failed"]),
    ]
    return "\n".join(lines)
