#!/usr/bin/env python3
"""Writes what PyTorch computes for every layer, loss, optimizer, schedule and some whole networks.

    generate_cases.py FOLDER

FOLDER gets cases.json (names, properties, and the place of every tensor) and cases.bin (the tensors,
fp32, in PyTorch's order). Inputs are fp32 values; PyTorch computes in fp64, so that its own rounding
is not part of the comparison. Ends with status 77 if PyTorch is not installed.
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.glob("cases.*"):
    old.unlink()

try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"skipped: PyTorch is not installed ({error}); on Debian: apt-get install python3-torch")
    sys.exit(77)

from attention_cases import attention_cases
from network_cases import network_cases
from sequence_networks import sequence_networks

torch.set_num_threads(1)


class Writer:
    """Collects cases; the tensors go to the binary file as they come."""

    def __init__(self, folder):
        self.cases = []
        self.folder = folder
        self.bin = open(folder / "cases.bin", "wb")
        self.floats = 0

    def tensor(self, value):
        data = value.detach().to(torch.float32).contiguous()
        self.bin.write(data.numpy().tobytes())
        place = {"dims": list(data.shape), "offset": self.floats}
        self.floats += data.numel()
        return place

    def add(self, kind, name, **fields):
        self.cases.append({"kind": kind, "name": name, **fields})

    def close(self):
        self.bin.close()
        text = json.dumps({"floats": self.floats, "cases": self.cases}, indent=1)
        (self.folder / "cases.json").write_text(text)


out = Writer(FOLDER)


def random(*dims, low=None, high=None):
    """fp32 values held in fp64."""
    if low is None:
        value = torch.randn(*dims, dtype=torch.float32)
    else:
        value = torch.rand(*dims, dtype=torch.float32) * (high - low) + low
    return value.to(torch.float64)


def layer(type_, properties, inputs, compute, weights=None, statistics=None, training=True,
          loss=False, scale=1.0, name=None, lengths=None):
    """One case: compute(inputs, weights, statistics) -> output or list of outputs. lengths: a last input, of
    integers, which compute() knows."""
    weights, statistics = weights or {}, statistics or {}
    label = name or " ".join([type_] + [f"{k}={v}" for k, v in properties.items()])
    label += " on " + " and ".join("x".join(map(str, x.shape)) for x in inputs)
    inputs = [x * scale for x in inputs]
    # Scaling in fp64 may leave fp32: round once more.
    inputs = [x.to(torch.float32).to(torch.float64) for x in inputs]
    fields = {
        "type": type_, "properties": properties, "training": training, "loss": loss,
        "inputs": [out.tensor(x) for x in inputs], "lengths": lengths or [],
        "weights": {k: out.tensor(v) for k, v in {**weights, **statistics}.items()},
    }
    leaves = [x.clone().requires_grad_(True) for x in inputs]
    params = {k: v.clone().requires_grad_(True) for k, v in weights.items()}
    stats = {k: v.clone() for k, v in statistics.items()}
    results = compute(leaves, params, stats)
    results = results if isinstance(results, list) else [results]
    derivatives = [torch.ones_like(r) if loss else random(*r.shape) for r in results]
    torch.autograd.backward(results, derivatives)
    fields["outputs"] = [out.tensor(r.reshape(1) if loss else r) for r in results]
    fields["output_derivatives"] = [out.tensor(d.reshape(1) if loss else d) for d in derivatives]
    wanted = leaves[:1] if loss else leaves
    fields["input_derivatives"] = [out.tensor(x.grad) for x in wanted]
    fields["gradients"] = {k: out.tensor(v.grad) for k, v in params.items()}
    fields["statistics"] = {k: out.tensor(v) for k, v in stats.items()}
    out.add("layer", label, **fields)


def conv_cases():
    cases = [  # in, out, kernel, stride, padding, dilation, groups, image, batch, bias
        (3, 8, 3, 1, 1, 1, 1, (9, 9), 2, True), (3, 32, 3, 2, 1, 1, 1, (17, 17), 2, False),
        (8, 8, 1, 1, 0, 1, 1, (7, 5), 3, True), (24, 40, 1, 1, 0, 1, 1, (6, 6), 2, False),
        (16, 24, 1, 2, 0, 1, 1, (9, 8), 2, True), (5, 7, 3, 1, 0, 1, 1, (8, 10), 2, True),
        (6, 9, 5, 1, 2, 1, 1, (11, 11), 1, True), (4, 6, 7, 2, 3, 1, 1, (15, 15), 2, False),
        (8, 12, 3, 1, 2, 2, 1, (10, 10), 2, True), (4, 4, 3, 2, 3, 3, 1, (13, 12), 2, True),
        (8, 12, 3, 1, 1, 1, 2, (8, 8), 2, True), (12, 18, 3, 2, 1, 1, 3, (9, 9), 2, False),
        (16, 32, 1, 1, 0, 1, 4, (5, 5), 2, True), (8, 8, 3, 1, 2, 2, 4, (9, 9), 2, True),
        (16, 16, 3, 1, 1, 1, 16, (8, 8), 2, True), (24, 24, 3, 2, 1, 1, 24, (9, 9), 2, False),
        (19, 19, 5, 1, 2, 1, 19, (9, 7), 2, True), (32, 32, 3, 1, 2, 2, 32, (10, 10), 1, True),
        (6, 12, 3, 1, 1, 1, 6, (8, 8), 2, True), (7, 7, 5, 2, 2, 1, 7, (11, 11), 2, True),
        (3, 5, (3, 1), (2, 1), (1, 0), (1, 1), 1, (9, 9), 2, True),
        (4, 6, (1, 5), (1, 2), (0, 2), (1, 1), 2, (6, 12), 2, True),
        (8, 8, (5, 3), (1, 2), (2, 1), (1, 1), 8, (9, 10), 2, False),
        (64, 64, 3, 1, 1, 1, 1, (8, 8), 4, True), (64, 48, 3, 1, 1, 1, 1, (4, 4), 3, False),
        (1, 1, 1, 1, 0, 1, 1, (1, 1), 1, True), (2, 3, 4, 4, 0, 1, 1, (16, 16), 2, True),
    ]
    for cin, cout, kernel, stride, padding, dilation, groups, image, batch, bias in cases:
        plain = [v if isinstance(v, int) else list(v) for v in (kernel, stride, padding, dilation)]
        properties = dict(zip(("kernel", "stride", "padding", "dilation"), plain))
        properties.update(out_channels=cout, groups=groups, bias=bias)
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        bound = (cin // groups * kh * kw) ** -0.5
        weights = {"weight": random(cout, cin // groups, kh, kw, low=-bound, high=bound)}
        if bias:
            weights["bias"] = random(cout, low=-bound, high=bound)

        def compute(x, w, _, args=(stride, padding, dilation, groups)):
            return F.conv2d(x[0], w["weight"], w.get("bias"), *args)

        layer("conv2d", properties, [random(batch, cin, *image)], compute, weights)
    x, w = random(2, 3, 8, 8), {"weight": random(4, 3, 3, 3)}
    layer("conv2d", {"kernel": 3, "stride": 2, "padding": [0, 0, 1, 1], "out_channels": 4,
                     "bias": False}, [x],
          lambda x, w, _: F.conv2d(F.pad(x[0], (0, 1, 0, 1)), w["weight"], None, 2), w)


def fully_connected_cases():
    for dims, units, bias in [((4, 7), 5, True), ((3, 33), 10, False), ((64, 128), 100, True),
                              ((1, 5), 1, True), ((2, 4, 9), 6, True), ((3, 5, 32), 16, False)]:
        bound = dims[-1] ** -0.5
        weights = {"weight": random(units, dims[-1], low=-bound, high=bound)}
        if bias:
            weights["bias"] = random(units)
        layer("fully_connected", {"units": units, "bias": bias}, [random(*dims)],
              lambda x, w, _: F.linear(x[0], w["weight"], w.get("bias")), weights)


def batch_norm_cases():
    # Not two values a channel: the derivative is then all cancellation, in PyTorch's fp32 too.
    for dims in [(4, 8, 5, 5), (2, 19, 3, 7), (16, 33), (64, 16, 1, 1), (8, 3, 1, 1)]:
        channels = dims[1]
        for epsilon, momentum in [(1e-5, 0.1), (1e-3, 0.01)]:
            for mode in ("batch", "frozen", "inference"):
                weights = {"gamma": random(channels, low=0.5, high=1.5), "beta": random(channels)}
                statistics = {"running_mean": random(channels),
                              "running_var": random(channels, low=0.5, high=2)}
                properties = {"epsilon": epsilon, "momentum": momentum}
                if mode == "frozen":
                    properties["frozen"] = True

                def compute(x, w, s, batch=(mode == "batch"), e=epsilon, m=momentum):
                    return F.batch_norm(x[0], s["running_mean"], s["running_var"], w["gamma"],
                                        w["beta"], batch, m, e)

                layer("batch_norm", properties, [random(*dims) * 2 + 1], compute, weights,
                      statistics, training=(mode != "inference"))
    mean = torch.linspace(-50, 50, 8, dtype=torch.float64).reshape(1, 8, 1, 1)
    layer("batch_norm", {}, [random(8, 8, 6, 6) + mean],
          lambda x, w, s: F.batch_norm(x[0], s["running_mean"], s["running_var"], w["gamma"],
                                       w["beta"], True, 0.1, 1e-5),
          {"gamma": random(8), "beta": random(8)},
          {"running_mean": random(8), "running_var": random(8, low=0.5, high=2)},
          name="batch_norm far from zero")


def activation_cases():
    kinds = {"relu": F.relu, "relu6": F.relu6, "sigmoid": torch.sigmoid, "tanh": torch.tanh,
             "hard_swish": F.hardswish, "hard_sigmoid": F.hardsigmoid, "silu": F.silu,
             "gelu": F.gelu, "softplus": F.softplus, "mish": F.mish,
             "gelu_tanh": lambda x: F.gelu(x, approximate="tanh")}
    for type_, function in kinds.items():
        for dims in [(4, 33), (2, 19, 5, 3), (2, 7, 9)]:
            for scale in (1.0, 5.0):
                layer(type_, {}, [random(*dims)], lambda x, w, _, f=function: f(x[0]), scale=scale,
                      name=f"{type_} scale={scale}")
    for slope in (0.01, 0.2):
        layer("leaky_relu", {"slope": slope}, [random(4, 33)],
              lambda x, w, _, s=slope: F.leaky_relu(x[0], s))
    for alpha in (1.0, 0.3, 1.7):
        for dims in [(4, 33), (2, 19, 5, 3)]:
            layer("elu", {"alpha": alpha}, [random(*dims)], lambda x, w, _, a=alpha: F.elu(x[0], a))
    for dims, axis in [((4, 10), 1), ((2, 5, 3, 3), 1), ((2, 6, 17), 2), ((3, 1000), 1)]:
        for scale in (1.0, 10.0):
            layer("softmax", {}, [random(*dims)],
                  lambda x, w, _, a=axis: F.softmax(x[0], a), scale=scale,
                  name=f"softmax scale={scale}")


def pointwise_cases():
    for dims in [(4, 33), (2, 19, 5, 3), (2, 7, 9)]:
        layer("scale", {"factor": -1.7, "offset": 0.3}, [random(*dims)], lambda x, w, _: x[0] * -1.7 + 0.3)
        layer("clip", {"min": -0.6, "max": 0.9}, [random(*dims)], lambda x, w, _: x[0].clamp(-0.6, 0.9))
        layer("clip", {"min": -0.6}, [random(*dims)], lambda x, w, _: x[0].clamp(min=-0.6))
        layer("reciprocal", {}, [random(*dims, low=0.5, high=3)], lambda x, w, _: 1 / x[0])
        channels = dims[-1] if len(dims) == 3 else dims[1]
        # PyTorch's channels are axis 1: rows are turned for it.
        turned = len(dims) == 3

        def prelu(x, w, _, turned=turned):
            x = x[0].transpose(1, 2) if turned else x[0]
            y = F.prelu(x, w["weight"])
            return y.transpose(1, 2) if turned else y

        layer("prelu", {}, [random(*dims)], prelu, {"weight": random(channels)})
        layer("prelu", {"shared": True}, [random(*dims)], prelu, {"weight": random(1)})
    for dims, axis in [((4, 10), 1), ((2, 5, 3, 3), 1), ((2, 6, 17), 2), ((3, 1000), 1)]:
        for scale in (1.0, 10.0):
            layer("log_softmax", {}, [random(*dims)], lambda x, w, _, a=axis: F.log_softmax(x[0], a),
                  scale=scale, name=f"log_softmax scale={scale}")


def sequence_cases():
    for rows, inner, columns in [(5, 7, 3), (65, 64, 65), (1, 33, 2)]:
        for lead in [(2,), (2, 3, 2)]:
            a, b = random(*lead, rows, inner), random(*lead, inner, columns)
            layer("matmul", {}, [a, b], lambda x, w, _: x[0] @ x[1])
            layer("matmul", {"transpose_b": True}, [a, b.transpose(-2, -1).contiguous()],
                  lambda x, w, _: x[0] @ x[1].transpose(-2, -1))
    for dims in [(4, 7), (3, 65, 192), (2, 3, 2, 5, 33)]:
        for epsilon in (1e-5, 1e-3):
            weights = {"gamma": random(dims[-1]), "beta": random(dims[-1])}
            layer("layer_norm", {"epsilon": epsilon}, [random(*dims) * 2 + 1],
                  lambda x, w, _, e=epsilon: F.layer_norm(x[0], x[0].shape[-1:], w["gamma"], w["beta"], e),
                  weights)
        layer("layer_norm", {"affine": False}, [random(*dims) * 2 + 1],
              lambda x, w, _: F.layer_norm(x[0], x[0].shape[-1:]))
    for dims, own in [((4, 7), (7,)), ((3, 5, 8), (8,)), ((3, 5, 8), (5, 8)), ((9, 65, 192), (65, 192))]:
        layer("add_parameter", {"dims": list(own)}, [random(*dims)], lambda x, w, _: x[0] + w["weight"],
              {"weight": random(*own)})
        layer("multiply_parameter", {"dims": list(own)}, [random(*dims)],
              lambda x, w, _: x[0] * w["weight"], {"weight": random(*own)})
    # Masks and biases of attention: an axis of 1 meets all along the input's.
    for dims, own in [((2, 4, 3, 5, 5), (4, 1, 5, 5)), ((2, 3, 5, 2, 7), (3, 1, 1, 1)), ((3, 6, 8), (6, 1)),
                      ((2, 2, 3, 4, 5), (2, 1, 4, 1)), ((2, 9, 2, 3, 33), (2, 1, 33))]:
        layer("add_parameter", {"dims": list(own)}, [random(*dims)], lambda x, w, _: x[0] + w["weight"],
              {"weight": random(*own)})
        layer("multiply_parameter", {"dims": list(own)}, [random(*dims)],
              lambda x, w, _: x[0] * w["weight"], {"weight": random(*own)})
    for count in (1, 3):
        layer("prepend_parameter", {"count": count}, [random(4, 6, 10)],
              lambda x, w, _: torch.cat((w["weight"].expand(4, -1, -1), x[0]), 1),
              {"weight": random(count, 10)})


def recurrent_weights(type_, features, units, bias):
    gates = {"rnn": 1, "lstm": 4, "gru": 3}[type_] * units
    bound = units ** -0.5
    weights = {"weight_ih": random(gates, features, low=-bound, high=bound),
               "weight_hh": random(gates, units, low=-bound, high=bound)}
    if bias:
        weights["bias_ih"] = random(gates, low=-bound, high=bound)
        weights["bias_hh"] = random(gates, low=-bound, high=bound)
    return weights


def recurrent(type_, x, w, nonlinearity, reverse):
    """x: the sequence and the states before it, if they are given. The outputs, and the states behind it."""
    has_bias = "bias_ih" in w
    flat = [w["weight_ih"], w["weight_hh"]] + ([w["bias_ih"], w["bias_hh"]] if has_bias else [])
    sequence = x[0].flip(1) if reverse else x[0]
    zeros = x[0].new_zeros(1, x[0].shape[0], w["weight_hh"].shape[1])
    states = [s.unsqueeze(0) for s in x[1:]] or [zeros] * (2 if type_ == "lstm" else 1)
    arguments = (flat, has_bias, 1, 0.0, False, False, True)
    if type_ == "lstm":
        y, h, c = torch.lstm(sequence, states, *arguments)
        behind = [h[0], c[0]]
    else:
        compute = {"gru": torch.gru, "tanh": torch.rnn_tanh, "relu": torch.rnn_relu}
        y, h = compute[nonlinearity if type_ == "rnn" else type_](sequence, states[0], *arguments)
        behind = [h[0]]
    return (y.flip(1) if reverse else y), behind


def recurrent_cases():
    shapes = [(3, 5, 4, 6, True), (2, 7, 33, 17, True), (1, 1, 3, 2, True), (5, 3, 8, 16, False), (1, 9, 1, 1, True)]
    kinds = [("rnn", "tanh"), ("rnn", "relu"), ("lstm", None), ("gru", None)]
    for type_, nonlinearity in kinds:
        more = {"nonlinearity": nonlinearity} if nonlinearity else {}
        states = 2 if type_ == "lstm" else 1
        for batch, length, features, units, bias in shapes:
            for given in (False, True):
                before = [random(batch, units) for _ in range(states)] if given else []
                weights = recurrent_weights(type_, features, units, bias)
                for reverse, sequence, state in [(False, True, False), (True, True, True), (False, False, False),
                                                 (True, False, True)]:
                    def compute(x, w, _, t=type_, n=nonlinearity, r=reverse, s=sequence, e=state):
                        y, behind = recurrent(t, x, w, n, r)
                        return [y if s else behind[0]] + (behind if e else [])

                    layer(type_, {"units": units, "bias": bias, "reverse": reverse, "sequence": sequence,
                                  "state": state, **more}, [random(batch, length, features), *before], compute, weights)

                def step(x, w, _, t=type_, n=nonlinearity):
                    return recurrent(t, [x[0].unsqueeze(1), *x[1:]], w, n, False)[1]

                layer(type_ + "_cell", {"units": units, "bias": bias, **more}, [random(batch, features), *before],
                      step, weights)


def padded_cases():
    for type_, nonlinearity in [("rnn", "tanh"), ("lstm", None), ("gru", None)]:
        more = {"nonlinearity": nonlinearity} if nonlinearity else {}
        for reverse in (False, True):
            for lengths in ([5, 2, 4], [1, 7], [3, 3]):
                batch, length = len(lengths), max(lengths)

                def compute(x, w, _, t=type_, r=reverse, given=lengths):
                    # Each sample of a sequence that runs backward is turned by itself.
                    x, outputs, ends = x[0], [], []
                    for sample, count in enumerate(given):
                        y, behind = recurrent(t, [x[sample:sample + 1, :count]], w, nonlinearity, r)
                        outputs.append(F.pad(y, (0, 0, 0, x.shape[1] - count)))
                        ends.append(behind)
                    return [torch.cat(outputs)] + [torch.cat(end) for end in zip(*ends)]

                layer(type_, {"units": 6, "reverse": reverse, "state": True, **more}, [random(batch, length, 4)],
                      compute, recurrent_weights(type_, 4, 6, True), lengths=lengths,
                      name=f"{type_} of {lengths} reverse={reverse}")


def stack_cases():
    for dims in [(2, 3, 4), (1, 1, 5), (4, 7, 33)]:
        layer("unstack", {}, [random(*dims)], lambda x, w, _: [part.contiguous() for part in x[0].unbind(1)])
        layer("stack", {}, [random(dims[0], *dims[2:]) for _ in range(dims[1])], lambda x, w, _: torch.stack(x, 1))


def axis_cases():
    image = (2, 5, 6, 7)
    for dims, own in [(image, [5, 42]), (image, [6, 35]), ((2, 30, 7), [5, 6, 7]), (image, [10, 3, 7]),
                      ((3, 24), [4, 3, 2]), ((3, 4, 6), [2, 2, 3, 2])]:
        layer("reshape", {"dims": own}, [random(*dims)],
              lambda x, w, _, o=own: x[0].reshape(len(x[0]), *o))
    for dims, order in [((2, 5, 6), [0, 2, 1]), ((2, 65, 3, 4, 8), [0, 2, 3, 1, 4]),
                        ((2, 5, 3, 4, 8), [0, 4, 1, 3, 2])]:
        layer("permute", {"order": order}, [random(*dims)], lambda x, w, _, o=order: x[0].permute(o))
    for order in ([0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2]):
        layer("permute", {"order": order, "layout": "channels_last"}, [random(*image)],
              lambda x, w, _, o=order: x[0].permute(o))
    for axis in (1, 2, 3):
        layer("slice", {"axis": axis, "start": 1, "length": 2, "step": 2}, [random(*image)],
              lambda x, w, _, a=axis: x[0].index_select(a, torch.tensor([1, 3])))
    layer("slice", {"length": 1}, [random(3, 65, 16)], lambda x, w, _: x[0][:, :1])
    layer("pad", {"begin": [1, 2, 0], "end": [0, 1, 3], "value": 0.5}, [random(*image)],
          lambda x, w, _: F.pad(x[0], (0, 3, 2, 1, 1, 0), value=0.5))
    layer("pad", {"begin": [1, 0], "end": [0, 2]}, [random(3, 4, 5)],
          lambda x, w, _: F.pad(x[0], (0, 2, 1, 0)))
    for axis in (2, 3):
        layer("concat", {"axis": axis}, [random(*image), random(*image)],
              lambda x, w, _, a=axis: torch.cat(x, a))


def response_norm_cases():
    for size, alpha, beta, bias in [(5, 1e-4, 0.75, 1.0), (3, 0.7, 0.5, 2.0), (1, 1.5, 1.3, 0.5), (9, 2.0, 0.75, 1.0)]:
        for dims in [(2, 19, 5, 3), (3, 4, 2, 2)]:
            layer("local_response_norm", {"size": size, "alpha": alpha, "beta": beta, "bias": bias},
                  [random(*dims) * 2],
                  lambda x, w, _, n=size, a=alpha, b=beta, k=bias: F.local_response_norm(x[0], n, a, b, k))


def resize_cases():
    # Where PyTorch reads is the size's ratio, too, if it is not given another.
    forms = [({"mode": "nearest"}, {"mode": "nearest"}),
             ({"mode": "nearest", "coordinates": "half_pixel", "rounding": "round_prefer_ceil"},
              {"mode": "nearest-exact"}),
             ({"mode": "linear", "coordinates": "half_pixel"}, {"mode": "bilinear", "align_corners": False}),
             ({"mode": "linear", "coordinates": "align_corners"}, {"mode": "bilinear", "align_corners": True})]
    for properties, theirs in forms:
        for image, size in [((5, 6), (10, 12)), ((5, 6), (15, 6)), ((8, 6), (4, 3)), ((3, 4), (7, 5)),
                            ((1, 1), (3, 2)), ((9, 7), (2, 3))]:
            layer("resize", {"size": list(size), **properties}, [random(2, 7, *image)],
                  lambda x, w, _, s=size, t=theirs: F.interpolate(x[0], s, **t))


def pooling_cases():
    windows = [(2, 2, 0), (3, 2, 1), (3, 1, 1), (3, 1, 0), (2, 3, 1), ((3, 2), (2, 1), (1, 0)),
               (5, 4, 2), (8, 8, 0)]
    for kernel, stride, padding in windows:
        for image in [(9, 8), (16, 11)]:
            for ceil_mode in (False, True):
                plain = [v if isinstance(v, int) else list(v) for v in (kernel, stride, padding)]
                properties = dict(zip(("kernel", "stride", "padding"), plain), ceil_mode=ceil_mode)
                args = (kernel, stride, padding)
                layer("max_pool", properties, [random(2, 5, *image)],
                      lambda x, w, _, a=args, c=ceil_mode: F.max_pool2d(x[0], *a, ceil_mode=c))
                for include in (True, False):
                    layer("average_pool", {**properties, "count_include_pad": include},
                          [random(2, 19, *image)],
                          lambda x, w, _, a=args, c=ceil_mode, i=include:
                          F.avg_pool2d(x[0], *a, ceil_mode=c, count_include_pad=i))
    for kernel, stride, padding, dilation, image in [(3, 1, 0, 2, (9, 8)), (2, 2, 1, 3, (11, 9)),
                                                     ((3, 2), (1, 3), (1, 1), (2, 3), (10, 12))]:
        for ceil_mode in (False, True):
            plain = [list(p) if isinstance(p, tuple) else p for p in (kernel, stride, padding, dilation)]
            properties = dict(zip(("kernel", "stride", "padding", "dilation"), plain), ceil_mode=ceil_mode)
            args = (kernel, stride, padding, dilation)
            layer("max_pool", properties, [random(2, 5, *image)],
                  lambda x, w, _, a=args, c=ceil_mode: F.max_pool2d(x[0], *a, ceil_mode=c))
    for dims in [(3, 19, 7, 7), (2, 32, 1, 1), (1, 5, 40, 30)]:
        layer("global_average_pool", {}, [random(*dims)], lambda x, w, _: x[0].mean((2, 3)))
        layer("global_average_pool", {"keep_dims": True}, [random(*dims)],
              lambda x, w, _: F.adaptive_avg_pool2d(x[0], 1))


def joining_cases():
    image, vector = (2, 19, 4, 3), (4, 33)
    for dims in (image, vector):
        layer("add", {}, [random(*dims), random(*dims)], lambda x, w, _: x[0] + x[1])
        layer("add", {}, [random(*dims) for _ in range(3)], lambda x, w, _: x[0] + x[1] + x[2])
        layer("multiply", {}, [random(*dims), random(*dims)], lambda x, w, _: x[0] * x[1])
        for name, extreme in (("maximum", torch.maximum), ("minimum", torch.minimum)):
            one, other = random(*dims), random(*dims)
            layer(name, {}, [one, other], lambda x, w, _, e=extreme: e(x[0], x[1]))
            layer(name, {}, [one, torch.where(other < 0, one, other)], lambda x, w, _, e=extreme: e(x[0], x[1]),
                  name=f"{name} half of equals")
        layer("identity", {}, [random(*dims)], lambda x, w, _: x[0] * 1)
        layer("multi_out", {"outputs": 3}, [random(*dims)],
              lambda x, w, _: [x[0] * 1, x[0] * 1, x[0] * 1])
    layer("multiply", {}, [random(*image), random(2, 19)],
          lambda x, w, _: x[0] * x[1][:, :, None, None])
    layer("multiply", {}, [random(*image), random(2, 19, 1, 1)], lambda x, w, _: x[0] * x[1])
    for shapes in [[(2, 5, 4, 3), (2, 17, 4, 3)], [(3, 4), (3, 9), (3, 1)],
                   [(2, 3, 4), (2, 5, 4)]]:
        layer("concat", {}, [random(*d) for d in shapes], lambda x, w, _: torch.cat(x, 1))
    for dims in [(2, 5, 3, 7), (2, 33, 1, 1), (2, 1, 5, 3), (2, 3, 4), (3, 40, 18, 17)]:
        layer("flatten", {}, [random(*dims)], lambda x, w, _: torch.flatten(x[0], 1))
    layer("dropout", {"rate": 0.4}, [random(3, 21)], lambda x, w, _: F.dropout(x[0], 0.4, False),
          training=False)
    layer("dropout", {"rate": 0.0}, [random(3, 21)], lambda x, w, _: F.dropout(x[0], 0.0, True))


def open_cross_entropy(logits, target):
    """It is one of those whose target is NaN, or what the others' target says, to that share."""
    is_open, log_p = target.isnan(), F.log_softmax(logits, 1)
    known = torch.where(is_open, 0.0, target).detach()
    of_open = log_p.masked_fill(~is_open, -torch.inf).logsumexp(1)
    return -((1 - known.sum(1)) * of_open + (known * log_p).sum(1)).mean()


def loss_cases():
    for dims in [(4, 10), (3, 1000), (1, 2), (2, 5, 3, 4)]:
        soft = F.softmax(random(*dims), 1).to(torch.float32).to(torch.float64)
        hard = torch.zeros(dims, dtype=torch.float64).scatter_(
            1, torch.randint(dims[1], (dims[0], 1) + dims[2:]), 1.0)
        for target, kind in ((soft, "soft"), (hard, "hard")):
            for scale in (1.0, 20.0):
                layer("softmax_cross_entropy", {}, [random(*dims) * scale, target],
                      lambda x, w, _: F.cross_entropy(x[0], x[1]), loss=True,
                      name=f"softmax_cross_entropy {kind} scale={scale}")
        is_open = (torch.arange(dims[1]) % 3 != 1).reshape(1, -1, *[1] * len(dims[2:])).expand(dims)
        for known, kind in ((0.0, "denied"), (0.5, "partly soft")):
            target = torch.where(is_open, torch.nan, soft * known)
            for scale in (1.0, 20.0):
                layer("softmax_cross_entropy", {}, [random(*dims) * scale, target],
                      lambda x, w, _: open_cross_entropy(x[0], x[1]), loss=True,
                      name=f"softmax_cross_entropy {kind} scale={scale}")
        labels = random(*dims, low=0, high=1)
        layer("sigmoid_cross_entropy", {}, [random(*dims) * 4, labels],
              lambda x, w, _: F.binary_cross_entropy_with_logits(x[0], x[1]), loss=True)
        layer("sigmoid_cross_entropy", {"reduction": "sum"}, [random(*dims) * 4, labels],
              lambda x, w, _: F.binary_cross_entropy_with_logits(x[0], x[1], reduction="sum")
              / len(x[0]), loss=True)
        layer("mse", {}, [random(*dims), random(*dims)],
              lambda x, w, _: F.mse_loss(x[0], x[1]), loss=True)
        layer("huber", {"delta": 0.5}, [random(*dims), random(*dims)],
              lambda x, w, _: F.huber_loss(x[0], x[1], delta=0.5), loss=True)


def drawn(key, index):
    """The 32 bits that moil draws for an element, of which the least are dropped (kernels/rows/dropout.cc)."""
    def mixed(x):
        x ^= x >> 16
        x = x * 0x7feb352d & 0xffffffff
        x ^= x >> 15
        x = x * 0x846ca68b & 0xffffffff
        return x ^ x >> 16
    return mixed(mixed(index ^ key & 0xffffffff) + (key >> 32) & 0xffffffff)


def scheduled_sampling_cases():
    """Of a teacher's rows and the own ones; the test's key is 42."""
    for dims in [(4, 5), (3, 7, 6), (1, 1), (33, 9, 80)]:
        *rows, _ = dims
        count = torch.Size(rows).numel()
        for rate in (0.0, 0.25, 0.5, 1.0):
            own = torch.tensor([drawn(42, i) < rate * 2**32 for i in range(count)]).reshape(*rows, 1)
            layer("scheduled_sampling", {"rate": rate}, [random(*dims), random(*dims)],
                  lambda x, w, _: torch.where(own, x[1], x[0]))
        layer("scheduled_sampling", {"rate": 0.5}, [random(*dims), random(*dims)],
              lambda x, w, _: x[0] + 0 * x[1], training=False)


def sgdw(params, lr, momentum, nesterov, weight_decay):
    """Decoupled decay around PyTorch's SGD: shrink first, then step without decay."""
    inner = torch.optim.SGD(params, lr=lr, momentum=momentum, nesterov=nesterov)
    plain_step = inner.step

    def step():
        with torch.no_grad():
            for group in inner.param_groups:
                for p in group["params"]:
                    p.mul_(1 - group["lr"] * weight_decay)
        plain_step()

    inner.step = step
    return inner


def optimizer(config, clip_norm=0.0, steps=6):
    """Several steps on two tensors, the learning rate falling."""
    weights = [torch.nn.Parameter(random(7, 11)), torch.nn.Parameter(random(37))]
    kind, lr, decay = config["kind"], config["learning_rate"], config.get("weight_decay", 0.0)
    momentum, nesterov = config.get("momentum", 0.0), config.get("nesterov", False)
    betas = (config.get("beta1", 0.9), config.get("beta2", 0.999))
    epsilon = config.get("epsilon", 1e-8)
    if kind == "sgd":
        torch_optimizer = torch.optim.SGD(weights, lr, momentum, 0, decay, nesterov)
    elif kind == "sgdw":
        torch_optimizer = sgdw(weights, lr, momentum, nesterov, decay)
    else:
        maker = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind]
        torch_optimizer = maker(weights, lr, betas, epsilon, decay)
    name = " ".join(f"{k}={v}" for k, v in config.items()) + (f" clip={clip_norm}" if clip_norm else "")
    fields = {"config": config, "clip_norm": clip_norm, "steps": [],
              "start": [out.tensor(w) for w in weights]}
    for i in range(steps):
        rate = lr * 0.9 ** i
        torch_optimizer.param_groups[0]["lr"] = rate
        for w in weights:
            w.grad = random(*w.shape)
        gradients = [out.tensor(w.grad) for w in weights]
        if clip_norm:
            torch.nn.utils.clip_grad_norm_(weights, clip_norm)
        torch_optimizer.step()
        fields["steps"].append({"rate": rate, "gradients": gradients,
                                "weights": [out.tensor(w) for w in weights]})
    out.add("optimizer", name, **fields)


def optimizer_cases():
    for clip_norm in (0.0, 0.7, 1000.0):
        for decay in (0.0, 0.05):
            for kind in ("sgd", "sgdw"):
                optimizer({"kind": kind, "learning_rate": 0.1, "weight_decay": decay}, clip_norm)
                for nesterov in (False, True):
                    optimizer({"kind": kind, "learning_rate": 0.05, "weight_decay": decay,
                               "momentum": 0.9, "nesterov": nesterov}, clip_norm)
            for kind in ("adam", "adamw"):
                optimizer({"kind": kind, "learning_rate": 0.01, "weight_decay": decay}, clip_norm)
                optimizer({"kind": kind, "learning_rate": 0.01, "weight_decay": decay,
                           "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4}, clip_norm, 20)


def schedule(config, base, epochs, steps_per_epoch):
    """torch.optim.lr_scheduler stepped as its documentation says; cosine once a step."""
    total = epochs * steps_per_epoch
    warmup = round(config.get("warmup_epochs", 0) * steps_per_epoch)
    torch_optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], base)
    kind = config["kind"]
    lr_scheduler = torch.optim.lr_scheduler
    gamma = config.get("gamma", 0.1)
    if kind == "constant":
        after = lr_scheduler.ConstantLR(torch_optimizer, 1.0, total)
    elif kind == "step":
        after = lr_scheduler.StepLR(torch_optimizer, config["step_epochs"] * steps_per_epoch, gamma)
    elif kind == "exponential":
        after = lr_scheduler.StepLR(torch_optimizer, steps_per_epoch, gamma)
    else:
        after = lr_scheduler.CosineAnnealingLR(torch_optimizer, total - warmup,
                                               config.get("final_rate", 0.0))
    if warmup:
        rise = lr_scheduler.LinearLR(torch_optimizer, config.get("warmup_start", 0.1), 1.0, warmup)
        scheduler = lr_scheduler.SequentialLR(torch_optimizer, [rise, after], [warmup])
    else:
        scheduler = after
    rates = []
    for _ in range(total):
        rates.append(torch_optimizer.param_groups[0]["lr"])
        torch_optimizer.step()
        scheduler.step()
    out.add("schedule", " ".join(f"{k}={v}" for k, v in config.items()), config=config, base=base,
            total_steps=total, steps_per_epoch=steps_per_epoch, rates=rates)


def schedule_cases():
    for warmup in (0, 2, 0.5):
        for config in [{"kind": "constant"}, {"kind": "step", "step_epochs": 3, "gamma": 0.2},
                       {"kind": "exponential", "gamma": 0.9},
                       {"kind": "cosine", "final_rate": 0.001}, {"kind": "cosine"}]:
            more = {"warmup_epochs": warmup, "warmup_start": 0.05} if warmup else {}
            schedule({**config, **more}, 0.3, 10, 8)


def power_cases():
    for dims in [(4, 33), (2, 19, 5, 3), (2, 7, 9)]:
        layer("exp", {}, [random(*dims)], lambda x, w, _: x[0].exp())
        layer("log", {}, [random(*dims, low=0.05, high=9)], lambda x, w, _: x[0].log())
        for exponent in (2.0, 0.4375, -1.5):
            layer("power", {"exponent": exponent}, [random(*dims, low=0.05, high=9)],
                  lambda x, w, _, e=exponent: x[0] ** e)
        layer("slice", {"axis": 1, "start": 3, "length": 2, "step": -2}, [random(*dims)],
              lambda x, w, _: x[0].index_select(1, torch.tensor([3, 1])))


torch.manual_seed(2024)
for cases in (conv_cases, fully_connected_cases, batch_norm_cases, activation_cases,
              pointwise_cases, sequence_cases, axis_cases, pooling_cases, response_norm_cases, resize_cases,
              joining_cases, loss_cases, optimizer_cases, schedule_cases, recurrent_cases, padded_cases, stack_cases,
              scheduled_sampling_cases):
    cases()
network_cases(out, random)
attention_cases(layer, random)
sequence_networks(out, random)
power_cases()
out.close()
print(f"{len(out.cases)} cases, {out.floats} numbers, PyTorch {torch.__version__}")
