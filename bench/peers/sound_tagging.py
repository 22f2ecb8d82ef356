#!/usr/bin/env python3
"""Tags of sounds by ONNX Runtime, behind the same front end in NumPy.

    sound_tagging.py --model FILE.onnx --threads 2 --runs 3 SOUND.wav...

The sounds are WAV files of 16,000 samples a second. Prints JSON: seconds a clip, from reading its file to its
answer (the median of the runs; loading the model not counted), and the front end's part of them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # these products are small: threads that wait for each other take five times as long
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "parity"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import sound_reference  # noqa: E402
from sound_agreement import read  # noqa: E402

FRONT_END = sound_reference.front_end(16000)


def session_of(model: str | bytes, threads: int) -> onnxruntime.InferenceSession:
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def patches_of(file: Path) -> np.ndarray:
    """As the model reads them."""
    patches = sound_reference.yamnet(read(file, FRONT_END["rate"]), FRONT_END)
    return np.ascontiguousarray(patches.transpose(0, 3, 1, 2), np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(prog="sound_tagging.py")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("sounds", type=Path, nargs="+")
    options = parser.parse_args()
    session = session_of(str(options.model), options.threads)
    name = session.get_inputs()[0].name
    whole, front = [], []
    for _ in range(options.runs + 1):  # the first warms up
        in_front, began = 0.0, time.perf_counter()
        for file in options.sounds:
            start = time.perf_counter()
            patches = patches_of(file)
            in_front += time.perf_counter() - start
            logits = session.run(None, {name: patches})[0]
            (1 / (1 + np.exp(-logits))).mean(0)
        whole.append(time.perf_counter() - began)
        front.append(in_front)
    clips = len(options.sounds)
    print(
        json.dumps(
            {
                "seconds_a_clip": median(whole[1:]) / clips,
                "front_end_seconds_a_clip": median(front[1:]) / clips,
                "clips": clips,
                "version": onnxruntime.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
