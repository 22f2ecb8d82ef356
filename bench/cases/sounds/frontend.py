"""The front end of sounds: whether it is right, how fast it is, and what part of a night it takes.

Beside NumPy and torchaudio on ESC-10's clips, and beside ONNX Runtime with the same front end in NumPy, which
computes YAMNet's tags of the same clips.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.programs import native, run
from lib.results import JobFailed
from lib.samples import Files, count
from lib.say import say
from lib.sounds import data
from lib.sounds.places import HEAD, MODEL, NIGHT
from lib.sounds.scenes import PREPROCESSING
from lib.sounds.sides import in_folds
from lib.sounds.world import LOG_MEL, as_wav, device, import_tagger, listed, make_pack

from .peers import THREADS, by_onnx_runtime, peer

A_CLASS = 4  # clips of each class; of the first fold
SPOKEN = 30  # digits of each speaker
# torchaudio's triangles, for it is what this one is compared with.
LOG_MEL_DELTAS = {"kind": "sound", "front_end": PREPROCESSING["front_end"] | {"triangles": "hertz"}}


def frontend(folder: Path) -> dict[str, Any]:
    """Works in `folder`. Real-time factors are of one core: seconds of sound a second of computing."""
    folder.mkdir(parents=True, exist_ok=True)
    clips = extract(data.ESC10, folder / "clips")
    some = {name: members[:A_CLASS] for name, members in clips.items()}
    plain, studio = as_wav(folder / "plain", some), as_wav(folder / "studio", some, "--studio")
    descriptions = _written(folder, {"log_mel": LOG_MEL, "log_mel_deltas": LOG_MEL_DELTAS})
    say("front ends beside NumPy's and torchaudio's")
    agreement = {name: _agreement(folder, file, plain) for name, file in descriptions.items()}
    say("decoding, resampling and front ends on one core")
    speed = _speed(folder, descriptions, some, plain, studio)
    model = import_tagger(folder)
    errors = [found["max_error"] for found in agreement.values() if found["max_error"] is not None]
    return {
        "max_error": max(errors),
        "agreement": agreement,
        "realtime_factor": min(found["realtime_factor"] for found in speed.values()),
        "speed": speed,
        **_night(folder, model, clips, descriptions["log_mel"]),
        "tagging": _tagging(folder, model, plain),
    }


def _written(folder: Path, kinds: dict[str, Any]) -> dict[str, Path]:
    for name, kind in kinds.items():
        (folder / f"{name}.json").write_text(json.dumps(kind))
    return {name: folder / f"{name}.json" for name in kinds}


def _bench(description: Path, sounds: Iterable[Path], *words: str | Path) -> dict[str, Any]:
    return json.loads(run([native("sound_bench"), "--preprocessing", description, "--json", *words, *sounds]))


def _agreement(folder: Path, description: Path, files: Files) -> dict[str, Any]:
    patches = folder / "patches.bin"
    _bench(description, listed(files), "--runs", "1", "--patches", patches)
    return peer("sound_agreement.py", "--preprocessing", description, "--patches", patches, *listed(files))


def _speed(folder: Path, descriptions: dict[str, Path], ogg: Files, plain: Files, studio: Files) -> dict[str, Any]:
    sounds = {"ogg": ogg, "wav": plain, "wav_48k_stereo": studio}
    spoken = data.extract(data.FSDD, folder / "digits")
    sounds["wav_8k"] = {name: sorted((spoken / name).glob("*/*.wav"))[:SPOKEN] for name in data.speakers(spoken)}
    found = {f"log_mel_{name}": _bench(descriptions["log_mel"], listed(files)) for name, files in sounds.items()}
    return found | {"log_mel_deltas_ogg": _bench(descriptions["log_mel_deltas"], listed(ogg))}


def _night(folder: Path, model: Path, clips: Files, description: Path) -> dict[str, Any]:
    """A night over YAMNet, from nothing: its head learns, and all of ESC-10 is seen."""
    say("a night over YAMNet")
    known = [{data.AUDIOSET[label][0]: files for label, files in in_folds(clips, {fold}).items()} for fold in (1, 2)]
    pack = make_pack(model, known[0], known[1], folder / "pack")
    with device(folder / "night", model, MODEL, data.Clips(in_folds(clips, {3, 4}), in_folds(clips, {5})), data.AUDIOSET) as ctl:
        job = ctl.watch(ctl.submit(replace(NIGHT, alpha=1.0).job_spec(pack, HEAD) | {"threads": THREADS}))
    if job["state"] != "succeeded":
        raise JobFailed(f"YAMNet: the job is {job['state']}: {job['message']}")
    return _shares(model, job["result"], _bench(description, listed(clips), "--runs", "1"), count(clips))


def _shares(model: Path, result: dict[str, Any], bench: dict[str, Any], clips: int) -> dict[str, Any]:
    """Feature maps are computed in one stage: it is divided as front end, with decoding, and backbone are to each
    other where each is measured by itself, in seconds that one core computes."""
    details = result["details"]
    seconds, stages, patches = result["seconds"], details["stages"], details["cache"]["computed"]
    forward: list[str | Path] = [native("forward_bench"), "--model", model, "--threads", "1", "--runs", "20", "--json"]
    backbone = json.loads(run(forward))["computed_ms_per_image"] / 1000
    front_end = (bench["decoding_seconds"] + bench["front_end_seconds"]) / bench["patches"]
    part = front_end / (front_end + backbone)
    shares = {"front_end": part * stages["cache"], "backbone": (1 - part) * stages["cache"], "head": stages["train"]}
    shares = {name: share / seconds for name, share in shares.items()}
    return {
        "shares": shares | {"other": 1 - sum(shares.values())},
        "computed_ms_a_patch": {"front_end": 1000 * front_end, "backbone": 1000 * backbone},
        "night": {"clips": clips, "patches": patches, "seconds": seconds, "seconds_a_clip": seconds / clips, "stages": stages},
    }


def _tagging(folder: Path, model: Path, files: Files) -> dict[str, Any]:
    """Seconds a clip of `moilctl predict`, its worker's start and the model's loading included, and of ONNX Runtime."""
    say("tags of clips, ours and ONNX Runtime's")
    with device(folder / "tagging", model, MODEL, data.Clips({}, {}), {}) as ctl:
        began = time.monotonic()
        ctl.json("predict", *listed(files))
        ours = (time.monotonic() - began) / count(files)
    return {"clips": count(files), "moilctl_seconds_a_clip": ours, "onnx_runtime": by_onnx_runtime("sound_tagging.py", *listed(files))}
