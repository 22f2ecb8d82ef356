"""A model's life with the real worker: where a version comes from, what it changed, how it leaves,
and how it is gone back from."""

from __future__ import annotations

import json
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

from case import EachTest
from world import MODEL, SETTINGS, Row, wait_for, weights_digest
from lib.programs import ProgramError, program, run
from lib.samples import only

ROW = Row("life", "life", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
FORGETFUL = Row("forgetful", "forgetful", 0.0, SETTINGS.trainable_layers, cached=True, activate=True)



class LifeTest(EachTest):
    row = ROW
    config = {"poll_seconds": 0.1}

    def version(self, *words: str) -> dict[str, Any]:
        return self.ctl.json("model", "show", MODEL, *words)

    def test_an_export_reads_the_model_alone(self) -> None:
        """A model in the store is what a stranger made it: whatever its files lead to stays closed."""
        secret = self.folder / "secret.json"
        secret.write_text('["secret"]')
        model = self.folder / "hostile"
        shutil.copytree(self.daemon.state / "models" / MODEL / "1", model)
        self.assertEqual(self.export_to_status(model), 0)
        (model / "labels.json").unlink()
        (model / "labels.json").symlink_to(secret)
        landlock = Path("/sys/kernel/security/lsm")
        if not landlock.exists() or "landlock" not in landlock.read_text():
            self.skipTest("this kernel has no Landlock")
        self.assertNotEqual(self.export_to_status(model), 0)
        self.assertIn("Permission denied", self.told)

    def export_to_status(self, model: Path) -> int:
        """The export's as the daemon starts it."""
        with (self.folder / "out.onnx").open("w+b") as out, (self.folder / "reply").open("w+b") as reply:
            command = [program("moil-onnx"), "export-to", "--model-folder", model, "--descriptor", str(out.fileno())]
            command += ["--reply", str(reply.fileno())]
            done = subprocess.run(command, capture_output=True, text=True, pass_fds=(out.fileno(), reply.fileno()))
        self.told = done.stdout + done.stderr
        return done.returncode

    def test_the_device_is_made_up(self) -> None:
        """How busy this machine is, decides nothing: the canary looks in idle moments, too."""
        device = self.ctl.json("status")["device"]
        self.assertEqual({name for name, found in device.items() if found not in (None, [])}, set(), device)

    def test_a_version_is_shown_compared_and_exported(self) -> None:
        job = self.night()
        origin = self.version()["provenance"]
        self.assertEqual(origin["job"]["id"], job["id"])
        samples = job["result"]["details"]["samples"]
        self.assertEqual(origin["data"]["local"]["samples"], samples["local"])
        self.assertEqual(origin["data"]["global"]["held_out"], samples["global_validation"])
        self.assertIn("made by", self.ctl.text("model", "show", MODEL))

        diff = self.ctl.json("model", "diff", MODEL, "1", "2")
        by_layer = {layer["layer"]: layer for layer in diff["layers"]}
        identical = [layer for layer in by_layer.values() if layer["identical"]]
        changed = [layer for layer in by_layer.values() if not layer["identical"]]
        self.assertTrue(identical and changed, by_layer)
        self.assertTrue(changed[-1]["resized"], "the classifier grew by the local labels")
        self.assertGreater(changed[-1]["change"], 0)
        came = {label["label"] for label in diff["labels"] if label["in"] == "b"}
        self.assertEqual(came, set(SETTINGS.local_classes))
        self.assertTrue(diff["same_held_out"])
        right = sum(label["global"]["b"]["right"] for label in diff["labels"] if label["global"])
        self.assertAlmostEqual(right / samples["global_validation"], job["result"]["global_after"], places=6)
        self.assertIn("bit-identical", self.ctl.text("model", "diff", MODEL, "1", "2"))

        for form in ("onnx", "tflite"):
            self.export_comes_back(form)
        with self.assertRaises(ProgramError):
            self.ctl.json("model", "export", MODEL, "9", "-o", self.folder / "none.onnx")
        self.assertEqual(list(self.folder.glob("none.onnx*")), [])

    def export_comes_back(self, form: str) -> None:
        file, back = self.folder / f"model.{form}", f"back-{form}"
        exported = self.ctl.json("model", "export", MODEL, "-o", file)
        self.assertEqual(exported["bytes"], file.stat().st_size)
        self.assertEqual([f.name for f in self.folder.glob(f"{file.name}*")], [file.name])
        run([program("moil-import"), file, "--out", self.folder / back])
        self.ctl.import_model(self.folder / back, back)
        image = next(iter(self.world.place.held_out[SETTINGS.local_classes[0]]))
        said = [self.ctl.json("predict", image, "--model", model)["predictions"][0]["top"] for model in (MODEL, back)]
        self.assertEqual(said[0][0]["label"], said[1][0]["label"])
        self.assertAlmostEqual(said[0][0]["probability"], said[1][0]["probability"], places=5)
        models = self.daemon.state / "models"
        calibrations = [(models / version / "calibration.json").read_text() for version in (f"{MODEL}/2", f"{back}/1")]
        self.assertEqual(*map(json.loads, calibrations))

    def test_the_same_night_after_a_rollback_is_held_back(self) -> None:
        weights = weights_digest(self.daemon.state, self.night())
        self.ctl.json("model", "rollback", MODEL, "--why", "a test")
        again = self.run_job()
        self.assertEqual(again["state"], "rejected-by-guard", again["message"])
        self.assertIn("came to version 2 again", again["message"])
        self.assertEqual(self.version()["version"], 1)
        self.assertNotEqual(weights_digest(self.daemon.state, self.night(seed=2)), weights)
        self.assertEqual(self.version()["parent"], 1)

    def test_labels_that_contradict_a_version_roll_it_back(self) -> None:
        train = {"epochs": 10, "optimizer": {"learning_rate": 0.05}}
        job = self.night(FORGETFUL, canary={}, train=train, freeze={"trainable_layers": "all"})
        self.assertLess(job["result"]["global_after"], 0.5, "the night was to forget")
        for name, files in only(self.world.place.held_out, SETTINGS.global_classes).items():
            self.ctl.add_label(files, name, "val")
        wait_for("the rollback", lambda: self.version()["version"] == 1, 60)
        gone = self.version("2")["withdrawn"]
        self.assertEqual(gone["cause"], "canary")
        self.assertIn("labels that came since contradict it", gone["why"])
        self.assertIn("version 2 was rolled back", self.notes(job)[-1])

    def test_what_nothing_needs_is_told_and_removed(self) -> None:
        job = self.night()
        left = self.daemon.state / "jobs" / str(job["id"])
        wait_for("the night's own to go", lambda: not left.exists())
        left.mkdir()
        (left / "checkpoint").write_bytes(b"x" * 50_000)
        told = self.ctl.json("clean", "--dry-run")
        self.assertEqual(told["leftovers"]["count"], 1)
        self.assertTrue(left.exists())
        self.assertEqual(self.ctl.json("clean")["leftovers"], told["leftovers"])
        self.assertFalse(left.exists())
        disk = self.ctl.json("disk")
        weights = self.daemon.state / "models" / MODEL / "2" / "weights.safetensors"
        self.assertGreaterEqual(disk["parts"]["models"], weights.stat().st_size)
        self.assertEqual(len(disk["versions"]), 2)


if __name__ == "__main__":
    unittest.main()
