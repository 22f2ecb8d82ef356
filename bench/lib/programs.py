"""Where the built programs lie, and how to run one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PEER_PYTHON = "/usr/bin/python3"  # Debian's, for which Debian's PyTorch is installed


class ProgramError(RuntimeError):
    """A program ended with an error; `code` is its exit code, `stderr` what it said."""

    def __init__(self, command: list[str], code: int, stderr: str):
        self.code = code
        self.stderr = stderr.strip()
        super().__init__(f"{Path(command[0]).name} exited {code}: {self.stderr}\n  {' '.join(command)}")


def build_dir() -> Path:
    """build/release, or what MOIL_BUILD names."""
    return Path(os.environ.get("MOIL_BUILD", ROOT / "build" / "release")).resolve()


def program(name: str) -> Path:
    """The path of moild, moilctl, moil-worker or moil-pretrain."""
    for folder in (build_dir() / "daemon", build_dir()):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{name} is not built below {build_dir()}; build it, or set MOIL_BUILD")


def native(name: str) -> Path:
    """The path of a program of bench/native."""
    found = build_dir() / "bench" / name
    if not found.is_file():
        raise FileNotFoundError(f"{found} is not built; scripts/bench builds it, or set MOIL_BUILD")
    return found


def run(command: list[str | Path], *, timeout: float | None = None, show_stderr: bool = False) -> str:
    """Runs a command to its end and returns its stdout; ProgramError unless it exits 0."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if show_stderr else subprocess.PIPE,
        text=True,
        timeout=timeout,
    )
    if done.returncode != 0:
        raise ProgramError(words, done.returncode, done.stderr or "")
    return done.stdout
