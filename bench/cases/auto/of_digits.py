"""The digits, with a pretraining a seed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lib import digits
from lib.jobs import job_spec
from lib.night import pretrain_global
from lib.samples import only
from lib.settings import Row
from lib.workplace import lay_out

from .case import MODEL, Base, Case


def digits_case(folder: Path, csv: Path) -> Case:
    settings = digits.SETTINGS
    place = lay_out(folder, settings, digits.split_of(csv, folder))

    @cache
    def base(seed: int) -> Base:
        made = pretrain_global(settings, place, seed=seed)
        return Base(made.model, made.pack)

    shallow = Row("gdm_lf1_fmc", "GDM+LF(1)+FMC", settings.alpha, 1, cached=True, activate=True)
    (deep,) = [row for row in settings.rows() if row.name == "gdm_lf_fmc"]
    hand = {row.name: [job_spec(settings, row, MODEL, folder) | {"evaluate_every_epoch": False}] for row in (shallow, deep)}
    train, held_out = (only(files, settings.local_classes) for files in (place.train, place.held_out))
    return Case("digits", base, train, place.later, held_out, hand, settings.basis)
