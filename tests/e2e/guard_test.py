"""What the guard promises over several nights, and what it does where nothing can be measured."""

from __future__ import annotations

import unittest
from typing import Any

from world import MODEL, SETTINGS, Daemon, Moilctl, Row, World, ctl_of, daemon_in
from night.programs import ProgramError
from night.samples import only

ROW = Row("guard", "guard", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
FORGETFUL = Row("forgetful", "forgetful", 0.0, SETTINGS.trainable_layers, cached=True)
DROP = 0.05
USAGE = 64  # EX_USAGE

world: World


def setUpModule() -> None:
    global world
    world = World()
    unittest.addModuleCleanup(world.clean)


class GuardTest(unittest.TestCase):
    def setUp(self) -> None:
        self.daemon: Daemon = daemon_in(world.new_folder(self._testMethodName[:24]))
        self.enterContext(self.daemon)
        self.ctl: Moilctl = ctl_of(self.daemon)

    def run_job(self, row: Row = ROW, **changes: Any) -> dict[str, Any]:
        return self.ctl.wait(self.ctl.submit(world.spec(row, activate=True, **changes)))

    def anchor(self, *words: str) -> tuple[int, bool]:
        reply = self.ctl.json("model", "anchor", MODEL, *words)
        return reply["version"], reply["named"]

    def test_nights_together_lose_no_more_than_one_may(self) -> None:
        world.furnish(self.ctl)
        first = self.run_job(FORGETFUL)
        self.assertEqual(first["state"], "succeeded", first["message"])
        before, after = first["result"]["global_before"], first["result"]["global_after"]
        self.assertGreater(before - after, 2 * DROP, "the first night was to forget")
        self.assertIn("allows any fall", first["message"])

        careful = {"guard": {"max_global_drop": DROP}, "train": {"epochs": 1, "optimizer": {"learning_rate": 1e-6}}}
        second = self.run_job(**careful)
        self.assertEqual(second["state"], "rejected-by-guard", second["message"])
        self.assertIn("version 1, the model's anchor", second["message"])
        self.assertEqual(second["result"]["details"]["anchor"], {"version": 1, "global": before})

        self.assertEqual(self.anchor(), (1, False))
        self.assertEqual(self.anchor("2"), (2, True))
        third = self.run_job(**careful)
        self.assertEqual(third["state"], "succeeded", third["message"])

        # What is known of an anchor is of its held-out samples: others are judged anew, the same.
        for record in self.daemon.state.glob("profiles/accuracy/*.json"):
            record.unlink()
        fourth = self.run_job(**careful)
        self.assertEqual(fourth["state"], "succeeded", fourth["message"])
        self.assertEqual(fourth["result"]["details"]["anchor"], {"version": 2, "global": after})

        self.ctl.import_model(world.pretrained.model, MODEL)
        self.assertEqual(self.anchor()[1], False, "an import ends what was named before it")

    def test_an_anchor_of_other_frozen_layers_is_judged_as_a_whole(self) -> None:
        world.furnish(self.ctl)
        deep = self.run_job(FORGETFUL, freeze={"trainable_layers": "all"})
        self.assertEqual(deep["state"], "succeeded", deep["message"])
        for record in self.daemon.state.glob("profiles/accuracy/*.json"):
            record.unlink()
        job = self.run_job(guard={"max_global_drop": DROP})
        self.assertAlmostEqual(job["result"]["details"]["anchor"]["global"], deep["result"]["global_before"], places=2)

    def test_what_is_not_measured_is_not_passed(self) -> None:
        self.ctl.import_model(world.pretrained.model, MODEL)
        for name, members in only(world.place.train, SETTINGS.local_classes).items():
            self.ctl.add_label(members, name, "train")
        with self.assertRaises(ProgramError) as caught:
            self.run_job(guard={"max_global_drop": 1, "min_local_accuracy": 0.5})
        self.assertEqual(caught.exception.code, USAGE)
        self.assertIn("is held out", caught.exception.stderr)
        self.assertIn("guard.min_local_accuracy to 0", caught.exception.stderr)
        self.assertIn("/guard/min_local_accuracy", caught.exception.stderr)
        job = self.run_job(guard={"max_global_drop": 1})
        self.assertEqual(job["state"], "succeeded", job["message"])
        self.assertIn("not measured: none is held out", job["message"])


if __name__ == "__main__":
    unittest.main()
