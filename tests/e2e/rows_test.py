"""A night over numbers: a table in, a record's label learned, ONNX out and back."""

from __future__ import annotations

import json
import random
import shutil
import unittest
from pathlib import Path

from case import BAD_DATA, USAGE, OwnModelTest, does_not_run
from lib.networks import dense, relu, write_model
from lib.programs import program
from synthetic import write_digits

CENTRES = {"walk": (1, 0, 0, 50), "run": (0, 1, 0, 60), "climb": (0, 0, 1, 55)}
COLUMNS = ("x", "y", "z", "pulse")
A_CLASS = 60
TRAIN = {"epochs": 20, "batch": 8, "optimizer": {"learning_rate": 0.05}}


def write_table(file: Path, a_class: int = A_CLASS, spread: float = 0.2) -> None:
    draw = random.Random(1)
    lines = [",".join([*COLUMNS, "activity"])]
    for _ in range(a_class):
        for activity, centre in CENTRES.items():
            lines.append(",".join([f"{draw.gauss(value, spread):.4f}" for value in centre] + [activity]))
    file.write_text("\n".join(lines) + "\n")


class RowsTest(OwnModelTest):
    """A network of two activities, to which a night adds a third."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.table = cls.folder / "activities.csv"
        write_table(cls.table)
        layers = [dense("one", "record", 16), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        cls.model = write_model(cls.folder / "model.json", {"record": [4]}, layers)
        data = ["--data", cls.table, "--label-column", "activity", "--classes"]
        cls.pretrain(cls.model, "activities", *data, "walk,run", "--epochs", "20", "--learning-rate", "0.05")
        cls.climbs = sorted((cls.samples(*data, "climb") / "climb").iterdir())
        cls.label(cls.climbs, "climb", held_out=A_CLASS // 2)

    def test_a_night_learns_a_third_activity(self) -> None:
        photo = self.folder / "digits.csv.gz"
        write_digits(photo, 1)
        photos = self.samples("--data", photo, "--classes", "0")
        self.ctl.add_label(list((photos / "0").iterdir()), "zero", "train")
        result = self.night("activities", train=TRAIN)
        self.assertGreater(result["local_after"], 0.9)
        self.assertGreater(result["global_after"], 0.9)
        self.assertGreater(result["details"]["cache"]["computed"], 0)
        self.assertEqual(result["details"]["other_media"], {"image/png": 1})
        self.check_answers()
        version = self.version("activities")
        self.check_export("activities", version, self.climbs[:3])
        kind = json.loads((version / "preprocessing.json").read_text())
        self.assertEqual((kind["kind"], kind["dims"]), ("rows", [4]))
        self.assertAlmostEqual(kind["mean"][3], 55, delta=1)

    def check_answers(self) -> None:
        record = self.folder / "record.csv"
        record.write_text("x,y,z,pulse\n0.1,0.9,0,60\n")
        answers = self.ctl.json("predict", self.climbs[-1], record, "--top", "1")["predictions"]
        self.assertEqual([found["top"][0]["label"] for found in answers], ["climb", "run"])
        for text, words in {"1,2,3\n": "it holds 1x3 numbers; the model takes 4", "1,2,3,nan\n": "'nan' is no finite number"}.items():
            record.write_text(text)
            self.refused(BAD_DATA, words, "predict", record)

    def test_an_import_sets_up_its_nights(self) -> None:
        text = self.ctl.text("model", "import", self.base / "model", "--name", "coach", "--nightly")
        self.assertIn("schedule coach added", text)
        (schedule,) = self.ctl.json("schedule", "list")["schedules"]
        self.assertEqual((schedule["every"], schedule["only_if"]["new_labels"]), ("night", 1))
        self.ctl.text("schedule", "disable", "coach")
        (schedule,) = self.ctl.json("schedule", "list")["schedules"]
        # By night it has come already.
        ended = self.ctl.wait(schedule["last_job"] or self.ctl.json("schedule", "run", "coach")["id"])
        self.assertIn(ended["state"], ("succeeded", "rejected-by-guard"), ended["message"])
        self.assertEqual(ended["schedule"], "coach")
        self.assertIn("coach", self.ctl.text("schedule", "list"))
        self.ctl.text("schedule", "rm", "coach", "--yes")
        lonely = self.folder / "lonely"
        shutil.copytree(self.base / "model", lonely / "model")
        self.refused(USAGE, "name it with --pack", "model", "import", lonely / "model", "--name", "lonely", "--nightly")

    def test_views_are_refused_at_once(self) -> None:
        self.refused_job("/augment/views", self.spec("activities", augment={"views": 2}))

    def test_tables_that_do_not_fit_are_refused(self) -> None:
        def refused(code: int, words: str, table: Path, label: str) -> None:
            data = ("--data", table, "--label-column", label, "--out", self.folder / "none")
            does_not_run(code, words, program("moil-pretrain"), "train", "--model", self.model, *data)
            self.assertFalse((self.folder / "none" / "model").exists())

        refused(USAGE, "its columns are x, y, z, pulse, activity", self.table, "sport")
        broken = self.folder / "broken.csv"
        broken.write_text("x,activity\n1,walk\n2,run\nfast,run\n")
        refused(BAD_DATA, "broken.csv:4: column \"x\" is 'fast'", broken, "activity")
        narrow = self.folder / "narrow.csv"
        narrow.write_text("x,activity\n1,walk\n2,run\n3,walk\n4,run\n")
        refused(BAD_DATA, "it holds 1 numbers; the model takes 4", narrow, "activity")


if __name__ == "__main__":
    unittest.main()
