"""The sounds: which archives there are, and what of them is trained on and held out."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.archives import FOLDER
from lib.samples import Files, files_of

from .sides import FOLDS, in_folds

YAMNET, TAGS = FOLDER / "yamnet.onnx", FOLDER / "yamnet-classes.csv"
ESC10, FSDD = FOLDER / "esc10.tar", FOLDER / "fsdd.tar"

# What each label of ESC-10 stands for among AudioSet's tags; the first is the label's own.
AUDIOSET = {
    "baby_cry": ["Baby cry, infant cry", "Crying, sobbing"],
    "chainsaw": ["Chainsaw", "Light engine (high frequency)", "Engine", "Tools"],
    "clock_tick": ["Tick-tock", "Tick", "Clock", "Mechanisms"],
    "dog_bark": ["Dog", "Bark", "Domestic animals, pets", "Animal"],
    "fire_crackling": ["Crackle", "Fire"],
    "helicopter": ["Helicopter", "Aircraft", "Vehicle"],
    "rain": ["Rain", "Raindrop", "Rain on surface", "Water"],
    "rooster": ["Crowing, cock-a-doodle-doo", "Chicken, rooster", "Fowl", "Livestock, farm animals, working animals", "Animal"],
    "sea_waves": ["Waves, surf", "Ocean", "Water"],
    "person_sneeze": ["Sneeze"],
}
PATCHES = -(-((5 * 16000 - 400) // 160 + 1 - 96) // 48) + 1  # of a clip of ESC-10, five seconds, as YAMNet sees it
SPEECH = "Speech"  # of spoken digits


@dataclass(frozen=True)
class Clips:
    """Recordings by label, those of one fold held out."""

    train: Files
    held_out: Files


def missing() -> Path | None:
    """The archive that is not there, if one is."""
    return next((archive for archive in (YAMNET, TAGS, ESC10, FSDD) if not archive.is_file()), None)


def extract(archive: Path, folder: Path) -> Path:
    """As it lies in the tar: FSDD's folders are a speaker's, and in them a digit's."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", folder], check=True)
    return folder


def tags() -> list[str]:
    with TAGS.open(newline="") as file:
        return [row["display_name"] for row in csv.DictReader(file)]


def without_folds(clips: Files, folds: set[int]) -> Clips:
    return Clips(in_folds(clips, set(range(1, FOLDS + 1)) - folds), in_folds(clips, folds))


def digits(folder: Path, speaker: str) -> Files:
    return files_of(folder / speaker, [str(digit) for digit in range(10)])


def speakers(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())


def number_of(clip: Path) -> int:
    """FSDD's clips are called DIGIT_SPEAKER_NUMBER."""
    return int(clip.stem.split("_")[-1])


def held_out_fifth(files: Files) -> Clips:
    """The first ten of each digit's fifty recordings, as the dataset's own test set begins."""
    train = {digit: [clip for clip in clips if number_of(clip) >= 10] for digit, clips in files.items()}
    held_out = {digit: [clip for clip in clips if number_of(clip) < 10] for digit, clips in files.items()}
    return Clips(train, held_out)
