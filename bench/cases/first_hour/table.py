"""The tables of the first hour."""

from __future__ import annotations

from typing import Any

from lib.table import mib, percent, table


def hour_text(cases: list[dict[str, Any]]) -> str:
    header = ["first hour", "samples", "labels", "typed, run", "to the first prediction, s", "local after setup", "after the night", "global before → after", "which is"]
    return table(header, [_hour_row(case) for case in cases])


def _hour_row(case: dict[str, Any]) -> list[str]:
    cells = [case["kind"], str(case["samples"]), str(case["labels"]), f"{case['typed']}, {case['commands']}", f"{case['seconds_to_predict']:.1f}"]
    cells += [percent(case["local_after_learn"]), percent(case["local_after_night"])]
    return [*cells, f"{percent(case['global_before'])} → {percent(case['global_after'])}", case["metric"]]


def strangers_text(strangers: dict[str, Any]) -> str:
    header = ["strangers, mean of draws", "caught", "answered at 80 %", "known ones right and sure", "lost, points"]
    rows = []
    for job in ("learn", "night"):
        mean = strangers[job]
        for side, title in (("without", f"{job}, without the label"), ("with", f'{job}, with "something else"')):
            told = mean[side]
            lost = f"{100 * mean['lost']:.1f}" if side == "with" else "–"
            rows.append([title, percent(told["caught"]), percent(told["answered_at_80"]), percent(told["right_and_sure"]), lost])
    return table(header, rows)


def calibration_text(calibration: list[dict[str, Any]]) -> str:
    header = ["confidence", "by", "held out", "temperature", "says, mean", "is right", "off by, points", "wrong of those at 99 %"]
    rows = []
    for one in calibration:
        temperature = "–" if one["temperature"] is None else f"{one['temperature']:.2f}"
        cells = [one["kind"], one["by"], str(one["held_out"]), temperature, percent(one["said"]), percent(one["accuracy"])]
        rows.append([*cells, f"{100 * one['error']:.1f}", f"{one['wrong_at_99']} of {one['at_99']}"])
    return table(header, rows)


def page_text(pages: list[dict[str, Any]]) -> str:
    header = ["the page: photos", "counts, s", "first tile", "first screen", "first proposal", "all proposals", "moild, MiB", "moil-review, MiB"]
    rows = []
    for page in pages:
        seconds = [page[f"seconds_to_{name}"] for name in ("counts", "first_tile", "first_screen", "first_proposal", "all_proposals")]
        held = [page["memory_bytes"][name] for name in ("moild", "moil_review")]
        rows.append([f"{page['photos']:,}", *(f"{one:.1f}" for one in seconds), *(mib(one) for one in held)])
    return table(header, rows)


def text(document: dict[str, Any]) -> str:
    parts = (("cases", hour_text), ("strangers", strangers_text), ("calibration", calibration_text), ("page", page_text))
    return "\n\n".join(make(document[name]) for name, make in parts if document.get(name))
