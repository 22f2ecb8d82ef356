"""What the guard promises over several nights, and what it does where nothing can be measured."""

from __future__ import annotations

import random
import unittest
from typing import Any

from frames import write_frames
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


class ScenesTest(unittest.TestCase):
    """Twenty scenes of ten frames, each scene of a label by chance: there is nothing to be learned but by heart."""

    SCENES, FRAMES, LABELS = 20, 10, 4

    def night_of_frames(self, side: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The result of a night on them, and the samples as they lie afterwards."""
        folder = world.new_folder(f"frames-{side}")
        scenes = write_frames(folder / "frames", self.SCENES, self.FRAMES, side)
        labels = [f"chance-{i % self.LABELS}" for i in range(self.SCENES)]
        random.Random(5).shuffle(labels)
        with daemon_in(folder) as daemon:
            ctl = ctl_of(daemon)
            ctl.import_model(world.pretrained.model, MODEL)
            for files, label in zip(scenes, labels):
                ctl.json("label", "add", *files, "--label", label)
            train = {"epochs": 60, "batch": 16, "optimizer": {"learning_rate": 0.05}}
            spec = world.spec(Row("frames", "frames", 0.1, "all", cached=True), train=train)
            job = ctl.wait(ctl.submit(spec))
            self.assertEqual(job["state"], "succeeded", job["message"])
            samples = ctl.json("label", "samples", "--limit", "1000")["samples"]
        return job["result"], samples

    def test_scenes_are_not_learned_by_heart(self) -> None:
        result, samples = self.night_of_frames(side=32)
        told = result["details"]["near_duplicates"]
        self.assertEqual((told["scenes"], told["samples"], told["passed_over"]), (20, 200, 0), told)
        sides: dict[str, set[str]] = {}
        for sample in samples:
            sides.setdefault(sample["name"].rsplit("-", 1)[0], set()).add(sample["split"])
        self.assertEqual({len(side) for side in sides.values()}, {1}, "a scene lies on both sides")
        held_out = sum(side == {"val"} for side in sides.values())
        self.assertTrue(3 <= held_out <= 8, held_out)
        self.assertLess(result["local_after"], 0.6, "chance is 0.25, of few scenes")

    def test_a_split_by_sample_would_look_learned(self) -> None:
        """Of images this small nothing is known to look alike: what the split by scene is there for."""
        result, _ = self.night_of_frames(side=15)
        self.assertEqual(result["details"]["near_duplicates"]["scenes"], 0)
        self.assertGreater(result["local_after"], 0.9)


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

        # Nothing moves, the batch norms' statistics neither.
        careful = {
            "guard": {"max_global_drop": DROP},
            "train": {"epochs": 1, "optimizer": {"learning_rate": 1e-6}},
            "freeze": {"trainable_layers": SETTINGS.trainable_layers, "batch_norms": True},
        }
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
