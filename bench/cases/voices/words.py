"""A wake word of one's own: a word is learned from ten recordings of its user, beside what other people say.

Six people take turns as the user, whose word is a digit. The network is the speech embedding of openWakeWord with a head that knows the
digits of the other five; their recordings are the global samples. Talk, a few words one behind the other, of the others and of
the user's other digits, is labelled as nothing in particular.
Numbers of recordings say what they are for, so that no recording is in two parts. `moilctl listen` hears
streams: the threshold is the lowest of a few at which a stream of the tuning recordings wakes nothing, and is judged on others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.pretrain import Pretrained
from lib.samples import Files
from lib.say import say
from lib.sounds import data
from lib.sounds.people import pretrain_head
from lib.sounds.speech import speech_network
from lib.sounds.waves import read_wav, seconds_of, silence, write_wav
from lib.sounds.world import device

from . import peers

DIGIT = "7"
LEARNED, HELD_OUT, ASKED = range(0, 10), range(10, 20), range(20, 50)  # recordings of the user's word
OTHERS_LEARNED, OTHERS_HELD_OUT, JUDGING = range(0, 10), range(10, 20), range(20, 50)  # of other speech
OWN_LEARNED, OWN_HELD_OUT = range(0, 4), range(4, 6)  # of the user's other words
WORD = "my word"
WORDS_OF_TALK = 5
GAP, OTHERS_GAP = 2.0, 0.3  # seconds
REACH = 1.2  # seconds around a word within which an event is that word's


@dataclass(frozen=True)
class Speech:
    word: list[Path]  # the user's, by number
    own: list[list[Path]]  # their other words, by number
    people: dict[str, Files]  # the others, by digit and number

    @property
    def others(self) -> list[list[Path]]:
        return [clips for digits in self.people.values() for clips in digits.values()]


def some(clips: list[list[Path]], numbers: range) -> list[Path]:
    return [of_one[i] for of_one in clips for i in numbers]


@dataclass(frozen=True)
class Stream:
    file: Path
    begins: list[float]  # of its words, in seconds
    seconds: float


def words(folder: Path, quick: bool) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    people = data.extract(data.FSDD, folder / "fsdd")
    network, users = speech_network(folder), data.speakers(people)
    return [word_of(user, speech_of(people, user, users), folder / user, network) for user in (users[:1] if quick else users)]


def speech_of(people: Path, user: str, users: list[str]) -> Speech:
    spoken = {who: {digit: sorted(clips, key=data.number_of) for digit, clips in data.digits(people, who).items()} for who in users}
    own = spoken.pop(user)
    return Speech(own.pop(DIGIT), list(own.values()), spoken)


def with_others(folder: Path, speech: Speech, network: Path) -> Pretrained:
    """The network with a head for the others' digits, and a pack of these."""

    def side(numbers: range) -> Callable[[Files], Files]:
        return lambda digits: {digit: [clips[i] for i in numbers] for digit, clips in digits.items()}

    learned, held_out = side(OTHERS_LEARNED), side(OTHERS_HELD_OUT)
    return pretrain_head(folder, network, [data.Clips(learned(digits), held_out(digits)) for digits in speech.people.values()])


def word_of(user: str, speech: Speech, folder: Path, network: Path) -> dict[str, Any]:
    say(f"{user}: a night")
    known = with_others(folder / "others", speech, network)
    clips = data.Clips({WORD: [speech.word[i] for i in LEARNED]}, {WORD: [speech.word[i] for i in HELD_OUT]})
    spoken: dict[str, list[Path]] = {}
    with device(folder / "device", known.model, "ears", clips, {}) as ctl:
        for split, own, numbers in (("train", OWN_LEARNED, OTHERS_LEARNED), ("val", OWN_HELD_OUT, OTHERS_HELD_OUT)):
            spoken[split] = talk(folder / split, some(speech.own, own) + some(speech.others, numbers))
            ctl.json("label", "add", *spoken[split], "--label-none", "--split", split)
        job = ctl.watch(ctl.submit(shortest("ears", known.pack)))
        say(f"{user}: streams")
        beside = speech.others + speech.own
        others = stream(folder / "judging.wav", some(beside, JUDGING), OTHERS_GAP)
        asked = stream(folder / "asked.wav", [speech.word[i] for i in ASKED], GAP)
        false, times = heard(ctl, others), heard(ctl, asked)
    say(f"{user}: the verifier")
    negatives = spoken["train"] + some(speech.others, OTHERS_LEARNED)
    return {
        "user": user,
        "state": job["state"],
        "seconds": job["result"]["seconds"],
        "others_before": job["result"]["global_before"],
        "others_after": job["result"]["global_after"],
        **told_from(job),
        "recall": recall(asked, times),
        "false_accepts": len(false),
        "speech_hours": others.seconds / 3600,
        **of_peer(peers.verifier(clips.train[WORD], negatives, spoken["val"], [others.file, asked.file]), asked),
    }


def recall(sound: Stream, times: list[float]) -> float:
    return fmean(any(begin - REACH <= time <= begin + REACH for time in times) for begin in sound.begins)


def of_peer(listened: list[peers.Listened] | None, asked: Stream) -> dict[str, Any]:
    """Once with thresholds from a half on, once with any."""
    found: dict[str, Any] = {}
    for prefix, one in zip(("peer", "peer_any"), listened or [None, None]):
        figures = {"told_from": one["told_from"], "recall": recall(asked, one["times"][1]), "false_accepts": len(one["times"][0])} if one else {}
        found |= {f"{prefix}_{name}": figures.get(name) for name in ("told_from", "recall", "false_accepts")}
    return found


def talk(folder: Path, clips: list[Path]) -> list[Path]:
    """Recordings of a few words each."""
    folder.mkdir()
    order = list(clips)
    random.Random(folder.name).shuffle(order)
    parts = [order[i : i + WORDS_OF_TALK] for i in range(0, len(order), WORDS_OF_TALK)]
    return [stream(folder / f"{i:03}.wav", part, OTHERS_GAP).file for i, part in enumerate(parts)]


def stream(file: Path, clips: list[Path], gap: float) -> Stream:
    """The clips in an order that is drawn, with low noise between them."""
    order, samples, begins = list(clips), silence(gap), []
    random.Random(file.name).shuffle(order)
    for clip in order:
        begins.append(seconds_of(samples))
        samples += read_wav(clip) + silence(gap)
    return Stream(write_wav(file, samples), begins, seconds_of(samples))


def told_from(job: dict[str, Any]) -> dict[str, Any]:
    """From which probability the night has the word told, and what it expects of that."""
    listening = job["result"]["details"]["listening"]
    level = next(label for label in listening["labels"] if label["label"] == WORD)
    return {"told_from": level["told_from"], "expected_recall": level["heard"] / level["recordings"], "held_out_hours": level["seconds_without"] / 3600}


def heard(ctl: Moilctl, sound: Stream) -> list[float]:
    """When the word is told, in seconds."""
    lines = ctl.text("listen", sound.file, "--label", WORD, "--json").splitlines()
    return [json.loads(line)["time"] for line in lines]
