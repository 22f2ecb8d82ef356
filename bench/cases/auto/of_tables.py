"""The tables of numbers, with a pretraining a seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from lib.records.network import BASIS, HELD_OUT, NIGHT, job_spec, pretrain_records, samples_of
from lib.records.tables import Table
from lib.samples import Files
from lib.settings import Row

from .case import LET_PASS, MODEL, Base, Case

SHALLOW = Row("lf1", "GDM+LF(1)+FMC", NIGHT.alpha, 1, cached=True, activate=True)
LATER = 2 * HELD_OUT  # the last of so many records comes before the second night


def table_case(folder: Path, table: Table) -> Case:
    folder.mkdir()
    known, local = table.split(folder)
    samples = samples_of(table, local, folder)

    def part(belongs: Callable[[int], bool]) -> Files:
        files = {label: [file for i, file in members if belongs(i)] for label, members in samples.items()}
        return {label: members for label, members in files.items() if members}

    @cache
    def base(seed: int) -> Base:
        (place := folder / f"base-{seed}").mkdir()
        made = pretrain_records(table, known, place, seed=seed)
        return Base(made.model, made.pack)

    return Case(
        table.name,
        base,
        now=part(lambda i: i % HELD_OUT != 0 and i % LATER != LATER - 1),
        later=part(lambda i: i % LATER == LATER - 1),
        held_out=part(lambda i: i % HELD_OUT == 0),
        hand={row.name: [job_spec(table, row, MODEL, folder) | {"guard": LET_PASS}] for row in (SHALLOW, NIGHT)},
        basis=BASIS,
    )
