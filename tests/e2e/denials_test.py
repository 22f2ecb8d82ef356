"""Labels that say what samples are not: given, listed, exported and learned."""

from __future__ import annotations

import unittest
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from case import BAD_DATA, UNAVAILABLE, USAGE, TaughtTest
from world import MODEL, SETTINGS, Row

ROW = Row("denials", "denials", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True, activate=True)
OTHER, TAUGHT = SETTINGS.local_classes[0], TaughtTest.taught


class DenialsTest(TaughtTest):
    row = ROW

    def deny(self, name: str) -> None:
        for files, split in ((self.world.place.train[OTHER], "train"), (self.world.place.held_out[OTHER], "val")):
            self.ctl.json("label", "add", *files, "--not", name, "--split", split)

    def said(self, files: Sequence[Path]) -> Counter[str]:
        answers = self.ctl.json("predict", "--top", "1", *files)["predictions"]
        return Counter(answer["top"][0]["label"] for answer in answers)

    def test_they_are_given_beside_labels_and_read_as_not(self) -> None:
        one, two, three = self.world.place.train[OTHER][:3]
        self.ctl.json("label", "add", one, "--not", TAUGHT, "--not", "dog", "--label", "cat")
        self.ctl.json("label", "add", two, "--label", f"!{TAUGHT}")
        self.assertEqual(self.labels()[f"!{TAUGHT}"], 2)
        self.assertIn(f"not {TAUGHT}", self.ctl.text("label", "list"))
        self.assertIn("not dog", self.ctl.text("label", "samples"))
        (sample,) = self.ctl.json("label", "samples", "--label", "!dog")["samples"]
        self.assertEqual(sample["labels"], [f"!{TAUGHT}", "!dog", "cat"])
        digest = sample["digest"]
        self.assertIn("now not dog", self.ctl.text("label", "assign", digest, "--not", "dog"))
        self.ctl.json("label", "undo")
        self.ctl.json("label", "relabel", digest, "--not", "cat", "--not", "dog")
        self.refused(BAD_DATA, f'label assign {digest} --not "{TAUGHT}"', "label", "add", one, "--not", TAUGHT)
        self.refused(USAGE, "not 'cat'", "label", "add", three, "--label", "cat", "--not", "cat")
        self.refused(USAGE, "denies nothing", "label", "add", three, "--not", "")
        self.refused(USAGE, "--label-none", "label", "add", three, "--label-none", "--not", "cat")
        self.refused(USAGE, "'!cat'", "label", "map", "!cat", SETTINGS.global_classes[0])
        self.assertNotIn(str(three), self.ctl.text("label", "samples"))

    def test_they_go_with_their_label_and_a_list_brings_them_back(self) -> None:
        self.deny(TAUGHT)
        before = self.labels()
        self.ctl.json("label", "rename", TAUGHT, "max")
        self.assertEqual(self.labels(), {name.replace(TAUGHT, "max"): count for name, count in before.items()})
        self.ctl.json("label", "undo")
        self.assertEqual(self.labels(), before)
        for form in ("csv", "jsonl", "folder"):
            with self.subTest(form):
                self.ctl.text("label", "export", self.folder / form, "--format", form)
                self.refused(UNAVAILABLE, "74 samples", "label", "rm", TAUGHT, "--with-samples")
                self.ctl.json("label", "rm", TAUGHT, "--with-samples", "--yes")
                self.assertEqual(self.labels(), {})
                self.ctl.json("label", "import", self.folder / form)
                self.assertEqual(self.labels(), before)

    def test_a_night_unlearns_a_false_answer(self) -> None:
        files = self.world.place.held_out[OTHER]
        taught = self.world.place.held_out[TAUGHT]
        self.night()
        (false, before), *_ = self.said(files).most_common()
        self.assertGreater(before, len(files) / 4, "else the test shows nothing")
        self.deny(false)
        self.night()
        details = self.night()["result"]["details"]
        self.assertLess(self.said(files)[false], before / 2)
        self.assertGreater(self.said(taught)[TAUGHT], len(taught) / 2)
        self.assertNotIn(false, [] if false == TAUGHT else [x["label"] for x in details["labels"] if x["local"]])
        (entry,) = [x for x in details["confusion"]["labels"] if x["label"] == f"!{false}"]
        self.assertEqual(entry["held_out"], len(files))
        self.assertGreater(entry["right"], len(files) - before / 2)
        version = self.ctl.json("model", "list", MODEL)["models"]
        self.assertNotIn(f"!{false}", str(version))
        self.assertEqual(details["denied_in_vain"], [])

    def test_what_the_network_knew_of_them_comes_back(self) -> None:
        known, place = SETTINGS.global_classes[3], self.world.place
        files, others = place.held_out[known], place.train[known][:16]
        # So few of the pack's samples that they do not bring it back by themselves.
        pack = str(self.world.pretrained.pack.resolve())
        few = {"global": {"pack": pack, "limit": len(SETTINGS.global_classes)}, "train": {**self.spec()["train"], "epochs": 20}}
        self.assertGreater(self.said(files)[known], len(files) / 2, "else the test shows nothing")
        self.ctl.add_label(others, TAUGHT, "train")
        self.night(**few)
        taken = self.said(files)
        self.assertGreater(taken[TAUGHT], len(files) / 2, "else the test shows nothing")
        for sample in self.ctl.json("label", "samples", "--label", TAUGHT)["samples"]:
            if sample["name"] in {str(file) for file in others}:
                self.ctl.json("label", "assign", sample["digest"], "--not", TAUGHT)
        self.night(**few)
        back = self.said(files)
        self.assertGreater(back[known], len(files) / 2, back)
        self.assertLess(back[TAUGHT], taken[TAUGHT] / 2)

    def test_what_nobody_knows_is_passed_over_with_a_word(self) -> None:
        self.deny("yeti")
        job = self.night()
        self.assertEqual(job["result"]["details"]["denied_in_vain"], ["yeti"])
        self.assertTrue(any("yeti" in note for note in self.notes(job)), self.notes(job))
        self.assertNotIn("yeti", str(job["result"]["details"]["labels"]))
        self.assertIn('"yeti": neither', self.ctl.text("job", "watch", str(job["id"])))



if __name__ == "__main__":
    unittest.main()
