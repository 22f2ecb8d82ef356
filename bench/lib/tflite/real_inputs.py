"""Speech and photos, as the files of lib/tflite/files.py take them. Needs LiteRT, NumPy and Pillow."""

from __future__ import annotations

import io
import tarfile
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from .files import EMBEDDING, FSDD, OPENWAKEWORD, PHOTOS, SPECTROGRAM, path_of
from .litert import answers_of, shape_of, takes_bytes

RATE = 8000  # FSDD's
FRAME, HOP = 512, 160  # of the spectrogram, in samples at 16 kHz
FRAMES, STEP = 76, 8  # of an embedding, and from one to the next


def _members(archive: Path, suffix: str) -> Iterator[bytes]:
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.name.endswith(suffix) else None
            if content:
                yield content.read()


def speech(rate: int, count: int, which: int) -> Any:
    """So many samples of one recording after another, as 16-bit numbers; the whole of them differ by `which`."""
    parts, length = [], 0
    for i, content in enumerate(_members(FSDD, ".wav")):
        if i % 100 != 7 * which:
            continue
        with wave.open(io.BytesIO(content)) as sound:
            parts.append(np.frombuffer(sound.readframes(sound.getnframes()), "<i2").astype(np.float32))
        length += parts[-1].size
        if length * rate // RATE >= count:
            break
    samples = np.concatenate(parts)
    return np.interp(np.arange(count) * (RATE / rate), np.arange(samples.size), samples).astype(np.float32)


def bands(frames: int, which: int) -> Any:
    """Of speech, as openWakeWord's embedding takes them: [frames, bands]."""
    samples = speech(2 * RATE, FRAME + HOP * (frames - 1), which)
    (found,) = answers_of(path_of(OPENWAKEWORD, SPECTROGRAM), samples[None]).values()
    return found[0, 0] / 10 + 2


def embeddings(count: int, which: int) -> Any:
    frames = bands(FRAMES + STEP * (count - 1), which)
    parts = (frames[None, STEP * i : STEP * i + FRAMES, :, None] for i in range(count))
    return np.stack([next(iter(answers_of(path_of(OPENWAKEWORD, EMBEDDING), part).values())).ravel() for part in parts])


def photo(shape: tuple[int, ...], which: int) -> Any:
    """As bytes: [height, width, channels]."""
    content = list(_members(PHOTOS, ".JPEG"))[37 * which]
    with Image.open(io.BytesIO(content)) as image:
        seen = image.convert("L" if shape[2] == 1 else "RGB").resize((shape[1], shape[0]))
    return np.asarray(seen, np.float32).reshape(shape)


def real_input(file: Path, which: int) -> Any:
    """The whichth for a file: another speaker's words, another photo."""
    shape = shape_of(file)
    if file.stem == SPECTROGRAM:
        return speech(2 * RATE, FRAME + HOP * (FRAMES - 1), which)[None]
    if file.stem == EMBEDDING:
        return bands(FRAMES, which)[None, ..., None]
    if len(shape) == 3:
        return embeddings(shape[1], which)[None]
    if len(shape) == 2:
        return speech(48000, shape[1], which)[None] / 32768  # BirdNET's
    return photo(shape[1:], which)[None] / (1 if takes_bytes(file) else 255)
