"""What NNTrainer's papers train of sequences: Tacotron 2's decoder and the Transformer, of any size."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from lib.programs import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from zoo.builder import Builder  # noqa: E402


class Writer(Builder):
    """Writes layers of rows. `like`: a layer of the same kind, whose weights this one shares."""

    def put(self, name, kind, shape, inputs=None, weights=None, like=None, **properties):
        """weights: numbers of weights by their names."""
        made = self.layer(name, kind, shape, properties, inputs)
        if like:
            self.layers[-1]["shares"] = {weight: f"{like}.{weight}" for weight in weights}
        else:
            self.weights += sum((weights or {}).values())
        return made

    def linear(self, name, units, inputs=None, like=None):
        *rows, features = self.shapes[inputs[0]] if inputs else self.shape
        weights = {"weight": units * features, "bias": units}
        return self.put(name, "fully_connected", (*rows, units), inputs, weights, like, units=units)

    def drop(self, name, rate):
        """Nothing with a rate of 0."""
        return self.dropout(name, rate) if rate else self.at

    def join(self, name, inputs):
        """Along the last axis."""
        shapes = [self.shapes[value] for value in inputs]
        shape = (*shapes[0][:-1], sum(s[-1] for s in shapes))
        return self.put(name, "concat", shape, inputs, axis=len(shape))


@dataclass(frozen=True)
class DecoderSize:
    """Those of Shen et al. 2018, for 100 frames of a sentence of 32 characters."""

    frames: int = 100
    characters: int = 32
    mel: int = 80
    encoded: int = 512  # of a character, by the encoder
    prenet: int = 256
    units: int = 1024
    compared: int = 128
    filters: int = 32
    kernel: int = 31
    channels: int = 512  # of the postnet
    postnet_kernel: int = 5
    dropout: float = 0.5


class Decoder(Writer):
    """Teacher forced: of each step it takes the true frame before it. Its output holds, of each frame, the
    spectrogram before the postnet and behind it, and whether the sentence ends."""

    def __init__(self, name, size):
        super().__init__(name, (size.frames, size.mel), "frames_before")
        self.size = size
        self.take("encoded", (size.characters, size.encoded))
        self._prenet()
        self.put("compared", "fully_connected", (size.characters, size.compared), ["encoded"],
                 {"weight": size.compared * size.encoded}, units=size.compared, bias=False)  # fmt: skip
        # Before the first step: nothing was seen yet.
        self._zeros("no_context", 1, (size.encoded,))
        self._zeros("no_weights", 2, (size.characters,))
        mels, gates = self._steps()
        mel = self.put("mels", "stack", (size.frames, size.mel), mels)
        gate = self.put("gates", "stack", (size.frames, 1), gates)
        self.put("ends", "sigmoid", (size.frames, 1), [gate])
        self.at = mel
        self._postnet()
        whole = self.add("whole", mel)
        self.join("output", [mel, whole, "ends"])

    def _prenet(self):
        for i in (1, 2):
            self.linear(f"prenet{i}", self.size.prenet)
            self.activation(f"prenet{i}.relu", "relu")
            self.drop(f"prenet{i}.dropout", self.size.dropout)
        self.put("steps", "unstack", (self.size.prenet,))
        self.shapes |= {f"steps:{t}": self.shape for t in range(self.size.frames)}

    def _zeros(self, name, axis, shape):
        part = list(self.shapes["encoded"])
        part[axis - 1] = 1
        self.put(f"{name}.part", "slice", part, ["encoded"], axis=axis, start=0, length=1)
        self.put(f"{name}.row", "reshape", shape, dims=list(shape))
        self.put(name, "scale", shape, factor=0.0)

    def _cell(self, name, row, before, like):
        units, (features,) = self.size.units, self.shapes[row]
        weights = {"weight_ih": 4 * units * features, "weight_hh": 4 * units * units}
        weights |= {"bias_ih": 4 * units, "bias_hh": 4 * units}
        state = [before, f"{before}:1"] if before else []
        return self.put(name, "lstm_cell", (units,), [row, *state], weights, like, units=units)

    def _attention(self, name, query, before, total, like):
        s = self.size
        weights = {"query_weight": s.compared * s.units, "conv_weight": s.filters * 2 * s.kernel}
        weights |= {"location_weight": s.compared * s.filters, "energy_weight": s.compared}
        inputs = [query, "encoded", "compared", before, total]
        self.shapes[f"{name}:1"] = (s.characters,)
        return self.put(name, "location_attention", (s.encoded,), inputs, weights, like, filters=s.filters, kernel=s.kernel)

    def _steps(self):
        looks = decides = None
        context, before, total = "no_context", "no_weights", "no_weights"
        mels, gates = [], []
        for t in range(self.size.frames):
            like = (lambda name: f"0.{name}") if t else (lambda name: None)
            row = self.join(f"{t}.seen", [f"steps:{t}", context])
            looks = self._cell(f"{t}.looks", row, looks, like("looks"))
            context = self._attention(f"{t}.attention", looks, before, total, like("attention"))
            before = f"{context}:1"
            total = self.put(f"{t}.total", "add", (self.size.characters,), [total, before])
            row = self.join(f"{t}.known", [looks, context])
            decides = self._cell(f"{t}.decides", row, decides, like("decides"))
            row = self.join(f"{t}.said", [decides, context])
            mels.append(self.linear(f"{t}.mel", self.size.mel, [row], like("mel")))
            gates.append(self.linear(f"{t}.gate", 1, [row], like("gate")))
        return mels, gates

    def _postnet(self):
        s = self.size
        for i, channels in enumerate([s.channels] * 4 + [s.mel], start=1):
            weights = {"weight": channels * self.shape[-1] * s.postnet_kernel}
            self.put(f"postnet{i}.conv", "conv1d", (s.frames, channels), None, weights, out_channels=channels,
                     kernel=s.postnet_kernel, padding=s.postnet_kernel // 2, bias=False)  # fmt: skip
            self.put(f"postnet{i}.norm", "batch_norm", self.shape, None, {"gamma": channels, "beta": channels})
            if i < 5:
                self.activation(f"postnet{i}.tanh", "tanh")
            self.drop(f"postnet{i}.dropout", s.dropout)


def tacotron2_decoder(name: str = "tacotron2-decoder", size: DecoderSize = DecoderSize()) -> Builder:
    return Decoder(name, size)


@dataclass(frozen=True)
class TransformerSize:
    """The base model of Vaswani et al. 2017, of 64 bytes of text."""

    length: int = 64
    symbols: int = 256
    blocks: int = 6
    heads: int = 8
    width: int = 512
    hidden: int = 2048
    dropout: float = 0.1


class Transformer(Writer):
    """Encoder and decoder, each norm behind its sum. The text so far is the decoder's other input."""

    def __init__(self, name, size):
        super().__init__(name, (size.length,), "source")
        self.size = size
        for text in (self.input, self.take("so_far", (size.length,))):
            text["type"] = "int32"
        self._positions("encoder", "source")
        for i in range(size.blocks):
            self._attended(f"encoder{i}.self", heads=size.heads)
            self._fed_forward(f"encoder{i}")
        memory = self.at
        self._positions("decoder", "so_far")
        for i in range(size.blocks):
            self._attended(f"decoder{i}.self", heads=size.heads, causal=True)
            self._attended(f"decoder{i}.cross", memory, heads=size.heads)
            self._fed_forward(f"decoder{i}")
        self.linear("symbols", size.symbols)

    def _positions(self, side, text):
        s = self.size
        self.put(f"{side}.table", "embedding", (s.length, s.width), [text], {"weight": s.symbols * s.width},
                 rows=s.symbols, width=s.width)  # fmt: skip
        self.put(f"{side}.positions", "positional_encoding", self.shape, scale=float(s.width) ** 0.5)
        self.drop(f"{side}.dropout", s.dropout)

    def _norm(self, name, before):
        self.drop(f"{name}.dropout", self.size.dropout)
        self.add(f"{name}.sum", before)
        self.put(f"{name}.norm", "layer_norm", self.shape, None, {"gamma": self.size.width, "beta": self.size.width})

    def _attended(self, name: str, *memory: str, **properties: bool | int):
        before, e = self.at, self.size.width
        weights = {"in_proj_weight": 3 * e * e, "in_proj_bias": 3 * e, "out_proj_weight": e * e, "out_proj_bias": e}
        self.put(name, "multi_head_attention", self.shape, [before, *memory], weights, **properties)
        self._norm(name, before)

    def _fed_forward(self, name):
        before = self.at
        self.linear(f"{name}.widened", self.size.hidden)
        self.activation(f"{name}.relu", "relu")
        self.drop(f"{name}.relu.dropout", self.size.dropout)
        self.linear(f"{name}.narrowed", self.size.width)
        self._norm(f"{name}.fed", before)


def transformer(name: str = "transformer", size: TransformerSize = TransformerSize()) -> Builder:
    return Transformer(name, size)
