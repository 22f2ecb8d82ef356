#!/usr/bin/env python3
"""A linear head on YAMNet's embedding in PyTorch, as everybody makes one: how well it does on each fold of ESC-10.

    sound_head.py --embeddings FILE.npy --judges 1 2 3 4 5 --sounds CLASS/FOLD-CLIP-TAKE.wav...

FILE.npy is sound_embedding.py's, of the same sounds. The weight decay is chosen for each fold without its sounds
(lib/nested.py). Prints JSON: of each fold its top-1, what was chosen, every decay's score, and the seconds that the
training for the fold took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.nested import Pair, choose  # noqa: E402

FOLDS = 5
WEIGHT_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class Sounds:
    embeddings: torch.Tensor
    labels: torch.Tensor
    folds: torch.Tensor

    def head_without(self, folds: tuple[int, ...], weight_decay: float) -> torch.nn.Linear:
        learned = ~torch.isin(self.folds, torch.tensor(folds))
        return fitted(self.embeddings[learned], self.labels[learned], weight_decay)

    def top1(self, head: torch.nn.Linear, fold: int) -> float:
        asked = self.folds == fold
        return float((head(self.embeddings[asked]).argmax(1) == self.labels[asked]).double().mean())


def sounds_of(embeddings: Path, files: list[Path]) -> Sounds:
    classes = sorted({file.parent.name for file in files})
    labels = [classes.index(file.parent.name) for file in files]
    folds = [int(file.name.split("-")[0]) for file in files]
    return Sounds(torch.from_numpy(np.load(embeddings)), torch.tensor(labels), torch.tensor(folds))


def fitted(x: torch.Tensor, labels: torch.Tensor, weight_decay: float) -> torch.nn.Linear:
    """Multinomial logistic regression."""
    head = torch.nn.Linear(x.shape[1], int(labels.max()) + 1)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    solver = torch.optim.LBFGS(head.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        solver.zero_grad()
        value = torch.nn.functional.cross_entropy(head(x), labels) + weight_decay / 2 * head.weight.square().sum()
        value.backward()
        return value

    solver.step(loss)
    return head.requires_grad_(False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="sound_head.py")
    parser.add_argument("--embeddings", type=Path, required=True)
    parser.add_argument("--judges", type=int, nargs="+", required=True)
    parser.add_argument("--sounds", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)  # as fast as two for so little
    sounds = sounds_of(options.embeddings, options.sounds)

    def try_all(pair: Pair) -> Iterator[tuple[float, dict[int, float]]]:
        for weight_decay in WEIGHT_DECAYS:
            head = sounds.head_without(pair, weight_decay)
            yield weight_decay, {fold: sounds.top1(head, fold) for fold in pair}

    found = []
    for judge, choice in choose(FOLDS, options.judges, try_all).items():
        began = time.perf_counter()
        head = sounds.head_without((judge,), choice.setting)
        seconds = time.perf_counter() - began
        scores = {str(weight_decay): score for weight_decay, score in choice.scores.items()}
        found.append({"fold": judge, "top1": sounds.top1(head, judge), "weight_decay": choice.setting, "scores": scores, "seconds": seconds})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
