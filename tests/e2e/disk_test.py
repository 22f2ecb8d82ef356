"""A disk that is full: nights wait for room and go on, and room can be made when there is none."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from case import EachTest
from small_disk import SmallDisk, own_namespace
from world import MODEL, SETTINGS, Row, stage_of, wait_for

MIB = 1 << 20
ROW = Row("disk", "disk", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
RESERVE = 8 * MIB
CLOSED = {"start": "00:00", "end": "00:01"}  # jobs without --now stay queued, but for a minute


def setUpModule() -> None:
    try:
        own_namespace()
    except OSError as error:
        raise unittest.SkipTest(f"a small disk cannot be mounted here ({error})") from error


class DiskTest(EachTest):
    row = ROW
    config: dict[str, Any] = {
        "worker": {"backoff_seconds": 1000, "attempts": 2},
        "window": CLOSED,
        "poll_seconds": 0.1,
        "disk": {"reserve_bytes": RESERVE, "leave_free_bytes": 0},
    }

    disk: SmallDisk

    @classmethod
    def prepare(cls) -> None:
        cls.disk = SmallDisk(cls.folder / "state", 96 * MIB)

    def queue(self) -> int:
        """A job that waits for the window."""
        file = self.folder / "queued.json"
        file.write_text(json.dumps(self.spec()))
        return int(self.ctl.json("job", "submit", file)["id"])

    def digests(self) -> list[str]:
        return [sample["digest"] for sample in self.ctl.json("label", "samples")["samples"]]

    def is_full(self) -> bool:
        """Fills the disk, but for moild's reserve, which it takes again after the command before."""
        if self.reserve() < RESERVE // 2:
            self.disk.empty()
            return False
        self.disk.fill()
        time.sleep(0.3)
        return self.disk.free() == 0 and self.reserve() >= RESERVE // 2

    def reserve(self) -> int:
        return (self.daemon.state / "reserve").stat().st_size

    def is_waiting_for_room(self, job: int) -> bool:
        held = self.ctl.json("status")["held"]
        return self.ctl.job(job)["state"] == "queued" and held is not None


class PauseTest(DiskTest):
    config = {**DiskTest.config, "disk": {"reserve_bytes": RESERVE, "leave_free_bytes": 1 << 30}}

    def test_a_night_that_finds_no_room_is_resumed_when_there_is_some(self) -> None:
        weights = self.daemon.state / "models" / MODEL / "1" / "weights.safetensors"
        self.disk.fill(leave=weights.stat().st_size // 2)
        job = self.ctl.submit(self.spec())
        wait_for("the job waits for room", lambda: self.is_waiting_for_room(job))
        self.assertEqual(self.daemon.workers(), [])
        self.assertEqual(self.ctl.job(job)["failures"], 0)
        self.disk.empty()
        done = self.ctl.wait(job)
        self.assertEqual((done["state"], done["failures"]), ("succeeded", 0), done["message"])
        self.assertIsNone(self.ctl.json("status")["held"])
        cache = done["result"]["details"]["cache"]
        self.assertGreater(cache["uncached"], 0, "below the floor, the cache takes nothing")
        self.assertEqual(self.night()["result"]["promoted"], True)


class NoByteFreeTest(DiskTest):
    def test_room_can_be_made(self) -> None:
        self.night()
        queued, digests = self.queue(), self.digests()
        commands: list[tuple[str, ...]] = [
            ("job", "cancel", str(queued)),
            ("model", "rollback", MODEL),
            ("label", "forget", digests[0], "--yes"),
            ("label", "rm", SETTINGS.local_classes[0], "--with-samples", "--yes"),
            ("cache", "clean", "--all", "--yes"),
        ]
        for words in commands:
            with self.subTest(" ".join(words)):
                wait_for("the disk is full", self.is_full)
                self.ctl.text(*words)
        self.assertEqual(self.ctl.job(queued)["state"], "cancelled")
        self.assertTrue(next(m for m in self.ctl.json("model", "list")["models"] if m["version"] == 1)["active"])
        self.assertNotIn(digests[0], self.digests())
        self.assertEqual(self.ctl.json("cache", "stats")["entries"], 0)
        self.disk.empty()
        wait_for("the reserve is there again", lambda: self.reserve() == RESERVE)
        self.night()

    def test_the_daemon_starts(self) -> None:
        self.daemon.stop()
        self.disk.fill()
        self.daemon.start()
        self.ctl.text("label", "forget", self.digests()[0], "--yes")

    def test_a_job_whose_worker_is_gone_does_not_run(self) -> None:
        job = self.ctl.submit(self.spec(train={"epochs": 100_000}))
        wait_for("it trains", lambda: stage_of(self.ctl, job) == "train")
        self.disk.fill()
        (worker,) = self.daemon.workers()
        self.ctl.json("job", "cancel", str(job))
        wait_for("the worker is gone", lambda: worker not in self.daemon.workers())
        wait_for("the job does not run", lambda: self.ctl.job(job)["state"] == "cancelled")


if __name__ == "__main__":
    unittest.main()
