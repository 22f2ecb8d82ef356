"""Bad input and unfit folders, through the real programs: a clear error, and nothing half-done."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import time
import unittest
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

from world import MODEL, SETTINGS, Daemon, Moilctl, Row, World, ctl_of, daemon_in, program
from night.programs import ProgramError
from night.samples import count, only

USAGE, BAD_DATA, NO_INPUT, UNAVAILABLE, CANNOT_CREATE = 64, 65, 66, 69, 73  # sysexits.h
NOBODY = 65534
ROW = Row("trouble", "trouble", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)

world: World


def setUpModule() -> None:
    global world
    world = World()
    unittest.addModuleCleanup(world.clean)


class TroubleTest(unittest.TestCase):
    """Each test has a daemon of its own, with the model imported and the local images labelled."""

    config: dict[str, Any] = {"worker": {"backoff_seconds": 0.05, "attempts": 2}}

    def setUp(self) -> None:
        self.daemon: Daemon = daemon_in(world.new_folder(self._testMethodName[:24]), self.config)
        self.enterContext(self.daemon)
        self.ctl: Moilctl = ctl_of(self.daemon)
        world.furnish(self.ctl)

    def run_job(self, **changes: Any) -> dict[str, Any]:
        return self.ctl.wait(self.ctl.submit(world.spec(ROW, **changes)))

    def refused(self, code: int, *words: str | Path) -> str:
        """Runs moilctl, which must exit with `code`; what it said."""
        with self.assertRaises(ProgramError) as caught:
            self.ctl.text(*words)
        self.assertEqual(caught.exception.code, code, caught.exception.stderr)
        return caught.exception.stderr

    def refused_job(self, **changes: Any) -> str:
        file = self.daemon.state.parent / "job.json"
        file.write_text(json.dumps(world.spec(ROW, **changes)))
        said = self.refused(USAGE, "job", "submit", file)
        self.assertEqual(self.ctl.json("job", "list")["jobs"], [])
        return said


def png_bomb(side: int) -> bytes:
    """A file of a few bytes that claims to be an image of side x side pixels."""
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


class SamplesTest(TroubleTest):
    def test_a_bomb_is_refused_in_words(self) -> None:
        bomb = self.daemon.state.parent / "bomb.png"
        bomb.write_bytes(png_bomb(65500))
        words = "65500x65500, at most 64000000 pixels are taken"
        said = self.refused(BAD_DATA, "predict", bomb)
        self.assertIn(str(bomb), said)
        self.assertIn(words, said)
        digest = self.ctl.json("label", "add", bomb, "--label", "9", "--split", "train")["samples"][0]["digest"]
        job = self.run_job()
        self.assertEqual(job["state"], "succeeded", job["message"])
        left_out = job["result"]["details"]["left_out"]
        self.assertEqual([sample["digest"] for sample in left_out], [digest])
        self.assertIn(words, left_out[0]["why"])

    def test_truncated_images_are_left_out_by_name_and_the_rest_is_learned(self) -> None:
        for cached in (True, False):
            with self.subTest(cached=cached):
                self.leave_out_truncated(cached)

    def leave_out_truncated(self, cached: bool) -> None:
        cut = self.daemon.state.parent / "cut.png"
        digests = []
        for split, file in zip(("train", "val"), world.place.later[SETTINGS.local_classes[0]]):
            whole = file.read_bytes()
            cut.write_bytes(whole[: len(whole) * 2 // 3])
            added = self.ctl.json("label", "add", cut, "--label", "torn", "--split", split)
            digests.append(added["samples"][0]["digest"])
        job = self.run_job(cache={"enabled": cached})
        self.assertEqual(job["state"], "succeeded", job["message"])
        details = job["result"]["details"]
        self.assertEqual([sample["digest"] for sample in details["left_out"]], digests)
        self.assertEqual([sample["held_out"] for sample in details["left_out"]], [False, True])
        self.assertIn(str(cut), details["left_out"][0]["name"])
        self.assertEqual(details["left_out"][0]["labels"], ["torn"])
        self.assertEqual(details["samples"]["left_out"], 2)
        self.assertEqual(details["samples"]["local"], count(only(world.place.train, SETTINGS.local_classes)))
        self.assertIn(str(cut), self.ctl.text("report", job["id"]))
        labels = json.loads((self.daemon.state / "models" / MODEL / str(job["version"]) / "labels.json").read_text())
        self.assertNotIn("torn", json.dumps(labels), "nothing could be learned of it")
        for digest in digests:
            self.ctl.text("label", "forget", digest)

    def test_a_night_of_unreadable_images_alone_fails_with_their_names(self) -> None:
        for label in SETTINGS.local_classes:
            self.ctl.text("label", "rm", label, "--with-samples")
        bomb = self.daemon.state.parent / "bomb.png"
        bomb.write_bytes(png_bomb(65500))
        self.ctl.text("label", "add", bomb, "--label", "9", "--split", "train")
        job = self.run_job()
        self.assertEqual((job["state"], job["attempts"]), ("failed", 1))
        self.assertIn(str(bomb), job["message"])

    def test_what_is_no_image_is_refused_when_it_is_added(self) -> None:
        file = self.daemon.state.parent / "notes.png"
        file.write_text("milk, bread, butter\n")
        said = self.refused(BAD_DATA, "label", "add", file, "--label", "9")
        self.assertIn(f"{file}: it is text", said)

    def test_sounds_are_counted_where_the_model_reads_images(self) -> None:
        sound = self.daemon.state.parent / "bell.wav"
        sound.write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
        self.ctl.text("label", "add", sound, "--label", "9")
        job = self.run_job()
        self.assertEqual(job["state"], "succeeded", job["message"])
        self.assertEqual(job["result"]["details"]["other_media"], {"audio/wav": 1})
        self.assertIn("audio/wav", self.ctl.text("report", job["id"]))

    def test_a_missing_file_is_named(self) -> None:
        said = self.refused(NO_INPUT, "label", "add", "/nowhere/photo.png", "--label", "9")
        self.assertIn("/nowhere/photo.png", said)


class JobsTest(TroubleTest):
    def test_a_missing_model_is_named(self) -> None:
        self.assertIn("/model: ", self.refused_job(model="unheard-of"))

    def test_a_missing_pack_is_named(self) -> None:
        said = self.refused_job(**{"global": {"pack": "/nowhere/pack", "alpha": 0.1}})
        self.assertIn("/nowhere/pack", said)

    def test_every_wrong_field_is_named_at_once(self) -> None:
        said = self.refused_job(freeze={"trainable_layer": 3}, train={"epochs": "ten"}, seed=-1)
        for pointer in ("/freeze/trainable_layer", "/train/epochs", "/seed"):
            self.assertIn(pointer, said)
        self.assertIn("trainable_layers", said, "the nearest known name")

    def test_a_damaged_pack_is_refused(self) -> None:
        pack = shutil.copytree(world.pretrained.pack, self.daemon.state.parent / "pack")
        for file in (file for file in pack.rglob("*") if file.is_file()):
            file.write_bytes(file.read_bytes()[:100])
        said = self.refused_job(**{"global": {"pack": str(pack), "alpha": 0.1}})
        self.assertIn("moilctl: /global/pack: ", said)
        self.assertIn(str(pack), said)

    def test_labels_that_nobody_knows_are_refused(self) -> None:
        said = self.refused_job(local={"labels": ["9", "nine"]})
        self.assertIn("moilctl: /local/labels/1: ", said)
        with self.assertRaises(ProgramError) as caught:
            self.ctl.text("label", "map", "9", "7", "ninety")
        self.assertIn("/global/1: no model has a label \"ninety\"", caught.exception.stderr)

    def test_training_that_diverges_ends_the_job_with_the_step(self) -> None:
        spec = world.spec(ROW)
        optimizer = {"type": "sgd", "learning_rate": 1, "weight_decay": 1e9}
        job = self.run_job(train={**spec["train"], "epochs": 40, "optimizer": optimizer})
        self.assertEqual((job["state"], job["attempts"]), ("failed", 1), job["message"])
        self.assertRegex(job["message"], r"training diverged: .* is not finite after step \d+")


class ModelsTest(TroubleTest):
    def setUp(self) -> None:
        super().setUp()
        self.model = shutil.copytree(world.pretrained.model, self.daemon.state.parent / "model")
        self.models = self.ctl.json("model", "list")

    def tearDown(self) -> None:
        self.assertEqual(self.ctl.json("model", "list"), self.models, "something half-done stays behind")
        stored = self.daemon.state / "models"
        left = [path.name for path in stored.glob("*/*") if path.name != "1"]
        self.assertEqual(left, [])

    def test_weights_that_do_not_fit(self) -> None:
        file = self.model / "model.json"
        description = json.loads(file.read_text())
        convolution = next(layer for layer in description["layers"] if layer["type"] == "conv2d")
        convolution["properties"]["kernel"] = 5
        convolution["properties"]["padding"] = 2
        file.write_text(json.dumps(description))
        said = self.refused(BAD_DATA, "model", "import", self.model, "--name", "other")
        self.assertIn(convolution["name"], said)

    def test_weights_cut_short(self) -> None:
        file = self.model / "weights.safetensors"
        os.truncate(file, file.stat().st_size // 2)
        said = self.refused(BAD_DATA, "model", "import", self.model, "--name", "other")
        self.assertIn("weights.safetensors", said)

    def test_a_missing_folder(self) -> None:
        said = self.refused(NO_INPUT, "model", "import", "/nowhere/model", "--name", "other")
        self.assertIn("/nowhere/model", said)


class QuotaTest(TroubleTest):
    config = {**TroubleTest.config, "cache": {"quota_bytes": 100_000}}

    def test_a_full_cache_is_no_full_stop(self) -> None:
        job = self.run_job()
        self.assertEqual(job["state"], "succeeded", job["message"])
        cache = job["result"]["details"]["cache"]
        self.assertGreater(cache["uncached"], 0)
        self.assertGreater(cache["computed"], 0)
        self.assertLessEqual(self.ctl.json("cache", "stats")["bytes"], 100_000)
        self.assertIn(" 0 bad", self.ctl.text("cache", "verify"))
        self.assertIn("feature maps that did not fit", self.ctl.text("report", str(job["id"])))
        events = self.ctl.json("job", "get", str(job["id"]))["events"]
        notes = [event["event"]["message"] for event in events if event["event"]["event"] == "note"]
        self.assertTrue(any("quota of 100000 bytes" in note for note in notes), notes)


class DamageTest(TroubleTest):
    """What can be computed again is never the end of a job, nor in the way of forgetting."""

    def notes(self, job: dict[str, Any]) -> str:
        events = self.ctl.json("job", "get", str(job["id"]))["events"]
        return "; ".join(e["event"]["message"] for e in events if e["event"]["event"] == "note")

    def test_a_cache_that_cannot_be_used_is_built_anew(self) -> None:
        cache = self.daemon.state / "cache"
        data = cache / "data.mdb"
        self.assertEqual(self.run_job()["state"], "succeeded")

        def garbage() -> None:
            data.write_bytes(os.urandom(data.stat().st_size))

        def cut_short() -> None:
            os.truncate(data, 5000)

        def other_version() -> None:
            found = data.read_bytes()
            data.write_bytes(found.replace(b"MOILFEAT\x01", b"MOILFEAT\x07"))

        def no_folder() -> None:
            shutil.rmtree(cache)
            cache.write_text("no folder")

        for damage in (garbage, cut_short, other_version, no_folder):
            with self.subTest(damage.__name__):
                damage()
                job = self.run_job()
                self.assertEqual((job["state"], job["attempts"]), ("succeeded", 1), job["message"])
                self.assertIn("built anew", self.notes(job))
                self.assertGreater(job["result"]["details"]["cache"]["computed"], 0)
        self.assertIn(" 0 bad", self.ctl.text("cache", "verify"))
        self.assertFalse((self.daemon.state / "cache.discarded").exists())

        garbage()
        digest = self.ctl.json("label", "samples", "--label", SETTINGS.local_classes[0])["samples"][0]["digest"]
        self.ctl.text("label", "forget", digest)
        self.assertFalse(cache.exists(), "what cannot be searched for a forgotten photo goes")


class ProtocolTest(TroubleTest):
    """The rest of the protocol's bad input is tested with the server."""

    def ask(self, text: bytes) -> dict[str, Any]:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(30)
            client.connect(str(self.daemon.socket))
            client.sendall(text)
            return json.loads(client.makefile().readline())

    def test_malformed_json(self) -> None:
        self.assertEqual(self.ask(b'{"jsonrpc": "2.0", "id": 1, "method":\n')["error"]["code"], -32700)

    def test_unknown_method(self) -> None:
        reply = self.ask(b'{"jsonrpc": "2.0", "id": 1, "method": "job.submitt"}\n')
        self.assertEqual(reply["error"]["code"], -32601)
        self.assertIn("job.submit", reply["error"]["message"])

    def test_an_oversized_request(self) -> None:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(30)
            client.connect(str(self.daemon.socket))
            try:
                client.sendall(b'"' + b"x" * (2 << 20))
            except BrokenPipeError:
                pass  # it hung up before all was sent
            reply = json.loads(client.makefile().readline())
        self.assertIn("error", reply)
        self.assertIn("moild", self.ctl.text("status"))


class HangingClientTest(TroubleTest):
    config = {**TroubleTest.config, "server": {"request_seconds": 0.3}}

    def test_a_client_that_hangs_is_hung_up_on(self) -> None:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(30)
            client.connect(str(self.daemon.socket))
            client.sendall(b'{"jsonrpc": "2.0"')
            began = time.monotonic()
            self.assertIn("moild", self.ctl.text("status"), "others are served meanwhile")
            while client.recv(1024):
                pass
        self.assertLess(time.monotonic() - began, 10)


class OthersFilesTest(unittest.TestCase):
    """What one program writes, another may read; where it may not, the error says what stops whom."""

    def test_what_is_written_for_others_has_the_modes_of_the_umask(self) -> None:
        mask = os.umask(0)
        os.umask(mask)
        for folder in (world.pretrained.model, world.pretrained.pack):
            for path in (folder, *folder.rglob("*")):
                wanted = (0o777 if path.is_dir() else 0o666) & ~mask
                self.assertEqual(path.stat().st_mode & 0o777, wanted, path)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_a_folder_that_is_closed_to_the_service_is_named(self) -> None:
        folder = world.new_folder("closed")
        home = folder / "home"
        shutil.copytree(world.pretrained.model, home / "model")
        shutil.copytree(world.pretrained.pack, home / "pack")
        for parent in (world.folder, folder):
            parent.chmod(0o755)
        for file in (home / "model").iterdir():
            file.chmod(0o600)
        home.chmod(0o700)
        for name in ("moild", "moil-worker"):
            shutil.copy(program(name), folder)
        service = folder / "service"
        service.mkdir()
        os.chown(service, NOBODY, NOBODY)
        daemon = subprocess.Popen(
            [folder / "moild", "--foreground", "--state-dir", service / "state", "--socket", service / "sock"],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=NOBODY, group=NOBODY, extra_groups=[])
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        deadline = time.monotonic() + 30
        while not (service / "sock").exists() and time.monotonic() < deadline:
            time.sleep(0.05)

        def said(*words: str | Path) -> str:
            return subprocess.run([program("moilctl"), "--socket", service / "sock", *words],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr

        stop = f"may not enter the folder {home} (mode 0700, of user root)"
        # moilctl opens the model's files itself; whoever only names the folder is told.
        self.assertEqual(said("model", "import", home / "model", "--name", MODEL), "")
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(service / "sock"))
            request = {"jsonrpc": "2.0", "id": 1, "method": "model.import",
                       "params": {"name": "other", "path": str(home / "model")}}
            client.sendall(json.dumps(request).encode() + b"\n")
            self.assertIn(stop, json.loads(client.makefile().readline())["error"]["message"])
        # A file that is wrong is named as its owner knows it.
        (home / "model/labels.json").write_text("[1]")
        self.assertIn(str(home / "model/labels.json"), said("model", "import", home / "model", "--name", "wrong"))
        file = folder / "job.json"
        file.write_text(json.dumps(world.spec(ROW, **{"global": {"pack": str(home / "pack")}})))
        refusal = said("job", "submit", file)
        self.assertIn(stop, refusal)
        self.assertIn("A pack is needed in every night: copy it", refusal)


class StateFolderTest(unittest.TestCase):
    def start(self, state: Path, **options: Any) -> subprocess.CompletedProcess[str]:
        """moild, which must not come up."""
        command = [options.pop("moild", program("moild")), "--foreground", "--state-dir", state]
        command += ["--socket", world.new_folder("socket") / "moild.sock"]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, **options)

    def test_a_second_daemon_is_refused(self) -> None:
        with daemon_in(world.new_folder("two")) as first:
            second = self.start(first.state)
            self.assertEqual(second.returncode, UNAVAILABLE, second.stderr)
            self.assertIn(str(first.state), second.stderr)
            self.assertIn("moild", ctl_of(first).text("status"))

    def test_a_folder_that_is_not_writable(self) -> None:
        folder = world.new_folder("locked")
        options: dict[str, Any] = {}
        if os.geteuid() == 0:  # root may write anywhere, so somebody else must try
            for parent in (world.folder, folder):
                parent.chmod(0o755)
            options = {"moild": shutil.copy(program("moild"), folder), "user": NOBODY, "group": NOBODY}
        state = folder / "state"
        state.mkdir(mode=0o555)
        ended = self.start(state, **options)
        self.assertEqual(ended.returncode, CANNOT_CREATE, ended.stderr)
        self.assertIn(str(state), ended.stderr)
        self.assertEqual(list(state.iterdir()), [])

    def test_a_file_where_the_folder_should_be(self) -> None:
        state = world.new_folder("file") / "state"
        state.write_text("")
        ended = self.start(state)
        self.assertEqual(ended.returncode, CANNOT_CREATE, ended.stderr)
        self.assertIn(str(state), ended.stderr)


if __name__ == "__main__":
    unittest.main()
