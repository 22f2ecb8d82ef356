"""Recordings as networks of other projects take them. Needs NumPy."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np


def samples_of(file: Path, rate: int) -> Any:
    """A WAV file of one channel and 16 bits at `rate`, a multiple of its own: as 16-bit numbers, with no frequencies that it lacks."""
    with wave.open(str(file)) as sound:
        if (sound.getnchannels(), sound.getsampwidth()) != (1, 2) or rate % sound.getframerate():
            raise ValueError(f"{file}: expected one channel of 16 bits, and a rate of which {rate} is a multiple")
        samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float64)
        times = rate // sound.getframerate()
    if times == 1:
        return samples
    return times * np.fft.irfft(np.fft.rfft(samples), times * samples.size)
