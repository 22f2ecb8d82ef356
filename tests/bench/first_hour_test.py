"""The first hour: which samples a newcomer shows, which judge, and how the figures are told."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.first_hour.__main__ import hour_text  # noqa: E402
from cases.first_hour.hour import accuracy, split_of  # noqa: E402


class FirstHourTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="moil-first-hour-")))
        for name, count in {"cat": 10, "dog": 3, "one": 1}.items():
            (self.folder / "all" / name).mkdir(parents=True)
            for i in range(count):
                (self.folder / "all" / name / f"{i}.jpg").write_text(f"{name} {i}")

    def test_what_judges_is_never_shown(self) -> None:
        user = split_of("photos", self.folder / "all", self.folder / "shown")
        shown = {file.read_text() for file in user.shown.rglob("*.jpg")}
        held_out = {name: {file.read_text() for file in members} for name, members in user.held_out.items()}
        self.assertEqual({name: len(of) for name, of in held_out.items()}, {"cat": 2, "dog": 1, "one": 0})
        self.assertEqual(shown & set.union(*held_out.values()), set())
        self.assertEqual(len(shown), 11)
        again = split_of("photos", self.folder / "all", self.folder / "again")
        self.assertEqual(again.held_out, user.held_out, "drawn by a seed")

    def test_what_cannot_be_read_is_not_right(self) -> None:
        class Ctl:
            def json(self, *_: object) -> dict[str, list[dict[str, object]]]:
                return {"predictions": [{"top": [{"label": "cat"}]}, {"top": [{"label": "dog"}]}, {"error": {}}]}

        self.assertEqual(accuracy(Ctl(), {"cat": [Path("1"), Path("2"), Path("3")]}), 1 / 3)  # type: ignore[arg-type]

    def test_the_table(self) -> None:
        case = {"kind": "photos", "samples": 144, "labels": 10, "seconds_to_predict": 12.34, "local_after_learn": 0.5, "local_after_night": None}
        text = hour_text({**case, "global_before": 0.9, "global_after": 0.89, "metric": "agreement"})
        self.assertIn("| 12.3 ", text)
        self.assertIn("90.0% → 89.0%", text)


if __name__ == "__main__":
    unittest.main()
