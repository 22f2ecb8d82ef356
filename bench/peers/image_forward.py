"""PyTorch's times for EfficientNet-Lite0 at 224x224: the frozen forward pass and training steps.

  image_forward.py [--batch 32] [--threads 2] [--runs 7] [--forms] [--brief]

Medians in milliseconds, one JSON object:

  forward    of one image: batches of --batch; batches of 4; and 4 a worker, a worker a thread,
             which is how image_night.py runs it. --forms adds the slower forms of the network.
  training   of one image: a step of plain SGD at --batch and at 16 over all layers, with batch norms
             as in training ("normal") and with their statistics frozen ("frozen"; scale and shift
             train); and a step over the last four blocks, head and classifier on features cached
             before them, statistics frozen. --brief: at --batch, "normal", and the last four blocks.

Every training step is timed with the image in both memory orders, and the quicker one counts
("channels_last" says which). There is no dropout nor drop connect. Folding frozen batch norms into
the weights within the step saved 3 % and is left out; keeping freed memory in the process saved
nothing (medians of 4, batches of 16: 73.1 ms of one core an image, 70.7 folded, 79.8 with memory kept).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import network  # noqa: E402
from photos import CROP  # noqa: E402

LAST_BLOCKS = 4


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="PyTorch's times for EfficientNet-Lite0.")
    parser.add_argument("--model", type=Path, default=network.PACKAGES, metavar="FOLDER", help="of the two packages")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--forms", action="store_true", help="the slower forms of the forward pass too")
    parser.add_argument("--brief", action="store_true", help="fewer training steps")
    return parser.parse_args()


def say(line: str) -> None:
    print(f"· {line}", file=sys.stderr, flush=True)


def median_ms(work, runs: int, images: int) -> float:
    """Milliseconds an image: the median of several runs, after one that warms up."""
    work()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - began) / images)
    return statistics.median(times)


def photos(count: int, channels_last: bool = True) -> torch.Tensor:
    order = torch.channels_last if channels_last else torch.contiguous_format
    return torch.randn(count, 3, CROP, CROP).contiguous(memory_format=order)


def forward_times(options: argparse.Namespace) -> dict[str, float]:
    backbone, _ = network.load(options.model)
    few = network.INFERENCE_BATCH
    images = photos(max(options.batch, few * options.threads))
    fast = network.for_inference(backbone, images[:few])

    def whole(size):
        for part in images.split(size):
            fast(part)

    def one(part):
        with torch.inference_mode():
            fast(part)

    with torch.inference_mode():
        times = {
            f"batch_{options.batch}": median_ms(lambda: whole(options.batch), options.runs, len(images)),
            f"batch_{few}": median_ms(lambda: whole(few), options.runs, len(images)),
        }
    with ThreadPoolExecutor(options.threads, initializer=lambda: torch.set_num_threads(1)) as pool:
        parts = images.split(few)
        work = lambda: list(pool.map(one, parts))  # noqa: E731
        times[f"workers_of_1_thread_batch_{few}"] = median_ms(work, options.runs, len(images))
    return times


def slower_forms(options: argparse.Namespace) -> dict[str, float]:
    """The same forward pass, less prepared."""
    backbone, _ = network.load(options.model)
    images = photos(options.batch)
    plain = network.published(options.model)
    with torch.no_grad():
        traced = torch.jit.trace(backbone.to(memory_format=torch.channels_last), images)
        frozen = torch.jit.freeze(traced)
        forms = {
            "published": lambda: plain.extract_features(images.contiguous()),
            "padding_in_convolutions": lambda: backbone(images),
            "frozen": lambda: frozen(images),
        }
        return {name: median_ms(work, options.runs, len(images)) for name, work in forms.items()}


def set_norms(module: nn.Module, frozen: bool) -> None:
    """In training mode, batch norms by their own or by the batch's statistics."""
    module.train()
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.train(not frozen)


def step_ms(model: nn.Module, inputs: torch.Tensor, frozen: bool, runs: int) -> float:
    set_norms(model, frozen)
    labels = torch.randint(0, 1000, (len(inputs),))
    sgd = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step():
        sgd.zero_grad(set_to_none=True)
        F.cross_entropy(model(inputs), labels).backward()
        sgd.step()

    return median_ms(step, runs, len(inputs))


def quicker(build, frozen: bool, runs: int) -> dict:
    """`build`: (model, inputs) for channels last or not."""
    times = {}
    for channels_last in (False, True):
        model, inputs = build(channels_last)
        times[channels_last] = step_ms(model, inputs, frozen, runs)
    best = min(times, key=times.__getitem__)
    return {"ms_per_image": times[best], "channels_last": best, "other_ms_per_image": times[not best]}


def training_times(options: argparse.Namespace) -> dict[str, dict]:
    def whole(batch):
        def build(channels_last):
            backbone, classifier = network.load(options.model)
            return ordered(nn.Sequential(backbone, classifier), channels_last), photos(batch, channels_last)

        return build

    def last_blocks(channels_last):
        backbone, classifier = network.load(options.model)
        with torch.no_grad():
            features = backbone[: -1 - LAST_BLOCKS](photos(options.batch, channels_last))
        return ordered(nn.Sequential(backbone[-1 - LAST_BLOCKS :], classifier), channels_last), features

    times = {}
    for batch in (options.batch,) if options.brief else (options.batch, 16):
        for norms in ("normal",) if options.brief else ("normal", "frozen"):
            say(f"all layers, batch {batch}, {norms} batch norms")
            times[f"all_batch_{batch}_{norms}"] = quicker(whole(batch), norms == "frozen", options.runs)
    say(f"the last {LAST_BLOCKS} blocks on cached features")
    times[f"last_{LAST_BLOCKS}_blocks_batch_{options.batch}_frozen"] = quicker(last_blocks, True, options.runs)
    return times


def ordered(model: nn.Module, channels_last: bool) -> nn.Module:
    return model.to(memory_format=torch.channels_last if channels_last else torch.contiguous_format)


def main() -> int:
    options = arguments()
    torch.set_num_threads(options.threads)
    result = {"version": torch.__version__, "threads": options.threads, "batch": options.batch, "runs": options.runs}
    say("forward")
    result["forward_ms_per_image"] = forward_times(options)
    if options.forms:
        result["forward_forms_ms_per_image"] = slower_forms(options)
    result["training"] = training_times(options)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
