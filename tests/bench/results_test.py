"""What nights come to: a mean says if models are not in service, and every figure what judged it."""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import unittest
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from cases.auto.learn import learn_once  # noqa: E402
from cases.auto.table import half_known_text  # noqa: E402
from cases.digits.tune import _line  # noqa: E402
from cases.elastic import table as elastic_table  # noqa: E402
from cases.elastic.cases import FULL, GROCERY  # noqa: E402
from cases.elastic.jobs import Trial, blank  # noqa: E402
from cases.elastic.place import Place  # noqa: E402
from cases.sounds import esc10, microphone, speakers  # noqa: E402
from cases.sounds import table as sounds_table  # noqa: E402
from cases.sounds.esc10 import AUTO, _document, basis_of  # noqa: E402
from lib import cifar, digits  # noqa: E402
from lib.photos import rows  # noqa: E402
from lib.photos.rows import DEEP_NIGHT  # noqa: E402
from lib.photos.world import World  # noqa: E402
from lib.results import JobFailed, Result, Unset, mean_of, result_of  # noqa: E402
from lib.settings import Basis  # noqa: E402
from lib.sounds.data import Clips  # noqa: E402
from stress.years.__main__ import chart  # noqa: E402
from stress.years.years import Night, Years  # noqa: E402

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

    def test_of_folds_is_of_what_is_in_service(self) -> None:
        runs = [result(alpha=1.0), result(promoted=False, alpha=1.0)]
        document = _document(AUTO, runs)
        self.assertEqual((document["promoted"], document["kept_back"], document["folds"]), (False, 1, 2))
        self.assertAlmostEqual(document["local_in_service"], (0.7 + 0.1) / 2)
        self.assertNotIn("local_after", document)
        told = sounds_table.runs_text([document], None, {"file": 1.0, "samples": 2.0})
        self.assertIn(MARK, told)
        self.assertIn("10.0% → 40.0%", told)
        self.assertNotIn("kept back", sounds_table.runs_text([_document(AUTO, runs[:1])], None, {"file": 1.0, "samples": 2.0}))
        self.assertNotEqual(basis_of(AUTO, 1).judged_by, basis_of(AUTO, 2).judged_by)

    def test_of_another_microphone_is_of_what_is_in_service(self) -> None:
        """B is known at 10% before a night and at 70% by the new network, A at 90% and 80%."""
        nights = iter([result(), result(promoted=False)])
        rotation = lambda *_: {**microphone._figures(next(nights)), "rotation": 0}  # noqa: E731
        with patch.object(microphone, "_rotation", rotation), patch.object(microphone, "extract", lambda *_: {}), patch.object(microphone, "FOLDS", 2):
            with tempfile.TemporaryDirectory() as folder:
                found = microphone.microphone(Path(folder), quick=False)
        self.assertAlmostEqual(found["b_in_service"], (0.7 + 0.1) / 2)
        self.assertAlmostEqual(found["a_in_service"], (0.8 + 0.9) / 2)
        lines = {line.split("|")[1].strip(): line for line in sounds_table.microphone_text(found).splitlines() if line}
        self.assertIn("40.0%", lines["B by what is in service after a night"])
        self.assertIn("85.0%", lines["A by it"])

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
        """Other means are of answers, signals, sizes, importances, profiles, neighbours in a chart, peers, regrets, draws of strangers and settings' scores."""
        others = {"cases/sounds/words.py", "cases/sounds/esc10.py", "cases/elastic/studies.py", "cases/elastic/summary.py", "lib/results.py"} | {"cases/sounds/peers.py", "cases/auto/regret.py", "cases/first_hour/strangers.py", "lib/nested.py", "cases/voices/birds.py", "cases/voices/words.py"}
        found = set()
        for file in BENCH.glob("*/**/*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ImportFrom) and node.module == "statistics" and {"mean", "fmean"} & {name.name for name in node.names}:
                    found.add(str(file.relative_to(BENCH)))
        self.assertEqual(found, others)


class FakeCtl:
    """A daemon whose every job ends in the same way."""

    def __init__(self, state: str = "succeeded", **details: Any):
        ended = job(state)
        ended["result"]["details"] = {"stages": {"train": 1.0}, "imprinted": {}, "calibration": None, "train_seconds": 2.0, "curve": [], **details}
        self.job = ended
        self.submitted: list[dict[str, Any]] = []

    def submit(self, spec: dict[str, Any]) -> int:
        self.submitted.append(spec)
        return len(self.submitted)

    def watch(self, number: int) -> dict[str, Any]:
        return self.job

    def text(self, *words: Any) -> str:
        return json.dumps({"job": self.job})

    def json(self, *words: Any) -> Any:
        return {"models": [{"active": True, "version": 1}]}


def place_of(ctl: FakeCtl) -> World:
    return World(ctl, Path("/pack"), ["a class"])  # type: ignore[arg-type]


class Rooms(unittest.TestCase):
    """What each makes of a job's end."""

    def test_photos(self) -> None:
        ctl = FakeCtl()
        found = place_of(ctl).run(DEEP_NIGHT)
        self.assertEqual((len(ctl.submitted), found.seconds, found.global_before), (2, 4.0, 0.9))
        self.assertEqual((found.promoted, found.judged_by, found.tuned_on), (True, rows.BASIS.judged_by, rows.BASIS.tuned_on))

    def test_what_is_learned_at_once(self) -> None:
        found = learn_once(place_of(FakeCtl("rejected-by-guard")))
        self.assertEqual((found["state"], found["promoted"], found["local_after"]), ("rejected-by-guard", False, 0.7))

    def test_elastic(self) -> None:
        memory = {"predicted_bytes": 4, "measured_bytes": 3, "training_peak_bytes": 2, "training_plan_bytes": 1}
        found = Place(GROCERY, FakeCtl(memory=memory), Path("/pack"), "m", Path("/m")).run(FULL, 1)  # type: ignore[arg-type]
        self.assertEqual((found.promoted, found.accuracy, found.seconds, found.judged_by), (True, 0.7, 2.0, "grocery61-val"))

    def test_sounds(self) -> None:
        kept = FakeCtl("rejected-by-guard", auto={"chosen": {"layers": 3}})
        with patch.object(speakers, "device", lambda *_: nullcontext(kept)):
            told = speakers._night(Path("/speaker"), speakers.NIGHT, Clips({}, {}))
        self.assertEqual((told["promoted"], told["chosen"], told["seconds"]), (False, {"layers": 3}, 2.0))
        figures = microphone._figures(result(promoted=False))
        self.assertEqual((figures["b_after"], figures["b_in_service"], figures["a_in_service"]), (0.7, 0.1, 0.9))
        with patch.object(esc10, "device", lambda *_: nullcontext(kept)), patch.object(esc10, "top1", lambda *_: 0.5):
            run = esc10._run(Path("/"), Path("/"), esc10.AUTO, None, Clips({}, {}), Path("/pack"), esc10.basis_of(esc10.AUTO, 2))
        self.assertEqual((run.promoted, run.local_after, run.local_in_service, run.judged_by), (False, None, 0.5, "fold 2"))

    def test_years(self) -> None:
        night = Night(3, "desk", "rejected-by-guard", "", 7, result(promoted=False), 2.0)
        told = night.to_json()
        self.assertEqual((told["night"], told["local_accuracy"], told["promoted"]), (3, 0.7, False))
        self.assertEqual(Night(3, "desk", "nothing new", "", None, None, 0).to_json()["global_accuracy"], None)
        years = Years(nights=[night])
        self.assertEqual([line.points for line in chart(years).series], [[(3.0, 10.0)], [(3.0, 90.0)]])


if __name__ == "__main__":
    unittest.main()
