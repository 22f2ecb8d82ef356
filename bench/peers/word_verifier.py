#!/usr/bin/env python3
"""A wake word by logistic regression on the speech embedding, as openWakeWord makes its custom verifiers in Python.

    word_verifier.py --spectrogram FILE.tflite --embedding FILE.tflite --word SOUND.wav... --other SOUND.wav...
        --held-out SOUND.wav... --listen SOUND.wav...

The word's recordings lie in low noise, and are looked at in five places each, wherever the word is there as a whole; the others
are looked at every 80 ms. It listens as moilctl does: answers are joined over a third of a part, and a word is told again when it was
not heard for longer than a part. The threshold is the lowest at which what is held out wakes nothing; once 0.5 at least, once any.
Prints JSON, one for each of the two: the threshold, and when each sound to listen to has the word, in seconds.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lib.tflite.sound import samples_of  # noqa: E402

RATE, FRAME, HOP = 16000, 512, 160  # of the spectrogram, in samples
FIRST, STEP = 76, 8  # frames of an embedding, and from one to the next
POSITIONS = 8  # that a decision reads together
PART = FIRST + STEP * (POSITIONS - 1)  # frames
PART_SECONDS, STEP_SECONDS = (FRAME + HOP * (PART - 1)) / RATE, STEP * HOP / RATE
EMBEDDINGS_AT_ONCE = 100
DRAWS = 5  # openWakeWord's N
STRENGTH = 0.001  # openWakeWord's C
NOISE = -65  # dB of full scale: a quiet room
JOINED = round(PART_SECONDS / 3 / STEP_SECONDS)  # decisions
LOG_ODDS = np.arange(-16, 16, 0.01)  # of the thresholds
USUAL = 0.5  # the lowest threshold that openWakeWord comes with


class Ears:
    def __init__(self, spectrogram: Path, embedding: Path):
        self._spectrogram, self._embedding = Interpreter(str(spectrogram)), Interpreter(str(embedding))

    @staticmethod
    def _ask(network: Interpreter, numbers: Any) -> Any:
        (entry,), (out,) = network.get_input_details(), network.get_output_details()
        if tuple(entry["shape"]) != numbers.shape:
            network.resize_tensor_input(entry["index"], numbers.shape)
            network.allocate_tensors()
        network.set_tensor(entry["index"], numbers)
        network.invoke()
        return network.get_tensor(out["index"])

    def _frames(self, samples: Any) -> Any:
        """A part at a time: what is far below the loudest of a call is cut off."""
        samples, count = samples.astype(np.float32), (samples.size - FRAME) // HOP + 1
        blocks = [samples[None, HOP * at : HOP * (min(at + PART, count) - 1) + FRAME] for at in range(0, count, PART)]
        return np.concatenate([self._ask(self._spectrogram, block)[0, 0] for block in blocks]) / 10 + 2

    def parts_of(self, samples: Any) -> Any:
        """Every 80 ms, as far as there are whole ones: embeddings of all positions."""
        frames = self._frames(samples)
        count, found = (len(frames) - FIRST) // STEP + 1, []
        for at in range(0, count, EMBEDDINGS_AT_ONCE):
            some = frames[STEP * at : STEP * (min(at + EMBEDDINGS_AT_ONCE, count) - 1) + FIRST]
            found.append(self._ask(self._embedding, np.ascontiguousarray(some[None, ..., None])).reshape(-1, 96))
        positions = np.concatenate(found)
        return np.stack([positions[i : i + POSITIONS].ravel() for i in range(count - POSITIONS + 1)])


def in_noise(samples: Any, before: int, draw: np.random.Generator) -> Any:
    """A part long behind it."""
    length = round(PART_SECONDS * RATE)
    noise = 32768 * 10 ** (NOISE / 20) * draw.standard_normal(before + samples.size + length)
    noise[before : before + samples.size] = samples
    return noise


def of_word(ears: Ears, file: Path, draw: np.random.Generator) -> Any:
    samples, length, step = samples_of(file, RATE), round(PART_SECONDS * RATE), HOP * STEP
    found = []
    for _ in range(DRAWS):
        before = length - draw.integers(step)
        parts = ears.parts_of(in_noise(samples, before, draw))
        begins = step * np.arange(len(parts))
        heard = np.minimum(begins + length, before + samples.size) - np.maximum(begins, before)
        found.append(parts[heard >= min(samples.size, length - step)])
    return np.concatenate(found)


def of_other(ears: Ears, file: Path, draw: np.random.Generator) -> Any:
    samples = samples_of(file, RATE)
    return ears.parts_of(in_noise(samples, round(PART_SECONDS * RATE) // 2, draw))


def joined(answers: Any) -> Any:
    """The mean of the last ones, each time."""
    sums = np.concatenate([[0], np.cumsum(answers)])
    ends = np.arange(1, answers.size + 1)
    begins = np.maximum(ends - JOINED, 0)
    return (sums[ends] - sums[begins]) / (ends - begins)


def times_of(answers: Any, threshold: float) -> list[float]:
    times, last = [], None
    for i in np.flatnonzero(answers >= threshold):
        if last is None or (i - last) * STEP_SECONDS > PART_SECONDS:
            times.append(round(float(i) * STEP_SECONDS + PART_SECONDS, 3))
        last = i
    return times


def threshold_above(probability: float) -> float:
    grid = 1 / (1 + np.exp(-LOG_ODDS))
    return float(grid[min(np.searchsorted(grid, probability, "right"), grid.size - 1)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="word_verifier.py")
    for name in ("spectrogram", "embedding"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("word", "other", "held-out", "listen"):
        parser.add_argument(f"--{name}", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    ears, draw = Ears(options.spectrogram, options.embedding), np.random.default_rng(1)
    word = np.concatenate([of_word(ears, file, draw) for file in options.word])
    other = np.concatenate([of_other(ears, file, draw) for file in options.other])
    verifier = make_pipeline(StandardScaler(), LogisticRegression(random_state=0, max_iter=2000, C=STRENGTH))
    verifier.fit(np.concatenate([word, other]), np.repeat([1, 0], [len(word), len(other)]))

    def heard(parts: Any) -> Any:
        return joined(verifier.predict_proba(parts)[:, 1])

    highest = max(heard(of_other(ears, file, draw)).max() for file in options.held_out)
    streams = [heard(ears.parts_of(samples_of(file, RATE))) for file in options.listen]
    lowest = threshold_above(highest)
    told_from = [max(lowest, USUAL), lowest]
    print(json.dumps([{"told_from": level, "times": [times_of(stream, level) for stream in streams]} for level in told_from]))


if __name__ == "__main__":
    main()
