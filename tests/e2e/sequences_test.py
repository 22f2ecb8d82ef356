"""Text and files through the real programs: a language that is learned, files told apart, and kills in the middle."""

from __future__ import annotations

import json
import random
import unittest
from pathlib import Path

from case import BAD_DATA, USAGE, OwnModelTest
from lib.networks import dense, write_model
from lib.programs import program, run
from world import kill_daemon, kill_worker

PLACES, SYMBOLS = 16, 257
KNOWN, OWN = ["the", "cat", "sat", "on", "mat"], ["zebra", "jumps", "very", "quick"]
TRAIN = {"epochs": 60, "batch": 8, "optimizer": {"type": "adam", "learning_rate": 0.01}}


def sentences(words: list[str], count: int, seed: int) -> list[bytes]:
    draw = random.Random(seed)
    return [(" ".join(draw.choice(words) for _ in range(12)) + ".\n").encode() for _ in range(count)]


def write_network(file: Path, length: int, layers: list[dict[str, object]]) -> Path:
    table = {"name": "table", "type": "embedding", "inputs": ["symbols"], "properties": {"rows": SYMBOLS, "width": 8}}
    write_model(file, {"symbols": [length]}, [table, *layers])
    model = json.loads(file.read_text())
    model["inputs"][0]["type"] = "int32"
    file.write_text(json.dumps(model))
    return file


class SequencesTest(OwnModelTest):
    """A model of five words, to which a night adds four."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        lstm = {"name": "lstm", "type": "lstm", "inputs": ["table"], "properties": {"units": 24}}
        cls.model = write_network(cls.folder / "model.json", PLACES, [lstm, dense("next", "lstm", SYMBOLS)])
        cls.write("books/any", sentences(KNOWN, 60, 1), "txt")
        training = ["--optimizer", "adam", "--learning-rate", "0.01", "--epochs", "40"]
        cls.pretrain(cls.model, "language", "--data", cls.folder / "books", "--task", "sequence", *training)
        cls.label(cls.write("own", sentences(OWN, 30, 2), "txt"), "mine")

    def test_a_night_learns_a_language_and_survives_kills(self) -> None:
        spec = self.spec("language", train=TRAIN)
        result = self.night("language", train=TRAIN)
        self.assertEqual((result["metric"], result["is_fraction"]), ("bits per symbol", False))
        self.assertLess(result["local_after"], result["local_before"] - 1)
        self.assertLess(result["global_after"], result["global_before"] + 0.2)
        self.assertEqual(result["details"]["distilled"], False)
        scores = result["details"]["scores"]["local"]["after"]
        self.assertAlmostEqual(scores["perplexity"], 2 ** scores["bits_per_symbol"], places=3)
        self.check_answers()
        kills = ("cache", kill_worker), ("train", kill_worker), ("train", kill_daemon)
        self.check_kills(spec, *kills)

    def check_answers(self) -> None:
        text = self.folder / "letter.txt"
        text.write_text("zebra jumps very qui")
        (answer,) = self.ctl.json("predict", text, "--top", "3")["predictions"]
        self.assertTrue(answer["continuation"].startswith("ck"), answer)
        self.assertEqual(answer["top"][0]["label"], "c")
        self.assertEqual(len(answer["top"]), 3)
        self.assertLess(answer["bits_per_symbol"], 3)
        self.assertIn('"ck', self.ctl.text("predict", text))
        self.refused(BAD_DATA, "it is empty", "label", "add", self.write("empty", [b""], "txt")[0], "--label", "mine")

    def test_settings_find_themselves(self) -> None:
        self.ctl.import_model(self.base / "model", "open")
        result = self.ended({"name": "open", "model": "open", "global": {"pack": str(self.base / "pack")}, "guard": {"max_global_drop": 1}})["result"]
        self.assertLess(result["local_after"], result["local_before"] - 0.5)
        self.assertEqual(result["details"]["auto"]["fields"]["train"]["optimizer"]["type"], "adam")

    def test_what_does_not_fit_is_refused(self) -> None:
        model = self.base / "model"
        for code, name, changes, words in (
            (BAD_DATA, "preprocessing.json", {"vocabulary": ["a", "b"]}, "4 symbols"),
            (BAD_DATA, "preprocessing.json", {"length": 8, "hop": 7}, "makes 1x8"),
            (USAGE, "preprocessing.json", {"kind": "tunes"}, "'kind' is"),
            (USAGE, "task.json", {"symbols": 100}, "expected 100 symbols at each place"),
        ):
            with self.subTest(name=name, **changes):
                other = self.folder / f"other-{len(list(self.folder.iterdir()))}"
                other.mkdir()
                for file in model.iterdir():
                    content = file.read_bytes()
                    if file.name == name:
                        content = json.dumps(json.loads(content) | changes).encode()
                    (other / file.name).write_bytes(content)
                self.refused(code, words, "model", "import", other, "--name", other.name)

    def test_files_are_told_apart_by_their_ends(self) -> None:
        layers = [{"name": "flat", "type": "flatten", "inputs": ["table"]}, dense("types", "flat", 2)]
        model = write_network(self.folder / "types.json", 32, layers)
        seen = self.folder / "ends.json"
        seen.write_text(json.dumps({"kind": "tokens", "length": 32, "take": "ends"}))
        draw = random.Random(3)
        for name, magic in {"one": b"\x01ONE\0", "two": b"\x02TWO\0", "three": b"\x03THREE\0"}.items():
            self.write(f"{'own-types' if name == 'three' else 'types'}/{name}", [magic + draw.randbytes(200) + magic for _ in range(24)], "bin")
        out = self.folder / "types-base"
        data = ["--data", self.folder / "types", "--preprocessing", seen, "--optimizer", "adam", "--learning-rate", "0.01"]
        run([program("moil-pretrain"), "train", "--model", model, *data, "--threads", "1", "--out", out])
        self.ctl.import_model(out / "model", "types")
        own = sorted((self.folder / "own-types" / "three").iterdir())
        self.label(own, "three")
        spec = self.spec("types", train=TRAIN, local={"labels": ["three"]}) | {"global": {"pack": str(out / "pack"), "alpha": 0.5}}
        result = self.ended(spec)["result"]
        self.assertGreater(result["local_after"], 0.8)
        self.assertGreater(result["global_after"], 0.8)
        (answer,) = self.ctl.json("predict", own[0], "--model", "types", "--top", "1")["predictions"]
        self.assertEqual(answer["top"][0]["label"], "three")


if __name__ == "__main__":
    unittest.main()
