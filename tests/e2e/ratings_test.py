"""Ratings: ids of users and items as a table, a night that gives new ones rows, and what predict says of them."""

from __future__ import annotations

import json
import random
import unittest
from pathlib import Path

from case import BAD_DATA, USAGE, OwnModelTest, does_not_run
from lib.programs import program, run
from world import kill_worker

USERS, ITEMS = 40, 30
NEW = range(USERS, USERS + 6)
NIGHT = {"epochs": 60, "batch": 16, "optimizer": {"type": "adamw", "learning_rate": 0.01}}


def stars(user: int, item: int) -> float:
    """Users are generous or not, items good or not, and half of both like each other."""
    taste = 1.0 if user % 2 == item % 2 else -1.0
    return 3 + 0.25 * (user % 5 - 2) + 0.25 * (item % 3 - 1) + taste


def write_ratings(file: Path, users: range) -> Path:
    draw = random.Random(5)
    lines = ["user,when,item,rating"]
    for user in users:
        for item in draw.sample(range(ITEMS), 20):
            lines.append(f"u{user},{draw.randrange(10**6)},{item},{stars(user, item)}")
    file.write_text("\n".join(lines) + "\n")
    return file


class RatingsTest(OwnModelTest):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        words = ["--label-column", "rating", "--ids", "user,item"]
        cls.base = cls.folder / "base"
        command = [program("moil-pretrain"), "train", "--data", write_ratings(cls.folder / "known.csv", range(USERS)), *words]
        run([*command, "--threads", "1", "--json", cls.folder / "base.json", "--out", cls.base])
        cls.ctl.import_model(cls.base / "model", "ratings")
        out = cls.samples("--data", write_ratings(cls.folder / "new.csv", NEW), *words, "--val-fraction", "0.25")
        cls.ctl.json("label", "import", out)
        cls.files = sorted(out.glob("*/*.csv"))

    def test_the_network_learned_them(self) -> None:
        figures = json.loads((self.folder / "base.json").read_text())
        self.assertEqual(figures["task"], "predict")
        self.assertGreater(figures["r2"], 0.5)
        kind = json.loads((self.base / "model" / "preprocessing.json").read_text())
        self.assertEqual(kind["columns"], [{"name": "user", "ids": True}, {"name": "item", "ids": True}])
        self.assertEqual(len(kind["ids"]), USERS + ITEMS)

    def test_a_night_learns_new_users(self) -> None:
        asked = self.folder / "asked.csv"
        asked.write_text(f"item,user\n7,u{NEW[0]}\n")
        self.assertIn(f"does not know user u{NEW[0]}", self.ctl.json("predict", asked, "--model", "ratings")["predictions"][0]["remark"])
        result = self.night("ratings", train=NIGHT, freeze={"trainable_layers": 1})
        scores = result["details"]["scores"]
        error = {side: [scores[side][when]["root_mean_squared_error"] for when in ("before", "after")] for side in ("local", "global")}
        self.assertLess(error["local"][1], 0.5 * error["local"][0], error)
        self.assertLess(error["global"][1], 0.4, error)  # of stars; they differ by 1.1
        version = self.version("ratings")
        ids = json.loads((version / "preprocessing.json").read_text())["ids"]
        self.assertEqual(ids[USERS + ITEMS :], [f"user=u{user}" for user in NEW])
        (answer,) = self.ctl.json("predict", asked, "--model", "ratings")["predictions"]
        self.assertNotIn("remark", answer)
        self.assertEqual(answer["values"][0]["name"], "rating")
        self.check_export("ratings", version, self.files[:3])
        asked.write_text("user,shop\nu1,2\n")
        self.refused(BAD_DATA, 'it has no column "item"', "predict", asked, "--model", "ratings")

    def test_a_killed_night_ends_in_the_same_weights(self) -> None:
        spec = self.spec("ratings", train={**NIGHT, "epochs": 5})
        kills = [(stage, kill_worker) for stage in ("mix", "train", "judge")]
        self.check_kills({**spec, "threads": 1}, *kills)

    def test_what_cannot_be_ids_is_refused(self) -> None:
        table = self.folder / "known.csv"
        train = [program("moil-pretrain"), "train", "--data", table, "--label-column", "rating", "--out", self.folder / "none"]
        does_not_run(USAGE, 'no column "shop" to be ids', *train, "--ids", "user,shop")
        mixed = self.folder / "mixed.json"
        mixed.write_text(json.dumps({"kind": "rows", "dims": [2], "ids": [], "columns": [{"name": "user", "ids": True}, {"name": "when"}]}))
        does_not_run(USAGE, "is none of ids", *train, "--ids", "user,item", "--preprocessing", mixed)


if __name__ == "__main__":
    unittest.main()
