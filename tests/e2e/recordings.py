"""Recordings as WAV: tones in noise, a function of what is drawn."""

from __future__ import annotations

import array
import io
import math
import random
import sys
import wave

RATE = 8000


def tone(hertz: float, seconds: float, draw: random.Random) -> list[int]:
    """In noise; "beep" is a tone that comes and goes."""
    phase, loud = draw.uniform(0, 6.3), draw.uniform(4000, 9000)
    step = 2 * math.pi * hertz / RATE
    return [round(loud * math.sin(phase + step * i) + draw.uniform(-300, 300)) for i in range(round(seconds * RATE))]


def beep(seconds: float, draw: random.Random) -> list[int]:
    return [sample if i // 400 % 2 else sample // 30 for i, sample in enumerate(tone(1000, seconds, draw))]


def wav(samples: list[int], channels: int = 1) -> bytes:
    numbers = array.array("h", samples)
    if sys.byteorder == "big":
        numbers.byteswap()
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(numbers.tobytes())
    return out.getvalue()
