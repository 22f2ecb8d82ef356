"""What the benchmark prints, made of its JSON; sizes in MiB."""

from __future__ import annotations

from typing import Any

from lib.table import mib, table

from .cases import PUBLISHED, PUBLISHED_SWAP, PUBLISHED_TRANSFORMER

Row = dict[str, Any]


def text(document: Row) -> str:
    parts = [f"MiB; peaks are of whole processes (VmHWM); {document['threads']} threads"]
    if document["quick"]:
        parts[0] += "\nquick: fewer rows, batches and swap modes, 2 timed iterations in place of 2 x 5"
    if document["rows"]:
        parts.append(rows_table(document["rows"]) + frozen_line(document["rows"]) + speech_line(document["rows"]))
    swapped = [row for row in document["rows"] if "swap" in row]
    if swapped:
        parts += ["the same with proactive swap", swapped_table(swapped)]
    if "sweep" in document:
        parts += [f"{document['sweep']['model']} by batch", sweep_tables(document["sweep"])]
    if document["swap"]:
        first = document["swap"][0]
        parts += [f"{first['model']}, batch {first['batch']}, with swap", swap_table(document["swap"])]
    if document.get("half"):
        first = document["half"][0]
        parts += [f"{first['model']}, batch {first['batch']}, in {mib(first['half_bytes'])} MiB", half_table(document["half"])]
    return "\n\n".join(parts)


def half_table(rows: list[Row]) -> str:
    """Each way beside the whole memory, which is the first."""
    whole = rows[0]["ms_per_iteration"]
    cells = [
        [r["mode"], mib(r["planned_bytes"]), mib(r["peak_rss_bytes"]), f"{r['ms_per_iteration']:.0f}",
         f"{r['ms_per_iteration'] / whole:.2f}×", str(r["made_again"])]
        for r in rows
    ]  # fmt: skip
    return table(["mode", "planned", "peak", "ms", "time", "layers made again"], cells)


def rows_table(rows: list[Row]) -> str:
    header = ["model", "batch", "bound", "sorting", "planned", "baseline", "peak", "PyTorch peak", "less",
              "ms", "PyTorch ms", "NNTrainer peak"]  # fmt: skip
    return table(header, [_cells(row) for row in rows])


def swapped_table(rows: list[Row]) -> str:
    header = ["model", "batch", "bound", "planned", "peak", "above baseline", "less", "ms", "time", "read", "written",
              "waited ms", "disk alone ms", "NNTrainer peak"]  # fmt: skip
    return table(header, [_swapped_cells(row, row["swap"]) for row in rows])


def sweep_tables(sweep: Row) -> str:
    tried = "" if sweep["refined"] else " of those above"
    cells = [[str(r["batch"]), mib(r["peak_rss_bytes"]), mib(r["torch_peak_rss_bytes"])] for r in sweep["rows"]]
    return (
        table(["batch", "peak", "PyTorch peak"], cells)
        + f"\nlargest batch{tried} in {mib(sweep['limit_bytes'])} MiB: {sweep['ours_largest_batch']},"
        + f" PyTorch {sweep['torch_largest_batch']}"
    )


def swap_table(rows: list[Row]) -> str:
    header = ["mode", "planned", "peak", "ms", "more", "waited ms", "swaps", "read", "written", "disk MB/s read",
              "written", "disk alone ms", "NNTrainer peak"]  # fmt: skip
    return table(header, [_swap_cells(row, rows[0]) for row in rows])


def frozen_line(rows: list[Row]) -> str:
    """What freezing a layer in the middle saves; empty if its rows were not run."""
    frozen = next((r for r in rows if r["model"].endswith(", middle frozen")), None)
    if frozen is None:
        return ""
    full = next(r for r in rows if r["model"] == frozen["model"].removesuffix(", middle frozen"))
    planned, peak = (full[key] - frozen[key] for key in ("planned_bytes", "peak_rss_bytes"))
    return (
        f"\n\na frozen layer in the middle saves {mib(planned)} MiB planned, {mib(peak)} MiB measured"
        " (NNTrainer 2024: 24.4 expected, 20.9 measured)"
    )


def speech_line(rows: list[Row]) -> str:
    """What the decoder's frames are; empty if it was not run."""
    spoken = next((row["speech"] for row in rows if "speech" in row), "")
    if spoken == "":
        return ""
    return f"\n\nthe decoder's frames: {spoken or 'random numbers, for there are no recordings (fsdd.tar) at hand'}"


def _cells(row: Row) -> list[str]:
    return [
        row["model"],
        str(row["batch"]),
        *(mib(row[key]) for key in ("lower_bound_bytes", "sorting_bytes", "planned_bytes")),
        *(mib(row[key]) for key in ("baseline_rss_bytes", "peak_rss_bytes", "torch_peak_rss_bytes")),
        "–" if row["torch_peak_rss_bytes"] is None else f"{row['torch_peak_rss_bytes'] / row['peak_rss_bytes']:.1f}×",
        f"{row['ms_per_iteration']:.1f}",
        "–" if row["torch_ms_per_iteration"] is None else f"{row['torch_ms_per_iteration']:.1f}",
        _published(PUBLISHED.get(row["model"])),
    ]


def _swapped_cells(row: Row, swap: Row) -> list[str]:
    published = PUBLISHED_TRANSFORMER.get(row["batch"]) if row["model"].startswith("Transformer") else None
    return [
        row["model"],
        str(row["batch"]),
        *(mib(swap[key]) for key in ("lower_bound_bytes", "planned_bytes", "peak_rss_bytes")),
        mib(swap["peak_rss_bytes"] - swap["baseline_rss_bytes"]),
        f"{row['peak_rss_bytes'] / swap['peak_rss_bytes']:.1f}×",
        f"{swap['ms_per_iteration']:.1f}",
        f"{swap['ms_per_iteration'] / row['ms_per_iteration']:.2f}×",
        *(mib(swap[key]) for key in ("bytes_read", "bytes_written")),
        f"{swap['waited_ms']:.1f}",
        "–" if swap["roofline_ms"] is None else f"{swap['roofline_ms']:.1f}",
        _published(published),
    ]


def _swap_cells(row: Row, off: Row) -> list[str]:
    speeds = [row["disk_read_bytes_per_second"], row["disk_write_bytes_per_second"]]
    return [
        row["mode"],
        mib(row["planned_bytes"]),
        mib(row["peak_rss_bytes"]),
        f"{row['ms_per_iteration']:.1f}",
        "" if row is off else f"{100 * (row['ms_per_iteration'] / off['ms_per_iteration'] - 1):+.0f}%",
        f"{row['waited_ms']:.1f}",
        str(row["swaps"]),
        mib(row["bytes_read"]),
        mib(row["bytes_written"]),
        *("–" if not speed else f"{speed / 1e6:.0f}" for speed in speeds),
        "–" if row["roofline_ms"] is None else f"{row['roofline_ms']:.1f}",
        _published(PUBLISHED_SWAP.get(row["mode"])),
    ]


def _published(size: float | None) -> str:
    return "" if size is None else f"{size:g}"
