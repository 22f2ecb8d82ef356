"""The client in Python and its examples: against a real daemon, made-up Frigates and a made-up MQTT broker."""

from __future__ import annotations

import ast
import contextlib
import http.server
import inspect
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from case import AllTests, EachTest
from images import grey_png
from world import ROOT, SETTINGS, Row
from lib.client import moild
from lib.daemon import closed_window

ROW = Row("python", "python", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)
PYTHON = "/usr/bin/python3"  # for which Debian's packages are installed
PACKAGE = ROOT / "python"
EXAMPLES = PACKAGE / "examples"


def photo(shade: int) -> bytes:
    return grey_png(8, [shade] * 63 + [0])


def example(name: str, *words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {**os.environ, "PYTHONPATH": str(PACKAGE), **environment}
    return subprocess.run([PYTHON, "-B", EXAMPLES / name, *map(str, words)], env=given, capture_output=True, text=True, timeout=120)


class MethodsTest(unittest.TestCase):
    """What is made of the daemon's table."""

    def test_it_is_up_to_date(self) -> None:
        made = subprocess.run([sys.executable, "-B", ROOT / "scripts/python-methods"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((PACKAGE / "moild/_methods.py").read_text(), made, "run scripts/manual")

    def test_each_sends_what_it_is_given_and_nothing_else(self) -> None:
        class Recorder(moild.Methods):
            def ask(self, method: str, params: Any = None, descriptors: Any = ()) -> Any:
                return method, params or {}, descriptors

        names = [name for name, _ in inspect.getmembers(moild.Methods, inspect.isfunction) if name != "ask"]
        self.assertGreater(len(names), 50)
        for name in names:
            given = {word: f"<{word}>" for word in list(inspect.signature(getattr(Recorder, name)).parameters)[1:]}
            method, params, descriptors = getattr(Recorder(), name)(**given)
            self.assertEqual(method.replace(".", "_"), name)
            self.assertEqual(descriptors, given.pop("descriptors", ()))
            self.assertEqual(params, {word.rstrip("_"): value for word, value in given.items()}, name)

    def test_python_3_9_reads_it(self) -> None:
        for file in [*(PACKAGE / "moild").glob("*.py"), *EXAMPLES.glob("*.py")]:
            ast.parse(file.read_text(), file.name, feature_version=(3, 9))

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
    def test_types(self) -> None:
        words = ["--strict", "--cache-dir", "/dev/null", "--ignore-missing-imports"]
        done = subprocess.run(["mypy", *words, "-p", "moild"], cwd=PACKAGE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for file in EXAMPLES.glob("*.py"):
            done = subprocess.run(["mypy", *words, file], env={**os.environ, "MYPYPATH": str(PACKAGE)}, cwd="/", capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class ClientTest(AllTests):
    row = ROW
    config = {"window": closed_window()}

    def client(self) -> moild.Client:
        return self.enterContext(moild.Client(self.daemon.socket))

    def test_it_predicts_what_is_in_files_and_in_memory(self) -> None:
        m = self.client()
        place = self.world.place
        files = [file for part in (place.held_out, place.train) for members in part.values() for file in members][:60]
        self.assertGreater(len(files), 50, "more than go into a request")
        said = m.predict(files, top=1)
        self.assertEqual(said, m.predict([file.read_bytes() for file in files], top=1))
        self.assertEqual(said, m.predict(map(str, files), top=1))
        told = self.ctl.json("predict", *files, "--top", "1")["predictions"]
        self.assertEqual([(one["labels"], one["top"]) for one in said], [(one["labels"], one["top"]) for one in told])
        good, bad = m.predict([files[0], b"no photo"])
        self.assertIn("top", good)
        self.assertEqual(bad["error"]["code"], "bad_data")
        with self.assertRaises(FileNotFoundError):
            m.predict([self.folder / "absent.png"])
        self.assertEqual(m.predict([]), [])

    def test_it_adds_and_one_undo_takes_all_of_it_back(self) -> None:
        m = self.client()
        before = m.label_list()
        file = self.folder / "one.png"
        file.write_bytes(photo(1))
        added = m.add([file, *(photo(shade) for shade in range(2, 62))], label="tile", split="train")
        self.assertEqual({(one["new"], one["split"]) for one in added}, {(True, "train")})
        kept = list(m.pages("label.samples", "samples", label="tile", limit=7))
        self.assertEqual([one["digest"] for one in kept], [one["digest"] for one in added])
        self.assertEqual(kept[0]["name"], str(file))
        again, text = m.add([photo(1), b"text"], label=["tile"])
        self.assertFalse(again["new"])
        self.assertEqual(text["error"]["code"], "bad_data")
        m.add([photo(99)])
        self.assertEqual(m.label_list()["unlabelled"], before["unlabelled"] + 1)
        m.label_undo(with_samples=True)
        self.assertEqual(m.label_undo(with_samples=True)["forgotten"], 61)
        self.assertEqual(m.label_list(), before)

    def test_what_is_refused_says_why(self) -> None:
        m = self.client()
        with self.assertRaises(moild.Error) as refused:
            m.model_get(model="absent")
        self.assertEqual((refused.exception.code, refused.exception.number), ("not_found", -32001))
        with self.assertRaises(moild.Error) as refused:
            m.ask("job.list", {"limt": 1, "state": 7})
        self.assertEqual({error["pointer"] for error in refused.exception.errors}, {"/limt", "/state"})
        self.assertEqual(m.system_methods()["role"], "admin")

    def test_a_job_is_followed_while_other_things_are_asked(self) -> None:
        m = self.client()
        job = m.job_submit(job=self.spec(), now=True)["id"]
        events = []
        for event in m.watch(job):
            events.append(event)
            self.assertEqual(m.job_get(id=job)["job"]["id"], job)
        self.assertEqual((events[0]["state"], events[-1]["state"]), ("queued", "succeeded"))
        self.assertIn("train", [event.get("stage") for event in events])
        stored = [event for event in events if event["event"] != "progress"]
        self.assertEqual(stored, list(m.watch(job)), "told again of one that has ended")
        self.assertEqual(m.wait(job)["state"], "succeeded")
        self.assertEqual(next(m.jobs("succeeded"))["id"], job)
        self.assertEqual([one["id"] for one in m.jobs("failed")], [])

    def test_where_the_socket_is(self) -> None:
        code = "import moild; print(moild.Client().system_status()['pid'])"
        given = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        done = subprocess.run([PYTHON, "-B", "-c", code], env={**given, "MOILD_SOCKET": str(self.daemon.socket)}, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), str(self.daemon.pid), done.stderr)
        with self.assertRaises(OSError):
            moild.Client(self.folder / "nobody")


class AwayTest(EachTest):
    row = ROW
    is_furnished = False

    def test_a_daemon_that_goes_away_is_noticed(self) -> None:
        with moild.Client(self.daemon.socket) as m:
            m.system_status()
            self.daemon.kill()
            with self.assertRaises(OSError):
                m.system_status()


class Frigate(http.server.BaseHTTPRequestHandler):
    """As much of it as the example asks for."""

    events: list[dict[str, Any]]
    gone: set[str]
    asked: list[str]

    def do_GET(self) -> None:
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        self.asked.append(path)
        if path == "/api/events":
            after = float(query["after"][0])
            return self.answer(json.dumps([event for event in self.events if event["start_time"] > after][: int(query["limit"][0])]).encode())
        name = path.split("/")[3]
        if path != f"/api/events/{name}/snapshot.jpg" or name in self.gone:
            return self.send_error(404)
        self.answer(photo(int(name.rpartition("-")[2])))

    def answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *ignored: object) -> None:
        """Nobody reads it."""


def event(number: int, start: float, is_over: bool = True, **more: Any) -> dict[str, Any]:
    return {"id": f"{start}-{number}", "start_time": start, "end_time": start + 5 if is_over else None, "label": "cat", "sub_label": None, **more}


class FrigateTest(EachTest):
    row = ROW
    is_furnished = False

    def setUp(self) -> None:
        super().setUp()
        self.frigate = type("Frigate", (Frigate,), {"events": [], "gone": set(), "asked": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.frigate)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.inbox = self.folder / "inbox"
        self.inbox.mkdir()

    def look(self, *words: str) -> list[str]:
        """Looks once; the photos that are in the inbox then."""
        done = example("frigate_inbox.py", self.url, self.inbox, "--once", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(str(file.relative_to(self.inbox)) for file in self.inbox.rglob("*.jpg"))

    def test_snapshots_come_once_and_when_their_event_is_over(self) -> None:
        now = time.time()
        self.frigate.events = [event(1, now - 100)]
        self.assertEqual(self.look(), [], "what was before nobody asked for")
        long_one, over, hostile = event(2, now + 100, is_over=False), event(3, now + 101), event(4, now + 102)
        hostile["id"] = "../../4"
        removed = event(5, now + 103)
        self.frigate.gone.add(removed["id"])
        self.frigate.events += [long_one, over, hostile, removed]
        self.assertEqual(self.look(), [f"{over['id']}.jpg"])
        (self.inbox / f"{over['id']}.jpg").unlink()
        self.assertEqual(self.look(), [], "it was taken already, though one before it goes on")
        long_one["end_time"] = now + 200
        self.assertEqual(self.look(), [f"{long_one['id']}.jpg"])
        self.frigate.asked.clear()
        self.look()
        self.assertEqual(self.frigate.asked, ["/api/events"], "nothing is fetched twice")

    def test_from_frigate_to_moild(self) -> None:
        self.look()
        start = time.time() + 100
        self.frigate.events = [event(1, start), event(2, start + 1, sub_label=["tom/my", 0.9]), event(3, start + 2, sub_label="..")]
        self.assertEqual(len(self.look("--folders", "sub_label")), 3)
        self.ctl.text("label", "watch", self.inbox, "--once")
        with moild.Client(self.daemon.socket) as m:
            told = m.label_list()
        self.assertEqual((told["labels"], told["unlabelled"]), ([{"name": "tom-my", "samples": 1, "validation": 0}], 2))

    def test_a_frigate_that_is_away_loses_nothing(self) -> None:
        self.look()
        late = event(1, time.time() + 100)
        self.frigate.events = [late]
        done = example("frigate_inbox.py", "http://127.0.0.1:1", self.inbox, "--once")
        self.assertEqual(done.returncode, 1)
        self.assertIn("frigate_inbox: ", done.stderr)
        self.assertEqual(self.look(), [f"{late['id']}.jpg"])


class Broker:
    """As much of MQTT 3.1.1 as hears what one client publishes."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {}  # the last of each topic
        self.count: dict[str, int] = {}  # by what a topic ends in
        self.users: list[bytes] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                with client, client.makefile("rb") as reader:
                    for kind, body in self._packets(reader):
                        if kind >> 4 == 1:  # CONNECT
                            self.users.append(body)
                            client.sendall(b"\x20\x02\x00\x00")
                        if kind >> 4 == 3:  # PUBLISH; its last bit: retained
                            assert kind & 0b111 == 1, kind
                            end = 2 + int.from_bytes(body[:2], "big")
                            topic = body[2:end].decode()
                            self.told[topic] = json.loads(body[end:])
                            ending = "/" + topic.rpartition("/")[2]
                            self.count[ending] = self.count.get(ending, 0) + 1

    def _packets(self, reader: Any) -> Iterator[tuple[int, bytes]]:
        while kind := reader.read(1):
            size = shift = 0
            while True:
                (byte,) = reader.read(1)
                size |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            yield kind[0], reader.read(size)


class MqttTest(AllTests):
    row = ROW
    config = {"window": closed_window()}

    def setUp(self) -> None:
        if subprocess.run([PYTHON, "-c", "import paho.mqtt.publish"], capture_output=True).returncode != 0:
            self.skipTest("python3-paho-mqtt is not installed")
        self.broker = Broker()
        self.addCleanup(self.broker.close)
        self.words = ("127.0.0.1", "--port", str(self.broker.port))
        self.environment = {"MOILD_SOCKET": str(self.daemon.socket), "MQTT_PASSWORD": "secret"}

    def told(self, ending: str) -> Any:
        return next((content for topic, content in self.broker.told.items() if topic.endswith(ending)), None)

    def test_home_assistant_finds_what_is_told(self) -> None:
        with moild.Client(self.daemon.socket) as m:
            m.add([photo(7)])
            job = m.wait(m.job_submit(job=self.spec(), now=True)["id"])
        done = example("mqtt_results.py", *self.words, "--user", "anna", "--once", **self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"anna", self.broker.users[0])
        self.assertIn(b"secret", self.broker.users[0])
        state = self.told("/state")
        self.assertEqual((state["last_night"], state["unlabelled"]), (job["state"], 1))
        self.assertAlmostEqual(state["accuracy"], 100 * job["result"]["local_after"], delta=0.05)
        sensors = {topic: content for topic, content in self.broker.told.items() if topic.startswith("homeassistant/sensor/")}
        self.assertEqual(len(sensors), 5)
        self.assertEqual(len({sensor["unique_id"] for sensor in sensors.values()}), 5)
        for topic, sensor in sensors.items():
            self.assertRegex(topic, r"^homeassistant/sensor/\w+/\w+/config$")
            member = sensor["value_template"].removeprefix("{{ value_json.").removesuffix(" }}")
            if sensor["state_topic"].endswith("/state"):
                self.assertIn(member, state)

    def test_a_photo_that_comes_is_looked_at(self) -> None:
        folder = self.world.new_folder("photos")
        (known,) = list(self.world.place.held_out.values())[0][:1]
        (folder / "old.png").write_bytes(known.read_bytes())
        os.utime(folder / "old.png", (1, 1))
        given = {**os.environ, "PYTHONPATH": str(PACKAGE), **self.environment}
        command = [PYTHON, "-B", EXAMPLES / "mqtt_results.py", *self.words, "--folder", folder, "--every", "0.2"]
        running = subprocess.Popen(command, env=given, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        self.wait_for(lambda: self.told("/state"))
        (folder / "broken.png").write_bytes(b"no photo")
        (folder / "new.png").write_bytes(known.read_bytes())
        self.wait_for(lambda: self.told("/said"))
        said = self.told("/said")
        self.assertEqual(said["file"], "new.png")
        (top,) = self.ctl.json("predict", known)["predictions"]
        self.assertEqual(said["top"], top["top"])
        (folder / "tom").mkdir()
        (folder / "new.png").rename(folder / "tom/new.png")
        (folder / "next.png").write_bytes(photo(3))
        self.wait_for(lambda: self.told("/said")["file"] == "next.png")
        (folder / "last.png").write_bytes(photo(4))
        self.wait_for(lambda: self.told("/said")["file"] == "last.png")
        self.assertEqual(self.broker.count["/said"], 3, "what is moved is not new")
        self.assertIsNone(running.poll())

    def wait_for(self, condition: Any) -> None:
        give_up = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.05)

    def test_a_broker_that_is_away_is_said(self) -> None:
        self.broker.close()
        done = example("mqtt_results.py", "127.0.0.1", "--port", 1, "--once", **self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mqtt_results: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
