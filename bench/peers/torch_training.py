"""The peer: trains the same model description with PyTorch, in a process of its own.

  torch_training.py --model FILE --batch N --trained LAYER,... [--loss mse] [--iterations N] [--threads N]

Plain SGD on random samples; prints one JSON object. The network is what a careful PyTorch user would
write: activations in place, values dropped after their last use, gradients freed by zero_grad().
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from pathlib import Path

import torch
from torch import nn


def pair(value):
    return tuple(value) if isinstance(value, list) else (value, value)


def convolution(p, shape):
    return nn.Conv2d(
        shape[1],
        p["out_channels"],
        pair(p["kernel"]),
        stride=pair(p.get("stride", 1)),
        padding=pair(p.get("padding", 0)),
        groups=p.get("groups", 1),
        bias=p.get("bias", True),
    )


def pooling(kind, p):
    return kind(pair(p["kernel"]), stride=pair(p.get("stride", 1)), padding=pair(p.get("padding", 0)))


def batch_norm(p, shape):
    return (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(shape[1])


class Recurrent(nn.Module):
    """All steps, or the state behind the last one."""

    def __init__(self, kind, p, shape):
        super().__init__()
        self.layer = kind(shape[2], p["units"], bias=p.get("bias", True), batch_first=True)
        self.sequence = p.get("sequence", True)

    def forward(self, x):
        steps, _ = self.layer(x)
        return steps if self.sequence else steps[:, -1]


# From a layer's type to a module for its properties and input shape.
MODULES = {
    "conv2d": convolution,
    "fully_connected": lambda p, shape: nn.Linear(shape[1], p["units"], bias=p.get("bias", True)),
    "batch_norm": batch_norm,
    "relu": lambda p, shape: nn.ReLU(inplace=True),
    "relu6": lambda p, shape: nn.ReLU6(inplace=True),
    "tanh": lambda p, shape: nn.Tanh(),
    "sigmoid": lambda p, shape: nn.Sigmoid(),
    "dropout": lambda p, shape: nn.Dropout(p["rate"]),
    "embedding": lambda p, shape: nn.Embedding(p["rows"], p["width"]),
    "flatten": lambda p, shape: nn.Flatten(),
    "gru": lambda p, shape: Recurrent(nn.GRU, p, shape),
    "lstm": lambda p, shape: Recurrent(nn.LSTM, p, shape),
    "max_pool": lambda p, shape: pooling(nn.MaxPool2d, p),
    "average_pool": lambda p, shape: pooling(nn.AvgPool2d, p),
    "global_average_pool": lambda p, shape: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
}


class Model(nn.Module):
    """A model description as a module. Layers stand in the order in which they run."""

    def __init__(self, description):
        super().__init__()
        (model_input,) = description["inputs"]
        (self.result,) = description["outputs"]
        self.input = model_input["name"]
        self.steps = [(layer["name"], layer["type"], layer["inputs"]) for layer in description["layers"]]
        self.readers = Counter(name for _, _, inputs in self.steps for name in inputs)
        self.readers[self.result] += 1
        self.parts = nn.ModuleDict()
        # Shapes as they come, with two samples: a batch norm wants more than one.
        self.whole = model_input.get("type") == "int32"
        values = {self.input: torch.zeros(2, *model_input["dims"], dtype=torch.long if self.whole else None)}
        with torch.no_grad():
            for layer in description["layers"]:
                self._add(layer, values)
        self.output_dims = list(values[self.result].shape[1:])

    def _add(self, layer, values):
        name, kind, inputs = layer["name"], layer["type"], layer["inputs"]
        first = values[inputs[0]]
        if kind != "add":
            self.parts[key(name)] = MODULES[kind](layer.get("properties", {}), first.shape)
        values[name] = self._run(name, kind, [values[i] for i in inputs])

    def _run(self, name, kind, inputs):
        if kind == "add":
            return inputs[0] + inputs[1]
        return self.parts[key(name)](inputs[0])

    def forward(self, x):
        values, left = {self.input: x}, Counter(self.readers)
        del x
        for name, kind, inputs in self.steps:
            values[name] = self._run(name, kind, [values[i] for i in inputs])
            for used in inputs:
                left[used] -= 1
                if left[used] == 0:
                    del values[used]
        return values[self.result]

    def train_only(self, layers):
        """Freezes every other layer, and the batch norms among them with their statistics."""
        self.train()
        for name, _, _ in self.steps:
            part = self.parts[key(name)] if key(name) in self.parts else None
            if part is None or name in layers or not list(part.parameters()):
                continue
            part.requires_grad_(False)
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                part.eval()


def key(name):
    """Module names may hold no dots."""
    return name.replace(".", "/")


def resident():
    """(VmRSS, VmHWM) of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Vm")}
    return sizes["VmRSS"], sizes["VmHWM"]


def warm_up():
    """What PyTorch takes before any model, with its libraries' own buffers."""
    torch.mm(torch.zeros(64, 64), torch.zeros(64, 64))
    nn.functional.conv2d(torch.zeros(2, 16, 8, 8), torch.zeros(16, 16, 3, 3), padding=1)


def new_batch(x, target, loss, rows):
    """rows: of the table whose numbers the samples are, if they are that."""
    if rows:
        x.random_(0, rows)
    else:
        x.uniform_(-1, 1)
    if loss == "mse":
        target.zero_()[:, 0] = 1
    else:
        target.random_(0, 2)


def train(model, options):
    """Milliseconds of each step after one that warms up."""
    tables = [part.num_embeddings for part in model.modules() if isinstance(part, nn.Embedding)]
    rows = tables[0] if model.whole else 0
    x = torch.empty(options.batch, *options.input_dims, dtype=torch.long if rows else None)
    classes = options.loss != "mse"
    target = torch.empty(options.batch, dtype=torch.long) if classes else torch.empty(options.batch, *model.output_dims)
    measure = nn.CrossEntropyLoss() if classes else nn.MSELoss()
    sgd = torch.optim.SGD([w for w in model.parameters() if w.requires_grad], lr=1e-4)
    times = []
    for step in range(options.iterations + 1):
        new_batch(x, target, options.loss, rows)
        began = time.perf_counter()
        sgd.zero_grad(set_to_none=True)
        measure(model(x), target).backward()
        sgd.step()
        if step:
            times.append(1e3 * (time.perf_counter() - began))
    return times


def arguments():
    parser = argparse.ArgumentParser(description="Trains a model description with PyTorch.")
    parser.add_argument("--model", required=True, type=Path)
    parser.add_argument("--batch", required=True, type=int)
    parser.add_argument("--trained", required=True, help="names of the layers that are trained")
    parser.add_argument("--loss", default="softmax_cross_entropy", choices=["softmax_cross_entropy", "mse"])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


def main():
    options = arguments()
    if options.threads:
        torch.set_num_threads(options.threads)
    warm_up()
    baseline, _ = resident()
    description = json.loads(options.model.read_text())
    options.input_dims = description["inputs"][0]["dims"]
    model = Model(description)
    model.train_only(set(options.trained.split(",")))
    times = train(model, options)
    result = {
        "version": torch.__version__,
        "threads": torch.get_num_threads(),
        "onednn": torch.backends.mkldnn.is_available(),
        "trained_weights": sum(w.numel() for w in model.parameters() if w.requires_grad),
        "baseline_rss_bytes": baseline,
        "peak_rss_bytes": resident()[1],
        "ms_per_iteration": statistics.median(times),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
