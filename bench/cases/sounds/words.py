"""A word: YAMNet learns one spoken digit of one person as a new label, from twenty recordings, each shorter than a patch.

Asked is whether the word is found alone, in streams, and how often it is heard where it is not. D_G is clips of ESC-10
and other digits of other people. The night's settings are fixed: one layer learns.
"""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.results import Unset, mean_of, result_of
from lib.samples import Files
from lib.say import say
from lib.settings import Basis, Training
from lib.sounds import data
from lib.sounds.waves import RATE, noise, read_wav, write_wav
from lib.sounds.world import make_pack

HOP = 0.48  # seconds from one patch to the next
SPEAKERS, OTHERS = ["lucas", "theo"], ["nicolas", "yweweler"]  # whose words are learned; whose are D_G
DIGITS, OTHER_DIGITS = ["0", "2", "3", "5", "6", "9"], ["1", "4", "7", "8"]  # the same
TRAIN, HELD_OUT, TEST = range(0, 20), range(20, 25), range(30, 50)  # of fifty recordings
BASIS = Basis("twenty other recordings of the word, and streams of them", "four words of two other people")
ABOUT = ("word", "promoted", "judged_by", "tuned_on")  # what is no figure
TRAINING = Training(epochs=40, learning_rate=0.1, distill=1.0)
NOISE_SECONDS = 120
GAP = (2.0, 4.0)  # seconds between words of a stream
NOISES = (-40, -50, -65)  # dB of full scale
STREAMS = ("-50 dB", "-65 dB", "esc10")
BELOW = 15  # dB, of a place's sounds below the words in them
PLACES = ["rain", "sea_waves", "helicopter", "fire_crackling", "clock_tick"]


@dataclass(frozen=True)
class Word:
    speaker: str
    digit: str

    @property
    def label(self) -> str:
        return f"{self.speaker} says {self.digit}"

    @property
    def model(self) -> str:
        return f"{self.speaker}-{self.digit}"


class _Info(ctypes.Structure):
    _fields_ = [("frames", ctypes.c_int64)] + [(name, ctypes.c_int) for name in ("rate", "channels", "format", "sections", "seekable")]


def read_ogg(file: Path) -> list[float]:
    """A clip of ESC-10, 16 kHz and one channel, at half its rate."""
    library = ctypes.CDLL("libsndfile.so.1")
    library.sf_open.restype = ctypes.c_void_p
    library.sf_readf_float.restype = ctypes.c_int64
    info = _Info()
    opened = ctypes.c_void_p(library.sf_open(str(file).encode(), 0x10, ctypes.byref(info)))
    samples = (ctypes.c_float * (10 * 16000))()
    count = library.sf_readf_float(opened, samples, ctypes.c_int64(len(samples)))
    library.sf_close(opened)
    return [(samples[i] + samples[i + 1]) / 2 for i in range(0, count - 1, 2)]


def level(samples: list[float]) -> float:
    return fmean(s * s for s in samples) ** 0.5


def stream(file: Path, words: list[list[float]], background: list[float], seed: int) -> list[tuple[float, float]]:
    """Writes the words into the background, which is repeated; where they lie, in seconds."""
    draw = random.Random(seed)
    at, places = 2.0, []
    for word in words:
        places.append((at, at + len(word) / RATE))
        at = places[-1][1] + draw.uniform(*GAP)
    out = [background[i % len(background)] for i in range(round(at * RATE))]
    for (begin, _), word in zip(places, words):
        first = round(begin * RATE)
        for i, sample in enumerate(word):
            out[first + i] += sample
    write_wav(file, out)
    return places


def place(clips: Files, words: list[list[float]], seed: int) -> list[float]:
    """Sounds of a place, clips one behind the other, softer than the words."""
    draw = random.Random(seed)
    joined: list[float] = []
    want = 10 ** (-BELOW / 20) * fmean(level(word) for word in words)
    for name in PLACES:
        for clip in draw.sample(clips[name], 3):
            samples = read_ogg(clip)
            factor = want / max(level(samples), 1e-6)
            joined += [factor * s for s in samples]
    return joined


def said(ctl: Moilctl, files: list[Path], word: Word) -> list[bool]:
    reply = ctl.json("predict", *files, "--model", word.model)
    return [word.label in answer["labels"] for answer in reply["predictions"]]


def heard(ctl: Moilctl, files: list[Path], word: Word) -> list[list[tuple[float, float]]]:
    """When, in each of the files."""
    reply = ctl.json("predict", *files, "--timeline", "--model", word.model)
    lines = [answer["timeline"]["intervals"] for answer in reply["predictions"]]
    return [[(line["from"], line["to"]) for line in each if line["label"] == word.label] for each in lines]


def spoken(sounds: Path, speaker: str, digit: str, which: range) -> list[Path]:
    return [sounds / speaker / digit / f"{digit}_{speaker}_{i}.wav" for i in which]


def words_case(folder: Path, model: Path, sounds: Path, clips: Files, quick: bool) -> dict[str, Any]:
    """{"words", "mean"}: figures of each word, and their means; `quick`: a word of each speaker."""
    folder.mkdir(parents=True)
    words = [Word(speaker, digit) for speaker in SPEAKERS for digit in (DIGITS[:1] if quick else DIGITS)]
    parts = {fold: {label: [clip for clip in files if clip.name.startswith(fold)] for label, files in clips.items()} for fold in "145"}
    heard_before, judging = parts["1"], {label: files[::2] for label, files in parts["4"].items()}
    unheard = {label: files[::2] for label, files in parts["5"].items()}
    pack = make_pack(model, _as_tags(heard_before) | _speech(sounds, range(0, 6)), _as_tags(judging) | _speech(sounds, range(10, 12)), folder / "pack")
    noises = {f"{db} dB": write_wav(folder / f"noise{db}.wav", noise(db, NOISE_SECONDS, 7)) for db in NOISES}
    found = []
    (folder / "device").mkdir()
    with Daemon(folder / "device" / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        for word in words:
            say(word.label)
            ctl.import_model(model, word.model)
            ctl.add_label(spoken(sounds, word.speaker, word.digit, TRAIN), word.label, "train")
            ctl.add_label(spoken(sounds, word.speaker, word.digit, HELD_OUT), word.label, "val")
            found.append(_word(folder, ctl, word, sounds, pack, noises, unheard))
    promoted = [one["promoted"] for one in found]
    return {"words": found, "mean": {name: mean_of(promoted, [one[name] for one in found]).value for name in found[0] if name not in ABOUT}}


def _as_tags(clips: Files) -> Files:
    return {"+".join(data.AUDIOSET[label]): files for label, files in clips.items()}


def _speech(sounds: Path, which: range) -> Files:
    return {data.SPEECH: [clip for speaker in OTHERS for digit in OTHER_DIGITS for clip in spoken(sounds, speaker, digit, which)]}


def _word(folder: Path, ctl: Moilctl, word: Word, sounds: Path, pack: Path, noises: dict[str, Path], unheard: Files) -> dict[str, Any]:
    spec = {
        "name": word.model,
        "model": word.model,
        "settings": "defaults",
        "global": {"pack": str(pack.resolve()), "alpha": 1.0},
        "local": {"labels": [word.label]},
        "freeze": {"trainable_layers": 1},
        "train": TRAINING.job_fields(),
        "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
    }
    result = result_of(Unset(word.label, word.label, 1.0, 1), ctl.watch(ctl.submit(spec)), BASIS)
    test = spoken(sounds, word.speaker, word.digit, TEST)
    other = [clip for digit in DIGITS if digit != word.digit for clip in spoken(sounds, word.speaker, digit, range(30, 34))]
    asked = said(ctl, test + other, word)
    recordings = [read_wav(file) for file in test]
    places: list[list[tuple[float, float]]] = []
    streams: list[Path] = []
    for number, name in enumerate(STREAMS):
        background = place(unheard, recordings, number) if name == "esc10" else noise(float(name.split()[0]), 20, number)
        streams.append(folder / f"stream{number}.wav")
        places.append(stream(streams[-1], recordings, background, number))
    talk = folder / "talk.wav"
    talk_seconds = stream(talk, [read_wav(file) for file in other], noise(-60, 20, 9), 9)[-1][1]
    clips = [clip for files in unheard.values() for clip in files]
    in_streams, in_noises = heard(ctl, streams, word), heard(ctl, list(noises.values()), word)
    in_talk, *in_clips = heard(ctl, [talk, *clips], word)
    found: dict[str, Any] = {"word": word.label, **result.told("seconds"), "alone": sum(asked[: len(test)])}
    for name, lines, at in zip(STREAMS, in_streams, places):
        found[f"in {name}"] = sum(any(a < end and b > begin for a, b in lines) for begin, end in at)
    found["other words, %"] = 100 * fmean(asked[len(test) :])
    found["other words in a stream, an hour"] = len(in_talk) * 3600 / talk_seconds
    for name, lines in zip(noises, in_noises):
        found[f"noise of {name}, an hour"] = patches(lines) * 3600 / NOISE_SECONDS
    found["clips of ESC-10, an hour"] = sum(map(patches, in_clips)) * 3600 / (5 * len(clips))
    return found


def patches(lines: list[tuple[float, float]]) -> int:
    """How many patches, half a second apart, say it at least."""
    return sum(max(1, round((end - begin) / HOP) - 1) for begin, end in lines)
