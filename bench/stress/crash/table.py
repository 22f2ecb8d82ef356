"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lib.table import table

Rows = list[dict[str, Any]]


def text(document: dict[str, Any]) -> str:
    parts = []
    if document["kills"]:
        parts.append(_kills(document))
    if document["faults"]:
        parts.append(_faults(document["faults"]))
    if document["cuts"]:
        parts.append(_cuts(document["cuts"]))
    return "\n\n".join(parts)


def _kills(document: dict[str, Any]) -> str:
    hits = {(hit["stage"], hit["killed"]): hit["count"] for hit in document["hits"]}
    rows = [[stage, *(str(hits.get((stage, who), 0)) for who in ("worker", "daemon"))] for stage in sorted({stage for stage, _ in hits})]
    told = (
        f"{document['kills']} kills in {document['nights']} nights: {document['different_weights']} ended in other weights, "
        f"{len(document['failures'])} failed, {document['lost']} of {document['acknowledged']} promises broken"
    )
    failed = [f"failed: {failure}" for failure in [*document["failures"], *document["lost_what"]]]
    return "\n".join([table(["stage", "worker killed", "daemon killed"], rows), "", told, *failed])


def _faults(faults: Rows) -> str:
    rows = []
    for kind in dict.fromkeys(fault["kind"] for fault in faults):
        mine = [fault for fault in faults if fault["kind"] == kind]
        ends = Counter("bad" if _is_bad(fault) else fault["outcome"] for fault in mine)
        counts = [str(ends[end]) for end in ("completed", "refused", "failed", "bad")]
        rows.append([kind, str(len(mine)), str(sum(fault["struck"] for fault in mine)), *counts])
    bad = [f"{one['kind']}, {one['who']}, {one['how']}: {one['outcome']}: {one['message']}" for one in faults if _is_bad(one)]
    return "\n".join([table(["fault", "nights", "struck calls", "completed", "refused", "failed", "bad"], rows), *bad])


def _is_bad(fault: dict[str, Any]) -> bool:
    return bool(fault["outcome"].startswith("bad"))


def _cuts(cuts: Rows) -> str:
    rows = []
    for stage in [*dict.fromkeys(cut["stage"] for cut in cuts), "all"]:
        mine = [cut for cut in cuts if stage in (cut["stage"], "all")]
        troubles = [sum(bool(cut[name]) for cut in mine) for name in ("lost", "other_weights", "refused_start")]
        rows.append([stage, *map(str, [len(mine), sum(cut["nights"] for cut in mine), *troubles]), f"{sum(cut['seconds'] for cut in mine):.0f}"])
    bad = [f"record {cut['record']}, seed {cut['seed']}, {cut['stage']}, {cut['kind']}: {trouble}" for cut in cuts for trouble in _troubles(cut)]
    return "\n".join([table(["power cut in", "cuts", "nights ended", "broken promises", "other weights", "refused starts", "seconds"], rows), *bad])


def _troubles(cut: dict[str, Any]) -> list[str]:
    return [*cut["lost"], *cut["other_weights"], *filter(None, [cut["refused_start"]])]
