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

from case import BAD_DATA, UNAVAILABLE, USAGE, AllTests
from world import SETTINGS, Row
from lib.programs import ProgramError

ROOT = Path(__file__).resolve().parents[2]
PLAN = Path(os.environ["MOIL_BUILD"]) / "daemon/moil-plan"
MODEL = ROOT / "config/models/resnet18-sound.json"
BOARD = ROOT / "bench/cases/processors/odroid-xu4-made-up.json"


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


class Confined(AllTests):
    """Whatever the worker is let have: a device, or why there is none."""

    row = Row("processors", "processors", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)

    def test_a_plan_tells_who_would_compute_what(self) -> None:
        try:
            told = self.plan(self.spec(), "--processors", "opencl")
        except ProgramError as error:  # this worker finds no device that works
            self.assertEqual(error.code, UNAVAILABLE, error.stderr)
            self.refused(UNAVAILABLE, "moilctl: no second processor: ", "plan", self.folder / "plan.json", "--processors")
            return
        self.assertEqual(told["processors"]["method"], "opencl")
        self.assertRegex(self.ctl.text("plan", self.folder / "plan.json", "--processors"), r"\npath +[0-9.]+ +[0-9]+  <\n")

    def test_no_night_is_lost_and_the_report_says_who_computed_it(self) -> None:
        told = self.night(processors="opencl")["result"]["details"]["processors"]
        self.assertEqual(told["asked"], "opencl")
        report = self.ctl.text("report", "--last")
        if told["method"] == "cpu":
            self.assertNotEqual(told["why"], "")
            self.assertIn("the CPU alone: ", report)
        else:
            self.assertRegex(report, r" layers? of training on ")


if __name__ == "__main__":
    unittest.main()
