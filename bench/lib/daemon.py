"""A moild of one's own: foreground, on a state folder and socket of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from .programs import program

# Its nights are no nicer than what runs beside them: at the usual 19, two busy threads of a neighbour
# make a night of a second last minutes.
_WORKER = {"nice": 0, "io_class": "none"}


def closed_window() -> dict[str, str]:
    """A minute in twelve hours: no night comes before it is asked for."""
    hour = (datetime.now(timezone.utc).hour + 12) % 24
    return {"start": f"{hour:02}:00", "end": f"{hour:02}:01"}


class Daemon:
    """Starts moild, waits until it answers, and stops it at the end of the `with` block.

    `config` joins what is usual, from the next start on; it is written beside the state folder as moild.json.
    It sees a made-up device that tells nothing, and never how busy, warm or fed this machine is: proc and sys are
    looked for in the folder `device` beside the state folder. The log is kept there as moild.log. Not thread-safe.
    """

    def __init__(self, state: Path, *, config: dict[str, Any] | None = None, environment: dict[str, str] | None = None):
        self.state = state
        self.socket = state.parent / "moild.sock"
        self.log = state.parent / "moild.log"
        self.config = config or {}
        self._file = state.parent / "moild.json"
        self._environment = {"MOIL_DEVICE_ROOT": str(state.parent / "device"), **os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    def command(self) -> list[str]:
        words = [program("moild"), "--foreground", "--state-dir", self.state, "--socket", self.socket]
        return [str(word) for word in [*words, "--config", self._file]]

    def start(self) -> None:
        self.start_without_waiting({})
        self._wait_until_it_answers(30)

    def start_without_waiting(self, further: dict[str, str]) -> None:
        """`further` settings of the environment are for this start alone."""
        self._file.write_text(json.dumps({**self.config, "worker": {**_WORKER, **self.config.get("worker", {})}}))
        with self.log.open("ab") as log:
            environment = self._environment | further
            self._process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )

    def stop(self) -> int:
        """Asks it to end and returns its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a power cut would end it."""
        self._end(signal.SIGKILL)

    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def last_line(self) -> str:
        """Its log's."""
        return self._tail(1)

    def workers(self) -> list[int]:
        """The process ids of its children."""
        try:
            text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except FileNotFoundError:
            return []
        return [int(word) for word in text.split()]

    def __enter__(self) -> Daemon:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._process and self._process.poll() is None:
            self.stop()

    def _wait_until_it_answers(self, seconds: float) -> None:
        assert self._process is not None
        give_up = time.monotonic() + seconds
        status = [str(program("moilctl")), "--socket", str(self.socket), "status"]
        while subprocess.run(status, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
            if self._process.poll() is not None:
                raise RuntimeError(f"moild exited {self._process.returncode}:\n{self._tail()}")
            if time.monotonic() > give_up:
                self.kill()
                raise RuntimeError(f"moild does not answer on {self.socket}:\n{self._tail()}")
            time.sleep(0.05)

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None, "not started"
        self._process.send_signal(number)
        try:
            return self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise RuntimeError(f"moild did not end within 60 s of {number.name}:\n{self._tail()}") from None

    def _tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
