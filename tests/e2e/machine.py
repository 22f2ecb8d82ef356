"""A machine of one's own for a test: this system's files under an overlay, in namespaces of its own, and if
the kernel allows it a real systemd as its first process. What is installed or changed there is gone at its end.

Needs root. `Machine.trouble` says why there is none, or why there is one without systemd.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# Run in new namespaces: lays the overlay out, makes it the root and becomes systemd, or waits.
_START = r"""
set -eu
base=$1; share=$2; init=$3
mount --make-rprivate /
mount -t tmpfs -o mode=0755 tmpfs "$base"
mkdir "$base/up" "$base/work" "$base/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/up,workdir=$base/work" "$base/root"
cd "$base/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mount --rbind /dev dev
mkdir -p mnt/share mnt/before
mount --bind "$share" mnt/share
# Nothing of this system is started there, and no index of all manual pages is made for a test.
# Small images leave out pages and manuals of every package.
rm -rf usr/sbin/policy-rc.d etc/systemd/system/*.wants var/lib/man-db/auto-update etc/dpkg/dpkg.cfg.d
: > etc/machine-id
if [ "$init" = systemd ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  pivot_root . mnt/before
  umount -l /mnt/before
  exec env -i container=moil-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --unit=basic.target --log-target=null --show-status=0
fi
pivot_root . mnt/before
umount -l /mnt/before
exec sleep infinity
"""


def _cgroup_root() -> Path | None:
    """Where version 2 of the control groups is mounted."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    return None


class NoMachine(Exception):
    """Why there is none."""


class Machine:
    def __init__(self) -> None:
        self.has_systemd = False
        self.trouble = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._group: Path | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="moil-machine-"))
        self.share = self._folder / "share"  # seen inside as /mnt/share
        (self._folder / "base").mkdir()
        self.share.mkdir()
        if os.geteuid() != 0:
            self.stop()
            raise NoMachine("only root may make a machine of namespaces")
        try:
            self._start("systemd")
            self._wait_for_systemd()
            self.has_systemd = True
        except NoMachine as no_systemd:
            self.trouble = str(no_systemd)
            self._end()
            try:
                self._start("none")
            except NoMachine:
                self.stop()
                raise

    def _start(self, init: str) -> None:
        log = self._folder / "log"
        if init == "systemd":
            self._make_group()
        command = ["unshare", "--mount", "--pid", "--fork", "--uts", "--ipc", "--net", "--kill-child"]
        command += ["--cgroup"] if init == "systemd" else []
        command += ["sh", "-c", _START, "sh", self._folder / "base", self.share, init]
        with log.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, preexec_fn=self._join_group)
        give_up = time.monotonic() + 20
        while not self._is_up(init):
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise NoMachine(f"no namespace with {init}: {log.read_text(errors='replace').strip()[-300:]}")
            time.sleep(0.05)

    def _make_group(self) -> None:
        root = _cgroup_root()
        if root is None or shutil.which("systemctl") is None:
            raise NoMachine("systemd is not installed, or there are no control groups of version 2")
        self._group = root / self._folder.name
        try:
            self._group.mkdir()
        except OSError as error:
            self._group = None
            raise NoMachine(f"no control group can be made: {error}") from error

    def _join_group(self) -> None:
        if self._group is not None:
            (self._group / "cgroup.procs").write_text("0")

    def _first(self) -> int | None:
        """The machine's first process, as this system numbers it."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        try:
            return int(children.read_text().split()[0])
        except (OSError, IndexError):
            return None

    def _is_up(self, init: str) -> bool:
        first = self._first()
        if first is None:
            return False
        name = Path(f"/proc/{first}/comm")
        return name.exists() and name.read_text().strip() == ("systemd" if init == "systemd" else "sleep")

    def _wait_for_systemd(self) -> None:
        give_up = time.monotonic() + 30
        while self.run("systemctl", "is-active", "basic.target", check=False).stdout.strip() != "active":
            if time.monotonic() > give_up or self._process is None or self._process.poll() is not None:
                raise NoMachine("systemd does not come up in a namespace")
            time.sleep(0.2)

    def run(self, *command: object, check: bool = True, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Runs a command in the machine, as root."""
        first = self._first()
        if first is None:
            raise NoMachine("the machine has ended")
        inside = ["nsenter", "--target", str(first), "--all", "env", "DEBIAN_FRONTEND=noninteractive"]
        whole = [*inside, *(str(word) for word in command)]
        done = subprocess.run(whole, capture_output=True, text=True, timeout=seconds)
        if check and done.returncode != 0:
            shown = " ".join(str(word) for word in command)
            raise AssertionError(f"{shown}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def has(self, path: str) -> bool:
        return self.run("test", "-e", path, check=False).returncode == 0

    def _end(self) -> None:
        if self._process is not None:
            first = self._first()
            if first is not None:
                os.kill(first, signal.SIGKILL)  # and with it all that lives in its namespace
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._group is not None:
            self._remove_group()
            self._group = None

    def _remove_group(self) -> None:
        assert self._group is not None
        for _ in range(50):
            try:
                for folder, _, _ in os.walk(self._group, topdown=False):
                    os.rmdir(folder)
                return
            except OSError:  # what was killed has not all gone yet
                time.sleep(0.1)

    def stop(self) -> None:
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)
