"""No request makes the daemon stand still for others, on a disk whose flush takes 12 ms.

`scripts/bench stall` has the figures, with ten times as much of everything. A machine that is busy with something else
makes a client wait, too: what is too slow is tried again, and stands if it is too slow every time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from stall.stall import GOAL_MS, Figures, Size, Stall  # noqa: E402

_TRIES = 3


def _measured() -> Figures:
    with tempfile.TemporaryDirectory(prefix="moil-stall-") as folder:
        return Stall(Path(folder), Size.quick(), flush_ms=12).measure()


class StallTest(unittest.TestCase):
    figures: Figures
    waits: dict[str, float]  # by method and what it was given, or by role: the least of the tries

    @classmethod
    def setUpClass(cls) -> None:
        cls.waits = {}
        for _ in range(_TRIES):
            cls.figures = _measured()
            found = {f"{m.method}, {m.input}": m.longest_wait_ms for m in cls.figures.methods}
            found |= {f"beside a greedy user of role {r.role}": r.longest_wait_ms for r in cls.figures.roles}
            cls.waits = {name: min(wait, cls.waits.get(name, wait)) for name, wait in found.items()}
            if max(cls.waits.values()) <= GOAL_MS:
                break

    def test_every_method_of_the_protocol_is_tried(self) -> None:
        self.assertEqual(self.figures.unasked, [])

    def test_nobody_waits_while_a_method_works(self) -> None:
        slow = {name: wait for name, wait in self.waits.items() if wait > GOAL_MS}
        self.assertEqual(slow, {})

    def test_a_greedy_user_leaves_descriptors_and_workers_to_others(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("only root can be several users")
        self.assertEqual(len(self.figures.roles), 3)
        self.assertLess(self.figures.descriptors, self.figures.descriptor_limit * 3 / 4)
        for role in self.figures.roles:
            self.assertLess(role.predict_seconds, 5, role)


if __name__ == "__main__":
    unittest.main()
