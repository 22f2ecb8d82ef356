"""Bad input and unfit folders, through the real programs: a clear error, and nothing half-done."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import unittest
from contextlib import closing
from pathlib import Path
from typing import Any

from case import BAD_DATA, CANNOT_CREATE, EachTest, the_world
from images import GREY, png
from world import MODEL, SETTINGS, Row, program, trusting_worker
from lib.samples import count, only

NOBODY = 65534
ROW = Row("trouble", "trouble", SETTINGS.alpha, SETTINGS.trainable_layers, cached=True)


class TroubleTest(EachTest):
    row = ROW
    config = {"worker": {"attempts": 2}}

    def bomb(self) -> Path:
        """A file of a few bytes that claims to be an image of billions of pixels."""
        file = self.folder / "bomb.png"
        file.write_bytes(png(65500, 65500, GREY, b""))
        return file


class SamplesTest(TroubleTest):
    """Samples that were kept before the worker tried any, or whose files are damaged since."""

    @classmethod
    def prepare(cls) -> None:
        cls.config = {"worker": {"attempts": 2, "path": str(trusting_worker(cls.folder))}}

    def test_a_bomb_is_refused_in_words(self) -> None:
        bomb = self.bomb()
        words = "65500x65500, at most 64000000 pixels are taken"
        self.assertIn(str(bomb), self.refused(BAD_DATA, words, "predict", bomb))
        digest = self.ctl.json("label", "add", bomb, "--label", "9", "--split", "train")["samples"][0]["digest"]
        left_out = self.night()["result"]["details"]["left_out"]
        self.assertEqual([sample["digest"] for sample in left_out], [digest])
        self.assertIn(words, left_out[0]["why"])

    def test_truncated_images_are_left_out_by_name_and_the_rest_is_learned(self) -> None:
        for cached in (True, False):
            with self.subTest(cached=cached):
                self.leave_out_truncated(cached)

    def leave_out_truncated(self, cached: bool) -> None:
        cut = self.folder / "cut.png"
        digests = []
        for split, file in zip(("train", "val"), self.world.place.later[SETTINGS.local_classes[0]]):
            whole = file.read_bytes()
            cut.write_bytes(whole[: len(whole) * 2 // 3])
            added = self.ctl.json("label", "add", cut, "--label", "torn", "--split", split)
            digests.append(added["samples"][0]["digest"])
        job = self.night(cache={"enabled": cached})
        details = job["result"]["details"]
        self.assertEqual([sample["digest"] for sample in details["left_out"]], digests)
        self.assertEqual([sample["held_out"] for sample in details["left_out"]], [False, True])
        self.assertIn(str(cut), details["left_out"][0]["name"])
        self.assertEqual(details["left_out"][0]["labels"], ["torn"])
        self.assertEqual(details["samples"]["left_out"], 2)
        self.assertEqual(details["samples"]["local"], count(only(self.world.place.train, SETTINGS.local_classes)))
        self.assertIn(str(cut), self.ctl.text("report", job["id"]))
        labels = json.loads((self.daemon.state / "models" / MODEL / str(job["version"]) / "labels.json").read_text())
        self.assertNotIn("torn", json.dumps(labels), "nothing could be learned of it")
        for digest in digests:
            self.ctl.text("label", "forget", digest, "--yes")

    def test_a_night_of_unreadable_images_alone_fails_with_their_names(self) -> None:
        for label in SETTINGS.local_classes:
            self.ctl.text("label", "rm", label, "--with-samples", "--yes")
        bomb = self.bomb()
        self.ctl.text("label", "add", bomb, "--label", "9", "--split", "train")
        job = self.run_job()
        self.assertEqual((job["state"], job["attempts"]), ("failed", 1))
        self.assertIn(str(bomb), job["message"])

    def test_sounds_are_counted_where_the_model_reads_images(self) -> None:
        sound = self.folder / "bell.wav"
        sound.write_bytes(b"RIFF\0\0\0\0WAVEfmt ")
        self.ctl.text("label", "add", sound, "--label", "9")
        job = self.night()
        self.assertEqual(job["result"]["details"]["other_media"], {"audio/wav": 1})
        self.assertIn("audio/wav", self.ctl.text("report", job["id"]))

    def test_a_damaged_pack_is_refused(self) -> None:
        pack = shutil.copytree(self.world.pretrained.pack, self.folder / "pack")
        for file in (file for file in pack.rglob("*") if file.is_file()):
            file.write_bytes(file.read_bytes()[:100])
        spec = self.spec(**{"global": {"pack": str(pack), "alpha": 0.1}})
        self.assertIn(str(pack), self.refused_job("moilctl: /global/pack: ", spec))
        self.assertEqual(self.ctl.json("job", "list")["jobs"], [])

    def test_of_a_damaged_model_nothing_stays_behind(self) -> None:
        model = shutil.copytree(self.world.pretrained.model, self.folder / "model")
        file = model / "weights.safetensors"
        os.truncate(file, file.stat().st_size // 2)
        before = self.ctl.json("model", "list")
        self.refused(BAD_DATA, "weights.safetensors", "model", "import", model, "--name", "other")
        self.assertEqual(self.ctl.json("model", "list"), before)
        self.assertEqual([path.name for path in (self.daemon.state / "models").glob("*/*") if path.name != "1"], [])


class QuotaTest(TroubleTest):
    config = {**TroubleTest.config, "cache": {"quota_bytes": 100_000}}

    def test_a_full_cache_is_no_full_stop(self) -> None:
        job = self.night()
        cache = job["result"]["details"]["cache"]
        self.assertGreater(cache["uncached"], 0)
        self.assertGreater(cache["computed"], 0)
        self.assertLessEqual(self.ctl.json("cache", "stats")["bytes"], 100_000)
        self.assertIn(" 0 bad", self.ctl.text("cache", "verify"))
        self.assertIn("feature maps that did not fit", self.ctl.text("report", str(job["id"])))
        self.assertIn("quota of 100000 bytes", "; ".join(self.notes(job)))


class DamageTest(TroubleTest):
    """What can be computed again is never the end of a job, nor in the way of forgetting."""

    def test_a_cache_that_cannot_be_used_is_built_anew(self) -> None:
        cache = self.daemon.state / "cache"
        data = cache / "data.mdb"
        self.night()

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
                job = self.night()
                self.assertEqual(job["attempts"], 1, job["message"])
                self.assertIn("built anew", "; ".join(self.notes(job)))
                self.assertGreater(job["result"]["details"]["cache"]["computed"], 0)
        self.assertIn(" 0 bad", self.ctl.text("cache", "verify"))
        self.assertFalse((self.daemon.state / "cache.discarded").exists())

        garbage()
        digest = self.ctl.json("label", "samples", "--label", SETTINGS.local_classes[0])["samples"][0]["digest"]
        self.ctl.text("label", "forget", digest, "--yes")
        self.assertFalse(cache.exists(), "what cannot be searched for a forgotten photo goes")


class OthersFilesTest(unittest.TestCase):
    """What one program writes, another may read; if it may not, the error says what stops whom."""

    def test_what_is_written_for_others_has_the_modes_of_the_umask(self) -> None:
        mask = os.umask(0)
        os.umask(mask)
        for folder in (the_world().pretrained.model, the_world().pretrained.pack):
            for path in (folder, *folder.rglob("*")):
                wanted = (0o777 if path.is_dir() else 0o666) & ~mask
                self.assertEqual(path.stat().st_mode & 0o777, wanted, path)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_a_folder_that_is_closed_to_the_service_is_named(self) -> None:
        folder = the_world().new_folder("closed")
        home = folder / "home"
        shutil.copytree(the_world().pretrained.model, home / "model")
        shutil.copytree(the_world().pretrained.pack, home / "pack")
        for parent in (the_world().folder, folder):
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
        file.write_text(json.dumps(the_world().spec(ROW, **{"global": {"pack": str(home / "pack")}})))
        refusal = said("job", "submit", file)
        self.assertIn(stop, refusal)
        self.assertIn("A pack is needed in every night: copy it", refusal)

    def test_a_state_folder_that_is_not_writable_is_named(self) -> None:
        folder = the_world().new_folder("locked")
        options: dict[str, Any] = {}
        if os.geteuid() == 0:  # root may write anywhere, so somebody else must try
            for parent in (the_world().folder, folder):
                parent.chmod(0o755)
            options = {"moild": shutil.copy(program("moild"), folder), "user": NOBODY, "group": NOBODY}
        state = folder / "state"
        state.mkdir(mode=0o555)
        command = [options.pop("moild", program("moild")), "--foreground", "--state-dir", state, "--socket", folder / "sock"]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, **options)
        self.assertEqual(ended.returncode, CANNOT_CREATE, ended.stderr)
        self.assertIn(str(state), ended.stderr)
        self.assertEqual(list(state.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
