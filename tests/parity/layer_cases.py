"""Graphs of operators that an import makes layers of, in all their forms; operator_cases.py writes them."""
import math

import numpy
from onnx import TensorProto as T

IMAGE, LINE = (2, 4, 6, 5), (2, 4, 9)
CASES = {}
RANDOM = numpy.random.default_rng(11)


def case(name, builder, **arguments):
    if name in CASES:
        raise SystemExit(f"{name} is there twice")
    CASES[name] = ({"shape": IMAGE, **arguments}, builder)


def weights(c, *dims, low=-1.0, high=1.0):
    return c.constant(RANDOM.uniform(low, high, dims), numpy.float32)


def number(c, value):
    return c.constant(value, numpy.float32)


def activations():
    for op, forms, opset in [("Elu", [{}, {"alpha": 0.4}], 13), ("Selu", [{}, {"alpha": 1.2, "gamma": 0.7}], 13),
                             ("Celu", [{}, {"alpha": 2.0}], 13), ("Softplus", [{}], 13), ("Mish", [{}], 18),
                             ("Gelu", [{}, {"approximate": "tanh"}], 20)]:
        for i, form in enumerate(forms):
            for shape in (IMAGE, LINE, (2, 7)):
                case(f"layers-{op.lower()}-{i}-{len(shape)}", lambda c, o=op, f=form: c.add(o, **f), shape=shape,
                     opset=opset)

    def mish(c, turned):
        gate = c.add("Tanh", [c.add("Softplus")])
        c.add("Mul", [gate, c.x] if turned else [c.x, gate])

    def gelu(c, power, halves_first):
        x = c.x
        cube = c.add("Pow", [x, number(c, 3)]) if power else c.add("Mul", [x, c.add("Mul", [x, x])])
        inner = c.add("Add", [x, c.add("Mul", [number(c, 0.044715), cube])])
        share = c.add("Add", [number(c, 1), c.add("Tanh", [c.add("Mul", [inner, number(c, math.sqrt(2 / math.pi))])])])
        if halves_first:
            c.add("Mul", [x, c.add("Mul", [number(c, 0.5), share])])
        else:
            c.add("Mul", [number(c, 0.5), c.add("Mul", [x, share])])

    for flag in (False, True):
        case(f"layers-mish-parts-{flag}", lambda c, f=flag: mish(c, f))
        for first in (False, True):
            case(f"layers-gelu-tanh-parts-{flag}-{first}", lambda c, f=flag, h=first: gelu(c, f, h))
    for op in ("Max", "Min"):
        for i, value in enumerate((0.0, 0.3, -0.7)):
            case(f"layers-{op.lower()}-{i}", lambda c, o=op, v=value: c.add(o, [number(c, v), c.x]))
            case(f"layers-{op.lower()}-turned-{i}", lambda c, o=op, v=value: c.add(o, [c.x, number(c, v)]), opset=8)
        for shape in (IMAGE, LINE, (2, 7)):
            of_shape = f"layers-{op.lower()}-of-{len(shape)}"
            case(f"{of_shape}-1", lambda c, o=op: c.add(o, [c.add("Tanh")]), shape=shape, opset=8)
            case(f"{of_shape}-2", lambda c, o=op: c.add(o, [c.add("Tanh"), c.x]), shape=shape)
            case(f"{of_shape}-4", lambda c, o=op: c.add(o, [c.add("Tanh"), number(c, 0.1), c.x, c.add("Neg", [c.x])]), shape=shape)
            case(f"{of_shape}-each", lambda c, o=op, n=len(shape): c.add(o, [c.x, c.add("ReduceMean", [c.x], axes=list(range(1, n)))]),
                 shape=shape)
    for end in (1, 2):
        def limited(c, n=end):
            own = c.add("Mul", [c.add("ReduceMean", [c.x], keepdims=0), number(c, 0.5)])
            c.add("Clip", [c.x, own] if n == 1 else [c.x, number(c, -0.7), own])
        case(f"layers-clip-computed-{end}", limited, shape=(1, 4, 6, 5), alone=True)

    def crossed(c):
        own = c.add("Sub", [c.add("ReduceMax", [c.x], keepdims=0), number(c, 20)])
        c.add("Mul", [c.x, c.add("Clip", [c.x, number(c, 0.4), own])])
    case("layers-clip-computed-crossed", crossed, shape=(1, 4, 6, 5), alone=True)
    case("layers-clip-6", lambda c: c.add("Clip", min=-0.25, max=0.5), opset=7)
    for exponent in (2, 3):
        case(f"layers-pow-{exponent}", lambda c, e=exponent: c.add("Pow", [c.x, number(c, e)]))


def sums():
    for op in ("Sum", "Mean"):
        for count in (1, 2, 3, 4):
            for shape in (IMAGE, LINE, (2, 6)):
                def build(c, o=op, n=count):
                    c.add(o, [c.x, *[c.add("Sigmoid", [c.x]) for _ in range(n - 1)]])
                case(f"layers-{op.lower()}-{count}-{len(shape)}", build, shape=shape, opset=7 + count)


def reductions():
    forms = [(IMAGE, [2, 3]), (IMAGE, [1]), (IMAGE, [-1]), (IMAGE, [1, 2]), (IMAGE, [1, 2, 3]), (LINE, [2]), (LINE, [1]),
             (LINE, [1, 2]), ((2, 8), [1])]
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
        for i, (shape, axes) in enumerate(forms):
            for keeps in (0, 1):
                for opset in (7, 18):
                    as_input = opset == 18

                    def build(c, o=op, a=axes, k=keeps, e=as_input):
                        if e:
                            c.add(o, [c.x, c.ints(*a)], keepdims=k)
                        else:
                            c.add(o, axes=a, keepdims=k)
                    case(f"layers-{op.lower()}-{i}-{keeps}-{opset}", build, shape=shape, opset=opset)
        # One sample, of which the file takes the batch's axis away as well.
        for i, (shape, axes) in enumerate([((1, 4, 6, 5), [0]), ((1, 4, 6, 5), [0, 1]), ((1, 4, 6, 5), [0, 2, 3]), ((1, 4, 9), [-3, 2]),
                                           ((1, 4, 6, 5), [0, 1, 2, 3]), ((1, 4, 9), [0, 1, 2]), ((1, 8), [0, 1]), ((1, 4, 6, 5), None),
                                           ((1, 4, 9), None), ((1, 8), None)]):
            named = {"axes": axes} if axes else {}
            if axes and len(axes) < len(shape):
                case(f"layers-{op.lower()}-one-{i}", lambda c, o=op, n=named: c.add(o, **n), shape=shape, opset=11, alone=True)
                continue
            for keeps in (0, 1):
                case(f"layers-{op.lower()}-one-{i}-{keeps}", lambda c, o=op, n=named, k=keeps: c.add("Sub", [c.x, c.add(o, keepdims=k, **n)]),
                     shape=shape, opset=11, alone=True)
    for i, shape in enumerate([IMAGE, LINE, (1, 2, 3, 300), (1, 2, 700), (1, 3, 260, 2)]):
        case(f"layers-globalmaxpool-{i}", lambda c: c.add("GlobalMaxPool"), shape=shape)
        case(f"layers-globalaveragepool-{i}", lambda c: c.add("GlobalAveragePool"), shape=shape, opset=7)
        axes = list(range(2, len(shape)))
        case(f"layers-largest-{i}", lambda c, a=axes: c.add("ReduceMax", axes=a, keepdims=0), shape=shape)


def norms():
    for size in (1, 3, 5, 7):
        for i, form in enumerate([{}, {"alpha": 0.3, "beta": 0.5, "bias": 2.0}, {"alpha": 1.5}]):
            case(f"layers-lrn-{size}-{i}", lambda c, n=size, f=form: c.add("LRN", size=n, **f), shape=(2, 9, 3, 4), opset=7)
    for shape in (IMAGE, LINE):
        for i, epsilon in enumerate((1e-5, 1e-2)):
            case(f"layers-instancenorm-{len(shape)}-{i}", lambda c, e=epsilon: c.add(
                "InstanceNormalization", [c.x, weights(c, 4), weights(c, 4)], epsilon=e), shape=shape)
        case(f"layers-instancenorm-plain-{len(shape)}", lambda c: c.add(
            "InstanceNormalization", [c.x, c.constant([1] * 4, numpy.float32), c.constant([0] * 4, numpy.float32)]),
            shape=shape)
        for groups in (1, 2, 4):
            case(f"layers-groupnorm-21-{len(shape)}-{groups}", lambda c, g=groups: c.add(
                "GroupNormalization", [c.x, weights(c, 4), weights(c, 4)], num_groups=g), shape=shape, opset=21)

            def parts(c, g=groups):  # as PyTorch writes it
                dims = list(c.shape)
                c.add("Reshape", [c.x, c.ints(0, g, -1)])
                c.add("InstanceNormalization", [c.last, c.constant([1] * g, numpy.float32),
                                                c.constant([0] * g, numpy.float32)])
                c.add("Reshape", [c.last, c.ints(0, *dims[1:])])
                ones = [1] * (len(dims) - 2)
                c.add("Mul", [c.last, weights(c, 4, *ones)])
                c.add("Add", [c.last, weights(c, 4, *ones)])
            case(f"layers-groupnorm-parts-{len(shape)}-{groups}", parts, shape=shape)


def resizes():
    roi = lambda c: c.constant([], numpy.float32)  # noqa: E731
    coordinates = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    sizes = [(2.0, 2.0), (3.0, 1.0), (0.5, 1.0), (1.5, 2.0), (1.0, 0.4)]
    for opset in (11, 13, 18):
        for i, (h, w) in enumerate(sizes if opset == 13 else sizes[:2]):
            for where in coordinates:
                for rounding in (roundings if h > 0.9 and w > 0.9 else ["floor"]):
                    case(f"layers-resize-{opset}-{i}-{where}-{rounding}", lambda c, h=h, w=w, m=where, r=rounding: c.add(
                        "Resize", [c.x, roi(c), c.constant([1, 1, h, w], numpy.float32)], mode="nearest",
                        coordinate_transformation_mode=m, nearest_mode=r), opset=opset)
                case(f"layers-resize-linear-{opset}-{i}-{where}", lambda c, h=h, w=w, m=where: c.add(
                    "Resize", [c.x, roi(c), c.constant([1, 1, h, w], numpy.float32)], mode="linear",
                    coordinate_transformation_mode=m), opset=opset)
    for i, size in enumerate([(12, 10), (7, 8), (3, 5)]):
        for mode in ("linear", "nearest"):
            def build(c, s=size, m=mode):
                batch = c.add("Slice", [c.add("Shape", [c.x]), c.ints(0), c.ints(1)])
                c.add("Resize", [c.x, "", "", c.add("Concat", [batch, c.ints(4, *s)], axis=0)], mode=m)
            case(f"layers-resize-to-{mode}-{i}", build)
            case(f"layers-resize-axes-{mode}-{i}", lambda c, s=size, m=mode: c.add(
                "Resize", [c.x, "", "", c.ints(*s)], mode=m, axes=[2, 3]), opset=18)
    case("layers-resize-line", lambda c: c.add("Resize", [c.x, roi(c), c.constant([1, 1, 2], numpy.float32)],
                                               mode="nearest", nearest_mode="floor",
                                               coordinate_transformation_mode="asymmetric"), shape=LINE)
    case("layers-resize-10", lambda c: c.add("Resize", [c.x, c.constant([1, 1, 2, 3], numpy.float32)]), opset=10)
    for mode in ("nearest", "linear"):
        case(f"layers-upsample-9-{mode}", lambda c, m=mode: c.add(
            "Upsample", [c.x, c.constant([1, 1, 2, 3], numpy.float32)], mode=m), opset=9)
        case(f"layers-upsample-7-{mode}", lambda c, m=mode: c.add("Upsample", mode=m, scales=[1.0, 1.0, 3.0, 2.0]),
             opset=7)


def lines():
    forms = [{}, {"strides": [2]}, {"dilations": [2]}, {"pads": [1, 2]}, {"auto_pad": "SAME_UPPER", "strides": [2]},
             {"group": 2}, {"group": 4, "pads": [1, 1]}]
    for i, form in enumerate(forms):
        groups = form.get("group", 1)
        case(f"layers-conv1d-{i}", lambda c, f=form, g=groups: c.add(
            "Conv", [c.x, weights(c, 8, 4 // g, 3), weights(c, 8)], kernel_shape=[3], **f), shape=LINE, opset=7 + i)
    pools = [{"kernel_shape": [3]}, {"kernel_shape": [2], "strides": [2]}, {"kernel_shape": [3], "pads": [1, 1]},
             {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}]
    for i, form in enumerate(pools):
        for op in ("MaxPool", "AveragePool"):
            case(f"layers-{op.lower()}1d-{i}", lambda c, o=op, f=form: c.add(o, **f), shape=LINE, opset=11)

    def norm(c):
        c.add("BatchNormalization", [c.last, weights(c, 4), weights(c, 4), weights(c, 4), weights(c, 4, low=0.5)])

    def conv(c, out=4, size=3, **attributes):
        inputs = [c.last, weights(c, out, 4, size)]
        return c.add("Conv", inputs, **attributes)

    def network(c):
        """A residual block, a gate and the largest of each channel."""
        x = conv(c)
        norm(c)
        c.add("Relu")
        c.add("Pad", [c.last, c.ints(0, 0, 2, 0, 0, 0)])
        conv(c)
        c.add("Add", [c.last, weights(c, 1, 4, 1)])
        y = c.add("Add", [c.last, x])
        gate = c.add("Sigmoid", [conv_of(c, c.add("GlobalAveragePool"))])
        y = c.add("Mul", [y, gate])
        z = c.add("PRelu", [y, weights(c, 4, 1)])
        c.add("Concat", [y, z, c.add("Slice", [y, c.ints(0), c.ints(2), c.ints(1)])], axis=1)
        c.add("Concat", [c.last, c.last], axis=2)
        c.add("GlobalMaxPool")
        c.add("Flatten")

    def conv_of(c, x):
        return c.add("Conv", [x, weights(c, 4, 4, 1)])

    case("layers-line-norm", norm, shape=LINE, opset=7)
    case("layers-line-network", network, shape=LINE)

    def channels_behind(c):  # [N, L, C] as other tools have it
        c.add("Transpose", perm=[0, 2, 1])
        conv(c)
        c.add("Relu")
        conv(c, size=2)
        c.add("Transpose", perm=[0, 2, 1])
        c.add("MatMul", [c.last, weights(c, 4, 3)])

    def by_an_axis(c, axis):
        kernel = [1, 3] if axis == 2 else [3, 1]
        c.add("Unsqueeze", [c.last, c.ints(axis)])
        c.add("Conv", [c.last, weights(c, 6, 4, *kernel)], kernel_shape=kernel)
        c.add("Squeeze", [c.last, c.ints(axis)])
        c.add("Add", [c.last, weights(c, 1, 6, 1)])
        c.add("Relu")
        c.add("Add", [c.last, weights(c, 6, 7)])
        c.add("Transpose", perm=[0, 2, 1])

    case("layers-line-channels-behind", channels_behind, shape=(2, 9, 4))
    for axis in (2, 3):
        case(f"layers-line-axis-{axis}", lambda c, a=axis: by_an_axis(c, a), shape=LINE)

        def turned(c, a=axis):
            c.add("Transpose", perm=[0, 2, 1])
            by_an_axis(c, a)
        case(f"layers-line-turned-axis-{axis}", turned, shape=(2, 9, 4))
        case(f"layers-line-back-{axis}", lambda c, a=axis: (conv(c), c.add("Unsqueeze", [c.last, c.ints(a)]),
                                                            c.add("Relu")), shape=LINE)
    for opset in (9, 13):
        for axis in (1, 2, -1):
            def softmax(c, a=axis, o=opset):
                conv(c)
                c.add("Softmax", axis=a if o >= 13 or a >= 0 else 2)
            case(f"layers-line-softmax-{opset}-{axis}", softmax, shape=LINE, opset=opset)


def inputs():
    def preprocessed(c, last):
        c.add("Cast", to=T.FLOAT)
        if last:
            c.add("Sub", [c.last, c.constant([100, 90, 80], numpy.float32)])
            c.add("Mul", [c.last, c.constant([[[[0.01, 0.02, 0.03]]]], numpy.float32)])
            c.add("Transpose", perm=[0, 3, 1, 2])
        else:
            c.add("Sub", [c.last, c.constant([[[100]], [[90]], [[80]]], numpy.float32)])
            c.add("Div", [c.last, number(c, 50)])
        c.add("Conv", [c.last, weights(c, 5, 3, 3, 3)])

    for dtype in (T.UINT8, T.INT8, T.INT32, T.INT64, T.UINT16):
        name = T.DataType.Name(dtype).lower()
        case(f"layers-input-{name}", lambda c: preprocessed(c, False), shape=(2, 3, 6, 5), dtype=dtype)
        case(f"layers-input-last-{name}", lambda c: preprocessed(c, True), shape=(2, 6, 5, 3), dtype=dtype,
             channels_last=True)

    def turned_first(c):
        c.add("Transpose", perm=[0, 3, 1, 2])
        c.add("Cast", to=T.FLOAT)
        c.add("Conv", [c.last, weights(c, 5, 3, 3, 3)])
    case("layers-input-turned-first", turned_first, shape=(2, 6, 5, 3), dtype=T.UINT8, channels_last=True)


def old_opsets():
    for opset in (7, 8, 9, 10, 12):
        case(f"layers-batchnorm-{opset}", lambda c: c.add(
            "BatchNormalization", [c.x, weights(c, 4), weights(c, 4), weights(c, 4), weights(c, 4, low=0.5)]), opset=opset)
        for axis in (1, 2, 3):
            for op in ("Softmax", "LogSoftmax"):
                case(f"layers-{op.lower()}-{opset}-{axis}", lambda c, a=axis, o=op: c.add(o, axis=a), opset=opset)
        if opset < 11:
            case(f"layers-pad-{opset}", lambda c: c.add("Pad", pads=[0, 0, 1, 2, 0, 0, 0, 1], value=0.5), opset=opset)
        if opset < 10:
            case(f"layers-slice-{opset}", lambda c: c.add("Slice", axes=[1, 3], starts=[1, 0], ends=[4, -1]), opset=opset)
            case(f"layers-dropout-{opset}", lambda c: c.add("Dropout", ratio=0.3), opset=opset)
        case(f"layers-squeeze-{opset}", lambda c: (c.add("Unsqueeze", axes=[1, 4]), c.add("Squeeze", axes=[1]),
                                                   c.add("Squeeze", axes=[3])), opset=opset)
        case(f"layers-split-{opset}", lambda c: (c.add("Split", outputs=["a", "b"], axis=1, split=[1, 3]),
                                                 c.add("Concat", ["b", "a"], axis=1)), opset=opset)
        case(f"layers-gemm-{opset}", lambda c: c.add("Gemm", [c.x, weights(c, 5, 8), weights(c, 5)], transB=1),
             shape=(2, 8), opset=opset)
    for axis in (1, 2, 3):
        case(f"layers-softmax-13-{axis}", lambda c, a=axis: c.add("Softmax", axis=a))


def quantised():
    def through(c, x, scale, zero, dtype):
        q = c.add("QuantizeLinear", [x, number(c, scale), c.constant(zero, dtype)])
        return c.add("DequantizeLinear", [q, number(c, scale), c.constant(zero, dtype)])

    def kernel(c, dtype, by_channel):
        values = c.constant(RANDOM.integers(0, 255, (6, 4, 3, 3)) - (128 if dtype == numpy.int8 else 0), dtype)
        count = 6 if by_channel else 1
        scales = RANDOM.uniform(0.002, 0.01, count)
        zeros = RANDOM.integers(-3, 3, count) if dtype == numpy.int8 else RANDOM.integers(120, 130, count)
        if not by_channel:
            scales, zeros = scales[0], zeros[0]
        return c.add("DequantizeLinear", [values, number(c, scales), c.constant(zeros, dtype)],
                     **({"axis": 0} if by_channel else {}))

    def network(c, dtype, by_channel, activation):
        zero = {numpy.uint8: 128, numpy.int8: 0}[activation]
        x = through(c, c.x, 0.04, zero, activation)
        bias = c.add("DequantizeLinear", [c.constant(RANDOM.integers(-900, 900, 6), numpy.int32), number(c, 0.001)])
        y = c.add("Conv", [x, kernel(c, dtype, by_channel), bias])
        # ONNX Runtime's quantiser leaves the ReLU to the limit of the rounding.
        through(c, y, 0.05, {numpy.uint8: 0, numpy.int8: -128}[activation], activation)
        c.add("MaxPool", kernel_shape=[2, 2])

    for dtype in (numpy.int8, numpy.uint8):
        for by_channel in (False, True):
            for activation in (numpy.uint8, numpy.int8):
                name = f"{dtype.__name__}-{by_channel}-{activation.__name__}"
                case(f"rounded-{name}", lambda c, d=dtype, b=by_channel, a=activation: network(c, d, b, a))
    case("layers-quantised-weight", lambda c: c.add("Conv", [c.x, kernel(c, numpy.int8, True)]))
    case("layers-quantised-input", lambda c: (c.add("DequantizeLinear", [c.x, number(c, 0.05), c.constant(7, numpy.uint8)]),
                                              c.add("Relu")), dtype=T.UINT8)


def functions():
    """Norms, softmax and lookups in a dozen nodes each, as TensorFlow's converter writes them."""
    def back(c, name, shape):
        return c.add("Expand", [c.add("Reshape", [name, c.ints(-1, *shape)]), c.ints(1, *shape)])

    def norm(c, axis, gamma):
        size, shape = c.shape[axis], [1 if i == axis else d for i, d in enumerate(c.shape)][1:]
        share = number(c, 1 / size)
        total = c.add("ReduceSum", [c.x, c.ints(axis)], keepdims=0)
        squares = c.add("ReduceSum", [c.add("Mul", [c.x, c.x]), c.ints(axis)], keepdims=0)
        mean = c.add("Mul", [total, share])
        spread = c.add("Sub", [c.add("Mul", [squares, share]), c.add("Mul", [mean, mean])])
        raised = c.add("Add", [back(c, c.add("Max", [number(c, 0), spread]), shape), number(c, 1e-6)])
        scale = c.add("Mul", [c.add("Reciprocal", [c.add("Sqrt", [raised])]), weights(c, *gamma)])
        c.add("Mul", [c.add("Sub", [c.x, back(c, mean, shape)]), scale])
        c.add("Add", [c.last, weights(c, *gamma)])

    def softmax(c, axis):
        shape = [1 if i == axis else d for i, d in enumerate(c.shape)][1:]
        most = c.add("Max", [number(c, -math.inf), c.add("ReduceMax", [c.x], axes=[axis], keepdims=0)])
        power = c.add("Exp", [c.add("Sub", [c.x, back(c, most, shape)])])
        c.add("Div", [power, back(c, c.add("ReduceSum", [power, c.ints(axis)], keepdims=0), shape)])

    def lookup(c, turned):
        ids = c.add("Expand", [c.add("Reshape", [c.x, c.ints(-1, 5, 1)]), c.ints(1, 5, 1)])
        row = c.constant([[range(120)]], numpy.int32)
        c.add("Cast", [c.add("Equal", [row, ids] if turned else [ids, row])], to=T.FLOAT)
        c.add("MatMul", [c.last, weights(c, 120, 3)])

    for axis, gamma in ((1, [1, 4, 1]), (2, [1, 1, 9]), (2, [9])):
        case(f"layers-norm-by-squares-{axis}-{len(gamma)}", lambda c, a=axis, g=gamma: norm(c, a, g), shape=LINE)
    case("layers-norm-by-squares-of-vectors", lambda c: norm(c, 1, [1, 7]), shape=(2, 7))
    for axis in (1, 2):
        case(f"layers-softmax-in-parts-{axis}", lambda c, a=axis: softmax(c, a), shape=LINE)
    case("layers-softmax-in-parts-of-vectors", lambda c: softmax(c, 1), shape=(2, 7))
    for turned in (False, True):
        case(f"layers-lookup-{turned}", lambda c, t=turned: lookup(c, t), shape=(2, 5), dtype=T.INT32)


def attention():
    """Of opset 23: self attention in rows, and heads of their own."""
    def rows(c, mask, **attributes):
        q, k, v = (c.add("MatMul", [c.x, weights(c, 8, width)]) for width in (8, 8, 4))
        inputs = [q, k, v] if mask is None else [q, k, v, c.constant(*mask)]
        c.add("Attention", inputs, q_num_heads=2, kv_num_heads=2, **attributes)

    def heads(c):
        q, k, v = (c.add("MatMul", [c.x, weights(c, 4, width)]) for width in (3, 3, 5))
        c.add("Attention", [q, k, v], scale=0.3)

    open_ones = [[(q * 2 + k) % 3 != 1 or q == k for k in range(5)] for q in range(5)]
    added = [[0.0 if open_one else -2.5 for open_one in row] for row in open_ones]
    shape = (2, 5, 8)
    case("layers-attention", lambda c: rows(c, None), shape=shape, opset=23)
    case("layers-attention-causal", lambda c: rows(c, None, is_causal=1, scale=0.7), shape=shape, opset=23)
    case("layers-attention-masked", lambda c: rows(c, (open_ones, bool)), shape=shape, opset=23)
    case("layers-attention-added", lambda c: rows(c, (added, numpy.float32)), shape=shape, opset=23)
    case("layers-attention-heads", heads, shape=(2, 3, 5, 4), opset=23)


for family in (activations, sums, reductions, norms, resizes, lines, inputs, old_opsets, quantised, functions, attention):
    family()
