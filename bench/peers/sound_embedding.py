#!/usr/bin/env python3
"""YAMNet's embeddings of sounds by ONNX Runtime, behind the same front end in NumPy.

    sound_embedding.py --model FILE.onnx --threads 2 --out FILE.npy SOUND.wav...

The sounds are WAV files of 16,000 samples a second. FILE.npy has a row of each: what the classifier reads, the mean
over the sound's patches. Prints JSON: the seconds that all took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sound_tagging import patches_of, session_of  # noqa: E402

import numpy as np  # noqa: E402
import onnx  # noqa: E402


def before_the_classifier(file: Path) -> bytes:
    """The model with what its last layer reads as its only output."""
    model = onnx.load(file)
    read = onnx.ValueInfoProto(name=model.graph.node[-1].input[0])
    del model.graph.node[-1], model.graph.output[:]
    model.graph.output.append(read)
    return model.SerializeToString()


def main() -> None:
    parser = argparse.ArgumentParser(prog="sound_embedding.py")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("sounds", type=Path, nargs="+")
    options = parser.parse_args()
    session = session_of(before_the_classifier(options.model), options.threads)
    name = session.get_inputs()[0].name
    began = time.perf_counter()
    embeddings = [session.run(None, {name: patches_of(file)})[0].mean(0) for file in options.sounds]
    seconds = time.perf_counter() - began
    np.save(options.out, np.stack(embeddings))
    print(json.dumps({"seconds": seconds}))


if __name__ == "__main__":
    main()
