"""What moild writes to systemd's journal, and what moilctl shows of it.

With a journald of its own, in a mount namespace; skipped if that cannot be had.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BUILD = Path(os.environ.get("MOIL_BUILD", Path(__file__).resolve().parents[2] / "build" / "release"))
JOURNALD = Path("/lib/systemd/systemd-journald")
INSIDE = "MOIL_TEST_INSIDE"


def enter() -> None:
    """Goes on in a namespace where /run is empty; returns outside, if none can be made."""
    if os.environ.get(INSIDE) or os.geteuid() != 0 or not JOURNALD.exists():
        return
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*unshare, "mount", "-t", "tmpfs", "tmpfs", "/run"], capture_output=True).returncode != 0:
        return
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*unshare, sys.executable, "-B", *sys.argv])


def wait_for(what: str, condition, seconds: float = 20) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.05)


@unittest.skipUnless(os.environ.get(INSIDE), "needs root, systemd-journald and a mount namespace")
class JournalTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        for folder in ("/run/systemd/journal", "/run/log/journal"):
            os.makedirs(folder)
        cls.journald = subprocess.Popen([JOURNALD], stderr=subprocess.DEVNULL)
        wait_for("journald", Path("/run/systemd/journal/socket").exists)
        cls.folder = Path(tempfile.mkdtemp(prefix="moil-journal-"))
        cls.socket = cls.folder / "moild.sock"
        cls.state = cls.folder / "state"
        config = cls.folder / "moild.json"
        worker = {"path": str(BUILD / "tests/daemon/fake_worker"), "nice": 0, "threads": 1}
        config.write_text(json.dumps({"worker": worker, "poll_seconds": 0.05}))
        # systemd-cat connects stderr to the journal; a service is told so as well.
        told = 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@"'
        cls.moild = subprocess.Popen(["systemd-cat", "-t", "elsewhere", "sh", "-c", told, BUILD / "daemon/moild",
                                      "--config", config, "--state-dir", cls.state, "--socket", cls.socket])
        wait_for("moild", cls.socket.exists)
        (cls.folder / "model").mkdir()
        (cls.folder / "model" / "model.json").write_text("{}")
        cls.ctl("model", "import", cls.folder / "model", "--name", "digits")
        description = cls.folder / "job.json"
        for name in ("grumbles", "bad-data"):
            job = {"name": name, "model": "digits", "global": {"pack": str(cls.folder)}}
            description.write_text(json.dumps(job))
            cls.ctl("job", "submit", description, "--now")
        for job in ("1", "2"):
            cls.ctl("job", "watch", job)
        time.sleep(0.2)

    @classmethod
    def tearDownClass(cls) -> None:
        for process in (cls.moild, cls.journald):
            process.terminate()
            process.wait(timeout=20)
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def ctl(cls, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [BUILD / "daemon/moilctl", "--socket", cls.socket, *arguments]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)

    def lines(self, *matches: str) -> list[dict[str, str]]:
        found = subprocess.run(["journalctl", "-o", "json", "SYSLOG_IDENTIFIER=moild", *matches],
                               capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in found.splitlines()]

    def test_lines_carry_the_job_its_stage_and_its_model(self) -> None:
        messages = [line["MESSAGE"] for line in self.lines("JOB_ID=1", "MODEL=digits", "STAGE=train")]
        self.assertIn("job 1: stage train", messages)
        self.assertTrue(any(text.startswith("job 1: epoch 1, loss 0.5") for text in messages), messages)
        self.assertTrue(any("worker exited with status 0" in text for text in messages), messages)
        self.assertFalse([line for line in self.lines("JOB_ID=2") if "job 1" in line["MESSAGE"]])

    def test_a_line_about_no_job_has_no_job(self) -> None:
        starts = [line for line in self.lines() if " serves " in line["MESSAGE"]]
        self.assertEqual(len(starts), 1)
        self.assertNotIn("JOB_ID", starts[0])
        self.assertEqual(starts[0]["PRIORITY"], "6")
        self.assertEqual(starts[0]["MOILD_STATE"], str(self.state))

    def test_what_a_worker_writes_to_stderr_is_its_jobs(self) -> None:
        grumbled = [line for line in self.lines("JOB_ID=1", "PRIORITY=4")]
        self.assertEqual([line["MESSAGE"] for line in grumbled], ["job 1: worker: this CPU is not known to me"])

    def test_logs_shows_events_and_journal_once_and_in_order(self) -> None:
        shown = self.ctl("logs", "1")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(shown.stderr, "")
        words = ["queued", "worker", "stage mix", "warning: job 1: worker: this CPU", "stage train",
                 "epoch 1  loss 0.5000", "succeeded"]
        for word in words:
            self.assertIn(word, shown.stdout)
        self.assertEqual(shown.stdout.count("stage train"), 1, shown.stdout)
        times = [line.split("  ")[0] for line in shown.stdout.splitlines()]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(self.ctl("logs", "1", "-n", "2").stdout.splitlines()), 2)

    def test_logs_as_json(self) -> None:
        document = json.loads(self.ctl("logs", "2", "--json").stdout)
        self.assertIsNone(document["journal_unread"])
        self.assertEqual({line["source"] for line in document["lines"]}, {"event", "journal"})

    def test_follow_ends_with_the_job(self) -> None:
        followed = self.ctl("logs", "2", "--follow")
        self.assertEqual(followed.returncode, 0, followed.stderr)
        self.assertIn("failed: sample 3 is not an image", followed.stdout)

    def test_follow_shows_what_comes(self) -> None:
        description = self.folder / "slow.json"
        job = {"name": "slow", "model": "digits", "global": {"pack": str(self.folder)}}
        description.write_text(json.dumps(job))
        number = json.loads(self.ctl("--json", "job", "submit", description, "--now").stdout)["id"]
        command = [str(BUILD / "daemon/moilctl"), "--socket", str(self.socket), "logs", str(number), "-f"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
            time.sleep(0.5)
            self.ctl("job", "cancel", number)
            text = following.communicate(timeout=20)[0]
        self.assertIn("stage train", text)
        self.assertIn("worker", text)
        self.assertIn("cancelled", text)


if __name__ == "__main__":
    enter()
    unittest.main()
