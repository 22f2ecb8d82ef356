"""Days and nights of a device whose disk is recorded, with what its client was told, and what it found then."""

from __future__ import annotations

import base64
import hashlib
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.client import Client
from lib.daemon import Daemon
from lib.moilctl import FINAL_STATES
from lib.night import MODEL
from lib.programs import ROOT
from lib.rpc import Rpc

from .device import BASE, SETTINGS, Device
from .promises import LABEL, OTHER
from .recorded_disk import Recorder

FLUSH_MS = 3  # enough for others to write meanwhile
OLD_STATE = ROOT / "tests" / "daemon" / "fixtures" / "state-1.sql"

View = dict[str, dict[str, Any]]


def view_of(rpc: Rpc, state: Path, known: dict[str, str] | None = None) -> View:
    """What the device tells of itself: what it must not forget. `known` contents of samples are not asked for."""
    samples = rpc.pages("label.samples", "samples", limit=1000)
    jobs = rpc.pages("job.list", "jobs")
    models = rpc.pages("model.list", "models")
    contents = {one["digest"]: (known or {}).get(one["digest"]) or _content(rpc, one["digest"]) for one in samples}
    return {
        "label": {label["name"]: True for label in rpc.pages("label.list", "labels")},
        "labels of sample": {one["digest"]: sorted(one["labels"]) for one in samples},
        "content of sample": contents,
        "meaning of label": dict(rpc("label.map")["map"]),
        "schedule": {one["name"]: one["enabled"] for one in rpc.pages("schedule.list", "schedules")},
        "job": {str(one["id"]): one["state"] for one in jobs},
        "end of job": {str(one["id"]): "wanted" for one in jobs if one["cancelling"] or one["state"] == "cancelled"},
        "version": {f"{one['model']} {one['version']}": _version(one, state) for one in models},
        "anchor": {name: rpc("model.anchor", model=name)["version"] for name in sorted({one["model"] for one in models if one["active"]})},
    }


def _content(rpc: Rpc, digest: str) -> str:
    return hashlib.sha256(base64.b64decode(rpc("label.content", digest=digest)["content"])).hexdigest()[:16]


def _version(one: dict[str, Any], state: Path) -> list[Any]:
    try:
        weights = (state / "models" / one["model"] / str(one["version"]) / "weights.safetensors").read_bytes()
    except FileNotFoundError:
        weights = b""
    marks = ["pinned" if one["pinned"] else "", "withdrawn" if one["withdrawn"] else ""]
    return ["in service" if one["active"] else "kept", *marks, hashlib.sha256(weights).hexdigest()[:16] if weights else "no weights"]


# What a request changes: the rest of a view may have changed since it was answered.
CONCERNS = {
    "label": ("label", "labels of sample", "content of sample", "meaning of label"),
    "schedule": ("schedule",),
    "job": ("end of job",),
    "model": ("version", "anchor"),
    "cache": (),
}


class Recorded:
    """`beginning` is a state folder before its first start, `log` what happened to it from there on.

    `first` is what the device told before. `nights` are the weights of each job that came to its end; if a sample
    was forgotten meanwhile, `unforgotten` are those of a night that still had it.
    """

    def __init__(self, daemon: Daemon, folder: Path, preloaded: str):
        self.daemon = daemon
        self.state = daemon.state
        self.beginning = folder / "beginning"
        self.log = folder / "log"
        self.first: View | None = None
        self.nights: dict[int, str] = {}
        self.unforgotten: dict[int, str] = {}
        self.forgotten: list[str] = []
        self._stage = ""
        self._is_night = False  # the device changes of its own accord
        self._contents: dict[str, str] = {}
        self._rpc = Rpc(daemon.socket)
        self._preloaded = preloaded
        shutil.copytree(self.state, self.beginning)
        self._recorder = Recorder(self.log, self.state, FLUSH_MS)

    def _begin(self, stage: str) -> None:
        self._stage = stage
        self._recorder.mark({"stage": stage})

    def _look(self) -> None:
        view = view_of(self._rpc, self.state, self._contents)
        self._contents |= view["content of sample"]
        self._recorder.mark({"stage": self._stage, "view": view, "is_night": self._is_night})

    def _ask(self, method: str, **params: Any) -> Any:
        result = self._rpc(method, **params)
        state = "queued" if method == "schedule.run" else result.get("state", "")
        jobs = {str(result["id"]): state} if "id" in result else {}
        self._recorder.mark({"stage": self._stage, "answered": CONCERNS[method.split(".")[0]], "jobs": jobs})
        self._is_night = self._is_night or bool(params.get("now")) or method == "schedule.run"
        self._look()
        return result

    def _start(self) -> None:
        self.daemon.start_without_waiting(self._recorder.environment(self._preloaded))
        self.daemon._wait_until_it_answers(60)
        self._look()

    def _end(self) -> None:
        self._rpc.close()
        self.daemon.stop()


class Migration(Recorded):
    """The first start on a state folder that an early version left."""

    def __init__(self, device: Device, folder: Path):
        state = folder / "state"
        state.mkdir(mode=0o700, parents=True)
        (state / "lock").touch(mode=0o600)
        database = sqlite3.connect(state / "moild.db")
        database.executescript(OLD_STATE.read_text())
        database.close()
        (state / "moild.db").chmod(0o600)
        daemon = Daemon(state, config=device.daemon.config, environment=device.environment)
        super().__init__(daemon, folder, device.environment["LD_PRELOAD"])

    def live(self) -> None:
        self._begin("migration")
        self._start()
        self._end()
        self._recorder.close()


class Life(Recorded):
    """Labels, jobs, models, schedules, nights."""

    def __init__(self, device: Device, folder: Path):
        folder.mkdir()
        self.device = device
        self._twin = _weights_of(device, self._spec(2))  # of the night in whose middle a sample is forgotten
        first = view_of(device.rpc, device.daemon.state)
        device.rpc.close()
        device.daemon.stop()
        super().__init__(device.daemon, folder, device.environment["LD_PRELOAD"])
        self.first = first

    def _spec(self, more_epochs: int) -> dict[str, Any]:
        spec = self.device.spec
        spec["train"]["epochs"] += more_epochs
        return spec

    def live(self) -> None:
        for stage, part in (
            ("start", self._start),
            ("labels", self._labels),
            ("jobs", self._jobs),
            ("models", self._models),
            ("schedules", self._schedules),
            ("night", self._plain_night),
            ("rollback", self._rollback),
            ("warm night", self._warm_night),
            ("forgetting", self._forgetting_night),
            ("cancelling", self._cancelled_night),
            ("cache gc", lambda: self._ask("cache.gc", all=True)),
            ("restart", self._restart),
            ("stop", self._end),
        ):
            self._begin(stage)
            part()
        self._recorder.close()

    # ---- what it lives through ----

    def _restart(self) -> None:
        self._end()
        self._start()

    def _add(self, text: str, **params: Any) -> str:
        content = base64.b64encode(text.encode()).decode()
        (sample,) = self._ask("label.add", samples=[{"content": content}], split="train", **params)["samples"]
        return str(sample["digest"])

    def _labels(self) -> None:
        first = self._add("1,2,3\n", labels=[LABEL])
        second = self._add("4,5,6\n", labels=[])
        self._ask("label.assign", samples=[second], label=LABEL)
        self._ask("label.relabel", digest=first, labels=["other label"])
        self._ask("label.map", label="other label", **{"global": [SETTINGS.global_classes[0]]})
        self._ask("label.rename", **{"from": "other label", "to": "renamed"})
        self._ask("label.undo")
        self._ask("label.merge", **{"from": "other label", "into": LABEL})
        third = self._add("7,8,9\n", labels=["third"])
        self._ask("label.forget", digest=third)
        self._add("7,8,9,10\n", labels=["third"])
        self._ask("label.undo", with_samples=True)
        self._ask("label.rm", label="third")

    def _jobs(self) -> None:
        job = self._ask("job.submit", job=self.device.spec)["id"]
        self._ask("job.cancel", id=job)
        self._ask("job.retry", id=job)
        self._cancel_watched(job)
        self._ask("job.submit", job={**self.device.spec, "name": "another"})
        self._ask("job.cancel", id=job + 1)
        self._ask("job.rm", id=job)

    def _cancel_watched(self, job: int) -> None:
        """Another client hears of it, by an event."""
        watcher, asker = Client(self.daemon.socket), Client(self.daemon.socket)
        watcher.ask("job.watch", {"id": job})
        asker.send("job.cancel", {"id": job})
        state = watcher.event()["params"]["event"]["state"]
        self._recorder.mark({"stage": self._stage, "answered": ["end of job"], "jobs": {str(job): state}})
        self._look()
        for client in (watcher, asker):
            client.close()

    def _models(self) -> None:
        folder = self._rpc("model.get", model=MODEL)["folder"]
        for _ in range(3):
            self._ask("model.import", name=OTHER, path=folder)
        self._ask("model.pin", model=OTHER, version=1)
        self._ask("model.anchor", model=OTHER, version=1)
        self._ask("model.activate", model=OTHER, version=1)
        self._ask("model.rm", model=OTHER, version=2)

    def _schedules(self) -> None:
        schedule = {"name": "nightly", "enabled": False, "job": self.device.spec}
        self._ask("schedule.add", schedule=schedule)
        self._ask("schedule.add", schedule={**schedule, "name": "another"})
        self._ask("schedule.rm", name="another")
        self._ask("schedule.enable", name="nightly", enabled=True)
        self._ask("schedule.enable", name="nightly", enabled=False)

    def _plain_night(self) -> None:
        self._ask("cache.gc", all=True)
        job = self._ask("schedule.run", name="nightly")["id"]
        self._see(job, {"train": lambda: self._add("night,1\n", labels=[LABEL])})

    def _rollback(self) -> None:
        self._ask("model.rollback", model=MODEL)
        self._ask("model.activate", model=MODEL, version=BASE)

    def _warm_night(self) -> None:
        """The feature maps are there. It trains longer: weights that were withdrawn are not put in service again."""
        self._see(self._ask("job.submit", job=self._spec(1), now=True)["id"], {})
        self._ask("model.activate", model=MODEL, version=BASE)

    def _forgetting_night(self) -> None:
        self._ask("cache.gc", all=True)
        job = self._ask("job.submit", job=self._spec(2), now=True)["id"]
        self.unforgotten[job] = self._twin
        (sample,) = self._rpc("label.samples", label=SETTINGS.local_classes[0], split="train", limit=1)["samples"]
        self.forgotten.append(sample["digest"])
        self._see(job, {"train": lambda: self._ask("label.forget", digest=sample["digest"])})
        self._ask("model.activate", model=MODEL, version=BASE)

    def _cancelled_night(self) -> None:
        job = self._ask("job.submit", job=self.device.spec, now=True)["id"]
        self._see(job, {"train": lambda: self._ask("job.cancel", id=job)})

    def _see(self, job: int, then: dict[str, Callable[[], Any]]) -> None:
        """The night to its end; `then` in a stage, once."""
        stage, night = "", self._stage
        while (found := dict(self._rpc("job.get", id=job)["job"]))["state"] not in FINAL_STATES:
            now = (found["progress"] or {}).get("stage")
            if now and now != stage:
                stage = now
                self._begin(f"{night}: {stage}")
                if stage in then:
                    then.pop(stage)()
            time.sleep(0.002)
        if found["state"] == "succeeded":
            self.nights[job] = self.device.weights(found)
        self._is_night = False
        self._look()
        self._begin(night)


def _weights_of(device: Device, spec: dict[str, Any]) -> str:
    device.rpc("cache.gc", all=True)
    ended = device.wait(device.rpc("job.submit", job=spec, now=True)["id"])
    assert ended["state"] == "succeeded", ended
    device.rpc("model.activate", model=MODEL, version=BASE)
    return device.weights(ended)
