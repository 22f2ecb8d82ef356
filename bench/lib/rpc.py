"""The daemon's protocol without moilctl, for what asks thousands of times (docs/protocol.md)."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, BinaryIO


class Refused(RuntimeError):
    """The daemon answered with an error; `code` is its stable name."""

    def __init__(self, method: str, error: dict[str, Any]):
        self.code = error.get("data", {}).get("code", "")
        super().__init__(f"{method}: {error['message']}")


class Rpc:
    """One connection, one request at a time. Made anew where the daemon hung up."""

    def __init__(self, path: Path, seconds: float = 120):
        self._path = path
        self._seconds = seconds
        self._socket: socket.socket | None = None
        self._replies: BinaryIO | None = None

    def __call__(self, method: str, **params: Any) -> Any:
        """The result. Refused for an error, OSError where nobody answers: then nothing is promised."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        try:
            line = self._exchange(json.dumps(request).encode() + b"\n")
        except OSError:
            self.close()
            raise
        if not line.endswith(b"\n"):
            self.close()
            raise ConnectionError(f"{method}: moild hung up")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(method, reply["error"])
        return reply["result"]

    def close(self) -> None:
        for opened in (self._replies, self._socket):
            if opened is not None:
                opened.close()
        self._replies = self._socket = None

    def pages(self, method: str, member: str, **params: Any) -> list[Any]:
        """A list's items, of all its pages."""
        items: list[Any] = []
        more: dict[str, Any] | None = {}
        while more is not None:
            page = self(method, **{**params, **more})
            items += page[member]
            more = page["next"]
        return items

    def _exchange(self, line: bytes) -> bytes:
        if self._socket is None or self._replies is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.settimeout(self._seconds)
            self._socket.connect(str(self._path))
            self._replies = self._socket.makefile("rb")
        self._socket.sendall(line)
        return self._replies.readline()
