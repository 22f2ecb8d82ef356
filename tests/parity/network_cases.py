"""Whole networks, trained for some steps: generate_cases.py calls network_cases().

A network is a list of layers as our model descriptions have them; run() computes it with PyTorch,
layer by layer. Weights that PyTorch's optimizers would move by rounding alone are left out: a bias
before a batch norm has no gradient, and Adam would divide what is left of it by its own size.
"""
import torch
import torch.nn.functional as F

STEPS, BATCH, CLASSES = 5, 6, 4


class Net:
    """Writes layers; a layer reads the one before it unless told otherwise. rows: of the table that the inputs
    are numbers of; None: they are floats."""

    def __init__(self, dims, rows=None):
        self.dims, self.rows, self.layers, self.last = dims, rows, [], "input"

    def add(self, type_, inputs=None, name=None, **properties):
        name = name or f"{type_}{len(self.layers)}"
        self.layers.append({"name": name, "type": type_, "inputs": inputs or [self.last],
                            "properties": properties})
        self.last = name
        return name

    def conv(self, channels, kernel, stride=1, groups=1, bias=False):
        return self.add("conv2d", out_channels=channels, kernel=kernel, stride=stride,
                        padding=kernel // 2, groups=groups, bias=bias)

    def conv_norm(self, *args, **more):
        self.conv(*args, **more)
        return self.add("batch_norm")


def residual_net():
    net = Net([3, 8, 8])
    net.conv_norm(8, 3)
    net.add("relu")
    skip = net.add("max_pool", kernel=2)
    net.conv_norm(8, 3)
    net.add("relu")
    net.conv_norm(8, 3)
    net.add("add", [net.last, skip])
    net.add("relu")
    net.add("global_average_pool")
    net.add("fully_connected", units=CLASSES)
    return net


def mobile_net():
    """Depthwise, squeeze and excite, branches: what MobileNets and Inceptions are made of."""
    net = Net([3, 9, 9])
    net.conv_norm(12, 3, 2)
    net.add("hard_swish")
    net.conv_norm(12, 3, 1, 12)
    features = net.add("relu6")
    net.add("global_average_pool")
    net.add("fully_connected", units=12)
    net.add("sigmoid")
    gated = net.add("multiply", [features, net.last])
    left = net.conv(5, 1, bias=True)
    net.last = gated
    net.conv_norm(7, 3)
    right = net.add("tanh")
    net.add("concat", [left, right])
    net.add("average_pool", kernel=2)
    net.add("flatten")
    net.add("fully_connected", units=9)
    net.add("gelu")
    net.add("fully_connected", units=CLASSES)
    return net


def ends_in_sigmoid(net):
    """Before the last rearrangement, as in networks whose classifier is a convolution."""
    net.add("sigmoid")
    net.add("flatten")
    return net


def words_net():
    """A table of which a batch reads few rows, some of them often."""
    net = Net([7], rows=500)
    net.add("embedding", rows=500, width=6)
    net.add("flatten")
    net.add("fully_connected", units=9)
    net.add("tanh")
    net.add("fully_connected", units=CLASSES)
    return net


def inputs_of(net, random, samples):
    if net.rows is None:
        return random(samples, *net.dims)
    few = torch.randint(net.rows, (20,))
    return few[torch.randint(20, (samples, *net.dims))].to(torch.float64)


def new_weights(net, random):
    """Parameters and statistics by "layer.weight", from the shapes that run() meets."""
    weights, shapes = {}, {"input": [2] + net.dims}

    def uniform(name, *dims, fan_in):
        weights[name] = random(*dims, low=-fan_in ** -0.5, high=fan_in ** -0.5)

    for layer in net.layers:
        name, p, shape = layer["name"], layer["properties"], shapes[layer["inputs"][0]]
        if layer["type"] == "conv2d":
            ins, kernel = shape[1] // p["groups"], p["kernel"]
            fan_in = ins * kernel * kernel
            uniform(f"{name}.weight", p["out_channels"], ins, kernel, kernel, fan_in=fan_in)
            if p["bias"]:
                uniform(f"{name}.bias", p["out_channels"], fan_in=fan_in)
        elif layer["type"] == "fully_connected":
            uniform(f"{name}.weight", p["units"], shape[1], fan_in=shape[1])
            uniform(f"{name}.bias", p["units"], fan_in=shape[1])
        elif layer["type"] == "embedding":
            weights[f"{name}.weight"] = random(p["rows"], p["width"])
        elif layer["type"] == "batch_norm":
            weights[f"{name}.gamma"] = random(shape[1], low=0.5, high=1.5)
            weights[f"{name}.beta"] = random(shape[1])
            weights[f"{name}.running_mean"] = random(shape[1])
            weights[f"{name}.running_var"] = random(shape[1], low=0.5, high=2)
        values = {n: torch.zeros(s, dtype=torch.float64) for n, s in shapes.items()}
        shapes[name] = list(step(layer, values, dict(weights), frozen=True).shape)
    return weights


def step(layer, values, weights, frozen):
    x = [values[name] for name in layer["inputs"]]
    name, p = layer["name"], layer["properties"]
    plain = {"relu": F.relu, "relu6": F.relu6, "hard_swish": F.hardswish, "tanh": torch.tanh,
             "sigmoid": torch.sigmoid, "gelu": F.gelu}
    if layer["type"] in plain:
        return plain[layer["type"]](x[0])
    if layer["type"] == "conv2d":
        return F.conv2d(x[0], weights[f"{name}.weight"], weights.get(f"{name}.bias"), p["stride"],
                        p["padding"], 1, p["groups"])
    if layer["type"] == "fully_connected":
        return F.linear(x[0], weights[f"{name}.weight"], weights[f"{name}.bias"])
    if layer["type"] == "embedding":
        return F.embedding(x[0].long(), weights[f"{name}.weight"], sparse=True)
    if layer["type"] == "batch_norm":
        return F.batch_norm(x[0], weights[f"{name}.running_mean"], weights[f"{name}.running_var"],
                            weights[f"{name}.gamma"], weights[f"{name}.beta"], not frozen)
    return {"add": lambda: x[0] + x[1],
            "multiply": lambda: x[0] * x[1][:, :, None, None],
            "concat": lambda: torch.cat(x, 1),
            "max_pool": lambda: F.max_pool2d(x[0], p["kernel"]),
            "average_pool": lambda: F.avg_pool2d(x[0], p["kernel"]),
            "global_average_pool": lambda: x[0].mean((2, 3)),
            "flatten": lambda: torch.flatten(x[0], 1)}[layer["type"]]()


def run(net, weights, x, trained):
    values = {"input": x}
    for layer in net.layers:
        values[layer["name"]] = step(layer, values, weights, layer["name"] not in trained)
    return values[net.last]


def loss_of(kind, logits, target):
    if kind == "softmax_cross_entropy":
        return F.cross_entropy(logits, target)
    if not kind:  # what fits a model that ends in a sigmoid
        return F.binary_cross_entropy(logits, target, reduction="sum") / len(target)
    return F.binary_cross_entropy_with_logits(logits, target)


def make_optimizers(config, decaying, others, tables):
    """What reads few rows of a table is trained by PyTorch's sparse optimizers."""
    optimizers = [make_optimizer(config, decaying, others)]
    if tables and config["kind"] == "sgd":
        optimizers.append(torch.optim.SGD(tables, config["learning_rate"]))
    elif tables:
        optimizers.append(torch.optim.SparseAdam(tables, config["learning_rate"], eps=config["epsilon"]))
    return optimizers


def make_optimizer(config, decaying, others):
    groups = [{"params": decaying, "weight_decay": config["weight_decay"]},
              {"params": others, "weight_decay": 0.0}]
    if config["kind"] == "sgd":
        return torch.optim.SGD(groups, config["learning_rate"], config["momentum"])
    return torch.optim.AdamW(groups, config["learning_rate"], eps=config["epsilon"])


def network(out, random, name, net, config, clip_norm, loss="softmax_cross_entropy", last=None):
    """Trains the layers that own weights, or only the last so many of them."""
    weights = new_weights(net, random)
    owners = list(dict.fromkeys(w.split(".")[0] for w in weights))
    trained = owners if last is None else owners[-last:]
    params = {}
    for key in weights:
        if key.split(".")[0] in trained and "running" not in key:
            params[key] = weights[key] = weights[key].clone().requires_grad_(True)
    start = {key: out.tensor(value) for key, value in weights.items()}
    tables = [w for key, w in params.items() if key.startswith("embedding")]
    decaying = [w for key, w in params.items() if key.endswith(".weight") and not key.startswith("embedding")]
    others = [w for key, w in params.items() if not key.endswith(".weight")]
    optimizers = make_optimizers(config, decaying, others, tables)
    x = inputs_of(net, random, STEPS * BATCH)
    labels = torch.randint(CLASSES, (STEPS * BATCH,))
    target = F.one_hot(labels, CLASSES).to(torch.float64)
    losses = []
    for i in range(STEPS):
        batch = slice(i * BATCH, (i + 1) * BATCH)
        value = loss_of(loss, run(net, weights, x[batch], trained), target[batch])
        for optimizer in optimizers:
            optimizer.zero_grad()
        value.backward()
        if clip_norm:
            torch.nn.utils.clip_grad_norm_(list(params.values()), clip_norm)
        for optimizer in optimizers:
            if isinstance(optimizer, torch.optim.SparseAdam):  # its epsilon is of a root without correction
                optimizer.param_groups[0]["eps"] = config["epsilon"] * (1 - 0.999 ** (i + 1)) ** 0.5
            optimizer.step()
        losses.append(value.item())
    out.add("network", name, dims=net.dims, integers=net.rows is not None, layers=net.layers, output=net.last, batch=BATCH,
            config=config, clip_norm=clip_norm, loss=loss, trained=trained, losses=losses,
            inputs=out.tensor(x), targets=out.tensor(target), start=start,
            end={key: out.tensor(value) for key, value in weights.items()})


def network_cases(out, random):
    plain = {"kind": "sgd", "learning_rate": 0.5, "momentum": 0.0, "weight_decay": 0.01}
    lazy = {"kind": "adamw", "learning_rate": 0.01, "weight_decay": 0.05, "epsilon": 1e-5}
    for config in (plain, lazy):
        network(out, random, f"words {config['kind']}", words_net(), config, 0.0)
    sgd = {"kind": "sgd", "learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.01}
    adamw = {"kind": "adamw", "learning_rate": 0.002, "weight_decay": 0.05, "epsilon": 1e-5}
    for title, make in (("residual", residual_net), ("mobile", mobile_net)):
        for config in (sgd, adamw):
            for clip_norm in (0.0, 0.3):
                label = f"{title} {config['kind']} clip={clip_norm}"
                network(out, random, label, make(), config, clip_norm)
        network(out, random, f"{title} last 2", make(), sgd, 0.0, last=2)
        network(out, random, f"{title} last 4 clip", make(), adamw, 0.3, last=4)
        network(out, random, f"{title} tagging", make(), sgd, 0.0, loss="sigmoid_cross_entropy")
        network(out, random, f"{title} sigmoid", ends_in_sigmoid(make()), sgd, 0.0, loss="")
