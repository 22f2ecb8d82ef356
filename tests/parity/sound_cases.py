#!/usr/bin/env python3
"""Writes what NumPy and torchaudio make of some sounds, for the front ends to be compared with.

    sound_cases.py FOLDER

FOLDER gets cases.json (for each case a WAV file, the front end's description, and the place of its
patches), the files, and patches.bin (fp32). Recordings of the Free Spoken Digit Dataset are among the
sounds where MOIL_SHARED_DATA or ../shared/data has them. Ends with status 77 where NumPy is not
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

try:
    import torch
    import torchaudio
except (ImportError, OSError):
    torchaudio = None


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


def frames_of(samples, d):
    """Every frame of all patches, the sound filled up with silence: patches x frames x window."""
    patch, step = (d["frames"] - 1) * d["hop"] + d["window"], d["patch_hop"] * d["hop"]
    patches = 1 + max(0, -(-(len(samples) - patch) // step))
    padded = np.concatenate([samples, np.zeros(patch + patches * step)])
    starts = np.arange(patches)[:, None] * step + np.arange(d["frames"])[None] * d["hop"]
    return padded[starts[..., None] + np.arange(d["window"])]


def yamnet(samples, d):
    """From the description of its features: a magnitude spectrum in triangles straight in mel."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(d["window"]) / d["window"])
    spectrum = np.abs(np.fft.rfft(frames_of(samples, d) * window, d["fft"]))
    mel = lambda f: 1127 * np.log(1 + np.asarray(f) / 700)  # noqa: E731
    at = mel(np.arange(d["fft"] // 2 + 1) * d["rate"] / d["fft"])
    edges = np.linspace(mel(d["low"]), mel(d["high"]), d["bands"] + 2)
    rising = (at[:, None] - edges[None, :-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[None, 2:] - at[:, None]) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling))
    weights[0] = 0
    return np.log(spectrum @ weights + d["log_offset"])[..., None]


def with_deltas(samples, d):
    """By torchaudio, whose transform lies in the middle of its frame."""
    beside = (d["fft"] - d["window"]) // 2
    melted = torchaudio.transforms.MelSpectrogram(
        d["rate"], d["fft"], d["window"], d["hop"], d["low"], d["high"], 0, d["bands"],
        power=d["power"], center=False, mel_scale="htk", norm=None)
    patch, step = (d["frames"] - 1) * d["hop"] + d["window"], d["patch_hop"] * d["hop"]
    patches = 1 + max(0, -(-(len(samples) - patch) // step))
    padded = torch.from_numpy(np.concatenate([samples, np.zeros(patch + patches * step)])).float()
    out = []
    for p in range(patches):
        some = torch.nn.functional.pad(padded[p * step : p * step + patch], (beside, beside))
        plain = torch.log(melted(some) + d["log_offset"])
        first = torchaudio.functional.compute_deltas(plain)
        out.append(torch.stack([plain, first, torchaudio.functional.compute_deltas(first)], -1).transpose(0, 1))
    return torch.stack(out).numpy()


def front_end(rate, **fields):
    d = {"type": "log_mel", "rate": rate, "window": 400, "hop": 160, "fft": 512, "bands": 64, "low": 125, "high": 7500,
         "triangles": "mel", "power": 1, "log_offset": 0.001, "frames": 96, "patch_hop": 48}
    return d | fields


def main():
    sounds = [("made_up", 16000, wav(made_up(16000), 16000))]
    for name, content in recordings():
        with wave.open(io.BytesIO(content)) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float64) / 32768
            sounds.append((name, file.getframerate(), (content, samples)))
    cases, floats = [], 0
    with open(FOLDER / "patches.bin", "wb") as out:
        for name, rate, (content, samples) in sounds:
            (FOLDER / f"{name}.wav").write_bytes(content)
            high = min(7500, 0.47 * rate)
            asked = [(yamnet, front_end(rate, high=high))]
            if torchaudio:
                asked.append((with_deltas, front_end(rate, type="log_mel_deltas", high=high, low=50, triangles="hertz",
                                                     power=2, log_offset=1e-4, frames=64, patch_hop=32)))
            for compute, description in asked:
                patches = np.ascontiguousarray(compute(samples, description), "<f4")
                out.write(patches.tobytes())
                cases.append({"name": f"{name}, {description['type']}", "file": f"{name}.wav", "front_end": description,
                              "patches": len(patches), "offset": floats})
                floats += patches.size
    (FOLDER / "cases.json").write_text(json.dumps({"cases": cases, "torchaudio": torchaudio is not None}, indent=1))


main()
