"""Nights that choose what to train by the time it takes: elastic selection, methods, deadlines."""

from __future__ import annotations

import unittest
from statistics import median
from typing import Any

from case import AllTests
from world import SETTINGS, Row, kill_worker, wait_for, weights_digest

ROW = Row("elastic", "elastic", SETTINGS.alpha, "all", cached=True)
HEAD = Row("head", "head", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
ELASTIC = {"rho": 0.6, "interval_epochs": 2, "follow_speed": False}


class ElasticTest(AllTests):
    """The timing profile is measured by the first job."""

    row = ROW
    config = {"worker": {"attempts": 10}}

    def test_the_run_is_planned_within_its_time_and_memory(self) -> None:
        """By its profile; what it really takes is asked below."""
        for row in (ROW, HEAD):
            details = self.night(row, elastic=ELASTIC)["result"]["details"]
            self.assertEqual(details["method"], "elastic")
            elastic = details["elastic"]
            # Where the time for long steps ends depends on the profile.
            ends = [i["epoch"] + i["epochs"] for i in elastic["intervals"]]
            self.assertEqual([i["epoch"] for i in elastic["intervals"]], [0, *ends[:-1]])
            self.assertEqual(ends[-1], SETTINGS.night.epochs)
            for interval in elastic["intervals"]:
                self.assertTrue(0 < len(interval["selected"]) <= len(elastic["tensors"]))
                self.assertEqual(len(interval["importance"]), len(elastic["tensors"]))
                self.assertLessEqual(interval["planned_bytes"], elastic["full_planned_bytes"])
                self.assertGreater(interval["measured_step_seconds"], 0)
            (profile,) = elastic["profiles"]
            seconds = sum(i["predicted_step_seconds"] * i["epochs"] for i in elastic["intervals"])
            # One slow look at a step may make the least that can be trained more than was asked for.
            self.assertAlmostEqual(elastic["rho"], max(ELASTIC["rho"], elastic["smallest_rho"]))
            self.assertLessEqual(seconds, elastic["rho"] * SETTINGS.night.epochs * profile["step_seconds"] + 1e-9)
            memory = details["memory"]
            self.assertLessEqual(memory["measured_bytes"], memory["predicted_bytes"])

    def test_training_takes_its_share_of_processor_time(self) -> None:
        """One thread's, medians of turns: other programs take the cache and the clock from some."""
        seconds: dict[str, list[float]] = {"full": [], "elastic": []}
        rho = ELASTIC["rho"]
        spec = self.spec(threads=1)
        spec["train"] = {**spec["train"], "epochs": 36}
        methods = {"full": {"train": {**spec["train"], "method": "full"}}, "elastic": {"elastic": ELASTIC}}
        for _ in range(5):
            for method, changes in methods.items():
                details = self.ended({**spec, **changes})["result"]["details"]
                self.assertEqual(details["method"], method)
                seconds[method].append(details["train_cpu_seconds"])
                # One slow look at a step may make the least that can be trained more than was asked for.
                rho = max(rho, (details["elastic"] or {"rho": rho})["rho"])
        self.assertLess(median(seconds["elastic"]), 1.25 * rho * median(seconds["full"]), seconds)

    def test_a_profile_is_measured_once(self) -> None:
        spec = {"elastic": {**ELASTIC, "rho": 0.7}}
        self.night(HEAD, **spec)
        again = self.night(HEAD, **spec)["result"]["details"]["elastic"]
        self.assertEqual(again["profiles"][0]["why"], "stored")

    def test_methods_train_what_they_say(self) -> None:
        spec = self.spec()
        bytes_planned = {}
        for method in ("full", "bn_bias", "last_layer"):
            job = self.ended({**spec, "train": {**spec["train"], "method": method}})
            self.assertEqual(job["result"]["details"]["method"], method)
            bytes_planned[method] = job["result"]["details"]["memory"]["training_plan_bytes"]
        self.assertLess(bytes_planned["last_layer"], bytes_planned["bn_bias"])
        self.assertLess(bytes_planned["bn_bias"], bytes_planned["full"])

    def test_too_small_a_rho_trains_the_least_and_says_so(self) -> None:
        job = self.night(elastic={**ELASTIC, "rho": 0.01})
        elastic = job["result"]["details"]["elastic"]
        self.assertEqual(elastic["rho"], elastic["smallest_rho"])
        self.assertIn("elastic.rho 0.01 cannot be reached", "; ".join(self.notes(job)))

    def test_a_deadline_chooses_and_says_so(self) -> None:
        job = self.night(HEAD, deadline_seconds=600)
        chosen = job["result"]["details"]["deadline"]
        self.assertEqual(chosen, {"seconds": 600, "trained_units": SETTINGS.trainable_layers, "rho": 1})
        self.assertIn("to end within 600 s", "; ".join(self.notes(job)))

    def test_a_plan_tells_the_times(self) -> None:
        timing = self.plan(self.spec(HEAD), "--timing")["timing"]
        forward = sum(layer["forward_seconds"] for layer in timing["layers"])
        self.assertAlmostEqual(forward, timing["forward_seconds"], delta=1e-6)
        self.assertIn("UPDATE (T_W)", self.ctl.text("plan", self.folder / "plan.json", "--timing"))

    def test_killed_again_and_again(self) -> None:
        """Goes on with the selections and the waiting states of before: the same weights."""
        self.killed_again_and_again(0.8)
        # With hardly any time the classifier alone learns, behind maps that are made again.
        elastic = self.killed_again_and_again(0.01)
        self.assertTrue(elastic["intervals"][-1]["begins_behind"])

    def killed_again_and_again(self, rho: float) -> dict[str, Any]:
        spec = self.spec()
        spec["train"] = {**spec["train"], "epochs": 40, "checkpoint_seconds": 0.05}
        # Its probe's kernels are others than those of any step.
        spec["elastic"] = {**ELASTIC, "rho": rho, "probe_samples": 2 * spec["train"]["batch"]}
        first = self.ended(spec)
        self.assertEqual(first["attempts"], 1, first["message"])
        expected = weights_digest(self.daemon.state, first)
        job = self.ctl.submit(spec)
        for epoch in (7, 20, 31):
            wait_for(f"epoch {epoch}", lambda: max(self.epochs({"id": job}), default=0) >= epoch, 120)
            kill_worker(self.daemon)
        ended = self.ended(job)
        self.assertGreaterEqual(ended["attempts"], 3)
        self.assertEqual(weights_digest(self.daemon.state, ended), expected)
        return first["result"]["details"]["elastic"]


if __name__ == "__main__":
    unittest.main()
