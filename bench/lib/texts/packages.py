"""Texts and files out of Debian's packages, which are downloaded but not installed."""

from __future__ import annotations

import gzip
import re
import subprocess
from pathlib import Path

from lib.programs import ROOT
from lib.records.r_data import data_frame

NOVELS = ("emma", "mansfieldpark", "northangerabbey", "persuasion", "prideprejudice", "sensesensibility")
PAGES = "usr/share/man/man*/*.gz"


def fetch(package: str, folder: Path, *patterns: str) -> Path:
    """The folder that its files of these patterns (as glob() has them) were unpacked into."""
    wanted = [pattern.replace("**/", "*") for pattern in patterns]
    subprocess.run([ROOT / "scripts" / "fetch-package", package, folder / package, *wanted], check=True)
    return folder / package


def novels(folder: Path) -> dict[str, str]:
    """Jane Austen's six, from r-cran-janeaustenr."""
    data = "usr/lib/R/site-library/janeaustenr/data/Rdata"
    database = fetch("r-cran-janeaustenr", folder, f"{data}.*") / data
    return {name: "\n".join(str(line) for line in data_frame(database, name)) for name in NOVELS}


def manual_pages(folder: Path, package: str = "manpages") -> dict[str, str]:
    """The sources of manual pages, troff."""
    pages = {}
    for file in sorted(fetch(package, folder, PAGES).glob(PAGES)):
        if not file.is_symlink():
            pages[file.stem] = gzip.decompress(file.read_bytes()).decode(errors="replace")
    return pages


def passages(text: str, size: int) -> list[str]:
    """Paragraphs of about `size` characters together; the lines of a paragraph are joined."""
    found, current = [], ""
    for paragraph in re.split(r"\n\s*\n", text):
        paragraph = re.sub(r"\s*\n\s*", " ", paragraph).strip()
        if current and len(current) + len(paragraph) > size:
            found.append(current)
            current = ""
        current += paragraph + "\n\n" if paragraph else ""
    return [*found, current] if current else found


def pieces(text: str, size: int) -> list[str]:
    """Lines of about `size` characters together, as they are."""
    found, current = [], ""
    for line in text.splitlines(keepends=True):
        if current and len(current) + len(line) > size:
            found.append(current)
            current = ""
        current += line
    return [*found, current] if current else found


def write_all(texts: list[str], folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    files = []
    for i, text in enumerate(texts):
        files.append(folder / f"{i:05}.txt")
        files[-1].write_text(text)
    return files
