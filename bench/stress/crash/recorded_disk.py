"""What a power cut may leave of a folder whose changes were recorded (tests/preload/recorded_disk.c).

What was flushed is there. The rest:
- Each sector (512 bytes) of a file, and its size, is as it was at some moment between the file's last flush and the
  cut; the system writes pages of 4096 bytes back when it likes, and a page may be torn between two sectors.
- Each change of a name (a file or folder that was made, renamed or removed) is kept or not. A rename is whole, into
  another folder, too. In `ordered` metadata, as journals of ext4, XFS and Btrfs have it, all changes up to some moment are
  kept; there, the flush of a file also keeps its name. Otherwise any of them are, and nothing but the flush of a folder keeps
  what changed in it: POSIX promises no more.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.programs import build_dir

SECTOR, PAGE = 512, 4096
_FIELDS = struct.Struct("<IIIIqq")  # struct Fields
CREATE, FOLDER, WRITE, WRITE_THROUGH, SIZE, ZERO, RENAME, REMOVE, FLUSH_BEGINS, FLUSHED, MARK = range(1, 12)


class Recorder:
    """The log of a folder; `environment` makes a program keep it."""

    def __init__(self, log: Path, folder: Path, flush_ms: int):
        self._library = build_dir() / "tests" / "preload" / "libmoil_recorded_disk.so"
        if not self._library.is_file():
            raise FileNotFoundError(f"{self._library} is not built; build moil_recorded_disk, or set MOIL_BUILD")
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC, 0o600)
        self._environment = {"MOIL_RECORD": str(log), "MOIL_RECORD_BELOW": str(folder.resolve()), "MOIL_RECORD_FLUSH_MS": str(flush_ms)}

    def environment(self, preloaded: str = "") -> dict[str, str]:
        """`preloaded`: other libraries that the program has."""
        return {**self._environment, "LD_PRELOAD": ":".join(filter(None, [preloaded, str(self._library)]))}

    def mark(self, text: Any) -> None:
        """Something happened now."""
        body = json.dumps(text).encode()
        os.write(self._log, _FIELDS.pack(MARK, 0, len(body), 0, 0, 0) + body)

    def close(self) -> None:
        os.close(self._log)


@dataclass
class Record:
    kind: int
    path: str
    other: str
    at: int
    bytes: int
    content: bytes


def records_of(log: Path) -> Iterator[Record]:
    with log.open("rb") as file:
        while head := file.read(_FIELDS.size):
            kind, path, other, _, at, count = _FIELDS.unpack(head)
            names = file.read(path + other)
            content = file.read(count) if kind in (WRITE, WRITE_THROUGH) else b""
            yield Record(kind, os.fsdecode(names[:path]), os.fsdecode(names[path:]), at, count, content)


@dataclass(eq=False)
class _Change:
    """A change of a file's content: bytes that were written, or its new size if there are none."""

    moment: int
    at: int
    content: bytes | None

    def size_after(self, size: int) -> int:
        return self.at if self.content is None else max(size, self.at + len(self.content))


@dataclass(eq=False)
class _Node:
    """A file or a folder."""

    entries: dict[str, _Node] | None = None  # of a folder, as they are now
    kept: bytearray = field(default_factory=bytearray)  # of a file, as flushed
    pending: list[_Change] = field(default_factory=list)

    def flush(self, moment: int) -> None:
        """What changed before it is on the disk."""
        for change in [one for one in self.pending if one.moment < moment]:
            _apply(self.kept, change)
        self.pending = [one for one in self.pending if one.moment >= moment]


@dataclass(eq=False)
class _Naming:
    """Where nodes are from then on; None: nowhere."""

    moment: int
    places: list[tuple[_Node, tuple[_Node, str] | None]]
    folders: set[_Node]
    is_flushed: bool = False


def _apply(to: bytearray, change: _Change) -> None:
    if change.content is None:
        del to[change.at :]
        to.extend(bytes(change.at - len(to)))
        return
    to.extend(bytes(max(0, change.at + len(change.content) - len(to))))
    to[change.at : change.at + len(change.content)] = change.content


class Disk:
    """The folder from its beginning on; take() lets its changes happen, one after the other."""

    def __init__(self, beginning: Path, recorded_at: Path):
        self._at = str(recorded_at.resolve())
        self._root = _Node({})
        self._where: dict[_Node, tuple[_Node, str]] = {}
        self._namings: list[_Naming] = []
        self._unflushed: list[_Naming] = []
        self._flushes: dict[int, tuple[_Node | None, int]] = {}
        self._ordered = 0  # what changed of names before that moment is on a disk with ordered metadata
        self._now = 0
        self._load(beginning, self._root)
        self._flush_all(self._now + 1)

    def _load(self, folder: Path, node: _Node) -> None:
        for entry in sorted(folder.iterdir()):
            child = _Node({}) if entry.is_dir() else _Node(kept=bytearray(entry.read_bytes()))
            self._name([(child, (node, entry.name))])
            if entry.is_dir():
                self._load(entry, child)

    def take(self, record: Record) -> None:
        self._now += 1
        if record.kind in (CREATE, FOLDER):
            self._name([(_Node({} if record.kind == FOLDER else None), self._place(record.path))])
        elif record.kind in (WRITE, WRITE_THROUGH):
            self._change(record.path, record.at, record.content, record.kind == WRITE_THROUGH)
        elif record.kind == SIZE:
            self._change(record.path, record.at, None, False)
        elif record.kind == ZERO:
            held = self._size(self._node(record.path)) - record.at
            self._change(record.path, record.at, bytes(max(0, min(record.bytes, held))), False)
        elif record.kind == RENAME:
            self._rename(self._node(record.path), self._place(record.other))
        elif record.kind == REMOVE:
            self._name([(self._node(record.path), None)])
        elif record.kind == FLUSH_BEGINS:
            self._flushes[record.at] = (self._node(record.path) if record.path else None, self._now)
        elif record.kind == FLUSHED:
            self._flush(*self._flushes.pop(record.at))

    # ---- what there is now ----

    def _place(self, path: str) -> tuple[_Node, str]:
        folder, name = os.path.split(os.path.normpath(path))
        return self._node(folder), name

    def _node(self, path: str) -> _Node:
        node = self._root
        for name in os.path.relpath(path, self._at).split("/"):
            if name != ".":
                assert node.entries is not None
                node = node.entries[name]
        return node

    def _rename(self, node: _Node, to: tuple[_Node, str]) -> None:
        assert to[0].entries is not None
        replaced = to[0].entries.get(to[1])
        gone: list[tuple[_Node, tuple[_Node, str] | None]] = [(replaced, None)] if replaced not in (None, node) else []  # type: ignore[list-item]
        self._name([*gone, (node, to)])

    def _name(self, places: list[tuple[_Node, tuple[_Node, str] | None]]) -> None:
        folders = set()
        for node, place in places:
            before = self._where.pop(node, None)
            if before is not None and before[0].entries is not None and before[0].entries.get(before[1]) is node:
                del before[0].entries[before[1]]
                folders.add(before[0])
            if place is not None:
                assert place[0].entries is not None
                place[0].entries[place[1]] = node
                folders.add(place[0])
                self._where[node] = place
        self._namings.append(_Naming(self._now, places, folders))
        self._unflushed.append(self._namings[-1])

    def _size(self, node: _Node) -> int:
        size = len(node.kept)
        for change in node.pending:
            size = change.size_after(size)
        return size

    def _change(self, path: str, at: int, content: bytes | None, is_flushed: bool) -> None:
        node = self._node(path)
        node.pending.append(_Change(self._now, at, content))
        if is_flushed:
            node.flush(self._now + 1)

    def _flush(self, node: _Node | None, moment: int) -> None:
        if node is None:
            return self._flush_all(moment)
        node.flush(moment)
        for naming in self._unflushed:
            if naming.moment < moment and (node in naming.folders or any(node is one for one, _ in naming.places)):
                naming.is_flushed = node in naming.folders
                self._ordered = max(self._ordered, naming.moment)
        self._unflushed = [naming for naming in self._unflushed if not naming.is_flushed]

    def _flush_all(self, moment: int) -> None:
        self._ordered = moment
        for naming in self._unflushed:
            naming.is_flushed = naming.moment < moment
        self._unflushed = [naming for naming in self._unflushed if not naming.is_flushed]
        for node in self._where:
            node.flush(moment)

    # ---- what is left of it ----

    def write_all(self, folder: Path) -> None:
        """As it is now."""
        self._write(folder, lambda naming: True, lambda node: _whole(node))

    def write_flushed(self, folder: Path) -> str:
        """The least that a power cut now leaves."""
        self._write(folder, lambda naming: naming.is_flushed, lambda node: bytes(node.kept))
        return "nothing that was not flushed"

    def write_names(self, folder: Path) -> str:
        """All names as they are now, and of contents the least."""
        self._write(folder, lambda naming: True, lambda node: bytes(node.kept))
        return "all names, no unflushed contents"

    def write_cut(self, folder: Path, chance: random.Random) -> str:
        """What a power cut now leaves, one of many possibilities. Says which kind."""
        is_ordered = chance.random() < 0.5
        names = chance.choice(["no", "all", "some", "some", "some"])
        contents = chance.choice(["no", "all", "some", "some", "some"])
        share = {"no": 0.0, "all": 1.0, "some": chance.choice([0.1, 0.5, 0.9])}[names]
        if is_ordered:
            last = self._ordered + round(share * (self._now - self._ordered) * (chance.random() if names == "some" else 1))
            is_kept: Callable[[_Naming], bool] = lambda naming: naming.moment <= last
        else:
            is_kept = lambda naming: naming.is_flushed or chance.random() < share
        self._write(folder, is_kept, lambda node: _left(node, contents, chance))
        return f"{'ordered' if is_ordered else 'any'} metadata, {names} unflushed names, {contents} unflushed contents"

    def _write(self, folder: Path, is_kept: Callable[[_Naming], bool], content: Callable[[_Node], bytes]) -> None:
        places: dict[_Node, tuple[int, _Node, str] | None] = {}
        for number, naming in enumerate(self._namings):
            if is_kept(naming):
                for node, place in naming.places:
                    places[node] = None if place is None else (number, *place)
        entries: dict[_Node, dict[str, _Node]] = {}
        found = [(*place, node) for node, place in places.items() if place is not None]
        for _, parent, name, node in sorted(found, key=lambda one: one[0]):
            entries.setdefault(parent, {})[name] = node
        shutil.rmtree(folder, ignore_errors=True)
        _write_folder(folder, self._root, entries, content)


def _write_folder(folder: Path, node: _Node, entries: dict[_Node, dict[str, _Node]], content: Callable[[_Node], bytes]) -> None:
    folder.mkdir(mode=0o700)
    for name, child in entries.get(node, {}).items():
        if child.entries is not None:
            _write_folder(folder / name, child, entries, content)
        else:
            (folder / name).write_bytes(content(child))
            (folder / name).chmod(0o600)


def _whole(node: _Node) -> bytes:
    out = bytearray(node.kept)
    for change in node.pending:
        _apply(out, change)
    return bytes(out)


def _left(node: _Node, contents: str, chance: random.Random) -> bytes:
    """A file's content: each unit of it is as it was after some of the changes."""
    count = len(node.pending)
    if count == 0 or contents == "no":
        return bytes(node.kept)
    if contents == "all":
        return _whole(node)
    how = chance.choice(["no", "all", "beginning", "pages", "sectors"])
    if how in ("no", "all"):
        return _left(node, how, chance)
    if how == "beginning":  # and of the last one a part
        made = chance.randint(1, count)
        out = bytearray(node.kept)
        for change in node.pending[: made - 1]:
            _apply(out, change)
        last = node.pending[made - 1]
        if last.content is not None:
            last = _Change(last.moment, last.at, last.content[: chance.randint(0, len(last.content)) // SECTOR * SECTOR])
        _apply(out, last)
        return bytes(out)
    return _units(node, PAGE if how == "pages" else SECTOR, chance)


def _units(node: _Node, unit: int, chance: random.Random) -> bytes:
    count = len(node.pending)
    some_moment = lambda: chance.choice([0, count, chance.randint(0, count)])  # noqa: E731
    seen: dict[int, int] = {}
    out, size, size_moment = bytearray(node.kept), len(node.kept), some_moment()
    for number, change in enumerate(node.pending):
        if number < size_moment:
            size = change.size_after(size)
        end = len(out) if change.content is None else change.at + len(change.content)
        out.extend(bytes(max(0, end - len(out))))
        for one in range(change.at // unit, -(-end // unit)):
            is_made = number < seen.setdefault(one, some_moment()) or (change.content is None and number < size_moment)
            if is_made:
                first, last = max(change.at, one * unit), min(end, (one + 1) * unit)
                out[first:last] = bytes(last - first) if change.content is None else change.content[first - change.at : last - change.at]
    return bytes(out[:size]) + bytes(max(0, size - len(out)))
