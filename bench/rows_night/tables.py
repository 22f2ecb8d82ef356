"""The tables: scikit-learn's, with names for their columns, and the user's own."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass
from pathlib import Path

from night.programs import ROOT

LABEL = "label"


@dataclass(frozen=True)
class Table:
    name: str
    file: Path
    label_column: str
    local: list[str]  # labels that the device is to learn

    def labels(self) -> list[str]:
        with self.file.open(newline="") as file:
            return sorted({row[self.label_column] for row in csv.DictReader(file)})

    def columns(self) -> int:
        with self.file.open(newline="") as file:
            return len(next(csv.reader(file))) - 1


# Of scikit-learn: the file, its lines, and the label that the device is to learn.
FETCHED = {"wine": ("wine_data.csv", 179, "class_2"), "iris": ("iris.csv", 151, "virginica")}


def fetched(name: str, folder: Path) -> Table:
    """With a first line of names: scikit-learn's counts samples and columns, and names the labels."""
    file, lines, local = FETCHED[name]
    raw = folder / file
    subprocess.run([ROOT / "scripts" / "fetch-sklearn", file, str(lines), raw], check=True)
    with raw.open(newline="") as source:
        rows = list(csv.reader(source))
    columns, labels = int(rows[0][1]), rows[0][2:]
    table = folder / f"{name}-table.csv"
    with table.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*(f"x{i}" for i in range(columns)), LABEL])
        writer.writerows([*row[:columns], labels[int(row[columns])]] for row in rows[1:])
    return Table(name, table, LABEL, [local])
