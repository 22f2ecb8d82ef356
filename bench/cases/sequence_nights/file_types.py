"""File types of one's own: Magika, which tells some 200 types apart by a file's two ends, learns three more.

What it knows is mixed from files of Debian's packages whose names tell their type. The sources of manual pages, compiled
descriptions of terminals and scripts of Vim are new.
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from lib.daemon import Daemon, closed_window
from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.programs import ROOT, program, run
from lib.say import say
from lib.texts.packages import fetch

from .told import told

MODEL = "file-types"
RELEASE = "standard_v3_3"
# A Debian package, the files in it, and what Magika calls them.
KNOWN = [
    ("python3-docutils", "**/*.py", "python"),
    ("perl-modules-5.36", "**/*.pm", "perl"),
    ("libruby3.1", "**/*.rb", "ruby"),
    ("libtcl8.6", "**/*.tcl", "tcl"),
    ("libc6-dev", "usr/include/**/*.h", "c"),
    ("libjs-mathjax", "**/*.js", "javascript"),
    ("iso-codes", "**/*.json", "json"),
    ("iso-codes", "**/*.xml", "xml"),
    ("adwaita-icon-theme", "**/*.svg", "svg"),
    ("adwaita-icon-theme", "**/*.png", "png"),
    ("coreutils", "bin/*", "elf"),
    ("coreutils", "usr/bin/*", "elf"),
    ("fonts-dejavu-core", "**/*.ttf", "ttf"),
    ("manpages", "**/*.gz", "gzip"),
    ("cmake-data", "**/*.cmake", "cmake"),
    ("cmake-data", "**/*.rst", "rst"),
]
# Those that are held out are another package's, written by others.
NEW = [
    ("manual page", "**/man[1-8]/*.gz", "manpages", "manpages-dev"),
    ("terminfo", "**/terminfo/*/*", "ncurses-term", "ncurses-base"),
    ("vim script", "**/*.vim", "vim-runtime", "vim-scripts"),
]
MOST_KNOWN, MOST_NEW = 50, 40
HELD_OUT = 3  # every third file of those that are known


def nights(quick: bool) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="moil-types-") as name:
        return [night(Path(name), quick)]


def magika(folder: Path) -> Path:
    """The folder with its model, from PyPI; kept below build/data."""
    kept = ROOT / "build" / "data" / "magika"
    if not (kept / "model.onnx").is_file():
        words = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "magika"]
        subprocess.run([sys.executable, *map(str, words)], check=True)
        (wheel,) = folder.glob("magika-*.whl")
        kept.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            for file in ("model.onnx", "config.min.json"):
                (kept / file).write_bytes(archive.read(f"magika/models/{RELEASE}/{file}"))
    return kept


def unpacked(package: str, folder: Path) -> Path:
    """With all that is taken of it, at once."""
    wanted = [pattern for name, pattern, _ in KNOWN if name == package]
    wanted += [pattern for _, pattern, *sources in NEW if package in sources]
    return folder / package if (folder / package).is_dir() else fetch(package, folder, *wanted)


def files_of(package: str, pattern: str, most: int, folder: Path) -> list[Path]:
    found = [file for file in sorted(unpacked(package, folder).glob(pattern)) if file.is_file() and not file.is_symlink()]
    random.Random(1).shuffle(found)
    return found[:most]


def write(files: list[Path], folder: Path, packed: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    first = len(list(folder.iterdir()))
    for number, file in enumerate(files, start=first):
        content = file.read_bytes()
        (folder / f"{number:04}{file.suffix or '.bin'}").write_bytes(gzip.decompress(content) if packed else content)


def write_known(folder: Path, packages: Path, most: int) -> None:
    for package, pattern, label in KNOWN:
        files = files_of(package, pattern, most, packages)
        write([file for i, file in enumerate(files) if i % HELD_OUT], folder / "trained" / label)
        write(files[::HELD_OUT], folder / "held-out" / label)


def imported(place: Path) -> Path:
    source = magika(place)
    config = json.loads((source / "config.min.json").read_text())
    labels, seen = place / "labels.json", place / "preprocessing.json"
    labels.write_text(json.dumps(config["target_labels_space"]))
    seen.write_text(json.dumps({"kind": "tokens", "length": config["beg_size"] + config["end_size"], "take": "ends"}))
    run([program("moil-import"), source / "model.onnx", "--labels", labels, "--preprocessing", seen, "--out", place / "model"])
    return place / "model"


def night(place: Path, quick: bool) -> dict[str, Any]:
    say("file types: files of Debian's packages")
    known, packages, most = place / "known", place / "packages", 12 if quick else MOST_NEW
    write_known(known, packages, 10 if quick else MOST_KNOWN)
    for label, pattern, *sources in NEW:
        for split, package in zip(("train", "val"), sources):
            write(files_of(package, pattern, most, packages), place / split / label, packed=pattern.endswith(".gz"))
    model, pack = imported(place), place / "pack"
    run([program("moil-pretrain"), "image-pack", "--model", model, "--data", known / "trained", "--val-data", known / "held-out", "--out", pack])
    with Daemon(place / "state", config={"window": closed_window()}) as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(model, MODEL)
        for split in ("train", "val"):
            for label, *_ in NEW:
                ctl.add_label(sorted((place / split / label).iterdir()), label, split)
        say("file types: the night")
        job = ctl.watch(ctl.submit(shortest(MODEL, pack) | ({"train": {"epochs": 2}} if quick else {})))
        samples = [min((place / "val" / label).iterdir()) for label, *_ in NEW]
        answers = [one["top"][0] for one in ctl.json("predict", *samples)["predictions"]]
    return told("file types", job) | {"answers": answers}
