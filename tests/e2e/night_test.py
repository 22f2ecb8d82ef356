"""A night in all its variants, through moild, moilctl and moil-pretrain.

With the real handwritten digits if they can be fetched, else with synthetic ones.
"""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

from world import MODEL, ROOT, SETTINGS, Moilctl, World, ctl_of, daemon_in, weights_digest
from lib.results import Result, result_of
from lib.samples import count, only
from lib.settings import Row
from cases.digits.table import runs_table

# What README promises of a night is asked for: with so much global data and so many epochs that some held-out
# samples, or which kernels were the fastest, decide nothing.
NIGHT = replace(SETTINGS, alpha=0.75).with_night(epochs=6)
IMAGES_PER_CLASS = 120  # if they are synthetic
MOST_FORGOTTEN, LEAST_LEARNED = 0.05, 0.9


def real_digits(folder: Path) -> Path | None:
    csv = folder / "digits.csv.gz"
    fetched = subprocess.run([ROOT / "scripts" / "fetch-digits", csv], stdin=subprocess.DEVNULL, capture_output=True)
    return csv if fetched.returncode == 0 else None


class NightTest(unittest.TestCase):
    """The jobs run once, in order; each test looks at one promise."""

    world: World
    runs: dict[str, Result]
    digests: dict[str, str]
    verified: str
    page: str  # of the last job's report
    last: dict[str, Any]  # and its details
    predicted: list[tuple[str, str]]  # of held-out images: class, and what the model in service says

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as folder:
            csv = real_digits(Path(folder))
            print("digits:", "real" if csv else "synthetic, the real ones cannot be fetched", flush=True)
            cls.world = World(NIGHT, csv, IMAGES_PER_CLASS)
        cls.addClassCleanup(cls.world.clean)
        cls.runs, cls.digests = {}, {}
        with daemon_in(cls.world.new_folder("night")) as daemon:
            ctl = ctl_of(daemon)
            cls.world.furnish(ctl)
            for row in NIGHT.rows():
                cls._run(ctl, daemon.state, row)
            cls.active = ctl.json("model", "get", MODEL)
            cls.page = ctl.text("report", "--last", "--html", "-")
            cls.last = ctl.json("report", "--last")["details"]
            files = {file: name for name, members in cls.world.place.held_out.items() for file in members}
            cls.predicted = [(files[Path(found["file"])], found["top"][0]["label"])
                             for found in ctl.json("predict", *files, "--top", "1")["predictions"]]
            for name, files in cls.world.place.later.items():
                ctl.add_label(files, name, "train")
            n = NIGHT.trainable_layers
            cls._run(ctl, daemon.state, Row("second", "second night", NIGHT.alpha, n, cached=True))
            cls.verified = ctl.text("cache", "verify")
        print(runs_table([run.to_json() for run in cls.runs.values()]), flush=True)

    @classmethod
    def _run(cls, ctl: Moilctl, state: Path, row: Row) -> None:
        job = ctl.wait(ctl.submit(cls.world.spec(row)))
        cls.runs[row.name] = result_of(row, job, SETTINGS.basis)
        cls.digests[row.name] = weights_digest(state, job)

    def test_without_global_data_the_network_forgets(self) -> None:
        run = self.runs["alpha0"]
        self.assertGreater(run.global_before, 0.9)
        self.assertLess(run.global_after, run.global_before - 0.4)
        self.assertGreater(run.local_after, 0.8)

    def test_mixing_and_freezing_keep_what_was_known(self) -> None:
        run = self.runs["gdm_lf"]
        self.assertGreater(run.global_after, self.runs["alpha0"].global_after + 0.3)
        self.assertGreaterEqual(run.global_after, run.global_before - MOST_FORGOTTEN)
        self.assertGreaterEqual(run.local_after, LEAST_LEARNED)

    def test_cached_feature_maps_change_no_bit(self) -> None:
        self.assertEqual(self.digests["gdm_lf_fmc"], self.digests["gdm_lf"])
        for member in ("global_before", "global_after", "local_before", "local_after"):
            self.assertEqual(getattr(self.runs["gdm_lf_fmc"], member), getattr(self.runs["gdm_lf"], member))

    def test_variants_differ(self) -> None:
        self.assertEqual(len({self.digests[name] for name in ("alpha0", "gdm", "gdm_lf")}), 3)

    def test_every_sample_is_computed_once(self) -> None:
        first, second = self.runs["gdm_lf_fmc"], self.runs["second"]
        self.assertEqual(first.computed, sum(first.samples.values()))
        self.assertEqual(first.reused, 0)
        self.assertEqual(second.computed, NIGHT.kept_back)
        self.assertEqual(second.reused, first.computed)

    def test_trains_on_the_share_that_was_asked_for(self) -> None:
        place = self.world.place
        for run in self.runs.values():
            for whose, classes in (("global", NIGHT.global_classes), ("local", NIGHT.local_classes)):
                self.assertEqual(run.samples[f"{whose}_validation"], count(only(place.held_out, classes)))
        local = count(only(place.train, NIGHT.local_classes))
        per_class = [round(NIGHT.alpha * len(place.train[name])) for name in NIGHT.global_classes]
        for name, share in (("alpha0", 0), ("gdm", sum(per_class)), ("gdm_lf", sum(per_class))):
            self.assertEqual(self.runs[name].samples["local"], local)
            self.assertAlmostEqual(self.runs[name].samples["global"], share, delta=len(per_class))

    def test_every_epoch_is_in_the_curve(self) -> None:
        for run in self.runs.values():
            self.assertEqual([point["epoch"] for point in run.curve], list(range(1, run.epochs + 1)))
            self.assertAlmostEqual(run.curve[-1]["global"], run.global_after)
            self.assertAlmostEqual(run.curve[-1]["local"], run.local_after)

    def test_memory_was_predicted(self) -> None:
        for run in self.runs.values():
            self.assertIsNotNone(run.memory)
            self.assertGreater(run.memory.measured_bytes, 0)
            self.assertLessEqual(run.memory.measured_bytes, run.memory.predicted_bytes, run.name)

    def test_the_activated_version_is_in_service(self) -> None:
        self.assertEqual(self.active["version"], 1 + len(NIGHT.rows()))

    def test_what_is_in_service_predicts_as_it_was_judged(self) -> None:
        run = self.runs["gdm_lf_fmc"]
        for classes, accuracy in ((NIGHT.global_classes, run.global_after), (NIGHT.local_classes, run.local_after)):
            right = [said == name for name, said in self.predicted if name in classes]
            self.assertAlmostEqual(sum(right) / len(right), accuracy)

    def test_the_report_shows_the_samples_whose_answer_changed(self) -> None:
        changed = self.last["changed"]["right"] + self.last["changed"]["wrong"]
        self.assertTrue(changed)
        self.assertEqual(self.page.count('src="data:image/jpeg;base64,/9j/'), len(changed))
        self.assertIn("learned <bdi>7</bdi>, <bdi>8</bdi> and <bdi>9</bdi>", self.page)

    def test_the_report_counts_every_answer(self) -> None:
        confusion, last = self.last["confusion"], self.runs["gdm_lf_fmc"]
        right = sum(label["right"] for label in confusion["labels"])
        held_out = sum(label["held_out"] for label in confusion["labels"])
        self.assertEqual(held_out, last.samples["local_validation"])
        self.assertAlmostEqual(right / held_out, last.local_after)
        self.assertEqual(held_out - right, sum(pair["count"] for pair in confusion["pairs"]))

    def test_the_cache_verifies(self) -> None:
        self.assertIn(" 0 bad", self.verified)


if __name__ == "__main__":
    unittest.main()
