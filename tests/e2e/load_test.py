"""Many clients while a job trains, in small: nothing is lost, whoever is beside them.

`scripts/bench load` has the figures; what depends on how fast the machine is at the moment is not
asked for here.
"""

from __future__ import annotations

import unittest

from world import SETTINGS, World  # also where bench/ is found


from stress.load.load import Figures, Load  # noqa: E402


class LoadTest(unittest.TestCase):
    figures: Figures

    @classmethod
    def setUpClass(cls) -> None:
        world = World()
        cls.addClassCleanup(world.clean)
        load = Load(world.new_folder("load"), SETTINGS, world.place, world.pretrained, clients=60, rate=300)
        cls.figures = load.measure(1200, seed=1)

    def test_every_request_is_answered_and_every_label_kept(self) -> None:
        self.assertEqual(self.figures.requests, 1200)
        self.assertEqual((self.figures.lost, self.figures.errors), (0, []))

    def test_the_job_trains_all_the_while(self) -> None:
        self.assertTrue(self.figures.job_trained)

    def test_those_that_behave_badly_are_served_too(self) -> None:
        for name, told in self.figures.trouble.items():
            self.assertTrue(told["is_served"], f"{name}: {told}")
        # What is more than the limit waits; 100 at once are free.
        self.assertLess(self.figures.trouble["greedy"]["taken_per_second"], 1500)

    def test_an_idle_daemon_holds_little(self) -> None:
        self.assertLessEqual(self.figures.rss_idle, 10 << 20)
        self.assertLessEqual(self.figures.rss_after_load, 10 << 20)


if __name__ == "__main__":
    unittest.main()
