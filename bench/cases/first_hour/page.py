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


# What is to be seen, and how the page shows it.
SEEN = {
    "first_tile": "[...document.querySelectorAll('.cell img')].some((image) => image.complete)",
    "first_screen": "document.querySelector('.cell img') && !document.querySelector('.cell:not([hidden]) .coming')",
    "first_proposal": "document.querySelector('.cell .proposed, .cell .unsure')",
    "all_proposals": "document.querySelector('.cell .proposed, .cell .unsure') && document.querySelector('#progress').hidden",
}
# Looks all the time, so that nothing is seen late for what was waited for before.
WATCH = """(() => {
  const begun = performance.now(), wanted = {%s};
  window.seen = {};
  const look = setInterval(() => {
    for (const [name, isSeen] of Object.entries(wanted))
      if (!(name in seen) && isSeen()) seen[name] = performance.now() - begun;
    if (Object.keys(seen).length === Object.keys(wanted).length) clearInterval(look);
  }, 20);
})()""" % ", ".join(f"{name}: () => {condition}" for name, condition in SEEN.items())


def measure_page(folder: Path, photos: int) -> dict[str, Any]:
    """`folder` is made. Nobody has labelled any photo; their feature maps are in the cache, as a night or a look
    before leaves them. Seconds from the page's address to its counts, and from the click on "Unlabelled" to what is
    seen then; bytes that each program holds."""
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
        begun = time.monotonic()
        browser.open(review.address)
        browser.until(f"document.querySelector('#unlabelled-count')?.textContent === '{photos:,}'", PATIENCE)
        counted = time.monotonic() - begun
        browser.run(WATCH)
        browser.click("[data-tab=unlabelled]")
        browser.until(f"Object.keys(seen).length === {len(SEEN)}", PATIENCE)
        times = {f"seconds_to_{name}": round(browser.run(f"seen.{name}") / 1000, 2) for name in SEEN}
        heap = browser.run("performance.memory ? performance.memory.usedJSHeapSize : 0")
        memory = {"moild": memory_of(daemon.pid), "moil_review": memory_of(review.process.pid), "page": heap}
        complaints = browser.complaints()
        return {"seconds_to_counts": round(counted, 2), **times, "memory_bytes": memory, "complaints": complaints}
    finally:
        browser.close()
        review.end()
