"""What the benchmark prints, made of its JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lib.results import kept_back_mark, mean_of
from lib.table import percent, table

# The thesis's audio case: GDM(0.1 %) beside everything, LF(3), FMC.
PAPER = {"GDM": 491.0, "LF(3)": 4.1, "FMC": 1.8}


def text(document: dict[str, Any]) -> str:
    parts: list[str] = []
    if "runs" in document:
        parts.append(esc10_text(document))
    texts: dict[str, Callable[[Any], str]] = {"speakers": speakers_text, "words": words_text, "microphone": microphone_text, "frontend": frontend_text}
    for member, told in texts.items():
        if member in document:
            parts.append(told(document[member]))
    return "\n\n".join(parts)


def esc10_text(found: dict[str, Any]) -> str:
    parts = [runs_text(found["runs"], found["peer"], found["clip_bytes"]), chosen_text(found["chosen"], found["peer"])]
    if found["factors"]:
        parts.append(factors_text(found["factors"]))
    return "\n\n".join([*parts, second_night_text(found["second_night"])])


def chosen_text(chosen: dict[str, Any], peer: dict[str, Any] | None) -> str:
    """What was chosen for each fold without its clips."""
    lines = [[f"{layers} trained", fold, choice["setting"], percent(max(choice["top1"].values()))] for layers, folds in chosen.items() for fold, choice in folds.items()]
    lines += [["the peer", str(fold["fold"]), f"weight decay {fold['weight_decay']:g}", percent(max(fold["scores"].values()))] for fold in (peer or {"each_fold": []})["each_fold"]]
    return table(["chosen for", "fold", "setting", "top-1 of the other folds"], lines)


def runs_text(runs: list[dict[str, Any]], peer: dict[str, Any] | None, clip_bytes: dict[str, float]) -> str:
    header = ["ESC-10", "α", "trained", "folds", "AUC of AudioSet's tags before → after", "top-1 of ten before → after", "seconds", "bytes a clip"]
    lines = [
        [
            run["title"] + kept_back_mark(run["kept_back"], run["folds"]),
            "chosen" if run["alpha"] is None else f"{run['alpha']:g}",
            str(run["trainable_layers"]),
            str(run["folds"]),
            f"{percent(run['global_before'])} → {percent(run['global_in_service'])}",
            f"{percent(run['local_before'])} → {percent(run['local_in_service'])}",
            f"{run['seconds']:.1f}",
            f"{run['maps_a_clip'] * run['feature_bytes']:,.0f}" if run["cached"] else "–",
        ]
        for run in runs
    ]
    if peer:
        lines.append([peer["title"], "–", "1", str(len(peer["each_fold"])), "–", percent(peer["local_after"]), f"{peer['seconds']:.1f}", "–"])
    files = f"a clip is {clip_bytes['file']:,.0f} bytes as a file and {clip_bytes['samples']:,.0f} as samples"
    return table(header, lines) + "\n" + files


def factors(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The paper's factors by training and caching seconds, beside what arithmetic allows."""
    by_name = {run["name"]: run for run in runs}
    if "gdm" not in by_name:
        return []
    work = {name: run["train_seconds"] + run["stages"].get("cache", 0.0) for name, run in by_name.items()}
    deep = by_name["gdm_lf3"]
    counted = [by_name[name]["samples"] for name in ("centralised", "gdm")]
    mixed = [part["global"] + part["local"] for part in counted]
    found = [
        ("GDM", work["centralised"] / work["gdm_lf1"], mixed[0] / mixed[1], "clips of everything / clips mixed"),
        ("LF(3)", work["gdm"] / work["gdm_lf3"], None, "a training step / a forward pass: 3 to 5"),
        ("FMC", work["gdm_lf3"] / work["gdm_lf3_fmc"], deep["epochs"] / by_name["gdm_lf3_fmc"]["maps_a_clip"], "epochs / patches a clip, where an epoch shows a patch of each"),
    ]
    return [{"factor": name, "ours": ours, "paper": PAPER[name], "bound": bound, "bound_is": what} for name, ours, bound, what in found]


def factors_text(found: list[dict[str, Any]]) -> str:
    lines = [[f["factor"], f"{f['ours']:.1f}", f"{f['paper']:g}", f"{f['bound']:.1f}" if f["bound"] else "–", f["bound_is"]] for f in found]
    return table(["factor of training and caching", "ours", "paper", "bound", "which is"], lines)


def second_night_text(second: dict[str, Any]) -> str:
    return (
        f"second night, {second['new_clips']} new clips: {second['second_seconds']:.1f} s after a first of {second['first_seconds']:.1f} s: "
        f"{second['times_as_fast']:.1f} times as fast ({second['computed']:,} feature maps computed, {second['reused']:,} reused)"
    )


def speakers_text(speakers: list[dict[str, Any]]) -> str:
    nights = [name for name in ("lf1", "lf3", "lf7") if name in speakers[0]]
    header = ["local speaker", "local before → after", "head on all data", "global before → after", "layers", "seconds", *(f"LF({name[2:]})" for name in nights)]
    lines = [
        [
            one["speaker"],
            f"{percent(one['local_before'])} → {percent(one['local_after'])}",
            percent(one["all_data"]),
            f"{percent(one['global_before'])} → {percent(one['global_after'])}",
            str(one["chosen"]["layers"]),
            f"{one['seconds']:.0f}",
            *(f"{percent(one[name]['local_after'])}, {100 * (one[name]['global_after'] - one[name]['global_before']):+.1f}" for name in nights),
        ]
        for one in speakers
    ]
    drop = mean_of([one["promoted"] for one in speakers], [one["global_before"] - one["global_after"] for one in speakers])
    return table(header, lines) + f"\nglobal down by {100 * drop.value:.1f} points (mean{drop.mark})"


def words_text(found: dict[str, Any]) -> str:
    names = [name for name in found["mean"] if name != "seconds"]
    rows = [(name, [*(one[name] for one in found["words"]), found["mean"][name]]) for name in names]
    mean = "mean" + kept_back_mark(sum(not one["promoted"] for one in found["words"]), len(found["words"]))
    return table(["a word", *(one["word"] for one in found["words"]), mean], [[name, *(f"{value:.1f}".removesuffix(".0") for value in values)] for name, values in rows])


def microphone_text(found: dict[str, Any]) -> str:
    words = {"a_on_a": "A on A", "a_on_b": "A on B", "b_in_service": "B by what is in service after a night", "a_in_service": "A by it"}
    lines = [[title, percent(found[name]), percent(found["paper"].get(name))] for name, title in words.items()]
    return rotations_text(found["rotations"]) + "\n\n" + table(["another microphone", "ours", "paper"], lines)


def rotations_text(rotations: list[dict[str, Any]]) -> str:
    """How well B's and A's clips are known, before and by the new network, and which of them is in service."""
    names = ("a_on_a", "a_on_b", "b_after", "a_after")
    lines = [[str(one["rotation"] + 1), *(percent(one[name]) for name in names), "new" if one["promoted"] else "old", _chosen(one["chosen"])] for one in rotations]
    return table(["rotation", "A on A", "A's network on B", "B by the new one", "A by it", "in service", "the night chose"], lines)


def _chosen(chosen: dict[str, Any] | None) -> str:
    return ", ".join(f"{value} {name}" for name, value in (chosen or {}).items())


def frontend_text(found: dict[str, Any]) -> str:
    shares = ", ".join(f"{name.replace('_', ' ')} {percent(share)}" for name, share in found["shares"].items())
    lines = [f"front end: {found['realtime_factor']:,.0f} times real time on one core at least, errors of {found['max_error']:.1e} at most", f"a night over YAMNet: {shares}"]
    tagging = found["tagging"]
    if tagging.get("onnx_runtime"):
        lines.append(f"tags of a clip: ours {1000 * tagging['moilctl_seconds_a_clip']:.0f} ms; ONNX Runtime {1000 * tagging['onnx_runtime']['seconds_a_clip']:.0f} ms")
    return "\n".join(lines)
