"""Nights with augmented views: a feature map for each, computed once and forgotten with its sample."""

from __future__ import annotations

import unittest
from typing import Any

from case import AllTests
from world import SETTINGS, Row, weights_digest

VIEWS = 3
CACHED = Row("views", "views", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
UNCACHED = Row("views", "views", SETTINGS.alpha, SETTINGS.trainable_layers, cached=False)


class ViewsTest(AllTests):
    """The jobs run once, in order, and leave the model in service alone."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        views = {"views": VIEWS, "flip": False}
        cls.plain = cls.night(CACHED)
        cls.first = cls.night(CACHED, augment=views)
        cls.second = cls.night(CACHED, augment=views)
        cls.uncached = cls.night(UNCACHED, augment=views)
        cls.mirrored = cls.night(CACHED, augment={"views": VIEWS, "flip": True})

    def counted(self, job: dict[str, Any]) -> tuple[int, int]:
        cache = job["result"]["details"]["cache"]
        return cache["computed"], cache["reused"]

    def digest(self, job: dict[str, Any]) -> str:
        return weights_digest(self.daemon.state, job)

    def test_each_view_of_a_training_sample_is_computed_once(self) -> None:
        samples = self.first["result"]["details"]["samples"]
        trained = samples["global"] + samples["local"]
        plain = sum(samples.values())
        others = (VIEWS - 1) * trained
        self.assertEqual(self.counted(self.plain), (plain, 0))
        self.assertEqual(self.counted(self.first), (others, plain))
        self.assertEqual(self.counted(self.second), (0, plain + others))
        self.assertEqual(self.counted(self.mirrored), (others, plain), "other views")

    def test_the_same_views_train_the_same(self) -> None:
        self.assertEqual(self.digest(self.second), self.digest(self.first))
        self.assertEqual(self.digest(self.uncached), self.digest(self.first))

    def test_views_are_trained_on(self) -> None:
        self.assertEqual(len({self.digest(job) for job in (self.plain, self.first, self.mirrored)}), 3)

    def test_accuracy_before_is_that_of_plain_views(self) -> None:
        for member in ("global_before", "local_before"):
            self.assertEqual(self.first["result"][member], self.plain["result"][member])

    def test_forgetting_a_sample_forgets_its_views(self) -> None:
        image = self.world.place.train[SETTINGS.local_classes[0]][0]
        label = self.ctl.json("label", "add", image, "--label", SETTINGS.local_classes[0], "--split", "train")
        before = self.ctl.json("cache", "stats")["entries"]
        self.ctl.text("label", "forget", label["samples"][0]["digest"], "--yes")
        after = self.ctl.json("cache", "stats")["entries"]
        self.assertEqual(before - after, 1 + 2 * (VIEWS - 1), "plain, and both kinds of views")
        self.assertIn(" 0 bad", self.ctl.text("cache", "verify"))


if __name__ == "__main__":
    unittest.main()
