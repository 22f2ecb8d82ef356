"""What ours is beside: scripts of bench/peers, by a Python that has LiteRT and scikit-learn, or PyTorch."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import from_pypi
from lib.programs import PEER_PYTHON, ROOT, build_dir, run
from lib.samples import Files
from lib.say import say
from lib.sounds import data
from lib.sounds.world import as_wav, can_record
from lib.tflite.files import EMBEDDING, OPENWAKEWORD, SPECTROGRAM, fetch, path_of

Listened = dict[str, Any]  # "told_from", and "times" of each stream


def ask_peer(python: str | Path, script: str, *words: str | Path) -> str:
    """What it prints."""
    return run([python, "-W", "ignore", ROOT / "bench" / "peers" / script, *words])


def verifier(word: list[Path], other: list[Path], held_out: list[Path], streams: list[Path]) -> list[Listened] | None:
    """A word by logistic regression: with thresholds from a half on, and with any. None if it cannot be had."""
    try:
        python = from_pypi.with_scikit_learn(build_dir())
        fetch(python, OPENWAKEWORD)
    except from_pypi.NotToBeHad as error:
        say(f"without the verifier: {error}")
        return None
    networks: list[str | Path] = ["--spectrogram", path_of(OPENWAKEWORD, SPECTROGRAM), "--embedding", path_of(OPENWAKEWORD, EMBEDDING)]
    told = ask_peer(python, "word_verifier.py", *networks, "--word", *word, "--other", *other, "--held-out", *held_out, "--listen", *streams)
    found: list[Listened] = json.loads(told)
    return found


@dataclass(frozen=True)
class CustomClassifier:
    """BirdNET's embeddings of recordings, and heads on them."""

    folder: Path
    number: dict[Path, int]

    def answers(self, name: str, taught: data.Clips, nothing: data.Clips, asked: list[Path]) -> list[dict[str, float]]:
        """Taught these labels, and what is none of them: the labels' probabilities."""

        def listed(labelled: Files, none: Files) -> list[tuple[int, str | None]]:
            found: list[tuple[int, str | None]] = [(self.number[file], label) for label in sorted(labelled) for file in labelled[label]]
            return found + [(self.number[file], None) for files in none.values() for file in files]

        night = self.folder / f"{name}.json"
        train, held_out = listed(taught.train, nothing.train), listed(taught.held_out, nothing.held_out)
        asking = [self.number[file] for file in asked]
        night.write_text(json.dumps({"labels": sorted(taught.train), "train": train, "val": held_out, "asked": asking}))
        found: list[dict[str, float]] = json.loads(ask_peer(PEER_PYTHON, "bird_head.py", "--embeddings", self.folder / "embeddings.npz", "--night", night))
        return found


def custom_classifier(folder: Path, model: Path, clips: data.Clips) -> CustomClassifier | None:
    """None if it cannot be had. Other files than WAV are made such."""
    folder.mkdir(parents=True)
    if not can_record() or subprocess.run([PEER_PYTHON, "-c", "import torch"], check=False, capture_output=True).returncode:
        say(f"without BirdNET's own recipe: {PEER_PYTHON} has no PyTorch, or no torchaudio (Debian's python3-torchaudio)")
        return None
    try:
        python = from_pypi.with_litert(build_dir())
    except from_pypi.NotToBeHad as error:
        say(f"without BirdNET's own recipe: {error}")
        return None
    files = {label: clips.train[label] + clips.held_out[label] for label in clips.train}
    others = {label: some for label, some in files.items() if some[0].suffix != ".wav"}
    heard = {(label, file.stem): file for label, some in as_wav(folder, others).items() for file in some}
    pairs = [(file, heard.get((label, file.stem), file)) for label, some in sorted(files.items()) for file in some]
    say("BirdNET's own recipe: embeddings")
    ask_peer(python, "bird_embedding.py", "--model", model, "--out", folder / "embeddings.npz", *(wav for _, wav in pairs))
    return CustomClassifier(folder, {file: i for i, (file, _) in enumerate(pairs)})
