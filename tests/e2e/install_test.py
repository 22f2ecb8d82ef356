"""What `cmake --install` puts where: the unit, the programs and the configuration name the same paths."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["MOIL_BUILD"])


class InstallTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="moil-install-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def install(self, prefix: Path, stage: Path | None = None) -> Path:
        """Installs the build and returns where the prefix lies now."""
        environment = os.environ | ({"DESTDIR": str(stage)} if stage else {})
        command = ["cmake", "--install", BUILD, "--strip", "--prefix", prefix]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Path(f"{stage}{prefix}") if stage else prefix

    def check(self, installed: Path, prefix: Path) -> None:
        unit = (installed / "lib/systemd/system/moild.service").read_text()
        self.assertIn(f"ExecStart={prefix}/bin/moild ", unit)
        named = [Path(path.rstrip(",:;")) for path in re.findall(re.escape(str(prefix)) + r"/\S+", unit)]
        self.assertIn(prefix / "etc/moild/moild.json", named)
        for path in named:
            self.assertTrue((installed / path.relative_to(prefix)).is_file(), f"the unit names {path}")
        for program in ("moilctl", "moil-worker"):
            self.assertTrue(os.access(installed / "bin" / program, os.X_OK), program)
        # Nothing else is named but what systemd itself makes.
        others = set(re.findall(r"(?<![\w.])/[a-z][^\s:,;]+", unit.replace(str(prefix), "PREFIX")))
        self.assertEqual({path for path in others if path.startswith(("/usr", "/etc", "/opt"))}, set())

    def test_a_prefix_of_ones_own(self) -> None:
        prefix = self.folder / "prefix"
        installed = self.install(prefix)
        self.check(installed, prefix)
        # The programs find the configuration that was installed with them.
        config = installed / "etc/moild/moild.json"
        config.write_text('{"poll_seconds": 7.0}')
        moild = installed / "bin/moild"
        told = subprocess.run([moild, "--check"], capture_output=True, text=True, check=True).stdout
        self.assertIn('"poll_seconds": 7.0', told)
        helped = subprocess.run([moild, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertIn(str(config), helped.replace("\n", ""))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing")
    def test_the_unit_exposes_little(self) -> None:
        unit = self.install(self.folder / "prefix") / "lib/systemd/system/moild.service"
        command = ["systemd-analyze", "security", "--offline=yes", "--no-pager", unit]
        told = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
        level = re.search(r"Overall exposure level[^:]*: ([\d.]+)", told.stdout)
        assert level, told.stdout + told.stderr
        self.assertLessEqual(float(level[1]), 1.5, told.stdout)
        # What it says is understood, and the worker may confine itself further.
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        complaints = [line for line in checked.stderr.splitlines() if "moild.service" in line]
        self.assertEqual(complaints, [])
        for call in ("seccomp", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"):
            self.assertRegex(unit.read_text(), rf"SystemCallFilter=.*\b{call}\b")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is missing")
    def test_units_that_are_not_started_by_themselves_are_understood(self) -> None:
        prefix = self.folder / "prefix"
        units = self.install(prefix) / "lib/systemd"
        for unit, of in (("moild-wake.timer", "system"), ("moild-wake.service", "system"), ("moil-inbox@.service", "user")):
            command = ["systemd-analyze", f"--{of}", "verify", "--man=no", units / of / unit]
            checked = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual([line for line in checked.stderr.splitlines() if "moil" in line], [], unit)
        self.assertIn(f"{prefix}/bin/moilctl label watch %f", (units / "user/moil-inbox@.service").read_text())
        # The line by which it stays awake tells a job that runs from none.
        line = re.search(r"grep -q (\S+);", (units / "system/moild-wake.service").read_text())
        assert line
        for status, running in (('{\n  "running": 7,', True), ('{\n  "running": null,', False), ('"running": {', False)):
            found = subprocess.run(["grep", "-q", line[1]], input=status, text=True).returncode == 0
            self.assertEqual(found, running, status)

    def test_a_stage_as_packages_use_it(self) -> None:
        prefix = Path("/opt/moild-of-a-test")
        self.check(self.install(prefix, self.folder / "stage"), prefix)
        self.assertFalse(prefix.exists(), "nothing outside the stage")


if __name__ == "__main__":
    unittest.main()
