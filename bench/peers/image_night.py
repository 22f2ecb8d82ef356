"""The image night in PyTorch: EfficientNet-Lite0 frozen, features cached, the classifier trained.

  image_night.py --global-pack-tar TAR --local-train TAR --cache DIR [--second-night N]
                 [--global-val TAR] [--local-val TAR] [--published]

All photos of both tars are mixed. Each goes through the frozen network once, its features to a file
in DIR; then only the classifier trains, from that file: the 1,000 rows of ImageNet are kept, a row
for each local class is new. SGD with momentum and a cosine schedule. --second-night keeps N local
photos back, as many of each class, and runs a second night with them: only theirs are new features,
and training starts from the first night's classifier.

Prints one JSON object. Seconds are by part and, in "total", of everything from loading the network
to the last step; importing PyTorch and measuring accuracy are outside of it. What was tried to make
it fast is in network.py and features.py; --published does without.
"""

from __future__ import annotations

import time

BEGAN = time.perf_counter()

import argparse  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from dataclasses import asdict, dataclass  # noqa: E402
from pathlib import Path  # noqa: E402

sys.dont_write_bytecode = True

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import network  # noqa: E402
from features import Extractor, FeatureFile, PlainExtractor, Seconds  # noqa: E402
from photos import CROP, Photo, imagenet_classes, photos_of  # noqa: E402

IMPORTED = time.perf_counter()


@dataclass
class Night:
    """What a night left, and its figures."""

    classifier: nn.Linear
    extractor: Extractor
    figures: dict


def data_folder() -> Path:
    return Path(os.environ.get("MOIL_SHARED_DATA", network.ROOT.parent / "shared" / "data"))


def arguments() -> argparse.Namespace:
    data = data_folder()
    parser = argparse.ArgumentParser(description="The image night in PyTorch.")
    parser.add_argument("--model", type=Path, default=network.PACKAGES, metavar="FOLDER", help="of the two packages")
    parser.add_argument("--global-pack-tar", type=Path, default=data / "imagenet-1k-sample.tar", metavar="TAR")
    parser.add_argument("--local-train", type=Path, default=data / "grocery61-train.tar", metavar="TAR")
    parser.add_argument("--global-val", type=Path, metavar="TAR", help="measure accuracy there, untimed")
    parser.add_argument("--local-val", type=Path, metavar="TAR", help="and there")
    parser.add_argument("--classes", type=Path, metavar="TSV", help="ImageNet's (default: beside the global tar)")
    parser.add_argument("--cache", type=Path, required=True, metavar="DIR", help="gets the file of features")
    parser.add_argument("--second-night", type=int, default=0, metavar="N", help="local photos kept back for it")
    parser.add_argument("--published", action="store_true", help="the published network, nothing made faster")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.classes = options.classes or options.global_pack_tar.with_name("imagenet-classes.tsv")
    return options


def say(line: str) -> None:
    print(f"· {line}", file=sys.stderr, flush=True)


def split_off(photos: list[Photo], count: int) -> tuple[list[Photo], list[Photo]]:
    """(tonight's, later ones): the last of each class are kept back."""
    classes = sorted({photo.label for photo in photos})
    each = count // len(classes)
    now, later = [], []
    for name in classes:
        members = [photo for photo in photos if photo.label == name]
        now += members[: len(members) - each]
        later += members[len(members) - each :]
    return now, later


class Momentum:
    """SGD with momentum for one linear layer and cross-entropy.

    The gradient is added to the velocity by the product that makes it, which autograd and
    torch.optim.SGD cannot do: 3.4 ms of one core a step in place of 4.7 (4.6 with foreach=True).
    """

    def __init__(self, layer: nn.Linear, momentum: float):
        self.weight, self.bias, self.momentum = layer.weight.data, layer.bias.data, momentum
        self.velocity = torch.zeros_like(self.weight), torch.zeros_like(self.bias)

    def step(self, x: torch.Tensor, labels: torch.Tensor, rate: float) -> float:
        """The mean loss before the step."""
        log_likely = F.log_softmax(torch.addmm(self.bias, x, self.weight.t()), 1)
        loss = F.nll_loss(log_likely, labels).item()
        gradient = log_likely.exp_()
        gradient[torch.arange(len(labels)), labels] -= 1
        gradient /= len(labels)
        self.velocity[0].addmm_(gradient.t(), x, beta=self.momentum)
        self.velocity[1].mul_(self.momentum).add_(gradient.sum(0))
        self.weight.add_(self.velocity[0], alpha=-rate)
        self.bias.add_(self.velocity[1], alpha=-rate)
        return loss


@torch.no_grad()
def train(classifier: nn.Linear, rows: torch.Tensor, labels: torch.Tensor, options: argparse.Namespace) -> float:
    """Trains on cached features, the rate falling as a cosine; the mean loss of the last epoch."""
    sgd = Momentum(classifier, 0.9)
    steps, done = options.epochs * -(-len(labels) // options.batch), 0
    order = torch.Generator().manual_seed(options.seed)
    for _ in range(options.epochs):
        total = 0.0
        for batch in torch.randperm(len(labels), generator=order).split(options.batch):
            rate = options.learning_rate * (1 + math.cos(math.pi * done / steps)) / 2
            total += len(batch) * sgd.step(rows[batch], labels[batch], rate)
            done += 1
    return total / len(labels)


def extractor_of(options: argparse.Namespace) -> tuple[Extractor, nn.Linear]:
    """What computes features, and the published classifier."""
    if options.published:
        whole = network.published(options.model).eval()
        return PlainExtractor(whole, options.threads), whole._fc
    backbone, classifier = network.load(options.model)
    example = torch.zeros(network.INFERENCE_BATCH, 3, CROP, CROP).contiguous(memory_format=torch.channels_last)
    torch.set_num_threads(1)  # as the workers
    fast = network.for_inference(backbone, example)
    torch.set_num_threads(options.threads)
    return Extractor(fast, options.threads), classifier


def night(new: list[Photo], labels: list[int], classifier: nn.Linear | None, classes: int, options) -> Night:
    """One night. `new`: photos without features yet; `labels`: of all photos, in the file's order."""
    began = time.perf_counter()
    torch.manual_seed(options.seed)
    extractor, pretrained = extractor_of(options)
    classifier = classifier or network.grown(pretrained, classes)
    seconds = extractor.seconds
    seconds.load = time.perf_counter() - began

    say(f"features of {len(new)} photos")
    file = FeatureFile(options.cache / "features.f32")
    file.append(extractor.features(new), seconds)
    say(f"training on {len(labels)} photos")
    training = time.perf_counter()
    loss = train(classifier, file.read(), torch.tensor(labels), options)
    seconds.train = time.perf_counter() - training
    seconds.total = time.perf_counter() - began
    figures = {
        "photos": len(labels),
        "new_photos": len(new),
        "seconds": asdict(seconds),
        "cache_bytes": file.size,
        "final_loss": loss,
    }
    return Night(classifier, type(extractor)(extractor.backbone, options.threads, Seconds()), figures)


def accuracy(after: Night, archive: Path, index: dict[str, int]) -> float:
    """Top-1 among all classes."""
    right, photos = 0, photos_of(archive)
    rows = torch.cat([torch.from_numpy(part) for part in after.extractor.features(photos)])
    with torch.no_grad():
        guesses = after.classifier(rows).argmax(1).tolist()
    right = sum(guess == index[photo.label] for guess, photo in zip(guesses, photos))
    return right / len(photos)


def measured(after: Night, index: dict[str, int], options) -> dict:
    """The night's figures with its accuracies, if asked for."""
    archives = {"global": options.global_val, "local": options.local_val}
    found = {name: accuracy(after, tar, index) for name, tar in archives.items() if tar}
    return {**after.figures, "accuracy": found}


def run(options: argparse.Namespace) -> dict:
    torch.set_num_threads(options.threads)
    options.cache.mkdir(parents=True, exist_ok=True)
    if any(options.cache.iterdir()):
        raise FileExistsError(f"{options.cache} is not empty: a first night has no features yet")
    shared, local = photos_of(options.global_pack_tar), photos_of(options.local_train)
    names = imagenet_classes(options.classes)
    names += sorted({photo.label for photo in local} - set(names))
    index = {name: i for i, name in enumerate(names)}
    local, later = split_off(local, options.second_night)

    mixed = shared + local
    labels = [index[photo.label] for photo in mixed]
    first = night(mixed, labels, None, len(names), options)
    result = {"classes": len(names), "first_night": measured(first, index, options)}
    if later:
        labels += [index[photo.label] for photo in later]
        second = night(later, labels, first.classifier, len(names), options)
        result["second_night"] = measured(second, index, options)
    return result


def main() -> int:
    options = arguments()
    try:
        result = run(options)
    except (FileExistsError, FileNotFoundError) as error:
        print(f"image_night: {error}", file=sys.stderr)
        return 1
    settings = ("epochs", "batch", "learning_rate", "threads", "seed")
    about = {
        "version": torch.__version__,
        **{key: getattr(options, key) for key in settings},
        "import_seconds": IMPORTED - BEGAN,
        "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps({**about, **result}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
