"""Clients that behave badly, each in a process of its own: silent, slow and greedy.

Each says at its end what it got of what it may expect: even they lose nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType
from typing import Any

_STATUS = b'{"jsonrpc":"2.0","id":1,"method":"system.status"}\n'
_METHODS = b'{"jsonrpc":"2.0","id":1,"method":"system.methods"}\n'
_PATIENCE = 60.0  # seconds for what is on its way at the end


def _connected(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(_PATIENCE)
    client.connect(str(path))
    return client


def _silent(path: Path, end: Event) -> dict[str, Any]:
    """One client says nothing for the whole time, one begins a request and does not end it."""
    with _connected(path) as quiet, _connected(path) as half:
        return _say_nothing(quiet, half, end)


def _say_nothing(quiet: socket.socket, half: socket.socket, end: Event) -> dict[str, Any]:
    half.sendall(_STATUS[:20])
    end.wait()
    quiet.sendall(_STATUS)
    with quiet.makefile("rb") as lines:
        return {"is_served": b'"result"' in lines.readline()}


def _slow(path: Path, end: Event) -> dict[str, Any]:
    """Asks for much and reads it a little at a time."""
    asked = 300
    client = _connected(path)
    sender = threading.Thread(target=client.sendall, args=(_METHODS * asked,))
    sender.start()
    received = 0
    while received < asked:
        chunk = client.recv(4096)
        if not chunk:
            break
        received += chunk.count(b"\n")
        if not end.is_set():
            time.sleep(0.02)
    sender.join()
    client.close()
    return {"is_served": received == asked, "replies": received}


def _greedy(path: Path, end: Event) -> dict[str, Any]:
    """Sends as many requests as the daemon takes, without a pause."""
    client = _connected(path)
    received = 0

    def read() -> None:
        nonlocal received
        while chunk := client.recv(1 << 18):
            received += chunk.count(b"\n")

    reader = threading.Thread(target=read)
    reader.start()
    sent, began = 0, time.monotonic()
    while not end.is_set():
        client.sendall(_STATUS * 10)
        sent += 10
    seconds = time.monotonic() - began
    client.shutdown(socket.SHUT_WR)
    reader.join(_PATIENCE)
    client.close()
    return {"is_served": received == sent, "sent": sent, "replies": received, "taken_per_second": round(sent / seconds)}


def _run(work: Callable[[Path, Event], dict[str, Any]], path: Path, begin: Event, end: Event, tell: Connection) -> None:
    begin.wait()
    try:
        tell.send(json.dumps(work(path, end)))
    except OSError as error:
        tell.send(json.dumps({"is_served": False, "error": str(error)}))


class Trouble:
    """The three at work within a `with` block; `told` afterwards."""

    def __init__(self, path: Path):
        context = multiprocessing.get_context("fork")
        self._begin, self._end = context.Event(), context.Event()
        self.told: dict[str, dict[str, Any]] = {}
        self._ears: dict[str, Connection] = {}
        self._processes = []
        for name, work in (("silent", _silent), ("slow", _slow), ("greedy", _greedy)):
            self._ears[name], tell = context.Pipe(duplex=False)
            self._processes.append(context.Process(target=_run, args=(work, path, self._begin, self._end, tell), daemon=True))

    def __enter__(self) -> Trouble:
        for process in self._processes:
            process.start()
        time.sleep(0.5)  # that starting them is no part of what the others feel
        self._begin.set()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end.set()
        for name, ear in self._ears.items():
            self.told[name] = json.loads(ear.recv()) if ear.poll(2 * _PATIENCE) else {"is_served": False}
        for process in self._processes:
            process.join(5)
            process.kill()
