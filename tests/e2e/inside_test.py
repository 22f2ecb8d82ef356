"""Seeing inside a daemon with its real worker: the doctor, the status and the metrics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from world import daemon_in, program, wait_for


class InsideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="moil-inside-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prom = cls.folder / "moild.prom"
        cls.daemon = daemon_in(cls.folder, {"metrics": {"textfile": str(cls.prom)}})
        cls.daemon.__enter__()
        cls.addClassCleanup(cls.daemon.__exit__, None, None, None)

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [program("moilctl"), "--socket", self.daemon.socket, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def test_the_doctor_measures_this_machine(self) -> None:
        reply = json.loads(self.ctl("doctor", "--json").stdout)
        findings = {finding["what"]: finding for finding in reply["findings"]}
        print(json.dumps(reply, indent=1), flush=True)
        self.assertEqual(findings["worker"]["level"], "ok", findings["worker"])
        blas = findings["blas"]["says"]
        figures = re.match(r"([\d.]+) GFLOP/s in products of matrices, ([\d.]+) % of the ([\d.]+)", blas)
        self.assertIsNotNone(figures, blas)
        product, share, peak = map(float, figures.groups())
        self.assertGreater(product, 0.1)
        self.assertAlmostEqual(share, 100 * product / peak, delta=1 + share / 20)
        self.assertRegex(blas, r"OpenBLAS' kernel \w+")
        self.assertIn("OpenBLAS", findings["kernels"]["says"])
        for finding in reply["findings"]:
            self.assertEqual(finding["level"] != "ok", finding["remedy"] is not None, finding)

    def test_metrics_are_the_files(self) -> None:
        names = [line for line in self.ctl("metrics").stdout.splitlines() if line.startswith("# TYPE")]
        wait_for("the textfile", self.prom.exists)
        written = [line for line in self.prom.read_text().splitlines() if line.startswith("# TYPE")]
        self.assertEqual(names, written)
        self.assertIn("# TYPE moild_jobs gauge", names)


if __name__ == "__main__":
    unittest.main()
