"""Nights of one job, each killed at random moments."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from night import digits
from night.daemon import Daemon
from night.jobs import job_spec
from night.moilctl import FINAL_STATES, Moilctl
from night.night import MODEL, pretrain_global
from night.samples import only
from night.settings import Row, Training
from night.workplace import lay_out

_PRETRAINING = Training(epochs=6, learning_rate=0.05)
SETTINGS = replace(
    digits.SETTINGS,
    pretraining=_PRETRAINING,
    night=Training(epochs=20, learning_rate=0.02, distill=0.5),
    alpha=0.25,
    threads=2,
)
ROW = Row("crash", "crash", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
OTHER = "added meanwhile"  # a label that the night does not learn
CONFIG = {"worker": {"backoff_seconds": 0.05, "attempts": 50}}


@dataclass
class Tally:
    kills: int = 0
    nights: int = 0
    hits: Counter[tuple[str, str]] = field(default_factory=Counter)  # stage, who was killed
    acknowledged: int = 0  # labels and jobs
    lost: int = 0
    different_weights: int = 0
    failures: list[str] = field(default_factory=list)

    def is_clean(self) -> bool:
        return not (self.lost or self.different_weights or self.failures)

    def document(self, seed: int) -> dict[str, Any]:
        hits = [{"stage": stage, "killed": who, "count": count} for (stage, who), count in sorted(self.hits.items())]
        return {
            "kills": self.kills,
            "nights": self.nights,
            "lost": self.lost,
            "acknowledged": self.acknowledged,
            "different_weights": self.different_weights,
            "failures": self.failures,
            "hits": hits,
            "seed": seed,
        }


class Killing:
    """A daemon, its job, and what the job's weights must be."""

    def __init__(self, folder: Path, csv: Path, chance: random.Random):
        self._chance = chance
        self._place = lay_out(folder, SETTINGS, digits.split_of(csv, folder))
        pretrained = pretrain_global(SETTINGS, self._place)
        config = folder / "moild.json"
        config.write_text(json.dumps(CONFIG))
        self._daemon = Daemon(folder / "state", config=config)
        self._ctl = Moilctl(self._daemon.socket)
        self._model = pretrained.model
        self._spec = job_spec(SETTINGS, ROW, MODEL, pretrained.pack)
        self._spec["local"] = {"labels": SETTINGS.local_classes}
        self._spec["train"]["checkpoint_seconds"] = 0.05
        # Photos of the global classes that were held out: the night does not see them.
        self._others = [file for name in SETTINGS.global_classes for file in self._place.held_out[name]]
        self._added: set[str] = set()
        self._jobs: list[int] = []
        self._expected = ""
        self._seconds = 0.0

    def __enter__(self) -> Killing:
        self._daemon.start()
        self._furnish()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._daemon.__exit__(kind, error, trace)

    def night(self, tally: Tally, kills: int) -> None:
        """One run of the job, killed up to `kills` times."""
        job = self._begin()
        tally.nights += 1
        tally.acknowledged += 1
        for _ in range(kills):
            time.sleep(self._chance.uniform(0, 0.6 * self._seconds))
            self._add_label(tally)
            if not self._kill(job, tally):
                break
        self._judge(self._ctl.wait(job, seconds=120), tally)

    def check_labels(self, tally: Tally) -> None:
        """Counts what was acknowledged and is not there."""
        samples = self._ctl.json("label", "samples", "--label", OTHER, "--limit", "1000")["samples"] if self._added else []
        tally.lost += len(self._added - {sample["digest"] for sample in samples})
        known = {job["id"] for job in self._ctl.json("job", "list", "--limit", "1000")["jobs"]}
        tally.lost += len(set(self._jobs) - known)

    def _furnish(self) -> None:
        self._ctl.import_model(self._model, MODEL)
        for files, split in ((self._place.train, "train"), (self._place.held_out, "val")):
            for name, members in only(files, SETTINGS.local_classes).items():
                self._ctl.add_label(members, name, split)
        # The first night measures which kernels are fastest; the later ones find them measured.
        for _ in range(2):
            ended = self._ctl.wait(self._begin())
            assert ended["state"] == "succeeded", ended
        self._expected = self._weights(ended)
        self._seconds = ended["result"]["seconds"]

    def _begin(self) -> int:
        """The cache is emptied, so that every stage has its work to do."""
        self._ctl.json("cache", "gc", "--all")
        job = self._ctl.submit(self._spec)
        self._jobs.append(job)
        return job

    def _add_label(self, tally: Tally) -> None:
        if not self._others:
            return
        reply = self._ctl.json("label", "add", self._others.pop(), "--label", OTHER, "--split", "train")
        for sample in reply["samples"]:
            if "digest" in sample:
                self._added.add(sample["digest"])
                tally.acknowledged += 1

    def _kill(self, job: int, tally: Tally) -> bool:
        """Kills somebody; False where the job has ended before that."""
        found = self._ctl.job(job)
        if found["state"] in FINAL_STATES:
            return False
        stage = (found["progress"] or {}).get("stage", "between")
        workers = self._daemon.workers()
        who = self._chance.choice(["worker", "daemon"]) if workers else "daemon"
        if who == "daemon":
            self._daemon.kill()
            wait_until_gone(workers)
            self._daemon.start()
        else:
            for worker in workers:
                kill_process(worker)
        tally.kills += 1
        tally.hits[stage, who] += 1
        return True

    def _judge(self, ended: dict[str, Any], tally: Tally) -> None:
        if ended["state"] != "succeeded":
            tally.failures.append(f"job {ended['id']} {ended['state']}: {ended['message']}")
        elif self._weights(ended) != self._expected:
            tally.different_weights += 1

    def _weights(self, job: dict[str, Any]) -> str:
        file = self._daemon.state / "models" / job["model"] / str(job["version"]) / "weights.safetensors"
        return hashlib.sha256(file.read_bytes()).hexdigest()


def kill_process(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended by itself meanwhile


def wait_until_gone(processes: list[int]) -> None:
    """A daemon's death kills its workers."""
    give_up = time.monotonic() + 10
    while any(Path(f"/proc/{process}").exists() for process in processes):
        if time.monotonic() > give_up:
            raise RuntimeError(f"of the workers {processes}, some outlive their daemon")
        time.sleep(0.01)
