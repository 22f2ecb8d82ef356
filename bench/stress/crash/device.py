"""A small model, labelled photos, a daemon whose clock and disk are ours, and what a night must come to."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lib import digits
from lib.daemon import Daemon
from lib.jobs import job_spec
from lib.moilctl import FINAL_STATES
from lib.night import MODEL, pretrain_global
from lib.preload import Preload
from lib.rpc import Rpc
from lib.samples import only
from lib.settings import Row, Training
from lib.workplace import lay_out

SETTINGS = replace(
    digits.SETTINGS,
    pretraining=Training(epochs=6, learning_rate=0.05),
    night=Training(epochs=12, learning_rate=0.02, distill=0.5),
    alpha=0.25,
    threads=1,
)
ROW = Row("crash", "crash", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
CONFIG = {
    "poll_seconds": 0.05,
    "worker": {"backoff_seconds": 0.05, "attempts": 50},
}
SCHEDULE = "nightly"
FIRST_NIGHT = datetime(2030, 1, 1, 2)
BASE = 1  # the version that every night begins with
MOST_LABELS = 12  # of a class


class Device:
    """Nights begin with version BASE; `expected` are the weights of one that nothing disturbed."""

    def __init__(self, folder: Path, csv: Path):
        self._place = lay_out(folder, SETTINGS, digits.split_of(csv, folder))
        self._pretrained = pretrain_global(SETTINGS, self._place)
        state = folder / "state"
        self.preload = Preload(folder, state)
        self.environment = {**self.preload.environment, "TZ": "UTC"}
        self.daemon = Daemon(state, config=CONFIG, environment=self.environment)
        self.rpc = Rpc(self.daemon.socket)
        self.expected = ""
        self.seconds = 0.0
        self.map_bytes = 0  # of a night's feature maps
        self._nights = 0
        self._hours = 0.0
        self.set_day()

    @property
    def spec(self) -> dict[str, Any]:
        spec = job_spec(SETTINGS, ROW, MODEL, self._pretrained.pack)
        spec["local"] = {"labels": SETTINGS.local_classes}
        spec["train"]["checkpoint_seconds"] = 0.05
        spec["evaluate_every_epoch"] = False
        return spec

    def furnish(self) -> None:
        """Model and labels; then a night that measures which kernels are fastest, and one that finds
        them measured, as all later ones do."""
        self.rpc("model.import", name=MODEL, path=str(self._pretrained.model))
        for files, split in ((self._place.train, "train"), (self._place.held_out, "val")):
            for name, members in only(files, SETTINGS.local_classes).items():
                for file in members[:MOST_LABELS]:
                    self.rpc("label.add", labels=[name], split=split, samples=[{"content": encoded(file)}])
        for _ in range(2):
            self.expected = self.undisturbed()

    def undisturbed(self) -> str:
        """The weights of a night."""
        ended = self.wait(self.submit())
        assert ended["state"] == "succeeded", ended
        self.rpc("model.activate", model=MODEL, version=BASE)
        self.seconds = ended["result"]["seconds"]
        self.map_bytes = ended["result"]["details"]["cache"]["maps"]["bytes"]
        return self.weights(ended)

    def add_schedule(self) -> None:
        self.rpc("schedule.add", schedule={"name": SCHEDULE, "only_if": None, "job": self.spec})

    def submit(self) -> int:
        """The cache is emptied, so that every stage has its work to do."""
        self.rpc("cache.gc", all=True)
        return int(self.rpc("job.submit", job=self.spec, now=True)["id"])

    def job(self, job: int) -> dict[str, Any]:
        return dict(self.rpc("job.get", id=job)["job"])

    def schedule(self) -> dict[str, Any]:
        return dict(self.rpc("schedule.get", name=SCHEDULE))

    def wait(self, job: int, seconds: float = 300) -> dict[str, Any]:
        """Until it has ended, or the time is up; the job as it is then."""
        give_up = time.monotonic() + seconds
        while (found := self.job(job))["state"] not in FINAL_STATES and time.monotonic() < give_up:
            time.sleep(0.05)
        return found

    def weights(self, job: dict[str, Any], state: Path | None = None) -> str:
        """`state`: of another device that lived like this one."""
        file = (state or self.daemon.state) / "models" / job["model"] / str(job["version"]) / "weights.safetensors"
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def answers(self) -> str:
        """What the model in service says of a photo."""
        photo = self._place.held_out[SETTINGS.global_classes[0]][0]
        return json.dumps(self.rpc("model.predict", model=MODEL, images=[{"content": encoded(photo)}])["predictions"])

    def set_night(self) -> None:
        """The next night's window is open."""
        self._nights += 1
        self._hours = 0
        self._set_clock()

    def set_day(self) -> None:
        self._hours = 10
        self._set_clock()

    def pass_minutes(self, minutes: float) -> None:
        """For what waits before it tries again."""
        self._hours += minutes / 60
        self._set_clock()

    def _set_clock(self) -> None:
        moment = FIRST_NIGHT + timedelta(days=self._nights, hours=self._hours)
        self.preload.set_clock_ahead((moment - datetime(1970, 1, 1)).total_seconds() - time.time())

    def restart_after_kill(self) -> None:
        workers = self.daemon.workers()
        self.rpc.close()
        self.daemon.kill()
        wait_until_gone(workers)
        self.daemon.start()


    def restart(self, changes: dict[str, Any]) -> None:
        """With another configuration."""
        self.rpc.close()
        self.daemon.stop()
        self.daemon.config = {**CONFIG, **changes}
        self.daemon.start()


def encoded(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def kill_process(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended by itself meanwhile


def wait_until_gone(processes: list[int]) -> None:
    """A daemon's death kills its workers."""
    give_up = time.monotonic() + 30
    while any(Path(f"/proc/{process}").exists() for process in processes):
        if time.monotonic() > give_up:
            raise RuntimeError(f"of the workers {processes}, some outlive their daemon")
        time.sleep(0.01)
