#!/usr/bin/python3
"""Puts Frigate's snapshots into the folder that moild takes photos from (moilctl label watch).

    frigate_inbox.py http://frigate:5000 ~/inbox

A snapshot comes when its event is over. It has no label; with --folders it has the one that Frigate gives it: "label", the
thing that was detected, or "sub_label", a name that was given to it. It begins with the events from now on; INBOX/.frigate
keeps where it stands, so that a start anew misses none.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

MOST = 1000  # events of one look


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=30) as reply:
        content: bytes = reply.read()
    return content


def folder_of(event: dict[str, Any], by: str | None) -> str:
    """Below the inbox; "" is the inbox itself, for photos without a label."""
    name = event.get(by) if by else None
    if isinstance(name, list):  # with how sure Frigate is
        name = name[0]
    return re.sub(r"[/\0]", "-", name or "").strip(" .")


def write(file: Path, content: bytes) -> None:
    """The watch sees all of it at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name("." + file.name)
    part.write_bytes(content)
    os.replace(part, file)


def look(frigate: str, inbox: Path, by: str | None) -> int:
    """Takes the snapshots of what is over since the last look; how many."""
    place = inbox / ".frigate"
    if not place.exists():
        write(place, json.dumps({"after": time.time(), "taken": []}).encode())
    state = json.loads(place.read_text())
    query = urllib.parse.urlencode({"has_snapshot": 1, "after": state["after"], "limit": MOST})
    events = json.loads(get(f"{frigate}/api/events?{query}"))
    over = [event for event in events if event["end_time"] is not None]
    count = 0
    for event in over:
        if event["id"] in state["taken"] or not re.fullmatch(r"\w[\w.-]*", event["id"]):
            continue
        try:
            content = get(f"{frigate}/api/events/{event['id']}/snapshot.jpg")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            continue  # Frigate has removed it
        write(inbox / folder_of(event, by) / f"{event['id']}.jpg", content)
        count += 1
    # What has not ended is asked for again, and all that began after it with it.
    going_on = [event["start_time"] for event in events if event["end_time"] is None]
    after = min(going_on) - 0.001 if going_on else max((event["start_time"] for event in over), default=state["after"])
    taken = [event["id"] for event in over if event["start_time"] > after]
    write(place, json.dumps({"after": after, "taken": taken}).encode())
    return count


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("frigate", help="where Frigate is, as http://frigate:5000")
    options.add_argument("inbox", type=Path, help="the folder that moilctl label watch follows")
    options.add_argument("--folders", choices=("label", "sub_label"), help="whose name is the photo's label")
    options.add_argument("--every", type=float, default=60, metavar="SECONDS", help="(60)")
    options.add_argument("--once", action="store_true", help="look once, and end")
    given = options.parse_args()
    while True:
        try:
            count = look(given.frigate.rstrip("/"), given.inbox, given.folders)
            print(f"{count} snapshots", flush=True) if count else None
        except (OSError, ValueError, LookupError) as error:  # the next look takes what this one did not
            print(f"frigate_inbox: {error}", file=sys.stderr, flush=True)
            if given.once:
                return 1
        if given.once:
            return 0
        time.sleep(given.every)


if __name__ == "__main__":
    sys.exit(main())
