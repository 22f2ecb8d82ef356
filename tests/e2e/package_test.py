"""The Debian package: made, installed, upgraded with a job under way, refused if it is older than the state,
removed and purged, in a machine of its own with a real systemd if that can be had."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from machine import Machine, NoMachine
from world import ROOT
from lib.networks import dense, relu, write_model

BUILD = Path(os.environ["MOIL_BUILD"])
PROGRAMS = ("moild", "moil-worker", "moilctl", "moil-review", "moil-pretrain", "moil-onnx", "moil-plan")
NAMES_OF_ONE = ("moil-import", "moil-export")  # moil-onnx
STATE = "/var/lib/moild"
BY_HAND = ("runuser", "-u", "moild", "--", "moild", "--foreground")
CONFIG = 78  # sysexits.h
SHARE = "/mnt/share"
# Pages for who works on the sources.
FOR_DEVELOPERS = {"testing.md", "dependencies.md", "custom-layers.md"} | {page.name for page in (ROOT / "docs").glob("*-benchmark.md")}
# Files that were changed here are kept, as apt does if nobody can be asked; nothing need reach a disk.
INSTALL = ("dpkg", "--install", "--force-confold", "--force-unsafe-io")


def repacked(package: Path, version: str, folder: Path) -> Path:
    """The same package with another version number."""
    content = folder / f"content-{version}"
    subprocess.run(["dpkg-deb", "--raw-extract", package, content], check=True)
    control = content / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M))
    out = folder / f"moild_{version}.deb"
    command = ["dpkg-deb", "--build", "-Znone", "--root-owner-group", content, out]
    subprocess.run(command, check=True, capture_output=True)
    shutil.rmtree(content)
    return out


def write_points(folder: Path) -> None:
    """A table of two classes of points, and a small network for them."""
    numbers = range(14)
    lines = [f"{x},{y},{'left' if x < y else 'right'}" for x in numbers for y in numbers if x != y]
    (folder / "points.csv").write_text("x,y,side\n" + "\n".join(lines) + "\n")
    layers = [dense("one", "point", 16), relu("one"), dense("classes", "one_relu", 2)]
    write_model(folder / "model.json", {"point": [2]}, layers)


class Package(unittest.TestCase):
    """Makes the package, once for all."""

    made: Path | None = None
    package: Path
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        for program in ("dpkg-deb", "dpkg-shlibdeps", "cpack"):
            if shutil.which(program) is None:
                raise unittest.SkipTest(f"{program} is not installed")
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-package-")))
        if Package.made is None:
            out = tempfile.TemporaryDirectory(prefix="moil-package-made-")
            unittest.addModuleCleanup(out.cleanup)
            command = [ROOT / "scripts/package", "--built", BUILD, "--out", out.name]
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode != 0:
                raise AssertionError(made.stdout + made.stderr)
            Package.made = Path(made.stdout.strip())
            subprocess.run([ROOT / "scripts/package", "--client", "--out", out.name], check=True, capture_output=True)
        cls.package = Package.made


class ContentTest(Package):
    def test_what_is_in_it(self) -> None:
        packed = subprocess.run(["dpkg-deb", "--contents", self.package], capture_output=True, text=True, check=True)
        modes = {line.split()[5].removeprefix("."): line.split()[:2] for line in packed.stdout.splitlines()}
        for program in PROGRAMS:
            self.assertEqual(modes[f"/usr/bin/{program}"], ["-rwxr-xr-x", "root/root"])
        for name in NAMES_OF_ONE:
            self.assertIn(f" ./usr/bin/{name} -> moil-onnx\n", packed.stdout)
        self.assertEqual(modes["/etc/moild/moild.json"], ["-rw-r--r--", "root/root"])
        needed = subprocess.run(["dpkg-deb", "--field", self.package, "Depends"], capture_output=True, text=True, check=True)
        for library in ("libsqlite3-0", "liblmdb0", "libsystemd0", "libcpp-httplib0.11"):
            self.assertIn(library, needed.stdout)

    def test_its_scripts_are_shell(self) -> None:
        control = self.folder / "control"
        subprocess.run(["dpkg-deb", "--control", self.package, control], check=True)
        for script in ("preinst", "postinst", "prerm", "postrm"):
            self.assertNotIn("@", (control / script).read_text(), "what is to be completed by the build")
            subprocess.run(["sh", "-n", control / script], check=True)


class InstalledTest(Package):
    """Tests run in the order of their names, as the life of an installation goes."""

    machine: Machine

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which("systemd-sysusers") is None:
            raise unittest.SkipTest("what the package depends on is not installed (systemd)")
        super().setUpClass()
        try:
            cls.machine = Machine()
        except NoMachine as why:
            raise unittest.SkipTest(f"no machine to install it in: {why}") from why
        cls.addClassCleanup(cls.machine.stop)
        if not cls.machine.has_systemd:
            print(f"without systemd: {cls.machine.trouble}", file=sys.stderr)
        shutil.copy(cls.package, cls.machine.share / "moild.deb")
        (client,) = cls.package.parent.glob("python3-moild_*_all.deb")
        shutil.copy(client, cls.machine.share / "client.deb")
        for version in ("0.0.1", "99.0"):
            made_again = repacked(cls.package, version, cls.folder)
            shutil.move(made_again, cls.machine.share / f"{version}.deb")

    def install(self, name: str = "moild.deb") -> None:
        self.machine.run(*INSTALL, f"{SHARE}/{name}")

    def need_systemd(self) -> None:
        if not self.machine.has_systemd:
            self.skipTest(f"no systemd: {self.machine.trouble}")

    def property(self, name: str) -> str:
        return self.machine.run("systemctl", "show", "--value", "--property", name, "moild").stdout.strip()

    def ctl(self, *words: object) -> Any:
        return json.loads(self.machine.run("moilctl", "--json", *words).stdout)

    def wait_for(self, what: str, condition: Any, seconds: float = 30) -> None:
        give_up = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > give_up:
                told = self.machine.run("journalctl", "--no-pager", "-u", "moild", "-n", "20", check=False).stdout
                self.fail(f"{what}: not within {seconds:.0f} s\n{told}")
            time.sleep(0.05)

    def test_1_installed(self) -> None:
        self.install()
        listed = self.machine.run("dpkg-query", "--listfiles", "moild").stdout.split()
        for program in (*PROGRAMS, *NAMES_OF_ONE):
            self.assertIn(f"/usr/bin/{program}", listed)
            self.assertEqual(self.mode(f"/usr/bin/{program}"), "777 root root" if program in NAMES_OF_ONE else "755 root root")
            section = 8 if program in ("moild", "moil-worker") else 1
            self.assertIn(f"/usr/share/man/man{section}/{program}.{section}.gz", listed)
            self.assertIn(f"/usr/share/bash-completion/completions/{program}", listed)
            self.assertIn(f"/usr/share/zsh/vendor-completions/_{program}", listed)
            self.assertIn(f"/usr/share/fish/vendor_completions.d/{program}.fish", listed)
        models = {f"/usr/share/moild/models/{file.name}" for file in (ROOT / "config/models").iterdir()}
        self.assertLessEqual(models, set(listed))
        self.check_pages(listed)
        for page in ("user-guide.md", "protocol.md", "commands/moilctl.md", "copyright", "changelog.gz"):
            self.assertIn(f"/usr/share/doc/moild/{page}", listed)
        for unit in ("system/moild.service", "system/moild-wake.timer", "system/moild-wake.service", "user/moil-inbox@.service"):
            self.assertIn(f"/usr/lib/systemd/{unit}", listed)
        self.assertEqual(self.mode("/etc/moild/moild.json"), "644 root root")
        conffiles = self.machine.run("dpkg-query", "--show", "--showformat", "${Conffiles}", "moild").stdout
        self.assertIn("/etc/moild/moild.json", conffiles)
        self.assertEqual(self.mode(STATE), "700 moild moild")
        self.assertEqual(self.machine.run("dpkg", "--verify", "moild").stdout, "")
        self.assertIn("/etc/moild/moild.json", self.machine.run("moild", "--help").stdout)

    def check_pages(self, listed: list[str]) -> None:
        """What the pages that ship name as a file of ours ships with them, or is said to be the sources'."""
        shipped = [Path(path) for path in listed if path.startswith("/usr/share/doc/moild/") and path.endswith(".md")]
        self.assertGreater(len(shipped), 20)
        wrong = []
        for page in shipped:
            if page.name in FOR_DEVELOPERS:
                continue
            text = (ROOT / "docs" / page.relative_to("/usr/share/doc/moild")).read_text()
            for link in re.findall(r"\]\((?!https?:)([^)#:]+)[^)]*\)", text):
                if str((page.parent / link)) not in listed:
                    wrong.append(f"{page.name}: {link}")
            for path in re.findall(r"/usr/share/\S+?\.(?:json|md)", text):
                if path not in listed:
                    wrong.append(f"{page.name}: {path}")
            paragraphs = re.split(r"\n\s*\n", text)
            for paragraph in paragraphs:
                named = re.findall(r"(?<![\w/])(?:config|scripts|bench|examples)/[\w*][\w./*-]*", paragraph)
                if named and "sources" not in paragraph:
                    wrong.append(f"{page.name}: {named}")
        self.assertEqual(wrong, [])

    def mode(self, path: str) -> str:
        return self.machine.run("stat", "--format", "%a %U %G", path).stdout.strip()

    def test_2_started_and_enabled(self) -> None:
        self.need_systemd()
        self.assertEqual(self.property("ActiveState"), "active")
        self.assertEqual(self.property("UnitFileState"), "enabled")
        self.assertEqual(self.ctl("status")["state_dir"], STATE)
        owner = self.mode(f"/proc/{self.property('MainPID')}")
        self.assertEqual(owner, "555 moild moild")
        self.assertEqual(self.group(self.property("MainPID")), "daemon")
        enabled = self.machine.run("systemctl", "is-enabled", "moild-wake.timer", check=False).stdout.strip()
        self.assertEqual(enabled, "disabled", "who wants it says so")

    def test_2a_the_client_in_python(self) -> None:
        self.install("client.deb")
        self.assertEqual(self.machine.run("dpkg", "--verify", "python3-moild").stdout, "")
        listed = self.machine.run("dpkg-query", "--listfiles", "python3-moild").stdout.split()
        for file in ("/usr/lib/python3/dist-packages/moild/_methods.py", "/usr/lib/python3/dist-packages/moild/py.typed"):
            self.assertIn(file, listed)
        examples = [file for file in listed if file.startswith("/usr/share/doc/python3-moild/examples/") and file.endswith(".py")]
        self.assertEqual(len(examples), 2)
        for program in examples:
            text = (ROOT / "python/examples" / Path(program).name).read_text()
            self.assertEqual(self.mode(program), "755 root root")
            self.assertTrue(text.startswith("#!/usr/bin/python3\n"), "for which the package is installed")
        self.assertIn("usage: ", self.machine.run(next(file for file in examples if "frigate" in file), "--help").stdout)
        if self.machine.has_systemd:
            state = "import moild; print(moild.Client().system_status()['state_dir'])"
            self.assertEqual(self.machine.run("/usr/bin/python3", "-c", state).stdout.strip(), STATE)
        self.machine.run("dpkg", "--remove", "python3-moild")
        self.machine.run("test", "!", "-e", "/usr/lib/python3/dist-packages/moild")

    def group(self, process: object) -> str:
        """The control group of a process below the service's own."""
        lines = self.machine.run("cat", f"/proc/{process}/cgroup").stdout.splitlines()
        return next(line for line in lines if line.startswith("0::")).rpartition("/")[2]

    def test_3_upgraded_with_a_job_under_way(self) -> None:
        self.need_systemd()
        job = self.submit()
        self.wait_for("training", lambda: (self.job(job)["progress"] or {}).get("stage") == "train")
        before = self.property("MainPID")
        (worker,) = self.machine.run("cat", f"/proc/{before}/task/{before}/children").stdout.split()
        self.assertEqual(self.group(worker), "work", "what it uses up is not the daemon's")
        self.machine.run("sh", "-c", "echo '// mine' >> /etc/moild/moild.json")
        self.install("99.0.deb")
        self.assertEqual(self.version(), "99.0")
        self.assertNotEqual(self.property("MainPID"), before, "the daemon was started anew")
        self.assertIn("// mine", self.machine.run("cat", "/etc/moild/moild.json").stdout)
        self.wait_for("the job's end", lambda: self.job(job)["state"] not in ("queued", "running"), 60)
        told = self.ctl("job", "get", job)
        done = told["job"]
        self.assertEqual(done["state"], "succeeded", done)
        self.assertEqual(done["failures"], 0)
        self.assertEqual(done["attempts"], 2, "it was under way when the daemon was started anew")
        epochs = [row["event"]["epoch"] for row in told["events"] if row["event"]["event"] == "curve"]
        self.assertEqual(epochs, sorted(set(epochs)), "no epoch was trained twice")
        self.assertGreater(len(epochs), 1)
        self.assertEqual(self.ctl("model", "get", "points")["version"], 2)

    def version(self) -> str:
        return self.machine.run("dpkg-query", "--show", "--showformat", "${Version}", "moild").stdout

    def job(self, number: int) -> dict[str, Any]:
        return self.ctl("job", "get", number)["job"]

    def submit(self) -> int:
        """Trains a small network and gives the daemon a night of some seconds to do with it."""
        write_points(self.machine.share)
        data = ("--data", f"{SHARE}/points.csv", "--label-column", "side")
        model = ("--model", f"{SHARE}/model.json", "--epochs", 2, "--threads", 1)
        self.machine.run("moil-pretrain", "train", *data, *model, "--out", "/srv/base")
        self.machine.run("moil-pretrain", "images", *data, "--limit-per-class", 6, "--out", "/srv/samples")
        self.ctl("model", "import", "/srv/base/model", "--name", "points")
        samples = self.machine.run("sh", "-c", "ls /srv/samples/left/*").stdout.split()
        for split, files in (("train", samples[:4]), ("val", samples[4:])):
            self.ctl("label", "add", *files, "--label", "left", "--split", split)
        spec = {
            "name": "night",
            "model": "points",
            "settings": "defaults",
            "global": {"pack": "/srv/base/pack", "alpha": 1.0},
            "freeze": {"trainable_layers": "all"},
            "train": {"epochs": 4000, "batch": 4},
            "guard": {"max_global_drop": 1},
        }
        (self.machine.share / "night.json").write_text(json.dumps(spec))
        return int(self.ctl("job", "submit", f"{SHARE}/night.json", "--now")["id"])

    def test_4_an_older_one_that_reads_the_state_is_taken(self) -> None:
        self.need_systemd()
        self.install("0.0.1.deb")
        self.assertEqual(self.version(), "0.0.1")
        self.assertEqual(self.property("ActiveState"), "active")
        self.assertEqual(len(self.ctl("job", "list")["jobs"]), 1)

    def test_4a_an_upgrade_with_a_wrong_configuration_says_so(self) -> None:
        self.need_systemd()
        config = "/etc/moild/moild.json"
        self.machine.run("cp", config, "/srv/moild.json")
        self.machine.run("sh", "-c", f"echo '{{\"pol_seconds\": 1}}' > {config}")
        upgraded = self.machine.run(*INSTALL, f"{SHARE}/99.0.deb")
        self.assertIn("pol_seconds", upgraded.stderr)
        self.assertIn("moild --check", upgraded.stderr)
        self.wait_for("the end", lambda: self.property("ActiveState") == "failed")
        status = self.machine.run("moilctl", "status", check=False)
        self.assertNotEqual(status.returncode, 0)
        self.assertIn("moilctl doctor and moild --check", status.stderr)
        doctor = self.machine.run("moilctl", "doctor", check=False)
        self.assertEqual(doctor.returncode, 1)
        self.assertIn("pol_seconds", doctor.stdout)
        self.machine.run("cp", "/srv/moild.json", config)
        self.machine.run("systemctl", "reset-failed", "moild")
        self.machine.run("systemctl", "start", "moild")
        self.install("0.0.1.deb")

    def test_5_an_older_one_than_the_state_is_refused(self) -> None:
        if self.machine.has_systemd:
            self.machine.run("systemctl", "stop", "moild")
        else:  # started by hand, it makes its state
            self.machine.run("timeout", "2", *BY_HAND, check=False)
        self.set_format(99)
        self.install_is_refused("older than the state", "written by a newer moild (format 99")
        by_hand = self.machine.run(*BY_HAND, check=False)
        self.assertEqual(by_hand.returncode, CONFIG)
        self.assertIn("written by a newer moild (format 99", by_hand.stderr)

    def test_6_systemd_does_not_start_it_again_and_again(self) -> None:
        self.need_systemd()
        self.machine.run("systemctl", "start", "moild", check=False)
        self.wait_for("the end", lambda: self.property("ActiveState") == "failed")
        time.sleep(6)  # RestartSec is 5
        self.assertEqual((self.property("ActiveState"), self.property("ExecMainStatus")), ("failed", str(CONFIG)))
        self.assertEqual(self.property("NRestarts"), "0")
        told = self.machine.run("journalctl", "--no-pager", "-u", "moild", "-n", "20").stdout
        self.assertIn("written by a newer moild (format 99", told)
        self.set_format(self.format_known())
        self.machine.run("systemctl", "reset-failed", "moild")
        self.machine.run("systemctl", "start", "moild")
        self.assertEqual(len(self.ctl("job", "list")["jobs"]), 1, "nothing is lost")

    def set_format(self, version: int) -> None:
        self.machine.run(sys.executable, "-c", SET_FORMAT, f"{STATE}/moild.db", version)

    def format_known(self) -> int:
        text = (ROOT / "daemon/state/schema.h").read_text()
        found = re.search(r"kSchemaVersion = (\d+)", text)
        assert found is not None
        return int(found[1])

    def install_is_refused(self, what: str, message: str) -> None:
        before = self.version()
        refused = self.machine.run(*INSTALL, f"{SHARE}/moild.deb", check=False)
        self.assertNotEqual(refused.returncode, 0, what)
        self.assertIn(message, refused.stderr)
        status = self.machine.run("dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}", "moild").stdout.strip()
        self.assertEqual((status, self.version()), ("ii", before), "nothing is half done")

    def test_7_removed(self) -> None:
        running = self.property("MainPID") if self.machine.has_systemd else "none"
        self.assertNotEqual(running, "0", "moild runs until it is removed")
        self.machine.run("dpkg", "--remove", "moild")
        for program in PROGRAMS:
            self.assertFalse(self.machine.has(f"/usr/bin/{program}"))
        self.assertTrue(self.machine.has(f"{STATE}/moild.db"))
        self.assertTrue(self.machine.has("/etc/moild/moild.json"))
        self.assertFalse(self.machine.has(f"/proc/{running}"))

    def test_8_purged(self) -> None:
        self.set_format(self.format_known())
        self.machine.run("mv", STATE, "/srv/moved")  # to a larger disk, say
        self.machine.run("touch", "/srv/moved/of-somebody-else")
        self.machine.run("ln", "-s", "/srv/moved", STATE)
        self.install()
        self.machine.run("dpkg", "--purge", "moild")
        left = self.machine.run("find", "/srv/moved").stdout.split()
        self.assertEqual(left, ["/srv/moved", "/srv/moved/of-somebody-else"], "no photo stays behind a link")
        left = self.machine.run(
            "find", "/etc", "/usr", "/var", "/run", "/lib/systemd", "-xdev",
            "(", "-name", "moil*", "-o", "-name", "_moil*", ")", "-not", "-path", "/usr/src/*",
        ).stdout  # fmt: skip
        self.assertEqual(left, "")
        for database in ("passwd", "group"):
            self.assertEqual(self.machine.run("getent", database, "moild", check=False).returncode, 0, "Debian keeps it")


# The number that an SQLite file keeps for its writer, with what waits in its log written into it.
SET_FORMAT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute(f"PRAGMA user_version = {int(sys.argv[2])}")
database.commit()
database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
"""


if __name__ == "__main__":
    unittest.main()
