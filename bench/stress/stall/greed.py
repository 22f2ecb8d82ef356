"""A user who asks for as much as one can, in a process that has become that user."""

from __future__ import annotations

import array
import json
import os
import pwd
import socket
import threading
import time
from pathlib import Path
from typing import Any

_CLIENTS = 3
_AT_ONCE = 64  # requests of a client that are not answered yet
_FILES = 50
_REST = 0.02  # seconds between two bursts


class Greed:
    """`kinds`: a method, its parameters and how many descriptors come along. The process begins when it is told so."""

    def __init__(self, path: Path, user: str, seconds: float, kinds: list[tuple[str, dict[str, Any], int]]):
        account = pwd.getpwnam(user)
        begun, self._begin = os.pipe()
        self._told, tell = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            try:
                os.close(self._begin)
                os.read(begun, 1)
                os.setgroups([])
                os.setgid(account.pw_gid)
                os.setuid(account.pw_uid)
                os.write(tell, str(_flood(path, seconds, kinds)).encode())
            finally:
                os._exit(0)
        os.close(begun)
        os.close(tell)

    def begin(self) -> None:
        os.write(self._begin, b".")

    def end(self) -> int:
        """Waits for its end; how many requests it sent."""
        with os.fdopen(self._told) as told:
            sent = told.read()
        os.close(self._begin)
        os.waitpid(self._child, 0)
        return int(sent or 0)


def _flood(path: Path, seconds: float, kinds: list[tuple[str, dict[str, Any], int]]) -> int:
    end = time.monotonic() + seconds
    sent = [0] * _CLIENTS
    threads = [threading.Thread(target=_one, args=(path, end, kinds, sent, i)) for i in range(_CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sent)


def _one(path: Path, end: float, kinds: list[tuple[str, dict[str, Any], int]], sent: list[int], place: int) -> None:
    """Sends what the socket takes and reads what comes; if it is hung up on, it comes again. The first client asks
    for one kind alone."""
    if place == 0:
        kinds = kinds[:1]
    empty = os.memfd_create("photo")
    os.write(empty, b"\xff\xd8\xff a photo")
    while time.monotonic() < end:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            try:
                client.connect(str(path))
                while time.monotonic() < end:
                    for i in range(_AT_ONCE):
                        method, params, files = kinds[i % len(kinds)]
                        line = json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}).encode() + b"\n"
                        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [empty] * files))] if files else []
                        client.sendall(line[client.sendmsg([line], rights) :])
                        sent[place] += 1
                    time.sleep(_REST)
                    client.recv(1 << 20)
            except OSError:
                time.sleep(_REST)
