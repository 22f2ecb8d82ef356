"""Frames of real speech for the decoder: digits that people say, one after the other, as log-mel spectrograms."""

from __future__ import annotations

import io
import tarfile
import wave
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lib.sounds.data import FSDD, number_of

from .sequences import DecoderSize

if TYPE_CHECKING:
    import numpy as np

# Tacotron 2's frames: 50 ms every 12.5 ms, of the recordings' 8,000 samples a second.
RATE, WINDOW, HOP, FFT = 8000, 400, 100, 1024
LOWEST_HZ, SILENCE = 125.0, 1e-5
SENTENCES = 64


@dataclass(frozen=True)
class Speech:
    """A file of samples as memory_bench and the peer take them (`--samples`), and what it holds."""

    file: Path
    title: str


def write_speech(folder: Path, size: DecoderSize = DecoderSize()) -> Speech | None:
    """None if the recordings are not at hand."""
    if not FSDD.is_file():
        return None
    import numpy as np

    sentences = list(islice(spoken(size), SENTENCES))
    file = folder / "speech.f32"
    file.write_bytes(np.concatenate([sample_of(frames, size) for frames in sentences]).astype("<f4").tobytes())
    longest = max(len(frames) for frames in sentences)
    return Speech(file, f"{len(sentences)} sentences of spoken digits, the longest of {longest} frames")


def spoken(size: DecoderSize) -> Iterator[np.ndarray]:
    """Frames of sentences, each of as many of a person's digits as there is time for. The people take turns."""
    filters = mel_filters(size.mel)
    for turn in zip(*(_joined(recordings, size.frames) for recordings in recorded().values())):
        yield from (frames_of(sentence, filters) for sentence in turn)


def recorded() -> dict[str, list[np.ndarray]]:
    """Each person's recordings from -1 to 1: all digits of one round, then the next."""
    import numpy as np

    found: dict[str, list[tuple[int, np.ndarray]]] = defaultdict(list)
    with tarfile.open(FSDD) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            content = tar.extractfile(member) if member.name.endswith(".wav") else None
            if content is None:
                continue
            name = Path(member.name)
            with wave.open(io.BytesIO(content.read())) as sound:
                samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2") / 32768
            found[name.stem.split("_")[1]].append((number_of(name), samples))
    return {person: [samples for _, samples in sorted(of_one, key=lambda one: one[0])] for person, of_one in found.items()}


def _joined(recordings: list[np.ndarray], most_frames: int) -> Iterator[np.ndarray]:
    import numpy as np

    sentence: list[np.ndarray] = []
    for samples in recordings:
        if sentence and _frame_count(sum(map(len, [*sentence, samples]))) > most_frames:
            yield np.concatenate(sentence)
            sentence = []
        if _frame_count(len(samples)) <= most_frames:
            sentence.append(samples)


def _frame_count(samples: int) -> int:
    return 1 + max(0, samples - WINDOW) // HOP


def frames_of(samples: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Logarithms of mel energies, [frames, bands]."""
    import numpy as np

    cut = np.stack([samples[at : at + WINDOW] for at in range(0, len(samples) - WINDOW + 1, HOP)])
    energies = np.abs(np.fft.rfft(cut * np.hanning(WINDOW + 1)[:-1], FFT)) @ filters
    return np.log(np.maximum(energies, SILENCE))


def mel_filters(bands: int) -> np.ndarray:
    """Triangles of equal width in mel, [frequencies, bands]."""
    import numpy as np

    def mel(hertz):
        return 1127 * np.log1p(hertz / 700)

    edges = np.linspace(mel(LOWEST_HZ), mel(RATE / 2), bands + 2)
    at = mel(np.fft.rfftfreq(FFT, 1 / RATE))[:, None]
    rises = (at - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falls = (edges[2:] - at) / (edges[2:] - edges[1:-1])
    return np.maximum(0, np.minimum(rises, falls))


def sample_of(frames: np.ndarray, size: DecoderSize) -> np.ndarray:
    """The frame before each, and the target: the frame twice, before and behind the postnet, and whether the
    sentence has ended. Silence up to the row's length."""
    import numpy as np

    padded = np.full((size.frames, size.mel), np.log(SILENCE))
    padded[: len(frames)] = frames
    before = np.vstack([np.zeros((1, size.mel)), padded[:-1]])
    ended = (np.arange(size.frames) >= len(frames) - 1)[:, None]
    return np.concatenate([before.ravel(), np.hstack([padded, padded, ended]).ravel()])
