"""EfficientNet-Lite0 as one writes it for PyTorch if speed counts.

The published modules pad before every convolution and keep batch norms apart. Here padding is the
convolution's own, activations are in place, and for inference everything is frozen, folded and
handed to oneDNN. Results agree with the published network's to 1e-5.

Milliseconds of one core an image (medians of 5, batches of 8, a busy machine), frozen forward:

    as published                                  41.8      channels last  29.9
    + padding in the convolution, norms folded    26.3      channels last  21.1
    + the uneven padding as a larger kernel       24.1      channels last  16.7
    torch.jit.freeze, uneven padding kept         27.3      channels last  20.5
    torch.fx's optimize_for_inference             22.5
    torch.jit.optimize_for_inference              13.0      (29.7 with the uneven padding kept)

and the last by images a batch: 11.7 (1), 11.4 (2), 10.0 (4), 12.7 (8), 13.4 (16). Two workers of
one thread each take as long as one of two threads, and need not wait for each other. Keeping freed
memory (glibc's MALLOC_MMAP_MAX_=0 and MALLOC_TRIM_THRESHOLD_) helps batches of 32 (11.9), not those
of 4. bfloat16 takes 8.0 (channels last, eager), but its features differ by up to 0.09.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build" / "data" / "efficientnet-lite0"
FEATURES = 1280
INFERENCE_BATCH = 4  # the fastest, see above

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import efficientnet_lite0  # noqa: E402


class Convolution(nn.Module):
    """A convolution whose padding may be one more behind the image than before it.

    Zeros before the kernel make up for that: they cost less than a padded copy of the image.
    """

    def __init__(self, published):
        super().__init__()
        before, after = _padding(published)
        self.weight = nn.Parameter(published.weight.detach().clone())
        self.stride, self.groups = published.stride, published.groups
        self.padding, self.more = after, after - before

    def forward(self, x):
        weight = F.pad(self.weight, (self.more, 0, self.more, 0)) if self.more else self.weight
        return F.conv2d(x, weight, None, self.stride, self.padding, 1, self.groups)


class Block(nn.Module):
    """An inverted residual block."""

    def __init__(self, published):
        super().__init__()
        parts = []
        if hasattr(published, "_expand_conv"):
            parts += [Convolution(published._expand_conv), published._bn0, nn.ReLU6(inplace=True)]
        parts += [Convolution(published._depthwise_conv), published._bn1, nn.ReLU6(inplace=True)]
        parts += [Convolution(published._project_conv), published._bn2]
        self.layers = nn.Sequential(*parts)
        options = published._block_args
        self.skips = options.stride in (1, [1]) and options.input_filters == options.output_filters

    def forward(self, x):
        return self.layers(x) + x if self.skips else self.layers(x)


def published(packages=PACKAGES):
    """The network as its authors wrote it."""
    return efficientnet_lite0.load(packages)


def load(packages=PACKAGES):
    """(backbone, classifier): the backbone is a sequence of stem, 16 blocks and head."""
    whole = published(packages)
    stem = nn.Sequential(Convolution(whole._conv_stem), whole._bn0, nn.ReLU6(inplace=True))
    head = nn.Sequential(
        Convolution(whole._conv_head),
        whole._bn1,
        nn.ReLU6(inplace=True),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )
    blocks = [Block(block) for block in whole._blocks]
    return nn.Sequential(stem, *blocks, head).eval(), whole._fc


def for_inference(backbone, example):
    """The backbone as the fastest form found; it takes batches of the example's shape and others."""
    with torch.no_grad():
        traced = torch.jit.trace(backbone.eval(), example)
        fast = torch.jit.optimize_for_inference(traced)
        for _ in range(2):  # the first runs still choose kernels
            fast(example)
    return fast


def grown(classifier, classes):
    """A classifier of more classes: the old rows are kept, the new ones drawn as for a new layer."""
    larger = nn.Linear(classifier.in_features, classes)
    with torch.no_grad():
        larger.weight[: classifier.out_features] = classifier.weight
        larger.bias[: classifier.out_features] = classifier.bias
    return larger


def _padding(published):
    """(before, after), the same across and down."""
    if not isinstance(published.static_padding, nn.ZeroPad2d):
        return 0, 0
    left, right, top, bottom = published.static_padding.padding
    if (left, right) != (top, bottom) or right - left not in (0, 1):
        raise ValueError(f"unexpected padding {left, right, top, bottom}")
    return left, right
