"""Samples of none of a model's labels: they are labelled, learned, told of and answered as "something else"."""

from __future__ import annotations

import json
import unittest
from typing import Any

from case import USAGE, TaughtTest
from world import SETTINGS, Row

ROW = Row("strangers", "strangers", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
LABEL = "something else"
NONE, TAUGHT = SETTINGS.local_classes[0], TaughtTest.taught


class StrangersTest(TaughtTest):
    row = ROW

    def setUp(self) -> None:
        super().setUp()
        place = self.world.place
        for files, split in ((place.train[NONE], "train"), (place.held_out[NONE], "val")):
            self.ctl.json("label", "add", *files, "--label-none", "--split", split)

    def test_they_are_a_label_that_says_what_it_is(self) -> None:
        place = self.world.place
        self.assertEqual(self.labels()[LABEL], len(place.train[NONE]) + len(place.held_out[NONE]))
        self.assertIn(LABEL, self.ctl.text("label", "list"))
        (one,) = self.ctl.json("label", "samples", "--label", LABEL, "--limit", "1")["samples"]
        self.ctl.json("label", "relabel", one["digest"], "--label", TAUGHT)
        self.ctl.json("label", "relabel", one["digest"], "--label-none")
        self.ctl.json("label", "assign", one["digest"], "--label-none")
        (again,) = self.ctl.json("label", "samples", "--label", LABEL, "--limit", "1")["samples"]
        self.assertEqual(again["labels"], [LABEL])
        self.refused(USAGE, "alone", "label", "relabel", one["digest"], "--label", TAUGHT, "--label", LABEL)
        self.refused(USAGE, "stands for no other", "label", "map", LABEL, SETTINGS.global_classes[0])
        self.refused(USAGE, "label merge", "label", "rename", TAUGHT, LABEL)
        self.refused(USAGE, "--label-none", "label", "add", place.train[NONE][0], "--label-none", "--label", TAUGHT)

    def test_a_list_of_labels_brings_them_back(self) -> None:
        before = self.labels()
        self.ctl.text("label", "export", self.folder / "out")
        self.ctl.json("label", "rm", LABEL, "--with-samples", "--yes")
        self.assertNotIn(LABEL, self.labels())
        self.ctl.json("label", "import", self.folder / "out")
        self.assertEqual(self.labels(), before)

    def test_a_night_learns_them_and_predict_says_so(self) -> None:
        job = self.night()
        labels = {label["label"]: label["local"] for label in job["result"]["details"]["labels"]}
        self.assertGreater(labels[LABEL]["after"], labels[LABEL]["held_out"] / 2)
        files = self.world.place.held_out[NONE]
        answers: list[dict[str, Any]] = self.ctl.json("predict", "--top", "1", *files)["predictions"]
        said = [answer for answer in answers if answer["top"][0]["label"] == LABEL]
        self.assertGreater(len(said), len(files) / 2)
        for answer in said:
            self.assertEqual(answer["something_else"], answer["top"][0]["probability"])
        self.assertTrue(all(0 <= answer["something_else"] <= 1 for answer in answers))
        self.assertIn(LABEL, self.ctl.text("predict", said[0]["file"]))
        self.assertNotIn(LABEL, json.dumps(self.ctl.json("label", "audit")["wrong"]))


if __name__ == "__main__":
    unittest.main()
