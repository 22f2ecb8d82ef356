"""moilctl listen: a sound while it comes, from a file and through a pipe, and a spoken word that a night has learned."""

from __future__ import annotations

import array
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import wave
from pathlib import Path
from typing import Any

from case import BAD_DATA, NO_INPUT, USAGE, OwnModelTest
from recordings import RATE, tone, wav
from world import Daemon, ctl_of, wait_for
from lib.networks import Layers, dense, relu, write_model
from lib.programs import program
from lib.sounds import data
from lib.sounds.world import import_tagger, make_pack

FRAMES, BANDS = 24, 16
PART = 0.255  # seconds that the small network sees
KNOWN = {"hum": 300.0, "whistle": 2500.0}
IO_ERROR = 74
Event = dict[str, Any]


def raw(samples: list[int]) -> bytes:
    numbers = array.array("h", samples)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def silence(seconds: float) -> list[int]:
    return [0] * round(seconds * RATE)


class Ears:
    """moilctl listen, of a daemon, as a process."""

    def __init__(self, daemon: Daemon, *words: str | Path, stdin: int = subprocess.PIPE):
        command = [program("moilctl"), "--socket", daemon.socket, "listen", "--json", *words]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([str(word) for word in command], stdin=stdin, stdout=pipe, stderr=pipe)

    def say(self, sound: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(sound)
        self.process.stdin.flush()

    def next(self) -> Event:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def end(self, sound: bytes = b"") -> tuple[int, list[Event], str]:
        """When all was said: the exit code, what was heard since, and what else was told."""
        out, err = self.process.communicate(sound, timeout=120)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], err.decode()


class ListeningTest(OwnModelTest):
    """A network of two sounds."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        draw = random.Random(1)
        for name, hertz in KNOWN.items():
            cls.write(f"global/{name}", [wav(tone(hertz, draw.uniform(0.3, 0.8), draw)) for _ in range(30)], "wav")
        layers: Layers = [{"name": "flat", "type": "flatten", "inputs": ["patch"]}]
        layers += [dense("one", "flat", 24), relu("one"), dense("classes", "one_relu", 2)]
        model = write_model(cls.folder / "sounds.json", {"patch": [1, FRAMES, BANDS]}, layers)
        training = ["--optimizer", "adam", "--learning-rate", "0.003", "--epochs", "20"]
        cls.pretrain(model, "sounds", "--data", cls.folder / "global", *training)

    @classmethod
    def day(cls) -> tuple[list[int], list[tuple[str, float]]]:
        """Sounds between silences, and when each begins."""
        draw = random.Random(2)
        samples, said = silence(1.5), []
        for name, pause in (("hum", 2.0), ("whistle", 0.7), ("hum", 0.9), ("hum", 3.1), ("whistle", 0.3)):
            said.append((name, len(samples) / RATE))
            samples += tone(KNOWN[name], 0.6, draw) + silence(pause)
        return samples, said

    def check(self, events: list[Event], said: list[tuple[str, float]]) -> None:
        """Each is told once, within a part of its beginning; where it begins and ends, another may seem to be."""
        for name, begin in said:
            near = [event for event in events if begin < event["time"] < begin + 0.6 + PART and event["label"] == name]
            self.assertEqual(len(near), 1, (name, begin, events))
            self.assertLess(near[0]["time"], begin + PART + 0.1)
            self.assertGreaterEqual(near[0]["probability"], 0.5)
        for event in events:
            self.assertTrue(any(begin < event["time"] < begin + 0.6 + PART for _, begin in said), event)

    def test_a_file_and_a_pipe_are_the_same(self) -> None:
        samples, said = self.day()
        file = self.folder / "day.wav"
        file.write_bytes(wav(samples))
        code, events, told = Ears(self.daemon, file, stdin=subprocess.DEVNULL).end()
        self.assertEqual(code, 0, told)
        self.check(events, said)
        self.assertIn(f"{len(events)} events in 12 s, by model sounds version 1", told)
        self.assertEqual(Ears(self.daemon, "-").end(file.read_bytes())[:2], (0, events))
        self.assertEqual(Ears(self.daemon, "-", "--rate", str(RATE)).end(raw(samples))[:2], (0, events))
        with file.open("rb") as descriptor:
            self.assertEqual(Ears(self.daemon, "-", stdin=descriptor.fileno()).end()[:2], (0, events))
        os.mkfifo(named := self.folder / "day.fifo")
        writing = threading.Thread(target=named.write_bytes, args=[file.read_bytes()])
        writing.start()
        self.assertEqual(Ears(self.daemon, named, stdin=subprocess.DEVNULL).end()[:2], (0, events))
        writing.join()
        plain = self.folder / "day.raw"
        plain.write_bytes(raw(samples) + b"\1")
        code, again, told = Ears(self.daemon, plain, "--rate", str(RATE)).end()
        self.assertEqual((code, again), (0, events))
        self.assertIn("day.raw: it ends with half of a sample, which was left out", told)
        self.assertEqual(Ears(self.daemon, file, "--label", "whistle").end()[1], [event for event in events if event["label"] == "whistle"])
        self.assertEqual([line.split()[1] for line in self.ctl.text("listen", file).splitlines()], [event["label"] for event in events])

    def test_what_is_heard_is_told_at_once(self) -> None:
        ears = Ears(self.daemon, "-", "--rate", str(RATE))
        ears.say(raw(silence(1) + tone(KNOWN["hum"], 1, random.Random(3))))
        event = ears.next()
        self.assertIn(event["label"], KNOWN)
        self.assertTrue(1 < event["time"] < 1.5, event)
        (worker,) = self.daemon.workers()
        ears.process.send_signal(signal.SIGINT)
        ears.process.wait(60)
        code, _, told = ears.end()
        self.assertEqual((code, told), (0, ""))
        wait_for("the worker's end", lambda: not Path(f"/proc/{worker}").exists())

    def test_memory_does_not_grow_with_the_sound(self) -> None:
        samples, _ = self.day()
        day = raw(samples)
        ears = Ears(self.daemon, "-", "--rate", str(RATE))
        peaks = []
        for _ in range(2):
            for _ in range(150):  # half an hour
                ears.say(day)
            (worker,) = self.daemon.workers()
            for pid in (worker, self.daemon.pid, ears.process.pid):
                status = Path(f"/proc/{pid}/status").read_text()
                peaks.append(int(status.split("VmHWM:")[1].split()[0]))
        code, events, _ = ears.end()
        self.assertEqual(code, 0)
        self.assertGreaterEqual(len(events), 300 * 5)
        for before, after in zip(peaks[:3], peaks[3:]):
            self.assertLess(after, before + 2048, "KiB")

    def test_what_is_no_sound(self) -> None:
        notes = self.folder / "notes.txt"
        notes.write_text("a hum at 3.2\n" * 50)
        cut = self.folder / "cut.wav"
        cut.write_bytes(wav(tone(KNOWN["hum"], 2, random.Random(4)))[: 44 + 3 * RATE + 1])
        code, events, _ = Ears(self.daemon, cut).end()
        self.assertEqual((code, [event["label"] for event in events]), (0, ["hum"]), "as far as it goes")
        self.refused(BAD_DATA, "notes.txt: it is text, no sound", "listen", notes)
        self.refused(NO_INPUT, "none.wav", "listen", self.folder / "none.wav")
        self.refused(USAGE, "it is a folder, a pipe or a device", "listen", self.folder)
        self.refused(USAGE, "unknown label \"hmm\"; did you mean \"hum\"?", "listen", cut, "--label", "hmm")
        self.refused(NO_INPUT, "there is no active version of model \"dogs\"", "listen", cut, "--model", "dogs")
        refused = {
            b"": "standard input: it is empty",
            b"\1": "standard input: it holds no sound",
            wav([]): "standard input: it holds no sound",
            wav(silence(1))[:30]: "standard input: it cannot be read",
            b"OggS" + bytes(600): "it is an Ogg sound, which is not read from a pipe",
        }
        for sound, why in refused.items():
            code, events, told = Ears(self.daemon, "-").end(sound)
            self.assertEqual((code, events), (BAD_DATA, []), told)
            self.assertIn(why, told)

    def test_a_model_of_numbers_has_no_ears(self) -> None:
        numbers = self.folder / "numbers.csv"
        numbers.write_text("a,b,c\n" + "".join(f"{i},{i * i % 7},{'xy'[i % 2]}\n" for i in range(40)))
        self.ctl.text("setup", numbers, "--name", "numbers", "--yes")
        cut = self.folder / "some.wav"
        cut.write_bytes(wav(silence(1)))
        self.refused(USAGE, "the model takes samples of the kind \"rows\"; what listens is a model of sounds", "listen", cut, "--model", "numbers")
        self.ctl.text("setup", numbers, "--name", "numbers", "--undo", "--yes")

    def test_a_daemon_that_goes_away_is_told(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="moil-e2e-")))
        with Daemon(folder / "state") as daemon:
            self.refused_by(daemon, "there is no model; import one first")
            ctl_of(daemon).import_model(self.base / "model", "sounds")
            ears = Ears(daemon, "-", "--rate", str(RATE))
            ears.say(raw(tone(KNOWN["hum"], 1, random.Random(5))))
            self.assertEqual(ears.next()["label"], "hum")
            daemon.kill()
            code, events, told = ears.end()
            self.assertEqual((code, events), (IO_ERROR, []))
            self.assertIn("the daemon closed the connection", told)
            daemon.start()

    def refused_by(self, daemon: Daemon, why: str) -> None:
        code, _, told = Ears(daemon, "-").end(bytes(100))
        self.assertEqual(code, NO_INPUT, told)
        self.assertIn(why, told)


@unittest.skipIf(data.missing(), f"{data.missing()} is not there")
class SpokenWordTest(OwnModelTest):
    """YAMNet, to which a night adds a word of one person, from twenty recordings."""

    SPEAKER, WORD, OTHERS = "lucas", "6", ("nicolas", "yweweler")

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.speech, clips = data.extract(data.FSDD, cls.folder / "fsdd"), data.extract(data.ESC10, cls.folder / "esc10")
        cls.ctl.import_model(model := import_tagger(cls.folder), "yamnet")
        places = {label: sorted((clips / label).glob("1-*")) for label in data.AUDIOSET}
        train = {"+".join(data.AUDIOSET[label]): files[::2] for label, files in places.items()}
        held_out = {"+".join(data.AUDIOSET[label]): files[1::4] for label, files in places.items()}
        others = [(person, digit) for person in cls.OTHERS for digit in "1478"]
        train[data.SPEECH] = [clip for other in others for clip in cls.spoken(*other, range(0, 4))]
        held_out[data.SPEECH] = [clip for other in others for clip in cls.spoken(*other, range(10, 12))]
        cls.pack = make_pack(model, train, held_out, cls.folder / "pack")
        cls.ctl.add_label(cls.spoken(cls.SPEAKER, cls.WORD, range(0, 20)), "six", "train")
        cls.ctl.add_label(cls.spoken(cls.SPEAKER, cls.WORD, range(20, 25)), "six", "val")

    @classmethod
    def spoken(cls, speaker: str, digit: str, which: range) -> list[Path]:
        return [cls.speech / speaker / digit / f"{digit}_{speaker}_{i}.wav" for i in which]

    def recording(self) -> tuple[Path, list[tuple[float, float]]]:
        """Held-out words between silence and other speech; where they lie, in seconds."""
        draw, samples, places = random.Random(7), array.array("h"), []
        other = [clip for digit in "1478" for person in self.OTHERS for clip in self.spoken(person, digit, range(40, 44))]
        draw.shuffle(other)
        for word in self.spoken(self.SPEAKER, self.WORD, range(30, 50)):
            for clip in (other.pop(), word):
                samples.extend(draw.randint(-20, 20) for _ in range(round(draw.uniform(1.2, 2.5) * RATE)))
                begin = len(samples) / RATE
                with wave.open(str(clip)) as file:
                    samples.frombytes(file.readframes(file.getnframes()))
                if clip is word:
                    places.append((begin, len(samples) / RATE))
        file = self.folder / "evening.wav"
        file.write_bytes(wav(list(samples)))
        return file, places

    def test_a_word_is_learned_and_heard(self) -> None:
        spec = {
            "name": "word", "model": "yamnet", "settings": "defaults",
            "global": {"pack": str(self.pack.resolve()), "alpha": 1.0},
            "freeze": {"trainable_layers": 1},
            "train": {"epochs": 40, "batch": 8, "distill": 1.0, "optimizer": {"type": "sgd", "learning_rate": 0.1}},
            "guard": {"max_global_drop": 1.0, "min_local_accuracy": 0.0},
        }
        job = self.ended(spec)
        told_from = self.level_of(job)
        file, places = self.recording()
        code, events, told = Ears(self.daemon, file, "--label", "six").end()
        self.assertEqual(code, 0, told)
        self.assertIn("six is told from", told)
        self.assertTrue(all(event["probability"] >= told_from for event in events), events)
        self.assertEqual(Ears(self.daemon, "-", "--label", "six").end(file.read_bytes())[:2], (0, events))
        once, others = self.counted(events, places)
        self.assertGreaterEqual(once, 8, "of twenty, once each")
        self.assertLessEqual(others, 1, "of twenty other words")
        once, others = self.counted(Ears(self.daemon, file, "--label", "six", "--threshold", "0.3").end()[1], places)
        self.assertGreaterEqual(once, 18, "of twenty, once each")
        self.assertLessEqual(others, 10, "of twenty other words")
        known = Ears(self.daemon, file, "--label", data.SPEECH).end()[1]
        self.assertGreaterEqual(len(known), 5, "what it knew before")
        few, many = (Ears(self.daemon, file, "--label", "six", "--false-accepts", rate).end()[1] for rate in ("0.01", "100"))
        self.assertLessEqual(len(few), len(events))
        self.assertGreaterEqual(len(many), len(events))
        self.refused(USAGE, "--threshold", "listen", file, "--threshold", "0.5", "--false-accepts", "1")

    @staticmethod
    def counted(events: list[Event], places: list[tuple[float, float]]) -> tuple[int, int]:
        """How many words are told once, and how many events are of nothing like that."""
        heard = [sum(begin < event["time"] < end + 1 for event in events) for begin, end in places]
        return heard.count(1), len(events) - sum(heard)

    def level_of(self, job: Event) -> float:
        """From which probability the word is told, which the night found and its report shows."""
        listening = job["result"]["details"]["listening"]
        (six,) = listening["labels"]
        self.assertEqual((six["label"], six["recordings"], listening["false_accepts"]), ("six", 5, 1))
        self.assertTrue(0 < six["told_from"] < 1, six)
        self.assertGreaterEqual(six["heard"], 4, six)
        self.assertGreater(six["seconds_without"], 30)
        self.assertIn("LISTENING, AT ONE FALSE ACCEPT AN HOUR", self.ctl.text("report", str(job["id"])))
        return six["told_from"]


if __name__ == "__main__":
    unittest.main()
