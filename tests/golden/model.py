# SPDX-License-Identifier: Apache-2.0
"""Writes small .tflite models with the schema module inside ai_edge_litert, and describes cases.

A `Model` collects tensors and operators; `Model.case` turns it into a `Case`: the bytes, the positions
of generated constants, the contents of inputs, and the rules of comparison.
"""
import dataclasses

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from . import generator

# Types by name: schema TensorType, TfLiteType, numpy type.
TYPES = {
    "f32": (0, 1, np.float32), "f16": (1, 10, np.float16), "i32": (2, 2, np.int32),
    "u8": (3, 3, np.uint8), "i64": (4, 4, np.int64), "bool": (6, 6, np.bool_),
    "i16": (7, 7, np.int16), "c64": (8, 8, np.complex64), "i8": (9, 9, np.int8),
    "f64": (10, 11, np.float64), "c128": (11, 12, np.complex128), "u64": (12, 13, np.uint64), "u32": (15, 16, np.uint32),
    "u16": (16, 17, np.uint16), "str": (5, 5, np.object_), "resource": (13, 14, np.int32),
    "i4": (17, 18, np.int8), "bf16": (18, 19, np.uint16), "i2": (19, 20, np.int8),
    "u4": (20, 21, np.uint8),
}
# Types without a numpy type, several elements per byte: bits, minimum, maximum.
PACKED = {"i4": (4, -8, 7), "u4": (4, 0, 15), "i2": (2, -2, 1)}
# Types that Python cannot feed: the graph's inputs and outputs are float32, converted by CAST.
CASTED = (*PACKED, "bf16")
TYPE_OF_NUMPY = {np.dtype(t[2]): name for name, t in TYPES.items()
                 if name != "resource" and name not in CASTED}


def brain(values):
    """Rounds float32 to bfloat16; returns the bits."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7fff) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), 0x7fc0, rounded).astype(np.uint16)


def _packed(type, values):
    bits = PACKED[type][0]
    steps = np.asarray(values).astype(np.int64).reshape(-1) & ((1 << bits) - 1)
    steps = np.pad(steps, (0, -len(steps) % (8 // bits))).reshape(-1, 8 // bits)
    return (steps << (bits * np.arange(8 // bits))).sum(1).astype(np.uint8).tobytes()


def to_bytes(type, values):
    """Returns the bytes of a tensor's contents; strings as specified in abi.md appendix A."""
    if type in PACKED:
        return _packed(type, values)
    if type != "str":
        return np.ascontiguousarray(values, TYPES[type][2]).tobytes()
    texts = [bytes(text) for text in np.asarray(values, np.object_).reshape(-1)]
    ends = 4 * (len(texts) + 2) + np.cumsum([0] + [len(text) for text in texts])
    return np.int32([len(texts), *ends]).tobytes() + b"".join(texts)


def from_bytes(type, shape, data):
    """Converts the bytes that to_bytes returns to an array."""
    if type != "str":
        return np.frombuffer(data, TYPES[type][2]).reshape(shape).copy()
    count = int(np.frombuffer(data, np.int32, 1)[0]) if data else 0
    ends = np.frombuffer(data, np.int32, count + 1, 4) if data else []
    values = np.empty(count, np.object_)
    values[:] = [bytes(data[a:b]) for a, b in zip(ends[:-1], ends[1:])]
    return values.reshape(shape)


# Fused activations, with the numbers of the schema.
NONE, RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT = range(6)
SAME, VALID = 0, 1

# Rules for comparing an output (docs/design/agreement.md).
EQUAL, ELEMENT, SUM, STEPS, HALF = range(5)

# Properties that a case covers, as bits; every claimed (operator, version, type) needs a case for
# each of them.
ORDINARY, ODD, ZERO_POINT, SMALL = 1, 2, 4, 8


def strings(shape, seed=1):
    """Returns a flat list of different short texts, including empty ones."""
    count = int(np.prod(shape, dtype=np.int64))
    return [b"" if i % 7 == 3 else b"s%d" % ((seed * 31 + i * i) % 997) + b"x" * (i % 5)
            for i in range(count)]


@dataclasses.dataclass
class Quantization:
    scale: object
    zero: object = 0
    axis: int = 0
    block: int = 0         # blockwise: size of a block; `scale` is the tensor of the scales


def blocks(scale, size):
    """Blockwise quantisation: the index of a tensor of scales, and the size of a block."""
    return Quantization(scale, block=size)


def q(scale, zero=0, axis=0):
    """Quantisation: per tensor with a number, per channel with a list of scales."""
    return Quantization(scale, zero, axis)


@dataclasses.dataclass
class Feed:
    type: str
    shape: tuple           # shape of the contents
    resize: bool           # ResizeInputTensor is called with that shape first
    data: object           # Fill or numpy array

    def values(self):
        if isinstance(self.data, generator.Fill):
            return self.data.values(self.shape, TYPES[self.type][2])
        if self.type == "str":
            return np.array([bytes(text) for text in self.data] + [None],
                            np.object_)[:-1].reshape(self.shape)
        return np.asarray(self.data, TYPES[self.type][2]).reshape(self.shape)


@dataclasses.dataclass
class Patch:
    offset: int
    count: int
    type: str
    fill: generator.Fill


@dataclasses.dataclass
class Case:
    name: str
    op: str
    version: int
    type: str
    tags: int
    model: bytes           # the complete model, with constants
    patches: list
    feeds: list
    rules: list            # one per output
    steps: int = 1         # quantised steps allowed in default mode
    factor: float = 1.0    # widens the float bounds (only as docs/design/agreement.md says)
    invokes: int = 1       # number of inferences with the same inputs; the outputs of all are compared
    exact: bool = False    # large: store only hashes of the reference result
    lenient: bool = False  # TFLite computes a case that is of no use: Deputy may refuse, or must agree
    undefined: str = ""    # reason why TFLite's result is meaningless: Deputy may do anything but crash
    undefined_in: tuple = ("reference", "optimised")  # the resolvers to which `undefined` applies


class _AlignedBuffer(schema.BufferT):
    """The schema requires 16-byte aligned buffers; the generated Python code does not align them."""

    def Pack(self, builder):
        vector = None
        if self.data is not None:
            builder.StartVector(1, len(self.data), 16)
            builder.head -= len(self.data)
            builder.Bytes[builder.head:builder.head + len(self.data)] = bytes(self.data)
            vector = builder.EndVector()
        schema.BufferStart(builder)
        if vector is not None:
            schema.BufferAddData(builder, vector)
        return schema.BufferEnd(builder)


class Model:
    """A model. Tensors are numbered in the order of creation, per subgraph.

    Everything is added to subgraph 0 until `next_subgraph`; only its inputs are fed and its outputs
    compared."""

    def __init__(self, seed=1):
        self.seed = seed
        self.made = 0
        self.tensors, self.inputs, self.outputs = [], [], []
        self.operators, self.codes = [], []
        self.buffers = [None]          # per buffer: None or (type, shape, data)
        self.feeds = []
        self.rules = []
        self.finished = []             # subgraphs before the current one
        self.casts = []                # casts of outputs, after all operators

    def next_subgraph(self):
        """Starts another subgraph; returns its index."""
        self.finished.append(self._subgraph())
        self.tensors, self.inputs, self.outputs, self.operators = [], [], [], []
        self.casts = []
        return len(self.finished)

    def _subgraph(self):
        return schema.SubGraphT(
            tensors=self.tensors, inputs=np.asarray(self.inputs, np.int32),
            outputs=np.asarray(self.outputs, np.int32),
            operators=self.operators + self.casts)

    def next_seed(self):
        self.made += 1
        return self.seed * 4096 + self.made

    def fill(self, type, low=None, high=None):
        """Returns a generator for `type`: floats in [-2, 2), quantised and others over a full range."""
        if type in ("f32", "f16", "f64", "c64", "c128"):
            return generator.uniform(self.next_seed(), -2 if low is None else low,
                                     2 if high is None else high)
        if type == "bool":
            return generator.integers(self.next_seed(), 0, 1)
        if type in CASTED:
            return self._fill_casted(type, low, high)
        if type == "str":
            raise ValueError("strings are always given as data")
        info = np.iinfo(TYPES[type][2])
        low = max(info.min, -2**31) if low is None else low
        high = min(info.max, 2**31 - 1) if high is None else high
        return generator.integers(self.next_seed(), low, high)

    def _fill_casted(self, type, low, high):
        if type == "bf16":
            return self.fill("f32", low, high)
        _, least, most = PACKED[type]
        return generator.grid(self.next_seed(), least if low is None else max(least, low),
                              most if high is None else min(most, high), 1.0)

    def tensor(self, type, shape, quant=None, data=None, signature=None, variable=False):
        """Adds a tensor and returns its index. `data` None: no buffer of its own."""
        number = 0
        if data is not None:
            number = len(self.buffers)
            self.buffers.append((type, tuple(shape), data))
        params = None
        if quant is not None and quant.block:
            details = schema.BlockwiseQuantizationT(scales=quant.scale, zeroPoints=-1,
                                                    blockSize=quant.block)
            params = schema.QuantizationParametersT(
                details=details, detailsType=schema.QuantizationDetails.BlockwiseQuantization)
        elif quant is not None:
            scales = np.atleast_1d(np.asarray(quant.scale, np.float32))
            zeros = np.atleast_1d(np.asarray(quant.zero, np.int64))
            if len(zeros) == 1 and len(scales) > 1:
                zeros = np.repeat(zeros, len(scales))
            params = schema.QuantizationParametersT(
                scale=scales, zeroPoint=zeros, quantizedDimension=quant.axis)
        self.tensors.append(schema.TensorT(
            shape=np.asarray(shape, np.int32), type=TYPES[type][0], buffer=number,
            name=b"t%d" % len(self.tensors), quantization=params, isVariable=variable,
            shapeSignature=None if signature is None else np.asarray(signature, np.int32)))
        return len(self.tensors) - 1

    def input(self, type, shape, quant=None, data=None, low=None, high=None, resize=None):
        """Adds a graph input. `resize` is a shape to resize it to before allocating."""
        if type in CASTED:
            if data is None:
                data = self._fill_casted(type, low, high)
            index = self.tensor(type, shape, quant)
            self.operators.append(self._cast(
                self.input("f32", shape, data=data, resize=resize), index))
            return index
        index = self.tensor(type, shape, quant)
        self.inputs.append(index)
        if self.finished:
            return index
        if data is None:
            data = (strings(shape if resize is None else resize, self.next_seed())
                    if type == "str" else self.fill(type, low, high))
        data = self._stored(type, shape if resize is None else resize, data)
        self.feeds.append(Feed(type, tuple(shape if resize is None else resize),
                               resize is not None, data))
        return index

    def const(self, type, shape, quant=None, data=None, low=None, high=None):
        if data is None:
            data = (strings(shape, self.next_seed()) if type == "str"
                    else self.fill(type, low, high))
        return self.tensor(type, shape, quant, self._stored(type, shape, data))

    def _stored(self, type, shape, data):
        """Converts contents that the generator cannot make to their stored form."""
        if type in CASTED:
            values = (data.values(shape, np.float32) if isinstance(data, generator.Fill)
                      else np.asarray(data).reshape(shape))
            return brain(values) if type == "bf16" else values.astype(TYPES[type][2])
        if type not in ("f16", "f64", "c64", "c128") or not isinstance(data, generator.Fill):
            return data
        values = data.values(shape, np.float32)
        if type in ("c64", "c128"):
            other = generator.Fill(data.kind, self.next_seed(), data.low, data.high, data.step)
            return (values + 1j * other.values(shape, np.float32)).astype(TYPES[type][2])
        return values.astype(TYPES[type][2])

    def output(self, type, shape, quant=None, rule=ELEMENT):
        index = self.tensor(type, shape, quant)
        if type in CASTED:
            # Casts are exact, except that the processor may flush denormals of bfloat16 to 0.
            rule = ELEMENT if type == "bf16" and rule != EQUAL else EQUAL
            self.casts.append(self._cast(index, self.output("f32", shape, rule=rule)))
            return index
        self.outputs.append(index)
        if self.finished:
            return index
        if type == "str":
            rule = EQUAL
        self.rules.append(STEPS if rule != EQUAL and quant is not None and type != "f32" else rule)
        return index

    def op(self, code, inputs, outputs, version=1, intermediates=None, **options):
        """Adds an operator. `options`: at most one, named after the schema's table, e.g.
        AddOptions=dict(...); for a custom operator custom=bytes."""
        custom = options.pop("custom", None)
        operator = self._operator(code, inputs, outputs, version)
        if intermediates is not None:
            operator.intermediates = np.asarray(intermediates, np.int32)
        for table, fields in options.items():
            member = getattr(schema.BuiltinOptions, table, None)
            value = getattr(schema, table + "T")(**fields)
            if member is not None:
                operator.builtinOptionsType, operator.builtinOptions = member, value
            else:
                operator.builtinOptions2Type = getattr(schema.BuiltinOptions2, table)
                operator.builtinOptions2 = value
        if custom is not None:
            operator.customOptions = np.frombuffer(custom, np.uint8)
        self.operators.append(operator)
        if not hasattr(self, "main"):
            self.main = (code, version)

    def _operator(self, code, inputs, outputs, version):
        number = getattr(schema.BuiltinOperator, code, schema.BuiltinOperator.CUSTOM)
        key = (number, version, code if number == schema.BuiltinOperator.CUSTOM else None)
        if key not in self.codes:
            self.codes.append(key)
        return schema.OperatorT(opcodeIndex=self.codes.index(key),
                                inputs=np.asarray(inputs, np.int32),
                                outputs=np.asarray(outputs, np.int32))

    def _cast(self, source, target):
        return self._operator("CAST", [source], [target], 1)

    def pack(self):
        """Returns (bytes, patches)."""
        buffers = []
        for content in self.buffers:
            buffer = _AlignedBuffer()
            if content is not None:
                type, shape, data = content
                dtype = TYPES[type][2]
                if isinstance(data, generator.Fill):
                    data = data.values(shape, dtype)
                buffer.data = to_bytes(type, data)
            buffers.append(buffer)
        model = schema.ModelT(
            version=3, buffers=buffers,
            operatorCodes=[schema.OperatorCodeT(deprecatedBuiltinCode=min(code, 127), version=v,
                                                builtinCode=code, customCode=name)
                           for code, v, name in self.codes],
            subgraphs=[*self.finished, self._subgraph()])
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        content = bytes(builder.Output())
        return content, self._patches(content)

    def _patches(self, content):
        packed = schema.Model.GetRootAs(content)
        patches = []
        for number, stored in enumerate(self.buffers):
            if stored is None or not isinstance(stored[2], generator.Fill):
                continue
            type, shape, fill = stored
            count = int(np.prod(shape, dtype=np.int64))
            if count * np.dtype(TYPES[type][2]).itemsize < 32:
                continue  # a patch would be larger than the bytes
            table = packed.Buffers(number)._tab
            patches.append(Patch(table.Vector(table.Offset(4)), count, type, fill))
        return patches

    def case(self, name, type, tags=0, main=None, **more):
        op, version = main or self.main
        content, patches = self.pack()
        return Case(name=name, op=op, version=version, type=type, tags=tags, model=content,
                    patches=patches, feeds=self.feeds, rules=self.rules, **more)
