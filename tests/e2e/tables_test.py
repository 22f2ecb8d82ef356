"""Tables as people have them: an index without a name, gaps, text, rare classes, labels far off."""

from __future__ import annotations

import json
import random
import subprocess
import unittest
from pathlib import Path

from case import BAD_DATA, USAGE, OwnModelTest
from lib.networks import dense, relu, write_model
from lib.programs import program

# A kind of fruit follows from its colour and weight; its age says nothing.
FRUIT = {"apple": ("red", 150), "lime": ("green", 60), "melon": ("green", 1500), "plum": ("dark blue", 40)}
A_CLASS = 50


def write_fruit(file: Path, fruits: list[str]) -> None:
    draw = random.Random(3)
    lines = [",age,colour,weight,fruit"]
    for i in range(A_CLASS * len(fruits)):
        fruit = fruits[i // A_CLASS]  # sorted, so that the index tells the class
        colour, weight = FRUIT[fruit]
        age = "" if draw.random() < 0.2 else f"{draw.uniform(1, 9):.2f}"
        colour = "NA" if draw.random() < 0.05 else colour
        lines.append(f"{i},{age},{colour},{draw.gauss(weight, weight / 10):.1f},{fruit}")
    file.write_text("\n".join(lines) + "\n")


class TablesTest(OwnModelTest):
    def network(self, name: str, inputs: int, outputs: int) -> Path:
        layers = [dense("one", "record", 16), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("out", "two_relu", outputs)]
        return write_model(self.folder / f"{name}.json", {"record": [inputs]}, layers)

    def train(self, name: str, table: Path, label: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [program("moil-pretrain"), "train", "--data", table, "--label-column", label, "--epochs", "30"]
        command += ["--learning-rate", "0.02", "--threads", "1", "--json", self.folder / f"{name}.figures", "--out", self.folder / name]
        return subprocess.run([*command, *words], capture_output=True, text=True)

    def figures(self, name: str) -> dict[str, object]:
        return json.loads((self.folder / f"{name}.figures").read_text())

    def test_text_and_gaps_are_learned_labelled_and_predicted_alike(self) -> None:
        table = self.folder / "fruit.csv"
        write_fruit(table, ["apple", "lime", "melon", "plum"])
        # Age and whether it is missing, two colours, weight. The plum's colour is not known.
        model = self.network("fruit", 5, 3)
        done = self.train("base", table, "fruit", "--classes", "apple,lime,melon", "--model", model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("column 1 has no name and is left out", done.stderr)
        self.assertGreater(self.figures("base")["accuracy"], 0.85)
        self.base = self.folder / "base"
        self.ctl.import_model(self.base / "model", "fruit")
        plums = self.samples("--data", table, "--label-column", "fruit", "--classes", "plum")
        samples = sorted((plums / "plum").iterdir())
        self.assertEqual({file.suffix for file in samples}, {".csv"})
        self.label(samples, "plum", held_out=A_CLASS // 2)
        train = {"epochs": 20, "batch": 8, "optimizer": {"learning_rate": 0.02}}
        result = self.night("fruit", train=train, guard={"max_global_drop": 0.3}, **{"global": {"pack": str(self.base / "pack"), "alpha": 1}})
        self.assertGreater(result["local_after"], 0.85)
        self.assertIn("balanced_accuracy", result["details"]["scores"]["global"]["after"])
        said = {}
        for text in ("weight,shelf,colour,age\n148,7,red,\n", "4.5,red,155\n", ",age,colour,weight\n9,NA,green,1450\n",
                     "age,colour,weight\n3,pale yellow,1600\n", "age,colour,weight\n,dark blue,41\n"):
            file = self.folder / "one.csv"
            file.write_text(text)
            (answer,) = self.ctl.json("predict", file, "--top", "1")["predictions"]
            said[text] = answer["top"][0]["label"]
        self.assertEqual(list(said.values()), ["apple", "apple", "melon", "melon", "plum"], said)
        file.write_text("age,weight\n3,40\n")
        self.refused(BAD_DATA, 'it has no column "colour"', "predict", file)

    def test_what_a_network_would_have_to_take_is_named(self) -> None:
        table = self.folder / "names.csv"
        write_fruit(table, ["apple", "lime"])
        done = self.train("none", table, "fruit", "--model", self.network("four", 4, 2))
        self.assertEqual(done.returncode, BAD_DATA, done.stderr)
        self.assertIn("make 5 numbers (age, age is missing, colour = green, colour = red, weight); the model takes 4", done.stderr)

    def test_rare_classes_are_not_hidden_by_the_accuracy(self) -> None:
        draw = random.Random(5)
        lines = ["a,b,state"]
        for i in range(3000):  # faults lie in the middle of what is fine
            fault = i % 100 == 0
            spread = 1.2 if fault else 1.0
            lines.append(f"{draw.gauss(0, spread):.3f},{draw.gauss(0, spread):.3f},{'fault' if fault else 'fine'}")
        lines.append(lines[1].rsplit(",", 1)[0] + ",fine")
        table = self.folder / "machines.csv"
        table.write_text("\n".join(lines) + "\n")
        done = self.train("rare", table, "state", "--model", self.network("rare", 2, 2))
        self.assertEqual(done.returncode, 0, done.stderr)
        figures = self.figures("rare")
        self.assertGreater(figures["accuracy"], 0.97)
        self.assertAlmostEqual(figures["balanced_accuracy"], 0.5, delta=0.1)
        self.assertEqual(figures["classes"]["fault"]["held_out"], 6)
        self.assertIn("accuracy hides classes that have few samples", done.stderr)
        self.assertIn("fault: 0 of 6", done.stderr)
        self.assertIn("2 of 3001 records stand under several labels", done.stderr)
        self.assertIn("line 2 (fault) is line 3002 (fine)", done.stderr)

    def test_a_label_far_off_is_said_and_huber_learns_the_others(self) -> None:
        draw = random.Random(6)
        rows = [(draw.uniform(-1, 1), draw.uniform(-1, 1)) for _ in range(240)]
        lines = [f"{a:.4f},{b:.4f},{50 + 20 * a - 10 * b:.4f}" for a, b in rows]
        held_out = self.folder / "held-out.csv"
        held_out.write_text("\n".join(["a,b,warmth", *lines[:60]]) + "\n")
        for i in (70, 130, 190):  # in thousandths
            lines[i] = ",".join([*lines[i].split(",")[:2], str(1000 * float(lines[i].split(",")[2]))])
        table = self.folder / "rooms.csv"
        table.write_text("\n".join(["a,b,warmth", *lines[60:]]) + "\n")
        quality = {}
        for loss in ("squares", "huber"):
            done = self.train(loss, table, "warmth", "--val-data", held_out, "--task", "predict", "--loss", loss, "--model", self.network(loss, 2, 1))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("warmth: 3 of 180 numbers lie far from the others", done.stderr)
            quality[loss] = self.figures(loss)["R2" if "R2" in self.figures(loss) else "r2"]
        self.assertLess(quality["squares"], 0.5)
        self.assertGreater(quality["huber"], 0.9)
        done = self.train("odd", table, "warmth", "--task", "classify", "--loss", "huber", "--model", self.network("odd", 2, 180))
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("--loss is of numbers", done.stderr)


if __name__ == "__main__":
    unittest.main()
