"""moilctl, one method a sub-command that the nights need."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from .programs import program, run

FINAL_STATES = {"succeeded", "failed", "cancelled", "rejected-by-guard"}
_FILES_A_CALL = 200  # well below the system's limit for a command line


class Moilctl:
    """Talks to the daemon on `socket` through the command line, as a user would."""

    def __init__(self, socket: Path):
        self._base: list[str | Path] = [program("moilctl"), "--socket", socket]

    def text(self, *words: str | Path) -> str:
        return run([*self._base, *words])

    def json(self, *words: str | Path) -> Any:
        return json.loads(run([*self._base, *words, "--json"]))

    def import_model(self, folder: Path, name: str) -> Any:
        return self.json("model", "import", folder, "--name", name)

    def add_label(self, files: Sequence[Path], label: str, split: str) -> None:
        for part in _chunks(files, _FILES_A_CALL):
            self.json("label", "add", *part, "--label", label, "--split", split)

    def add_labels(self, files: Mapping[str, Sequence[Path]], split: str) -> None:
        for label, members in files.items():
            self.add_label(members, label, split)

    def submit(self, spec: dict[str, Any]) -> int:
        """Submits a job to run now; its id."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(spec, file)
            file.flush()
            return int(self.json("job", "submit", file.name, "--now")["id"])

    def job(self, job: int) -> dict[str, Any]:
        return self.json("job", "get", str(job))["job"]

    def watch(self, job: int) -> dict[str, Any]:
        """Follows a job to its end, with moilctl's progress bar if there is a terminal."""
        words = [str(word) for word in [*self._base, "job", "watch", str(job)]]
        progress = None if sys.stderr.isatty() else subprocess.DEVNULL
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=progress)
        return self.wait(job)

    def wait(self, job: int, *, seconds: float = 3600, every: float = 0.1) -> dict[str, Any]:
        """Waits until a job has ended, however it ended."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            found = self.job(job)
            if found["state"] in FINAL_STATES:
                return found
            time.sleep(every)
        raise TimeoutError(f"job {job} has not ended after {seconds:.0f} s")


def _chunks(files: Sequence[Path], size: int) -> Iterator[Sequence[Path]]:
    for start in range(0, len(files), size):
        yield files[start : start + size]
