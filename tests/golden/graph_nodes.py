# SPDX-License-Identifier: Apache-2.0
"""A table of functions that add operators to random graphs.

Each function receives the graph and one of its values, and adds one operator or a group that belongs
together, or refuses by returning False. Discontinuous operators (FLOOR, comparisons, ARG_MAX) use only
values that are bit-identical on both sides: inputs that were merely moved.

`is_registered` restricts the table to the operators of the library under test.
"""
import dataclasses
import math

import numpy as np

from .model import NONE, RELU, RELU6, SAME, VALID, Model

# Origin of a value: FLAT is a graph input, MOVED a value that was only moved, REAL a computed one.
FLAT, MOVED, REAL = range(3)
_LARGEST = 20000

is_registered = None       # predicate on operator names; None: all may be drawn


@dataclasses.dataclass
class Value:
    shape: tuple
    type: str = "f32"      # "f32" becomes int8 in quantised graphs; others stay
    history: int = FLAT
    sums: bool = False


@dataclasses.dataclass
class Constant:
    data: np.ndarray
    type: str = "f32"
    role: str = "plain"    # plain, weight, bias, or raw: never quantised
    axis: int = 0          # axis of the scales of a weight


@dataclasses.dataclass
class Node:
    code: str
    inputs: list           # value numbers and Constants
    outputs: list
    options: dict
    quant: object = "free"  # free, same as the main input, joint with all inputs, or fixed
    gains: object = 1.0    # greatest slope, for all inputs or one each
    main: int = 0


class _Unavailable(Exception):
    pass


def has(code):
    return is_registered is None or is_registered(code)


class Graph:
    """Values and nodes in execution order."""

    def __init__(self, random, int8):
        self.random, self.int8 = random, int8
        self.values, self.nodes, self.inputs = [], [], []
        for _ in range(int(random.integers(1, 4))):
            self.inputs.append(len(self.values))
            self.values.append(Value(self._input_shape()))

    def _input_shape(self):
        if self.values and self.random.random() < 0.5:
            return self.values[0].shape
        rank = int(self.random.choice([4, 4, 4, 3, 2]))
        sizes = [self.integer(1, 2), self.integer(2, 10), self.integer(2, 10), self.integer(1, 12)]
        return tuple(sizes[:1] + sizes[1:3][:max(rank - 2, 0)] + sizes[3:])

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def pick(self, *choices):
        return choices[int(self.random.integers(len(choices)))]

    def grow(self, most):
        """Tries one function of the table on one value; leaves the graph unchanged if it is refused."""
        candidates = TABLE if self.random.random() < 0.7 else HEAVY
        draw_node = candidates[int(self.random.integers(len(candidates)))]
        # Newer values are more probable, so that graphs become deep as well as wide.
        ages = np.arange(1, len(self.values) + 1) ** 1.5
        x = int(self.random.choice(len(self.values), p=ages / ages.sum()))
        before = len(self.values), len(self.nodes)
        try:
            fine = self.values[x].type == "f32" and draw_node(self, x) is not False
            fine = fine and len(self.nodes) <= most and all(
                1 <= math.prod(v.shape) <= _LARGEST and len(v.shape) <= 6
                for v in self.values[before[0]:])
        except _Unavailable:
            fine = False
        if not fine:
            del self.values[before[0]:], self.nodes[before[1]:]

    def node(self, code, inputs, shapes, quant="free", gains=1.0, sums=False, type="f32", main=0,
             **options):
        """Adds an operator; returns the number of its first output."""
        if not has(code):
            raise _Unavailable
        sources = [self.values[i] for i in inputs if isinstance(i, int)]
        moved = quant in ("same", "joint") and not sums
        history = max(MOVED, *(s.history for s in sources)) if moved else REAL
        first = len(self.values)
        for shape in shapes:
            self.values.append(Value(tuple(int(n) for n in shape), type, history,
                                     sums or any(s.sums for s in sources)))
        self.nodes.append(Node(code, inputs, list(range(first, len(self.values))), options, quant,
                               gains, main))
        return first

    def shape(self, x):
        return self.values[x].shape

    def sharp(self, x):
        """Returns True if the value is bit-identical on both sides."""
        value = self.values[x]
        return value.history <= MOVED and not value.sums and not (
            self.int8 and value.history > FLAT)

    def plain(self, shape, low=-2.0, high=2.0):
        return Constant(np.float32(self.random.uniform(low, high, shape)))

    def raw(self, *numbers):
        return Constant(np.int32(numbers), "i32", "raw")

    def weight(self, shape, axis, fan_in):
        data = self.random.uniform(-1, 1, shape) * math.sqrt(3 / fan_in)
        return Constant(np.float32(data), role="weight", axis=axis)

    def bias(self, channels):
        return Constant(np.float32(self.random.uniform(-0.5, 0.5, channels)), role="bias")

    def act(self):
        return self.pick(NONE, NONE, RELU, RELU6)


def probe(code, version):
    """Returns a model that tests whether an operator is registered at all."""
    m = Model()
    m.op(code, [m.input("f32", (1,))], [m.output("f32", (1,))], version)
    return m.case("probe", "f32")


# --- Operators that sum -----------------------------------------------------------------------


def _weight_gain(constant):
    """Returns the factor by which independent one-step errors of the inputs add up, for the worst output
    channel."""
    rows = np.moveaxis(constant.data, constant.axis, 0).reshape(constant.data.shape[constant.axis],
                                                                -1)
    return float(np.sqrt((rows ** 2).sum(axis=1)).max())


def _window(g, x, kernel):
    """Returns (padding, stride, output height and width) of a window over value x, or None."""
    padding, stride = g.pick(SAME, VALID), (g.integer(1, 2), g.integer(1, 2))
    _, height, width, _ = g.shape(x)
    if padding == SAME:
        return padding, stride, (-(-height // stride[0]), -(-width // stride[1]))
    if kernel[0] > height or kernel[1] > width:
        return None
    return padding, stride, ((height - kernel[0]) // stride[0] + 1,
                             (width - kernel[1]) // stride[1] + 1)


def conv(g, x):
    if len(g.shape(x)) != 4:
        return False
    depth, kernel, channels = g.shape(x)[3], g.pick((1, 1), (3, 3), (2, 3)), g.integer(1, 24)
    window = _window(g, x, kernel)
    if window is None:
        return False
    padding, stride, size = window
    w = g.weight((channels, *kernel, depth), 0, depth * kernel[0] * kernel[1])
    g.node("CONV_2D", [x, w, g.bias(channels)], [(g.shape(x)[0], *size, channels)], sums=True,
           gains=_weight_gain(w), Conv2DOptions=dict(
               padding=padding, strideH=stride[0], strideW=stride[1], dilationHFactor=1,
               dilationWFactor=1, fusedActivationFunction=g.act()))


def depthwise(g, x):
    if len(g.shape(x)) != 4:
        return False
    depth, kernel, multiplier = g.shape(x)[3], g.pick((3, 3), (5, 5), (1, 3)), g.pick(1, 1, 2)
    window = _window(g, x, kernel)
    if window is None:
        return False
    padding, stride, size = window
    channels = depth * multiplier
    w = g.weight((1, *kernel, channels), 3, kernel[0] * kernel[1])
    g.node("DEPTHWISE_CONV_2D", [x, w, g.bias(channels)], [(g.shape(x)[0], *size, channels)],
           sums=True, gains=_weight_gain(w), DepthwiseConv2DOptions=dict(
               padding=padding, strideH=stride[0], strideW=stride[1], dilationHFactor=1,
               dilationWFactor=1, depthMultiplier=multiplier, fusedActivationFunction=g.act()))


def transpose_conv(g, x):
    if len(g.shape(x)) != 4:
        return False
    batch, height, width, depth = g.shape(x)
    kernel, stride, channels = g.pick((2, 2), (3, 3)), g.integer(1, 2), g.integer(1, 8)
    shape = (batch, height * stride, width * stride, channels)
    w = g.weight((channels, *kernel, depth), 0, depth * kernel[0] * kernel[1] / stride ** 2)
    g.node("TRANSPOSE_CONV", [g.raw(*shape), w, x, g.bias(channels)], [shape], sums=True, main=2,
           gains=_weight_gain(w),
           TransposeConvOptions=dict(padding=SAME, strideH=stride, strideW=stride))


def fully_connected(g, x):
    shape, units = g.shape(x), g.integer(1, 24)
    keep = bool(g.integer(0, 1)) and len(shape) > 2
    rows = shape[:-1] if keep else (math.prod(shape[:-1]),)
    w = g.weight((units, shape[-1]), 0, shape[-1])
    g.node("FULLY_CONNECTED", [x, w, g.bias(units)], [(*rows, units)], sums=True,
           gains=_weight_gain(w),
           FullyConnectedOptions=dict(fusedActivationFunction=g.act(), keepNumDims=keep))


def batch_matmul(g, x):
    shape, columns = g.shape(x), g.integer(1, 12)
    if len(shape) < 3:
        return False
    y = g.plain((*shape[:-2], shape[-1], columns), -1 / math.sqrt(shape[-1]),
                1 / math.sqrt(shape[-1]))
    g.node("BATCH_MATMUL", [x, y], [(*shape[:-1], columns)], sums=True, gains=1.0,
           BatchMatMulOptions=dict(adjX=False, adjY=False))


def mean(g, x):
    _reduce(g, x, "MEAN", sums=True)


def total(g, x):
    if g.int8:
        return False  # the reference resolver reads int8 as uint8 (docs/differences.md)
    return _reduce(g, x, "SUM", sums=True)


def greatest(g, x):
    return _reduce(g, x, g.pick("REDUCE_MAX", "REDUCE_MIN"), quant="same")


def _reduce(g, x, code, **more):
    shape = g.shape(x)
    if len(shape) < 2:
        return False
    axes = sorted(g.random.choice(len(shape), g.integer(1, 2), replace=False).tolist())
    keep = bool(g.integer(0, 1))
    left = [1 if d in axes else n for d, n in enumerate(shape) if keep or d not in axes]
    if not left:
        return False
    g.node(code, [x, g.raw(*(a - len(shape) * g.integer(0, 1) for a in axes))], [left],
           ReducerOptions=dict(keepDims=keep), **more)
    return True


def softmax(g, x):
    g.node("SOFTMAX", [x], [g.shape(x)], quant=(1 / 256, -128), gains=0.5, sums=True,
           SoftmaxOptions=dict(beta=1.0))


def l2_normalize(g, x):
    if g.int8 or len(g.shape(x)) < 2:
        return False
    g.node("L2_NORMALIZATION", [x], [g.shape(x)], sums=True,
           L2NormOptions=dict(fusedActivationFunction=NONE))


# --- Element by element -----------------------------------------------------------------------


def _partner(g, x, low=-2.0, high=2.0):
    """Returns another operand for x, with a shape that broadcasts to x's."""
    shape = g.shape(x)
    alike = [i for i, v in enumerate(g.values) if v.shape == shape and v.type == "f32" and i != x]
    if alike and g.random.random() < 0.7:
        return int(g.random.choice(alike))
    forms = [shape, shape[-1:], (1,) * (len(shape) - 1) + shape[-1:]]
    if not g.int8:
        forms.append(())
    return g.plain(g.pick(*forms), low, high)


def _binary(code, table=None, **more):
    def draw_node(g, x):
        options = {table: dict(fusedActivationFunction=g.act())} if table else {}
        y = _partner(g, x)
        pair = [y, x] if isinstance(y, int) and g.integer(0, 1) else [x, y]
        g.node(code, pair, [g.shape(x)], main=pair.index(x), **more, **options)
    return draw_node


add = _binary("ADD", "AddOptions")
sub = _binary("SUB", "SubOptions")
mul = _binary("MUL", "MulOptions", gains=2.0)
squared_difference = _binary("SQUARED_DIFFERENCE", gains=4.0, SquaredDifferenceOptions={})
maximum = _binary("MAXIMUM", quant="joint", MaximumMinimumOptions={})
minimum = _binary("MINIMUM", quant="joint", MaximumMinimumOptions={})


def div(g, x):
    if g.int8:
        return False
    y = g.plain(g.pick(g.shape(x), g.shape(x)[-1:]), 0.5, 2.0)
    g.node("DIV", [x, y], [g.shape(x)], DivOptions=dict(fusedActivationFunction=g.act()))


def _unary(code, table=None, fields=None, float_only=False, **more):
    def draw_node(g, x):
        if float_only and g.int8:
            return False
        options = {table: fields or {}} if table else {}
        g.node(code, [x], [g.shape(x)], **more, **options)
    return draw_node


relu = _unary("RELU")
relu6 = _unary("RELU6")
relu_n1_to_1 = _unary("RELU_N1_TO_1", float_only=True)
leaky_relu = _unary("LEAKY_RELU", "LeakyReluOptions", dict(alpha=0.2))
elu = _unary("ELU")
hard_swish = _unary("HARD_SWISH", "HardSwishOptions", gains=1.5)
gelu = _unary("GELU", "GeluOptions", dict(approximate=False), gains=1.2)
logistic = _unary("LOGISTIC", quant=(1 / 256, -128), gains=0.25)
tanh = _unary("TANH", quant=(1 / 128, 0))
absolute = _unary("ABS", "AbsOptions")
negative = _unary("NEG", "NegOptions", float_only=True)
square = _unary("SQUARE", "SquareOptions", float_only=True)
sine = _unary("SIN", float_only=True)
cosine = _unary("COS", "CosOptions", float_only=True)


def prelu(g, x):
    shape = g.shape(x)
    if len(shape) != 4:
        return False
    g.node("PRELU", [x, g.plain((1, 1, shape[3]), -0.5, 0.5)], [shape])


def exponential(g, x):
    if g.int8:
        return False
    bounded = g.node("TANH", [x], [g.shape(x)])
    g.node("EXP", [bounded], [g.shape(x)], ExpOptions={})


def inverse_root(g, x):
    if g.int8:
        return False
    squares = g.node("SQUARE", [x], [g.shape(x)], SquareOptions={})
    safe = g.node("ADD", [squares, g.plain((1,), 1, 2)], [g.shape(x)],
                  AddOptions=dict(fusedActivationFunction=NONE))
    g.node(g.pick("RSQRT", "SQRT", "LOG"), [safe], [g.shape(x)])


def steps_of_floats(g, x):
    if g.int8 or not g.sharp(x):
        return False
    g.node(g.pick("FLOOR", "CEIL", "ROUND"), [x], [g.shape(x)])


def choose(g, x):
    """Adds a comparison of two bit-identical values, and a SELECT_V2 between two others."""
    if g.int8 or not g.sharp(x):
        return False
    code = g.pick("LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL")
    table = code.title().replace("_", "") + "Options"
    which = g.node(code, [x, g.plain(g.shape(x))], [g.shape(x)], type="bool", **{table: {}})
    same = [i for i, v in enumerate(g.values) if v.shape == g.shape(x) and v.type == "f32"]
    g.node("SELECT_V2", [which, int(g.random.choice(same)), g.plain(g.shape(x))], [g.shape(x)],
           SelectV2Options={})


def arg_max(g, x):
    if not g.sharp(x) or len(g.shape(x)) < 2 or g.int8:
        return False  # ties are probable among 256 steps; float values have none
    axis = g.integer(0, len(g.shape(x)) - 1)
    left = [n for d, n in enumerate(g.shape(x)) if d != axis]
    code = g.pick("ARG_MAX", "ARG_MIN")
    table = "ArgMaxOptions" if code == "ARG_MAX" else "ArgMinOptions"
    g.node(code, [x, g.raw(axis)], [left], type="i32", **{table: dict(outputType=2)})


# --- Pooling and resizing ---------------------------------------------------------------------


def _pool(code, **more):
    def draw_node(g, x):
        if len(g.shape(x)) != 4:
            return False
        kernel = (g.integer(1, 3), g.integer(1, 3))
        window = _window(g, x, kernel)
        if window is None:
            return False
        padding, stride, size = window
        batch, _, _, depth = g.shape(x)
        g.node(code, [x], [(batch, *size, depth)], quant="same", Pool2DOptions=dict(
            padding=padding, strideH=stride[0], strideW=stride[1], filterHeight=kernel[0],
            filterWidth=kernel[1], fusedActivationFunction=NONE), **more)
    return draw_node


max_pool = _pool("MAX_POOL_2D")
average_pool = _pool("AVERAGE_POOL_2D", sums=True)


def resize(g, x):
    if len(g.shape(x)) != 4:
        return False
    batch, _, _, depth = g.shape(x)
    size = (g.integer(1, 12), g.integer(1, 12))
    align, half = g.pick((False, False), (True, False), (False, True))
    bilinear = bool(g.integer(0, 1))
    table = "ResizeBilinearOptions" if bilinear else "ResizeNearestNeighborOptions"
    g.node("RESIZE_BILINEAR" if bilinear else "RESIZE_NEAREST_NEIGHBOR", [x, g.raw(*size)],
           [(batch, *size, depth)], quant="same", sums=bilinear,
           **{table: dict(alignCorners=align, halfPixelCenters=half)})


# --- Movement ---------------------------------------------------------------------------------


def reshape(g, x):
    sizes = list(g.shape(x))
    at = g.integer(0, max(len(sizes) - 2, 0))
    merged = tuple(sizes[:at] + [math.prod(sizes[at:at + 2])] + sizes[at + 2:])
    shape = g.pick(merged, (1, *sizes), (math.prod(sizes[:-1]), sizes[-1]))
    target = list(shape)
    if g.integer(0, 1):
        target[g.integer(0, len(target) - 1)] = -1
    g.node("RESHAPE", [x, g.raw(*target)], [shape], quant="same",
           ReshapeOptions=dict(newShape=target))


def expand_dims(g, x):
    at = g.integer(0, len(g.shape(x)))
    shape = (*g.shape(x)[:at], 1, *g.shape(x)[at:])
    g.node("EXPAND_DIMS", [x, g.raw(at)], [shape], quant="same", ExpandDimsOptions={})


def squeeze(g, x):
    shape = g.shape(x)
    ones = [d for d, n in enumerate(shape) if n == 1]
    if not ones or len(shape) < 3:
        return False
    at = int(g.random.choice(ones))
    g.node("SQUEEZE", [x], [shape[:at] + shape[at + 1:]], quant="same",
           SqueezeOptions=dict(squeezeDims=[at]))


def transpose(g, x):
    order = g.random.permutation(len(g.shape(x))).tolist()
    g.node("TRANSPOSE", [x, g.raw(*order)], [[g.shape(x)[d] for d in order]], quant="same",
           TransposeOptions={})


def pad(g, x):
    shape = g.shape(x)
    if len(shape) > 4:
        return False
    amounts = g.random.integers(0, 3, (len(shape), 2))
    mirror = g.integer(0, 2) == 0 and all(
        max(pair) < n for pair, n in zip(amounts.tolist(), shape))
    table = dict(MirrorPadOptions=dict(mode=g.integer(0, 1))) if mirror else dict(PadOptions={})
    g.node("MIRROR_PAD" if mirror else "PAD", [x, Constant(np.int32(amounts), "i32", "raw")],
           [np.add(shape, amounts.sum(axis=1))], quant="same", **table)


def _box(g, shape):
    begin = [g.integer(0, n - 1) for n in shape]
    return begin, [g.integer(1, n - b) for n, b in zip(shape, begin)]


def slice_(g, x):
    if len(g.shape(x)) > 5:
        return False
    begin, size = _box(g, g.shape(x))
    g.node("SLICE", [x, g.raw(*begin), g.raw(*size)], [size], quant="same", SliceOptions={})


def strided_slice(g, x):
    shape = g.shape(x)
    if len(shape) > 5:
        return False
    begin, size = _box(g, shape)
    steps = [g.integer(1, 2) for _ in shape]
    end = [b + n for b, n in zip(begin, size)]
    g.node("STRIDED_SLICE", [x, g.raw(*begin), g.raw(*end), g.raw(*steps)],
           [[-(-n // s) for n, s in zip(size, steps)]], quant="same",
           StridedSliceOptions=dict(beginMask=0, endMask=0, ellipsisMask=0, newAxisMask=0,
                                    shrinkAxisMask=0))


def _with(shape, axis, size):
    return (*shape[:axis], size, *shape[axis + 1:])


def concat(g, x):
    shape = g.shape(x)
    if len(shape) > 4:
        return False
    axis = g.integer(0, len(shape) - 1)
    fits = [i for i, v in enumerate(g.values) if v.type == "f32" and len(v.shape) == len(shape)
            and _with(v.shape, axis, 0) == _with(shape, axis, 0)]
    parts = [x] + [int(g.random.choice(fits)) for _ in range(g.integer(1, 3))]
    size = sum(g.shape(i)[axis] for i in parts)
    g.node("CONCATENATION", parts, [_with(shape, axis, size)], quant="joint",
           ConcatenationOptions=dict(axis=axis - len(shape) * g.integer(0, 1),
                                     fusedActivationFunction=NONE))


def split(g, x):
    shape = g.shape(x)
    splits = [(d, n) for d in range(len(shape)) for n in (2, 3) if shape[d] % n == 0]
    if not splits:
        return False
    axis, parts = splits[int(g.random.integers(len(splits)))]
    g.node("SPLIT", [g.raw(axis), x], [_with(shape, axis, shape[axis] // parts)] * parts,
           quant="same", main=1, SplitOptions=dict(numSplits=parts))


def split_v(g, x):
    shape = g.shape(x)
    axis = len(shape) - 1
    if shape[axis] < 2:
        return False
    first = g.integer(1, shape[axis] - 1)
    sizes = [first, shape[axis] - first]
    g.node("SPLIT_V", [x, g.raw(*sizes), g.raw(axis)], [_with(shape, axis, n) for n in sizes],
           quant="same", SplitVOptions=dict(numSplits=2))


def pack(g, x):
    shape = g.shape(x)
    if len(shape) > 4:
        return False
    same = [i for i, v in enumerate(g.values) if v.shape == shape and v.type == "f32"]
    parts = [x] + [int(g.random.choice(same)) for _ in range(g.integer(1, 2))]
    axis = g.integer(0, len(shape))
    g.node("PACK", parts, [(*shape[:axis], len(parts), *shape[axis:])], quant="joint",
           PackOptions=dict(valuesCount=len(parts), axis=axis))


def unpack(g, x):
    shape = g.shape(x)
    few = [d for d, n in enumerate(shape) if n <= 3]
    if not few or len(shape) < 2:
        return False
    axis = int(g.random.choice(few))
    g.node("UNPACK", [x], [shape[:axis] + shape[axis + 1:]] * shape[axis], quant="same",
           UnpackOptions=dict(num=shape[axis], axis=axis))


def gather(g, x):
    shape = g.shape(x)
    axis, count = g.integer(0, len(shape) - 1), g.integer(1, 5)
    indices = g.raw(*g.random.integers(0, shape[axis], count).tolist())
    g.node("GATHER", [x, indices], [_with(shape, axis, count)], quant="same",
           GatherOptions=dict(axis=axis, batchDims=0))


def tile(g, x):
    times = [g.integer(1, 2) for _ in g.shape(x)]
    g.node("TILE", [x, g.raw(*times)], [np.multiply(g.shape(x), times)], quant="same",
           TileOptions={})


def broadcast_to(g, x):
    shape = [n if n > 1 else g.integer(1, 3) for n in g.shape(x)]
    g.node("BROADCAST_TO", [x, g.raw(*shape)], [shape], quant="same", BroadcastToOptions={})


def depth_and_space(g, x):
    if len(g.shape(x)) != 4:
        return False
    batch, height, width, depth = g.shape(x)
    if depth % 4 == 0 and g.integer(0, 1):
        g.node("DEPTH_TO_SPACE", [x], [(batch, height * 2, width * 2, depth // 4)], quant="same",
               DepthToSpaceOptions=dict(blockSize=2))
    elif height % 2 == 0 and width % 2 == 0:
        g.node("SPACE_TO_DEPTH", [x], [(batch, height // 2, width // 2, depth * 4)], quant="same",
               SpaceToDepthOptions=dict(blockSize=2))
    else:
        return False


def batch_and_space(g, x):
    """Adds SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, as in a dilated convolution."""
    if len(g.shape(x)) != 4 or g.shape(x)[1] % 2 or g.shape(x)[2] % 2:
        return False
    batch, height, width, depth = g.shape(x)
    none = Constant(np.int32([[0, 0], [0, 0]]), "i32", "raw")
    apart = g.node("SPACE_TO_BATCH_ND", [x, g.raw(2, 2), none],
                   [(batch * 4, height // 2, width // 2, depth)], quant="same",
                   SpaceToBatchNDOptions={})
    g.node("BATCH_TO_SPACE_ND", [apart, g.raw(2, 2), none], [g.shape(x)], quant="same",
           BatchToSpaceNDOptions={})


HEAVY = [conv, depthwise, fully_connected, add, mul, transpose_conv, batch_matmul, mean, concat,
         softmax, max_pool, average_pool]
TABLE = [*HEAVY, total, greatest, l2_normalize, sub, squared_difference, maximum, minimum, div,
         relu, relu6, relu_n1_to_1, leaky_relu, elu, hard_swish, gelu, logistic, tanh, absolute,
         negative, square, sine, cosine, prelu, exponential, inverse_root, steps_of_floats, choose,
         arg_max, resize, reshape, expand_dims, squeeze, transpose, pad, slice_, strided_slice,
         split, split_v, pack, unpack, gather, tile, broadcast_to, depth_and_space,
         batch_and_space]
