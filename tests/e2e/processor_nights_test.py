"""Nights whose training an OpenCL device computes: as good as the CPU's, with the same bits in every run, and none lost
with the device.

The device may be PoCL, which compiles a kernel by starting a linker. A worker that is confined may not, so that these
believe to be on a kernel that cannot confine them (tests/preload/bare_kernel.c).
"""

from __future__ import annotations

import random
import subprocess
import unittest
from pathlib import Path
from typing import Any

from case import UNAVAILABLE, Job, OwnModelTest
from rows_test import write_table
from synthetic import write_digits
from tasks_test import ADAM, SIDE, figure, figure_layers
from world import ROOT, SETTINGS, Row, World, kill_daemon, kill_worker, wait_for, weights_digest, worker_script
from lib.networks import dense, relu, write_model
from lib.programs import build_dir, program

PRELOAD = build_dir() / "tests/preload/libmoil_device_preload.so"
CHECKPOINT = "$(dirname $3)/train.checkpoint"  # of a worker that runs a job: moil-worker run --job-file FILE
# What fails, so many kernels after the first checkpoint, and what the driver says then (tests/preload/failing_device.c).
FAILURES = [("kernels", 40, "CL_OUT_OF_RESOURCES"), ("events", 500, "CL_OUT_OF_RESOURCES"), ("commands", 1001, "CL_DEVICE_NOT_AVAILABLE")]
Environment = dict[str, str | int | Path]


def setUpModule() -> None:
    model = ROOT / "config/models/lenet5.json"
    done = subprocess.run([program("moil-plan"), model, "--batch", "4", "--processors", "opencl"], capture_output=True, text=True)
    if done.returncode == UNAVAILABLE:
        raise unittest.SkipTest(done.stderr.strip())
    assert PRELOAD.is_file(), f"{PRELOAD} is not built"


class NightsTest(OwnModelTest):
    """A daemon whose next night may have an environment of its own."""

    next: Path  # lines of shell for the next night's worker

    @classmethod
    def worker(cls) -> Job:
        cls.next = cls.folder / "next"
        settings = f'if [ "$1" = run ] && [ -s "{cls.next}" ]; then . "{cls.next}"; rm "{cls.next}"; fi'
        script = worker_script(cls.folder / "worker", settings, f'export LD_PRELOAD="{PRELOAD}"')
        return {"path": str(script)}

    def have_next_worker_find(self, environment: Environment) -> None:
        self.next.write_text("".join(f'export {name}="{value}"\n' for name, value in environment.items()))

    def submit(self, spec: Job, environment: Environment, **changes: Any) -> int:
        self.have_next_worker_find(environment)
        return self.ctl.submit({**spec, "activate": False, **changes})

    def run_night(self, spec: Job, environment: Environment = {}, **changes: Any) -> Job:
        return self.ended(self.submit(spec, environment, **changes))

    def check_both(self, spec: Job) -> None:
        self.check_pair(*(self.run_night(spec, processors=processors) for processors in ("cpu", "opencl")))

    def check_pair(self, cpu: Job, opencl: Job) -> None:
        self.assertEqual(cpu["result"]["details"]["processors"]["method"], "cpu")
        self.check_on_device(opencl)
        self.check_as_good_as(cpu, opencl)
        self.assertNotEqual(self.digest(cpu), self.digest(opencl), "another processor rounds otherwise")

    def check_as_good_as(self, cpu: Job, other: Job) -> None:
        """To half a point, or to a sample if there are fewer than 200."""
        for side in ("global", "local"):
            count = cpu["result"]["details"]["samples"][f"{side}_validation"]
            expected, found = (job["result"][f"{side}_after"] for job in (cpu, other))
            print(f"{other['spec']['name']}, {side} accuracy of {count}: CPU {expected:.4f}, other {found:.4f}", flush=True)
            self.assertLessEqual(abs(found - expected), max(0.005, 1.001 / count), side)

    def check_on_device(self, job: Job) -> None:
        told = job["result"]["details"]["processors"]
        self.assertEqual(told["method"], "opencl")
        self.assertTrue(told["layers"])
        self.assertRegex(self.ctl.text("report", str(job["id"])), r" layers (of training )?on ")

    def digest(self, job: Job) -> str:
        return job.get("digest") or weights_digest(self.daemon.state, job)


class DigitsTest(NightsTest):
    def test_depthwise_and_grouped_layers(self) -> None:
        digits = self.folder / "digits.csv.gz"
        write_digits(digits, 120)
        world = World(csv=digits)
        self.addCleanup(world.clean)
        world.furnish(self.ctl)
        row = Row("digits", "digits", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
        self.check_both(world.spec(row))


class RowsTest(NightsTest):
    def test_fully_connected_layers(self) -> None:
        table = self.folder / "activities.csv"
        write_table(table, 400, spread=2)  # some are taken for others
        layers = [dense("one", "record", 16), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        model = write_model(self.folder / "model.json", {"record": [4]}, layers)
        data = ["--data", table, "--label-column", "activity", "--classes"]
        self.pretrain(model, "activities", *data, "walk,run", *ADAM, "--epochs", "10")
        self.label(sorted((self.samples(*data, "climb") / "climb").iterdir()), "climb", held_out=200)
        self.check_both(self.spec("activities"))


class FiguresTest(NightsTest):
    """LF(3): a convolution and two layers behind it."""

    ended_well: dict[str, Job] = {}

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(1)
        for shape, count in {"disc": 250, "bar": 250, "cross": 300}.items():
            drawn = (figure(draw.choice(["red", "green", "blue"]), shape, draw) for _ in range(count))
            files = cls.write(f"figures/{shape}", drawn, "png")
        layers = [*figure_layers("photo"), dense("hidden", "conv2_relu", 24), relu("hidden"), dense("classes", "hidden_relu", 2)]
        model = write_model(cls.folder / "figures.json", {"photo": [3, SIDE, SIDE]}, layers)
        cls.pretrain(model, "figures", "--data", cls.folder / "figures", "--classes", "disc,bar", *ADAM, "--epochs", "10")
        cls.label(files, "cross", held_out=200)

    def figures(self) -> Job:
        train = {"epochs": 6, "batch": 16, "checkpoint_seconds": 0, "optimizer": {"type": "adam", "learning_rate": 0.01}}
        return self.spec("figures", train=train, freeze={"trainable_layers": 3}, guard={"max_global_drop": 1}, processors="opencl")

    def undisturbed(self, processors: str) -> Job:
        """One for all tests of the class, with the digest of its weights, which later nights may take away."""
        if processors not in self.ended_well:
            job = self.run_night(self.figures(), processors=processors)
            self.ended_well[processors] = {**job, "digest": self.digest(job)}
        return self.ended_well[processors]

    def test_convolutions(self) -> None:
        self.check_pair(self.undisturbed("cpu"), self.undisturbed("opencl"))

    def test_every_run_has_the_same_bits_and_so_has_one_that_was_killed(self) -> None:
        expected = self.digest(self.undisturbed("opencl"))
        self.assertEqual(self.digest(self.run_night(self.figures())), expected)
        for kill in (kill_worker, kill_daemon):
            job = self.paused_in_training()
            kill(self.daemon)
            ended = self.ended(job)
            self.assertEqual(ended["attempts"], 2)
            self.check_on_device(ended)
            self.assertEqual(self.digest(ended), expected)

    def paused_in_training(self) -> int:
        job = self.submit(self.figures(), {"MOIL_PAUSE_AT": "train"})
        wait_for("a checkpoint", (self.daemon.state / "jobs" / str(job) / "train.checkpoint").exists)
        return job

    def test_a_device_that_fails_in_the_middle_of_training_costs_no_night(self) -> None:
        cpu = self.undisturbed("cpu")
        for fails, kernels, why in FAILURES:
            with self.subTest(fails=fails):
                job = self.run_night(self.figures(), {"MOIL_DEVICE_FAILS": fails, "MOIL_DEVICE_WORKS_FOR": kernels, "MOIL_DEVICE_WORKS_UNTIL": CHECKPOINT})
                self.assertEqual(job["attempts"], 1)
                self.check_on_cpu(job, why)
                notes = self.notes(job)
                self.assertTrue(any("layers of training on" in note for note in notes), notes)
                self.assertTrue(any(note.startswith("processors: the CPU computes all from here on: ") for note in notes), notes)
                self.check_nothing_is_lost(job, cpu)

    def test_a_driver_that_crashes_costs_an_attempt(self) -> None:
        cpu = self.undisturbed("cpu")
        job = self.run_night(self.figures(), {"MOIL_DEVICE_FAILS": "crash", "MOIL_DEVICE_WORKS_FOR": 40, "MOIL_DEVICE_WORKS_UNTIL": CHECKPOINT})
        self.assertEqual(job["attempts"], 2)
        self.check_on_cpu(job, "the worker crashed while its driver was in use")
        self.check_nothing_is_lost(job, cpu)

    def test_a_device_that_fails_while_it_is_measured_is_not_used(self) -> None:
        job = self.run_night(self.figures(), {"MOIL_DEVICE_FAILS": "commands", "MOIL_DEVICE_WORKS_FOR": 60})
        self.assertEqual(job["attempts"], 1)
        self.check_on_cpu(job, "CL_DEVICE_NOT_AVAILABLE")

    def test_a_driver_that_does_not_load_costs_no_night(self) -> None:
        self.check_on_cpu(self.run_night(self.figures(), self.broken_driver()), "no driver is installed, or none of them loads")

    def test_a_night_goes_on_without_the_driver_that_it_began_with(self) -> None:
        cpu = self.undisturbed("cpu")
        job = self.paused_in_training()
        self.have_next_worker_find(self.broken_driver())
        kill_worker(self.daemon)
        ended = self.ended(job)
        self.check_on_cpu(ended, "no driver is installed, or none of them loads")
        self.check_nothing_is_lost(ended, cpu)

    def broken_driver(self) -> Environment:
        vendors = self.folder / "vendors"
        vendors.mkdir(exist_ok=True)
        (vendors / "broken.icd").write_text("libdoes-not-load.so\n")
        return {"OCL_ICD_VENDORS": vendors}

    def check_on_cpu(self, job: Job, why: str) -> None:
        told = job["result"]["details"]["processors"]
        self.assertEqual(told["method"], "cpu")
        self.assertIn(why, told["why"])
        self.assertTrue(any(why in note for note in self.notes(job)), self.notes(job))
        report = self.ctl.text("report", str(job["id"]))
        self.assertIn("the CPU alone: ", report)
        self.assertIn(why, report)

    def check_nothing_is_lost(self, job: Job, cpu: Job) -> None:
        """Every epoch was trained once, and no file is left of it."""
        self.assertEqual(self.epochs(job), [1, 2, 3, 4, 5, 6])
        self.check_as_good_as(cpu, job)
        wait_for("its folder to go", lambda: not (self.daemon.state / "jobs" / str(job["id"])).exists())
        self.assertEqual(list(self.daemon.state.glob("models/*/.incoming-*")), [])


if __name__ == "__main__":
    unittest.main()
