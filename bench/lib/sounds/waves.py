"""Sounds of 8,000 samples a second, as FSDD has them: read, made and written."""

from __future__ import annotations

import array
import random
import sys
import wave
from pathlib import Path

RATE = 8000


def noise(decibels: float, seconds: float, seed: int) -> list[float]:
    """Its root mean square in dB of full scale."""
    draw = random.Random(seed)
    level = 10 ** (decibels / 20)
    return [draw.gauss(0, level) for _ in range(round(seconds * RATE))]


def silence(seconds: float) -> list[float]:
    """As a quiet room has it."""
    return noise(-65, seconds, 1)


def seconds_of(samples: list[float]) -> float:
    return len(samples) / RATE


def write_wav(file: Path, samples: list[float]) -> Path:
    numbers = array.array("h", (max(-32768, min(32767, round(32768 * s))) for s in samples))
    if sys.byteorder == "big":
        numbers.byteswap()
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(numbers.tobytes())
    return file


def read_wav(file: Path) -> list[float]:
    with wave.open(str(file)) as sound:
        numbers = array.array("h", sound.readframes(sound.getnframes()))
    if sys.byteorder == "big":
        numbers.byteswap()
    return [n / 32768 for n in numbers]
