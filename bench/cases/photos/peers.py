"""Ours beside PyTorch's in the same run: predictions, the forward pass, a training step, a night.

The two take turns, so that a machine that slows down slows both.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.photos.rows import DEEP_LAYERS, NIGHT
from lib.photos.world import PACKAGES, World, predictions
from lib.programs import PEER_PYTHON, ROOT, native, run
from lib.results import Result
from lib.say import say

THREADS = 2
BATCH = NIGHT.training.batch


class NoPeer(RuntimeError):
    """PyTorch is not installed."""


def peer(script: str, *words: str | Path) -> dict[str, Any]:
    """The JSON object that a script of bench/peers prints."""
    command = [PEER_PYTHON, "-W", "ignore", ROOT / "bench" / "peers" / script, "--model", PACKAGES, "--threads", str(THREADS), *words]
    return json.loads(run([str(word) for word in command]))


def check_installed() -> None:
    if subprocess.run([PEER_PYTHON, "-c", "import torch, torchvision, PIL"], capture_output=True).returncode != 0:
        raise NoPeer("PyTorch is not installed: scripts/install-deps --tests installs it")


def agreement(place: World, archive: Path, folder: Path, every: int = 1) -> dict[str, Any]:
    """Top-1 of both on every photo of a tar, or on every second and so on, and how often they say the same."""
    say(f"predictions of {archive.name}")
    out = folder / f"{archive.stem}.json"
    torch = peer("image_agreement.py", "--data", archive, "--every", str(every), "--out", out)
    files = extract(archive, folder / archive.stem)
    classes = place.classes
    # In PyTorch's order, by the whole name: of both the same ones are left out.
    members = sorted(((label, file) for label in files for file in files[label]), key=lambda m: f"{m[0]}/{m[1].name}")[::every]
    ours = predictions(place.ctl, [file for _, file in members])
    theirs = {Path(name).parent.name + "/" + Path(name).name: classes[guess] for name, guess in json.loads(out.read_text()).items()}
    same = sum(guess == theirs[f"{label}/{file.name}"] for guess, (label, file) in zip(ours, members))
    right = sum(guess == label for guess, (label, _) in zip(ours, members))
    return {
        "dataset": archive.stem,
        "images": len(members),
        "ours_top1": right / len(members),
        "torch_top1": torch["top1"],
        "same_prediction": same / len(members),
    }


def speed(model: Path, deep: Result, runs: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(frozen forward, training steps), in milliseconds an image. PyTorch in its fastest form.

    Steps of the deep head are those of its night, reading feature maps included; PyTorch's lie in memory.
    """
    say("forward pass and training steps, ours and PyTorch's")
    ours = json.loads(run([native("forward_bench"), "--model", model, "--batch", str(BATCH), "--threads", str(THREADS), "--runs", str(runs), "--json"]))
    torch = peer("image_forward.py", "--batch", str(BATCH), "--runs", str(runs), "--forms", "--brief")
    forms = {**torch["forward_ms_per_image"], **torch["forward_forms_ms_per_image"]}
    forward = {
        "batch": BATCH,
        "ours_ms_per_image": ours["ms_per_image"],
        "torch_ms_per_image": forms["published"],
        "torch_fastest_ms_per_image": min(forms.values()),
        "torch_forms": forms,
    }
    training = {
        "all_layers": pair(all_layers_ms(model, runs), torch["training"][f"all_batch_{BATCH}_normal"]),
        f"last_{DEEP_LAYERS}_layers": pair(1000 * deep.sample_seconds, torch["training"][f"last_4_blocks_batch_{BATCH}_frozen"]),
    }
    return forward, training


def pair(ours_ms: float, torch: dict[str, Any]) -> dict[str, Any]:
    return {"ours_ms_per_image": ours_ms, "torch_ms_per_image": torch["ms_per_image"]}


def all_layers_ms(model: Path, runs: int) -> float:
    command: list[str | Path] = [native("memory_bench"), "--model", model / "model.json", "--batch", str(BATCH)]
    return json.loads(run([*command, "--iterations", str(runs), "--threads", str(THREADS), "--json"]))["ms_per_iteration"] / BATCH


def torch_night(row: Any, local_train: Path, *, published: bool) -> dict[str, Any]:
    """The first night's figures. `published`: the network as it is, else the fastest form found."""
    with tempfile.TemporaryDirectory(prefix="moil-peer-") as cache:
        training = row.training
        words = ["--epochs", str(training.epochs), "--batch", str(BATCH), "--learning-rate", str(training.learning_rate)]
        words += ["--published"] if published else []
        return peer("image_night.py", "--local-train", local_train, "--cache", cache, *words)["first_night"]
