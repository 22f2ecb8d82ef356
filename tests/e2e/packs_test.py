"""Packs without labelled data: what they hold, what a night says that was judged by one, and packs that are copied into
the state folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

from case import BAD_DATA, NO_INPUT, AllTests, Job, small_night, the_world
from lib.night import MODEL
from lib.programs import ROOT, ProgramError, program, run


DRAWS = {"train": 58, "val": 29}  # of each of the seven labels


def make(*words: str | Path) -> str:
    return run([program("moil-pretrain"), *words])


def manifest_of(pack: Path) -> dict[str, Any]:
    return json.loads((pack / "pack.json").read_text())


class PacksTest(AllTests):
    described: Path
    unlabelled: Path
    told: str  # by the command that made it

    @classmethod
    def prepare(cls) -> None:
        model = cls.world.pretrained.model
        cls.described, cls.unlabelled = cls.folder / "described", cls.folder / "unlabelled"
        make("described-pack", "--model", model, "--out", cls.described)
        photos = cls.folder / "photos"
        for number, files in enumerate(cls.world.place.train.values()):
            folder = photos / "2024" / f"trip {number}"
            folder.mkdir(parents=True)
            for file in files[:12]:
                shutil.copyfile(file, folder / file.name)
        (photos / "notes.txt").write_text("no photo")
        (photos / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"half" * 20)
        done = subprocess.run(
            [program("moil-pretrain"), "unlabelled-pack", "--model", model, "--data", photos, "--out", cls.unlabelled],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        cls.told = done.stdout + done.stderr

    def learned(self, pack: Path) -> Job:
        """Whatever the guard says of it; what was learned before is not there."""
        try:
            self.ctl.text("learn", MODEL, "--pack", pack)
        except ProgramError as error:
            self.assertEqual(error.code, BAD_DATA, error.stderr)
        job = self.ctl.job(max(job["id"] for job in self.ctl.json("job", "list")["jobs"]))
        if job["state"] == "succeeded":
            self.ctl.json("model", "activate", MODEL, "1")
        return job

    def test_a_described_pack_has_features_of_every_label_and_of_no_sample(self) -> None:
        pack = manifest_of(self.described)
        labels = len(pack["classes"])
        self.assertEqual((pack["kind"], pack["targets"], pack["reached"]), ("features", "model", 0))
        self.assertEqual(pack["samples"], {"train": DRAWS["train"] * labels, "val": DRAWS["val"] * labels})
        self.assertTrue(all(shard["described"] for shard in pack["shards"]))
        again = self.folder / "again"
        make("described-pack", "--model", self.world.pretrained.model, "--out", again)
        self.assertEqual(manifest_of(again), pack, "the same model, the same pack")

    def test_a_pack_of_unlabelled_samples_says_how_wide_it_is_and_what_it_left_out(self) -> None:
        pack = manifest_of(self.unlabelled)
        labels = len(pack["classes"])
        self.assertEqual(pack["targets"], "model")
        self.assertTrue(0 < pack["reached"] <= labels, pack["reached"])
        real = [shard for shard in pack["shards"] if not shard.get("described")]
        self.assertEqual(sum(shard["samples"] for shard in real), 12 * len(self.world.place.train))
        described = sum(DRAWS.values()) * labels
        self.assertEqual(sum(pack["samples"].values()), 12 * len(self.world.place.train) + described)
        self.assertIn(f"which reach {pack['reached']} of them", self.told)
        self.assertIn("broken.png", self.told)

    def test_nothing_that_is_told_of_a_night_calls_agreement_accuracy(self) -> None:
        for pack in (self.described, self.unlabelled):
            asked = {"freeze": {"trainable_layers": 1}, "guard": {"max_global_drop": 1}}
            job = self.ended(small_night("judged", MODEL, pack, **asked))
            result = job["result"]
            self.assertEqual((result["metric"], result["global_metric"]), ("accuracy", "agreement"))
            self.assertEqual(result["global_before"], 1.0, "a model agrees with its own answers")
            scores = result["details"]["scores"]
            self.assertEqual(list(scores["global"]["after"]), ["agreement"])
            page = self.folder / "report.html"
            self.ctl.text("report", str(job["id"]), "--html", page)
            told = [self.ctl.text("report", str(job["id"])), page.read_text(), result["reason"]]
            told += [self.ctl.text("status"), self.ctl.text("model", "list")]
            told.append(self.ctl.text("model", "show", MODEL, str(job["version"])))
            for text in told:
                self.assertIn("agreement", text)
                self.assertNotIn("global accuracy", text)
            self.ctl.json("model", "activate", MODEL, "1")

    def test_own_answers_do_not_tell_how_sure_a_model_may_be(self) -> None:
        calibration = self.learned(self.described)["result"]["details"]["calibration"]
        held_out = sum(len(self.world.place.held_out[name]) for name in self.world.settings.local_classes)
        self.assertTrue(calibration is None or calibration["held_out"] <= held_out, calibration)

    def test_a_pack_is_copied_and_the_copy_serves(self) -> None:
        home = self.folder / "home" / "mine"
        shutil.copytree(self.described, home)
        copied = self.ctl.json("pack", "import", home)
        shutil.rmtree(home)
        (listed,) = self.ctl.json("pack", "list")["packs"]
        self.assertEqual(listed, copied)
        self.assertEqual((listed["name"], listed["targets"], listed["reached"]), ("mine", "model", 0))
        path = Path(listed["path"])
        self.assertEqual(path, self.daemon.state / "packs" / "mine")
        self.assertEqual(self.learned(path)["result"]["global_metric"], "agreement")
        self.refused(73, "another name", "pack", "import", self.unlabelled, "--name", "mine")
        schedule = self.folder / "schedule.json"
        schedule.write_text(json.dumps({"name": "nightly", "enabled": False, "job": {"name": "nightly", "model": MODEL, "global": {"pack": str(path)}}}))
        self.ctl.json("schedule", "add", schedule)
        self.refused(69, 'schedule "nightly" mixes from', "pack", "rm", "mine")
        self.ctl.json("schedule", "rm", "nightly", "--yes")
        self.ctl.json("pack", "rm", "mine")
        self.assertEqual(self.ctl.json("pack", "list")["packs"], [])

    def test_a_damaged_pack_leaves_nothing(self) -> None:
        home = self.folder / "damaged"
        shutil.copytree(self.described, home)
        shard = home / manifest_of(home)["shards"][0]["file"]
        content = bytearray(shard.read_bytes())
        content[-1] ^= 1
        shard.write_bytes(content)
        self.refused(BAD_DATA, str(shard), "pack", "import", home)
        self.assertNotIn("damaged", [pack["name"] for pack in self.ctl.json("pack", "list")["packs"]])
        self.assertEqual([f.name for f in (self.daemon.state / "packs").iterdir() if f.name.startswith(".")], [])
        self.refused(NO_INPUT, "pack.json", "pack", "import", self.folder / "nowhere")


class ModelsPackageTest(unittest.TestCase):
    """With the tests' small network in place of the published ones."""

    def test_each_network_has_a_pack_and_says_what_it_is(self) -> None:
        if shutil.which("dpkg-deb") is None:
            self.skipTest("dpkg-deb is not installed")
        world = the_world()
        folder = world.new_folder("models-package")
        shutil.copytree(world.pretrained.model, folder / "networks" / "efficientnet-lite0")
        command = [ROOT / "scripts/package", "--models", "--networks", folder / "networks", "--out", folder / "out"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MOIL_BUILD": str(program("moild").parents[1])})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no network for sounds", done.stderr)
        package = Path(done.stdout.strip())
        content = folder / "content"
        subprocess.run(["dpkg-deb", "--extract", package, content], check=True)
        networks = content / "usr/share/moild/networks"
        self.assertEqual([entry.name for entry in networks.iterdir()], ["efficientnet-lite0"])
        network = json.loads((networks / "efficientnet-lite0" / "network.json").read_text())
        self.assertEqual((network["kind"], network["licence"], network["default"]), ("image", "Apache-2.0", True))
        self.assertEqual(manifest_of(networks / "efficientnet-lite0" / "pack")["targets"], "model")
        licences = (content / "usr/share/doc/moild-models/copyright").read_text()
        self.assertIn("EfficientNet-Lite0", licences)
        described = subprocess.run(["dpkg-deb", "--field", package], capture_output=True, text=True, check=True).stdout
        self.assertIn("no network for sounds in this package", described)
        self.assertIn("Architecture: all", described)
        for file in content.rglob("*"):
            self.assertEqual(file.stat().st_mode & 0o044, 0o044, f"{file} is not for everybody")


if __name__ == "__main__":
    unittest.main()
