"""Nights without settings beside nights by hand: what several seeds come to, what a better choice would have brought, and
what a case asks of its devices."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from cases.auto import __main__ as program  # noqa: E402
from cases.auto import case as auto_case  # noqa: E402
from cases.auto import table  # noqa: E402
from cases.auto.case import NO_SETTINGS, Base, Case, Device  # noqa: E402
from cases.auto.compare import run_case  # noqa: E402
from cases.auto.nights30 import figures_of, measure_nights, portions  # noqa: E402
from cases.auto.regret import Outcome, outcome_of, over_cases, regret_of  # noqa: E402
from cases.auto.seeds import of_seeds  # noqa: E402
from cases.auto.tried import by_hand, tried_and_chosen, words  # noqa: E402
from lib.programs import ProgramError  # noqa: E402
from lib.results import Unset, result_of  # noqa: E402
from lib.samples import Files  # noqa: E402
from lib.settings import Basis  # noqa: E402
from tables import text_of  # noqa: E402

BASIS = Basis("a fold", "other folds")
SHALLOW = {"layers": 1, "learning_rate": 0.03, "views": 1}
DEEP = {"layers": 14, "learning_rate": 0.02, "views": 4}


def night(**changes: Any) -> dict[str, Any]:
    figures = {"metric": "accuracy", "global_before": 0.9, "global_after": 0.9, "local_before": 0.1, "local_after": 0.8, "seconds": 10.0}
    return {**figures, "promoted": True, "stages": {"cache": 4.0}, "chosen": None, "trials": [], "why": "", **changes}


def twice(**changes: Any) -> dict[str, Any]:
    return night(**changes) | {"second": night(seconds=changes.get("seconds", 10.0) / 10)}


class Regret(unittest.TestCase):
    def regret(self, others: list[Outcome], *, local: float = 0.80, seconds: float = 100.0) -> dict[str, Any]:
        return regret_of(Outcome("auto", 0.0, local, seconds), others)

    def test_points_are_to_the_best_that_keeps_what_was_known(self) -> None:
        found = self.regret([Outcome("forgetful", 0.006, 0.99, 1.0), Outcome("good", 0.005, 0.85, 50.0), Outcome("poor", 0.0, 0.70, 1.0)])
        self.assertAlmostEqual(found["regret_points"], 5.0)
        self.assertEqual((found["best"], found["cheapest"], found["regret_seconds"]), ("good", "good", 50.0))

    def test_half_a_point_is_half_a_point(self) -> None:
        """0.74 - 0.735 is a little more than 0.005, and so is 0.9 - 0.895."""
        found = self.regret([outcome_of("a", night(global_before=0.74, global_after=0.735, local_after=0.9))])
        self.assertEqual(found["best"], "a")
        found = self.regret([Outcome("best", 0.0, 0.9, 30.0), Outcome("alike", 0.0, 0.895, 20.0), Outcome("worse", 0.0, 0.894, 1.0)])
        self.assertEqual((found["best"], found["cheapest"], found["regret_seconds"]), ("best", "alike", 80.0))

    def test_points_are_never_below_nothing(self) -> None:
        self.assertEqual(self.regret([Outcome("poor", 0.0, 0.7, 150.0)])["regret_points"], 0.0)
        self.assertEqual(self.regret([Outcome("poor", 0.0, 0.7, 150.0)])["regret_seconds"], -50.0, "it was the quicker one")

    def test_where_everything_else_forgets_there_is_nothing_to_regret(self) -> None:
        found = self.regret([Outcome("forgetful", 0.02, 0.99, 1.0)])
        self.assertEqual((found["regret_points"], found["regret_seconds"], found["best"]), (0.0, 0.0, "auto"))

    def test_a_night_that_was_kept_back_brought_nothing(self) -> None:
        self.assertEqual(outcome_of("a", night(promoted=False, global_after=0.5, local_after=None)), Outcome("a", 0.0, 0.1, 10.0))

    def test_the_mean_and_the_worst_of_all_cases(self) -> None:
        cases = [{"dataset": name, "tried": [], "regret_points": points, "regret_seconds": seconds} for name, points, seconds in (("a", 0.0, 30.0), ("b", 3.0, -6.0))]
        found = over_cases([*cases, {"dataset": "quick", "tried": None, "regret_points": None, "regret_seconds": None}])
        assert found
        self.assertEqual(found["points"], {"mean": 1.5, "worst": 3.0, "worst_of": "b"})
        self.assertEqual(found["seconds"], {"mean": 12.0, "worst": 30.0, "worst_of": "a"})
        self.assertIsNone(over_cases([]))


class Seeds(unittest.TestCase):
    def test_medians_with_the_least_and_the_most(self) -> None:
        found = of_seeds([twice(local_after=local, seconds=seconds) for local, seconds in ((0.9, 10.0), (0.5, 40.0), (0.8, 20.0))])
        self.assertEqual((found["local_after"], found["least"]["local_after"], found["most"]["local_after"]), (0.8, 0.5, 0.9))
        self.assertEqual((found["seconds"], found["least"]["seconds"], found["most"]["seconds"]), (20.0, 10.0, 40.0))
        self.assertEqual((found["second"]["seconds"], found["second"]["most"]["seconds"]), (2.0, 4.0))
        self.assertEqual([run["seconds"] for run in found["runs"]], [10.0, 40.0, 20.0])

    def test_it_says_how_many_were_kept_back_and_leaves_out_what_is_not_known(self) -> None:
        found = of_seeds([twice(), twice(promoted=False, local_after=None)])
        self.assertEqual((found["promoted"], found["kept_back"], found["local_after"]), (False, 1, 0.8))
        self.assertIsNone(of_seeds([twice(local_after=None)])["local_after"])


class Tried(unittest.TestCase):
    def test_what_was_chosen_without_a_trial_is_run_as_well(self) -> None:
        trials = [{"settings": SHALLOW, "seconds": 0.5, "local": 0.8, "global": 0.9, "samples": 5, "held": True, "why": ""}]
        found = tried_and_chosen(night(trials=trials, chosen={**DEEP, "epochs": 8}))
        self.assertEqual([(one["settings"], one["chosen"], one["trial"]) for one in found], [(SHALLOW, False, {"seconds": 0.5, "local": 0.8, "global": 0.9}), (DEEP, True, None)])
        found = tried_and_chosen(night(trials=trials, chosen={**SHALLOW, "epochs": 20}))
        self.assertEqual([one["chosen"] for one in found], [True])

    def test_a_job_sets_what_was_tried_and_leaves_the_rest_open(self) -> None:
        job = by_hand(DEEP)
        self.assertEqual((job["freeze"], job["train"], job["augment"]), ({"trainable_layers": 14}, {"optimizer": {"learning_rate": 0.02}}, {"views": 4}))
        self.assertEqual(job.keys(), {"name", "freeze", "train", "augment", "guard"})
        self.assertEqual(words(SHALLOW | {"layers": "all"}), "all layers, rate 0.03")


class FakeCtl:
    """A daemon on which a night is as good as `figures` says of its job; what it was told is kept."""

    def __init__(self, figures: Any) -> None:
        self.figures = figures
        self.told: list[tuple[Any, ...]] = []
        self.jobs: list[dict[str, Any]] = []

    def import_model(self, model: Path, name: str) -> None:
        self.told.append(("import", model, name))

    def add_labels(self, files: Files, split: str) -> None:
        self.told.append((split, {name: len(members) for name, members in files.items()}))

    def json(self, *words: Any) -> None:
        self.told.append(words)

    def submit(self, spec: dict[str, Any]) -> int:
        self.jobs.append(spec)
        return len(self.jobs)

    def watch(self, number: int) -> dict[str, Any]:
        accuracies = {"global_before": 0.9, "global_after": 0.9, "local_before": 0.1, "local_after": 0.8, "epochs": 1, "seconds": 10.0}
        told = self.figures(self.jobs[-1])
        details = {"stages": {"cache": 4.0}, **told.pop("details", {})}
        return {"state": told.pop("state", "succeeded"), "message": "", "result": {**accuracies, **told, "details": details}}


def files(**counts: int) -> Files:
    return {name: [Path(name) / str(i) for i in range(count)] for name, count in counts.items()}


HAND = {"lf1": [{"name": "lf1", "settings": "defaults", "model": "other", "global": {"pack": "/other", "alpha": 0.5}, "seed": 99}]}


def made_up(**changes: Any) -> Case:
    parts: dict[str, Any] = {"now": files(a=3, b=2), "later": files(a=1), "held_out": files(a=2, b=2), "hand": HAND, "basis": BASIS}
    return Case("made up", lambda seed: Base(Path(f"/model-{seed}"), Path(f"/pack-{seed}")), **{**parts, **changes})


class Devices(unittest.TestCase):
    """Every run is of a device of its own."""

    def setUp(self) -> None:
        self.figures: Any = lambda job: {}
        self.devices: list[FakeCtl] = []

        @contextmanager
        def device(case: Case, folder: Path, seed: int) -> Iterator[Device]:
            self.devices.append(FakeCtl(lambda job: self.figures(job)))
            yield Device(case, self.devices[-1], case.base(seed).pack, seed)  # type: ignore[arg-type]

        for module in (auto_case, sys.modules["cases.auto.nights30"]):
            patcher = patch.object(module, "device", device)
            patcher.start()
            self.addCleanup(patcher.stop)

    def test_seeds_take_turns_and_each_has_its_base(self) -> None:
        found = run_case(made_up(), Path("/"), [1, 2], tries=False)
        first = [(device.jobs[0]["name"], device.jobs[0]["seed"], device.jobs[0]["global"]) for device in self.devices]
        mixed = {"alpha": 0.5}
        self.assertEqual(first, [("no settings", 1, {"pack": "/pack-1"}), ("lf1", 1, {"pack": "/pack-1", **mixed}), ("no settings", 2, {"pack": "/pack-2"}), ("lf1", 2, {"pack": "/pack-2", **mixed})])
        self.assertEqual({job["model"] for device in self.devices for job in device.jobs}, {"network"})
        self.assertEqual([len(device.jobs) for device in self.devices], [2] * 4)
        self.assertEqual(self.devices[0].told, [("train", {"a": 3, "b": 2}), ("val", {"a": 2, "b": 2}), ("train", {"a": 1})])
        self.assertEqual((len(found["auto"]["runs"]), found["tried"], found["regret_points"]), (2, None, None))
        self.assertEqual((found["hand"]["lf1"]["tuned_on"], found["auto"]["judged_by"]), (BASIS.tuned_on, "a fold"))
        self.assertNotEqual(found["auto"]["tuned_on"], BASIS.tuned_on)
        json.dumps(found)

    def test_what_was_tried_is_run_by_hand_once_and_tells_the_regret(self) -> None:
        trials = [{"settings": one, "seconds": 1.0, "local": 0.7, "global": 0.9} for one in (SHALLOW, DEEP)]
        auto = {"trials": trials, "chosen": {**SHALLOW, "epochs": 3}, "why": "it won"}

        def figures(job: dict[str, Any]) -> dict[str, Any]:
            if job["name"] == NO_SETTINGS["name"]:
                return {"details": {"auto": auto}, "seconds": 30.0}
            return {"local_after": 0.9, "seconds": 25.0} if job["name"].startswith("LF(14)") else {}

        self.figures = figures
        found = run_case(made_up(), Path("/"), [1, 2], tries=True)
        self.assertEqual([device.jobs[0]["name"] for device in self.devices[4:]], ["LF(1), rate 0.03", "LF(14), rate 0.02, 4 views"])
        self.assertEqual({device.jobs[0]["seed"] for device in self.devices[4:]}, {1})
        self.assertEqual([one["chosen"] for one in found["tried"]], [True, False])
        self.assertAlmostEqual(found["regret_points"], 10.0)
        self.assertEqual((found["regret_seconds"], found["best"]), (5.0, "LF(14), rate 0.02, 4 views"))

    def test_what_cannot_be_had_is_no_better_choice(self) -> None:
        def figures(job: dict[str, Any]) -> dict[str, Any]:
            if job["name"].startswith("LF"):
                raise ProgramError(["moilctl"], 1, "too much memory")
            return {"details": {"auto": {"chosen": {**DEEP, "epochs": 3}}}} if job["name"] == "no settings" else {}

        self.figures = figures
        found = run_case(made_up(), Path("/"), [1], tries=True)
        self.assertEqual((found["tried"][0]["night"], found["best"]), (None, "lf1"))
        self.assertIn("too much memory", found["tried"][0]["failed"])
        self.assertIn("too much memory", table.case_text(found))

    def test_jobs_of_a_chain_are_one_night(self) -> None:
        self.figures = lambda job: {"global_before": 0.9 if job["name"] == "one" else 0.7, "local_before": 0.1 if job["name"] == "one" else 0.6}
        found = run_case(made_up(hand={"chain": [{"name": "one"}, {"name": "two"}]}), Path("/"), [1], tries=False)
        chain = found["hand"]["chain"]
        self.assertEqual((chain["seconds"], chain["global_before"], chain["local_before"]), (20.0, 0.9, 0.1))

    def test_a_case_may_ask_the_model_in_service(self) -> None:
        asked = iter([0.3, 0.6, 0.6, 0.7, 0.3, 0.3])
        self.figures = lambda job: {"state": "rejected-by-guard" if job["name"] == "lf1" else "succeeded"}
        found = run_case(made_up(asked=lambda _: next(asked), tags={"a": ["A", "a sound"]}), Path("/"), [1], tries=False)
        self.assertEqual((found["auto"]["local_before"], found["auto"]["local_after"], found["auto"]["second"]["local_after"]), (0.3, 0.6, 0.7))
        self.assertEqual((found["hand"]["lf1"]["local_before"], found["hand"]["lf1"]["local_after"], found["hand"]["lf1"]["kept_back"]), (0.3, None, 1))
        self.assertIn(("label", "map", "a", "A", "a sound"), self.devices[0].told)

    def test_night_after_night_beside_one_over_all(self) -> None:
        self.figures = lambda job: {"global_after": 0.88 if len(self.devices) == 1 else 0.9, "local_after": 0.8 if len(self.devices) == 1 else 0.7}
        found = measure_nights(made_up(now=files(a=20, b=15)), Path("/"), nights=3, each=10)
        many, single = self.devices
        self.assertEqual((len(many.jobs), len(single.jobs), found["samples"]), (3, 1, 30))
        self.assertEqual({tuple(job) for job in many.jobs + single.jobs}, {("name", "model", "global", "seed")}, "no job sets anything")
        for place in (many, single):
            train = [told for split, told in place.told if split == "train"]
            self.assertEqual([sum(told.values()) for told in train], [10] * 3)
            self.assertEqual(sorted(name for split, told in place.told if split == "val" for name in told), ["a", "b"], "each label's once")
        self.assertAlmostEqual(found["global_points"], -2.0)
        self.assertAlmostEqual(found["local_points"], 10.0)
        json.dumps(found)


class Nights30(unittest.TestCase):
    def test_no_sample_comes_twice_and_draws_depend_on_the_seed(self) -> None:
        drawn = portions(files(a=25, b=20), 30, 10, 1)
        every = [file for day in drawn for members in day.values() for file in members]
        self.assertEqual((len(drawn), len(every), len(set(every))), (4, 40, 40))
        self.assertEqual(drawn, portions(files(a=25, b=20), 30, 10, 1))
        self.assertNotEqual(drawn, portions(files(a=25, b=20), 30, 10, 2))
        self.assertEqual(len(portions(files(a=25, b=20), 3, 10, 1)), 3)

    def test_seconds_beyond_maps(self) -> None:
        def result(seconds: float, stages: dict[str, float], state: str = "succeeded") -> Any:
            figures = {"global_before": 0.9, "global_after": 0.8, "local_before": 0.1, "local_after": 0.7, "epochs": 1, "seconds": seconds}
            return result_of(Unset("a", "a"), {"state": state, "message": "", "result": {**figures, "details": {"stages": stages}}}, BASIS)

        runs = [result(9.0, {"cache": 5.0}), result(7.0, {"cache": 6.5}), result(3.0, {}, "rejected-by-guard")]
        found = figures_of(runs, result(20.0, {}))
        self.assertEqual(found["seconds_beyond_maps"], {"median": 3.0, "worst": 4.0})
        self.assertAlmostEqual(found["local_points"], -60.0, msg="the last night was kept back")
        self.assertIn("| 3.0                         | 4.0   |", table.nights_text([{"dataset": "digits", "samples": 30, **found}]))


class Absent(unittest.TestCase):
    def test_a_part_without_its_data_says_so_in_one_line(self) -> None:
        absent = Path("/nonexistent/archive.tar")
        fakes = {
            "DIGITS": absent,
            "missing": lambda *_: absent,
            "missing_sounds": lambda: absent,
            "fetched": Mock(side_effect=subprocess.CalledProcessError(69, [Path("/scripts/fetch-sklearn")])),
        }
        options = argparse.Namespace(quick=False, json=None, only=None, seeds=3, local_train=absent, local_val=absent)
        told = io.StringIO()
        with ExitStack() as stack:
            for name, fake in fakes.items():
                stack.enter_context(patch.object(program, name, fake))
            stack.enter_context(redirect_stdout(told))
            bench = program.Bench(options, Path(stack.enter_context(tempfile.TemporaryDirectory())))
            bench.run()
        self.assertEqual([line.split(" skipped: ")[0] for line in told.getvalue().splitlines()], ["digits", "tables", "sounds", "photos", "half-known"])
        self.assertIn("tables skipped: they are not to be had (fetch-sklearn exited 69)", told.getvalue())
        self.assertEqual((bench.figures["cases"], bench.figures["regret"], bench.figures["nights30"]), ([], None, None))


CASE = {
    "dataset": "photos",
    "auto": of_seeds([twice(chosen={**SHALLOW, "epochs": 20}, why="a tie"), twice(chosen={**SHALLOW, "epochs": 20}, seconds=30.0, local_after=0.7, why="a tie"), twice(chosen={**DEEP, "epochs": 8}, seconds=20.0, why="it won")]),
    "hand": {"lf1": of_seeds([twice()] * 2 + [twice(promoted=False)])},
    "tried": [
        {"settings": SHALLOW, "chosen": True, "trial": {"seconds": 1.5, "local": 0.75, "global": 0.9}, "night": night(), "failed": ""},
        {"settings": DEEP, "chosen": False, "trial": None, "night": night(local_after=0.85, seconds=60.0), "failed": ""},
    ],
    "regret_points": 5.0,
    "regret_seconds": -50.0,
    "best": "LF(14), rate 0.02, 4 views",
    "cheapest": "LF(14), rate 0.02, 4 views",
}
CASE_LINES = """\
photos, medians of 3 seeds (least to most)
| night                  | global before → after | local                  | seconds             | second night | chosen                                                            |
| ---------------------- | --------------------- | ---------------------- | ------------------- | ------------ | ----------------------------------------------------------------- |
| no settings            | 90.0% → 90.0%         | 80.0% (70.0% to 80.0%) | 20.0 (10.0 to 30.0) | 2.0 s, 80.0% | LF(1), rate 0.03, 20 epochs; LF(14), rate 0.02, 4 views, 8 epochs |
| lf1 (1 of 3 kept back) | 90.0% → 90.0%         | 80.0%                  | 10.0                | 1.0 s, 80.0% |                                                                   |
a tie
it won
| what was tried             | its trial, s | local and global there | the night of it: global before → after | local | seconds |
| -------------------------- | ------------ | ---------------------- | -------------------------------------- | ----- | ------- |
| LF(1), rate 0.03 (chosen)  | 1.5          | 75.0%, 90.0%           | 90.0% → 90.0%                          | 80.0% | 10.0    |
| LF(14), rate 0.02, 4 views | –            | –                      | 90.0% → 90.0%                          | 85.0% | 60.0    |
regret: 5.0 points to LF(14), rate 0.02, 4 views, -50.0 s to LF(14), rate 0.02, 4 views

regret over all cases: 5.0 points on average, 5.0 at most (photos); -50.0 s on average, -50.0 at most (photos)"""


class Tables(unittest.TestCase):
    def test_tables_are_made_of_the_document_alone(self) -> None:
        self.maxDiff = None
        document = {"cases": [CASE], "learn": None, "audit": None, "half_known": None, "nights30": None, "regret": over_cases([CASE])}
        self.assertEqual(text_of("auto", json.loads(json.dumps(document))), CASE_LINES)

    def test_r2_is_no_share(self) -> None:
        self.assertEqual([table.score(night(metric=metric), 0.5) for metric in ("R2", "AUC")], ["0.500", "50.0%"])
        self.assertEqual(table.score(night(metric="R2"), None), "–")


if __name__ == "__main__":
    unittest.main()
