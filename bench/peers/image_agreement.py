"""What PyTorch sees on every photo of a tar: EfficientNet-Lite0's top-1 among ImageNet's 1,000.

  image_agreement.py --data TAR [--out FILE] [--pixels FILE.npy]

FILE gets {"member name": class index}. Pixels are as Pillow makes them, or those of --pixels:
float32 [n, 3, 224, 224], normalised, in the order of the members' names; then predictions differ by
the network alone. Prints one JSON object, with the accuracy by the photos' folders, which are
WordNet ids. The network is as published: nothing folded, nothing frozen.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402
import torch  # noqa: E402

import network  # noqa: E402
from photos import CROP, crops_of, imagenet_classes, normalised, photos_of  # noqa: E402

BATCH = 8


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="PyTorch's prediction for every photo.")
    parser.add_argument("--model", type=Path, default=network.PACKAGES, metavar="FOLDER", help="of the two packages")
    parser.add_argument("--data", type=Path, required=True, metavar="TAR")
    parser.add_argument("--classes", type=Path, metavar="TSV", help="ImageNet's (default: beside the data)")
    parser.add_argument("--pixels", type=Path, metavar="NPY", help="in place of Pillow's")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth photo alone")
    parser.add_argument("--out", type=Path, metavar="FILE", help="the predictions as JSON")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.classes = options.classes or options.data.with_name("imagenet-classes.tsv")
    return options


def batches(photos, given):
    """Pixels, a few photos at a time."""
    for start in range(0, len(photos), BATCH):
        if given is None:
            yield normalised(crops_of(photos[start : start + BATCH]))
        else:
            yield torch.from_numpy(np.array(given[start : start + BATCH]))


def given_pixels(file, count):
    if file is None:
        return None
    pixels = np.load(file, mmap_mode="r")
    if pixels.shape != (count, 3, CROP, CROP) or pixels.dtype != np.float32:
        raise ValueError(f"{file}: expected float32 of {count}x3x{CROP}x{CROP}, found {pixels.dtype} of {pixels.shape}")
    return pixels


def main() -> int:
    options = arguments()
    torch.set_num_threads(options.threads)
    classes = imagenet_classes(options.classes)
    photos = photos_of(options.data)[:: options.every]
    model = network.published(options.model)
    predictions: list[int] = []
    with torch.inference_mode():
        for pixels in batches(photos, given_pixels(options.pixels, len(photos))):
            predictions += model(pixels).argmax(1).tolist()
            if len(predictions) % (25 * BATCH) == 0:
                print(f"· {len(predictions)} of {len(photos)} photos", file=sys.stderr, flush=True)
    if options.out:
        by_name = {photo.name: guess for photo, guess in zip(photos, predictions)}
        options.out.write_text(json.dumps(by_name, indent=0) + "\n", encoding="utf-8")
    known = [(photo.label, guess) for photo, guess in zip(photos, predictions) if photo.label in classes]
    right = sum(classes[guess] == label for label, guess in known)
    result = {
        "version": torch.__version__,
        "data": options.data.name,
        "pixels": "given" if options.pixels else "pillow",
        "photos": len(photos),
        "judged": len(known),
        "top1": right / len(known) if known else None,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
