#!/usr/bin/env python3
"""BirdNET's embeddings of sounds by LiteRT, as BirdNET-Analyzer learns from them: a row for every 3 s.

    bird_embedding.py --model FILE.tflite --out FILE.npz SOUND.wav...

A last part of less than a second is left out, another is filled up with silence; a sound of which that leaves nothing is filled up, too.
Parts in which there is nothing at all are left out, as moild passes over them. FILE.npz has "embeddings", which the last layer reads, and
"sounds", whose they are, by number.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lib.tflite.litert import OWN_KERNELS  # noqa: E402
from lib.tflite.sound import samples_of  # noqa: E402

RATE, PART, LEAST = 48000, 3 * 48000, 48000


def parts_of(samples: Any) -> Any:
    count = max(1, (samples.size + PART - LEAST) // PART)
    whole = np.zeros(count * PART, np.float32)
    whole[: samples.size] = samples[: whole.size] / 32768
    parts = whole.reshape(count, PART)
    return parts[np.abs(parts).max(axis=1) > 1e-4]


class Embedding:
    def __init__(self, model: Path):
        # Others leave nothing of what is inside.
        self._network = Interpreter(str(model), experimental_op_resolver_type=OWN_KERNELS, num_threads=2)
        self._network.allocate_tensors()
        self._input = self._network.get_input_details()[0]["index"]
        self._output = self._network._get_ops_details()[-1]["inputs"][0]

    def of(self, part: Any) -> Any:
        self._network.set_tensor(self._input, part[None])
        self._network.invoke()
        return self._network.get_tensor(self._output)[0].copy()


def main() -> None:
    parser = argparse.ArgumentParser(prog="bird_embedding.py")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("sounds", type=Path, nargs="+")
    options = parser.parse_args()
    embedding = Embedding(options.model)
    rows, sounds = [], []
    for i, file in enumerate(options.sounds):
        for part in parts_of(samples_of(file, RATE)):
            rows.append(embedding.of(part))
            sounds.append(i)
    np.savez(options.out, embeddings=np.stack(rows), sounds=np.array(sounds))


if __name__ == "__main__":
    main()
