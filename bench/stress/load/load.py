"""A daemon under the load of many clients while a job trains on every core."""

from __future__ import annotations

import os
import random
import statistics
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lib.daemon import Daemon
from lib.jobs import job_spec
from lib.moilctl import Moilctl
from lib.night import MODEL
from lib.samples import only
from lib.settings import Row, Settings

from .crowd import LABEL, Answers, Crowd
from .still import cpu_seconds, exposure, ready_milliseconds, resident_bytes
from .trouble import Trouble

_ENDLESS = 100_000  # epochs: the job trains until it is cancelled
_IDLE = 12.0  # seconds without a request after which a daemon has given back what it can
_STARTS = 5


@dataclass
class Figures:
    clients: int
    requests: int = 0
    lost: int = 0
    errors: list[str] = field(default_factory=list)
    p50_ms: float = 0
    p99_ms: float = 0  # of system.status, as p50_ms
    p99_ms_calm: float = 0  # without those that behave badly
    p99_ms_trouble: float = 0  # beside them
    by_method: dict[str, dict[str, float]] = field(default_factory=dict)
    trouble: dict[str, dict[str, Any]] = field(default_factory=dict)
    job_trained: bool = False  # from the first request to the last
    cpu_ms_per_request: float = 0  # of the daemon, whatever else the machine does
    rss_started: int = 0  # just after a start
    rss_idle: int = 0
    rss_after_load: int = 0
    ready_ms: float = 0
    exposure: float | None = None
    load_average: float = 0  # of the machine before: others' work shows in the figures

    def faults(self) -> list[str]:
        """What is not as it was promised."""
        wrong = []
        if self.lost or self.errors:
            wrong.append(f"{self.lost} requests or labels are lost, {len(self.errors)} were answered with an error")
        if not self.job_trained:
            wrong.append("the job did not train all the while")
        if self.p99_ms >= 20:
            wrong.append(f"system.status: p99 {self.p99_ms:.1f} ms, promised below 20 ms")
        for held in (self.rss_idle, self.rss_after_load):
            if held > 10 << 20:
                wrong.append(f"an idle daemon holds {held / 2**20:.1f} MiB, promised 10 MiB at most")
        if self.ready_ms >= 100:
            wrong.append(f"ready after {self.ready_ms:.0f} ms, promised below 100 ms")
        wrong += [f"the {name} client was not served: {told}" for name, told in self.trouble.items() if not told["is_served"]]
        if self.exposure is not None and self.exposure > 1.5:
            wrong.append(f"the unit's exposure is {self.exposure}, promised 1.5 at most")
        return wrong


class Load:
    """`model`, `pack` and the place are of a pretrained network, as nights are made of."""

    def __init__(self, folder: Path, settings: Settings, place: Any, pretrained: Any, *, clients: int, rate: float):
        self._folder = folder
        self._daemon = Daemon(folder / "state")
        self._ctl = Moilctl(self._daemon.socket)
        self._place, self._pretrained = place, pretrained
        self._settings = replace(settings, threads=os.cpu_count())
        self._clients, self._rate = clients, rate

    def measure(self, requests: int, seed: int) -> Figures:
        figures = Figures(self._clients, load_average=os.getloadavg()[0], exposure=exposure())
        with self._daemon:
            self._furnish()
            job = self._begin_to_train()
            self._ask(requests, random.Random(seed), figures)
            figures.job_trained = self._ctl.job(job)["state"] == "running"
            self._ctl.text("job", "cancel", str(job))
            self._ctl.wait(job)
            time.sleep(_IDLE)
            figures.rss_after_load = resident_bytes(self._daemon.pid)
        self._start_again(figures)
        return figures

    def _furnish(self) -> None:
        self._ctl.import_model(self._pretrained.model, MODEL)
        for files, split in ((self._place.train, "train"), (self._place.held_out, "val")):
            for name, members in only(files, self._settings.local_classes).items():
                self._ctl.add_label(members, name, split)

    def _begin_to_train(self) -> int:
        row = Row("load", "load", self._settings.alpha, self._settings.trainable_layers, cached=True)
        spec = job_spec(self._settings, row, MODEL, self._pretrained.pack)
        spec["train"]["epochs"] = _ENDLESS
        spec["evaluate_every_epoch"] = False
        job = self._ctl.submit(spec)
        give_up = time.monotonic() + 120
        while (self._ctl.job(job)["progress"] or {}).get("stage") != "train":
            if time.monotonic() > give_up:
                raise RuntimeError(f"the job does not come to train: {self._ctl.job(job)}")
            time.sleep(0.05)
        return job

    def _ask(self, requests: int, chance: random.Random, figures: Figures) -> None:
        cpu = cpu_seconds(self._daemon.pid)
        crowd = Crowd(self._daemon.socket, self._clients, self._rate, chance)
        calm, troubled = Answers(), Answers()
        crowd.ask(requests // 2, calm)
        trouble = Trouble(self._daemon.socket)
        with trouble:
            crowd.ask(requests - requests // 2, troubled)
        crowd.close()
        figures.trouble = trouble.told
        served = calm.answered + troubled.answered + sum(told.get("replies", 0) for told in trouble.told.values())
        figures.cpu_ms_per_request = round(1000 * (cpu_seconds(self._daemon.pid) - cpu) / served, 3)
        status = calm.milliseconds["system.status"] + troubled.milliseconds["system.status"]
        figures.requests = calm.sent + troubled.sent
        figures.errors = (calm.errors + troubled.errors)[:20]
        figures.p50_ms, figures.p99_ms = quantile(status, 0.5), quantile(status, 0.99)
        figures.p99_ms_calm = quantile(calm.milliseconds["system.status"], 0.99)
        figures.p99_ms_trouble = quantile(troubled.milliseconds["system.status"], 0.99)
        for method in sorted(calm.milliseconds.keys() | troubled.milliseconds.keys()):
            times = calm.milliseconds[method] + troubled.milliseconds[method]
            figures.by_method[method] = {
                "requests": len(times),
                "p50_ms": quantile(times, 0.5),
                "p99_ms": quantile(times, 0.99),
                "most_ms": round(max(times), 2),
            }
        there = {sample["digest"] for sample in self._samples()}
        figures.lost = calm.lost + troubled.lost + len((calm.added | troubled.added) - there)

    def _samples(self) -> list[dict[str, Any]]:
        return self._ctl.json("label", "samples", "--label", LABEL, "--limit", "100000")["samples"]

    def _start_again(self, figures: Figures) -> None:
        """The same state folder, with all that the load left in it."""
        times = []
        for last in [False] * (_STARTS - 1) + [True]:
            times.append(ready_milliseconds(self._daemon, self._folder))
            if last:
                time.sleep(1)
                figures.rss_started = resident_bytes(self._daemon.pid)
                time.sleep(_IDLE)
                figures.rss_idle = resident_bytes(self._daemon.pid)
            self._daemon.stop()
        figures.ready_ms = round(statistics.median(times), 1)


def quantile(values: list[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 2) if values else 0.0
