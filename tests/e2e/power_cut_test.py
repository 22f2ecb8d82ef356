"""What a client was told survives a power cut.

The disk takes 40 ms for a flush, and a copy of what it has flushed is kept beside: what a power cut would leave. When
a request is answered, what it did is looked for in that copy. A kill of the process would find it in the system's
memory, whatever was flushed.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from night.daemon import Daemon  # noqa: E402
from night.programs import build_dir  # noqa: E402
from stall.probe import Client  # noqa: E402
from stall.stall import daemon_by_day  # noqa: E402

_FLUSH_MS = 40


class PowerCutTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="moil-cut-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.flushed = self.folder / "flushed"
        self.flushed.mkdir()
        self.daemon: Daemon = daemon_by_day(self.folder)
        library = build_dir() / "tests" / "preload" / "libmoil_slow_disk.so"
        keep = {"MOIL_FLUSH_MS": str(_FLUSH_MS), "MOIL_FLUSH_OF": "moild", "MOIL_FLUSH_KEEP": str(self.flushed)}
        self.daemon.start_without_waiting({"LD_PRELOAD": str(library), **keep})
        self.addCleanup(self.daemon.stop)
        self.daemon._wait_until_it_answers(60)
        source = self.folder / "source"
        source.mkdir()
        (source / "model.json").write_text("{}")
        self.client = Client(self.daemon.socket)
        self.addCleanup(self.client.close)
        for _ in range(2):
            self.client.ask("model.import", {"name": "digits", "path": str(source)})

    def left(self, question: str) -> Any:
        """What the state's database would answer after a power cut at this moment."""
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in ("moild.db-wal", "moild.db"):  # in the order in which they are flushed, the last first
            if (self.flushed / name).exists():
                shutil.copy(self.flushed / name, copy / name)
        database = sqlite3.connect(copy / "moild.db")
        try:
            return database.execute(question).fetchone()[0]
        finally:
            database.close()

    def job(self) -> dict[str, Any]:
        return {"name": "night", "model": "digits", "settings": "defaults", "global": {"pack": str(self.daemon.socket)}}

    def test_what_a_client_was_told_survives(self) -> None:
        ask = self.client.ask
        self.assertEqual(self.left("SELECT version FROM versions WHERE active"), 2)
        for _ in range(5):
            job = ask("job.submit", {"job": self.job()})["id"]
            state = f"SELECT max(state) FROM jobs WHERE id = {job}"
            self.assertEqual(self.left(state), "queued")
            ask("job.cancel", {"id": job})
            self.assertEqual(self.left(state), "cancelled")
            ask("job.retry", {"id": job})
            self.assertEqual(self.left(state), "queued")
        ask("job.cancel", {"id": job})
        ask("job.rm", {"id": job})
        self.assertEqual(self.left(f"SELECT count(*) FROM jobs WHERE id = {job}"), 0)
        ask("schedule.add", {"schedule": {"name": "nightly", "job": self.job()}})
        self.assertEqual(self.left("SELECT enabled FROM schedules"), 1)
        ask("schedule.enable", {"name": "nightly", "enabled": False})
        self.assertEqual(self.left("SELECT enabled FROM schedules"), 0)
        job = ask("schedule.run", {"name": "nightly"})["id"]
        self.assertEqual(self.left("SELECT last_job FROM schedules"), job)
        ask("schedule.rm", {"name": "nightly"})
        self.assertEqual(self.left("SELECT count(*) FROM schedules"), 0)
        ask("model.pin", {"model": "digits", "version": 1})
        self.assertEqual(self.left("SELECT pinned FROM versions WHERE version = 1"), 1)
        ask("model.anchor", {"model": "digits", "version": 1})
        self.assertEqual(self.left("SELECT version FROM anchors"), 1)
        ask("model.activate", {"model": "digits", "version": 1})
        self.assertEqual(self.left("SELECT version FROM versions WHERE active"), 1)
        ask("model.rm", {"model": "digits", "version": 2})
        self.assertEqual(self.left("SELECT count(*) FROM versions WHERE version = 2"), 0)

    def test_an_event_that_was_told_survives(self) -> None:
        job = self.client.ask("job.submit", {"job": self.job()})["id"]
        watcher = Client(self.daemon.socket)
        self.addCleanup(watcher.close)
        watcher.ask("job.watch", {"id": job})
        self.client.send("job.cancel", {"id": job})
        event = watcher.event()
        self.assertEqual(event["params"]["event"]["state"], "cancelled")
        self.assertEqual(self.left(f"SELECT state FROM jobs WHERE id = {job}"), "cancelled")

    def test_files_go_when_the_disk_knows_that_nothing_needs_them(self) -> None:
        """After a power cut, no version is recorded whose folder is gone."""
        folder = self.daemon.state / "models" / "digits"
        self.client.send("model.rm", {"model": "digits", "version": 1})
        while (folder / "1").exists():
            time.sleep(0.001)
        self.assertEqual(self.left("SELECT count(*) FROM versions WHERE version = 1"), 0)
        self.client.read("model.rm")


if __name__ == "__main__":
    unittest.main()
