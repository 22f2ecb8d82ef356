"""The daemon's protocol for who outlives its daemon (docs/protocol.md)."""

from __future__ import annotations

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
        try:
            if self._client is None:
                self._client = Client(self._path, self._seconds)
            return self._client.ask(method, params)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def pages(self, method: str, member: str, **params: Any) -> list[Any]:
        """A list's items, of all its pages."""
        items: list[Any] = []
        more: dict[str, Any] | None = {}
        while more is not None:
            page = self(method, **{**params, **more})
            items += page[member]
            more = page["next"]
        return items
