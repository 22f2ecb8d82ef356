"""The datasets, and the settings that were chosen for each by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lib import digits
from lib.daemon import Daemon
from lib.jobs import job_spec, shortest
from lib.moilctl import Moilctl
from lib.night import MODEL as DIGITS_MODEL
from lib.night import pretrain_global
from lib.photos import rows as image_rows
from lib.photos.data import Photos
from lib.photos.world import MODEL as IMAGE_MODEL
from lib.photos.world import world
from lib.samples import Files, only
from lib.workplace import lay_out

from .case import Case, Device


def digits_case(folder: Path, csv: Path) -> Case:
    settings = digits.SETTINGS
    place = lay_out(folder, settings, digits.split_of(csv, folder))
    pretrained = pretrain_global(settings, place)

    @contextmanager
    def device(name: str) -> Iterator[Device]:
        (folder / name).mkdir()
        with Daemon(folder / name / "state") as daemon:
            ctl = Moilctl(daemon.socket)
            ctl.import_model(pretrained.model, DIGITS_MODEL)
            _label(ctl, only(place.train, settings.local_classes), "train")
            _label(ctl, only(place.held_out, settings.local_classes), "val")
            yield Device(ctl, lambda: _label(ctl, place.later, "train"))

    (row,) = [row for row in settings.rows() if row.name == "gdm_lf_fmc"]
    hand = job_spec(settings, row, DIGITS_MODEL, pretrained.pack) | {"evaluate_every_epoch": False}
    return Case("digits", device, shortest(DIGITS_MODEL, pretrained.pack), {row.name: [hand]}, settings.basis)


def photos_case(folder: Path, dataset: str, model: Path, photos: Photos, *, quick: bool) -> Case:
    """`quick`: beside the shallow row alone."""
    now, later = _but_one(photos.local_train)

    @contextmanager
    def device(name: str) -> Iterator[Device]:
        with world(folder / name, model, replace(photos, local_train=now)) as place:
            yield Device(place.ctl, lambda: place.label(later, "train"))

    pack = folder / "{}" / "pack"
    hand: dict[str, list[dict[str, Any]]] = {}
    for row in [image_rows.NIGHT] if quick else [image_rows.NIGHT, image_rows.DEEP_NIGHT]:
        chain = [row.after, row] if row.after else [row]
        hand[row.name] = [one.job_spec(Path(str(pack).format(row.name)), IMAGE_MODEL, activate=True) for one in chain]
    return Case(dataset, device, shortest(IMAGE_MODEL, Path(str(pack).format("auto"))), hand, image_rows.BASIS)


def _label(ctl: Moilctl, files: Files, split: str) -> None:
    for name, members in files.items():
        ctl.add_label(members, name, split)


def _but_one(files: Files) -> tuple[Files, Files]:
    """The last photo of each class that has many comes before the second night."""
    later = {name: members[-1:] for name, members in files.items() if len(members) > 10}
    now = {name: members[:-1] if name in later else members for name, members in files.items()}
    return now, later
