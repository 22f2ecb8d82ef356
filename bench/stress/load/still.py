"""A daemon that has nothing to do: how soon it is ready, how much memory it holds, what it is exposed to."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from lib.daemon import Daemon
from lib.programs import ROOT


def ready_milliseconds(daemon: Daemon, folder: Path) -> float:
    """From its start to READY=1, which it says to systemd; leaves it running."""
    path = folder / "notify.sock"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(path))
        notify.settimeout(30)
        began = time.perf_counter()
        daemon.start_without_waiting({"NOTIFY_SOCKET": str(path)})
        while b"READY=1" not in notify.recv(4096).split(b"\n"):
            pass
        return 1000 * (time.perf_counter() - began)


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    assert found, status
    return 1024 * int(found[1])


def cpu_seconds(process: int) -> float:
    """The process's own, without its children."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def exposure() -> float | None:
    """The service's unit's, by `systemd-analyze security`; None if that cannot be asked."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        return None
    text = (ROOT / "systemd" / "moild.service.in").read_text()
    for name, value in {"@BINDIR@": "/usr/bin", "@DOCDIR@": "/usr/share/doc", "@CONFIG_FOLDER@": "/etc/moild"}.items():
        text = text.replace(name, value)
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "moild.service"
        unit.write_text(text)
        command = [analyze, "security", "--offline=yes", "--no-pager", str(unit)]
        done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    found = re.search(r"Overall exposure level[^:]*: ([\d.]+)", done.stdout)
    return float(found[1]) if found else None
