"""LeNet-5, AlexNet and VGG16, the last two cut to images of 32x32."""

from .builder import Builder


def lenet5():
    """LeCun et al., 1998, with every map of the second stage connected to all of the third."""
    b = Builder("lenet5", (1, 28, 28))
    for i, (channels, padding) in enumerate([(6, 2), (16, 0)], start=1):
        b.conv(f"conv{i}", channels, 5, padding=padding, bias=True)
        b.activation(f"conv{i}.tanh", "tanh")
        b.pool(f"pool{i}", "average_pool", 2)
    b.conv("conv3", 120, 5, padding=0, bias=True)
    b.activation("conv3.tanh", "tanh")
    b.flatten()
    b.fully_connected("fc1", 84)
    b.activation("fc1.tanh", "tanh")
    b.fully_connected("classifier", 10)
    return b


def alexnet():
    """Krizhevsky et al., 2012: five convolutions, two wide layers with dropout."""
    b = Builder("alexnet-cifar", (3, 32, 32))
    plan = [(64, 2, True), (192, 1, True), (384, 1, False), (256, 1, False), (256, 1, True)]
    for i, (channels, stride, pooled) in enumerate(plan, start=1):
        b.conv(f"conv{i}", channels, 3, stride, bias=True)
        b.activation(f"conv{i}.relu", "relu")
        if pooled:
            b.pool(f"pool{i}", "max_pool", 2)
    b.flatten()
    for i in (1, 2):
        b.dropout(f"dropout{i}", 0.5)
        b.fully_connected(f"fc{i}", 4096)
        b.activation(f"fc{i}.relu", "relu")
    b.fully_connected("classifier", 10)
    return b


def vgg16(name, batch_norms=False):
    """Simonyan and Zisserman, 2014, ending in 256 units with batch norm: 56.6 MiB of weights."""
    b = Builder(name, (3, 32, 32))
    for stage, (channels, count) in enumerate(
        [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], start=1
    ):
        for i in range(1, count + 1):
            b.conv(f"stage{stage}.conv{i}", channels, 3, bias=not batch_norms)
            if batch_norms:
                b.batch_norm(f"stage{stage}.bn{i}")
            b.activation(f"stage{stage}.relu{i}", "relu")
        b.pool(f"stage{stage}.pool", "max_pool", 2)
    b.flatten()
    b.fully_connected("fc", 256, bias=False)
    b.batch_norm("fc.bn")
    b.activation("fc.relu", "relu")
    b.fully_connected("classifier", 10)
    return b


def models():
    yield lenet5()
    yield alexnet()
    yield vgg16("vgg16-cifar")
    yield vgg16("vgg16-bn-cifar", batch_norms=True)
