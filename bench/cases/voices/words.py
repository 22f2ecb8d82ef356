"""A wake word of one's own: YAMNet learns a word from ten recordings of its user, and what is none of it from other speech.

Six people take turns as the user, whose word is a digit. Others' recordings, of all digits, and the user's other digits are what a device hears
beside. Numbers of recordings say what they are for, so that no recording is in two parts. `moilctl listen` hears
streams: the threshold is the lowest of a few at which a stream of the tuning recordings wakes nothing, and is judged on others.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.programs import program, run
from lib.say import say
from lib.sounds import data
from lib.sounds.waves import read_wav, seconds_of, silence, write_wav
from lib.sounds.world import device, import_tagger

DIGIT = "7"
LEARNED, HELD_OUT, ASKED = range(0, 10), range(10, 20), range(20, 50)  # recordings of the user's word
OTHERS_LEARNED, OTHERS_HELD_OUT, TUNING, JUDGING = range(0, 3), range(3, 4), range(4, 14), range(20, 50)  # of other speech
NONE = "something else"
WORD = "my word"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
GAP, OTHERS_GAP = 2.0, 0.3  # seconds
REACH = 1.2  # seconds around a word within which an event is that word's


@dataclass(frozen=True)
class Speech:
    word: list[Path]  # the user's, by number
    others: list[list[Path]]  # what it is not, by number

    def of_others(self, numbers: range) -> list[Path]:
        return [clips[i] for clips in self.others for i in numbers if i < len(clips)]


@dataclass(frozen=True)
class Stream:
    file: Path
    begins: list[float]  # of its words, in seconds
    seconds: float


def words(folder: Path, quick: bool) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    people = data.extract(data.FSDD, folder / "fsdd")
    model, pack = import_tagger(folder), folder / "pack"
    run([program("moil-pretrain"), "described-pack", "--model", model, "--out", pack])
    users = data.speakers(people)
    return [word_of(user, speech_of(people, user, users), folder / user, model, pack) for user in (users[:1] if quick else users)]


def speech_of(people: Path, user: str, users: list[str]) -> Speech:
    spoken = {(who, digit): sorted(clips, key=data.number_of) for who in users for digit, clips in data.digits(people, who).items()}
    return Speech(spoken[user, DIGIT], [clips for (who, digit), clips in spoken.items() if (who, digit) != (user, DIGIT)])


def word_of(user: str, speech: Speech, folder: Path, model: Path, pack: Path) -> dict[str, Any]:
    say(f"{user}: a night")
    train = {WORD: [speech.word[i] for i in LEARNED]}
    held_out = {WORD: [speech.word[i] for i in HELD_OUT]}
    with device(folder, model, "ears", data.Clips(train, held_out), {}) as ctl:
        for split, numbers in (("train", OTHERS_LEARNED), ("val", OTHERS_HELD_OUT)):
            ctl.add_label(speech.of_others(numbers), NONE, split)
        job = ctl.watch(ctl.submit(shortest("ears", pack)))
        say(f"{user}: streams")
        tuning = stream(folder / "tuning.wav", speech.of_others(TUNING), OTHERS_GAP)
        threshold = next((t for t in THRESHOLDS if not heard(ctl, tuning, t)), THRESHOLDS[-1])
        others = stream(folder / "others.wav", speech.of_others(JUDGING), OTHERS_GAP)
        asked = stream(folder / "asked.wav", [speech.word[i] for i in ASKED], GAP)
        false, times = heard(ctl, others, threshold), heard(ctl, asked, threshold)
    found = [any(begin - REACH <= time <= begin + REACH for time in times) for begin in asked.begins]
    return {
        "user": user,
        "state": job["state"],
        "seconds": job["result"]["seconds"],
        "agreement": job["result"]["global_after"],
        "threshold": threshold,
        "recall": fmean(found),
        "false_accepts": len(false),
        "speech_hours": others.seconds / 3600,
    }


def stream(file: Path, clips: list[Path], gap: float) -> Stream:
    """The clips in an order that is drawn, with low noise between them."""
    order, samples, begins = list(clips), silence(gap), []
    random.Random(file.name).shuffle(order)
    for clip in order:
        begins.append(seconds_of(samples))
        samples += read_wav(clip) + silence(gap)
    return Stream(write_wav(file, samples), begins, seconds_of(samples))


def heard(ctl: Moilctl, sound: Stream, threshold: float) -> list[float]:
    """When the word is told, in seconds."""
    lines = ctl.text("listen", sound.file, "--label", WORD, "--threshold", str(threshold), "--json").splitlines()
    return [json.loads(line)["time"] for line in lines]
