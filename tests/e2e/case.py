"""What tests say to a daemon: short words for one that they start, and for one that has all that a night needs."""

from __future__ import annotations

import functools
import json
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from world import MODEL, SETTINGS, Daemon, Moilctl, Row, World, ctl_of, daemon_in, pausing_worker, small_night, stands_still, wait_for, weights_digest
from lib.programs import ProgramError, program, run

USAGE, BAD_DATA, NO_INPUT, UNAVAILABLE, CANNOT_CREATE, CONFIG = 64, 65, 66, 69, 73, 78  # sysexits.h
Job = dict[str, Any]


@functools.cache
def the_world() -> World:
    """One for all tests of a file."""
    world = World()
    unittest.addModuleCleanup(world.clean)
    return world


class Asking(unittest.TestCase):
    """Words of the class, so that they serve while it is set up, too."""

    folder: Path  # what the test writes
    daemon: Daemon
    ctl: Moilctl

    @classmethod
    def start(cls, daemon: Daemon, enter: Callable[[AbstractContextManager[Daemon]], Daemon]) -> None:
        cls.daemon = enter(daemon)
        cls.ctl = ctl_of(daemon)

    @classmethod
    def ended(cls, job: Job | int) -> Job:
        """A job by its description or its number, when it has ended well."""
        done = cls.ctl.wait(job if isinstance(job, int) else cls.ctl.submit(job))
        assert done["state"] == "succeeded", done
        return done

    @classmethod
    def events(cls, job: Job, kind: str) -> list[Job]:
        told = cls.ctl.json("job", "get", str(job["id"]))["events"]
        return [entry["event"] for entry in told if entry["event"]["event"] == kind]

    @classmethod
    def notes(cls, job: Job) -> list[str]:
        return [event["message"] for event in cls.events(job, "note")]

    @classmethod
    def epochs(cls, job: Job) -> list[int]:
        """Those that were told of."""
        return [event["epoch"] for event in cls.events(job, "curve")]

    @classmethod
    def refused(cls, code: int, words: str, *command: str | Path) -> str:
        """Runs moilctl, which must exit with `code` and say these words; all that it said."""
        try:
            said = cls.ctl.text(*command)
        except ProgramError as error:
            assert error.code == code and words in error.stderr, error
            return error.stderr
        raise AssertionError(f"it was not refused: {said}")

    @classmethod
    def refused_job(cls, words: str, spec: Job) -> str:
        file = cls.folder / "refused.json"
        file.write_text(json.dumps(spec))
        return cls.refused(USAGE, words, "job", "submit", file, "--now")

    @classmethod
    def plan(cls, spec: Job, *words: str | Path) -> Job:
        file = cls.folder / "plan.json"
        file.write_text(json.dumps(spec))
        return cls.ctl.json("plan", file, *words)


class NightCase(Asking):
    """A daemon with the model imported and the local images labelled."""

    world: World
    config: dict[str, Any] | None = None  # as daemon_in takes it
    row: Row  # of its jobs
    is_furnished = True

    @classmethod
    def begin(cls, enter: Callable[[AbstractContextManager[Daemon]], Daemon], name: str) -> None:
        cls.world = the_world()
        cls.folder = cls.world.new_folder(name)
        cls.prepare()
        cls.start(daemon_in(cls.folder, cls.config), enter)
        if cls.is_furnished:
            cls.world.furnish(cls.ctl)

    @classmethod
    def prepare(cls) -> None:
        """Before the daemon is started."""

    @classmethod
    def spec(cls, row: Row | None = None, **changes: Any) -> Job:
        return cls.world.spec(row or cls.row, **changes)

    @classmethod
    def run_job(cls, row: Row | None = None, **changes: Any) -> Job:
        """However it ends."""
        return cls.ctl.wait(cls.ctl.submit(cls.spec(row, **changes)))

    @classmethod
    def night(cls, row: Row | None = None, **changes: Any) -> Job:
        """A job that ends well."""
        return cls.ended(cls.spec(row, **changes))


class EachTest(NightCase):
    """Each test has a daemon of its own."""

    def setUp(self) -> None:
        self.begin(self.enterContext, self._testMethodName[:24])


class TaughtTest(EachTest):
    """The device's model is taught one of the classes that it does not know."""

    is_furnished = False
    taught = SETTINGS.local_classes[1]

    def setUp(self) -> None:
        super().setUp()
        place = self.world.place
        self.ctl.import_model(self.world.pretrained.model, MODEL)
        self.ctl.add_label(place.train[self.taught], self.taught, "train")
        self.ctl.add_label(place.held_out[self.taught], self.taught, "val")

    def labels(self) -> dict[str, int]:
        """How many samples each has."""
        return {label["name"]: label["samples"] for label in self.ctl.json("label", "list")["labels"]}


class AllTests(NightCase):
    """One daemon for all tests of a class."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.begin(cls.enterClassContext, cls.__name__)


class OwnModelTest(Asking):
    """A folder and a daemon for all tests of a class, which pretrain a model of their own and add to what it knows."""

    base: Path  # what was pretrained

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="moil-e2e-")))
        (cls.folder / "device").mkdir()
        cls.start(daemon_in(cls.folder / "device", {"worker": cls.worker()}), cls.enterClassContext)

    @classmethod
    def worker(cls) -> Job:
        """It pauses where the test says so."""
        return {"path": str(pausing_worker(cls.folder))}

    @classmethod
    def pretrain(cls, model: Path, name: str, *arguments: str | Path) -> None:
        """Into folder/base, and imports it by that name."""
        cls.base = cls.folder / "base"
        command = [program("moil-pretrain"), "train", "--model", model, "--threads", "1", "--out", cls.base]
        run([*command, *arguments])
        cls.ctl.import_model(cls.base / "model", name)

    @classmethod
    def samples(cls, *arguments: str | Path) -> Path:
        """The folder of those that moil-pretrain makes of a table."""
        out = Path(tempfile.mkdtemp(dir=cls.folder)) / "samples"
        run([program("moil-pretrain"), "images", *arguments, "--out", out])
        return out

    @classmethod
    def write(cls, name: str, contents: Iterable[bytes], ending: str) -> list[Path]:
        folder = cls.folder / name
        folder.mkdir(parents=True)
        files = []
        for i, content in enumerate(contents):
            files.append(folder / f"{i:03}.{ending}")
            files[-1].write_bytes(content)
        return files

    @classmethod
    def label(cls, files: Sequence[Path], *labels: str, held_out: int | None = None) -> None:
        """Holds out every third, or the last `held_out`."""
        named = [word for label in labels for word in ("--label", label)]
        train, val = [file for i, file in enumerate(files) if i % 3], files[::3]
        if held_out is not None:
            train, val = files[:-held_out], files[-held_out:]
        cls.ctl.json("label", "add", *train, *named, "--split", "train")
        cls.ctl.json("label", "add", *val, *named, "--split", "val")

    def spec(self, model: str, **changes: Any) -> Job:
        return small_night(model, model, self.base / "pack", **changes)

    def night(self, model: str, **changes: Any) -> Job:
        """The result of one that ends well."""
        return self.ended(self.spec(model, **changes))["result"]

    def version(self, model: str) -> Path:
        """The folder of the last."""
        return max((self.daemon.state / "models" / model).iterdir(), key=lambda folder: int(folder.name))

    def check_kills(self, spec: Job, *kills: tuple[str, Callable[[Daemon], None]]) -> None:
        """Killed in a stage, a night comes to the weights of one that was not."""
        spec = {**spec, "activate": False, "guard": {"max_global_drop": 1}}
        digests = set()
        for stage, kill in (("", None), *kills):
            (self.folder / "pause").write_text(stage)
            job = self.ctl.submit(spec)
            if kill:
                wait_for(f"stage {stage}", lambda: stands_still(self.daemon))
                kill(self.daemon)
            ended = self.ended(job)
            self.assertEqual(ended["attempts"], 2 if kill else 1)
            task = self.daemon.state / "models" / spec["model"] / str(ended["version"]) / "task.json"
            digests.add((weights_digest(self.daemon.state, ended), task.read_text() if task.exists() else ""))
        self.assertEqual(len(digests), 1)

    def check_export(self, model: str, first: Path, samples: Sequence[Path]) -> None:
        """A version, to ONNX and back: the same files beside the weights, the same answers."""
        again = self.folder / f"{model}-again"
        run([program("moil-export"), first, "--out", self.folder / f"{model}.onnx"])
        run([program("moil-import"), self.folder / f"{model}.onnx", "--out", again])
        for file in ("labels.json", "preprocessing.json", "task.json", "calibration.json"):
            if (first / file).exists():
                self.assertEqual(json.loads((first / file).read_text()), json.loads((again / file).read_text()))
        names = (f"{model}-first", f"{model}-again")
        for name, folder in zip(names, (first, again)):
            self.ctl.import_model(folder, name)
        answers = [self.ctl.json("predict", *samples, "--model", name)["predictions"] for name in names]
        for before, after in zip(*answers):
            numbers = [[found.get("probability", found.get("value")) for found in one.get("top", one.get("values"))] for one in (before, after)]
            for x, y in zip(*numbers):
                self.assertAlmostEqual(x, y, delta=1e-3 * max(1, abs(x)))


def does_not_run(code: int, words: str, *command: str | Path) -> None:
    """A program ends with `code` and says these words."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == code and words in done.stderr, (done.returncode, done.stderr)
