"""A device from nothing: `moilctl setup`, the first prediction, the first night."""

from __future__ import annotations

import csv
import os
import random
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from lib.daemon import Daemon, closed_window
from lib.moilctl import Moilctl
from lib.programs import program
from lib.samples import Files, count, files_of
from lib.say import say

T = TypeVar("T")
HELD_OUT = 0.2  # of a user's folder, by label; moild never sees them
AT_ONCE = 100  # files of one `predict`


@dataclass(frozen=True)
class User:
    """`shown` is what setup gets, a folder or a table; `held_out` what judges."""

    kind: str
    shown: Path
    samples: int  # that are shown
    held_out: Files


def _parted(members: list[T], name: str, seed: int) -> tuple[list[T], list[T]]:
    """Those that are held out, and those that are shown."""
    drawn = random.Random(f"{seed}/{name}").sample(members, len(members))
    apart = min(max(1, round(HELD_OUT * len(members))), len(members) - 1)
    return drawn[:apart], drawn[apart:]


def user_of_folder(kind: str, samples: Path, into: Path, seed: int = 1) -> User:
    """Copies a folder of folders, but for a part of each label, which is drawn."""
    held_out: Files = {}
    shown = 0
    names = sorted(entry.name for entry in samples.iterdir() if entry.is_dir())
    for name, members in files_of(samples, names).items():
        apart, given = _parted(members, name, seed)
        held_out[name] = sorted(apart)
        (into / name).mkdir(parents=True)
        for member in given:
            shutil.copy(member, into / name)
        shown += len(given)
    return User(kind, into, shown, held_out)


def user_of_table(table: Path, into: Path, seed: int = 1) -> User:
    """The last column is the label, as setup takes it. Amounts are held out over all."""
    with table.open(newline="") as file:
        names, *records = csv.reader(file)
    are_amounts = len({record[-1] for record in records}) > len(records) / 3
    groups: dict[str, list[list[str]]] = {}
    for record in records:
        groups.setdefault("" if are_amounts else record[-1], []).append(record)
    (into / "held-out").mkdir(parents=True)
    shown: list[list[str]] = []
    held_out: Files = {}
    for name, members in sorted(groups.items()):
        apart, given = _parted(members, name, seed)
        shown += given
        for record in apart:
            file_of_it = into / "held-out" / f"{count(held_out)}.csv"
            _write_table(file_of_it, [names[:-1], record[:-1]])
            held_out.setdefault(record[-1], []).append(file_of_it)
    random.Random(seed).shuffle(shown)
    _write_table(into / table.name, [names, *shown])
    return User("table", into / table.name, len(shown), held_out)


def _write_table(file: Path, lines: list[list[str]]) -> None:
    with file.open("w", newline="") as out:
        csv.writer(out).writerows(lines)


def quality(ctl: Moilctl, held_out: Files) -> float:
    """How often the likeliest label is the right one; of numbers, R²."""
    said = [(name, answer) for name, members in held_out.items() for answer in _answers(ctl, members)]
    if all("values" in answer for _, answer in said):
        truth = [float(name) for name, _ in said]
        off = sum((answer["values"][0]["value"] - number) ** 2 for number, (_, answer) in zip(truth, said))
        mean = sum(truth) / len(truth)
        return 1 - off / sum((number - mean) ** 2 for number in truth)
    return sum("top" in answer and answer["top"][0]["label"] == name for name, answer in said) / len(said)


def _answers(ctl: Moilctl, files: list[Path]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for start in range(0, len(files), AT_ONCE):
        found += ctl.json("predict", "--top", "1", *files[start : start + AT_ONCE])["predictions"]
    return found


def measure_hour(folder: Path, user: User, networks: Path) -> dict[str, Any]:
    """`networks`: as they are installed. Works in a new folder."""
    folder.mkdir()
    one = next(iter(user.held_out.values()))[0]
    with Daemon(folder / "state", config={"window": closed_window()}) as daemon:
        ctl = Moilctl(daemon.socket)
        began = time.monotonic()
        said = _setup(daemon, user.shown, networks)
        first = ctl.json("predict", one)["predictions"][0]
        seconds = time.monotonic() - began
        answer = first["top"][0]["label"] if "top" in first else first["values"][0]["value"]
        say(f"{user.kind}: {seconds:.1f} s to the first prediction, {answer}")
        learned = ctl.json("job", "list")["jobs"]
        after_learn = quality(ctl, user.held_out)
        (schedule,) = ctl.json("schedule", "list")["schedules"]
        night = ctl.watch(ctl.json("schedule", "run", schedule["name"])["id"])
        after_night = quality(ctl, user.held_out)
    return {
        "kind": user.kind,
        "samples": user.samples,
        "labels": len(user.held_out),
        "commands": 1 + said.count("\n  moil"),
        "typed": 1,
        "questions": 0,  # it had nobody to ask: its input is empty
        "seconds_to_predict": seconds,
        "local_after_learn": after_learn,
        "learn": _told(learned[-1]) if learned else None,  # a network that was trained now knows them
        "local_after_night": after_night,
        "night": _told(night),
        **{name: night["result"].get(name) for name in ("global_before", "global_after")},
        "metric": night["result"]["global_metric"],
        "night_seconds": night["result"]["seconds"],
    }


def _setup(daemon: Daemon, shown: Path, networks: Path) -> str:
    environment: Mapping[str, str] = {**os.environ, "MOILD_NETWORKS": str(networks)}
    command = [program("moilctl"), "--socket", daemon.socket, "setup", shown]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 65):
        raise SystemExit(f"first-hour: moilctl setup exited {done.returncode}: {done.stderr}")
    return done.stderr


def _told(job: dict[str, Any]) -> dict[str, Any]:
    return {"state": job["state"], "message": job.get("message", "")}
