"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from typing import Any

from lib.table import mib, table


def text(document: dict[str, Any]) -> str:
    rows = [[name, *(f"{value:g}" for value in times.values())] for name, times in document["by_method"].items()]
    d = document
    lines = [
        table(["method", "requests", "p50 ms", "p99 ms", "most ms"], rows),
        "",
        f"{d['requests']} requests of {d['clients']} clients, {d['lost']} lost; system.status: p50 {d['p50_ms']} ms, "
        f"p99 {d['p99_ms']} ms ({d['p99_ms_calm']} ms, and {d['p99_ms_trouble']} ms beside clients that behave badly)",
        f"{d['cpu_ms_per_request']} ms of CPU a request; idle: {mib(d['rss_idle'])} MiB ({mib(d['rss_started'])} MiB just after the start), "
        f"after the load {mib(d['rss_after_load'])} MiB; ready after {d['ready_ms']} ms; exposure {d['exposure']}; load of the machine before {d['load_average']:.1f}",
        *(f"{name}: {told}" for name, told in d["trouble"].items()),
    ]
    return "\n".join(lines)
