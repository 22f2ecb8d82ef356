"""A device from nothing: `moilctl setup`, the first prediction, the first night."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.daemon import Daemon, closed_window
from lib.moilctl import Moilctl
from lib.programs import program
from lib.samples import Files, count, files_of
from lib.say import say

HELD_OUT = 0.2  # of a user's folder, by label; moild never sees them
AT_ONCE = 100  # files of one `predict`


@dataclass(frozen=True)
class Folder:
    """A user's: `shown` is what setup gets; `held_out` what judges."""

    kind: str
    shown: Path
    held_out: Files


def split_of(kind: str, samples: Path, into: Path, seed: int = 1) -> Folder:
    """Copies a folder of folders, but for a part of each label, which is drawn."""
    held_out: Files = {}
    names = sorted(entry.name for entry in samples.iterdir() if entry.is_dir())
    for name, members in files_of(samples, names).items():
        drawn = random.Random(f"{seed}/{name}").sample(members, len(members))
        apart = min(max(1, round(HELD_OUT * len(members))), len(members) - 1)
        held_out[name] = sorted(drawn[:apart])
        (into / name).mkdir(parents=True)
        for member in drawn[apart:]:
            shutil.copy(member, into / name)
    return Folder(kind, into, held_out)


def accuracy(ctl: Moilctl, held_out: Files) -> float:
    """How often the likeliest label is the right one."""
    right = 0
    for name, members in held_out.items():
        for start in range(0, len(members), AT_ONCE):
            answers = ctl.json("predict", "--top", "1", *members[start : start + AT_ONCE])["predictions"]
            right += sum("top" in answer and answer["top"][0]["label"] == name for answer in answers)
    return right / count(held_out)


def measure_hour(folder: Path, user: Folder, networks: Path) -> dict[str, Any]:
    """`networks`: as they are installed. Works in a new folder."""
    folder.mkdir()
    one = next(iter(user.held_out.values()))[0]
    with Daemon(folder / "state", config={"window": closed_window()}) as daemon:
        ctl = Moilctl(daemon.socket)
        began = time.monotonic()
        said = _setup(daemon, user.shown, networks)
        first = ctl.json("predict", one)["predictions"][0]
        seconds = time.monotonic() - began
        say(f"{user.kind}: {seconds:.1f} s to the first prediction, {first['top'][0]['label']}")
        learned = ctl.json("job", "list")["jobs"][-1]
        after_learn = accuracy(ctl, user.held_out)
        (schedule,) = ctl.json("schedule", "list")["schedules"]
        night = ctl.watch(ctl.json("schedule", "run", schedule["name"])["id"])
        after_night = accuracy(ctl, user.held_out)
    return {
        "kind": user.kind,
        "samples": sum(1 for file in user.shown.rglob("*") if file.is_file()),
        "labels": len(user.held_out),
        "commands": 1 + said.count("\n  moilctl "),
        "typed": 1,
        "questions": 0,  # it had nobody to ask: its input is empty
        "seconds_to_predict": seconds,
        "local_after_learn": after_learn,
        "learn": _told(learned),
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
