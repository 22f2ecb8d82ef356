"""What the benchmark keeps of a night."""

from __future__ import annotations

from typing import Any


def told(name: str, job: dict[str, Any]) -> dict[str, Any]:
    """An entry of `nights`. RuntimeError for a job that came to no result."""
    if job["state"] not in ("succeeded", "rejected-by-guard"):
        raise RuntimeError(f"{name}: the job is {job['state']}: {job['message']}")
    result = job["result"]
    names = ("metric", "global_before", "global_after", "local_before", "local_after", "seconds")
    chosen = (result.get("details", {}).get("auto") or {}).get("chosen")
    return {"name": name, "state": job["state"], **{key: result.get(key) for key in names}, "chosen": chosen}
