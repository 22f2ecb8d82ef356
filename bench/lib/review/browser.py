"""A headless Chromium, steered by the DevTools protocol over a pair of pipes: no port, no driver, and the
standard library alone."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# What each key sends beside its name: the code that Windows has for it.
_CODES = {"Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
          "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46}
_MODIFIERS = {"Control": 2, "Shift": 8}
PHONE = (390, 844)
# Chromium reads from descriptor 3 and writes to 4. What is there may be one of the ends themselves, and a
# shell takes no descriptor above 9.
_BEGIN = """import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for descriptor, end in zip((3, 4), ends): os.dup2(end, descriptor)
os.execvp(sys.argv[3], sys.argv[3:])"""


def missing() -> str | None:
    """Why there is no browser, as a clause; None if there is one."""
    return None if shutil.which("chromium") else "no browser: chromium is not installed (apt-get install chromium)"


class Browser:
    """One window with a profile of its own, which goes with it. `touch`: a phone's, of the phone's size."""

    def __init__(self, size: tuple[int, int] = (1280, 800), *, dark: bool = False, touch: bool = False):
        self._folder = tempfile.TemporaryDirectory(prefix="moil-browser-", ignore_cleanup_errors=True)
        self._next_id = 0
        self._buffer = b""
        self._complaints: list[str] = []
        self._touch = touch
        self._start()
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session: str | None = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride",
                   {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": touch})
        if touch:
            self._call("Emulation.setTouchEmulationEnabled", {"enabled": True})
        self.show_in(dark=dark)

    def _start(self) -> None:
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        words = ["chromium", "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                 "--no-first-run", "--disable-background-networking", "--disable-component-update",
                 f"--user-data-dir={self._folder.name}"]
        begin = [sys.executable, "-c", _BEGIN, str(to_child), str(from_child), *words]
        log = Path(self._folder.name) / "chromium.log"
        with log.open("wb") as errors:
            self._process = subprocess.Popen(begin, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                             pass_fds=(to_child, from_child))
        os.close(to_child)
        os.close(from_child)
        self._session = None

    def close(self) -> None:
        self._session = None
        try:
            self._call("Browser.close")
            self._process.wait(timeout=10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    # --- the protocol -------------------------------------------------------------------------------

    def _call(self, method: str, params: dict[str, Any] | None = None, seconds: float = 60) -> dict[str, Any]:
        self._next_id += 1
        message = {"id": self._next_id, "method": method, "params": params or {}}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data):]
        give_up = time.monotonic() + seconds
        while True:
            reply = self._read(give_up)
            if reply.get("id") == message["id"]:
                if "error" in reply:
                    raise AssertionError(f"{method}: {reply['error']['message']}")
                return reply["result"]
            self._note(reply)

    def _read(self, give_up: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, give_up - time.monotonic()))
            part = os.read(self._in, 1 << 20) if ready else b""
            if not part:
                raise AssertionError("the browser does not answer" if not ready else "the browser has ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self._complaints.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self._complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
            self._complaints.append(" ".join(str(a.get("description", a.get("value"))) for a in params["args"]))

    # --- the page -----------------------------------------------------------------------------------

    def show_in(self, *, dark: bool) -> None:
        value = "dark" if dark else "light"
        self._call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})

    def open(self, address: str) -> None:
        self._call("Page.navigate", {"url": address})
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'")

    def run(self, expression: str, seconds: float = 60) -> Any:
        """The expression's value, awaited if it is a promise."""
        done = self._call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True},
                          seconds)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"].get("exception", {}).get("description", expression))
        return done["result"].get("value")

    def until(self, condition: str, seconds: float = 40) -> None:
        give_up = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > give_up:
                raise AssertionError(f"the page did not come to: {condition}")
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def _middle(self, selector: str) -> list[float]:
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'nearest', inline: 'nearest', behavior: 'instant'}})")
        box = f"{element}.getBoundingClientRect()"
        return self.run(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")

    def click(self, selector: str, *held: str) -> None:
        """At its middle, as a mouse does, with these keys held; as a finger does if there is one."""
        x, y = self._middle(selector)
        if self._touch:
            self._call("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
            self._call("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            return
        event = {"x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": sum(_MODIFIERS[key] for key in held)}
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", {"type": kind, **event})

    def press(self, *keys: str, hold: str | None = None) -> None:
        """Keys one after the other, by name or as the character that they write."""
        modifiers = _MODIFIERS[hold] if hold else 0
        for key in keys:
            event: dict[str, Any] = {"key": key, "modifiers": modifiers}
            if key in _CODES:
                event["windowsVirtualKeyCode"] = _CODES[key]
            text = "\r" if key == "Enter" else key if len(key) == 1 and hold != "Control" else ""
            kind = "keyDown" if text else "rawKeyDown"
            self._call("Input.dispatchKeyEvent", {"type": kind, **event, **({"text": text} if text else {})})
            self._call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def wheel(self, selector: str, by: float) -> None:
        x, y = self._middle(selector)
        self._call("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by})

    def complaints(self) -> list[str]:
        """What went wrong in the page since this was last asked, as its console tells it."""
        self.run("0")
        told, self._complaints = self._complaints, []
        return told

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", {"format": "png"})["data"]))
