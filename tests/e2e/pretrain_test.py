"""moil-pretrain by its command line: what it refuses, it refuses before it trains."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from case import BAD_DATA, CANNOT_CREATE, USAGE
from lib.programs import ROOT, program
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

    def test_a_folder_around_the_classes_is_entered_and_what_is_passed_over_is_told(self) -> None:
        names = {digit: digit for digit in DIGITS}
        hidden = {"photos/.ipynb_checkpoints/0.png": b"", "photos/@eaDir/0.png": b"", "photos/notes.doc": b""}
        path = self.tar("around.tar", names, "photos/", hidden)
        with tarfile.open(path, "a") as archive:
            link = tarfile.TarInfo("photos/0/link.png")
            link.type, link.linkname = tarfile.SYMTYPE, "00000.png"
            archive.addfile(link)
        done = run("images", "--data", path, "--out", self.folder / "around")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(f.name for f in (self.folder / "around").iterdir()), DIGITS)
        self.assertIn("all images lie in photos/", done.stderr)
        self.assertIn("1 file that is no sample", done.stderr)
        self.assertIn("1 link", done.stderr)
        self.assertIn("photos/.ipynb_checkpoints, photos/@eaDir", done.stderr)

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
