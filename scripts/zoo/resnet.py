"""Residual networks (He et al., 2015) of basic blocks, with projections where the shape changes."""

from .builder import Builder


def basic_block(b, block, channels, stride):
    start = b.at
    shortcut = start
    if stride != 1 or b.shape[0] != channels:
        shortcut = b.conv_norm(block + ".shortcut", channels, 1, stride)
        b.at = start
    b.conv_norm(block + ".first", channels, 3, stride, activation="relu")
    b.conv_norm(block + ".second", channels, 3)
    b.add(block + ".add", shortcut)
    b.activation(block + ".relu", "relu")


def resnet(name, dims, classes, stages, blocks, imagenet_stem=False, input_name="image"):
    b = Builder(name, dims, input_name)
    if imagenet_stem:
        b.conv_norm("stem", stages[0], 7, 2, activation="relu")
        b.pool("stem.pool", "max_pool", 3, 2, 1)
    else:
        b.conv_norm("stem", stages[0], 3, activation="relu")
    for s, channels in enumerate(stages):
        for i in range(blocks):
            basic_block(b, f"stage{s + 1}.block{i + 1}", channels, 2 if s > 0 and i == 0 else 1)
    b.global_average_pool()
    b.fully_connected("classifier", classes)
    return b


def models():
    yield resnet("cifar-resnet20", (3, 32, 32), 7, (16, 32, 64), 3)
    yield resnet("resnet18-cifar", (3, 32, 32), 10, (64, 128, 256, 512), 2)
    yield resnet("resnet18", (3, 224, 224), 1000, (64, 128, 256, 512), 2, imagenet_stem=True)
    # It has half width, on a log-mel spectrogram with its differences in time
    # (Sensors 2021, 21, 2364).
    yield resnet("resnet18-sound", (3, 64, 64), 10, (32, 64, 128, 256), 2, imagenet_stem=True, input_name="sound")
