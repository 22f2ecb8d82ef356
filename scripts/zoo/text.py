"""Networks that say at each place of a text which byte comes next."""

from .builder import Builder

SYMBOLS = 257  # bytes and padding
LENGTH = 96


def dense(b, name, units):
    places, features = b.shape
    b.weights += units * (features + 1)
    b.multiplications += places * units * features
    b.layer(name, "fully_connected", (places, units), {"units": units, "bias": True})


def norm(b, name):
    b.weights += 2 * b.shape[-1]
    b.layer(name, "layer_norm", b.shape)


def symbols(name, width):
    b = Builder(name, (LENGTH,), "symbols")
    b.input["type"] = "int32"
    b.weights += SYMBOLS * width
    b.layer("embedding", "embedding", (LENGTH, width), {"rows": SYMBOLS, "width": width})
    return b


def lstm():
    b = symbols("text-lstm", 64)
    for name in ("lstm1", "lstm2"):
        places, features = b.shape
        b.weights += 4 * 256 * (features + 256 + 2)
        b.multiplications += places * 4 * 256 * (features + 256)
        b.layer(name, "lstm", (places, 256), {"units": 256})
    dense(b, "next", SYMBOLS)
    return b


def transformer():
    """Vaswani et al., 2017, the decoder alone; norms stand before attention and the wide layers."""
    width, wide, heads, blocks = 128, 512, 4, 4
    b = symbols("text-transformer", width)
    b.layer("positions", "positional_encoding", b.shape)
    for i in range(1, blocks + 1):
        block, before = f"block{i}", b.at
        norm(b, f"{block}.norm1")
        b.weights += 4 * width * (width + 1)
        b.multiplications += 4 * LENGTH * width * width + 2 * LENGTH * LENGTH * width
        b.layer(f"{block}.attention", "multi_head_attention", b.shape, {"heads": heads, "causal": True})
        before = b.add(f"{block}.add1", before)
        norm(b, f"{block}.norm2")
        dense(b, f"{block}.wide", wide)
        b.activation(f"{block}.gelu", "gelu")
        dense(b, f"{block}.narrow", width)
        b.add(f"{block}.add2", before)
    norm(b, "norm")
    dense(b, "next", SYMBOLS)
    return b


def models():
    yield lstm()
    yield transformer()
