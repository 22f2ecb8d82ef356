"""Plans, and jobs that must fit into memory: what was promised is what happens."""

from __future__ import annotations

import unittest

from case import USAGE, AllTests, EachTest
from images import COLOURED, png
from world import SETTINGS, Row

ALL_LAYERS = Row("budget", "budget", SETTINGS.alpha, "all", cached=False)
HEAD = Row("budget", "budget", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)


class BudgetTest(AllTests):
    """The model's batch norms train, so that batches stay whole."""

    def test_a_plan_is_what_the_job_then_predicts(self) -> None:
        plan = self.plan(self.spec(HEAD))
        memory = self.night(HEAD)["result"]["details"]["memory"]
        self.assertAlmostEqual(plan["predicted_bytes"], memory["predicted_bytes"], delta=0.05 * plan["predicted_bytes"])
        training = plan["training"]
        self.assertGreaterEqual(training["planned_bytes"], training["lower_bound_bytes"])
        self.assertEqual(sum(training["at_peak"].values()), training["lower_bound_bytes"])
        self.assertGreaterEqual(memory["predicted_bytes"], memory["measured_bytes"])
        for way in plan["less"]:
            self.assertLess(way["planned_bytes"], training["planned_bytes"], way["with"])

    def test_a_plan_can_be_drawn_and_printed(self) -> None:
        picture = self.folder / "plan.svg"
        self.plan(self.spec(HEAD), "--svg", picture)
        self.assertTrue(picture.read_text().startswith("<svg"))
        said = self.ctl.text("plan", self.folder / "plan.json")
        for words in ("predicted peak", "AT THE PEAK", "lower bound", "LESS WOULD BE NEEDED WITH"):
            self.assertIn(words, said)
        leftovers = [f for f in (self.daemon.state / "jobs").iterdir() if f.name.startswith("plan-")]
        self.assertEqual(leftovers, [])

    def test_a_budget_is_kept_by_outputs_made_again(self) -> None:
        free = self.plan(self.spec(ALL_LAYERS))
        budget = free["predicted_bytes"] - free["training"]["planned_bytes"] // 4
        fitted = self.plan(self.spec(ALL_LAYERS, memory={"budget_bytes": budget}))
        self.assertGreater(fitted["training"]["made_again"], 0)
        memory = self.night(ALL_LAYERS, memory={"budget_bytes": budget})["result"]["details"]["memory"]
        self.assertGreater(memory["made_again"], 0)
        self.assertIsNone(memory["swap"])
        self.assertLessEqual(memory["predicted_bytes"], budget)
        self.assertLessEqual(memory["measured_bytes"], budget)

    def swapping_budget(self) -> int:
        """The first that outputs made again do not keep; how large it is depends on the kernels that were fastest."""
        free = self.plan(self.spec(ALL_LAYERS))
        for percent in range(50, 100, 3):
            budget: int = free["predicted_bytes"] - free["training"]["planned_bytes"] * percent // 100
            swap = self.plan(self.spec(ALL_LAYERS, memory={"budget_bytes": budget}))["training"]["swap"]
            if swap["written_bytes"] > 1000:
                self.assertEqual(swap["mode"], "proactive")
                return budget
        raise AssertionError("no budget makes training swap")

    def test_a_budget_is_kept_with_swap(self) -> None:
        budget = self.swapping_budget()
        job = self.night(ALL_LAYERS, memory={"budget_bytes": budget})
        memory = job["result"]["details"]["memory"]
        self.assertEqual(memory["swap"]["mode"], "proactive")
        self.assertGreater(memory["swap"]["written_bytes"], 0)
        self.assertLessEqual(memory["predicted_bytes"], budget)
        self.assertLessEqual(memory["measured_bytes"], budget)

    def test_writing_more_than_allowed_is_refused(self) -> None:
        for changes in (
            {"memory": {"budget_bytes": self.swapping_budget()}, "swap": {"max_write_bytes": 1000}},
            {"swap": {"mode": "on_demand", "max_write_bytes": 1000}},
        ):
            self.refused_job("swap.max_write_bytes allows 1000", self.spec(ALL_LAYERS, **changes))

    def test_an_impossible_budget_is_refused_with_both_numbers(self) -> None:
        words = "memory.budget_bytes allows 1000000"
        said = self.refused_job(words, self.spec(ALL_LAYERS, memory={"budget_bytes": 1_000_000}))
        self.assertRegex(said, r"needs \d+ bytes")
        self.refused(USAGE, words, "plan", self.folder / "refused.json")


class LargePhotosTest(EachTest):
    row = HEAD

    def test_decoding_is_foretold_and_what_does_not_fit_is_left_out_by_name(self) -> None:
        before = self.plan(self.spec())
        photo = self.folder / "holiday.png"
        photo.write_bytes(png(6000, 5000, COLOURED, bytes(5000 * (1 + 3 * 6000))))
        self.ctl.add_label([photo], "9", "train")
        after = self.plan(self.spec())
        decoded = 3 * 6000 * 5000
        self.assertGreaterEqual(after["parts"]["decoding"] - before["parts"]["decoding"], decoded)
        self.assertGreaterEqual(after["predicted_bytes"], decoded)

        budget = before["predicted_bytes"] + (16 << 20)
        self.assertLess(budget, after["predicted_bytes"])
        for changes in ({"memory": {"budget_bytes": budget}}, {}):
            details = self.night(**changes)["result"]["details"]
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
