#!/usr/bin/env python3
"""How far our front end is from NumPy's or torchaudio's on the same sounds.

    sound_agreement.py --preprocessing FILE --patches FILE SOUND.wav...

FILE of patches is sound_bench's, of the same sounds at the front end's rate. Prints JSON; its "max_error" is
null if torchaudio is asked for and not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import wave
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "parity"))
import sound_reference  # noqa: E402


def read(file: Path, rate: int) -> np.ndarray:
    with wave.open(str(file)) as sound:
        if (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) != (rate, 1, 2):
            raise ValueError(f"{file}: expected one channel of 16 bits at {rate} samples a second")
        return np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float64) / 32768


def main() -> None:
    parser = argparse.ArgumentParser(prog="sound_agreement.py")
    parser.add_argument("--preprocessing", type=Path, required=True)
    parser.add_argument("--patches", type=Path, required=True)
    parser.add_argument("sounds", type=Path, nargs="+")
    options = parser.parse_args()
    description = json.loads(options.preprocessing.read_text())["front_end"]
    front_end = sound_reference.front_end(**{"rate": 16000} | description)
    theirs = [sound_reference.patches_of(read(file, front_end["rate"]), front_end) for file in options.sounds]
    if any(patches is None for patches in theirs):
        print(json.dumps({"max_error": None}))
        return
    expected = np.concatenate([patches.reshape(-1) for patches in theirs])
    ours = np.fromfile(options.patches, "<f4").astype(np.float64)
    if len(ours) != len(expected):
        raise ValueError(f"{len(ours)} numbers of ours, {len(expected)} of theirs")
    error = float(np.abs(ours - expected).max())
    print(json.dumps({"max_error": error, "relative_error": error / float(np.abs(expected).max()), "numbers": len(ours)}))


if __name__ == "__main__":
    main()
