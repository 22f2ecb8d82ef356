"""Front ends of sounds by NumPy and torchaudio (docs/kinds.md says what the fields of one are)."""
import numpy as np

try:
    import torch
    import torchaudio

    # In single precision torchaudio's own rounding is up to 2e-3 if a band is silent beside a loud one.
    torch.set_default_dtype(torch.float64)
except (ImportError, OSError):
    torchaudio = None


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
    slaney = d["triangles"] == "slaney"
    beside = (d["fft"] - d["window"]) // 2
    melted = torchaudio.transforms.MelSpectrogram(
        d["rate"], d["fft"], d["window"], d["hop"], d["low"], d["high"], 0, d["bands"],
        power=d["power"], center=False,
        mel_scale="slaney" if slaney else "htk", norm="slaney" if slaney else None)
    patch, step = (d["frames"] - 1) * d["hop"] + d["window"], d["patch_hop"] * d["hop"]
    patches = 1 + max(0, -(-(len(samples) - patch) // step))
    padded = torch.from_numpy(np.concatenate([samples, np.zeros(patch + patches * step)]))
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


def patches_of(samples, d):
    """Patches x frames x bands x channels; samples at the front end's rate. None: torchaudio is not installed."""
    if d["type"] == "log_mel":
        return yamnet(samples, d)
    return with_deltas(samples, d) if torchaudio else None
