"""What is trained: one case a row of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .models import WIDE


@dataclass(frozen=True)
class Case:
    """`trainable_layers`: LF(n), the last n weight units; None trains all. `swap_share`: with proactive swap,
    the part of what it plans without that it may take; 0: as little as it can."""

    title: str
    model: str
    batch: int
    trainable_layers: int | None = None
    freeze: str | None = None  # a layer that is not trained
    loss: str = "softmax_cross_entropy"
    clip: float = 0.0  # the most that the gradients' norm may be; 0: any
    swap_share: float | None = None  # None: it is not run with swap
    speaks: bool = False  # its samples are speech (speech.py)
    large: bool = False  # two timed steps a run are enough
    quick: bool = False  # also part of --quick


def _small(title: str, model: str, batch: int, quick: bool = False, freeze: str | None = None) -> Case:
    return Case(title, model, batch, freeze=freeze, loss="mse", quick=quick)


CASES = [
    Case("LeNet-5", "lenet5", 64, quick=True),
    Case("AlexNet-cifar", "alexnet-cifar", 64),
    Case("VGG16-cifar", "vgg16-cifar", 64, quick=True),
    Case("ResNet18-cifar", "resnet18-cifar", 64),
    Case("ResNet18-cifar, LF(1)", "resnet18-cifar", 32, trainable_layers=1, quick=True),
    Case("ResNet18 224", "resnet18", 32),
    Case("ResNet18 224, LF(1)", "resnet18", 32, trainable_layers=1),
    Case("MobileNetV2 224", "mobilenet_v2", 32),
    Case("MobileNetV2 224, LF(1)", "mobilenet_v2", 32, trainable_layers=1),
    _small("Linear 150528→10", "linear-10", 64, quick=True),
    _small("Linear 150528→300", "linear-300", 64),
    _small("Conv2D 3×224×224, stride 2", "conv2d", 64, quick=True),
    _small("FC3 784→784→784→100", "fc3", 2048),
    _small(f"FC3 784→{WIDE}→{WIDE}→100", "fc3-wide", 2048),
    _small(f"FC3 784→{WIDE}→{WIDE}→100, middle frozen", "fc3-wide", 2048, freeze="fc2"),
]

# Cells want their weights in every step: as little memory as can be would read them in every step.
CELLS_SHARE = 0.9


def _decoder(batch: int, quick: bool = False) -> Case:
    case = Case("Tacotron2 decoder, 100 frames", "tacotron2-decoder", batch, loss="mse", clip=1.0)
    return replace(case, swap_share=CELLS_SHARE, speaks=True, large=True, quick=quick)


def _transformer(batch: int, quick: bool = False) -> Case:
    return Case("Transformer, 6 + 6 layers", "transformer", batch, swap_share=0, large=True, quick=quick)


SEQUENCES = [
    replace(_small("LSTM 150528→10", "lstm-10", 64, quick=True), swap_share=0),
    Case("LSTM 128→256→256, 64 steps", "lstm", 32, swap_share=0, quick=True),
    Case("LSTM 128→256→256, 64 steps, as cells", "lstm-cells", 32, swap_share=CELLS_SHARE),
    Case("GRU 128→256→256, 64 steps", "gru", 32, swap_share=0),
    Case("GRU 128→256→256, 64 steps, as cells", "gru-cells", 32, swap_share=CELLS_SHARE),
    replace(_small("product rating, 193,610 rows of 64", "rating", 64, quick=True), swap_share=0),
    *(_decoder(batch, quick=batch == 8) for batch in (8, 16, 32)),
    *(_transformer(batch, quick=batch == 8) for batch in (8, 32, 64, 128)),
]

# By NNTrainer's authors, in MiB, whole process, on a Raspberry Pi 4: to compare orders of size.
PUBLISHED = {
    "VGG16-cifar": 168.0,
    "ResNet18-cifar": 419.0,
    "ResNet18-cifar, LF(1)": 87.8,  # 2022 §5.2, which names 80.5 as ideal
    "Linear 150528→300": 427.0,
    "LSTM 150528→10": 92.0,
    "Conv2D 3×224×224, stride 2": 75.0,
    "FC3 784→784→784→100": 40.0,
    f"FC3 784→{WIDE}→{WIDE}→100": 146.1,  # 2024 §5.1
    f"FC3 784→{WIDE}→{WIDE}→100, middle frozen": 125.2,  # 2024 §5.1
}
PUBLISHED_SWAP = {"proactive": 77.0}  # VGG16
# 2024 §5.3, by batch; with proactive swap.
PUBLISHED_TRANSFORMER = {64: 225.0, 128: 420.0}

SWEEP_MODEL = "vgg16-cifar"
SWEEP_BATCHES = [8, 16, 32, 64, 128, 256, 512]
SWEEP_BATCHES_QUICK = [8, 16]
SWEEP_LIMIT = 512 * 2**20  # bytes that a small device lets a process have

SWAP_CASE = Case("VGG16-cifar", "vgg16-cifar", 64)
SWAP_POOL_BYTES = 46 * 2**20


@dataclass(frozen=True)
class SwapCase:
    """A way to swap; `options` as memory_bench takes them."""

    mode: str
    options: tuple[str, ...]
    quick: bool = False


SWAPS = [
    SwapCase("off", ("--swap", "off"), quick=True),
    SwapCase("on_demand", ("--swap", "on_demand"), quick=True),
    SwapCase("reduced", ("--swap", "reduced")),
    SwapCase("proactive", ("--swap", "proactive", "--lookahead", "1"), quick=True),
    SwapCase(
        "proactive, 46 MiB, measured",
        ("--swap", "proactive", "--swap-budget", str(SWAP_POOL_BYTES), "--measured"),
    ),
]


def swaps(quick: bool) -> list[SwapCase]:
    return [swap for swap in SWAPS if swap.quick or not quick]
