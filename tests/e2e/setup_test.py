"""moilctl setup: from a folder of samples to a model that knows them, in one command."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import unittest
from pathlib import Path

from images import grey_png
from world import Daemon, World, ctl_of, daemon_in
from lib.daemon import closed_window
from lib.programs import program
from lib.samples import Files

SIDE = 16
world: World


def setUpModule() -> None:
    global world
    world = World()
    unittest.addModuleCleanup(world.clean)


def networks_with(model: Path, pack: Path, folder: Path) -> Path:
    """As the package moild-models lays a network out."""
    network = folder / "digits"
    shutil.copytree(model, network / "model")
    shutil.copytree(pack, network / "pack")
    (network / "network.json").write_text(json.dumps({"kind": "image", "title": "Digits", "licence": "none", "default": True}))
    return folder


def pictures(folder: Path, count: int, seed: int) -> Files:
    """Of two things that no digit is like, and not like each other."""
    rng = random.Random(seed)
    light = {
        "paper": lambda x, y: 200 + rng.randint(0, 50),
        "blinds": lambda x, y: (250 if x % 4 < 2 else 0) - (1 if x % 4 < 2 else -1) * rng.randint(0, 60),
    }
    files: Files = {}
    for name, of in light.items():
        files[name] = [folder / f"{name}-{seed}-{i}.png" for i in range(count)]
        for file in files[name]:
            file.write_bytes(grey_png(SIDE, [of(p % SIDE, p // SIDE) for p in range(SIDE * SIDE)]))
    return files


def lay_out(files: Files, folder: Path) -> None:
    for name, members in files.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for member in members:
            shutil.copy(member, folder / name)


class SetupTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = world.new_folder("setup")
        self.networks = networks_with(world.pretrained.model, world.pretrained.pack, self.folder / "networks")
        self.photos = self.folder / "my photos"
        self.files = pictures(self.folder, 14, 1)
        lay_out(self.files, self.photos)
        self.daemon: Daemon = daemon_in(self.folder, {"window": closed_window()})
        self.daemon.start()
        self.addCleanup(self.daemon.stop)
        self.ctl = ctl_of(self.daemon)

    def moilctl(self, *words: str | Path, networks: Path | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "MOILD_NETWORKS": str(networks or self.networks)}
        return subprocess.run([program("moilctl"), "--socket", self.daemon.socket, *words], capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)

    def test_one_command_leads_to_a_model_that_answers(self) -> None:
        dry = self.moilctl("setup", self.photos, "--dry-run")
        self.assertEqual(dry.returncode, 0, dry.stderr)
        commands = [line.strip() for line in dry.stderr.splitlines() if line.startswith("  moilctl")]
        self.assertEqual(len(commands), 3, dry.stderr)
        self.assertEqual(self.ctl.json("model", "list")["models"], [], "nothing was done")

        done = self.moilctl("setup", self.photos)
        self.assertEqual(done.returncode, 0, done.stderr)
        for command in commands:
            self.assertIn(command, done.stderr, "what was said is what is done")
        (schedule,) = self.ctl.json("schedule", "list")["schedules"]
        self.assertEqual(schedule["name"], "photos")
        # How well so small a network learns at once is the benchmark's to tell; the guard may keep it back.
        (learned,) = self.ctl.json("job", "list")["jobs"]
        self.assertIn(learned["state"], ("succeeded", "rejected-by-guard"), learned["message"])
        if learned["state"] == "rejected-by-guard":
            self.assertIn("the next night learns them", done.stderr)
        else:
            active = self.ctl.json("model", "show", "photos")
            self.assertEqual(active["version"], 2)
        labels = {label["name"]: label["samples"] for label in self.ctl.json("label", "list")["labels"]}
        self.assertEqual(labels, {name: len(members) for name, members in self.files.items()})
        answers = self.ctl.json("predict", *pictures(self.folder, 5, 2)["paper"])["predictions"]
        self.assertTrue(all("top" in answer for answer in answers), answers)

    def test_a_second_time_adds_what_is_new(self) -> None:
        later = {name: members[-2:] for name, members in self.files.items()}
        for name, members in later.items():
            for member in members:
                (self.photos / name / member.name).unlink()
        self.assertEqual(self.moilctl("setup", self.photos).returncode, 0)
        lay_out(later, self.photos)
        again = self.moilctl("setup", self.photos)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("model import", again.stderr)
        self.assertIn(f"{2 * len(later)} added", again.stdout)
        last = self.moilctl("setup", self.photos)
        self.assertEqual(last.returncode, 0, "nothing is new: " + last.stderr)

    def test_a_file_that_cannot_be_taken_keeps_nothing_back(self) -> None:
        (self.photos / next(iter(self.files)) / "broken.heic").write_bytes(b"\0\0\0\x18ftypheic")
        done = self.moilctl("setup", self.photos)
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertIn("broken.heic", done.stderr)
        self.assertEqual(len(self.ctl.json("schedule", "list")["schedules"]), 1)
        self.assertIn("learn photos", done.stderr, "what comes next is done")

    def test_add_takes_what_it_is_given(self) -> None:
        one, *others = self.files["paper"]
        self.assertEqual(self.moilctl("add", one, "--label", "sheet").returncode, 0)
        self.assertEqual(self.moilctl("add", *others[:2]).returncode, 0)
        self.assertEqual(self.moilctl("add", self.photos / "blinds", "--label", "blinds").returncode, 0)
        again = self.moilctl("add", self.photos)
        self.assertEqual(again.returncode, 65, "the first is a sheet, and stays one")
        self.assertIn("sheet", again.stderr)
        labels = {label["name"]: label["samples"] for label in self.ctl.json("label", "list")["labels"]}
        self.assertEqual(labels["sheet"], 1)
        self.assertEqual(labels["blinds"], len(self.files["blinds"]))
        self.assertEqual(labels["paper"], len(self.files["paper"]) - 1, "what had no label has one now")
        absent = self.moilctl("add", self.folder / "absent.png")
        self.assertEqual(absent.returncode, 66, absent.stderr)

    def test_what_cannot_be_set_up_is_refused_with_what_to_do(self) -> None:
        (nothing := self.folder / "nothing").mkdir()
        (nothing / "notes.txt").write_text("no photo")
        (sounds := self.folder / "sounds" / "rain").mkdir(parents=True)
        (sounds / "1.ogg").write_bytes(b"OggS")
        for words, networks, said in (
            ((self.folder / "absent",), None, "there is no such folder"),
            ((nothing,), None, "it holds no photo, sound or file of numbers"),
            ((sounds.parent,), None, "install the package moild-models"),
            ((self.photos,), nothing, "install the package moild-models"),
            ((self.photos, "--model", "yamnet"), None, "there are digits"),
        ):
            refused = self.moilctl("setup", *words, networks=networks)
            self.assertNotEqual(refused.returncode, 0, words)
            self.assertIn(said, refused.stderr)
        self.assertEqual(self.ctl.json("model", "list")["models"], [])


if __name__ == "__main__":
    unittest.main()
