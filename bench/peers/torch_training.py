"""The peer: trains the same model description with PyTorch, in a process of its own.

  torch_training.py --model FILE --batch N --trained LAYER,... [--loss mse] [--clip NORM] [--iterations N] [--threads N]
                    [--samples FILE]

Plain SGD on random samples, or on those of a file as memory_bench takes them; prints one JSON object. The network is what a careful PyTorch user would
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


class Recurrent(nn.Module):
    """All steps, or the state behind the last one."""

    def __init__(self, kind, p, shape):
        super().__init__()
        self.layer = kind(shape[2], p["units"], bias=p.get("bias", True), batch_first=True)
        self.sequence = p.get("sequence", True)

    def forward(self, x):
        steps, _ = self.layer(x)
        return steps if self.sequence else steps[:, -1]


class Turned(nn.Sequential):
    """Of what takes channels before positions, [N, C, L]."""

    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def convolution1d(p, shape):
    return Turned(nn.Conv1d(shape[2], p["out_channels"], p["kernel"], padding=p["padding"], bias=p.get("bias", True)))


def batch_norm(p, shape):
    if len(shape) == 3:
        return Turned(nn.BatchNorm1d(shape[2]))
    return (nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d)(shape[1])


class Cell(nn.LSTMCell):
    def forward(self, x, *state):
        return super().forward(x, state or None)


class Attention(nn.MultiheadAttention):
    def __init__(self, p, shape):
        super().__init__(shape[2], p["heads"], batch_first=True)
        self.causal = p.get("causal", False)
        self.hidden = torch.ones(shape[1], shape[1], dtype=torch.bool).triu(1) if self.causal else None

    def forward(self, query, *memory):
        key, value = (*memory, *memory)[:2] or (query, query)
        return super().forward(query, key, value, need_weights=False, attn_mask=self.hidden)[0]


class LocationAttention(nn.Module):
    """A step of Tacotron 2's attention. The memory as it is compared comes with it."""

    def __init__(self, p, query, memory, compared):
        super().__init__()
        width = compared.shape[2]
        self.query = nn.Linear(query.shape[1], width, bias=False)
        self.conv = nn.Conv1d(2, p["filters"], p["kernel"], padding=p["kernel"] // 2, bias=False)
        self.location = nn.Linear(p["filters"], width, bias=False)
        self.energy = nn.Linear(width, 1, bias=False)

    def forward(self, query, memory, compared, before, total):
        places = self.location(self.conv(torch.stack((before, total), 1)).transpose(1, 2))
        energies = self.energy(torch.tanh(self.query(query).unsqueeze(1) + places + compared))
        weights = torch.softmax(energies.squeeze(2), 1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1), weights


class Positions(nn.Module):
    def __init__(self, p, shape):
        super().__init__()
        _, length, width = shape
        angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        self.table = torch.stack((angles.sin(), angles.cos()), 2).flatten(1)
        self.scale = p["scale"]

    def forward(self, x):
        return x * self.scale + self.table.to(x.dtype)


# From a layer's type to a module for its properties and input shape.
MODULES = {
    "conv1d": convolution1d,
    "conv2d": convolution,
    "fully_connected": lambda p, shape: nn.Linear(shape[-1], p["units"], bias=p.get("bias", True)),
    "batch_norm": batch_norm,
    "layer_norm": lambda p, shape: nn.LayerNorm(shape[-1]),
    "relu": lambda p, shape: nn.ReLU(inplace=True),
    "relu6": lambda p, shape: nn.ReLU6(inplace=True),
    "tanh": lambda p, shape: nn.Tanh(),
    "sigmoid": lambda p, shape: nn.Sigmoid(),
    "dropout": lambda p, shape: nn.Dropout(p["rate"]),
    "embedding": lambda p, shape: nn.Embedding(p["rows"], p["width"]),
    "flatten": lambda p, shape: nn.Flatten(),
    "gru": lambda p, shape: Recurrent(nn.GRU, p, shape),
    "lstm": lambda p, shape: Recurrent(nn.LSTM, p, shape),
    "lstm_cell": lambda p, shape: Cell(shape[1], p["units"]),
    "multi_head_attention": Attention,
    "positional_encoding": Positions,
    "max_pool": lambda p, shape: pooling(nn.MaxPool2d, p),
    "average_pool": lambda p, shape: pooling(nn.AvgPool2d, p),
    "global_average_pool": lambda p, shape: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
}

# Layers without a state, by their properties and inputs.
FUNCTIONS = {
    "add": lambda p, x: x[0] + x[1],
    "concat": lambda p, x: torch.cat(x, p["axis"]),
    "reshape": lambda p, x: x[0].reshape(-1, *p["dims"]),
    "scale": lambda p, x: x[0] * p["factor"],
    "slice": lambda p, x: x[0].narrow(p["axis"], p["start"], p["length"]),
    "stack": lambda p, x: torch.stack(x, 1),
    "unstack": lambda p, x: x[0].unbind(1),
}


def normal(value):
    """The one name of a value: a layer's first output has the layer's."""
    return value.removesuffix(":0")


class Model(nn.Module):
    """A model description as a module. Layers stand in the order in which they run."""

    def __init__(self, description):
        super().__init__()
        (self.result,) = description["outputs"]
        self.inputs = {i["name"]: i for i in description["inputs"]}
        self.steps = [{**layer, "inputs": [normal(i) for i in layer["inputs"]]} for layer in description["layers"]]
        self.readers = Counter(name for layer in self.steps for name in layer["inputs"])
        self.readers[self.result] += 1
        self.parts = nn.ModuleDict()
        # Shapes as they come, with two samples: a batch norm wants more than one.
        values = {name: self._zeros(name, 2) for name in self.inputs}
        with torch.no_grad():
            for layer in self.steps:
                self._add(layer, [values[i] for i in layer["inputs"]])
                self._run(layer, values)
        self.output_dims = list(values[self.result].shape[1:])

    def _zeros(self, name, batch):
        model_input = self.inputs[name]
        whole = model_input.get("type") == "int32"
        return torch.zeros(batch, *model_input["dims"], dtype=torch.long if whole else None)

    def new_inputs(self, batch):
        """Each with the height of the table whose numbers it holds, if it does that."""
        tables = {layer["inputs"][0]: layer["properties"]["rows"] for layer in self.steps if layer["type"] == "embedding"}
        return [(self._zeros(name, batch), tables.get(name)) for name in self.inputs]

    def _add(self, layer, inputs):
        kind, p = layer["type"], layer.get("properties", {})
        if kind in FUNCTIONS or layer.get("shares"):
            return
        made = LocationAttention(p, *inputs[:3]) if kind == "location_attention" else MODULES[kind](p, inputs[0].shape)
        self.parts[key(layer["name"])] = made

    def part_of(self, layer):
        """Its module, which may be that of the layer whose weights it shares; None if it has no state."""
        shared = next(iter(layer.get("shares", {}).values()), layer["name"] + ".")
        name = key(shared.rpartition(".")[0])
        return self.parts[name] if name in self.parts else None

    def _run(self, layer, values):
        name, inputs = layer["name"], [values[i] for i in layer["inputs"]]
        part = self.part_of(layer)
        results = part(*inputs) if part else FUNCTIONS[layer["type"]](layer.get("properties", {}), inputs)
        results = results if isinstance(results, tuple) else (results,)
        values.update({f"{name}:{i}" if i else name: result for i, result in enumerate(results)})

    def forward(self, *inputs):
        values, left = dict(zip(self.inputs, inputs)), Counter(self.readers)
        del inputs
        for layer in self.steps:
            self._run(layer, values)
            for used in layer["inputs"]:
                left[used] -= 1
                if left[used] == 0:
                    del values[used]
        return values[self.result]

    def train_only(self, layers):
        """Freezes every other layer, and the batch norms among them with their statistics."""
        self.train()
        for layer in self.steps:
            part = self.part_of(layer)
            if part is None or layer["name"] in layers or not list(part.parameters()):
                continue
            part.requires_grad_(False)
            for inner in part.modules():
                if isinstance(inner, nn.modules.batchnorm._BatchNorm):
                    inner.eval()


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


def new_batch(inputs, target, loss):
    for x, rows in inputs:
        if rows:
            x.random_(0, rows)
        else:
            x.uniform_(-1, 1)
    if loss == "mse":
        target.zero_()[:, 0] = 1
    else:
        target.random_(0, 2)


class Samples:
    """Of each sample in a file its first input and its target, as 32-bit floats; again from the first behind the
    last."""

    def __init__(self, file):
        self.file = open(file, "rb")

    def fill(self, x, target):
        for sample in range(len(x)):
            for part in (x[sample], target[sample]):
                while self.file.readinto(part.numpy()) == 0:
                    self.file.seek(0)


def train(model, options):
    """Milliseconds of each step after one that warms up."""
    inputs = model.new_inputs(options.batch)
    classes = options.loss != "mse"
    *positions, last = model.output_dims
    dims = positions if classes else model.output_dims
    target = torch.empty(options.batch, *dims, dtype=torch.long if classes else None)
    samples = Samples(options.samples) if options.samples else None
    measure = nn.CrossEntropyLoss() if classes else nn.MSELoss()
    trained = [w for w in model.parameters() if w.requires_grad]
    sgd = torch.optim.SGD(trained, lr=1e-4)
    times = []
    for step in range(options.iterations + 1):
        new_batch(inputs, target, options.loss)
        if samples:
            samples.fill(inputs[0][0], target)
        began = time.perf_counter()
        sgd.zero_grad(set_to_none=True)
        result = model(*(x for x, _ in inputs))
        loss = measure(result.flatten(0, -2), target.flatten()) if classes else measure(result, target)
        del result
        loss.backward()
        if options.clip:
            nn.utils.clip_grad_norm_(trained, options.clip)
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
    parser.add_argument("--clip", type=float, default=0.0, help="the most that the gradients' norm may be; 0: any")
    parser.add_argument("--samples", type=Path, help="file of the first input's and the target's numbers")
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
