"""Who asks again and again, and how long it waits."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path
from types import TracebackType

from lib.client import Client

_EVERY = 0.003  # seconds between two questions


class Echo:
    """A process that answers at once: who waits for it waits for the machine, which is busy with something else."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        self._child = os.fork()
        if self._child == 0:
            self.socket.close()
            while word := theirs.recv(64):
                theirs.sendall(word)
            os._exit(0)
        theirs.close()

    def wait(self) -> float:
        """Milliseconds for an answer."""
        began = time.perf_counter()
        self.socket.sendall(b".")
        self.socket.recv(64)
        return 1000 * (time.perf_counter() - began)

    def close(self) -> None:
        self.socket.close()
        os.waitpid(self._child, 0)


class Probe:
    """Within a `with` block one thread asks for system.status, and another the echo; afterwards: how long they waited
    at most, and how many descriptors the daemon had at most."""

    def __init__(self, path: Path, process: int, echo: Echo):
        self._echo = echo
        self._listener = threading.Thread(target=self._listen)
        self.machine_ms = 0.0
        self._client = Client(path)
        self._process = process
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.longest_ms = 0.0
        self.descriptors = 0

    def __enter__(self) -> Probe:
        self._thread.start()
        self._listener.start()
        time.sleep(0.02)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        time.sleep(0.05)
        self._end.set()
        self._thread.join()
        self._listener.join()
        self._client.close()

    def _listen(self) -> None:
        while not self._end.is_set():
            self.machine_ms = max(self.machine_ms, self._echo.wait())
            time.sleep(_EVERY)

    def _watch(self) -> None:
        while not self._end.is_set():
            began = time.perf_counter()
            self._client.ask("system.status")
            self.longest_ms = max(self.longest_ms, 1000 * (time.perf_counter() - began))
            self.descriptors = max(self.descriptors, len(os.listdir(f"/proc/{self._process}/fd")))
            time.sleep(_EVERY)
