"""Nights of models that are no classifiers of one input: tags, numbers, and two inputs."""

from __future__ import annotations

import io
import json
import math
import random
import shutil
import tarfile
import unittest
from pathlib import Path
from typing import Any

from case import BAD_DATA, USAGE, Job, OwnModelTest, does_not_run
from images import COLOURED, png
from world import kill_worker
from lib.networks import Layers, dense, relu, write_model
from lib.programs import program

SIDE = 12
COLOURS = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (50, 60, 230), "yellow": (220, 210, 40)}
ADAM = ["--optimizer", "adam", "--learning-rate", "0.003"]


def trained_for(epochs: int) -> Job:
    return {"epochs": epochs, "batch": 8, "optimizer": {"type": "adam", "learning_rate": 0.003}}


def figure(colour: str, shape: str, draw: random.Random) -> bytes:
    """A disc, a bar or a cross of one colour, somewhere on noise."""
    middle_y, middle_x, size = draw.uniform(4, 7), draw.uniform(4, 7), draw.uniform(2.6, 3.8)

    def is_inside(y: int, x: int) -> bool:
        dy, dx = abs(y - middle_y), abs(x - middle_x)
        if shape == "disc":
            return dy * dy + dx * dx < size * size
        if shape == "bar":
            return dy < 1.3 and dx < 1.5 * size
        return min(dy, dx) < 1 and max(dy, dx) < size

    def pixel(y: int, x: int) -> tuple[int, int, int]:
        base = COLOURS[colour] if is_inside(y, x) else (110, 110, 110)
        red, green, blue = (max(0, min(255, round(draw.gauss(value, 25)))) for value in base)
        return red, green, blue

    rows = ([value for x in range(SIDE) for value in pixel(y, x)] for y in range(SIDE))
    return png(SIDE, SIDE, COLOURED, b"".join(b"\0" + bytes(row) for row in rows))


def conv(name: str, source: str, channels: int) -> dict[str, Any]:
    properties = {"out_channels": channels, "kernel": 3, "padding": 1, "stride": 2}
    return {"name": name, "type": "conv2d", "inputs": [source], "properties": properties}


def figure_layers(source: str) -> Layers:
    return [conv("conv1", source, 12), relu("conv1"), conv("conv2", "conv1_relu", 24), relu("conv2")]


def archive(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


class TaskTest(OwnModelTest):
    STAGES = ("cache", "distill", "train")

    def check_worker_kills(self, model: str, *stages: str, **changes: Any) -> None:
        train = {"epochs": 4, "batch": 8, "distill": 0.5, "optimizer": {"learning_rate": 0.003}}
        self.check_kills(self.spec(model, train=train, **changes), *[(stage, kill_worker) for stage in stages or self.STAGES])


class FiguresTest(TaskTest):
    """Figures with two tags each: a network that knows some colours and shapes."""

    @classmethod
    def learn_figures(cls, shapes: dict[str, str], count: int, draw: random.Random) -> None:
        """shapes: by the tags that stand for them."""
        cls.draw = draw
        for colour in ("red", "green", "blue"):
            for tag, shape in shapes.items():
                cls.figures(f"global/{colour}+{tag}", colour, shape, count)
        layers = [*figure_layers("photo"), dense("hidden", "conv2_relu", 24), relu("hidden"), dense("tags", "hidden_relu", 2)]
        model = write_model(cls.folder / "figures.json", {"photo": [3, SIDE, SIDE]}, layers)
        cls.pretrain(model, "figures", "--data", cls.folder / "global", "--task", "tag", *ADAM, "--epochs", "20")

    @classmethod
    def figures(cls, name: str, colour: str, shape: str, count: int) -> list[Path]:
        return cls.write(name, (figure(colour, shape, cls.draw) for _ in range(count)), "png")


class TagTest(FiguresTest):
    """The device adds a colour and a shape."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.learn_figures({"disc": "disc", "bar": "bar"}, 40, random.Random(1))
        cls.crosses = cls.figures("local/crosses", "yellow", "cross", 24)
        cls.discs = cls.figures("local/discs", "yellow", "disc", 24)
        cls.label(cls.crosses, "yellow", "cross")
        cls.label(cls.discs, "yellow", "disc")

    def test_a_night_learns_two_tags(self) -> None:
        self.assertEqual(json.loads((self.base / "model" / "labels.json").read_text()), ["blue", "bar", "disc", "green", "red"])
        self.assertEqual(json.loads((self.base / "model" / "task.json").read_text()), {"task": "tag", "unnamed": "absent"})
        result = self.night("figures", train=trained_for(40))
        self.assertEqual((result["metric"], result["is_fraction"]), ("AUC", True))
        self.assertGreater(result["global_before"], 0.95)
        self.assertGreater(result["global_after"], 0.9)
        self.assertGreater(result["local_after"], 0.95)
        self.assertGreater(result["local_after"], result["local_before"])
        scores = result["details"]["scores"]["local"]["after"]
        self.assertEqual(set(scores), {"auc", "mean_average_precision", "f1"})
        self.assertGreater(scores["f1"], 0.7)
        answer = self.ctl.json("predict", self.crosses[0])["predictions"][0]
        self.assertIn("yellow", answer["labels"])
        self.assertEqual({found["label"] for found in answer["top"][:2]}, {"yellow", "cross"})
        self.assertIn("local AUC", self.ctl.text("report", "1"))
        thresholds = json.loads((self.version("figures") / "task.json").read_text())["thresholds"]
        self.assertTrue(any(threshold != 0.5 for threshold in thresholds), thresholds)
        self.check_export("figures", self.version("figures"), [self.crosses[0], self.discs[0]])
        self.check_worker_kills("figures")

    def test_a_softmax_does_not_tag(self) -> None:
        layers = [dense("out", "x", 2), {"name": "p", "type": "softmax", "inputs": ["out"]}]
        model = write_model(self.folder / "softmax.json", {"x": [3, SIDE, SIDE]}, layers)
        data = ["--data", self.folder / "global", "--out", self.folder / "none"]
        does_not_run(USAGE, "takes logits or a sigmoid", program("moil-pretrain"), "train", "--model", model, "--task", "tag", *data)
        self.assertFalse((self.folder / "none" / "model").exists())


class MappedTagsTest(FiguresTest):
    """The device's label stands for two tags that the model knows; the other tags it never names."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.learn_figures({"disc, round": "disc", "bar": "bar"}, 30, random.Random(6))
        (cls.base / "model" / "task.json").write_text('{"task": "tag"}')
        cls.ctl.import_model(cls.base / "model", "figures")
        cls.lamps = cls.figures("lamps", "yellow", "disc", 24)
        cls.label(cls.lamps, "lamp")
        cls.label(cls.figures("leaves", "green", "bar", 24), "green")

    def test_a_label_teaches_all_that_it_stands_for(self) -> None:
        self.refused(USAGE, 'did you mean "disc, round"?', "label", "map", "lamp", "red", "disk, round")
        self.assertIn('"disc, round", red', self.ctl.text("label", "map", "lamp", "red", "disc, round"))
        before = self.tags()
        result = self.night("figures", train=trained_for(40))
        self.assertEqual(json.loads((self.version("figures") / "labels.json").read_text()), ["blue", "bar", "disc, round", "green", "red"])
        self.assertGreater(result["local_after"], 0.95)
        self.assertGreater(result["global_after"], 0.9)
        after = self.tags()
        self.assertGreater(after["red"], 0.8)
        self.assertGreater(after["disc, round"], 0.8)
        self.assertLess(after["green"], 0.3, "other local samples are green: a lamp is not")
        self.assertAlmostEqual(after["blue"], before["blue"], delta=0.35, msg="nobody says whether lamps are blue")
        report = self.ctl.text("report", "1")
        for words in ("global AUC", "local AUC", "mean_average_precision"):
            self.assertIn(words, report)
        table = self.ctl.text("predict", "--top", "4", self.lamps[0])
        self.assertRegex(table, r"red +\d+\.\d% +yes\n")
        self.assertRegex(table, r"green +\d+\.\d% *\n")

    def tags(self) -> dict[str, float]:
        """Mean probabilities of the lamps that are held out."""
        answers = self.ctl.json("predict", *self.lamps[::3])["predictions"]
        return {label: sum(found["probability"] for answer in answers for found in answer["top"] if found["label"] == label) / len(answers) for label in ("blue", "green", "red", "disc, round")}


class PredictTest(TaskTest):
    """Warmth by three numbers; the device sees rooms that are warmer than all before."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(2)

        def lines(low: float, high: float, count: int) -> list[str]:
            found = []
            while len(found) < count:
                x = [draw.uniform(-1, 1) for _ in range(3)]
                warmth = 50 + 20 * x[0] - 8 * x[1] * x[1] + 5 * max(x[2], 0)
                if low <= warmth < high:
                    found.append(",".join(f"{value:.4f}" for value in [*x, warmth]))
            return found

        cls.table = cls.folder / "rooms.csv"
        cls.table.write_text("\n".join(["a,b,c,warmth", *lines(0, 58, 300)]) + "\n")
        local = cls.folder / "warm.csv"
        local.write_text("\n".join(["a,b,c,warmth", *lines(58, 100, 60)]) + "\n")
        # It ends in no classifier: a line, and what bends it.
        layers = [dense("line", "room", 1), dense("one", "room", 16), relu("one"), dense("two", "one_relu", 16), relu("two")]
        layers += [dense("bend", "two_relu", 1), {"name": "warmth", "type": "add", "inputs": ["line", "bend"]}]
        cls.model = write_model(cls.folder / "rooms.json", {"room": [3]}, layers)
        cls.pretrain(cls.model, "rooms", "--data", cls.table, "--label-column", "warmth", "--task", "predict", "--epochs", "30", "--learning-rate", "0.03")
        made = cls.samples("--data", local, "--label-column", "warmth")
        cls.warm = {folder.name: next(folder.iterdir()) for folder in made.iterdir()}
        for i, (warmth, file) in enumerate(cls.warm.items()):
            cls.ctl.json("label", "add", file, "--label", warmth, "--split", "train" if i % 3 else "val")

    def test_a_night_learns_warmer_rooms(self) -> None:
        result = self.night("rooms", guard={"max_global_drop": 0.1})
        self.assertEqual((result["metric"], result["is_fraction"]), ("R2", False))
        self.assertGreater(result["global_before"], 0.95)
        self.assertGreater(result["global_after"], 0.9)
        self.assertGreater(result["local_after"], result["local_before"])
        local = result["details"]["scores"]["local"]
        self.assertLess(local["after"]["mean_absolute_error"], 1.5)
        self.assertLess(local["after"]["mean_absolute_error"], local["before"]["mean_absolute_error"])
        warmth, file = next(iter(self.warm.items()))
        (answer,) = self.ctl.json("predict", file)["predictions"]
        self.assertEqual(answer["values"][0]["name"], "warmth")
        self.assertAlmostEqual(answer["values"][0]["value"], float(warmth), delta=6)
        self.assertIn("VALUE", self.ctl.text("predict", file))
        self.assertIn("mean_absolute_error", self.ctl.text("report", "1"))
        self.check_export("rooms", self.version("rooms"), list(self.warm.values())[:3])
        self.check_guard()
        self.check_worker_kills("rooms", "distill", "train")  # its branches meet behind all layers: nothing is cached
        self.check_labels()

    def check_guard(self) -> None:
        """What forgets is kept back, told in the task's own words."""
        spoiling = {"epochs": 3, "batch": 8, "distill": 0, "optimizer": {"learning_rate": 0.03}}
        job = self.ctl.wait(self.ctl.submit(self.spec("rooms", guard={"max_global_drop": 0, "min_local_accuracy": 0.9999}, train=spoiling)))
        self.assertEqual(job["state"], "rejected-by-guard")
        self.assertRegex(job["message"], "R2 would (fall|be)")

    def check_labels(self) -> None:
        """A label that is no number is refused at once."""
        odd = self.folder / "odd.csv"
        odd.write_text("0.1,0.2,0.3\n")
        self.ctl.json("label", "add", odd, "--label", "cosy")
        self.refused_job("is not a number, which the model predicts", self.spec("rooms"))
        digest = self.ctl.json("label", "samples", "--label", "cosy")["samples"][0]["digest"]
        self.ctl.json("label", "assign", digest, "--not", "20.5")
        self.refused_job("no outputs that are labels", self.spec("rooms"))
        self.ctl.json("label", "forget", digest, "--yes")

    def test_labels_of_a_table_must_be_numbers(self) -> None:
        table = self.folder / "words.csv"
        table.write_text("a,b,c,warmth\n1,2,3,4\n1,2,3,mild\n")
        data = ["--data", table, "--label-column", "warmth", "--out", self.folder / "none"]
        does_not_run(USAGE, 'the label "mild" is not a number', program("moil-pretrain"), "train", "--model", self.model, "--task", "predict", *data)


class TwoInputsTest(TaskTest):
    """A figure and a sensor's numbers, of which each alone tells half."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(3)

        def both(colour: str, sign: int) -> bytes:
            numbers = ",".join(f"{draw.gauss(sign * 2 + 7, 0.5):.3f}" for _ in range(4))
            return archive(photo_png=figure(colour, "disc", draw), sensor_csv=(numbers + "\n").encode())

        for name, colour, sign in (("calm red", "red", -1), ("wild red", "red", 1), ("calm blue", "blue", -1)):
            cls.write(f"global/{name}", (both(colour, sign) for _ in range(40)), "tar")
        layers = [*figure_layers("photo"), dense("seen", "conv2_relu", 12), relu("seen"), dense("felt", "sensor", 12), relu("felt")]
        layers += [{"name": "both", "type": "concat", "inputs": ["seen_relu", "felt_relu"]}]
        layers += [dense("hidden", "both", 16), relu("hidden"), dense("classes", "hidden_relu", 3)]
        model = write_model(cls.folder / "both.json", {"photo": [3, SIDE, SIDE], "sensor": [4]}, layers)
        cls.pretrain(model, "both", "--data", cls.folder / "global", *ADAM, "--epochs", "20")
        cls.new = cls.write("local/wild blue", (both("blue", 1) for _ in range(24)), "tar")
        cls.label(cls.new, "wild blue")

    def check_night(self, **changes: Any) -> None:
        result = self.night("both", activate=False, **changes)
        self.assertGreater(result["global_before"], 0.9)
        self.assertGreater(result["global_after"], 0.85)
        self.assertGreater(result["local_after"], 0.9)

    def test_over_cached_maps_behind_the_join(self) -> None:
        self.check_night()

    def test_all_layers_from_both_inputs(self) -> None:
        self.check_night(freeze={"trainable_layers": "all"}, augment={"views": 2, "flip": False})

    def test_a_pack_of_another_kind_is_refused_at_once(self) -> None:
        pack = self.folder / "odd pack"
        shutil.copytree(self.base / "pack", pack)
        manifest = json.loads((pack / "pack.json").read_text())
        manifest["preprocessing"] = {"kind": "rows", "dims": [1], "mean": [0], "std": [1]}
        (pack / "pack.json").write_text(json.dumps(manifest))
        said = self.refused_job("/global/pack", self.spec("both", **{"global": {"pack": str(pack)}}))
        self.assertIn("samples are of the kind", said)

    def test_killed_in_the_middle(self) -> None:
        self.check_worker_kills("both", augment={"views": 2, "flip": False})

    def test_with_elastic_selection(self) -> None:
        self.check_night(freeze={"trainable_layers": "all"}, elastic={"rho": 0.8}, train=trained_for(40))

    def test_answers_and_exports(self) -> None:
        (answer,) = self.ctl.json("predict", self.folder / "global" / "wild red" / "001.tar", "--model", "both")["predictions"]
        self.assertEqual(answer["top"][0]["label"], "wild red")
        kind = json.loads((self.base / "model" / "preprocessing.json").read_text())
        self.assertEqual([part["kind"] for part in kind["inputs"]], ["image", "rows"])
        self.check_export("both", self.base / "model", [self.new[0]])

    def test_an_archive_without_a_file_is_named(self) -> None:
        odd = self.folder / "odd.tar"
        odd.write_bytes(archive(photo_png=figure("red", "disc", random.Random(4))))
        self.refused(BAD_DATA, 'no file called "sensor"', "predict", odd, "--model", "both")


class RecordingsTest(TaskTest):
    """Vibrations of any length, seen in windows."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(5)

        def vibration(frequency: float) -> bytes:
            phase, lines = draw.uniform(0, 6.3), draw.randint(24, 70)
            rows = [(math.sin(phase + frequency * t), math.cos(phase + frequency * t)) for t in range(lines)]
            return "".join(f"{draw.gauss(x, 0.3):.3f},{draw.gauss(y, 0.3):.3f}\n" for x, y in rows).encode()

        for name, frequency in {"slow": 0.2, "fast": 0.9}.items():
            cls.write(f"global/{name}", (vibration(frequency) for _ in range(40)), "csv")
        layers: Layers = [{"name": "flat", "type": "flatten", "inputs": ["window"]}]
        layers += [dense("one", "flat", 32), relu("one"), dense("two", "one_relu", 16), relu("two"), dense("classes", "two_relu", 2)]
        model = write_model(cls.folder / "motor.json", {"window": [16, 2]}, layers)
        cls.pretrain(model, "motor", "--data", cls.folder / "global", "--hop", "8", *ADAM, "--epochs", "40")
        cls.new = cls.write("local/wild", (vibration(2.0) for _ in range(24)), "csv")
        cls.label(cls.new, "wild")

    def test_a_night_learns_from_windows(self) -> None:
        result = self.night("motor", train=trained_for(30))
        self.assertGreater(result["global_before"], 0.9)
        self.assertGreater(result["global_after"], 0.9)
        self.assertGreater(result["local_after"], 0.9)
        cached = result["details"]["cache"]["computed"]
        self.assertGreater(cached, 3 * sum(result["details"]["samples"][which] for which in ("global", "local")))
        answers = self.ctl.json("predict", *self.new[:5], "--model", "motor")["predictions"]
        self.assertEqual([answer["top"][0]["label"] for answer in answers].count("wild"), 5)
        self.check_export("motor", self.version("motor"), self.new[:2])
        self.check_timeline()
        self.check_worker_kills("motor")
        self.assertGreater(self.forgotten(), 1)

    def check_timeline(self) -> None:
        """A recording that is slow, then fast: each is told where it is."""
        both = self.folder / "both.csv"
        rows = [(math.sin(speed * t), math.cos(speed * t)) for speed in (0.2, 0.9) for t in range(64)]
        both.write_text("".join(f"{x:.3f},{y:.3f}\n" for x, y in rows))
        (answer,) = self.ctl.json("predict", "--timeline", both, "--model", "motor")["predictions"]
        self.assertEqual((answer["timeline"]["unit"], answer["timeline"]["more"]), ("lines", 0))
        intervals = answer["timeline"]["intervals"]
        first, last = intervals[0], intervals[-1]
        self.assertEqual((first["label"], first["from"], last["label"], last["to"]), ("slow", 0, "fast", 128))
        self.assertTrue(48 <= first["to"] <= 88, intervals)
        self.assertRegex(self.ctl.text("predict", "--timeline", both, "--model", "motor"), r"both.csv +0 +\d+ +slow +\d")

    def forgotten(self) -> int:
        """Feature maps of a recording that is forgotten: those of all its parts."""
        before = self.ctl.json("cache", "stats")["entries"]
        digest = self.ctl.json("label", "samples")["samples"][0]["digest"]
        self.ctl.json("label", "forget", digest, "--yes")
        return before - self.ctl.json("cache", "stats")["entries"]

    def test_a_recording_that_is_too_short_is_named(self) -> None:
        short = self.folder / "short.csv"
        short.write_text("1,2\n" * 7)
        self.refused(BAD_DATA, "it holds 7x2 numbers; the model takes at least 16x2", "predict", short, "--model", "motor")

if __name__ == "__main__":
    unittest.main()
