"""The first hour: which samples a newcomer shows, which judge, and how the figures are told."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.first_hour.hour import quality, user_of_folder, user_of_table  # noqa: E402
from cases.first_hour.table import hour_text  # noqa: E402


class FirstHourTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="moil-first-hour-")))
        for name, count in {"cat": 10, "dog": 3, "one": 1}.items():
            (self.folder / "all" / name).mkdir(parents=True)
            for i in range(count):
                (self.folder / "all" / name / f"{i}.jpg").write_text(f"{name} {i}")

    def test_what_judges_is_never_shown(self) -> None:
        user = user_of_folder("photos", self.folder / "all", self.folder / "shown")
        shown = {file.read_text() for file in user.shown.rglob("*.jpg")}
        held_out = {name: {file.read_text() for file in members} for name, members in user.held_out.items()}
        self.assertEqual({name: len(of) for name, of in held_out.items()}, {"cat": 2, "dog": 1, "one": 0})
        self.assertEqual(shown & set.union(*held_out.values()), set())
        self.assertEqual((len(shown), user.samples), (11, 11))
        again = user_of_folder("photos", self.folder / "all", self.folder / "again")
        self.assertEqual(again.held_out, user.held_out, "drawn by a seed")

    def test_what_cannot_be_read_is_not_right(self) -> None:
        class Ctl:
            def json(self, *_: object) -> dict[str, list[dict[str, object]]]:
                return {"predictions": [{"top": [{"label": "cat"}]}, {"top": [{"label": "dog"}]}, {"error": {}}]}

        self.assertEqual(quality(Ctl(), {"cat": [Path("1"), Path("2"), Path("3")]}), 1 / 3)  # type: ignore[arg-type]

    def table_of(self, name: str, labels: list[str]) -> Path:
        lines = ["size,state", *(f"{i},{label}" for i, label in enumerate(labels))]
        (file := self.folder / name).write_text("\n".join(lines) + "\n")
        return file

    def test_records_that_judge_are_files_without_their_label(self) -> None:
        user = user_of_table(self.table_of("t.csv", ["on", "off"] * 10), self.folder / "shown")
        self.assertEqual({label: len(files) for label, files in user.held_out.items()}, {"on": 2, "off": 2})
        held_out = {file.read_text() for files in user.held_out.values() for file in files}
        self.assertEqual(len(held_out), 4)
        shown = user.shown.read_text().splitlines()
        self.assertEqual((shown[0], len(shown) - 1, user.samples), ("size,state", 16, 16))
        for record in held_out:
            names, numbers = record.splitlines()
            self.assertEqual(names, "size")
            self.assertNotIn(numbers, [line.split(",")[0] for line in shown])

    def test_amounts_are_held_out_over_all_and_judged_as_numbers(self) -> None:
        user = user_of_table(self.table_of("t.csv", [f"{i}.5" for i in range(20)]), self.folder / "shown")
        self.assertEqual((len(user.held_out), user.samples), (4, 16))
        truth = [float(label) for label in user.held_out]

        class Ctl:
            def __init__(self, numbers: list[float]) -> None:
                self.numbers = iter(numbers)

            def json(self, *words: object) -> dict[str, list[dict[str, object]]]:
                return {"predictions": [{"values": [{"name": "state", "value": next(self.numbers)}]} for _ in words[3:]]}

        self.assertEqual(quality(Ctl(truth), user.held_out), 1)  # type: ignore[arg-type]
        mean = sum(truth) / len(truth)
        self.assertAlmostEqual(quality(Ctl([mean] * 4), user.held_out), 0)  # type: ignore[arg-type]

    def test_the_table(self) -> None:
        case = {"kind": "photos", "samples": 144, "labels": 10, "typed": 1, "commands": 4, "seconds_to_predict": 12.34, "local_after_learn": 0.5, "local_after_night": None}
        text = hour_text([{**case, "global_before": 0.9, "global_after": 0.89, "metric": "agreement"}])
        self.assertIn("| 12.3 ", text)
        self.assertIn("90.0% → 89.0%", text)


if __name__ == "__main__":
    unittest.main()
