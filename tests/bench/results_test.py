"""What nights come to: a mean says where models are not in service, and every figure what judged it."""

from __future__ import annotations

import ast
import sys
import unittest
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from cases.auto.table import half_known_text  # noqa: E402
from cases.digits.tune import _line  # noqa: E402
from cases.elastic import table as elastic_table  # noqa: E402
from cases.elastic.cases import FULL, GROCERY  # noqa: E402
from cases.elastic.jobs import Trial, blank  # noqa: E402
from cases.sounds import table as sounds_table  # noqa: E402
from cases.sounds.esc10 import AUTO, _document, basis_of  # noqa: E402
from lib import cifar, digits  # noqa: E402
from lib.results import JobFailed, Result, Unset, mean_of, result_of  # noqa: E402
from lib.settings import Basis  # noqa: E402

BASIS = Basis("a fold", "other folds")
MARK = "(1 of 2 kept back)"


def job(state: str) -> dict[str, Any]:
    accuracies = {"global_before": 0.9, "global_after": 0.8, "local_before": 0.1, "local_after": 0.7}
    return {"state": state, "message": "why", "result": {**accuracies, "epochs": 3, "seconds": 2.0}}


def result(promoted: bool = True, **changes: Any) -> Result:
    ended = result_of(Unset("night", "a night"), job("succeeded" if promoted else "rejected-by-guard"), BASIS)
    return replace(ended, **changes)


class Results(unittest.TestCase):
    def test_a_result_says_what_judged_it_and_is_not_changed(self) -> None:
        found = result()
        self.assertEqual((found.promoted, found.judged_by, found.tuned_on), (True, "a fold", "other folds"))
        self.assertLessEqual({"promoted", "judged_by", "tuned_on"}, found.to_json().keys())
        self.assertEqual(list(found.told("seconds")), ["seconds", "promoted", "judged_by", "tuned_on"])
        with self.assertRaises(FrozenInstanceError):
            found.promoted = False  # type: ignore[misc]

    def test_what_the_guard_kept_back_is_not_in_service(self) -> None:
        self.assertEqual((result().global_in_service, result().local_in_service), (0.8, 0.7))
        kept = result(promoted=False)
        self.assertEqual((kept.promoted, kept.global_in_service, kept.local_in_service), (False, 0.9, 0.1))

    def test_what_came_to_no_result_is_refused(self) -> None:
        for state in ("failed", "cancelled"):
            with self.assertRaisesRegex(JobFailed, f"night: the job is {state}: why"):
                result_of(Unset("night", "a night"), job(state), BASIS)

    def test_settings_say_what_they_were_chosen_with(self) -> None:
        for settings in (digits.SETTINGS, cifar.SETTINGS, digits.quick(), cifar.quick()):
            self.assertTrue(settings.basis.judged_by)
            self.assertTrue(settings.basis.tuned_on)


class Means(unittest.TestCase):
    def test_a_mean_says_how_many_models_are_not_in_service(self) -> None:
        self.assertEqual(mean_of([True, True], [0.5, 0.7]).text(), "60.0%")
        mean = mean_of([True, False], [0.5, 0.7])
        self.assertAlmostEqual(mean.value, 0.6)
        self.assertEqual((mean.text(), mean.kept_back), (f"60.0% {MARK}", 1))

    def test_nights_without_the_figure_are_left_out(self) -> None:
        self.assertEqual(mean_of([False, True], [None, 0.5]).text(), "50.0%")
        with self.assertRaises(ValueError):
            mean_of([True], [None])

    def test_of_folds(self) -> None:
        runs = [result(alpha=1.0), result(promoted=False, alpha=1.0)]
        document = _document(AUTO, runs)
        self.assertEqual((document["promoted"], document["kept_back"], document["folds"]), (False, 1, 2))
        self.assertIn(MARK, sounds_table.runs_text([document], {"file": 1.0, "samples": 2.0}))
        self.assertNotIn("kept back", sounds_table.runs_text([_document(AUTO, runs[:1])], {"file": 1.0, "samples": 2.0}))
        self.assertNotEqual(basis_of(AUTO, 1).judged_by, basis_of(AUTO, 2).judged_by)

    def test_of_another_microphone(self) -> None:
        figures = {"a_on_a": 0.8, "a_on_b": 0.3, "b_after": 0.6, "a_after": 0.8, "b_in_service": 0.4, "a_in_service": 0.8}
        rotations = [{**figures, "rotation": i, "promoted": i == 0, "chosen": None} for i in range(2)]
        found = {**figures, "paper": {}, "kept_back": 1, "rotations": rotations}
        lines = {line.split("|")[1].strip(): line for line in sounds_table.microphone_text(found).splitlines() if line}
        self.assertIn(f"60.0% {MARK}", lines["B after a night"])
        self.assertIn(f"80.0% {MARK}", lines["A after it"])
        self.assertIn("40.0%", lines["B by what is in service"])
        self.assertNotIn("kept back", lines["B by what is in service"] + lines["A on B"])

    def test_of_speakers_and_words(self) -> None:
        told = {"local_before": 0.3, "all_data": 0.7, "chosen": {"layers": 1}}
        speakers = [{"speaker": name, **result(good).told("global_before", "global_after", "local_after", "seconds"), **told} for name, good in (("a", True), ("b", False))]
        self.assertIn(f"10.0 points (mean {MARK})", sounds_table.speakers_text(speakers))
        words = [{"word": "a", "alone": 1.0, "promoted": True}, {"word": "b", "alone": 2.0, "promoted": False}]
        self.assertIn(f"mean {MARK}", sounds_table.words_text({"words": words, "mean": {"alone": 1.5}}))

    def test_of_what_is_half_known(self) -> None:
        shares = {"local_mean": 0.9, "local_worst": 0.8, "lost_mean": 0.0, "lost_worst": 0.1}
        found = {"dataset": "groceries", "draws": [{}, {}], "reached": 2, "kept_back": 1, **shares}
        self.assertEqual(half_known_text([found]).count(MARK), 2)

    def test_of_seeds(self) -> None:
        def trial(seed: int, promoted: bool) -> Trial:
            return replace(blank(GROCERY, FULL, seed), seconds=1.0, accuracy=0.5, global_after=0.4, promoted=promoted)

        self.assertEqual(elastic_table.case_text("", [trial(1, True), trial(2, False)]).count(MARK), 2)
        self.assertNotIn("kept back", elastic_table.case_text("", [trial(1, True), trial(2, True)]))

    def test_of_splits(self) -> None:
        self.assertEqual(" ".join(_line((1,), [result(), result(promoted=False)])).count(MARK), 2)

    def test_nobody_else_makes_means_of_nights(self) -> None:
        """Other means are of signals, sizes, importances, profiles and neighbours in a chart."""
        others = {"cases/sounds/words.py", "cases/sounds/esc10.py", "cases/elastic/studies.py", "cases/elastic/summary.py", "lib/results.py"}
        found = set()
        for file in BENCH.glob("*/**/*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module == "statistics" and {"mean", "fmean"} & {name.name for name in node.names}:
                    found.add(str(file.relative_to(BENCH)))
        self.assertEqual(found, others)


if __name__ == "__main__":
    unittest.main()
