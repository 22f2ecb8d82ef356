"""A schedule's night that is killed while a client asks without a pause, and nights whose disk,
database or cache fails. scripts/bench crash has hundreds of them."""

from __future__ import annotations

import random
import tempfile
import unittest
from pathlib import Path

import world  # noqa: F401  (finds the folder of the benchmarks)
from stress.crash.device import Device
from stress.crash.faults import Fault, Faults
from stress.crash.killing import Killing, Tally
from synthetic import write_digits

IMAGES_PER_CLASS = 40


class FaultsTest(unittest.TestCase):
    device: Device

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-faults-")))
        csv = folder / "digits.csv.gz"
        write_digits(csv, IMAGES_PER_CLASS)
        cls.device = Device(folder, csv)
        cls.enterClassContext(cls.device.daemon)
        cls.device.furnish()

    def test_a_killed_schedule_keeps_every_promise(self) -> None:
        tally = Tally()
        Killing(self.device, random.Random(3), tally).run(6, 3, lambda: None)
        self.assertEqual((tally.lost, tally.failures, tally.different_weights), ([], [], 0))
        self.assertGreater(tally.acknowledged, 10)

    def test_what_fails_ends_well_or_with_a_clear_error(self) -> None:
        seen: list[Fault] = []
        Faults(self.device, random.Random(5)).run(0, seen.append)
        self.assertEqual([fault for fault in seen if fault.is_bad], [])
        self.assertEqual(seen[-1].outcome, "completed", "nothing failed any more")
        self.assertEqual([fault for fault in seen[:-1] if not fault.struck], [])


if __name__ == "__main__":
    unittest.main()
