"""moil-plan --processors: who would compute what, by a recorded device and by the one at hand; and a night that asks
for a second processor in a worker that is confined, and its plan."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from world import SETTINGS, Row, World, ctl_of, daemon_in
from night.programs import ProgramError

ROOT = Path(__file__).resolve().parents[2]
PLAN = Path(os.environ["MOIL_BUILD"]) / "daemon/moil-plan"
MODEL = ROOT / "config/models/resnet18-sound.json"
BOARD = ROOT / "bench/processors/odroid-xu4-made-up.json"
UNAVAILABLE, USAGE, BAD_DATA = 69, 64, 65


def plan(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PLAN, *arguments], capture_output=True, text=True)


class RecordedDevice(unittest.TestCase):
    def test_tells_the_schedule_and_every_selection(self) -> None:
        told = json.loads(plan(MODEL, "--momentum", "0.9", "--processors", "layer_wise", "--recorded", BOARD, "--json").stdout)
        layers = {layer["name"]: layer for layer in told["layers"]}
        self.assertEqual(layers["stem.conv"]["processors"], "GGG")
        self.assertEqual(layers["pool"]["processors"], "CC")
        methods = told["methods"]
        self.assertLess(methods["path"]["seconds"], methods["cpu"]["seconds"])
        self.assertGreater(methods["step_wise"]["transfers"], 4 * methods["layer_wise"]["transfers"])

    def test_prints_a_table_and_draws_a_picture(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "schedule.svg"
            done = plan(MODEL, "--processors", "path", "--recorded", BOARD, "--svg", picture)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"\nstem\.conv +GGG ")
            self.assertRegex(done.stdout, r"\npath +[0-9.]+ +[0-9]+  <\n")
            drawn = picture.read_text()
            ElementTree.fromstring(drawn)
            self.assertIn("stem.conv FP: CPU ", drawn)

    def test_refuses_what_does_not_fit(self) -> None:
        other = plan(ROOT / "config/models/lenet5.json", "--processors", "path", "--recorded", BOARD)
        self.assertEqual(other.returncode, USAGE)
        self.assertIn("was recorded with resnet18-sound, not with lenet5", other.stderr)
        unknown = plan(MODEL, "--processors", "gpu", "--recorded", BOARD)
        self.assertEqual(unknown.returncode, USAGE)
        self.assertIn("known: cpu, opencl, step_wise, layer_wise, path", unknown.stderr)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("[" * 100000)
            file.flush()
            self.assertEqual(plan(MODEL, "--processors", "path", "--recorded", file.name).returncode, BAD_DATA)


class Device(unittest.TestCase):
    def test_is_measured_where_there_is_one(self) -> None:
        done = plan(ROOT / "config/models/lenet5.json", "--batch", "4", "--processors", "opencl", "--json")
        if done.returncode == UNAVAILABLE:
            self.skipTest(done.stderr.strip())
        told = json.loads(done.stdout)
        self.assertTrue(any("G" in layer["processors"] for layer in told["layers"]))

    def test_that_is_not_there_is_said_to_be_missing(self) -> None:
        done = plan(MODEL, "--processors", "path", "--device", "no such device")
        self.assertEqual(done.returncode, UNAVAILABLE)


class Plan(unittest.TestCase):
    """What the confined worker finds: a device, or why there is none."""

    def test_of_a_job_tells_who_would_compute_what(self) -> None:
        world = World()
        self.addCleanup(world.clean)
        with daemon_in(world.new_folder("planned")) as daemon:
            ctl = ctl_of(daemon)
            world.furnish(ctl)
            job = daemon.state.parent / "job.json"
            row = Row("planned", "planned", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
            job.write_text(json.dumps(world.spec(row)))
            try:
                told = ctl.json("plan", job, "--processors", "opencl")
            except ProgramError as error:  # this worker finds no device that works
                self.assertEqual(error.code, UNAVAILABLE, error.stderr)
                with self.assertRaises(ProgramError) as caught:
                    ctl.text("plan", job, "--processors")
                self.assertRegex(caught.exception.stderr, "moilctl: no second processor: .+")
                return
            self.assertEqual(told["processors"]["method"], "opencl")
            self.assertRegex(ctl.text("plan", job, "--processors"), r"\npath +[0-9.]+ +[0-9]+  <\n")


class Night(unittest.TestCase):
    """Whatever the worker is let have: no night is lost, and the report says who computed it."""

    def test_ends_and_says_who_computed_it(self) -> None:
        world = World()
        self.addCleanup(world.clean)
        with daemon_in(world.new_folder("processors")) as daemon:
            ctl = ctl_of(daemon)
            world.furnish(ctl)
            row = Row("processors", "processors", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
            job = ctl.wait(ctl.submit(world.spec(row, processors="opencl")))
            self.assertEqual(job["state"], "succeeded")
            told = job["result"]["details"]["processors"]
            self.assertEqual(told["asked"], "opencl")
            report = ctl.text("report", "--last")
            if told["method"] == "cpu":
                self.assertNotEqual(told["why"], "")
                self.assertIn("the CPU alone: ", report)
            else:
                self.assertRegex(report, r" layers? of training on ")


if __name__ == "__main__":
    unittest.main()
