"""`moilctl label review` as it runs, and what its page asks."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import subprocess
from typing import Any

from lib.daemon import Daemon
from lib.programs import program


class Review:
    """A running `moilctl label review`."""

    def __init__(self, daemon: Daemon, *words: str, environment: dict[str, str] | None = None):
        plain = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
        command = [str(program("moilctl")), "--socket", str(daemon.socket), "label", "review", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                        env=plain | (environment or {}))
        assert self.process.stdout
        self.told = ""
        for line in self.process.stdout:
            self.told += line
            if line.startswith("Ctrl-C"):
                break
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#(\w+)", self.told)
        assert found, self.told
        self.address, self.port, self.token = found[0], int(found[1]), found[2]

    def ask(self, path: str, body: dict[str, Any] | None = None, secret: str = "") -> tuple[int, str]:
        """A call if there is a body, as the page makes it. The status and what is said."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        here = f"127.0.0.1:{self.port}"
        headers = {"Host": here, "Origin": f"http://{here}", "Moil-Review": secret}
        with contextlib.closing(connection):
            connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
            reply = connection.getresponse()
            assert reply.headers.get("Set-Cookie") is None, "a cookie goes to every server of the machine"
            return reply.status, reply.read().decode()

    def secret(self) -> str:
        """As the page gets it."""
        return json.loads(self.ask("/api/open", {"token": self.token})[1])["secret"]

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=20)
        assert self.process.stdout
        self.process.stdout.close()
