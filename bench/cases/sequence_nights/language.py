"""A language of one's own: a model of Jane Austen's novels learns the sources of manual pages.

One novel is held out of the six. Of the manual pages some are labelled, whole pages are held out; the night chooses its
settings itself.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.daemon import Daemon, closed_window
from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.programs import ROOT, program, run
from lib.say import say
from lib.texts.packages import manual_pages, novels, passages, pieces, write_all

from .told import told

HELD_OUT_NOVEL = "persuasion"
SIZE = 2000  # characters of a sample
MODEL = "language"
# Of the language night; of a quick one, for a look at the machinery.
EPOCHS, QUICK_EPOCHS = 40, 2
LOCAL_TRAINED, LOCAL_HELD_OUT = 120, 40


@dataclass(frozen=True)
class Network:
    name: str
    learning_rate: float


NETWORKS = [Network("text-lstm", 0.003), Network("text-transformer", 0.002)]


def nights(quick: bool) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="moil-language-") as name:
        folder = Path(name)
        write_novels(folder / "novels", quick)
        local = write_pages(folder / "pages")
        return [night(network, folder, local, quick) for network in NETWORKS]


def write_novels(folder: Path, quick: bool) -> None:
    for name, text in novels(folder.parent / "packages").items():
        side = "held-out" if name == HELD_OUT_NOVEL else "trained"
        found = passages(text, SIZE)
        write_all(found[:40] if quick else found, folder / side / name)


def write_pages(folder: Path) -> dict[str, list[Path]]:
    """Whole pages lie on one side."""
    pages = list(manual_pages(folder.parent / "packages").values())
    random.Random(1).shuffle(pages)
    texts = [piece for page in pages for piece in pieces(page, SIZE)[:8]]
    files = write_all(texts[: LOCAL_TRAINED + LOCAL_HELD_OUT], folder)
    return {"train": files[:LOCAL_TRAINED], "val": files[LOCAL_TRAINED:]}


def night(network: Network, folder: Path, local: dict[str, list[Path]], quick: bool) -> dict[str, Any]:
    place = folder / network.name
    place.mkdir()
    say(f"{network.name}: pretraining on five novels")
    model = ROOT / "config" / "models" / f"{network.name}.json"
    words = ["train", "--data", folder / "novels" / "trained", "--val-data", folder / "novels" / "held-out"]
    training = ["--optimizer", "adamw", "--learning-rate", network.learning_rate, "--schedule", "cosine"]
    epochs = QUICK_EPOCHS if quick else EPOCHS
    run([program("moil-pretrain"), *words, "--task", "sequence", "--model", model, *map(str, training), "--epochs", str(epochs), "--out", place / "base"], show_stderr=True)
    with Daemon(place / "state", config={"window": closed_window()}) as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(place / "base" / "model", MODEL)
        for side, files in local.items():
            ctl.add_label(files, "manual", side)
        sample = local["val"][0]
        before = ctl.json("predict", sample)["predictions"][0]
        say(f"{network.name}: the night")
        spec = shortest(MODEL, place / "base" / "pack") | ({"train": {"epochs": 2}} if quick else {})
        job = ctl.watch(ctl.submit(spec))
        after = ctl.json("predict", sample)["predictions"][0]
    return told(network.name, job) | {"continued_before": before["continuation"], "continued_after": after["continuation"]}

