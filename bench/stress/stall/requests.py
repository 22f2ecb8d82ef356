"""A request of every method, with the largest input that it takes."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lib.client import Client

_MODEL = "digits"
_FILES = 50
_SHARDS = 64  # files of a pack
Request = tuple[str, str, dict[str, Any], list[int]]  # method, in words with what, parameters, descriptors


class Requests:
    """`source`: a model's folder; `pack`: any file; `added`: samples of the label.add."""

    def __init__(self, source: Path, pack: Path, added: int):
        self.samples: list[str] = []  # digests of those that are there
        self._source = source
        self._pack = pack
        self._added = added

    def job(self, name: str, canary: dict[str, Any] | None = None) -> dict[str, Any]:
        job: dict[str, Any] = {"name": name, "model": _MODEL, "settings": "defaults", "global": {"pack": str(self._pack)}}
        return job if canary is None else {**job, "canary": canary}

    def schedule(self, name: str) -> dict[str, Any]:
        return {"name": name, "only_if": {"new_labels": 1_000_000}, "job": self.job("night")}

    def small_predict(self) -> dict[str, Any]:
        return {"model": _MODEL, "images": [{"content": base64.b64encode(b"seven").decode()}]}

    def of_a_greedy_user(self, role: str) -> list[tuple[str, dict[str, Any], int]]:
        read = [
            ("label.preview", {"digests": self.samples[:_FILES]}, 0),
            ("label.samples", {"limit": 1000}, 0),
            ("schedule.list", {}, 0),
            ("job.list", {"limit": 1000, "details": True}, 0),
            ("system.metrics", {}, 0),
            ("system.status", {}, 64),
        ]
        label = [("model.predict", {"model": _MODEL, "images": [{"file": i} for i in range(_FILES)]}, _FILES), ("label.assign", {"samples": self.samples[:500], "label": "greedy"}, 0)]
        operate = [("job.plan", {"job": self.job("night")}, 0), ("system.doctor", {}, 0), ("job.submit", {"job": self.job("night")}, 0)]
        return (operate if role == "operate" else []) + (label if role != "read" else []) + read

    def of_all_methods(self, client: Client) -> Iterator[Request]:
        """In an order in which each finds what it needs, but those that remove much."""
        yield from self._of_labels()
        yield from self._of_jobs(client)
        yield from self._of_schedules()
        yield from self._of_models(client)
        yield from self._of_packs()
        yield from self._of_the_device()

    def _files(self, count: int) -> list[int]:
        files = []
        for i in range(count):
            fd = os.memfd_create("photo")
            os.write(fd, f"{i},1\n".encode())
            files.append(fd)
        return files

    def _of_labels(self) -> Iterator[Request]:
        many = self.samples[:10_000]
        rows = [base64.b64encode(f"{i},2\n".encode()).decode() for i in range(self._added)]
        yield "label.add", f"{self._added} samples", {"labels": ["new"], "samples": [{"content": row} for row in rows]}, []
        files = self._files(_FILES)
        yield "label.add", f"{_FILES} files", {"labels": ["new"], "samples": [{"file": i} for i in range(_FILES)]}, files
        yield "label.assign", f"{len(many)} samples", {"samples": many, "label": "all of them"}, []
        yield "label.assign", "the same, unchanged", {"samples": many, "label": "all of them"}, []
        yield "label.undo", f"{len(many)} samples", {"with_samples": True}, []
        yield "label.relabel", "a sample", {"digest": self.samples[0], "labels": ["a", "b", "c"]}, []
        yield "label.rename", "500 samples", {"from": "label 1", "to": "renamed"}, []
        yield "label.merge", "500 samples", {"from": "renamed", "into": "label 0"}, []
        yield "label.map", "1000 labels", {"label": "new", "global": [f"global {i}" for i in range(1000)]}, []
        yield "label.list", "all", {}, []
        yield "label.samples", "1000", {"limit": 1000}, []
        yield "label.content", "a sample", {"digest": self.samples[0]}, []
        yield "label.preview", f"{_FILES} samples", {"digests": self.samples[:_FILES], "size": 512}, []
        cut = {"content": base64.b64encode(b"OggS" + bytes(700_000)).decode(), "from": 0, "to": 1, "labels": ["cut"]}
        yield "label.cut", "a recording", cut, []
        for study in ("audit", "suggest"):
            yield f"label.{study}", "10,000", {"model": _MODEL, "limit": 10_000}, []
        yield "label.meanings", "all", {"model": _MODEL}, []

    def _of_jobs(self, client: Client) -> Iterator[Request]:
        yield "job.submit", "a job", {"job": self.job("night")}, []
        mine = client.ask("job.list", {"limit": 1})["jobs"][0]["id"]
        yield "job.plan", "a job", {"job": self.job("night"), "picture": True, "timing": True}, []
        yield "job.list", "1000", {"limit": 1000}, []
        yield "job.list", "1000 with details", {"limit": 1000, "details": True}, []
        yield "job.get", "a long result", {"id": 2}, []
        yield "job.details", "a long list", {"id": 2, "list": "/details/elastic/intervals"}, []
        yield "job.watch", "a long job", {"id": 2}, []
        yield "job.cancel", "a job", {"id": mine}, []
        yield "job.retry", "a job", {"id": mine}, []
        client.ask("job.cancel", {"id": mine})
        yield "job.rm", "a job", {"id": mine}, []
        yield "model.learn", "all labels", {"model": _MODEL, "pack": str(self._pack)}, []

    def _of_schedules(self) -> Iterator[Request]:
        yield "schedule.add", "a schedule", {"schedule": self.schedule("another")}, []
        yield "schedule.list", "all", {}, []
        yield "schedule.get", "one", {"name": "another"}, []
        yield "schedule.enable", "one", {"name": "another", "enabled": False}, []
        yield "schedule.run", "one", {"name": "another"}, []
        yield "schedule.rm", "one", {"name": "another"}, []

    def _of_models(self, client: Client) -> Iterator[Request]:
        yield "model.import", "a folder", {"name": "third", "path": str(self._source)}, []
        yield "model.list", "all", {}, []
        yield "model.get", "the active one", {"model": _MODEL}, []
        yield "model.predict", f"{_FILES} files", {"model": _MODEL, "images": [{"file": i} for i in range(_FILES)], "top": 1000}, self._files(_FILES)
        content = base64.b64encode(bytes(14_000)).decode()
        yield "model.predict", f"{_FILES} contents", {"model": _MODEL, "images": [{"content": content}] * _FILES, "top": 1000}, []
        yield "model.listen", "a file", {"model": _MODEL, "file": 0, "rate": 16_000}, self._files(1)
        yield "model.diff", "two versions", {"model": _MODEL, "a": 1, "b": 2}, []
        yield "model.export", "a version", {"model": _MODEL, "file": 0}, self._files(1)
        yield "model.anchor", "a version", {"model": _MODEL, "version": 1}, []
        yield "model.pin", "a version", {"model": _MODEL, "version": 2}, []
        yield "model.activate", "a version with a canary before", {"model": _MODEL, "version": 3}, []
        yield "model.rollback", "a version", {"model": _MODEL}, []
        yield "model.rm", "a version", {"model": _MODEL, "version": 4}, []

    def _of_packs(self) -> Iterator[Request]:
        shards = {f"train-{i:05}.safetensors": i for i in range(1, _SHARDS)}
        yield "pack.import", f"{_SHARDS} files", {"name": "mine", "path": "/mine", "files": {"pack.json": 0, **shards}}, self._files(_SHARDS)
        yield "pack.list", "all", {}, []
        yield "pack.rm", "one", {"name": "mine"}, []

    def _of_the_device(self) -> Iterator[Request]:
        for name in ("status", "overview", "metrics", "doctor", "methods", "disk"):
            yield f"system.{name}", "all", {}, []
        for name in ("backup", "restore"):
            yield f"system.{name}", "a file", {"file": 0}, self._files(1)
        yield "cache.stats", "all", {}, []
        yield "cache.verify", "all", {"repair": True}, []
        yield "cache.gc", "all", {"all": True}, []

    def removals(self, client: Client) -> Iterator[Request]:
        yield "label.forget", "a sample", {"digest": self.samples[-1]}, []
        client.ask("label.assign", {"samples": self.samples[:-1], "label": "to be forgotten"})
        yield "label.rm", f"{len(self.samples) - 1} samples", {"label": "to be forgotten", "with_samples": True}, []
        yield "system.clean", "what it would remove", {"dry_run": True}, []
        yield "system.clean", "all", {}, []
