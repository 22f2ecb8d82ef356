#!/usr/bin/env python3
"""A custom classifier on BirdNET's embedding in PyTorch, with the settings that BirdNET-Analyzer's training has by default, but for its rate.

    bird_head.py --embeddings FILE.npz --night FILE.json

FILE.npz is bird_embedding.py's. FILE.json has "labels"; "train" and "val", lists of a sound's number and its label, null for one that is
none of them; and "asked", numbers of sounds. Every part is a sample. Prints JSON, of each sound asked the labels' probabilities: the
mean of its parts'.
"""

from __future__ import annotations

import argparse
import json
import math
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

EPOCHS, BATCH = 50, 32
RATE = 1e-3  # by default 1e-4, by which so few recordings are hardly learned
WARM_UP, LAST_RATE = 5, 0.1  # epochs in which the rate rises; that it falls to by a cosine, of the highest
WEIGHT_DECAY, PENALTY = 0.004, 1e-5  # AdamW's, and of the squares
PATIENCE, BETTER = 5, 0.001  # epochs in which what is held out gets no better by so much


@dataclass(frozen=True)
class Samples:
    x: torch.Tensor
    y: torch.Tensor


def samples_of(embeddings: Any, sounds: Any, listed: list[tuple[int, str | None]], labels: list[str]) -> Samples:
    x, y = [], []
    for sound, label in listed:
        some = embeddings[sounds == sound]
        x.append(some)
        y += [[float(label == one) for one in labels]] * len(some)
    return Samples(torch.from_numpy(np.concatenate(x)), torch.tensor(y))


def rate_of(epoch: int) -> float:
    if epoch < WARM_UP:
        return RATE * (epoch + 1) / WARM_UP
    done = (epoch - WARM_UP) / (EPOCHS - WARM_UP)
    return RATE * (LAST_RATE + (1 - LAST_RATE) * (1 + math.cos(math.pi * done)) / 2)


def loss_of(head: torch.nn.Linear, samples: Samples) -> torch.Tensor:
    """Of a sample the sum of its labels'."""
    losses = torch.nn.functional.binary_cross_entropy_with_logits(head(samples.x), samples.y, reduction="none")
    return losses.sum(1).mean() + PENALTY * head.weight.square().sum()


def fitted(train: Samples, held_out: Samples) -> torch.nn.Linear:
    """The weights of the best epoch."""
    head = torch.nn.Linear(train.x.shape[1], train.y.shape[1])
    torch.nn.init.xavier_uniform_(head.weight)
    torch.nn.init.zeros_(head.bias)
    solver = torch.optim.AdamW(head.parameters(), lr=RATE, eps=1e-7, weight_decay=WEIGHT_DECAY)
    best, lowest, waited = deepcopy(head), math.inf, 0
    for epoch in range(EPOCHS):
        solver.param_groups[0]["lr"] = rate_of(epoch)
        for batch in torch.randperm(len(train.x)).split(BATCH):
            solver.zero_grad()
            loss_of(head, Samples(train.x[batch], train.y[batch])).backward()
            solver.step()
        with torch.no_grad():
            loss = float(loss_of(head, held_out))
        waited = 0 if loss < lowest - BETTER else waited + 1
        if waited == 0:
            best, lowest = deepcopy(head), loss
        if waited == PATIENCE:
            break
    return best


def main() -> None:
    parser = argparse.ArgumentParser(prog="bird_head.py")
    parser.add_argument("--embeddings", type=Path, required=True)
    parser.add_argument("--night", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    made, night = np.load(options.embeddings), json.loads(options.night.read_text())
    embeddings, sounds, labels = made["embeddings"], made["sounds"], night["labels"]
    train, held_out = (samples_of(embeddings, sounds, night[split], labels) for split in ("train", "val"))
    head, answers = fitted(train, held_out), []
    for sound in night["asked"]:
        with torch.no_grad():
            mean = torch.sigmoid(head(torch.from_numpy(embeddings[sounds == sound]))).mean(0)
        answers.append(dict(zip(labels, mean.tolist())))
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
