"""The networks: EfficientNet-Lite0 for smaller photos, and those that are trained from scratch here."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

from lib import cifar
from lib.night import pretrain_global
from lib.photos.world import fetch_model
from lib.pretrain import Pretrained
from lib.programs import ROOT
from lib.say import say
from lib.settings import Settings
from lib.workplace import Workplace

from .cases import SIDE, Case

KEPT = ROOT / "build" / "data" / "pretrained"


def imported(folder: Path) -> Path:
    """EfficientNet-Lite0 at SIDE × SIDE.

    Its weights fit every size: nothing but the input knows one, and what strides halve is even at 128
    as at 224, so that the padding is the same.
    """
    model = fetch_model(folder)
    description = json.loads((model / "model.json").read_text())
    channels, height, _ = description["inputs"][0]["dims"]
    description["inputs"][0]["dims"] = [channels, SIDE, SIDE]
    preprocessing = json.loads((model / "preprocessing.json").read_text())
    short_side = round(preprocessing["short_side"] * SIDE / height)
    preprocessing |= {"short_side": short_side, "height": SIDE, "width": SIDE}
    for name, document in {"model": description, "preprocessing": preprocessing}.items():
        (model / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    return model


def settings_of(case: Case) -> Settings:
    """As a night with CIFAR-10: seven classes known, three to learn."""
    assert case.pretraining
    model = ROOT / "config" / "models" / f"{case.model}.json"
    return replace(cifar.SETTINGS, model=model, pretraining=case.pretraining, night=case.training, alpha=case.alpha, kept_back=0)


def pretrained(case: Case, place: Workplace) -> Pretrained:
    """Kept below build/data, for it takes longer than all that follows."""
    settings = settings_of(case)
    seen = replace(case.size, held_out_per_class=None)  # what is held out decides nothing of the network
    what = json.dumps([settings.model.read_text(), asdict(settings.pretraining), asdict(seen)])
    kept = KEPT / f"{case.model}-{hashlib.sha256(what.encode()).hexdigest()[:12]}"
    if not kept.is_dir():
        made = pretrain_global(settings, place)
        say(f"pretrained: {100 * made.figures['accuracy']:.1f}% on held-out images, {made.figures['seconds']:.0f} s")
        aside = kept.with_name(kept.name + ".new")
        shutil.rmtree(aside, ignore_errors=True)
        shutil.copytree(made.model.parent, aside)
        aside.rename(kept)
    return Pretrained(kept / "model", kept / "pack", {})
