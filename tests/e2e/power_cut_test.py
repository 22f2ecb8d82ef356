"""What a client was told survives a power cut.

Days and nights of a device are recorded as its disk saw them, and what a power cut may leave of them is made: a kill
of the process would find in the system's memory what was never flushed. moild starts on it, has what it told, and
ends the night that was under way as it ended. scripts/bench crash has hundreds of such cuts.
"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import world  # noqa: F401  (finds the folder of the benchmarks)
from stress.crash.cutting import Cut, Cutting
from stress.crash.device import Device
from stress.crash.recorded_life import Life, Migration
from synthetic import write_digits

IMAGES_PER_CLASS = 40
CUTS = 12


class PowerCutTest(unittest.TestCase):
    device: Device
    life: Cutting
    migration: Cutting

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-cut-")))
        csv = folder / "digits.csv.gz"
        write_digits(csv, IMAGES_PER_CLASS)
        cls.device = Device(folder, csv)
        with cls.device.daemon:
            cls.device.furnish()
            life = Life(cls.device, folder / "life")
            life.live()
        migration = Migration(cls.device, folder / "migration")
        migration.live()
        cls.life = Cutting(cls.device, life, folder / "life")
        cls.migration = Cutting(cls.device, migration, folder / "migration")

    def check(self, cut: Cut) -> None:
        where = f"record {cut.record}, seed {cut.seed}, {cut.stage}, {cut.kind}"
        with self.subTest(where):
            self.assertEqual((cut.refused_start, cut.lost, cut.other_weights), ("", [], []))

    def test_the_log_has_all_that_was_written(self) -> None:
        self.assertEqual(self.life.what_differs(), [])
        self.assertEqual(self.migration.what_differs(), [])

    def test_what_was_answered_had_been_flushed(self) -> None:
        self.assertGreater(len(self.life.run_answers(self.check)), 30)

    def test_what_is_removed_had_been_needless(self) -> None:
        self.assertGreater(len(self.life.run_removals(self.check)), 1)

    def test_whatever_else_is_left_nothing_is_lost_and_nights_end_in_the_same_weights(self) -> None:
        cuts = self.life.run(CUTS, 1, self.check)
        self.assertGreater(sum(cut.nights for cut in cuts), 0)

    def test_a_migration_is_whole_or_begins_anew(self) -> None:
        self.migration.run(3, 1, self.check)


if __name__ == "__main__":
    unittest.main()
