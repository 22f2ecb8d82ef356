"""A night over numbers: a table in, a record's label learned, ONNX out and back."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from world import ctl_of, daemon_in
from night.daemon import Daemon
from night.moilctl import Moilctl
from night.networks import dense, relu, write_model
from night.programs import ProgramError, program, run
from synthetic import write_digits

USAGE, BAD_DATA = 64, 65  # sysexits.h
CENTRES = {"walk": (1, 0, 0, 50), "run": (0, 1, 0, 60), "climb": (0, 0, 1, 55)}
COLUMNS = ("x", "y", "z", "pulse")
A_CLASS = 60


def write_table(file: Path, a_class: int = A_CLASS, spread: float = 0.2) -> None:
    draw = random.Random(1)
    lines = [",".join([*COLUMNS, "activity"])]
    for _ in range(a_class):
        for activity, centre in CENTRES.items():
            lines.append(",".join([f"{draw.gauss(value, spread):.4f}" for value in centre] + [activity]))
    file.write_text("\n".join(lines) + "\n")


class RowsTest(unittest.TestCase):
    """One daemon with a network of two activities, to which a night adds a third."""

    folder: Path
    daemon: Daemon
    ctl: Moilctl

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-rows-")))
        cls.table = cls.folder / "activities.csv"
        write_table(cls.table)
        layers = [dense("one", "record", 16), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        write_model(cls.folder / "model.json", {"record": [4]}, layers)
        known = ["--data", cls.table, "--label-column", "activity", "--classes", "walk,run"]
        training = ["--model", cls.folder / "model.json", "--epochs", "20", "--learning-rate", "0.05", "--threads", "1"]
        run([program("moil-pretrain"), "train", *known, *training, "--out", cls.folder / "base"])
        new = ["--data", cls.table, "--label-column", "activity", "--classes", "climb", "--out", cls.folder / "samples"]
        run([program("moil-pretrain"), "images", *new])
        (cls.folder / "device").mkdir()
        cls.daemon = cls.enterClassContext(daemon_in(cls.folder / "device"))
        cls.ctl = ctl_of(cls.daemon)
        cls.ctl.import_model(cls.folder / "base" / "model", "activities")
        cls.samples = sorted((cls.folder / "samples" / "climb").iterdir())
        cls.ctl.add_label(cls.samples[: A_CLASS // 2], "climb", "train")
        cls.ctl.add_label(cls.samples[A_CLASS // 2 :], "climb", "val")

    def spec(self, **changes: object) -> dict[str, object]:
        job: dict[str, object] = {
            "name": "rows",
            "model": "activities",
            "settings": "defaults",
            "global": {"pack": str(self.folder / "base" / "pack"), "alpha": 0.5},
            "freeze": {"trainable_layers": 2},
            "train": {"epochs": 20, "batch": 8, "optimizer": {"learning_rate": 0.05}},
            "seed": 1,
        }
        return {**job, **changes}

    def test_a_night_learns_a_third_activity(self) -> None:
        photo = self.folder / "digits.csv.gz"
        write_digits(photo, 1)
        run([program("moil-pretrain"), "images", "--data", photo, "--classes", "0", "--out", self.folder / "photos"])
        self.ctl.add_label(list((self.folder / "photos" / "0").iterdir()), "zero", "train")
        job = self.ctl.wait(self.ctl.submit(self.spec()))
        self.assertEqual(job["state"], "succeeded", job["message"])
        result = job["result"]
        self.assertGreater(result["local_after"], 0.9)
        self.assertGreater(result["global_after"], 0.9)
        self.assertGreater(result["details"]["cache"]["computed"], 0)
        self.assertEqual(result["details"]["other_media"], {"image/png": 1})
        self.check_answers()
        self.check_export()

    def check_answers(self) -> None:
        record = self.folder / "record.csv"
        record.write_text("x,y,z,pulse\n0.1,0.9,0,60\n")
        answers = self.ctl.json("predict", self.samples[-1], record, "--top", "1")["predictions"]
        self.assertEqual([found["top"][0]["label"] for found in answers], ["climb", "run"])
        for text, words in {"1,2,3\n": "it holds 1x3 numbers; the model takes 4", "1,2,3,nan\n": "'nan' is no finite number"}.items():
            record.write_text(text)
            with self.assertRaises(ProgramError) as caught:
                self.ctl.text("predict", record)
            self.assertIn(words, caught.exception.stderr)

    def check_export(self) -> None:
        """What the samples are travels with the file."""
        model = self.daemon.state / "models" / "activities"
        folder = max(model.iterdir(), key=lambda version: int(version.name))
        run([program("moil-onnx"), "export", folder, "--out", self.folder / "a.onnx"])
        run([program("moil-onnx"), "import", self.folder / "a.onnx", "--out", self.folder / "again"])
        first, again = (json.loads((f / "preprocessing.json").read_text()) for f in (folder, self.folder / "again"))
        self.assertEqual(first["kind"], "rows")
        self.assertEqual(first["dims"], [4])
        self.assertAlmostEqual(first["mean"][3], 55, delta=1)
        self.assertEqual(first, again)

    def test_an_import_sets_up_its_nights(self) -> None:
        text = self.ctl.text("model", "import", self.folder / "base" / "model", "--name", "coach", "--nightly")
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
        self.ctl.text("schedule", "rm", "coach")
        lonely = self.folder / "lonely"
        shutil.copytree(self.folder / "base" / "model", lonely / "model")
        with self.assertRaises(ProgramError) as caught:
            self.ctl.text("model", "import", lonely / "model", "--name", "lonely", "--nightly")
        self.assertIn("name it with --pack", caught.exception.stderr)

    def test_views_are_refused_at_once(self) -> None:
        with self.assertRaises(ProgramError) as caught:
            self.ctl.submit(self.spec(augment={"views": 2}))
        self.assertIn("/job/augment/views", caught.exception.stderr)

    def test_text_is_no_sample(self) -> None:
        note = self.folder / "note.txt"
        note.write_text("climbing, at noon\n")
        with self.assertRaises(ProgramError) as caught:
            self.ctl.json("label", "add", note, "--label", "climb")
        self.assertIn("it is text", caught.exception.stderr)

    def refused(self, code: int, words: str, *arguments: str | Path) -> None:
        command = [program("moil-pretrain"), "train", "--model", self.folder / "model.json", "--out", self.folder / "none", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "none" / "model").exists())

    def test_tables_that_do_not_fit_are_refused(self) -> None:
        self.refused(USAGE, "its columns are x, y, z, pulse, activity", "--data", self.table, "--label-column", "sport")
        broken = self.folder / "broken.csv"
        broken.write_text("x,activity\n1,walk\n2,run\nfast,run\n")
        self.refused(BAD_DATA, "broken.csv:4: column \"x\" is 'fast'", "--data", broken, "--label-column", "activity")
        narrow = self.folder / "narrow.csv"
        narrow.write_text("x,activity\n1,walk\n2,run\n3,walk\n4,run\n")
        self.refused(BAD_DATA, "it holds 1 numbers; the model takes 4", "--data", narrow, "--label-column", "activity")


if __name__ == "__main__":
    unittest.main()
