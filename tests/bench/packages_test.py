"""Files out of Debian's packages. An apt-get that has one package to give stands in for the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from lib.texts.packages import fetch  # noqa: E402

APT_GET = """#!/bin/sh
[ "$1 $3" = "download fruit" ] || { echo "no package $3"; exit 100; }
cp "{deb}" .
"""
CONTROL = "Package: fruit\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: fruit\n"
FILES = ["usr/bin/apple", "usr/share/fruit/pear.py", "usr/share/fruit/deep/plum.py", "usr/share/doc/fruit/copyright"]


@unittest.skipUnless(shutil.which("dpkg-deb"), "dpkg-deb is not installed")
class Packages(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        content, deb, programs = (self.folder / name for name in ("content", "fruit_1_all.deb", "programs"))
        for file in FILES:
            (content / file).parent.mkdir(parents=True, exist_ok=True)
            (content / file).write_text(file)
        (content / "DEBIAN").mkdir()
        (content / "DEBIAN/control").write_text(CONTROL)
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", content, deb], check=True, capture_output=True)
        programs.mkdir()
        (programs / "apt-get").write_text(APT_GET.replace("{deb}", str(deb)))
        (programs / "apt-get").chmod(0o755)
        (self.folder / "tmp").mkdir()
        os.chmod(self.folder, 0o755)
        found = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(self.folder / "tmp")}
        replaced = mock.patch.dict(os.environ, found)
        replaced.start()
        self.addCleanup(replaced.stop)

    def taken(self, *patterns: str) -> list[str]:
        folder = fetch("fruit", self.folder / "out", *patterns)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [], "nothing is kept")
        return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())

    def test_only_what_is_wanted_is_taken(self) -> None:
        self.assertEqual(self.taken("**/*.py"), ["usr/share/fruit/deep/plum.py", "usr/share/fruit/pear.py"])

    def test_of_several_patterns(self) -> None:
        self.assertEqual(self.taken("usr/bin/*", "usr/bin/apple", "**/pear.*"), ["usr/bin/apple", "usr/share/fruit/pear.py"])

    def test_a_folder_comes_with_all_that_is_in_it(self) -> None:
        self.assertEqual(self.taken("usr/share/doc"), ["usr/share/doc/fruit/copyright"])

    def test_what_is_not_there_is_an_error(self) -> None:
        for package, pattern, said in (("fruit", "usr/nuts", "usr/nuts: Not found"), ("nuts", "usr", "cannot download nuts")):
            words = [ROOT / "scripts/fetch-package", package, self.folder / "out", pattern]
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
