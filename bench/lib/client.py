"""The daemon's protocol without moilctl, for what passes descriptors, hears events, or asks often (docs/protocol.md)."""

from __future__ import annotations

import array
import json
import socket
from pathlib import Path
from typing import Any


class Refused(RuntimeError):
    """The daemon answered with an error; `code` is its stable name."""

    def __init__(self, method: str, error: dict[str, Any]):
        self.code = error.get("data", {}).get("code", "")
        super().__init__(f"{method}: {error['message']}")


class Client:
    """One connection, one request at a time. OSError if nobody answers."""

    def __init__(self, path: Path, seconds: float = 600):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(str(path))
        self._lines = self.socket.makefile("rb")

    def ask(self, method: str, params: dict[str, Any] | None = None, files: list[int] | None = None) -> Any:
        self.send(method, params, files)
        return self.read(method)

    def send(self, method: str, params: dict[str, Any] | None = None, files: list[int] | None = None) -> None:
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}, separators=(",", ":"))
        data = line.encode() + b"\n"
        if files:
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
            data = data[self.socket.sendmsg([data], rights) :]
        self.socket.sendall(data)

    def read(self, method: str) -> Any:
        while True:
            line = self._lines.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError(f"{method}: the daemon hung up")
            reply = json.loads(line)
            if "id" not in reply:  # an event of a job that is watched
                continue
            if "error" in reply:
                raise Refused(method, reply["error"])
            return reply["result"]

    def event(self) -> Any:
        """The next one of a job that is watched; replies are left aside."""
        while True:
            message = json.loads(self._lines.readline())
            if "id" not in message:
                return message

    def close(self) -> None:
        self._lines.close()
        self.socket.close()
