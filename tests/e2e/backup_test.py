"""A device's backup, made while it works, and put back on another one or in its own place."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import tarfile
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from case import BAD_DATA, UNAVAILABLE, AllTests, EachTest
from images import GREY, png
from lib.client import Client
from lib.daemon import closed_window
from lib.moilctl import Moilctl
from lib.programs import program
from small_disk import SmallDisk, own_namespace
from world import MODEL, SETTINGS, Daemon, Row, ctl_of, daemon_in, stage_of, wait_for, weights_digest, worker_script

ROW = Row("backup", "backup", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
CLOSED = {"window": closed_window()}
NO_ROOM = 75  # EX_TEMPFAIL


def noise(seed: int, side: int = 250) -> bytes:
    """A photo that is kept as a file of its own."""
    rng = random.Random(seed)
    return png(side, side, GREY, b"".join(b"\0" + rng.randbytes(side) for _ in range(side)))


def state_of(ctl: Moilctl) -> dict[str, Any]:
    """What a person sees of a device, wherever its state folder lies."""
    seen = {
        "models": ctl.json("model", "list")["models"],
        "samples": ctl.json("label", "samples", "--limit", "100000")["samples"],
        "labels": ctl.json("label", "list")["labels"],
        "schedules": [ctl.json("schedule", "show", s["name"]) for s in ctl.json("schedule", "list")["schedules"]],
        "packs": ctl.json("pack", "list")["packs"],
    }
    for schedule in seen["schedules"]:
        schedule.pop("next_at")
    return json.loads(json.dumps(seen).replace(ctl.json("status")["state_dir"], "STATE"))


class BackupCase(AllTests):
    row = ROW
    config = CLOSED

    @contextlib.contextmanager
    def another(self, name: str) -> Iterator[tuple[Daemon, Moilctl]]:
        with daemon_in(self.world.new_folder(name), CLOSED) as daemon:
            yield daemon, ctl_of(daemon)


class RoundTripTest(BackupCase):
    backup: Path
    photos: list[Path]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.night()
        cls.photos = [cls.folder / f"noise-{i}.png" for i in range(3)]
        for i, photo in enumerate(cls.photos):
            photo.write_bytes(noise(i))
        cls.ctl.add_label(cls.photos, "noise", "train")
        cls.ctl.json("pack", "import", cls.world.pretrained.pack, "--name", "mine")
        schedule = cls.folder / "schedule.json"
        schedule.write_text(json.dumps({"name": "nightly", "job": {**cls.spec(), "global": {**cls.spec()["global"], "pack": str(cls.daemon.state / "packs/mine")}}}))
        cls.ctl.json("schedule", "add", schedule)
        cls.backup = cls.folder / "backup.tar"
        cls.told = cls.ctl.json("backup", cls.backup)

    def answers(self, ctl: Moilctl) -> Any:
        asked = [file for files in self.world.place.held_out.values() for file in files[:3]]
        return ctl.json("predict", *asked, "--model", MODEL)["predictions"]

    def test_what_it_holds_is_told(self) -> None:
        holds = self.told["holds"]
        samples = len(state_of(self.ctl)["samples"])
        self.assertEqual(holds, {"samples": samples, "labels": len(SETTINGS.local_classes) + 1, "models": 1, "versions": 2, "schedules": 1, "packs": 1})
        self.assertEqual(self.told["samples_left_out"], 0)
        self.assertEqual(self.backup.stat().st_mode & 0o777, 0o600)
        with tarfile.open(self.backup) as archive:
            names = archive.getnames()
        self.assertEqual((names[0], names[-1]), ("backup.json", "end.json"))
        self.assertEqual(len(names), self.told["files"] + 1)
        self.assertEqual(sum(name.startswith("labels/files/") for name in names), len(self.photos))
        self.assertFalse([name for name in names if name.startswith(("cache", "jobs", "trash"))])

    def test_a_fresh_device_becomes_the_same_and_its_nights_come_to_the_same(self) -> None:
        with self.another("fresh") as (daemon, ctl):
            said = ctl.text("restore", self.backup)
            self.assertIn("restored what moild", said)
            state = state_of(ctl)
            self.assertEqual(state, state_of(self.ctl))
            self.assertIn("STATE/packs/mine", json.dumps(state["schedules"]))
            self.assertEqual(self.answers(ctl), self.answers(self.ctl))
            spec = self.spec(activate=False, guard={"max_global_drop": 1}, seed=5)
            jobs = [each.wait(each.submit(spec)) for each in (self.ctl, ctl)]
            self.assertEqual([job["state"] for job in jobs], ["succeeded"] * 2)
            first, second = (weights_digest(each.state, job) for each, job in zip((self.daemon, daemon), jobs))
            self.assertEqual(first, second)
            first, second = (job["result"]["details"]["cache"]["computed"] for job in jobs)
            self.assertLess(first, second, "feature maps are computed again")

    def test_by_a_pipe(self) -> None:
        with self.another("piped") as (_, ctl):
            moilctl = [str(program("moilctl")), "--socket"]
            give = subprocess.Popen([*moilctl, str(self.daemon.socket), "backup", "-"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert give.stdout is not None
            take = subprocess.run([*moilctl, str(ctl._base[2]), "restore", "-"], stdin=give.stdout, capture_output=True, text=True)
            give.stdout.close()
            self.assertEqual((give.wait(), take.returncode), (0, 0), take.stderr)
            self.assertEqual(state_of(ctl), state_of(self.ctl))

    def test_over_a_state_it_asks_and_nothing_of_that_stays(self) -> None:
        with self.another("used") as (daemon, ctl):
            self.world.furnish(ctl)
            ctl.add_label([self.photos[0]], "other", "train")
            mine = state_of(ctl)
            self.refused_by(ctl, UNAVAILABLE, "there is nobody to ask", "restore", self.backup)
            self.assertEqual(state_of(ctl), mine)
            ctl.text("restore", self.backup, "--yes")
            self.assertEqual(state_of(ctl)["samples"], state_of(self.ctl)["samples"])
            wait_for("the old state is gone", lambda: not list(daemon.state.glob("trash/*")))

    def refused_by(self, ctl: Moilctl, code: int, words: str, *command: str | Path) -> None:
        done = subprocess.run([str(word) for word in [*ctl._base, *command]], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)

    def test_a_file_that_is_there_is_written_over_when_that_is_meant(self) -> None:
        file = self.folder / "there.tar"
        file.write_text("mine")
        self.refused(UNAVAILABLE, "write over", "backup", file)
        self.assertEqual(file.read_text(), "mine")
        self.ctl.text("backup", file, "--yes")
        self.assertGreater(file.stat().st_size, 10_000)
        self.refused(66, "No such file", "backup", self.folder / "nowhere/backup.tar")

    def test_what_is_no_backup_changes_nothing(self) -> None:
        whole = self.backup.read_bytes()
        bad = self.folder / "bad.tar"
        mine = state_of(self.ctl)
        for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-2048], whole.replace(b"\0models/", b"\0nodels/"), self.with_a_link()):
            bad.write_bytes(content)
            self.refused(BAD_DATA, "no backup of moild that could be restored", "restore", bad, "--yes")
        self.assertEqual(state_of(self.ctl), mine)
        self.assertFalse((self.daemon.state / "restore.incoming").exists())

    def with_a_link(self) -> bytes:
        out = io.BytesIO()
        with tarfile.open(self.backup) as old, tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as new:
            for member in old:
                if member.name == "moild.db":
                    link = tarfile.TarInfo("packs/mine/link")
                    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
                    new.addfile(link)
                new.addfile(member, old.extractfile(member))
        return out.getvalue()


class AtWorkTest(BackupCase):
    """With a night that does not end, and people who label."""

    def test_a_backup_beside_a_night_and_labels_holds_up_nobody(self) -> None:
        job = self.ctl.submit(self.spec(train={"epochs": 100_000}, activate=False))
        wait_for("it trains", lambda: stage_of(self.ctl, job) == "train")
        stop = threading.Event()
        added: list[str] = []
        longest = 0.0

        def label() -> None:
            client = Client(self.daemon.socket)
            for i in range(10_000):
                if stop.is_set():
                    break
                file = os.memfd_create("photo")
                os.write(file, noise(1000 + i, side=200))
                reply = client.ask("label.add", {"labels": ["during"], "samples": [{"file": 0}]}, [file])
                os.close(file)
                added.append(reply["samples"][0]["digest"])
            client.close()

        def ask() -> None:
            nonlocal longest
            client = Client(self.daemon.socket)
            while not stop.is_set():
                begin = time.monotonic()
                client.ask("system.status")
                longest = max(longest, time.monotonic() - begin)
                time.sleep(0.005)
            client.close()

        threads = [threading.Thread(target=work) for work in (label, ask)]
        for thread in threads:
            thread.start()
        wait_for("labels come", lambda: bool(added))
        files = []
        for i in range(4):
            there = list(added)
            file = self.folder / f"{i}.tar"
            self.ctl.json("backup", file)
            files.append((file, there, len(added)))
        stop.set()
        for thread in threads:
            thread.join()
        print(f"{len(added)} photos were labelled, system.status waited {1000 * longest:.0f} ms at most", flush=True)
        self.assertLess(longest, 1, "the loop was held up")
        self.assertEqual(self.ctl.job(job)["state"], "running")
        with self.another("restored") as (_, ctl):
            for file, before, most in files:
                ctl.text("restore", file, "--yes")
                found = {sample["digest"] for sample in ctl.json("label", "samples", "--label", "during", "--limit", "100000")["samples"]}
                self.assertLessEqual(set(before), found, "what was told before the backup is in it")
                self.assertLessEqual(len(found), most + 1)
                self.assertIn(ctl.job(job)["state"], ("queued", "running"), "a night that ran is begun again")
                ctl.json("job", "cancel", str(job))
        self.ctl.json("job", "cancel", str(job))


class StoppedTest(EachTest):
    """Who stops a backup, or a restore, leaves nothing behind."""

    row = ROW
    is_furnished = False

    @classmethod
    def prepare(cls) -> None:
        slow = ['if [ "$1" = backup ]; then mkdir "$7" && exec sleep 100; fi', 'if [ "$1" = restore ]; then mkdir "$5/restore.incoming" && exec sleep 100; fi']
        cls.config = {**CLOSED, "worker": {"path": str(worker_script(cls.folder / "worker", *slow))}}

    def test_by_a_signal(self) -> None:
        out = self.folder / "out"
        out.mkdir()
        (out / "old.tar").write_text("old")
        for command in ("backup", "restore"):
            for number in (signal.SIGINT, signal.SIGTERM):
                words = [str(word) for word in [*self.ctl._base, command, out / "old.tar", "--yes"]]
                asking = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                wait_for("its folder", lambda: bool(self.folders()))
                asking.send_signal(number)
                self.assertNotEqual(asking.wait(10), 0)
                wait_for("its worker is gone", lambda: self.daemon.workers() == [])
                self.assertEqual([(file.name, file.read_text()) for file in out.iterdir()], [("old.tar", "old")])
                wait_for("its folder is gone", lambda: not self.folders())

    def folders(self) -> list[str]:
        """Of backups and restores that are under way."""
        return [entry.name for entry in self.daemon.state.iterdir() if entry.name.startswith(("backup", "restore"))]


class KilledTest(BackupCase):
    """kill -9 of the daemon at any moment of a restore."""

    def test_either_state_stands(self) -> None:
        photo = self.folder / "noise.png"
        photo.write_bytes(noise(1))
        self.ctl.add_label([photo], "old", "train")
        new = self.folder / "new.tar"
        with self.another("other") as (_, ctl):
            self.world.furnish(ctl)
            for i in range(60):
                photo.write_bytes(noise(2 + i))
                ctl.add_label([photo], "new", "train")
            ctl.json("backup", new)
            states = {"old": state_of(self.ctl), "new": state_of(ctl)}
        kept = self.folder / "kept"
        self.daemon.stop()
        shutil.copytree(self.daemon.state, kept)
        seconds = self.restored_after(kept, new, None)
        seen: list[str] = []
        while seen[-3:] != ["new"] * 3:  # however busy the machine is
            step = len(seen)
            self.assertLess(step, 100, seen)
            self.restored_after(kept, new, seconds * step / 20)
            state = state_of(self.ctl)
            self.assertIn(state["labels"], [each["labels"] for each in states.values()])
            seen.append(next(name for name, each in states.items() if each["labels"] == state["labels"]))
            self.assertEqual(state, states[seen[-1]])
            self.assertEqual([entry.name for entry in self.daemon.state.iterdir() if entry.name.startswith(("restore", "backup"))], [])
            self.ctl.json("predict", photo, "--model", MODEL)
        print("after kills, one after the other: " + " ".join(seen), flush=True)
        self.assertEqual(seen[0], "old")

    def restored_after(self, kept: Path, backup: Path, seconds: float | None) -> float:
        """From the old state; killed after so many seconds, and started again."""
        if self.daemon.is_alive():
            self.daemon.stop()
        shutil.rmtree(self.daemon.state)
        shutil.copytree(kept, self.daemon.state)
        self.daemon.start()
        begin = time.monotonic()
        command = [str(word) for word in [*self.ctl._base, "restore", backup, "--yes"]]
        restoring = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if seconds is None:
            self.assertEqual(restoring.wait(), 0)
        else:
            time.sleep(seconds)
            self.daemon.kill()
            restoring.kill()
            restoring.wait()
            self.daemon.start()
        return time.monotonic() - begin


class SmallDiskTest(EachTest):
    row = ROW
    config: dict[str, Any] = {**CLOSED, "disk": {"reserve_bytes": 0, "leave_free_bytes": 0}}
    disk: SmallDisk

    @classmethod
    def setUpClass(cls) -> None:
        try:
            own_namespace()
        except OSError as error:
            raise unittest.SkipTest(f"a small disk cannot be mounted here ({error})") from error

    @classmethod
    def prepare(cls) -> None:
        cls.disk = SmallDisk(cls.folder / "state", 64 << 20)

    def test_without_room_nothing_changes(self) -> None:
        photo = self.folder / "noise.png"
        photo.write_bytes(noise(1, side=1500))
        self.ctl.add_label([photo], "noise", "train")
        backup, out = self.folder / "backup.tar", self.folder / "out.tar"
        self.ctl.json("backup", backup)
        mine = state_of(self.ctl)
        whole = backup.stat().st_size
        for leave in (0, 4096, 100_000, whole // 2, whole - 100_000, whole + 4096):
            with self.subTest(leave=leave):
                self.disk.fill(leave)
                self.refused(NO_ROOM, "", "restore", backup, "--yes")
                self.assertEqual(state_of(self.ctl), mine)
                self.disk.empty()
                wait_for("nothing is left of it", lambda: not (self.daemon.state / "restore.incoming").exists())
        self.disk.fill()
        self.refused(NO_ROOM, "", "backup", out)
        self.assertFalse(out.exists())
        self.disk.empty()
        self.ctl.text("restore", backup, "--yes")
        self.assertEqual(state_of(self.ctl), mine)

    def test_a_full_disk_for_the_backup(self) -> None:
        target = SmallDisk(self.folder / "stick", 1 << 20)
        photo = self.folder / "noise.png"
        photo.write_bytes(noise(1, side=1500))
        self.ctl.add_label([photo], "noise", "train")
        self.refused(NO_ROOM, "No space left", "backup", target.folder / "backup.tar")
        self.assertEqual(list(target.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
