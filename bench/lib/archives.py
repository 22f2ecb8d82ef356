"""The archives of data that are at hand, and what lies in them."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

from .programs import ROOT
from .samples import Files, files_of

FOLDER = Path(os.environ.get("MOIL_SHARED_DATA", ROOT.parent / "shared" / "data"))


def missing(*archives: Path) -> Path | None:
    """The archive that is not there, if one is."""
    return next((archive for archive in archives if not archive.is_file()), None)


def classes_of(archive: Path) -> list[str]:
    """The folders of a tar in the ImageFolder layout, sorted; ImageNet's own order is that."""
    with tarfile.open(archive) as tar:
        return sorted({Path(member.name).parent.name for member in tar if member.isfile()})


def extract(archive: Path, folder: Path) -> Files:
    """CLASS/FILE below the folder, whatever stands before that in the tar."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isfile():
                continue
            name = Path(member.name)
            (folder / name.parent.name).mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            (folder / name.parent.name / name.name).write_bytes(content.read())
    return files_of(folder, sorted(entry.name for entry in folder.iterdir()))
