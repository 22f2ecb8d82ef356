"""kill -9 of the worker and of the daemon, in every stage of a night.

After a restart the job must complete, with the very weights of a run that was never killed. One of the
photos cannot be read, so that what is left out is the same after a restart, too. And if a photo is
forgotten in the middle, the weights must be those of a night that never saw it.
"""

from __future__ import annotations

import shutil
import sqlite3
import unittest
from pathlib import Path
from typing import Any

from case import Asking
from stress.crash.promises import files_with
from world import SETTINGS, Daemon, Moilctl, Row, World, ctl_of, daemon_in, kill_daemon, kill_worker, stage_of, stands_still
from world import trusting_worker, wait_for, weights_digest, worker_script

STAGES = ["mix", "measure", "cache", "distill", "imprint", "train", "judge", "promote"]
KILLS = {"worker": kill_worker, "daemon": kill_daemon}
ROW = Row("crash", "crash", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)


class CrashTest(Asking):
    world: World
    furnished: Path  # a state folder with model, labels and a kernel profile
    expected: str  # the digest of the weights of a run that was never killed

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = World()
        cls.addClassCleanup(cls.world.clean)
        cls.spec = cls.world.spec(ROW)
        cls.spec["train"]["distill"] = 0.5
        cls.spec["augment"] = {"views": 3, "flip": False}
        # Kernels that were chosen by measurement count to what makes weights the same: the first
        # jobs choose them, every later one finds them in the state folder.
        folder = cls.world.new_folder("furnished")
        with daemon_in(folder, {"worker": {"path": str(trusting_worker(folder))}}) as daemon:
            ctl = ctl_of(daemon)
            cls.world.furnish(ctl)
            cls.add_torn_photo(ctl, folder / "torn.png")
            for layers in (SETTINGS.trainable_layers, "all"):
                spec = {**cls.spec, "activate": False, "freeze": {"trainable_layers": layers}}
                first = ctl.wait(ctl.submit(spec))
                assert first["state"] == "succeeded", first
        shutil.rmtree(folder / "state" / "cache")
        cls.furnished = folder / "state"
        cls.expected = cls.never_killed(cls.spec)

    @classmethod
    def add_torn_photo(cls, ctl: Moilctl, file: Path) -> None:
        label = SETTINGS.local_classes[0]
        whole = cls.world.place.later[label][0].read_bytes()
        file.write_bytes(whole[: len(whole) * 2 // 3])
        ctl.add_label([file], label, "train")

    @classmethod
    def copied_state(cls, name: str) -> Path:
        folder = cls.world.new_folder(name)
        shutil.copytree(cls.furnished, folder / "state")
        return folder

    @classmethod
    def never_killed(cls, spec: dict[str, Any], forgotten: str | None = None) -> str:
        with daemon_in(cls.copied_state("unharmed")) as daemon:
            ctl = ctl_of(daemon)
            if forgotten:
                ctl.text("label", "forget", forgotten, "--yes")
            job = ctl.wait(ctl.submit(spec))
            assert job["state"] == "succeeded" and job["attempts"] == 1, job
            return weights_digest(daemon.state, job)

    def daemon_that_pauses(self, folder: Path, stage: str, **worker_settings: Any) -> Daemon:
        """Its first worker stops at the stage for ever; the next ones do not."""
        flag = folder / "pause"
        flag.touch()
        pause = f'if [ "$1" = run ] && rm "{flag}" 2>/dev/null; then export MOIL_PAUSE_AT={stage}; fi'
        worker = worker_script(folder / "worker", pause)
        return daemon_in(folder, {"worker": {"path": str(worker), **worker_settings}})

    def kill_at(self, stage: str, kill: str) -> None:
        folder = self.copied_state(f"{kill}-{stage}")
        with self.daemon_that_pauses(folder, stage) as daemon:
            ctl = ctl_of(daemon)
            job = ctl.submit(self.spec)
            wait_for(f"stage {stage}", lambda: stands_still(daemon))
            self.assertEqual(stage_of(ctl, job), stage)
            self.assertEqual(ctl.job(job)["state"], "running")
            KILLS[kill](daemon)
            self.check(daemon, job)

    def check(self, daemon: Daemon, job: int, expected: str | None = None) -> None:
        ended = ctl_of(daemon).wait(job)
        self.assertEqual(ended["state"], "succeeded", ended["message"])
        self.assertGreaterEqual(ended["attempts"], 2)
        self.assertEqual(weights_digest(daemon.state, ended), expected or self.expected)
        self.assertEqual(len(ended["result"]["details"]["left_out"]), 1, "the torn photo")
        self.assertEqual(ctl_of(daemon).json("model", "get", ended["model"])["version"], ended["version"])
        self.assertEqual(list((daemon.state / "models" / ended["model"]).glob(".incoming-*")), [])

    def test_killed_in_every_stage(self) -> None:
        for kill in KILLS:
            for stage in STAGES:
                with self.subTest(kill=kill, stage=stage):
                    self.kill_at(stage, kill)

    def test_killed_while_it_looks_at_samples(self) -> None:
        """What the label store has been told it is not told again; nothing is lost, and scenes come out the same."""
        for kill in KILLS:
            with self.subTest(kill=kill):
                folder = self.copied_state(f"scenes-{kill}")
                labels = sqlite3.connect(folder / "state" / "labels" / "labels.db")
                with labels:
                    labels.execute("UPDATE samples SET likeness = NULL, scene = 0, used = 0, used_split = NULL")

                def looked_at() -> int:
                    return labels.execute("SELECT count(*) FROM samples WHERE likeness IS NOT NULL").fetchone()[0]

                (all_samples,) = labels.execute("SELECT count(*) FROM samples").fetchone()
                with self.daemon_that_pauses(folder, "scenes") as daemon:
                    ctl = ctl_of(daemon)
                    job = ctl.submit(self.spec)
                    wait_for("stage scenes", lambda: stage_of(ctl, job) == "scenes" and looked_at() > 0)
                    KILLS[kill](daemon)
                    recorded = ctl.wait(job) and looked_at()
                    self.check(daemon, job)
                    told = ctl.job(job)["result"]["details"]["near_duplicates"]["looked_at"]
                self.assertEqual(recorded, all_samples)
                self.assertTrue(0 < told < all_samples, "a whole batch was recorded before the kill")
                labels.close()

    def test_forgotten_in_the_middle_is_as_if_it_had_never_been_there(self) -> None:
        expected, digest = "", ""
        for stage in STAGES:
            with self.subTest(stage=stage):
                # It does not hear that it should stop, and is killed.
                with self.daemon_that_pauses(self.copied_state(f"forget-{stage}"), stage, stop_seconds=0.1) as daemon:
                    ctl = ctl_of(daemon)
                    if not digest:
                        digest = ctl.json("label", "samples", "--split", "train")["samples"][0]["digest"]
                        expected = self.never_killed(self.spec, digest)
                        self.assertNotEqual(expected, self.expected)
                    job = ctl.submit(self.spec)
                    # A night that still goes may find by itself that the sample is gone.
                    wait_for(f"stage {stage}", lambda: stands_still(daemon))
                    learned = ctl.json("label", "forget", digest, "--yes")["versions"]
                    self.assertEqual([v["version"] for v in learned], [2, 3], "of earlier nights, not of this one")
                    self.check(daemon, job, expected)
                    self.assertEqual(ctl.job(job)["failures"], 0)
                    self.assertEqual(files_with(daemon.state, digest), [])

    def test_killed_again_and_again_while_training(self) -> None:
        """Goes on from a checkpoint, not from the beginning."""
        train = {**self.spec["train"], "epochs": 60, "checkpoint_seconds": 0.05}
        long = {**self.spec, "train": train, "freeze": {"trainable_layers": "all"}}
        expected = self.never_killed(long)
        folder = self.copied_state("again")
        with daemon_in(folder, {"worker": {"attempts": 10}}) as daemon:
            ctl = self.__class__.ctl = ctl_of(daemon)
            job = ctl.submit(long)
            for epoch, kill in ((10, kill_worker), (25, kill_daemon), (40, kill_worker)):
                wait_for(f"epoch {epoch}", lambda: max(self.epochs({"id": job}), default=0) >= epoch, 120)
                kill(daemon)
            self.check(daemon, job, expected)
            self.assertGreaterEqual(ctl.job(job)["attempts"], 4)
            self.assertLess(len(self.epochs({"id": job})), 2 * 60, "epochs were trained again from the first")


if __name__ == "__main__":
    unittest.main()
