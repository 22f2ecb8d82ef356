"""The tables: scikit-learn's, with names for their columns, and the user's own; and what of them the device learns."""

from __future__ import annotations

import csv
import gzip
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.programs import ROOT

LABEL = "label"
Record = dict[str, str]


@dataclass(frozen=True)
class Table:
    """Local records are those of some labels, or those whose `local_column` lies within a range."""

    name: str
    file: Path
    label_column: str
    task: str = "classify"
    local_labels: tuple[str, ...] = ()
    local_column: str = ""
    local_range: tuple[float, float] = (0, 0)

    def records(self) -> list[Record]:
        with self.file.open(newline="") as file:
            return list(csv.DictReader(file))

    def is_local(self, record: Record) -> bool:
        if self.task == "classify":
            return record[self.label_column] in self.local_labels
        low, high = self.local_range
        return low <= float(record[self.local_column]) <= high

    def split(self, folder: Path) -> tuple[Path, Path]:
        """The global and the local records as tables of their own."""
        records = self.records()
        files = folder / "global.csv", folder / "local.csv"
        for file, local in zip(files, (False, True)):
            chosen = [record for record in records if self.is_local(record) == local]
            if not chosen:
                raise KeyError(f"{self.name}: no record is {'local' if local else 'global'}; name others with --local")
            _write(file, list(records[0]), [list(record.values()) for record in chosen])
        return files


def chosen_table(file: Path, label_column: str, local: str, task: str) -> Table:
    """The user's: labels that the device is to learn, or for numbers the lowest and the highest of them."""
    parts = local.split(",")
    if task == "classify":
        return Table(file.stem, file, label_column, task, tuple(parts))
    low, high = (float(part) for part in parts)
    return Table(file.stem, file, label_column, task, (), label_column, (low, high))


# Scikit-learn's: the file, its lines, and the label that the device is to learn.
CLASSES = {"breast cancer": ("breast_cancer.csv", 570, "malignant"), "wine": ("wine_data.csv", 179, "class_2"), "iris": ("iris.csv", 151, "virginica")}
DIABETES = ["age", "sex", "bmi", "pressure", *(f"s{i}" for i in range(1, 7))]
# The progression of a disease; the device sees the older patients.
OLDEST = ("age", 60.0, 100.0)


def fetched(folder: Path) -> list[Table]:
    return [*(_classes(name, folder) for name in CLASSES), _diabetes(folder)]


def _fetch(file: str, lines: int, folder: Path) -> Path:
    subprocess.run([ROOT / "scripts" / "fetch-sklearn", file, str(lines), folder / file], check=True)
    return folder / file


def _classes(name: str, folder: Path) -> Table:
    """With a first line of names: scikit-learn's counts samples and columns, and names the labels."""
    file, lines, local = CLASSES[name]
    with _fetch(file, lines, folder).open(newline="") as source:
        rows = list(csv.reader(source))
    columns, labels = int(rows[0][1]), rows[0][2:]
    table = folder / f"{name}-table.csv"
    _write(table, [*(f"x{i}" for i in range(columns)), LABEL], [[*row[:columns], labels[int(row[columns])]] for row in rows[1:]])
    return Table(name, table, LABEL, "classify", (local,))


def _diabetes(folder: Path) -> Table:
    files = [_fetch(file, 442, folder) for file in ("diabetes_data_raw.csv.gz", "diabetes_target.csv.gz")]
    measured, progression = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    table = folder / "diabetes-table.csv"
    _write(table, [*DIABETES, LABEL], [[*record.split(), f"{float(number):g}"] for record, number in zip(measured, progression)])
    column, low, high = OLDEST
    return Table("diabetes", table, LABEL, "predict", (), column, (low, high))


def _write(file: Path, columns: list[str], rows: list[list[str]]) -> None:
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(rows)
