"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from statistics import median
from typing import Any

from lib.table import percent, table, titled


def text(document: dict[str, Any]) -> str:
    parts: list[str] = []
    if "agreement" in document:
        parts.append(agreement_text(document["agreement"]))
    if "runs" in document:
        parts += [runs_text(document["runs"]), "features at the split: " + features_text(document["features"])]
    if "forward" in document:
        parts.append(speed_text(document["forward"], document["training"]))
    for member, told in {"night": first_night_text, "second_night": second_night_text, "paper": paper_text}.items():
        if member in document:
            parts.append(told(document[member]))
    return "\n\n".join(parts)


def runs_text(runs: list[dict[str, Any]]) -> str:
    header = ["run", "α", "trained", "targets of D_G", "global before → after", "local", "epochs", "seconds"]
    lines = []
    for run in runs:
        part = run["in_part"]
        lines.append(
            [
                titled(run),
                f"{run['alpha']:g}",
                str(run["trainable_layers"]),
                ("the model's own" if run["distilled"] else "labels") if run["alpha"] else "–",
                f"{percent(run['global_before'])} → {percent(run['global_after'])}" if not part else "–",
                percent(run["local_after"]) if not part else "–",
                str(run["epochs"]),
                f"{run['seconds']:,.0f}" + (" (from a part)" if part else ""),
            ]
        )
    return table(header, lines)


def agreement_text(found: list[dict[str, Any]]) -> str:
    header = ["dataset", "images", "ours top-1", "PyTorch top-1", "same prediction"]
    lines = [[a["dataset"], f"{a['images']:,}", percent(a["ours_top1"]), percent(a["torch_top1"]), percent(a["same_prediction"], 2)] for a in found]
    return table(header, lines)


def speed_text(forward: dict[str, Any], training: dict[str, Any]) -> str:
    fastest = {**forward, "torch_ms_per_image": forward["torch_fastest_ms_per_image"]}
    lines = [_speed("frozen forward", forward), _speed("frozen forward, PyTorch's fastest form", fastest)] + [_speed(f"training step, {name.replace('_', ' ')}", step) for name, step in training.items()]
    return table(["milliseconds an image", "ours", "PyTorch", "PyTorch / ours"], lines)


def _speed(title: str, pair: dict[str, Any]) -> list[str]:
    ours, torch = pair["ours_ms_per_image"], pair["torch_ms_per_image"]
    return [title, f"{ours:.2f}", f"{torch:.2f}", f"{torch / ours:.2f}"]


def first_night_text(first: dict[str, Any]) -> str:
    return (
        f"a night from nothing, {first['samples']:,} photos, {first['epochs']} epochs: ours {median(first['ours_seconds']):.1f} s, "
        f"PyTorch with features cached {median(first['torch_seconds']):.1f} s ({first['times_as_fast']:.2f} times as fast), "
        f"in the fastest form found {median(first['torch_fastest_seconds']):.1f} s ({first['times_as_fast_as_fastest']:.2f})"
    )


def second_night_text(second: dict[str, Any]) -> str:
    return (
        f"second night, {second['new_photos']} new photos: {median(second['second_seconds']):.1f} s after a first of "
        f"{median(second['first_seconds']):.1f} s: {second['times_as_fast']:.2f} times as fast "
        f"({second['computed']:,} feature maps computed, {second['reused']:,} reused)"
    )


def paper_text(document: dict[str, Any]) -> str:
    lines = [[f["factor"], f"{f['ours']:.1f}", f"{f['paper']:g}", f"{f['bound']:.1f} ({f['bound_is']})"] for f in document["factors"]]
    seconds = document["seconds"]
    return (
        "the paper's image case (1.31 million photos centralised, 44,128 mixed, 60 epochs) at our seconds a sample:\n"
        + table(["factor", "ours", "paper", "bound"], lines)
        + f"\ncentralised {seconds['centralised'] / 86400:.0f} days; GDM+LF(1)+FMC {seconds['gdm_lf1_fmc'] / 60:.1f} minutes (paper: {document['paper_minutes']:g})"
    )


def features_text(features: dict[str, Any]) -> str:
    return "; ".join(
        f"{name}: {f['bytes']:,} bytes a photo, global {percent(f['global_after'])}, local {percent(f['local_after'])}" for name, f in features.items()
    ) + " (paper: 5,120 bytes)"
