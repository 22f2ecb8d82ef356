"""moil-pretrain by its command line: what it refuses, it refuses before it trains."""

from __future__ import annotations

import io
import json
import random
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from case import BAD_DATA, CANNOT_CREATE, USAGE
from lib.networks import dense, write_model
from lib.programs import ROOT, program
from recordings import tone, wav
from synthetic import write_digits

MODEL = ROOT / "config" / "models" / "digits-mobilenet.json"
DIGITS = ["0", "1", "2"]


class PretrainTest(unittest.TestCase):
    folder: Path
    csv: Path
    images: Path  # <digit>/<number>.png

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-pretrain-")))
        cls.csv = cls.folder / "digits.csv.gz"
        write_digits(cls.csv, 10)
        cls.images = cls.folder / "images"
        done = run("images", "--data", cls.csv, "--classes", ",".join(DIGITS), "--out", cls.images)
        assert done.returncode == 0, done.stderr

    def train(self, data: Path, out: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        fixed = ["--model", MODEL, "--epochs", "1", "--threads", "1", "--out", self.folder / out]
        return run("train", "--data", data, *fixed, *words)

    def refused(self, done: subprocess.CompletedProcess[str], code: int, *fragments: str) -> None:
        self.assertEqual(done.returncode, code, done.stderr)
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)
        self.assertNotIn("epoch", done.stderr, "it trained first")

    def tar(self, name: str, rename: dict[str, str], prefix: str = "", more: dict[str, bytes] | None = None) -> Path:
        """An archive of the images with other names for the folders."""
        path = self.folder / name
        with tarfile.open(path, "w") as archive:
            for folder, renamed in rename.items():
                for file in sorted((self.images / folder).iterdir()):
                    archive.add(file, f"{prefix}{renamed}/{file.name}")
            for member, content in (more or {}).items():
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return path

    def test_what_would_be_refused_after_the_training_is_refused_before(self) -> None:
        (self.folder / "packed" / "pack").mkdir(parents=True)
        (self.folder / "packed" / "pack" / "x").touch()
        self.refused(self.train(self.images, "packed"), CANNOT_CREATE, "not empty")
        self.refused(self.train(self.tar("up.tar", {"0": "../c0", "1": "b"}), "b"), BAD_DATA, "../c0/00000.png")
        nowhere = self.folder / "nowhere" / "figures.json"
        self.refused(self.train(self.images, "e", "--json", nowhere), 66, str(nowhere.parent))
        self.refused(self.train(self.images, "f", "--optimizer", "adam", "--momentum", "0.9"), USAGE, "momentum")

    def test_adam_needs_no_word_about_momentum_and_nothing_held_out_is_not_measured(self) -> None:
        figures = self.folder / "figures.json"
        done = self.train(self.images, "g", "--optimizer", "adam", "--val-fraction", "0", "--json", figures)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("held-out accuracy not measured", done.stdout)
        self.assertIn("held-out accuracy not measured", done.stderr)
        self.assertIsNone(json.loads(figures.read_text())["accuracy"])

    def test_a_folder_around_classes_that_are_named_is_entered_and_what_is_passed_over_is_told(self) -> None:
        names = {digit: digit for digit in DIGITS}
        hidden = {"photos/.ipynb_checkpoints/0.png": b"", "photos/@eaDir/0.png": b"", "photos/notes.doc": b""}
        path = self.tar("around.tar", names, "photos/", hidden)
        with tarfile.open(path, "a") as archive:
            link = tarfile.TarInfo("photos/0/link.png")
            link.type, link.linkname = tarfile.SYMTYPE, "00000.png"
            archive.addfile(link)
        done = run("images", "--data", path, "--classes", ",".join(DIGITS), "--out", self.folder / "around")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(f.name for f in (self.folder / "around").iterdir()), DIGITS)
        self.assertIn("all images lie in photos/", done.stderr)
        self.assertIn("1 file that is no sample", done.stderr)
        self.assertIn("1 link", done.stderr)
        self.assertIn("photos/.ipynb_checkpoints, photos/@eaDir", done.stderr)

    def test_folders_in_a_class_folder_are_no_classes(self) -> None:
        sites = {DIGITS[0]: "frog/site1", DIGITS[1]: "frog/site2"}
        done = self.train(self.tar("single.tar", sites), "single")
        self.refused(done, USAGE, "frog/, which is taken for one class", "site1, site2", 'one class alone, "frog"')
        two = self.tar("two.tar", {**sites, DIGITS[2]: "toad"})
        done = run("images", "--data", two, "--out", self.folder / "two")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(f.name for f in (self.folder / "two").iterdir()), ["frog", "toad"])
        self.assertNotIn("taken for one class", done.stderr)

    def left_out(self, done: subprocess.CompletedProcess[str], names: list[str], all: int) -> None:
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "left out" in line]
        for name, line in zip(names[:5], lines):
            self.assertIn(f"left out {name}", line)
        self.assertEqual(lines[-1], f"moil-pretrain: {len(names)} of {all} samples left out: they cannot be read")
        self.assertEqual(len(lines), min(len(names), 5) + 1, "the first few are named")

    def test_a_photo_that_cannot_be_read_keeps_no_command_back(self) -> None:
        data, torn = self.folder / "some", []
        shutil.copytree(self.images, data)
        for digit in DIGITS[:2]:
            for file in sorted((data / digit).iterdir())[:4]:
                file.write_bytes(file.read_bytes()[:50])
                torn.append(str(file))
        count = sum(1 for _ in data.rglob("*.png"))
        self.left_out(self.train(data, "some-model"), torn, count)
        model = self.folder / "some-model" / "model"
        self.left_out(run("images", "--data", data, "--out", self.folder / "some-images"), torn, count)
        self.assertEqual(sum(1 for _ in (self.folder / "some-images").rglob("*.png")), count - len(torn))
        pack = self.folder / "some-pack"
        self.left_out(run("image-pack", "--model", model, "--data", data, "--out", pack), torn, count)
        self.left_out(run("unlabelled-pack", "--model", model, "--data", data, "--out", self.folder / "any-pack"), torn, count)
        samples = json.loads((pack / "pack.json").read_text())["samples"]
        self.assertEqual(sum(samples.values()), count - len(torn))
        shutil.rmtree(data)
        for digit in DIGITS[:2]:
            (data / digit).mkdir(parents=True)
            (data / digit / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        for done in (
            self.train(data, "none"),
            run("images", "--data", data, "--out", self.folder / "none-images"),
            run("image-pack", "--model", model, "--data", data, "--out", self.folder / "none-pack"),
        ):
            self.refused(done, BAD_DATA, "none of the samples can be read", "a.png")

    def test_a_file_of_numbers_that_does_not_fit_keeps_no_training_back(self) -> None:
        data, network = self.folder / "rows", self.folder / "rows.json"
        write_model(network, {"input": [3]}, [dense("classifier", "input", 2)])
        for place, name in enumerate(("ok", "worn")):
            (data / name).mkdir(parents=True)
            for i in range(10):
                (data / name / f"{i}.csv").write_text(f"{place},{i},{i * place}\n")
        bad = {"ok/3.csv": "1,2,x\n3,4,5\n6,7,8\n", "ok/7.csv": "1,2\n", "worn/2.csv": ""}
        for name, text in bad.items():
            (data / name).write_text(text)
        done = run("train", "--data", data, "--model", network, "--epochs", "1", "--out", self.folder / "rows-model")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in bad:
            self.assertIn(f"left out {data / name}: ", done.stderr)
        self.assertIn("it holds 1x2 numbers; the model takes 3", done.stderr)

    def test_a_sound_that_cannot_be_read_keeps_no_training_back(self) -> None:
        data, network = self.folder / "sounds", self.folder / "sounds.json"
        flat = {"name": "flat", "type": "flatten", "inputs": ["input"]}
        write_model(network, {"input": [1, 24, 16]}, [flat, dense("classifier", "flat", 2)])
        draw = random.Random(1)
        for name, hertz in (("hum", 300), ("whistle", 2500)):
            (data / name).mkdir(parents=True)
            for i in range(6):
                (data / name / f"{i}.wav").write_bytes(wav(tone(hertz, 0.5, draw)))
        (data / "hum" / "4.wav").write_bytes(wav([])[:30])
        done = run("train", "--data", data, "--model", network, "--epochs", "1", "--out", self.folder / "sounds-model")
        self.left_out(done, [str(data / "hum" / "4.wav")], 12)

    def test_nothing_is_written_beside_out(self) -> None:
        out = self.folder / "inside" / "out"
        out.parent.mkdir()
        self.refused(run("images", "--data", self.tar("out.tar", {"0": ".."}), "--out", out), BAD_DATA, "'../00000.png'")
        self.assertEqual(list(out.parent.iterdir()), [])

    def test_classes_get_the_models_labels_or_the_option_is_named(self) -> None:
        self.assertEqual(self.train(self.images, "known").returncode, 0)
        model = self.folder / "known" / "model"
        apart = self.folder / "apart"
        apart.mkdir()
        ids = {digit: f"n0{digit}" for digit in DIGITS}
        data = self.tar("apart/ids.tar", ids)

        def pack(out: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
            return run("image-pack", "--model", model, "--data", data, "--out", self.folder / out, *words)

        self.refused(pack("p0"), USAGE, '"n00"', "2 others", "--class-names FILE")
        table = self.folder / "names.list"
        table.write_text("".join(f"{folder}\t{digit}\n" for digit, folder in ids.items()))
        for out, words in (("p1", ["--class-names", table]), ("p2", [])):
            if not words:
                (apart / "classes.tsv").write_text(table.read_text())
            done = pack(out, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads((self.folder / out / "pack.json").read_text())["classes"], DIGITS)
        self.assertIn("classes.tsv", done.stderr, "what told is told")


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [program("moil-pretrain"), *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


if __name__ == "__main__":
    unittest.main()
