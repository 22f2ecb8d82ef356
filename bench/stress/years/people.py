"""Made-up people: each has a model of numbers, labels what they do, errs, and clears out."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from pathlib import Path

from lib.networks import dense, relu, write_model
from lib.programs import program, run
from lib.rpc import Rpc

KNOWN_A_CLASS = 40
HIDDEN = 16
SPREAD = 0.35
KEPT = 60  # samples that a person keeps, about


@dataclass
class Person:
    """`known` are what the model was trained with, `own` what the device learns: centres by name."""

    name: str
    columns: int
    known: list[str]
    own: list[str]
    chance: random.Random
    centres: dict[str, list[float]] = field(default_factory=dict)
    samples: list[str] = field(default_factory=list)  # digests, the oldest first
    wrong: list[tuple[int, str, str]] = field(default_factory=list)  # day of the correction, digest, label
    added = corrected = forgotten = 0

    def __post_init__(self) -> None:
        for number, activity in enumerate([*self.known, *self.own]):
            self.centres[activity] = [2.0 * (number >> bit & 1) + 0.3 * number for bit in range(self.columns)]

    def record(self, activity: str) -> str:
        return ",".join(f"{self.chance.gauss(centre, SPREAD):.5f}" for centre in self.centres[activity])

    def pretrain(self, folder: Path) -> Path:
        """The folder of the model and of its pack."""
        names = [f"x{i}" for i in range(self.columns)]
        lines = [",".join([*names, "activity"])]
        lines += [f"{self.record(activity)},{activity}" for activity in self.known for _ in range(KNOWN_A_CLASS)]
        table = folder / f"{self.name}.csv"
        table.write_text("\n".join(lines) + "\n")
        layers = [dense("one", "record", HIDDEN), relu("one"), dense("two", "one_relu", HIDDEN), relu("two")]
        network = write_model(folder / f"{self.name}.json", {"record": [self.columns]}, [*layers, dense("classes", "two_relu", len(self.known))])
        command: list[str | Path] = [program("moil-pretrain"), "train", "--model", network, "--data", table]
        command += ["--label-column", "activity", "--epochs", "30", "--learning-rate", "0.05", "--threads", "1"]
        run([*command, "--val-fraction", "0.25", "--out", folder / self.name])
        return folder / self.name

    def job(self, base: Path) -> dict[str, object]:
        return {
            "name": f"night of {self.name}",
            "model": self.name,
            "settings": "defaults",
            "global": {"pack": str(base / "pack"), "alpha": 0.5},
            "local": {"labels": self.own},
            "freeze": {"trainable_layers": 2},
            "train": {"epochs": 8, "batch": 8, "optimizer": {"learning_rate": 0.05}},
            "guard": {"max_global_drop": 0.1},
            "threads": 1,
        }

    def begin(self, rpc: Rpc) -> None:
        """What is there before the first night: a few samples of each, in both splits."""
        for activity in self.own:
            for number in range(8):
                self._add(rpc, activity, "val" if number % 4 == 0 else "train")

    def live(self, rpc: Rpc, day: int) -> None:
        """A day: new samples, one in five of them wrong for some days, and a clear-out now and then."""
        if day % 7 != 6:  # a day off: the night has nothing new
            for _ in range(2):
                self._label(rpc, day)
        for correction in [entry for entry in self.wrong if entry[0] <= day]:
            self.wrong.remove(correction)
            rpc("label.relabel", digest=correction[1], labels=[correction[2]])
            self.corrected += 1
        if len(self.samples) > KEPT + 8:
            self._forget(rpc, len(self.samples) - KEPT)

    def _label(self, rpc: Rpc, day: int) -> None:
        activity = self.chance.choice(self.own)
        said = self.chance.choice(self.own) if self.chance.random() < 0.2 else activity
        digest = self._add(rpc, said, record=self.record(activity))
        if said != activity:
            self.wrong.append((day + self.chance.randint(1, 3), digest, activity))

    def _add(self, rpc: Rpc, label: str, split: str | None = None, record: str | None = None) -> str:
        content = base64.b64encode((record or self.record(label)).encode() + b"\n").decode()
        wanted = {"split": split} if split else {}
        (sample,) = rpc("label.add", labels=[label], samples=[{"content": content, "name": f"{label}.csv"}], **wanted)["samples"]
        self.samples.append(sample["digest"])
        self.added += 1
        return str(sample["digest"])

    def _forget(self, rpc: Rpc, count: int) -> None:
        gone, self.samples = self.samples[:count], self.samples[count:]
        for digest in gone:
            rpc("label.forget", digest=digest)
            self.forgotten += 1
        self.wrong = [entry for entry in self.wrong if entry[1] not in gone]


def people(seed: int) -> list[Person]:
    return [
        Person("watch", 4, ["walk", "run"], ["climb", "swim", "row"], random.Random(seed)),
        Person("desk", 3, ["sit", "stand"], ["type", "read"], random.Random(seed + 1)),
    ]
