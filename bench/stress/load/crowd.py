"""Many clients of one daemon, each with a request under way at most, all in one thread."""

from __future__ import annotations

import base64
import heapq
import json
import random
import selectors
import socket
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LABEL = "added under load"

# What is asked for, and how often.
_KINDS: list[tuple[str, dict[str, Any], int]] = [
    ("system.status", {}, 40),
    ("job.list", {"limit": 10}, 12),
    ("job.get", {"id": 1}, 10),
    ("model.list", {}, 10),
    ("label.list", {}, 8),
    ("label.samples", {"limit": 20}, 8),
    ("system.methods", {}, 4),
    ("schedule.list", {}, 3),
    ("label.add", {}, 5),
]


@dataclass
class Answers:
    """What became of the requests."""

    sent: int = 0
    answered: int = 0
    errors: list[str] = field(default_factory=list)
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by method
    added: set[str] = field(default_factory=set)  # digests of acknowledged samples

    @property
    def lost(self) -> int:
        return self.sent - self.answered


class _Client:
    def __init__(self, path: Path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.setblocking(False)
        self.buffer = b""
        self.method = ""
        self.sent_at = 0.0
        self.is_waiting = False


class Crowd:
    """`clients` connections that send `rate` requests a second between them."""

    def __init__(self, path: Path, clients: int, rate: float, chance: random.Random):
        self._clients = [_Client(path) for _ in range(clients)]
        self._rate = rate
        self._chance = chance
        self._number = 0

    def ask(self, requests: int, answers: Answers, patience: float = 30) -> None:
        """Sends them and waits for the replies; what does not come within `patience` seconds is lost."""
        start = time.monotonic()
        due = [(start + i / self._rate, i) for i in range(len(self._clients))]
        heapq.heapify(due)
        late: list[int] = []  # clients whose turn came while they waited for a reply
        give_up = start + requests / self._rate + patience
        left, before = requests, answers.lost
        with selectors.DefaultSelector() as selector:
            for i, client in enumerate(self._clients):
                selector.register(client.socket, selectors.EVENT_READ, i)
            while left > 0 or answers.lost > before:
                now = time.monotonic()
                if now > give_up:
                    return
                while left > 0 and due and due[0][0] <= now:
                    _, i = heapq.heappop(due)
                    if self._clients[i].is_waiting:
                        late.append(i)
                        continue
                    self._send(self._clients[i], answers)
                    left -= 1
                    heapq.heappush(due, (now + len(self._clients) / self._rate, i))
                wait = max(0.0, due[0][0] - time.monotonic()) if left > 0 and due else 0.05
                for key, _ in selector.select(min(wait, 0.05)):
                    self._receive(self._clients[key.data], answers)
                for i in [i for i in late if not self._clients[i].is_waiting]:
                    late.remove(i)
                    heapq.heappush(due, (time.monotonic(), i))

    def close(self) -> None:
        for client in self._clients:
            client.socket.close()

    def _send(self, client: _Client, answers: Answers) -> None:
        [(method, params, _)] = self._chance.choices(_KINDS, [weight for *_, weight in _KINDS])
        self._number += 1
        if method == "label.add":
            row = f"{self._number},{self._chance.random()}\n".encode()
            params = {"labels": [LABEL], "samples": [{"content": base64.b64encode(row).decode()}]}
        line = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}) + "\n"
        client.method, client.is_waiting, client.sent_at = method, True, time.perf_counter()
        client.socket.send(line.encode())  # small: it always fits
        answers.sent += 1

    def _receive(self, client: _Client, answers: Answers) -> None:
        now = time.perf_counter()
        chunk = client.socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError(f"the daemon hung up on a client that asked for {client.method}")
        client.buffer += chunk
        if not client.buffer.endswith(b"\n"):
            return
        reply = json.loads(client.buffer)
        client.buffer, client.is_waiting = b"", False
        answers.answered += 1
        answers.milliseconds[client.method].append(1000 * (now - client.sent_at))
        if "error" in reply:
            answers.errors.append(f"{client.method}: {reply['error']['message']}")
        elif client.method == "label.add":
            answers.added |= {sample["digest"] for sample in reply["result"]["samples"] if "digest" in sample}
