"""What the guard promises over several nights, and what it does if nothing can be measured."""

from __future__ import annotations

import random
import unittest
from typing import Any

from case import EachTest
from images import write_frames
from world import MODEL, SETTINGS, Row
from lib.samples import only

ROW = Row("guard", "guard", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
FORGETFUL = Row("forgetful", "forgetful", 0.0, SETTINGS.trainable_layers, cached=True, activate=True)
DROP = 0.05



class ScenesTest(EachTest):
    """Twenty scenes of ten frames, each scene of a label by chance: there is nothing to be learned but by heart."""

    SCENES, FRAMES, LABELS = 20, 10, 4
    is_furnished = False

    def night_of_frames(self, side: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The result of a night on them, and the samples as they lie afterwards."""
        scenes = write_frames(self.folder / "frames", self.SCENES, self.FRAMES, side)
        labels = [f"chance-{i % self.LABELS}" for i in range(self.SCENES)]
        random.Random(5).shuffle(labels)
        self.ctl.import_model(self.world.pretrained.model, MODEL)
        for files, label in zip(scenes, labels):
            self.ctl.json("label", "add", *files, "--label", label)
        train = {"epochs": 60, "batch": 16, "optimizer": {"learning_rate": 0.05}}
        job = self.night(Row("frames", "frames", 0.1, "all", cached=True), train=train)
        return job["result"], self.ctl.json("label", "samples", "--limit", "1000")["samples"]

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
        """No images this small are known to look alike: what the split by scene is there for."""
        result, _ = self.night_of_frames(side=15)
        self.assertEqual(result["details"]["near_duplicates"]["scenes"], 0)
        self.assertGreater(result["local_after"], 0.9)


class GuardTest(EachTest):
    row = ROW
    is_furnished = False

    def anchor(self, *words: str) -> tuple[int, bool]:
        reply = self.ctl.json("model", "anchor", MODEL, *words)
        return reply["version"], reply["named"]

    def test_nights_together_lose_no_more_than_one_may(self) -> None:
        self.world.furnish(self.ctl)
        first = self.night(FORGETFUL)
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
        self.night(**careful)

        # What is known of an anchor is of its held-out samples: others are judged anew, the same.
        for record in self.daemon.state.glob("profiles/accuracy/*.json"):
            record.unlink()
        fourth = self.night(**careful)
        self.assertEqual(fourth["result"]["details"]["anchor"], {"version": 2, "global": after})

        self.ctl.import_model(self.world.pretrained.model, MODEL)
        self.assertEqual(self.anchor()[1], False, "an import ends what was named before it")

    def test_an_anchor_of_other_frozen_layers_is_judged_as_a_whole(self) -> None:
        self.world.furnish(self.ctl)
        deep = self.night(FORGETFUL, freeze={"trainable_layers": "all"})
        for record in self.daemon.state.glob("profiles/accuracy/*.json"):
            record.unlink()
        job = self.run_job(guard={"max_global_drop": DROP})
        self.assertAlmostEqual(job["result"]["details"]["anchor"]["global"], deep["result"]["global_before"], places=2)

    def test_what_is_not_measured_is_not_passed(self) -> None:
        self.ctl.import_model(self.world.pretrained.model, MODEL)
        for name, members in only(self.world.place.train, SETTINGS.local_classes).items():
            self.ctl.add_label(members, name, "train")
        asked = self.spec(guard={"max_global_drop": 1, "min_local_accuracy": 0.5})
        said = self.refused_job("/guard/min_local_accuracy", asked)
        self.assertIn("is held out", said)
        self.assertIn("guard.min_local_accuracy to 0", said)
        self.assertIn("not measured: none is held out", self.night(guard={"max_global_drop": 1})["message"])


if __name__ == "__main__":
    unittest.main()
