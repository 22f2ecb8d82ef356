"""Builds a model description layer by layer, keeping shapes, weights and multiplications in view."""

import json
import math


class Builder:
    """Each method adds a layer that reads `at`, the last one added, and returns its name.

    The text is what the engine's own writer gives (docs/model-format.md): one line a layer,
    properties in the order of their names.
    """

    def __init__(self, name, dims, input_name="image"):
        self.name = name
        self.input = {"name": input_name, "dims": list(dims)}
        self.more_inputs = []
        self.layers = []
        self.shapes = {input_name: tuple(dims)}
        self.at = input_name
        self.weights = 0  # trainable
        self.multiplications = 0  # of one sample's forward pass

    @property
    def shape(self):
        return self.shapes[self.at]

    def take(self, name, dims):
        """A further input of the model, which the next layer does not read unless it says so."""
        self.more_inputs.append({"name": name, "dims": list(dims)})
        self.shapes[name] = tuple(dims)
        return self.more_inputs[-1]

    def layer(self, name, kind, shape, properties=None, inputs=None):
        entry = {"name": name, "type": kind, "inputs": inputs or [self.at]}
        if properties:
            entry["properties"] = dict(sorted(properties.items()))
        assert name not in self.shapes, name
        self.layers.append(entry)
        self.shapes[name] = tuple(shape)
        self.at = name
        return name

    def conv(self, name, channels, kernel, stride=1, padding=None, groups=1, bias=False):
        inputs, height, width = self.shape
        padding = kernel // 2 if padding is None else padding
        size = lambda n: (n + 2 * padding - kernel) // stride + 1
        shape = (channels, size(height), size(width))
        properties = {"out_channels": channels, "kernel": kernel, "bias": bias}
        properties |= {"stride": stride} if stride != 1 else {}
        properties |= {"padding": padding} if padding != 0 else {}
        properties |= {"groups": groups} if groups != 1 else {}
        weights = channels * (inputs // groups) * kernel * kernel
        self.weights += weights + (channels if bias else 0)
        self.multiplications += weights * shape[1] * shape[2]
        return self.layer(name, "conv2d", shape, properties)

    def fully_connected(self, name, units, bias=True):
        (features,) = self.shape
        self.weights += units * features + (units if bias else 0)
        self.multiplications += units * features
        return self.layer(name, "fully_connected", (units,), {"units": units, "bias": bias})

    def batch_norm(self, name):
        self.weights += 2 * self.shape[0]
        return self.layer(name, "batch_norm", self.shape)

    def activation(self, name, kind):
        return self.layer(name, kind, self.shape)

    def conv_norm(self, block, channels, kernel, stride=1, groups=1, activation=None):
        """Layers BLOCK.conv, BLOCK.bn and BLOCK.ACTIVATION."""
        self.conv(block + ".conv", channels, kernel, stride, groups=groups)
        self.batch_norm(block + ".bn")
        if activation:
            self.activation(f"{block}.{activation}", activation)
        return self.at

    def pool(self, name, kind, kernel, stride=None, padding=0):
        channels, height, width = self.shape
        stride = stride or kernel
        size = lambda n: (n + 2 * padding - kernel) // stride + 1
        properties = {"kernel": kernel, "stride": stride}
        properties |= {"padding": padding} if padding else {}
        return self.layer(name, kind, (channels, size(height), size(width)), properties)

    def global_average_pool(self, name="pool"):
        return self.layer(name, "global_average_pool", (self.shape[0],))

    def flatten(self, name="flatten"):
        return self.layer(name, "flatten", (math.prod(self.shape),))

    def dropout(self, name, rate):
        return self.layer(name, "dropout", self.shape, {"rate": rate})

    def add(self, name, other):
        assert self.shape == self.shapes[other], (name, self.shape, self.shapes[other])
        return self.layer(name, "add", self.shape, inputs=[self.at, other])

    def text(self):
        """The JSON text, ending in the last layer as the only output."""
        lines = lambda items: "[\n    " + ",\n    ".join(json.dumps(item) for item in items) + "\n  ]"
        return (
            '{\n  "format": "moil-model",\n  "version": 1,\n'
            f'  "name": {json.dumps(self.name)},\n'
            f'  "inputs": {lines([self.input, *self.more_inputs])},\n'
            f'  "layers": {lines(self.layers)},\n'
            f'  "outputs": {json.dumps([self.at])}\n}}\n'
        )
