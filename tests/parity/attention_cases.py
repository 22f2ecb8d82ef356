"""What PyTorch computes for attention, and for the layers that belong to it."""
import torch
import torch.nn.functional as F


def attention(x, w, heads, causal, lengths):
    query, key, value = (x * 3)[:3] if len(x) == 1 else (x + x[1:])[:3]
    mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).triu(1) if causal else None
    padding = None
    if lengths:
        padding = torch.arange(key.shape[1])[None] >= torch.tensor(lengths)[:, None]
    y, _ = F.multi_head_attention_forward(
        query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), query.shape[2], heads,
        w["in_proj_weight"], w.get("in_proj_bias"), None, None, False, 0.0, w["out_proj_weight"],
        w.get("out_proj_bias"), key_padding_mask=padding, need_weights=False, attn_mask=mask)
    return y.transpose(0, 1)


def multi_head_attention_cases(layer, random):
    cases = [  # heads, width, query's length, lengths of the other inputs, lengths of keys
        (2, 8, 5, [], None), (4, 64, 33, [], None), (1, 7, 6, [], [6, 2, 1]), (3, 15, 1, [], None),
        (8, 64, 64, [], [64, 17]), (2, 10, 5, [9], None), (5, 20, 7, [3], [3, 1]), (2, 6, 1, [4], None),
        (3, 33, 6, [11, 11], None), (3, 9, 4, [13, 13], [13, 5, 9]), (1, 1, 1, [], None), (2, 12, 1, [1], None),
    ]
    for heads, width, queries, others, lengths in cases:
        for causal in (False, True):
            for bias in (True, False):
                for batch in [len(lengths)] if lengths else [1, 3]:
                    weights = {"in_proj_weight": random(3 * width, width) * width ** -0.5,
                               "out_proj_weight": random(width, width) * width ** -0.5}
                    if bias:
                        weights.update(in_proj_bias=random(3 * width), out_proj_bias=random(width))
                    weights = {k: v.to(torch.float32).to(torch.float64) for k, v in weights.items()}
                    inputs = [random(batch, length, width) for length in [queries] + others]
                    properties = {"heads": heads, "causal": causal, "bias": bias, "head_by_head": batch != 1}
                    layer("multi_head_attention", properties, inputs,
                          lambda x, w, _: attention(x, w, heads, causal, lengths), weights, lengths=lengths)


def conv1d_cases(layer, random):
    cases = [  # in, out, kernel, stride, padding, dilation, groups, length, batch, bias
        (5, 7, 3, 1, 1, 1, 1, 9, 2, True), (80, 32, 5, 1, 2, 1, 1, 21, 3, True), (2, 32, 31, 1, 15, 1, 1, 40, 2, False),
        (6, 9, 1, 1, 0, 1, 1, 8, 2, True), (4, 8, 4, 3, 2, 1, 1, 17, 2, True), (8, 6, 3, 2, 4, 3, 2, 20, 2, True),
        (16, 16, 5, 1, 2, 1, 16, 12, 2, True), (12, 12, 3, 1, [4, 0], 2, 1, 11, 2, True), (3, 4, 2, 1, [0, 3], 1, 1, 6, 1, False),
        (1, 1, 1, 1, 0, 1, 1, 1, 1, True),
    ]
    for cin, cout, kernel, stride, padding, dilation, groups, length, batch, bias in cases:
        properties = {"out_channels": cout, "kernel": kernel, "stride": stride, "padding": padding,
                      "dilation": dilation, "groups": groups, "bias": bias}
        bound = (cin // groups * kernel) ** -0.5
        weights = {"weight": random(cout, cin // groups, kernel, low=-bound, high=bound)}
        if bias:
            weights["bias"] = random(cout, low=-bound, high=bound)
        both = padding if isinstance(padding, list) else [padding, padding]
        layer("conv1d", properties, [random(batch, length, cin)],
              lambda x, w, _: F.conv1d(F.pad(x[0].transpose(1, 2), both), w["weight"], w.get("bias"), stride, 0,
                                       dilation, groups).transpose(1, 2), weights)


def positional_encoding_cases(layer, random):
    def encoded(x, scale):
        length, width = x.shape[1:]
        angles = torch.arange(length, dtype=torch.float64)[:, None]
        angles = angles * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
        table = torch.zeros(length, width, dtype=torch.float64)
        table[:, 0::2] = angles.sin()
        table[:, 1::2] = angles.cos()[:, :width // 2]
        return x * scale + table

    for dims in [(2, 5, 8), (1, 1, 1), (3, 64, 33), (2, 300, 512)]:
        for scale in (1.0, dims[2] ** 0.5):
            layer("positional_encoding", {"scale": scale}, [random(*dims)],
                  lambda x, w, _: encoded(x[0], scale))


def location_attention_cases(layer, random):
    """The attention of Tacotron 2's decoder."""
    def step(x, w, kernel, lengths):
        query, memory, compared, before, total = x
        places = F.conv1d(torch.stack((before, total), 1), w["conv_weight"], padding=kernel // 2)
        places = F.linear(places.transpose(1, 2), w["location_weight"])
        energies = torch.tanh(F.linear(query, w["query_weight"])[:, None] + places + compared) @ w["energy_weight"]
        if lengths:
            energies = energies.masked_fill(
                torch.arange(energies.shape[1])[None] >= torch.tensor(lengths)[:, None], -float("inf"))
        weights = F.softmax(energies, 1)
        return [(weights[:, None] @ memory)[:, 0], weights]

    cases = [  # batch, length, widths of query, memory, compared; filters, kernel, lengths
        (2, 7, 5, 6, 4, 3, 5, None), (3, 41, 33, 20, 17, 32, 31, [41, 1, 20]), (1, 1, 2, 3, 1, 1, 1, None),
        (4, 12, 64, 48, 32, 8, 15, [12, 3, 7, 9]), (1, 9, 10, 7, 5, 32, 31, [4]),
    ]
    for batch, length, q, e, a, filters, kernel, lengths in cases:
        weights = {"query_weight": random(a, q) * 0.5, "conv_weight": random(filters, 2, kernel) * 0.5,
                   "location_weight": random(a, filters) * 0.5, "energy_weight": random(a)}
        weights = {k: v.to(torch.float32).to(torch.float64) for k, v in weights.items()}
        inputs = [random(batch, q), random(batch, length, e), random(batch, length, a),
                  random(batch, length, low=0, high=1), random(batch, length, low=0, high=3)]
        layer("location_attention", {"filters": filters, "kernel": kernel}, inputs,
              lambda x, w, _: step(x, w, kernel, lengths), weights, lengths=lengths)


def padded_loss_cases(layer, random):
    """Rows of zeros among the targets are what PyTorch's ignore_index leaves out."""
    for dims, lengths in [((3, 7, 5), [7, 1, 4]), ((2, 1, 33), [1, 0]), ((1, 4, 2), [3]), ((8, 64, 30), range(8))]:
        labels = torch.randint(dims[2], dims[:2])
        padding = torch.arange(dims[1])[None] >= torch.tensor(lengths)[:, None]
        target = F.one_hot(labels, dims[2]).to(torch.float64) * ~padding[:, :, None]
        ignored = labels.masked_fill(padding, -100)
        for reduction, divisor in (("counted", (~padding).sum()), ("mean", padding.numel())):
            layer("softmax_cross_entropy", {"reduction": reduction}, [random(*dims) * 3, target],
                  lambda x, w, _: F.cross_entropy(x[0].flatten(0, 1), ignored.flatten(), reduction="sum") / divisor,
                  loss=True)


def attention_cases(layer, random):
    for cases in (multi_head_attention_cases, conv1d_cases, positional_encoding_cases,
                  location_attention_cases, padded_loss_cases):
        cases(layer, random)
