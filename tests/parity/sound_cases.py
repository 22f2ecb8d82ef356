#!/usr/bin/env python3
"""Writes what NumPy and torchaudio make of some sounds, for the front ends to be compared with.

    sound_cases.py FOLDER

FOLDER gets cases.json (for each case a WAV file, the front end's description, and the place of its
patches), the files, and patches.bin (fp32). Recordings of the Free Spoken Digit Dataset are among the
sounds if MOIL_SHARED_DATA or ../shared/data has them. Ends with status 77 if NumPy is not
installed; without torchaudio its cases are left out.
"""
import io
import json
import os
import pathlib
import sys
import tarfile
import wave

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.glob("*"):
    old.unlink()

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: NumPy is not installed ({error}); on Debian: apt-get install python3-numpy")
    sys.exit(77)

from sound_reference import front_end, torchaudio, with_deltas, yamnet  # noqa: E402


def wav(samples, rate):
    """16 bits; and the samples as they are read from it."""
    whole = np.clip(np.round(samples * 32768), -32768, 32767).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(whole.tobytes())
    return file.getvalue(), whole.astype(np.float64) / 32768


def made_up(rate):
    """Tones that come and go in noise."""
    random = np.random.default_rng(1)
    t = np.arange(int(2.6 * rate)) / rate
    sound = 0.3 * np.sin(2 * np.pi * (300 + 500 * t) * t) * (np.sin(2 * np.pi * 3 * t) > 0)
    return sound + 0.02 * random.standard_normal(len(t))


def recordings(most=6):
    shared = os.environ.get("MOIL_SHARED_DATA") or pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"
    archive = pathlib.Path(shared) / "fsdd.tar"
    if not archive.is_file():
        print(f"recordings are left out: {archive} is absent")
        return
    with tarfile.open(archive) as tar:
        names = sorted(m.name for m in tar.getmembers() if m.name.endswith(".wav"))
        for name in names[:: len(names) // most][:most]:
            yield name.replace("/", "_"), tar.extractfile(name).read()


def main():
    sounds = [("made_up", 16000, wav(made_up(16000), 16000))]
    for name, content in recordings():
        with wave.open(io.BytesIO(content)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64) / 32768
            rate = file.getframerate()
            # Repeated: one that is shorter than a patch is shown in several places of one, over noise.
            sounds.append((name, rate, wav(np.tile(samples, 1 + 2 * rate // len(samples)), rate)))
    cases, floats = [], 0
    with open(FOLDER / "patches.bin", "wb") as out:
        for name, rate, (content, samples) in sounds:
            (FOLDER / f"{name}.wav").write_bytes(content)
            high = min(7500, 0.47 * rate)
            asked = [(yamnet, front_end(rate, high=high))]
            if torchaudio:
                asked.append((with_deltas, front_end(rate, type="log_mel_deltas", high=high, low=50, triangles="hertz",
                                                     power=2, log_offset=1e-4, frames=64, patch_hop=32)))
                asked.append((with_deltas, front_end(rate, type="log_mel_deltas", high=high / 2, low=60, triangles="slaney",
                                                     power=2, log_offset=1e-6, bands=32, frames=76, patch_hop=8)))
            for compute, description in asked:
                patches = np.ascontiguousarray(compute(samples, description), "<f4")
                out.write(patches.tobytes())
                cases.append({"name": f"{name}, {description['type']}", "file": f"{name}.wav", "front_end": description,
                              "patches": len(patches), "offset": floats})
                floats += patches.size
    (FOLDER / "cases.json").write_text(json.dumps({"cases": cases, "torchaudio": torchaudio is not None}, indent=1))


main()
