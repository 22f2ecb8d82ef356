"""How long the page of labels lets people wait: the first tiles, the first proposals, all of them; and its memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lib.archives import extract
from lib.daemon import Daemon
from lib.moilctl import Moilctl
from lib.photos.data import LOCAL_TRAIN, LOCAL_VAL
from lib.photos.world import MODEL, fetch_model
from lib.review.browser import Browser
from lib.review.running import Review
from lib.say import say

PATIENCE = 900.0  # seconds, for what is to take one minute
_KIB = 1024


def with_comment(jpeg: bytes, text: str) -> bytes:
    """The same picture in other bytes, so that it is another sample."""
    comment = text.encode()
    return jpeg[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + jpeg[2:]


def write_photos(sources: list[Path], folder: Path, photos: int) -> Path:
    """So many files; if there are fewer sources, they come again."""
    folder.mkdir()
    for i in range(photos):
        source = sources[i % len(sources)]
        (folder / f"{i:05}-{source.parent.name}.jpg").write_bytes(with_comment(source.read_bytes(), str(i)))
    return folder


def memory_of(process: int) -> int:
    """In bytes, what it holds itself."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_", "Pss_Shmem"))) * _KIB


class Stopwatch:
    def __init__(self, browser: Browser):
        self._browser, self._begun = browser, time.monotonic()

    def until(self, condition: str) -> float:
        self._browser.until(condition, PATIENCE)
        return round(time.monotonic() - self._begun, 2)


def measure_page(folder: Path, photos: int) -> dict[str, Any]:
    """`folder` is made. Nobody has labelled any photo; their feature maps are in the cache, as a night or a look
    before leaves them. Seconds from the page's address to what is seen; bytes."""
    folder.mkdir()
    files = write_photos(_sources(folder), folder / "photos", photos)
    with Daemon(folder / "state") as daemon:
        ctl = Moilctl(daemon.socket)
        ctl.import_model(fetch_model(folder), MODEL)
        say(f"adding {photos} photos")
        adding = _seconds(lambda: ctl.json("label", "add", "--unlabelled", files))
        say("computing their feature maps")
        maps = _seconds(lambda: ctl.json("label", "suggest", "--limit", "10"))
        daemon.stop()
        daemon.start()  # which knows no answer any more
        say("opening the page")
        return {"photos": photos, "adding": adding, "maps": maps, **_seen(daemon, photos)}


def _sources(folder: Path) -> list[Path]:
    found: list[Path] = []
    for name, archive in (("train", LOCAL_TRAIN), ("val", LOCAL_VAL)):
        for files in extract(archive, folder / name).values():
            found += files
    return sorted(found, key=lambda file: (file.name, file.parent.name))


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.monotonic()
    work()
    return round(time.monotonic() - begun, 2)


def _seen(daemon: Daemon, photos: int) -> dict[str, Any]:
    review, browser = Review(daemon, "--no-open"), Browser((1366, 768))
    try:
        watch = Stopwatch(browser)
        browser.open(review.address)
        counted = watch.until(f"document.querySelector('#unlabelled-count').textContent === '{photos:,}'")
        browser.click("[data-tab=unlabelled]")
        times = {
            "seconds_to_counts": counted,
            "seconds_to_first_tile": watch.until("document.querySelector('.cell img')?.complete"),
            "seconds_to_first_screen": watch.until("document.querySelectorAll('.cell .picture').length > 0 && !document.querySelector('.cell:not([hidden]) .coming')"),
            "seconds_to_first_proposal": watch.until("document.querySelector('.cell .proposed, .cell .unsure')"),
            "seconds_to_all_proposals": watch.until("document.querySelector('#model').textContent === '' && document.querySelector('.proposed, .unsure')"),
        }
        heap = browser.run("performance.memory ? performance.memory.usedJSHeapSize : 0")
        memory = {"moild": memory_of(daemon.pid), "moil_review": memory_of(review.process.pid), "page": heap}
        return {**times, "memory_bytes": memory, "complaints": browser.complaints()}
    finally:
        browser.close()
        review.end()
