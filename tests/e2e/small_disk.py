"""A small disk of one's own for a test: a tmpfs in a mount namespace that only this process sees."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def own_namespace() -> None:
    """From now on, mounts of this process and its children are their own. OSError if that is not allowed."""
    _checked(_libc.unshare(_CLONE_NEWNS), "unshare")
    _checked(_libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount")


class SmallDisk:
    """A tmpfs of `size` bytes at `folder`; gone with the namespace."""

    def __init__(self, folder: Path, size: int):
        self.folder = folder
        self._ballast = folder / "ballast"
        folder.mkdir(mode=0o700)
        options = f"size={size},mode=0700".encode()
        _checked(_libc.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, options), "mount")

    def free(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self, leave: int = 0) -> None:
        """Until only `leave` bytes are free."""
        with self._ballast.open("ab", buffering=0) as file:
            while (excess := self.free() - leave) > 0:
                try:
                    file.write(bytes(min(excess, 1 << 20)))
                except OSError as error:  # somebody else was quicker
                    if error.errno != errno.ENOSPC:
                        raise

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)
