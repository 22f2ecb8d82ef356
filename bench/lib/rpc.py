"""The daemon's protocol for who outlives its daemon (docs/protocol.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .client import Client


class Rpc:
    """One connection, one request at a time. Made anew if the daemon hung up."""

    def __init__(self, path: Path, seconds: float = 120):
        self._path = path
        self._seconds = seconds
        self._client: Client | None = None

    def __call__(self, method: str, **params: Any) -> Any:
        """The result. Refused for an error, OSError if nobody answers: then nothing is promised."""
        return self._do(lambda client: client.ask(method, params))

    def pages(self, method: str, member: str, **params: Any) -> list[Any]:
        """A list's items, of all its pages."""
        return self._do(lambda client: list(client.pages(method, member, **params)))

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def _do(self, work: Callable[[Client], Any]) -> Any:
        try:
            if self._client is None:
                self._client = Client(self._path, self._seconds)
            return work(self._client)
        except OSError:
            self.close()
            raise
