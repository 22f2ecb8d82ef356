"""What the first hour's benchmark says of confidence: how calibration's error is counted, what is drawn, who is a stranger
and who was caught."""

from __future__ import annotations

import sys
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.first_hour import calibration, strangers  # noqa: E402
from cases.first_hour.calibration import Kind, calibration_error, drawn, measure_kind  # noqa: E402
from cases.first_hour.strangers import LABEL, Said, deal, figures_of, halves, mean_over, some  # noqa: E402


def files(labels: int, of_each: int) -> dict[str, list[Path]]:
    return {f"label-{i:02}": [Path(f"{i:02}-{j:03}.jpg") for j in range(of_each)] for i in range(labels)}


class Error(unittest.TestCase):
    def test_what_is_as_often_right_as_it_is_said_has_none(self) -> None:
        self.assertAlmostEqual(calibration_error([(0.75, i % 4 != 0) for i in range(100)]), 0.0)

    def test_bins_do_not_make_up_for_each_other(self) -> None:
        loud, quiet = [(0.95, False)] * 5 + [(0.95, True)] * 5, [(0.55, True)] * 10
        self.assertAlmostEqual(calibration_error(loud), 0.45)
        self.assertAlmostEqual(calibration_error(loud + quiet), 0.45)

    def test_all_that_is_certain_has_a_bin(self) -> None:
        self.assertAlmostEqual(calibration_error([(1.0, True), (1.0, False)]), 0.5)


class Drawn(unittest.TestCase):
    def test_nothing_is_drawn_twice(self) -> None:
        found = drawn(files(61, 48), seed=1)
        parts = [[file for members in found.train.values() for file in members], [file for _, file in found.held_out], [file for _, file in found.judges]]
        self.assertEqual([len(part) for part in parts], [61 * calibration.SHOTS, 1000, calibration.JUDGES])
        self.assertEqual(len(set(sum(parts, []))), sum(map(len, parts)))
        self.assertEqual(found, drawn(files(61, 48), seed=1))

    def test_each_number_holds_out_what_the_smaller_one_did(self) -> None:
        held_out: list[int] = []

        class Ctl:
            def __init__(self, socket: Path) -> None:
                self.val = 0

            def add_labels(self, samples: dict[str, list[Path]], split: str) -> None:
                self.val += sum(map(len, samples.values())) if split == "val" else 0

            def submit(self, job: dict[str, Any]) -> int:
                held_out.append(self.val)
                return 1

            def watch(self, job: int) -> dict[str, Any]:
                return {"result": {"details": {"calibration": {"held_out": self.val, "temperature": 1.0, "not_sure_below": 0.5}}}}

            def import_model(self, model: Path, name: str) -> None:
                pass

            def json(self, *words: str | Path) -> Any:
                return {"predictions": [{"top": [{"label": "label-00", "probability": 0.5}]} for word in words if isinstance(word, Path)]}

        with patch.object(calibration, "Moilctl", Ctl), patch.object(calibration, "Daemon"), patch.object(calibration, "say"), tempfile.TemporaryDirectory() as folder:
            kind = Kind("photos", Path("model"), Path("pack"), files(61, 48), {"learn": {}, "night": {}})
            told = list(measure_kind(kind, Path(folder) / "here", 1))
        self.assertEqual(held_out, [30, 30, 100, 100, 1000, 1000])
        self.assertEqual([(one["by"], one["held_out"]) for one in told[-2:]], [("learn", 1000), ("night", 1000)])


class Strangers(unittest.TestCase):
    CLASSES = [*strangers.KNOWN_TO_IMAGENET, *(f"grocery-{i:02}" for i in range(51))]

    def test_classes_that_judge_are_none_that_settings_were_chosen_on(self) -> None:
        chosen_on, judging = halves(self.CLASSES)
        self.assertFalse(set(chosen_on) & set(judging))
        self.assertFalse((set(chosen_on) | set(judging)) & strangers.KNOWN_TO_IMAGENET)
        self.assertEqual(len(chosen_on) + len(judging), 51)

    def test_a_stranger_is_neither_taught_nor_shown(self) -> None:
        dealt = deal(halves(self.CLASSES)[1], seed=3)
        parts = [dealt.taught, dealt.shown, dealt.strangers]
        self.assertEqual(len(set(sum(parts, []))), sum(map(len, parts)))
        self.assertGreaterEqual(len(dealt.strangers), 10)

    def test_photos_of_a_class_are_learned_from_or_held_out(self) -> None:
        (first,) = some(files(1, 30), ["label-00"], 0, 10, 1).values()
        (second,) = some(files(1, 30), ["label-00"], 10, 13, 1).values()
        self.assertEqual((len(first), len(second), set(first) & set(second)), (10, 3, set()))

    def test_caught_is_who_gets_no_name(self) -> None:
        known = [("cat", Said("cat", 0.9, False)), ("cat", Said("cat", 0.4, True)), ("dog", Said("cat", 0.9, False)), ("dog", Said(LABEL, 0.9, False))]
        told = figures_of(known, [Said(LABEL, 0.9, False), Said("cat", 0.3, True), Said("cat", 0.9, False), Said("dog", 0.6, False)])
        self.assertEqual((told["right"], told["right_and_sure"]), (0.5, 0.25))
        self.assertEqual((told["caught"], told["said_something_else"], told["answered_at_80"]), (0.5, 0.25, 0.25))

    def test_the_goal_is_reached_by_both_together(self) -> None:
        def draw(before: float, after: float, caught: float) -> dict[str, Any]:
            rest = {"right": 1.0, "said_something_else": 0.0, "answered_at_80": 0.0, "global_after": 0.7}
            return {"without": {"night": {**rest, "right_and_sure": before, "caught": 0.1}}, "with": {"night": {**rest, "right_and_sure": after, "caught": caught}}}

        def reached(draws: Sequence[dict[str, Any]]) -> bool:
            return bool(mean_over(draws, "night")["reached"])

        self.assertTrue(reached([draw(0.90, 0.88, 0.8), draw(0.90, 0.91, 0.6)]))
        self.assertFalse(reached([draw(0.90, 0.88, 0.9)]))
        self.assertFalse(reached([draw(0.90, 0.90, 0.69)]))


if __name__ == "__main__":
    unittest.main()
