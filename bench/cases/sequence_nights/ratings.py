"""MovieLens' 100,000 ratings, out of Debian's r-cran-dslabs: users of the last tenth are new to the device's model."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lib.daemon import Daemon, closed_window
from lib.jobs import shortest
from lib.moilctl import Moilctl
from lib.programs import program, run
from lib.records.r_data import data_frame
from lib.say import say
from lib.texts.packages import fetch

from .told import told

NAME, MODEL, LABEL = "ratings", "ratings", "rating"
HELD_OUT = "0.2"
FEW = 10  # of --quick: every so many'th user
_DATA = "usr/lib/R/site-library/dslabs/data/Rdata"

Rating = tuple[int, int, float]  # of a user and an item


def nights(quick: bool) -> list[dict[str, Any]]:
    """Errors are roots of mean squared ones, in stars."""
    with tempfile.TemporaryDirectory(prefix="moil-ratings-") as name:
        folder = Path(name)
        known, fresh = _sides(_ratings(folder), quick)
        base, samples = _pretrained(folder, known), _samples(folder, fresh)
        with Daemon(folder / "state", config={"window": closed_window()}) as daemon:
            ctl = Moilctl(daemon.socket)
            ctl.import_model(base / "model", MODEL)
            say("ratings: labels")
            ctl.json("label", "import", samples)
            say("ratings: the night")
            job = ctl.watch(ctl.submit(shortest(MODEL, base / "pack")))
            return [_told(job, known, fresh) | {"prediction": _prediction(ctl, folder, fresh[0])}]


def _ratings(folder: Path) -> list[Rating]:
    frame = data_frame(fetch("r-cran-dslabs", folder, f"{_DATA}.*") / _DATA, "movielens")
    return sorted(zip(frame["userId"], frame["movieId"], frame["rating"]))


def _sides(ratings: list[Rating], quick: bool) -> tuple[list[Rating], list[Rating]]:
    users = sorted({user for user, _, _ in ratings})
    fresh = set(users[-(len(users) // 10) :])
    used = set(users[::FEW] if quick else users)
    sides: tuple[list[Rating], list[Rating]] = ([], [])
    for rating in ratings:
        if rating[0] in used:
            sides[rating[0] in fresh].append(rating)
    return sides


def _table(file: Path, ratings: Iterable[Rating]) -> Path:
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["user", "item", LABEL])
        writer.writerows([user, item, f"{stars:g}"] for user, item, stars in ratings)
    return file


def _pretrained(folder: Path, known: list[Rating]) -> Path:
    say("ratings: pretraining")
    words: list[str | Path] = ["--data", _table(folder / "known.csv", known), "--label-column", LABEL, "--task", "predict"]
    run([program("moil-pretrain"), "train", *words, "--val-fraction", HELD_OUT, "--out", folder / "base"])
    return folder / "base"


def _samples(folder: Path, fresh: list[Rating]) -> Path:
    words: list[str | Path] = ["--data", _table(folder / "fresh.csv", fresh), "--label-column", LABEL]
    run([program("moil-pretrain"), "images", *words, "--val-fraction", HELD_OUT, "--out", folder / "samples"])
    return folder / "samples"


def _told(job: dict[str, Any], known: list[Rating], fresh: list[Rating]) -> dict[str, Any]:
    entry = told(NAME, job) | {"metric": "RMSE"}
    scores = job["result"]["details"]["scores"]
    for side in ("global", "local"):
        for when in ("before", "after"):
            entry[f"{side}_{when}"] = scores[side][when]["root_mean_squared_error"]
    new_users = len({user for user, _, _ in fresh})
    return entry | {"known_ratings": len(known), "new_ratings": len(fresh), "new_users": new_users}


def _prediction(ctl: Moilctl, folder: Path, rating: Rating) -> dict[str, Any]:
    """What a user reads of an item that was rated."""
    user, item, stars = rating
    file = folder / "asked.csv"
    file.write_text(f"user,item\n{user},{item}\n")
    (answer,) = ctl.json("predict", file, "--model", MODEL)["predictions"]
    return {"user": user, "item": item, "rated": stars, "predicted": answer["values"][0]["value"]}
