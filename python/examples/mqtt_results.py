#!/usr/bin/python3
"""Tells Home Assistant by MQTT what moild knows: how the last night went, how many photos wait for a label, and, with
--folder, what the model says of each photo that comes into a folder.

    MQTT_PASSWORD=secret mqtt_results.py broker.local --user moild --folder ~/inbox

Home Assistant finds the sensors by itself (MQTT discovery). Needs python3-paho-mqtt. Labels, file names and accuracies go to
the broker; no photo does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import sys
import time
from pathlib import Path
from typing import Any

import paho.mqtt.publish
from paho.mqtt import MQTTException

import moild

HOST = re.sub(r"\W", "_", socket.gethostname())
STATE, SAID = f"moild/{HOST}/state", f"moild/{HOST}/said"
# Of each sensor: its name, where its value is, its template, its unit.
SENSORS = {
    "last_night": ("Last night", STATE, "{{ value_json.last_night }}", None),
    "accuracy": ("Accuracy on your labels", STATE, "{{ value_json.accuracy }}", "%"),
    "unlabelled": ("Photos without a label", STATE, "{{ value_json.unlabelled }}", "photos"),
    "attention": ("Needs attention", STATE, "{{ value_json.attention }}", None),
    "said": ("Last photo", SAID, "{{ value_json.label }}", None),
}


def message(topic: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"topic": topic, "payload": json.dumps(content), "retain": True}


def discovery() -> list[dict[str, Any]]:
    device = {"identifiers": [f"moild_{HOST}"], "name": f"moild on {HOST}"}
    found = []
    for key, (name, topic, template, unit) in SENSORS.items():
        sensor = {"name": name, "unique_id": f"moild_{HOST}_{key}", "state_topic": topic, "value_template": template, "device": device}
        sensor |= {"unit_of_measurement": unit} if unit else {}
        sensor |= {"json_attributes_topic": topic} if key in ("last_night", "said") else {}
        found.append(message(f"homeassistant/sensor/moild_{HOST}/{key}/config", sensor))
    return found


def state_of(m: moild.Client) -> dict[str, Any]:
    overview = m.system_overview()
    night = overview["last_night"] or {}
    local = night.get("local_after") if night.get("is_fraction") else None
    return {
        "last_night": night.get("state", "none"),
        "message": night.get("message"),
        "accuracy": None if local is None else round(100 * local, 1),
        "unlabelled": m.label_list(limit=1)["unlabelled"],
        # A state of Home Assistant has 255 characters at most.
        "attention": "; ".join(overview["attention"])[:255] or "nothing",
    }


def what_is_said(file: Path, prediction: dict[str, Any]) -> dict[str, Any]:
    best = prediction["top"][0]
    not_sure = prediction.get("not_sure", False)
    return {"label": "not sure" if not_sure else best["label"], "probability": best["probability"], "file": file.name, "top": prediction["top"]}


def quiet_files(folder: Path) -> dict[int, Path]:
    """Those that nobody has written to for two seconds, by what stays theirs when they are moved."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and not file.name.startswith("."))
    return {file.stat().st_ino: file for file in files if time.time() - file.stat().st_mtime > 2}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("broker")
    options.add_argument("--port", type=int, default=1883)
    options.add_argument("--user", help="of the broker; its password is MQTT_PASSWORD in the environment")
    options.add_argument("--folder", type=Path, help="whose new photos are looked at")
    options.add_argument("--model", help="that looks at them, if there are several")
    options.add_argument("--every", type=float, default=10, metavar="SECONDS", help="(10)")
    options.add_argument("--once", action="store_true", help="tell the state once, and end")
    given = options.parse_args()
    auth = {"username": given.user, "password": os.environ.get("MQTT_PASSWORD")} if given.user else None
    seen = set(quiet_files(given.folder)) if given.folder else set()

    def publish(messages: list[dict[str, Any]]) -> None:
        paho.mqtt.publish.multiple(messages, hostname=given.broker, port=given.port, auth=auth)

    told: dict[str, Any] | None = None
    while True:
        try:
            with moild.Client() as m:
                if (state := state_of(m)) != told:
                    publish([*discovery(), message(STATE, state)])
                    told = state
                for inode, file in quiet_files(given.folder).items() if given.folder else ():
                    if inode in seen:
                        continue
                    (prediction,) = m.predict([file], model=given.model)
                    if "top" in prediction:
                        publish([message(SAID, what_is_said(file, prediction))])
                    seen.add(inode)
        except (OSError, moild.Error, MQTTException) as error:  # the broker or moild is away; the next round may find it
            print(f"mqtt_results: {error}", file=sys.stderr, flush=True)
            if given.once:
                return 1
        if given.once:
            return 0
        time.sleep(given.every)


if __name__ == "__main__":
    sys.exit(main())
