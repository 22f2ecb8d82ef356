"""Three weeks of a device by a made-up clock: two models, schedules, labels that come, are corrected
and forgotten. scripts/bench nights has years of them."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import world  # noqa: F401  (finds the folder of the benchmarks)
from stress.years.years import Device, Years

NIGHTS = 21


class NightsTest(unittest.TestCase):
    def test_every_night_is_accounted_for(self) -> None:
        years = Years()
        with tempfile.TemporaryDirectory(prefix="moil-nights-") as folder:
            Device(Path(folder), seed=1).run(NIGHTS, years)
        self.assertEqual(len(years.nights), 2 * NIGHTS)
        self.assertEqual(years.failed, [])
        # One day a week nobody labels anything.
        self.assertEqual(years.outcomes["nothing new"], 2 * NIGHTS // 7)
        self.assertGreater(years.outcomes["succeeded"], NIGHTS)
        for name, person in years.people.items():
            self.assertGreater(person["corrected"], 0, name)
            last = [night for night in years.nights if night.model == name and night.local_accuracy is not None][-1]
            self.assertGreater(last.local_accuracy, 0.6, name)
        self.assertLess(years.rss_peak, 64 << 20)


if __name__ == "__main__":
    unittest.main()
