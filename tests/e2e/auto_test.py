"""Nights without settings: what they choose, that they remember it, and that a kill changes nothing."""

from __future__ import annotations

import json
import shutil
import unittest
from pathlib import Path
from typing import Any

from world import MODEL, Moilctl, World, ctl_of, daemon_in, kill_worker, wait_for, weights_digest


class AutoTest(unittest.TestCase):
    world: World
    furnished: Path  # a state folder with model, labels and a kernel profile, and nothing chosen yet
    first: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.world = World()
        cls.addClassCleanup(cls.world.clean)
        folder = cls.world.new_folder("furnished")
        with daemon_in(folder) as daemon:
            ctl = ctl_of(daemon)
            cls.world.furnish(ctl)
            cls.first = cls.night(ctl)
        for name in ("cache", "profiles/settings"):
            shutil.rmtree(folder / "state" / name)
        cls.furnished = folder / "state"

    @classmethod
    def spec(cls, **changes: Any) -> dict[str, Any]:
        """Nothing but what a job must say, and that the next one begins from the same model."""
        pack = str(cls.world.pretrained.pack.resolve())
        open_guard = {"max_global_drop": 1.0}
        return {"name": "auto", "model": MODEL, "global": {"pack": pack}, "guard": open_guard, "activate": False, "threads": 2, "train": {"epochs": 4}} | changes

    @classmethod
    def night(cls, ctl: Moilctl, **changes: Any) -> dict[str, Any]:
        job = ctl.wait(ctl.submit(cls.spec(**changes)))
        assert job["state"] == "succeeded", job
        return job

    def copied_state(self, name: str) -> Path:
        folder = self.world.new_folder(name)
        shutil.copytree(self.furnished, folder / "state")
        return folder

    def test_what_was_tried_and_chosen_is_told(self) -> None:
        auto = self.first["result"]["details"]["auto"]
        self.assertGreaterEqual(len(auto["trials"]), 3)
        depths = {trial["settings"]["layers"] for trial in auto["trials"]}
        self.assertIn(1, depths)
        self.assertGreater(len(depths), 1, "depths were tried")
        self.assertIn(auto["fields"]["freeze"]["trainable_layers"], depths)
        self.assertTrue(auto["why"])
        self.assertNotIn("trainable_layers", self.first["spec"]["freeze"], "the description stays as it was submitted")
        trained = self.first["result"]["details"]["freeze"]["trained_units"]
        self.assertIn(auto["chosen"]["layers"], (trained, "all"))
        for trial in auto["trials"]:
            self.assertTrue(trial["why"] or 0 <= trial["local"] <= 1, trial)

    def test_trials_are_judged_by_training_samples_alone(self) -> None:
        """Without the held-out samples a night chooses the same."""
        with daemon_in(self.copied_state("unjudged")) as daemon:
            ctl = ctl_of(daemon)
            expected = self.night(ctl)["result"]["details"]["auto"]["trials"]
        with daemon_in(self.copied_state("unjudged")) as daemon:
            ctl = ctl_of(daemon)
            for sample in ctl.json("label", "samples", "--split", "val")["samples"]:
                ctl.text("label", "forget", sample["digest"], "--yes")
            found = self.night(ctl)["result"]["details"]["auto"]["trials"]
        told = [[(t["settings"], t["local"], t["global"]) for t in trials] for trials in (expected, found)]
        self.assertEqual(*told)

    def test_the_next_night_takes_what_was_chosen(self) -> None:
        with daemon_in(self.copied_state("next")) as daemon:
            ctl = ctl_of(daemon)
            first, second = self.night(ctl), self.night(ctl)
            auto = second["result"]["details"]["auto"]
            self.assertEqual(auto["trials"], [])
            self.assertIn(f"version {first['version']}", auto["why"])
            self.assertEqual(auto["chosen"], first["result"]["details"]["auto"]["chosen"])
            other = self.night(ctl, train={"epochs": 3})["result"]["details"]["auto"]
            self.assertGreater(len(other["trials"]), 0, "another description is another choice")
            self.assertNotIn("epochs", other["fields"].get("train", {}))
            provenance = ctl.json("model", "get", MODEL, str(second["version"]))["provenance"]["settings"]
            self.assertEqual(provenance["train"]["epochs"], auto["chosen"]["epochs"], "what was trained with")

    def test_killed_while_it_tries(self) -> None:
        """Training is as long as the night chooses, so that it goes on from the winner's trial."""
        with daemon_in(self.copied_state("unharmed")) as daemon:
            job = self.night(ctl_of(daemon), train={})
            expected, chosen = weights_digest(daemon.state, job), job["result"]["details"]["auto"]
        with daemon_in(self.copied_state("killed")) as daemon:
            ctl = ctl_of(daemon)
            number = ctl.submit(self.spec(train={}))
            choices = daemon.state / "jobs" / str(number) / "choices.json"
            wait_for("2 trials", lambda: tried(choices) >= 2)
            kill_worker(daemon)
            wait_for("training", lambda: "begun" in chosen_in(choices))
            kill_worker(daemon)
            job = ctl.wait(number)
            self.assertEqual(job["state"], "succeeded", job["message"])
            self.assertEqual(job["attempts"], 3)
            self.assertEqual(weights_digest(daemon.state, job), expected)
            auto = job["result"]["details"]["auto"]
            self.assertEqual(auto["chosen"], chosen["chosen"])
            self.assertEqual([t["settings"] for t in auto["trials"]], [t["settings"] for t in chosen["trials"]])


def chosen_in(choices: Path) -> dict[str, Any]:
    return json.loads(choices.read_text())["settings"] if choices.is_file() else {}


def tried(choices: Path) -> int:
    return len(chosen_in(choices).get("trials", []))


if __name__ == "__main__":
    unittest.main()
