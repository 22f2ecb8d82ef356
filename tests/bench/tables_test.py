"""Tables come from the benchmarks' JSON: small documents, and the lines that are made of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.digits.sweeps import layers_sweep, write_charts  # noqa: E402
from lib import cifar  # noqa: E402
from tables import ROOMS, text_of  # noqa: E402

MIB = 1 << 20
GOOD = {"promoted": True, "judged_by": "a fold", "tuned_on": "other folds"}
NIGHT = {"global_before": 0.9, "global_after": 0.88, "local_before": 0.1, "local_after": 0.75, "seconds": 12.34, **GOOD}


def run(title: str, **changes: Any) -> dict[str, Any]:
    row = {"name": "row", "title": title, "alpha": 0.5, "trainable_layers": 3, "cached": True, "epochs": 4, "memory": None}
    return {**row, **NIGHT, "train_seconds": 8.0, "train_cpu_seconds": 12.0, "curve": [], **changes}


def digits() -> dict[str, Any]:
    memory = {"predicted_bytes": 4 * MIB, "measured_bytes": 3 * MIB}
    curve = [{"epoch": epoch, "global": 0.9, "local": epoch / 10} for epoch in (1, 2)]
    return {
        "runs": [run("GDM", cached=False, promoted=False), run("GDM+FMC", memory={"predicted_bytes": MIB, "measured_bytes": 2 * MIB})],
        "second_night": {"labels": 30, **run("second night", computed=1030, reused=20)},
        "memory": memory,
        "settings": {"alpha": 0.1, "reduced": ["less of all"]},
        "job_seconds": 61.0,
        "sweeps": {"sweep-layers": [run("LF(1)", curve=curve)]},
    }


DIGITS = """\
| run             | α   | trained layers | cache | global before → after | local before → after | epochs | seconds |
| --------------- | --- | -------------- | ----- | --------------------- | -------------------- | ------ | ------- |
| GDM (kept back) | 50% | 3              | no    | 90.0% → 88.0%         | 10.0% → 75.0%        | 4      | 12.3    |
| GDM+FMC         | 50% | 3              | yes   | 90.0% → 88.0%         | 10.0% → 75.0%        | 4      | 12.3    |

second night, 30 more labels: 1,030 feature maps computed, 20 reused; global 90.0% → 88.0%, local 10.0% → 75.0%, 12.3 s
memory (GDM+LF+FMC): predicted peak 4.0 MiB, measured peak 3.0 MiB
memory: GDM+FMC was predicted to take 1.0 MiB and took 2.0 MiB
an epoch of training: 2.000 s (3.000 s of CPU) without cached feature maps, 2.000 s (3.000 s) with
all jobs together: 61 s
reduced: less of all

GDM(10%)+LF(n)+FMC

| run   | global after | local after | seconds |
| ----- | ------------ | ----------- | ------- |
| LF(1) | 88.0%        | 75.0%       | 12.3    |

global accuracy by epoch

| run   | 1     | 2     |
| ----- | ----- | ----- |
| LF(1) | 90.0% | 90.0% |

local accuracy by epoch

| run   | 1     | 2     |
| ----- | ----- | ----- |
| LF(1) | 10.0% | 20.0% |"""

ROWS = {
    "runs": [
        {"dataset": "wine", "task": "classify", "name": "night", "metric": "accuracy", "state": "succeeded", **NIGHT},
        {"dataset": "diabetes", "task": "predict", "name": "night", "metric": "R2", "state": "rejected-by-guard", **NIGHT},
    ]
}
ROWS_LINES = """\
| dataset  | metric   | night | global before → after | local before → after | guard     | seconds |
| -------- | -------- | ----- | --------------------- | -------------------- | --------- | ------- |
| wine     | accuracy | night | 90.0% → 88.0%         | 10.0% → 75.0%        | passed    | 12.3    |
| diabetes | R2       | night | 0.900 → 0.880         | 0.100 → 0.750        | kept back | 12.3    |"""

ROTATIONS = [
    {"rotation": 0, "a_on_a": 0.8, "a_on_b": 0.3, "b_after": 0.6, "a_after": 0.8, "promoted": True, "chosen": {"layers": 13, "views": 4}},
    {"rotation": 1, "a_on_a": 0.8, "a_on_b": 0.3, "b_after": 0.5, "a_after": 0.7, "promoted": False, "chosen": None},
]
MEANS = {"a_on_a": 0.8, "a_on_b": 0.3, "b_in_service": 0.45, "a_in_service": 0.8}
MICROPHONE = {"microphone": {**MEANS, "paper": {"a_on_a": 0.7012}, "kept_back": 1, "rotations": ROTATIONS}}
MICROPHONE_LINES = """\
| rotation | A on A | A's network on B | B by the new one | A by it | in service | the night chose    |
| -------- | ------ | ---------------- | ---------------- | ------- | ---------- | ------------------ |
| 1        | 80.0%  | 30.0%            | 60.0%            | 80.0%   | new        | 13 layers, 4 views |
| 2        | 80.0%  | 30.0%            | 50.0%            | 70.0%   | old        |                    |

| another microphone                    | ours  | paper |
| ------------------------------------- | ----- | ----- |
| A on A                                | 80.0% | 70.1% |
| A on B                                | 30.0% | –     |
| B by what is in service after a night | 45.0% | –     |
| A by it                               | 80.0% | –     |"""

PHOTOS = {
    "runs": [run("GDM", distilled=True, in_part=False), run("all layers", distilled=False, in_part=True, seconds=1234.5)],
    "features": {"fp32": {"bytes": 5120, "global_after": 0.7, "local_after": 0.8}},
}
PHOTOS_LINES = """\
| run        | α   | trained | targets of D_G  | global before → after | local | epochs | seconds             |
| ---------- | --- | ------- | --------------- | --------------------- | ----- | ------ | ------------------- |
| GDM        | 0.5 | 3       | the model's own | 90.0% → 88.0%         | 75.0% | 4      | 12                  |
| all layers | 0.5 | 3       | labels          | –                     | –     | 4      | 1,234 (from a part) |

features at the split: fp32: 5,120 bytes a photo, global 70.0%, local 80.0% (paper: 5,120 bytes)"""

AUTO_NIGHT = {**NIGHT, "metric": "accuracy", "kept_back": 0, "least": NIGHT, "most": NIGHT}
AUTO = {
    "cases": [
        {
            "dataset": "digits",
            "auto": {**AUTO_NIGHT, "runs": [{"chosen": {"layers": 3, "learning_rate": 0.02, "views": 1, "epochs": 8}, "why": "it was the best"}], "second": AUTO_NIGHT},
            "hand": {"lf1": {**AUTO_NIGHT, "kept_back": 1, "runs": [{"chosen": None, "why": ""}], "second": AUTO_NIGHT}},
            "tried": None,
        }
    ],
    "learn": None,
    "audit": {"samples": 10},
    "half_known": None,
    "nights30": None,
    "regret": None,
}
AUTO_LINES = """\
digits
| night                  | global before → after | local | seconds | second night  | chosen                     |
| ---------------------- | --------------------- | ----- | ------- | ------------- | -------------------------- |
| no settings            | 90.0% → 88.0%         | 75.0% | 12.3    | 12.3 s, 75.0% | LF(3), rate 0.02, 8 epochs |
| lf1 (1 of 1 kept back) | 90.0% → 88.0%         | 75.0% | 12.3    | 12.3 s, 75.0% |                            |
it was the best

audit: samples 10"""


def trial(**changes: Any) -> dict[str, Any]:
    asked = {"case": "lite0", "model": "lite0", "dataset": "grocery61", "method": "full", "rho": None, "seed": 1}
    return {**asked, "seconds": 100.0, "accuracy": 0.8, "global_after": 0.7, "planned_bytes": 3 * MIB, "peak_bytes": 4 * MIB, **changes}


def elastic() -> dict[str, Any]:
    """Rows of an earlier version do not say whether their model was promoted."""
    claim = {"case": "lite0", "text": "it is fast", "holds": False, "figures": "60 ms"}
    return {"study": None, "rows": [trial(), trial(seed=2, promoted=False)], "benches": [{"case": "lite0", "tensors": 120, "selector_ms": [20.0, 30.0]}], "claims": [claim]}


ELASTIC_LINES = """\
lite0 on grocery61

| method | ρ | seeds | seconds | / full | / (ρ·full) | local accuracy                       | global accuracy          | planned MiB | measured MiB | remark |
| ------ | - | ----- | ------- | ------ | ---------- | ------------------------------------ | ------------------------ | ----------- | ------------ | ------ |
| full   |   | 2     | 100.0   | 1.000  |            | 80.0% (1 of 2 kept back) (80.0–80.0) | 70.0% (1 of 2 kept back) | 3.0         | 4.0          |        |

| elastic_bench | tensors | selector ms: median | largest |
| ------------- | ------- | ------------------- | ------- |
| lite0         | 120     | 25.0                | 30.0    |

| case  | claim      | holds | figures |
| ----- | ---------- | ----- | ------- |
| lite0 | it is fast | NO    | 60 ms   |"""

OURS = {"lower_bound_bytes": 99 * MIB, "planned_bytes": 100 * MIB, "baseline_rss_bytes": 10 * MIB, "peak_rss_bytes": 112 * MIB, "ms_per_iteration": 1000.0}
SWAPPED = OURS | {"planned_bytes": 30 * MIB, "peak_rss_bytes": 42 * MIB, "ms_per_iteration": 1200.0, "waited_ms": 5.0, "bytes_read": 8 * MIB, "bytes_written": 6 * MIB, "roofline_ms": 20.0}
MEMORY = {
    "threads": 2,
    "quick": False,
    "rows": [
        {"model": "a", "batch": 8, **OURS, "sorting_bytes": 101 * MIB, "torch_peak_rss_bytes": 224 * MIB, "torch_ms_per_iteration": 1500.0},
        {"model": "Transformer", "batch": 64, **OURS, "sorting_bytes": 101 * MIB, "torch_peak_rss_bytes": None, "torch_ms_per_iteration": None, "swap": SWAPPED},
    ],
    "swap": [],
    "half": [
        {"model": "MobileNetV2 224", "mode": mode, "batch": 32, "half_bytes": 50 * MIB, "planned_bytes": planned * MIB, "peak_rss_bytes": planned * MIB, "ms_per_iteration": ms, "made_again": layers}
        for mode, planned, ms, layers in (("all of it", 100, 1000.0, 0), ("made again", 49, 1100.0, 12))
    ],
    "sweep": {
        "model": "vgg16-cifar",
        "limit_bytes": 512 * MIB,
        "rows": [{"batch": 8, "peak_rss_bytes": 100 * MIB, "torch_peak_rss_bytes": None}],
        "refined": True,
        "ours_largest_batch": 64,
        "torch_largest_batch": 8,
    },
}
MEMORY_LINES = """\
MiB; peaks are of whole processes (VmHWM); 2 threads

| model       | batch | bound | sorting | planned | baseline | peak  | PyTorch peak | less | ms     | PyTorch ms | NNTrainer peak |
| ----------- | ----- | ----- | ------- | ------- | -------- | ----- | ------------ | ---- | ------ | ---------- | -------------- |
| a           | 8     | 99.0  | 101.0   | 100.0   | 10.0     | 112.0 | 224.0        | 2.0× | 1000.0 | 1500.0     |                |
| Transformer | 64    | 99.0  | 101.0   | 100.0   | 10.0     | 112.0 | –            | –    | 1000.0 | –          |                |

the same with proactive swap

| model       | batch | bound | planned | peak | above baseline | less | ms     | time  | read | written | waited ms | disk alone ms | NNTrainer peak |
| ----------- | ----- | ----- | ------- | ---- | -------------- | ---- | ------ | ----- | ---- | ------- | --------- | ------------- | -------------- |
| Transformer | 64    | 99.0  | 30.0    | 42.0 | 32.0           | 2.7× | 1200.0 | 1.20× | 8.0  | 6.0     | 5.0       | 20.0          | 225            |

vgg16-cifar by batch

| batch | peak  | PyTorch peak |
| ----- | ----- | ------------ |
| 8     | 100.0 | –            |
largest batch in 512.0 MiB: 64, PyTorch 8

MobileNetV2 224, batch 32, in 50.0 MiB

| mode       | planned | peak  | ms   | time  | layers made again |
| ---------- | ------- | ----- | ---- | ----- | ----------------- |
| all of it  | 100.0   | 100.0 | 1000 | 1.00× | 0                 |
| made again | 49.0    | 49.0  | 1100 | 1.10× | 12                |"""

CUT = {"record": 7, "stage": "labels", "kind": "names", "seed": None, "refused_start": "", "lost": ["label a"], "other_weights": [], "nights": 1, "seconds": 2.0}
CRASH = {
    "kills": 3,
    "nights": 2,
    "lost": 0,
    "lost_what": [],
    "acknowledged": 40,
    "different_weights": 0,
    "failures": ["refused: it"],
    "hits": [{"stage": "cache", "killed": "worker", "count": 2}, {"stage": "train", "killed": "daemon", "count": 1}],
    "faults": [
        {"kind": "EIO", "who": "both", "how": "1 in 2", "struck": 4, "outcome": "completed", "message": ""},
        {"kind": "EIO", "who": "both", "how": "1 in 10", "struck": 1, "outcome": "bad: moild ended", "message": "why"},
    ],
    "cuts": [CUT],
}
CRASH_LINES = """\
| stage | worker killed | daemon killed |
| ----- | ------------- | ------------- |
| cache | 2             | 0             |
| train | 0             | 1             |

3 kills in 2 nights: 0 ended in other weights, 1 failed, 0 of 40 promises broken
failed: refused: it

| fault | nights | struck calls | completed | refused | failed | bad |
| ----- | ------ | ------------ | --------- | ------- | ------ | --- |
| EIO   | 2      | 5            | 1         | 0       | 0      | 1   |
EIO, both, 1 in 10: bad: moild ended: why

| power cut in | cuts | nights ended | broken promises | other weights | refused starts | seconds |
| ------------ | ---- | ------------ | --------------- | ------------- | -------------- | ------- |
| labels       | 1    | 1            | 1               | 0             | 0              | 2       |
| all          | 1    | 1            | 1               | 0             | 0              | 2       |
record 7, seed None, labels, names: label a"""

LOAD = {
    **{"clients": 200, "requests": 20, "lost": 0, "p50_ms": 1.0, "p99_ms": 5.0, "p99_ms_calm": 4.0, "p99_ms_trouble": 6.0},
    **{"cpu_ms_per_request": 0.2, "rss_idle": 9 * MIB, "rss_started": 8 * MIB, "rss_after_load": 9 * MIB, "ready_ms": 50.0, "exposure": 1.2, "load_average": 0.5},
    "by_method": {"label.add": {"requests": 20, "p50_ms": 1.5, "p99_ms": 6.0, "most_ms": 7.0}},
    "trouble": {"slow": {"is_served": True}},
}
LOAD_LINES = """\
| method    | requests | p50 ms | p99 ms | most ms |
| --------- | -------- | ------ | ------ | ------- |
| label.add | 20       | 1.5    | 6      | 7       |

20 requests of 200 clients, 0 lost; system.status: p50 1.0 ms, p99 5.0 ms (4.0 ms, and 6.0 ms beside clients that behave badly)
0.2 ms of CPU a request; idle: 9.0 MiB (8.0 MiB just after the start), after the load 9.0 MiB; ready after 50.0 ms; exposure 1.2; load of the machine before 0.5
slow: {'is_served': True}"""

WAITS = {"longest_wait_ms": 35.0, "machine_ms": 2.0, "descriptors": 30, "loop_flushes": ["a"]}
STALL = {
    "methods": [{"method": "label.add", "input": "3000 samples", "seconds": 1.5, **WAITS}],
    "roles": [],
    **{"longest_wait_ms": 35.0, "rest_ms": 1.0, "descriptors": 30, "descriptor_limit": 1024},
}
STALL_LINES = """\
| method    | with         | seconds | longest wait ms | machine ms | descriptors | flushes of the loop |
| --------- | ------------ | ------- | --------------- | ---------- | ----------- | ------------------- |
| label.add | 3000 samples | 1.50    | 35              | 2          | 30          | 1                   |

system.status waits 35 ms at most (goal: 100 ms); at rest 1 ms
30 descriptors at most, of 1024"""

NIGHTS = {
    "sizes": [{"night": night, "state_bytes": MIB, "parts": {"models": MIB // 2}, "rss_bytes": 2 * MIB} for night in range(2)],
    "outcomes": {"succeeded": 3, "failed": 1},
    "people": {"desk": {}, "watch": {}},
    "seconds": 7.0,
    "rss_peak": 3 * MIB,
    "failed": [{"night": 1, "model": "desk", "outcome": "failed", "message": "why"}],
}
NIGHTS_LINES = """\
| night | state MiB | models | RSS MiB |
| ----- | --------- | ------ | ------- |
| 1     | 1.00      | 0.50   | 2.00    |
| 2     | 1.00      | 0.50   | 2.00    |

2 nights of 2 models in 7 s: 1 failed, 3 succeeded; RSS at most 3.0 MiB
failed: night 2, desk: failed: why"""

def first_hour() -> dict[str, Any]:
    case = {"kind": "photos", "samples": 140, "labels": 10, "typed": 1, "commands": 4, "seconds_to_predict": 13.71, "local_after_learn": 1.0, "local_after_night": 0.975}
    side = {"caught": 0.25, "answered_at_80": 0.4, "right_and_sure": 0.9}
    job = {"without": side, "with": {**side, "caught": 0.5, "right_and_sure": 0.88}, "lost": 0.02}
    sure = {"kind": "sounds", "by": "night", "held_out": 30, "temperature": None, "said": 0.8, "accuracy": 0.7, "error": 0.1, "wrong_at_99": 1, "at_99": 9}
    times = dict.fromkeys(("counts", "first_tile", "first_screen", "first_proposal", "all_proposals"), 1.25)
    page = {"photos": 1000, "memory_bytes": {"moild": 2 * MIB, "moil_review": 3 * MIB}, **{f"seconds_to_{name}": seconds for name, seconds in times.items()}}
    cases = [{**case, "global_before": 0.999, "global_after": 1.0, "metric": "agreement"}]
    return {"cases": cases, "strangers": {"learn": job, "night": job}, "calibration": [sure], "page": [page]}


FIRST_HOUR = """\
| first hour | samples | labels | typed, run | to the first prediction, s | local after setup | after the night | global before → after | which is  |
| ---------- | ------- | ------ | ---------- | -------------------------- | ----------------- | --------------- | --------------------- | --------- |
| photos     | 140     | 10     | 1, 4       | 13.7                       | 100.0%            | 97.5%           | 99.9% → 100.0%        | agreement |

| strangers, mean of draws     | caught | answered at 80 % | known ones right and sure | lost, points |
| ---------------------------- | ------ | ---------------- | ------------------------- | ------------ |
| learn, without the label     | 25.0%  | 40.0%            | 90.0%                     | –            |
| learn, with "something else" | 50.0%  | 40.0%            | 88.0%                     | 2.0          |
| night, without the label     | 25.0%  | 40.0%            | 90.0%                     | –            |
| night, with "something else" | 50.0%  | 40.0%            | 88.0%                     | 2.0          |

| confidence | by    | held out | temperature | says, mean | is right | off by, points | wrong of those at 99 % |
| ---------- | ----- | -------- | ----------- | ---------- | -------- | -------------- | ---------------------- |
| sounds     | night | 30       | –           | 80.0%      | 70.0%    | 10.0           | 1 of 9                 |

| the page: photos | counts, s | first tile | first screen | first proposal | all proposals | moild, MiB | moil-review, MiB |
| ---------------- | --------- | ---------- | ------------ | -------------- | ------------- | ---------- | ---------------- |
| 1,000            | 1.2       | 1.2        | 1.2          | 1.2            | 1.2           | 2.0        | 3.0              |"""

SEQUENCES: dict[str, Any] = {
    "nights": [
        {**NIGHT, "name": "text-lstm", "metric": "bits per symbol", "state": "rejected-by-guard"},
        {**NIGHT, "name": "file types", "metric": "accuracy", "state": "succeeded"},
    ]
}
SEQUENCES_LINES = """\
| night      | metric          | global before → after | local before → after | guard     | seconds |
| ---------- | --------------- | --------------------- | -------------------- | --------- | ------- |
| text-lstm  | bits per symbol | 0.900 → 0.880         | 0.100 → 0.750        | kept back | 12      |
| file types | accuracy        | 90.0% → 88.0%         | 10.0% → 75.0%        | passed    | 12      |"""

VOICES: dict[str, Any] = {
    "imports": [
        {"package": "birds", "file": file, "bytes": 3 * MIB, "operators": operators, "seconds": seconds, "error": error, "litert_error": 0}
        for file, operators, seconds, error in (
            ("names.tflite", {"MUL": 3, "ADD": 10, "CONV_2D": 3, "POW": 1}, 1.234, 4.27e-7),
            ("spectrogram.tflite", {"RFFT2D": 1}, None, 0.5),
        )
    ],
    "birds": [
        {"network": "BirdNET V2.4", "state": "succeeded", "top1": 0.9, "top1_of_taught": 0.95, "auc": 0.999, "agreement": 1.0}
        | {"calibration_error": 0.0312, "strange_called": 0.05, "strange_heard": 0.1, "seconds": 104.1, "peak_bytes": 168 * MIB}
        | {"peer_top1_of_taught": 0.75, "peer_calibration_error": 0.04, "peer_strange_called": None}
    ],
    "words": [
        {"user": user, "state": state, "others_before": 0.99, "others_after": 0.98, "told_from": 0.7, "recall": recall}
        | {"false_accepts": 1, "speech_hours": 0.36, "seconds": 3.2}
        | {"peer_recall": 0.5, "peer_false_accepts": 2, "peer_any_recall": any_recall, "peer_any_false_accepts": 3}
        for user, state, recall, any_recall in (("george", "succeeded", 0.5, 0.75), ("theo", "rejected-by-guard", 0.25, None))
    ],
}
VOICES_LINES = """\
| file               | of    | MiB | operators | kinds | the most                 | seconds | largest relative error | of LiteRT's other kernels |
| ------------------ | ----- | --- | --------- | ----- | ------------------------ | ------- | ---------------------- | ------------------------- |
| names.tflite       | birds | 3.0 | 17        | 4     | 10 ADD, 3 CONV_2D, 3 MUL | 1.23    | 4.3e-07                | 0.0e+00                   |
| spectrogram.tflite | birds | 3.0 | 1         | 1     | 1 RFFT2D                 | –       | 5.0e-01                | 0.0e+00                   |

| network      | night  | top-1 | of what is taught | AUC   | agreement | calibration error | strangers called | in any window | seconds | peak MiB | its own recipe: of what is taught | calibration error | strangers called |
| ------------ | ------ | ----- | ----------------- | ----- | --------- | ----------------- | ---------------- | ------------- | ------- | -------- | --------------------------------- | ----------------- | ---------------- |
| BirdNET V2.4 | passed | 90.0% | 95.0%             | 99.9% | 100.0%    | 3.1%              | 5.0%             | 10.0%         | 104     | 168.0    | 75.0%                             | 4.0%              | –                |

| user             | night     | others' digits | told from | recall | false accepts | in hours of speech | seconds | verifier's recall | false accepts | from any: recall | false accepts |
| ---------------- | --------- | -------------- | --------- | ------ | ------------- | ------------------ | ------- | ----------------- | ------------- | ---------------- | ------------- |
| george           | passed    | 99.0% → 98.0%  | 0.7       | 50.0%  | 1             | 0.36               | 3       | 50.0%             | 2             | 75.0%            | 3             |
| theo             | kept back | 99.0% → 98.0%  | 0.7       | 25.0%  | 1             | 0.36               | 3       | 50.0%             | 2             | –                | –             |
| all, 1 kept back |           |                |           | 37.5%  | 2             | 0.72               |         | 50.0%             | 4             | –                | –             |"""

EXPECTED: dict[str, tuple[dict[str, Any], str]] = {
    "digits-night": (digits(), DIGITS),
    "cifar-night": (digits(), DIGITS),
    "rows-night": (ROWS, ROWS_LINES),
    "audio-night": (MICROPHONE, MICROPHONE_LINES),
    "image-night": (PHOTOS, PHOTOS_LINES),
    "sequence-nights": (SEQUENCES, SEQUENCES_LINES),
    "voices": (VOICES, VOICES_LINES),
    "auto": (AUTO, AUTO_LINES),
    "first-hour": (first_hour(), FIRST_HOUR),
    "elastic": (elastic(), ELASTIC_LINES),
    "memory": (MEMORY, MEMORY_LINES),
    "crash": (CRASH, CRASH_LINES),
    "load": (LOAD, LOAD_LINES),
    "stall": (STALL, STALL_LINES),
    "nights": (NIGHTS, NIGHTS_LINES),
}


class Tables(unittest.TestCase):
    def test_every_benchmark_makes_its_tables_of_its_json(self) -> None:
        self.maxDiff = None
        self.assertEqual(EXPECTED.keys(), ROOMS.keys())
        for name, (document, lines) in EXPECTED.items():
            with self.subTest(name):
                self.assertEqual(text_of(name, json.loads(json.dumps(document))), lines)

    def test_a_sweep_is_drawn_of_the_same_json(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            files = write_charts(layers_sweep(cifar.SETTINGS, [1]), 0.1, digits()["sweeps"]["sweep-layers"], Path(folder))
            self.assertEqual([file.name for file in files], ["sweep-layers-global.svg", "sweep-layers-local.svg"])
            self.assertIn("Local accuracy, GDM(10%)+LF(n)+FMC", files[1].read_text())

    def test_scripts_bench_knows_every_name(self) -> None:
        usage = subprocess.run([ROOT / "scripts" / "bench", "--help"], capture_output=True, text=True, check=True).stdout
        for name in ROOMS:
            self.assertIn(f"  {name} ", usage)
        self.assertIn("--table FILE", usage)


class CommandLine(unittest.TestCase):
    def bench(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([ROOT / "scripts" / "bench", *words], capture_output=True, text=True, check=False)

    def test_a_file_becomes_tables_and_nothing_is_built(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "rows.json"
            file.write_text(json.dumps(ROWS))
            found = self.bench("rows-night", "--table", file)
        self.assertEqual((found.returncode, found.stdout, found.stderr), (0, ROWS_LINES + "\n", ""))

    def test_what_is_no_figures_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "figures.json"
            for text, complaint in {"{": "Expecting", "[]": "not what rows-night leaves", '{"kills": 1}': "'runs'"}.items():
                file.write_text(text)
                found = self.bench("rows-night", "--table", file)
                self.assertEqual(found.returncode, 65, text)
                self.assertIn(str(file), found.stderr)
                self.assertIn(complaint, found.stderr)
        self.assertEqual(self.bench("rows-night", "--table", "/nonexistent").returncode, 65)
        self.assertEqual(self.bench("rows-night", "--table").returncode, 64)
        self.assertIn("no tables", self.bench("conv_bench", "--table", "/nonexistent").stderr)


if __name__ == "__main__":
    unittest.main()
