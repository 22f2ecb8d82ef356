"""MobileNetV2 (Sandler et al., 2018): inverted residuals with linear bottlenecks."""

from .builder import Builder


def inverted_residual(b, block, expand, channels, stride):
    start, inputs = b.at, b.shape[0]
    wide = inputs * expand
    if expand != 1:
        b.conv_norm(block + ".expand", wide, 1, activation="relu6")
    b.conv_norm(block + ".depthwise", wide, 3, stride, groups=wide, activation="relu6")
    b.conv_norm(block + ".project", channels, 1)
    if stride == 1 and inputs == channels:
        b.add(block + ".add", start)


def mobilenet(name, dims, classes, stem, stem_stride, stages, last, dropout=0.0):
    """stages: (expand, channels, blocks, stride of the first block)."""
    b = Builder(name, dims)
    b.conv_norm("stem", stem, 3, stem_stride, activation="relu6")
    number = 0
    for expand, channels, count, stride in stages:
        for i in range(count):
            number += 1
            inverted_residual(b, f"block{number}", expand, channels, stride if i == 0 else 1)
    b.conv_norm("last", last, 1, activation="relu6")
    b.global_average_pool()
    if dropout:
        b.dropout("dropout", dropout)
    b.fully_connected("classifier", classes)
    return b


def models():
    yield mobilenet(
        "digits-mobilenet", (1, 8, 8), 7, 16, 1,
        [(1, 16, 1, 1), (4, 24, 2, 2), (4, 32, 2, 1), (4, 48, 2, 2)], 128,
    )
    yield mobilenet(
        "cifar-mobilenet", (3, 32, 32), 7, 16, 1,
        [(1, 16, 1, 1), (6, 24, 2, 2), (6, 40, 3, 2), (6, 64, 3, 2), (6, 96, 2, 1)], 320, 0.1,
    )
    yield mobilenet(
        "mobilenet_v2", (3, 224, 224), 1000, 32, 2,
        [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
         (6, 320, 1, 1)], 1280, 0.2,
    )
