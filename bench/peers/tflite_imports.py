#!/usr/bin/env python3
"""TensorFlow Lite files that moild imports, beside LiteRT.

    tflite_imports.py --folder FOLDER FILE.tflite...

Works in FOLDER. Prints JSON, a list of what each file is: its operators by kind, the seconds of moil-import, and how far our
answers are from LiteRT's at most, of the largest number, on speech or photos; beside it, how far its other kernels are.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lib.tflite.files import SPECTROGRAM  # noqa: E402
from lib.tflite.litert import OTHER_KERNELS, answers_of, apart, operators_of  # noqa: E402
from lib.tflite.ours import answer_of, imported  # noqa: E402
from lib.tflite.real_inputs import real_input  # noqa: E402

INPUTS = 3


def import_of(file: Path, folder: Path) -> dict[str, Any]:
    inputs = [real_input(file, which) for which in range(INPUTS)]
    theirs = [answers_of(file, numbers) for numbers in inputs]
    others = [answers_of(file, numbers, OTHER_KERNELS) for numbers in inputs]
    seconds, most = [], 0.0
    for output in theirs[0]:
        model, began = folder / "model", time.monotonic()
        if file.stem == SPECTROGRAM:
            model = file
        else:
            imported(file, output, model).check_returncode()
            seconds.append(time.monotonic() - began)
        for numbers, answers in zip(inputs, theirs):
            most = max(most, apart(answer_of(model, numbers, folder), answers[output]))
        shutil.rmtree(folder / "model", ignore_errors=True)
    found = {"file": file.name, "bytes": file.stat().st_size, "operators": operators_of(file), "seconds": max(seconds, default=None)}
    own = max(apart(other[name], answers[name]) for other, answers in zip(others, theirs) for name in answers)
    return found | {"error": most, "litert_error": own}


def main() -> None:
    parser = argparse.ArgumentParser(prog="tflite_imports.py")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    print(json.dumps([import_of(file, options.folder) for file in options.files]))


if __name__ == "__main__":
    main()
