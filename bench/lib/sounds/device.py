#!/usr/bin/env python3
"""A microphone that was drawn: a small phone's, in a small room.

    device.py [--seed 1] [--studio] --clips FOLDER --out FOLDER

writes CLASS/NAME.wav for every CLASS/NAME.ogg, as this device would have recorded it; without a seed, the
clips as they are. What it does to a sound follows from the seed alone, its noise also from the clip's name.
--studio: two channels at 48,000 samples a second, the same sound. Needs NumPy; reading clips needs torchaudio.

The sound comes by a few ways, one after the other, and fades away in the room; the enclosure rings at some
frequencies; the capsule hears a band; the amplifier hisses; a gain control brings soft sounds up and loud
ones down, slowly, so that what begins suddenly is cut off at its top.
"""

from __future__ import annotations

import argparse
import hashlib
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RATE = 16000
ROOM_SECONDS = 0.25  # longer answers are below the hiss
BLOCK = 160  # samples, of the gain control


@dataclass(frozen=True)
class Device:
    response: np.ndarray  # to an impulse, of the room, the enclosure and the capsule together
    hiss: float  # root of the mean square; 1 is as loud as can be
    hum: float
    loudness: float  # that the gain control aims at
    most_gain: float


def draw_device(seed: int) -> Device:
    draw = np.random.default_rng(seed)
    response = _through(_room(draw), _enclosure(draw) * _band(draw))
    return Device(
        response=response / np.sqrt(np.sum(response**2)),
        hiss=10 ** (draw.uniform(-54, -48) / 20),
        hum=10 ** (draw.uniform(-62, -56) / 20),
        loudness=10 ** (draw.uniform(-20, -17) / 20),
        most_gain=10 ** (draw.uniform(15, 20) / 20),
    )


def hear(device: Device, samples: np.ndarray, name: str) -> np.ndarray:
    """What the device makes of a sound of RATE samples a second, from -1 to 1; as long as the sound."""
    draw = np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little"))
    size = 1 << int(np.ceil(np.log2(len(samples) + len(device.response))))
    heard = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(device.response, size), size)[: len(samples)]
    time = np.arange(len(samples)) / RATE
    hum = sum(np.sin(2 * np.pi * (50 * k * time + draw.uniform())) / k for k in (1, 2, 3, 5))
    heard = heard + device.hiss * _pinkish(draw, len(samples)) + device.hum * hum
    return np.clip(heard * _gain(device, heard), -1, 1)


def _room(draw: np.random.Generator) -> np.ndarray:
    """The direct sound, a few early reflections, and a tail that fades."""
    count = int(ROOM_SECONDS * RATE)
    time = np.arange(count) / RATE
    fades = draw.uniform(0.15, 0.3)  # seconds to -60 dB
    room = 0.04 * draw.standard_normal(count) * 10 ** (-3 * time / fades)
    room[: RATE // 200] = 0
    room[0] = 1
    for _ in range(draw.integers(4, 8)):
        at = draw.uniform(0.0005, 0.02)
        room[int(at * RATE)] += draw.choice([-1, 1]) * draw.uniform(0.15, 0.5) * 10 ** (-3 * at / fades)
    return room


def _frequencies() -> np.ndarray:
    return np.fft.rfftfreq(2 * int(ROOM_SECONDS * RATE), 1 / RATE)


def _enclosure(draw: np.random.Generator) -> np.ndarray:
    """Resonances: peaks of 6 to 14 dB, and as many notches."""
    decibels = np.zeros_like(_frequencies())
    for sign in (1, -1):
        for _ in range(3):
            centre, width = 2 ** draw.uniform(np.log2(350), np.log2(3200)), draw.uniform(0.08, 0.25)
            away = np.log2(np.maximum(_frequencies(), 1) / centre)
            decibels += sign * draw.uniform(6, 14) * np.exp(-0.5 * (away / width) ** 2)
    return 10 ** (decibels / 20)


def _band(draw: np.random.Generator) -> np.ndarray:
    """About a telephone's: 24 dB an octave below, 48 above (Butterworth)."""
    low, high = draw.uniform(250, 350), draw.uniform(3200, 3600)
    f = np.maximum(_frequencies(), 1)
    return 1 / np.sqrt((1 + (low / f) ** 8) * (1 + (f / high) ** 16))


def _through(samples: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """A filter of this gain at _frequencies(), that answers to nothing before it comes."""
    size = 2 * len(samples)
    log = np.fft.irfft(np.log(np.maximum(gain, 1e-4)), size)  # the cepstrum, folded: minimum phase
    log[1 : size // 2] *= 2
    log[size // 2 + 1 :] = 0
    return np.fft.irfft(np.fft.rfft(samples, size) * np.exp(np.fft.rfft(log)), size)[: len(samples)]


def _pinkish(draw: np.random.Generator, count: int) -> np.ndarray:
    """Noise that falls by 3 dB an octave above 500 Hz, of a variance of 1."""
    spectrum = np.fft.rfft(draw.standard_normal(count))
    noise = np.fft.irfft(spectrum / np.sqrt(1 + np.fft.rfftfreq(count, 1 / RATE) / 500), count)
    return noise / np.sqrt(np.mean(noise**2))


def _gain(device: Device, heard: np.ndarray) -> np.ndarray:
    """Down within about 60 ms, up within about a second; moving evenly within a block."""
    blocks = -(-len(heard) // BLOCK)
    padded = np.concatenate([heard, np.zeros(blocks * BLOCK - len(heard))])
    loudness = np.sqrt(np.mean(padded.reshape(blocks, BLOCK) ** 2, axis=1))
    gain, gains = device.most_gain, []
    for wanted in np.minimum(device.loudness / np.maximum(loudness, 1e-9), device.most_gain):
        gain *= (wanted / gain) ** (0.15 if wanted < gain else 0.01)
        gains.append(gain)
    return np.interp(np.arange(len(heard)), np.arange(blocks) * BLOCK, gains)


def read(file: Path) -> np.ndarray:
    import torchaudio

    samples, rate = torchaudio.load(str(file))
    if rate != RATE:
        raise ValueError(f"{file}: it has {rate} samples a second, not {RATE}")
    return samples.mean(0).numpy().astype(np.float64)


def write(samples: np.ndarray, file: Path, *, studio: bool = False) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if studio:
        samples = np.repeat(_three_times_the_rate(samples), 2)
    with wave.open(str(file), "wb") as out:
        out.setnchannels(2 if studio else 1)
        out.setsampwidth(2)
        out.setframerate(3 * RATE if studio else RATE)
        out.writeframes(np.clip(np.round(samples * 32768), -32768, 32767).astype("<i2").tobytes())


def _three_times_the_rate(samples: np.ndarray) -> np.ndarray:
    return 3 * np.fft.irfft(np.fft.rfft(samples), 3 * len(samples))


def main() -> None:
    parser = argparse.ArgumentParser(prog="device.py")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--studio", action="store_true")
    parser.add_argument("--clips", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    device = None if options.seed is None else draw_device(options.seed)
    for file in sorted(options.clips.glob("*/*.ogg")):
        samples = read(file)
        if device:
            samples = hear(device, samples, file.name)
        write(samples, options.out / file.parent.name / f"{file.stem}.wav", studio=options.studio)


if __name__ == "__main__":
    main()
