#!/usr/bin/env python3
"""Exports image classifiers with PyTorch to ONNX and writes what PyTorch computes with them.

    onnx_cases.py FOLDER

For each model FOLDER gets NAME.onnx (batch norms kept), NAME-folded.onnx (as PyTorch exports by
default, batch norms folded into convolutions) and NAME.safetensors: input, target, logits in
evaluation mode, the loss, and the gradient of every parameter. The reference is
computed in fp64. Ends with status 77 if PyTorch or torchvision is not installed.
"""
import copy
import json
import pathlib
import struct
import sys

FOLDER = pathlib.Path(sys.argv[1])
FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.glob("*"):
    old.unlink()

try:
    import torch
    import torch.nn.functional as F
    import torchvision.models as zoo
except ImportError as error:
    print(f"skipped: {error}; on Debian: apt-get install python3-torch python3-torchvision")
    sys.exit(77)

from torchvision.models.maxvit import MaxVit
from torchvision.models.swin_transformer import SwinTransformer

from onnx_models import BatchSecond, Tags, WindowProducts, OddOperators, efficientnet_lite0, mobilenet_v1, vit_tiny

torch.set_num_threads(2)
CLASSES, BATCH = 10, 2


def vgg16():
    """Its classifier thinner: two of its layers alone would be half a gigabyte of random numbers."""
    model = zoo.vgg16(num_classes=CLASSES)
    model.avgpool = torch.nn.Identity()
    model.classifier[0] = torch.nn.Linear(512, 64)
    model.classifier[3] = torch.nn.Linear(64, 32)
    model.classifier[6] = torch.nn.Linear(32, CLASSES)
    return model


def alexnet():
    model = zoo.alexnet(num_classes=CLASSES)
    model.avgpool = torch.nn.Identity()
    model.classifier[1] = torch.nn.Linear(256 * 2 * 2, 128)
    model.classifier[4] = torch.nn.Linear(128, 64)
    model.classifier[6] = torch.nn.Linear(64, CLASSES)
    return model


def swin():
    """Windows that are shifted, padded and masked, as in swin_t; of 5 and not 7 pixels."""
    return SwinTransformer([4, 4], 16, [2, 2], [2, 4], [5, 5], stochastic_depth_prob=0.0, num_classes=CLASSES)


def maxvit():
    """maxvit_t with fewer channels and blocks, and windows of 4 pixels."""
    return MaxVit((64, 64), 8, 4, [8, 16], [1, 1], 8, 0.0, num_classes=CLASSES)


MODELS = {
    "mobilenet_v1": (lambda: mobilenet_v1(CLASSES), 64),
    "mobilenet_v2": (lambda: zoo.mobilenet_v2(num_classes=CLASSES), 64),
    "mobilenet_v3_small": (lambda: zoo.mobilenet_v3_small(num_classes=CLASSES), 64),
    "mobilenet_v3_large": (lambda: zoo.mobilenet_v3_large(num_classes=CLASSES), 64),
    "efficientnet_lite0": (lambda: efficientnet_lite0(CLASSES), 64),
    "squeezenet1_1": (lambda: zoo.squeezenet1_1(num_classes=CLASSES), 64),
    "resnet18": (lambda: zoo.resnet18(num_classes=CLASSES), 64),
    "resnet50": (lambda: zoo.resnet50(num_classes=CLASSES), 32),
    "densenet121": (lambda: zoo.densenet121(num_classes=CLASSES), 32),
    "vgg16": (vgg16, 32),
    "alexnet": (alexnet, 95),
    "vit_tiny": (lambda: vit_tiny(CLASSES), 64),
    "swin": (swin, 64),
    "maxvit": (maxvit, 64),
    "tags": (lambda: Tags(CLASSES), 32),
    "window_products": (lambda: WindowProducts(CLASSES), 32),
    "batch_second": (lambda: BatchSecond(CLASSES), 64),
    "odd_operators": (lambda: OddOperators(CLASSES), 32),
}


def write_safetensors(path, tensors):
    header, data, at = {}, [], 0
    for name, tensor in tensors.items():
        values = tensor.detach().to(torch.float32).contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(values)]}
        data.append(values)
        at += len(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        out.writelines(data)


def settle(model, size):
    """Statistics and scales other than a fresh network's, so that mistakes with them show.

    Every second channel is moved up by some deviations, the others down: what is near the turn of a
    ReLU would be flipped by rounding, and change gradients by more than rounding does. Networks that
    have neither batch norms nor ReLUs, transformers among them, keep their features if they are.
    """
    convolutions = (torch.nn.Conv2d, torch.nn.Linear)
    movable = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in movable:
        torch.nn.init.uniform_(norm.weight, 0.5, 1.5)
        torch.nn.init.uniform_(norm.bias, -0.2, 0.2)
        torch.nn.init.uniform_(norm.running_mean, -0.2, 0.2)
        torch.nn.init.uniform_(norm.running_var, 0.5, 1.5)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    weighted = [m for m in model.modules() if isinstance(m, convolutions)]
    if not movable and any(isinstance(m, torch.nn.ReLU) for m in model.modules()):
        movable = weighted[:-1]

    def move(module, _, output):
        channels = output.shape[1]
        spread = output.detach().transpose(0, 1).reshape(channels, -1).std(dim=1)
        shift = 2.5 * spread * (1 - 2 * (torch.arange(channels) % 2))
        with torch.no_grad():
            module.bias += shift
        return output + shift.reshape([1, channels] + [1] * (output.dim() - 2))

    hooks = [module.register_forward_hook(move) for module in movable]
    with torch.no_grad():
        spread = model(torch.randn(8, 3, size, size)).std()
        weighted[-1].weight /= spread  # logits of a trained network's size
        if weighted[-1].bias is not None:
            weighted[-1].bias /= spread
    for hook in hooks:
        hook.remove()


def export(model, image, path, keep_batch_norms):
    mode = torch.onnx.TrainingMode.PRESERVE if keep_batch_norms else torch.onnx.TrainingMode.EVAL
    torch.onnx.export(model, image, path, training=mode, opset_version=13,
                      do_constant_folding=not keep_batch_norms, input_names=["image"],
                      output_names=["logits"], dynamic_axes={"image": {0: "n"}})


def our_names(model):
    """Parameter names as the import gives them: a batch norm's weight is its gamma."""
    norms = {n for n, m in model.named_modules() if isinstance(m, (torch.nn.BatchNorm2d, torch.nn.LayerNorm))}
    names = {}
    for name, _ in model.named_parameters():
        if name.endswith(("_weight", "_bias")):  # of several products in one
            names[name] = ".".join(name.rsplit("_", 1))
            continue
        if not name.endswith((".weight", ".bias")):  # a tensor of the network's own
            names[name] = f"{name}.weight"
            continue
        owner, last = name.rsplit(".", 1)
        names[name] = f"{owner}.{ {'weight': 'gamma', 'bias': 'beta'}[last]}" if owner in norms else name
    return names


def watch_biases(model):
    """Lookups in the tables of relative positions: an import trains what was looked up."""
    for module in model.modules():
        for name in ("get_relative_position_bias", "get_relative_positional_bias"):
            if hasattr(module, name):
                def watched(module=module, original=getattr(module, name)):
                    module.looked_up = original()
                    module.looked_up.retain_grad()
                    return module.looked_up
                setattr(module, name, watched)


def gradient_of(model, name, parameter):
    owner = model.get_submodule(name.rpartition(".")[0])
    if name.endswith("relative_position_bias_table"):
        return owner.looked_up.grad.squeeze(0).clone()
    if name in getattr(model, "turned", ()):
        return parameter.grad.t().clone()
    return parameter.grad.clone()


def gradients(model, image, target):
    """Every parameter's by its name; and the logits and the loss. Batch norms keep their
    statistics: those of four samples would magnify rounding."""
    model.zero_grad()
    logits = model(image)
    loss = F.cross_entropy(logits, target)
    loss.backward()
    return {name: gradient_of(model, name, p) for name, p in model.named_parameters()}, logits, loss


def is_smooth(model, image, target, random):
    """Whether gradients stay if they are when the image is disturbed as rounding might."""
    here, _, _ = gradients(model, image, target)
    for _ in range(3):
        noise = torch.randn(image.shape, generator=random, dtype=image.dtype)
        there, _, _ = gradients(model, image * (1 + 8e-6 * noise), target)
        if any((here[n] - there[n]).abs().max() >= 2e-4 * here[n].abs().max() for n in here):
            return False
    return True


def smooth_image(model, target, size):
    """An image near which no ReLU turns and no pool's largest element changes."""
    for seed in range(100):
        random = torch.Generator().manual_seed(seed)
        image = torch.randn(BATCH, 3, size, size, generator=random)
        if is_smooth(model, image.double(), target, random):
            return image
    raise RuntimeError("every image has a ReLU that is about to turn")


def write_case(name, make, size):
    torch.manual_seed(1)
    model = make()
    model.eval()
    settle(model, size)
    target = torch.arange(BATCH) * 3 % CLASSES
    exact = copy.deepcopy(model).double()
    watch_biases(exact)
    image = smooth_image(exact, target, size)
    export(model, image[:1], FOLDER / f"{name}.onnx", keep_batch_norms=True)
    export(model, image[:1], FOLDER / f"{name}-folded.onnx", keep_batch_norms=False)
    found, logits, loss = gradients(exact, image.double(), target)
    tensors = {"image": image, "target": F.one_hot(target, CLASSES), "logits": logits, "loss": loss.reshape(1)}
    names = our_names(exact)
    for parameter_name, gradient in found.items():
        tensors[f"gradient/{names[parameter_name]}"] = gradient
    write_safetensors(FOLDER / f"{name}.safetensors", tensors)
    print(name, flush=True)


class Tied(torch.nn.Module):
    """A recurrent cell unrolled over five words, and logits by the table that the words come from."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(30, 8)
        self.read = torch.nn.Linear(8, 8)
        self.keep = torch.nn.Linear(8, 8, bias=False)

    def forward(self, numbers):
        words = self.words(numbers)
        state = torch.tanh(self.read(words[:, 0]))
        for i in range(1, 5):
            state = torch.tanh(self.read(words[:, i]) + self.keep(state))
        return F.linear(state, self.words.weight)


def write_tied():
    """Five steps of training, each on six samples."""
    torch.manual_seed(3)
    model, steps, batch = Tied(), 5, 6
    numbers, target = torch.randint(30, (steps * batch, 5)), torch.randint(30, (steps * batch,))
    torch.onnx.export(model, numbers[:1], FOLDER / "tied.onnx", opset_version=13, input_names=["numbers"],
                      output_names=["logits"], dynamic_axes={"numbers": {0: "n"}}, do_constant_folding=False)
    exact = copy.deepcopy(model).double()
    optimizer = torch.optim.SGD(exact.parameters(), 0.2, momentum=0.9)
    losses = []
    for i in range(steps):
        part = slice(i * batch, (i + 1) * batch)
        loss = F.cross_entropy(exact(numbers[part]), target[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    tensors = {"numbers": numbers, "target": F.one_hot(target, 30), "losses": torch.stack(losses)}
    for name, parameter in exact.named_parameters():
        tensors[f"end/{name}"] = parameter
    write_safetensors(FOLDER / "tied.safetensors", tensors)
    print("tied", flush=True)


class Recurrent(torch.nn.Module):
    """Layers of every kind, both directions, what a layer ends with; batch first and steps first."""

    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
        self.gru = torch.nn.GRU(12, 5, batch_first=True)
        self.rnn = torch.nn.RNN(5, 4, nonlinearity="relu", bias=False)
        self.last = torch.nn.LSTM(4, 3, batch_first=True)
        self.classes = torch.nn.Linear(4 + 3, 5)

    def forward(self, rows):
        sequence = self.gru(self.lstm(rows)[0])[0]
        sequence = self.rnn(sequence.transpose(0, 1))[0].transpose(0, 1)
        end = self.last(sequence)[1][0]
        return self.classes(torch.cat((sequence[:, -1], end.squeeze(0)), 1))


def train_steps(model, name, inputs, target, classes, batch):
    """Steps of training, each on so many samples: their losses, and the logits before them."""
    exact = copy.deepcopy(model).double()
    inputs_ = inputs.double() if inputs.is_floating_point() else inputs
    tensors = {"numbers": inputs, "target": F.one_hot(target, classes), "logits": exact(inputs_)}
    optimizer = torch.optim.SGD(exact.parameters(), 0.2, momentum=0.9)
    losses = []
    for i in range(0, len(inputs), batch):
        loss = F.cross_entropy(exact(inputs_[i:i + batch]), target[i:i + batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    tensors["losses"] = torch.stack(losses)
    write_safetensors(FOLDER / f"{name}.safetensors", tensors)
    print(name, flush=True)


def write_recurrent():
    torch.manual_seed(5)
    model, batch = Recurrent(), 6
    rows, target = torch.randn(5 * batch, 7, 4), torch.randint(5, (5 * batch,))
    for name, axes in [("recurrent", {"rows": {0: "n"}}), ("recurrent_fixed", {})]:
        torch.onnx.export(model, rows[:1], FOLDER / f"{name}.onnx", opset_version=13, input_names=["rows"],
                          output_names=["logits"], dynamic_axes=axes)
    train_steps(model, "recurrent", rows, target, 5, batch)


write_recurrent()
write_tied()
for model_name, (maker, image_size) in MODELS.items():
    write_case(model_name, maker, image_size)
