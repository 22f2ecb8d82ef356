"""What is personalized with what, how it is trained, and the ways of choosing what learns.

Settings are one set for all ways of a case; they were chosen with --tune, which sees training images
alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lib.cifar import Size
from lib.settings import Layers, Training

SIDE = 128  # of the photos that EfficientNet-Lite0 sees


@dataclass(frozen=True)
class Method:
    """A way of choosing; `options` of "elastic" beside ρ are for the studies."""

    name: str
    rho: float | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        words = [self.name] + ([f"ρ={self.rho:g}"] if self.rho else []) + [f"{key} {value}" for key, value in self.options.items()]
        return ", ".join(words)

    @property
    def elastic(self) -> dict[str, Any] | None:
        return None if self.rho is None else {"rho": self.rho, **self.options}


FULL, LAST_LAYER, BN_BIAS = Method("full"), Method("last_layer"), Method("bn_bias")
HALF = Method("elastic", 0.5)
COMPARED = [FULL, LAST_LAYER, BN_BIAS, HALF]  # their accuracies
# As they take turns: those that are to take a part of full training's time lie next to it.
METHODS = [LAST_LAYER, Method("elastic", 0.35), Method("elastic", 0.7), FULL, HALF, BN_BIAS]
SEEDS = [1, 2, 3]


@dataclass(frozen=True)
class Case:
    name: str
    model: str  # with pretraining: of config/models
    dataset: str
    size: Size  # images; of the global classes only if they are pretrained on here
    training: Training
    trainable_layers: Layers
    alpha: float = 0.0
    pretraining: Training | None = None  # None: comes with ImageNet's weights
    rounds: int = 9  # that elastic_bench measures, apart in time

    @property
    def judged_by(self) -> str:
        return "grocery61-val" if self.dataset == "grocery61" else "CIFAR-10's test images"

    @property
    def tuned_on(self) -> str:
        """As --tune does (data.py)."""
        if self.pretraining:
            return "training images that no run trains on"
        return "training photos that look alike" if self.dataset == "grocery61" else "a quarter of the training images"

    @property
    def title(self) -> str:
        return f"{self.model} on {self.dataset}"


# All but the stem and the first three blocks: their feature maps are cached, so that no epoch decodes
# photos, which every way would have to pay for alike.
LITE0_LAYERS = 41
_LITE0 = Training(epochs=12, batch=8, learning_rate=0.01)
_CIFAR = Training(epochs=8, learning_rate=0.01)

GROCERY = Case("lite0-grocery", "efficientnet-lite0", "grocery61", Size(None, None, None), _LITE0, LITE0_LAYERS)
RESNET = Case(
    "resnet18-cifar",
    "resnet18-cifar",
    "cifar10-3",
    Size(1000, 150, None),  # 3,000 held out: of 600 a point would be six
    replace(_CIFAR, batch=16, epochs=16),  # full training gains nothing from more
    "all",
    alpha=0.05,
    pretraining=Training(epochs=12, batch=64, learning_rate=0.1, weight_decay=5e-4),
)
CASES = [
    GROCERY,
    Case("lite0-cifar", "efficientnet-lite0", "cifar10", Size(None, 200, 100), _LITE0, LITE0_LAYERS),
    RESNET,
    # With batch norms: without them a network so deep hardly learns in so few epochs.
    replace(RESNET, name="vgg16-cifar", model="vgg16-bn-cifar", training=replace(_CIFAR, batch=8)),
]

# What --tune tries, every way with each: batch and learning rate.
TRIED = [(32, 0.01), (32, 0.03), (16, 0.01), (16, 0.02), (16, 0.03), (8, 0.003), (8, 0.01)]


def cases(names: list[str] | None, quick: bool) -> list[Case]:
    """Those that are named; else all, and of a quick run one of each kind."""
    wanted = names or [case.name for case in ([GROCERY, RESNET] if quick else CASES)]
    return [_shorter(case) if quick else case for case in CASES if case.name in wanted]


def _shorter(case: Case) -> Case:
    shorter = replace(case, training=replace(case.training, epochs=6), rounds=2)
    if case.pretraining is None:
        return replace(shorter, size=Size(None, 16, 10))
    return replace(shorter, size=Size(150, 40, 30), pretraining=replace(case.pretraining, epochs=5, batch=32))


def usual_seeds(quick: bool) -> int:
    return 1 if quick else len(SEEDS)


def reduced(chosen: list[Case], seeds: int) -> list[str]:
    """What a quick run leaves out, one line each."""
    left_out = [case.name for case in CASES if case.name not in {c.name for c in chosen}]
    lines = [f"{seeds} seed{'s' if seeds > 1 else ''} (usually {len(SEEDS)})"] + ([f"without {', '.join(left_out)}"] if left_out else [])
    for case in chosen:
        (whole,) = [c for c in CASES if c.name == case.name]
        usual = _extent(whole)
        lines.append(f"{case.name}: " + ", ".join(f"{value} {what} (usually {usual[what]})" for what, value in _extent(case).items()))
    return lines


def _extent(case: Case) -> dict[str, str]:
    def each(count: int | None) -> str:
        return "all" if count is None else str(count)

    size, known = case.size, {}
    if case.pretraining:
        known = {"of each global class": each(size.train_per_global_class), "epochs of pretraining": str(case.pretraining.epochs)}
    local = {"images of each local class": each(size.train_per_local_class), "held out": each(size.held_out_per_class)}
    return {**local, **known, "epochs": str(case.training.epochs)}
