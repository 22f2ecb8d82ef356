"""Tacotron 2's decoder and the Transformer, small, for five steps of PyTorch's: generate_cases.py calls
sequence_networks(). Description and peer are the memory benchmark's own.
"""
import json
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from cases.memory.sequences import DecoderSize, TransformerSize, tacotron2_decoder, transformer  # noqa: E402
from peers.torch_training import Model  # noqa: E402

STEPS, BATCH = 5, 3

DECODER = DecoderSize(frames=7, characters=5, mel=6, encoded=10, prenet=8, units=12, compared=9, filters=4, kernel=3,
                      channels=8, postnet_kernel=3, dropout=0)  # fmt: skip
TRANSFORMER = TransformerSize(length=9, symbols=11, blocks=2, heads=2, width=12, hidden=20, dropout=0)


def in_our_names(model, tensors):
    """PyTorch's names of parameters and statistics to ours, with what they hold as ours hold it."""
    kinds = {layer["name"]: layer["type"] for layer in model.steps}
    named = {}
    for place, tensor in tensors:
        part, weight = place.removeprefix("parts.").split(".", 1)
        layer, weight = part.replace("/", "."), weight.removeprefix("0.").replace(".", "_")
        if kinds[layer].endswith("_norm"):
            weight = {"weight": "gamma", "bias": "beta"}.get(weight, weight)
        if weight != "num_batches_tracked":
            named[f"{layer}.{weight}"] = tensor.flatten() if weight == "energy_weight" else tensor
    return named


def batches(model, random, classes):
    inputs = []
    for x, rows in model.new_inputs(BATCH):
        inputs.append(torch.randint(rows, x.shape) if rows else random(*x.shape))
    if not classes:
        return inputs, random(BATCH, *model.output_dims), None
    labels = torch.randint(model.output_dims[-1], (BATCH, *model.output_dims[:-1]))
    return inputs, F.one_hot(labels, model.output_dims[-1]).to(torch.float64), labels


def sequence_network(out, random, builder, loss, rate, clip_norm):
    model = Model(json.loads(builder.text()))
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.float32).to(torch.float64)
    model.double().train()
    write = lambda tensors: {name: out.tensor(t) for name, t in in_our_names(model, tensors).items()}
    start = write(model.state_dict().items())
    sgd = torch.optim.SGD(model.parameters(), rate)
    steps = []
    for _ in range(STEPS):
        inputs, target, labels = batches(model, random, loss != "mse")
        result = model(*inputs)
        value = F.mse_loss(result, target) if labels is None else F.cross_entropy(result.flatten(0, -2), labels.flatten())
        sgd.zero_grad()
        value.backward()
        gradients = write((name, p.grad) for name, p in model.named_parameters())
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm).item()
        assert norm > clip_norm, norm  # else nothing is clipped
        sgd.step()
        steps.append({"inputs": [out.tensor(x) for x in inputs], "target": out.tensor(target), "loss": value.item(),
                      "gradients": gradients})  # fmt: skip
    model.eval()
    with torch.no_grad():
        output = model(*inputs)
    out.add("sequence network", builder.name, model=builder.text(), loss=loss, rate=rate, clip_norm=clip_norm, batch=BATCH,
            start=start, steps=steps, end=write(model.state_dict().items()), output=out.tensor(output))


def sequence_networks(out, random):
    sequence_network(out, random, tacotron2_decoder("decoder", DECODER), "mse", 0.5, 0.1)
    sequence_network(out, random, transformer("transformer", TRANSFORMER), "softmax_cross_entropy", 0.2, 0.5)
