"""Plans, and jobs that must fit into memory: what was promised is what happens."""

from __future__ import annotations

import json
import struct
import unittest
import zlib
from pathlib import Path
from typing import Any

from world import SETTINGS, Row, World, ctl_of, daemon_in
from night.programs import ProgramError

USAGE = 64  # sysexits.h
ALL_LAYERS = Row("budget", "budget", SETTINGS.alpha, "all", cached=False)
HEAD = Row("budget", "budget", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)


class BudgetTest(unittest.TestCase):
    """One daemon for all; the model's batch norms train, so that batches stay whole."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = World()
        cls.addClassCleanup(cls.world.clean)
        cls.daemon = daemon_in(cls.world.new_folder("budget"))
        cls.enterClassContext(cls.daemon)
        cls.ctl = ctl_of(cls.daemon)
        cls.world.furnish(cls.ctl)

    def plan(self, row: Row, *words: str | Path, **changes: Any) -> dict[str, Any]:
        file = self.daemon.state.parent / "plan.json"
        file.write_text(json.dumps(self.world.spec(row, **changes)))
        return self.ctl.json("plan", file, *words)

    def run_job(self, row: Row, **changes: Any) -> dict[str, Any]:
        return self.ctl.wait(self.ctl.submit(self.world.spec(row, **changes)))

    def refused(self, row: Row, **changes: Any) -> str:
        """What moilctl says of a job that is refused when it is submitted."""
        with self.assertRaises(ProgramError) as caught:
            self.ctl.submit(self.world.spec(row, **changes))
        self.assertEqual(caught.exception.code, USAGE)
        return caught.exception.stderr

    def test_a_plan_is_what_the_job_then_predicts(self) -> None:
        plan = self.plan(HEAD)
        memory = self.run_job(HEAD)["result"]["details"]["memory"]
        self.assertAlmostEqual(plan["predicted_bytes"], memory["predicted_bytes"], delta=0.05 * plan["predicted_bytes"])
        training = plan["training"]
        self.assertGreaterEqual(training["planned_bytes"], training["lower_bound_bytes"])
        self.assertEqual(sum(training["at_peak"].values()), training["lower_bound_bytes"])
        self.assertGreaterEqual(memory["predicted_bytes"], memory["measured_bytes"])
        for way in plan["less"]:
            self.assertLess(way["planned_bytes"], training["planned_bytes"], way["with"])

    def test_a_plan_can_be_drawn_and_printed(self) -> None:
        picture = self.daemon.state.parent / "plan.svg"
        self.plan(HEAD, "--svg", picture)
        self.assertTrue(picture.read_text().startswith("<svg"))
        said = self.ctl.text("plan", self.daemon.state.parent / "plan.json")
        for words in ("predicted peak", "AT THE PEAK", "lower bound", "LESS WOULD BE NEEDED WITH"):
            self.assertIn(words, said)
        leftovers = [f for f in (self.daemon.state / "jobs").iterdir() if f.name.startswith("plan-")]
        self.assertEqual(leftovers, [])

    def test_a_budget_is_kept_with_swap(self) -> None:
        free = self.plan(ALL_LAYERS)
        budget = free["predicted_bytes"] - free["training"]["planned_bytes"] // 4
        fitted = self.plan(ALL_LAYERS, memory={"budget_bytes": budget})
        self.assertEqual(fitted["training"]["swap"]["mode"], "proactive")
        self.assertGreater(fitted["training"]["swap"]["written_bytes"], 0)
        job = self.run_job(ALL_LAYERS, memory={"budget_bytes": budget})
        self.assertEqual(job["state"], "succeeded", job["message"])
        memory = job["result"]["details"]["memory"]
        self.assertEqual(memory["swap"]["mode"], "proactive")
        self.assertGreater(memory["swap"]["written_bytes"], 0)
        self.assertLessEqual(memory["predicted_bytes"], budget)
        self.assertLessEqual(memory["measured_bytes"], budget)

    def test_writing_more_than_allowed_is_refused(self) -> None:
        free = self.plan(ALL_LAYERS)
        budget = free["predicted_bytes"] - free["training"]["planned_bytes"] // 4
        for said in (
            self.refused(ALL_LAYERS, memory={"budget_bytes": budget}, swap={"max_write_bytes": 1000}),
            self.refused(ALL_LAYERS, swap={"mode": "on_demand", "max_write_bytes": 1000}),
        ):
            self.assertIn("swap.max_write_bytes allows 1000", said)

    def test_an_impossible_budget_is_refused_with_both_numbers(self) -> None:
        budget = {"budget_bytes": 1_000_000}
        with self.assertRaises(ProgramError) as caught:
            self.plan(ALL_LAYERS, memory=budget)
        self.assertEqual(caught.exception.code, USAGE)
        self.assertRegex(caught.exception.stderr, r"needs \d+ bytes")
        self.assertIn("memory.budget_bytes allows 1000000", self.refused(ALL_LAYERS, memory=budget))

    def test_micro_batches_of_trained_batch_norms_are_refused(self) -> None:
        spec = self.world.spec(ALL_LAYERS)
        spec["train"]["micro_batch"] = 8
        self.assertIn("normalises over its batch", self.refused(ALL_LAYERS, train=spec["train"]))


def large_png(file: Path, width: int, height: int) -> None:
    """A photo of many pixels in few bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compressobj(1)
    pixels = b"".join(rows.compress(bytes(1 + 3 * width)) for _ in range(height)) + rows.flush()
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks)


class LargePhotosTest(unittest.TestCase):
    def test_decoding_is_foretold_and_what_does_not_fit_is_left_out_by_name(self) -> None:
        world = World()
        self.addCleanup(world.clean)
        daemon = daemon_in(world.new_folder("large"))
        self.enterContext(daemon)
        ctl = ctl_of(daemon)
        world.furnish(ctl)
        job = daemon.state.parent / "job.json"
        job.write_text(json.dumps(world.spec(HEAD)))
        before = ctl.json("plan", job)
        photo = daemon.state.parent / "holiday.png"
        large_png(photo, 6000, 5000)
        ctl.add_label([photo], "9", "train")
        after = ctl.json("plan", job)
        decoded = 3 * 6000 * 5000
        self.assertGreaterEqual(after["parts"]["decoding"] - before["parts"]["decoding"], decoded)
        self.assertGreaterEqual(after["predicted_bytes"], decoded)

        budget = before["predicted_bytes"] + (16 << 20)
        self.assertLess(budget, after["predicted_bytes"])
        for changes in ({"memory": {"budget_bytes": budget}}, {}):
            ended = ctl.wait(ctl.submit(world.spec(HEAD, **changes)))
            self.assertEqual(ended["state"], "succeeded", ended["message"])
            details = ended["result"]["details"]
            memory = details["memory"]
            self.assertLessEqual(memory["measured_bytes"], memory["predicted_bytes"])
            if changes:
                self.assertLessEqual(memory["predicted_bytes"], budget)
                (left_out,) = details["left_out"]
                self.assertIn("holiday.png", left_out["name"])
                self.assertRegex(left_out["why"], r"takes \d+ MiB; memory.budget_bytes leaves \d+ MiB")
            else:
                self.assertEqual(details["left_out"], [])


if __name__ == "__main__":
    unittest.main()
