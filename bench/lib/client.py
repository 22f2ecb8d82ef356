"""The Python client that ships, for what passes descriptors, hears events, or asks often."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import moild  # noqa: E402

Refused = moild.Error


class Client(moild.Client):
    """A daemon that does not answer ends the test."""

    def __init__(self, path: Path, seconds: float = 600):
        super().__init__(path, seconds)
