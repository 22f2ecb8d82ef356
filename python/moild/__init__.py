"""A client of moild, the service that personalizes neural networks on this device (docs/python.md).

    with moild.Client() as m:
        m.add(["a.jpg", "b.jpg"], label="cat")
        for said in m.predict(["c.jpg"]):
            print(said["top"])

Each method of the protocol (docs/protocol.md) is a method here, too: `m.label_list()` asks for label.list.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import socket
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Union

from ._methods import Json, Methods

__all__ = ["Client", "Error", "FINISHED", "Json", "Sample"]

Sample = Union[str, "os.PathLike[str]", bytes]  # a file's path, or what it holds
FINISHED = frozenset({"succeeded", "rejected-by-guard", "failed", "cancelled"})  # states of a job that has ended
_AT_ONCE = 50  # files a request


class Error(RuntimeError):
    """The daemon refused a request, or could not do it.

    code: the stable name (not_found, permission_denied, ...); number: its JSON-RPC code; errors: of wrong parameters each
    {"pointer", "message"}; data: all that came with it.
    """

    def __init__(self, method: str, error: Json):
        super().__init__(f"{method}: {error['message']}")
        self.number: int = error["code"]
        self.data: Json = error.get("data") or {}
        self.code: str = self.data.get("code", "")
        self.errors: list[Json] = self.data.get("errors", [])


class Client(Methods):
    """One connection to moild, for one thread. OSError if nobody listens or the daemon hangs up.

    path: its socket; else what MOILD_SOCKET names, else that of the service. timeout: seconds to wait for an answer or
    event; None is for as long as it takes, for the daemon has deadlines of its own.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, timeout: float | None = None):
        self.path = os.fspath(path or os.environ.get("MOILD_SOCKET") or "/run/moild/moild.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            self.socket.settimeout(timeout)
            self.socket.connect(self.path)
        except BaseException:
            self.socket.close()
            raise
        self._lines = self.socket.makefile("rb")
        self._id = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def close(self) -> None:
        self._lines.close()
        self.socket.close()

    # --- the protocol --------------------------------------------------------------------------

    def ask(self, method: str, params: Json | None = None, descriptors: Sequence[int] = ()) -> Json:
        """What the method answers; `descriptors` go along (SCM_RIGHTS)."""
        self.send(method, params, descriptors)
        return self.read(method)

    def send(self, method: str, params: Json | None = None, descriptors: Sequence[int] = ()) -> None:
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        data = json.dumps(request, separators=(",", ":")).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # the daemon may have said why before it hung up
            if descriptors:
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
                data = data[self.socket.sendmsg([data], rights) :]
            self.socket.sendall(data)

    def read(self, method: str) -> Json:
        """The answer to the last request; events that come before it are passed over."""
        while True:
            message = self._message()
            if "error" in message and message["id"] in (self._id, None):
                raise Error(method, message["error"])
            if message.get("id") == self._id and "result" in message:
                result: Json = message["result"]
                return result

    def event(self) -> Json:
        """The next notification; answers are passed over."""
        while True:
            message = self._message()
            if "id" not in message:
                return message

    def _message(self) -> Json:
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("moild hung up")
        message: Json = json.loads(line)
        return message

    def pages(self, method: str, member: str, **params: Any) -> Iterator[Json]:
        """The items of a list that comes in pages: `m.pages("label.list", "labels")`."""
        more: Json | None = {}
        while more is not None:
            page = self.ask(method, {**params, **more})
            yield from page[member]
            more = page["next"]

    # --- what is asked for most ------------------------------------------------------------------

    def predict(self, samples: Iterable[Sample], *, model: str | None = None, top: int = 5) -> list[Json]:
        """What the model in service says of each, or its "error"; see model.predict."""
        said: list[Json] = []
        for files, images in _opened(samples):
            reply = self.model_predict(images=[{"file": image["file"]} for image in images], model=model, top=top, descriptors=files)
            said += reply["predictions"]
        return said

    def add(self, samples: Iterable[Sample], *, label: str | Sequence[str] | None = None, split: Literal["train", "val"] | None = None) -> list[Json]:
        """Adds samples, under labels or without; of each the "digest" and whether it is "new", or its "error"; see label.add.

        All of them are one step of label.undo. The files' bytes are read by the daemon with the caller's rights.
        """
        labels = [label] if isinstance(label, str) else list(label or ())
        step, added = uuid.uuid4().hex, []
        for files, some in _opened(samples):
            added += self.label_add(samples=some, labels=labels, split=split, step=step, descriptors=files)["samples"]
        return added

    def jobs(self, state: str | None = None) -> Iterator[Json]:
        """The newest first; see job.list."""
        return self.pages("job.list", "jobs", **({"state": state} if state else {}))

    def watch(self, job: int) -> Iterator[Json]:
        """A job's events, those that were and those that come, until it has ended; see job.watch.

        It has a connection of its own, so this one serves meanwhile.
        """
        with Client(self.path, self.socket.gettimeout()) as line:
            begun = line.job_watch(id=job)
            for entry in begun["events"]:
                yield entry["event"]
            if begun["next"] is None and begun["job"]["state"] in FINISHED:
                return
            while True:
                event: Json = line.event()["params"]["event"]
                yield event
                # One that was tried again had ended before.
                if event["event"] == "state" and event["state"] in FINISHED and self.job_get(id=job)["job"]["state"] in FINISHED:
                    return

    def wait(self, job: int) -> Json:
        """The job with its result, when it has ended, however it ended; see job.get."""
        for _ in self.watch(job):
            pass
        found: Json = self.job_get(id=job)["job"]
        return found


def _opened(samples: Iterable[Sample]) -> Iterator[tuple[list[int], list[Json]]]:
    """As many at a time as a request takes: descriptors, and the samples as label.add wants them."""
    all_of_them = list(samples)
    for start in range(0, len(all_of_them), _AT_ONCE):
        with contextlib.ExitStack() as held:
            files: list[int] = []
            described: list[Json] = []
            for sample in all_of_them[start : start + _AT_ONCE]:
                if isinstance(sample, bytes):
                    file = os.memfd_create("sample")
                    held.callback(os.close, file)
                    with os.fdopen(os.dup(file), "wb") as writer:
                        writer.write(sample)
                    named = {}
                else:
                    file = os.open(sample, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe is refused, and holds nobody up
                    held.callback(os.close, file)
                    named = {"name": os.path.abspath(sample)}
                described.append({"file": len(files), **named})
                files.append(file)
            yield files, described
