"""What the end-to-end tests share: a small pretrained network, and daemons at work with it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from lib import digits  # noqa: E402
from lib.daemon import Daemon  # noqa: E402
from lib.jobs import job_spec  # noqa: E402
from lib.moilctl import Moilctl  # noqa: E402
from lib.night import MODEL, pretrain_global  # noqa: E402
from lib.programs import ROOT, program  # noqa: E402
from lib.samples import only  # noqa: E402
from lib.settings import Row, Settings, Training  # noqa: E402
from lib.workplace import Workplace, lay_out  # noqa: E402
from synthetic import write_digits  # noqa: E402

# What tests start by hand sees a device that tells nothing, as Daemon's do, and not this machine.
os.environ.setdefault("MOIL_DEVICE_ROOT", "/nonexistent")

_PRETRAINING = Training(epochs=6, learning_rate=0.05)
SETTINGS = replace(
    digits.SETTINGS,
    pretraining=_PRETRAINING,
    centralised=_PRETRAINING,
    night=Training(epochs=4, learning_rate=0.02, schedule="cosine"),
    alpha=0.25,
    kept_back=9,
    threads=2,
)
IMAGES_PER_CLASS = 40


def small_night(name: str, model: str, pack: Path, **changes: Any) -> dict[str, Any]:
    """The job of a night of a network of two layers or three, with settings of its own."""
    job: dict[str, Any] = {
        "name": name,
        "model": model,
        "settings": "defaults",
        "global": {"pack": str(pack), "alpha": 0.5},
        "freeze": {"trainable_layers": 2},
        "train": {"epochs": 15, "batch": 8, "optimizer": {"type": "adam", "learning_rate": 0.003}},
        "guard": {"max_global_drop": 0.2},
        "seed": 1,
    }
    return {**job, **changes}


class World:
    """Images, a pretrained network and its global pack in a temporary folder.

    clean() removes it; MOIL_KEEP=1 keeps it, to look at after a failure.
    """

    def __init__(self, settings: Settings = SETTINGS, csv: Path | None = None, images_per_class: int = IMAGES_PER_CLASS):
        self.folder = Path(tempfile.mkdtemp(prefix="moil-e2e-"))
        self.settings = settings
        if csv is None:
            csv = self.folder / "digits.csv.gz"
            write_digits(csv, images_per_class)
        self.place: Workplace = lay_out(self.folder, settings, digits.split_of(csv, self.folder))
        self.pretrained = pretrain_global(settings, self.place)

    def clean(self) -> None:
        if not os.environ.get("MOIL_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def new_folder(self, name: str) -> Path:
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def spec(self, row: Row, **changes: Any) -> dict[str, Any]:
        """A job description; `changes` replace its top-level members."""
        return {**job_spec(self.settings, row, MODEL, self.pretrained.pack), **changes}

    def furnish(self, ctl: Moilctl) -> None:
        """Imports the model and labels the local images."""
        ctl.import_model(self.pretrained.model, MODEL)
        for files, split in ((self.place.train, "train"), (self.place.held_out, "val")):
            for name, members in only(files, self.settings.local_classes).items():
                ctl.add_label(members, name, split)


def daemon_in(folder: Path, config: dict[str, Any] | None = None) -> Daemon:
    """A daemon, not started, whose state lies in folder/state; the next attempt of a job begins soon."""
    asked = config or {}
    return Daemon(folder / "state", config={**asked, "worker": {"backoff_seconds": 0.05, **asked.get("worker", {})}})


def ctl_of(daemon: Daemon) -> Moilctl:
    return Moilctl(daemon.socket)


def worker_script(file: Path, *before: str) -> Path:
    """A worker for a daemon's configuration: the real one, behind lines of shell that know its arguments."""
    file.write_text("\n".join(["#!/bin/sh", *before, f'exec "{program("moil-worker")}" "$@"']) + "\n")
    file.chmod(0o755)
    return file


def trusting_worker(folder: Path) -> Path:
    """It says of every sample that it can be decoded: so a night has some that cannot be read."""
    trust = """import json, os, sys
reply, samples = int(sys.argv[3]), sys.argv.count("--image")
os.write(reply, json.dumps({"samples": [{}] * samples}).encode())
print(json.dumps({"event": "result"}))"""
    return worker_script(folder / "trusting", f"""if [ "$1" = try ]; then exec python3 -c '{trust}' "$@"; fi""")


def pausing_worker(folder: Path) -> Path:
    """If the file `pause` in the folder names a stage, the next night stops there for ever."""
    flag = folder / "pause"
    pause = f'MOIL_PAUSE_AT=$(cat "{flag}"); export MOIL_PAUSE_AT; rm "{flag}"'
    return worker_script(folder / "worker", f'if [ "$1" = run ] && [ -s "{flag}" ]; then {pause}; fi')


def weights_digest(state: Path, job: dict[str, Any]) -> str:
    """SHA-256 of the weights that a job left in the model store."""
    file = state / "models" / job["model"] / str(job["version"]) / "weights.safetensors"
    return hashlib.sha256(file.read_bytes()).hexdigest()


def stage_of(ctl: Moilctl, job: int) -> str | None:
    return (ctl.job(job)["progress"] or {}).get("stage")


def stands_still(daemon: Daemon) -> bool:
    """Whether its night has come to the place of MOIL_PAUSE_AT."""
    names = []
    for worker in daemon.workers():
        for name in Path(f"/proc/{worker}/task").glob("*/comm"):
            with contextlib.suppress(OSError):  # its thread has ended
                names.append(name.read_text())
    return "stands-still\n" in names


def kill_worker(daemon: Daemon) -> None:
    (worker,) = daemon.workers()
    os.kill(worker, signal.SIGKILL)


def kill_daemon(daemon: Daemon) -> None:
    """And its worker with it; then it is started again."""
    (worker,) = daemon.workers()
    daemon.kill()
    wait_for("the worker's end", lambda: not Path(f"/proc/{worker}").exists())
    daemon.start()


def wait_for(what: str, condition: Callable[[], bool], seconds: float = 60) -> None:
    """Polls until the condition holds; AssertionError after `seconds`."""
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.02)
