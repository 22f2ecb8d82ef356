"""YAMNet as moild imports it, packs of sounds, and a daemon with labelled clips."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.programs import PEER_PYTHON, program, run
from lib.samples import Files, files_of, link_tree

from . import data

LOG_MEL = {"kind": "sound", "front_end": {"type": "log_mel"}}  # YAMNet's is the default


def import_tagger(folder: Path) -> Path:
    """YAMNet with AudioSet's names; what neither map nor user names is masked."""
    labels, kind = folder / "tags.txt", folder / "kind.json"
    labels.write_text("".join(f"{tag}\n" for tag in data.tags()))
    kind.write_text(json.dumps(LOG_MEL))
    task = json.dumps({"task": "tag", "unnamed": "unknown"})
    command: list[str | Path] = [program("moil-import"), data.YAMNET, "--labels", labels, "--preprocessing", kind]
    run([*command, "--task", task, "--out", folder / "yamnet"])
    return folder / "yamnet"


def make_pack(model: Path, train: Files, held_out: Files, out: Path) -> Path:
    """A global pack; folders are named after a class, or after several tags with a + between them."""
    folders = [link_tree(files, out.with_name(f"{out.name}-{side}")) for side, files in (("train", train), ("held-out", held_out))]
    command: list[str | Path] = [program("moil-pretrain"), "image-pack", "--model", model, "--data", folders[0]]
    run([*command, "--val-data", folders[1], "--out", out])
    return out


def can_record() -> bool:
    """Whether there is a Python that as_wav can ask."""
    return subprocess.run([PEER_PYTHON, "-c", "import numpy, torchaudio"], capture_output=True).returncode == 0


def as_wav(folder: Path, files: Files, *words: str) -> Files:
    """As a microphone hears them that the words draw (device.py); without any, as they are."""
    clips, script = link_tree(files, folder / "clips"), Path(__file__).with_name("device.py")
    run([PEER_PYTHON, "-W", "ignore", script, "--clips", clips, "--out", folder / "wav", *words])
    return files_of(folder / "wav", sorted(files))


def listed(files: Files) -> list[Path]:
    return [file for name in sorted(files) for file in files[name]]


@contextmanager
def device(folder: Path, model: Path, name: str, clips: data.Clips, tags: dict[str, list[str]]) -> Iterator[Moilctl]:
    """A daemon with the model and the clips labelled; `tags`: what labels stand for."""
    folder.mkdir(parents=True)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(model, name)
        ctl.add_labels(clips.train, "train")
        ctl.add_labels(clips.held_out, "val")
        for label, meant in tags.items():
            ctl.json("label", "map", label, *meant)
        yield ctl


def answers(ctl: Moilctl, files: list[Path], top: int) -> list[dict[str, float]]:
    """Each file's probabilities of the likeliest labels by the model in service."""
    found: list[dict[str, float]] = []
    for start in range(0, len(files), 100):
        reply: dict[str, Any] = ctl.json("predict", "--top", str(top), *files[start : start + 100])
        found += [{one["label"]: one["probability"] for one in answer["top"]} for answer in reply["predictions"]]
    return found
