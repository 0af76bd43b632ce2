# SPDX-License-Identifier: Apache-2.0
"""The StableHLO operators that TensorFlow Lite computes, except those that call subgraphs."""
import zlib

import numpy as np

from ..model import EQUAL, HALF, ODD, ORDINARY, SMALL, TYPES, ZERO_POINT, Model, q

ELEMENTS = ["STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM",
            "STABLEHLO_AND", "STABLEHLO_SHIFT_LEFT"]
OPERATORS = ELEMENTS + ["STABLEHLO_PAD", "STABLEHLO_GATHER", "STABLEHLO_SCATTER"]
VERSIONS = dict.fromkeys(OPERATORS, 1)
INTEGERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
NUMBERS = ("f32", "f16", "f64", *INTEGERS)
TYPES_OF = {op: (*NUMBERS, "bool") for op in OPERATORS} | {
    "STABLEHLO_AND": (*INTEGERS, "bool"), "STABLEHLO_SHIFT_LEFT": ("i8", "i16", "i32"),
    "STABLEHLO_PAD": (*NUMBERS, "bool", "bf16", "c64"),
    "STABLEHLO_GATHER": (*NUMBERS, "bool", "bf16", "c64")}


def values(type, shape, seed, low=None, high=None):
    """Returns random numbers of the type, the same for the same seed."""
    random = np.random.default_rng(seed)
    dtype = TYPES[type][2]
    if type in ("f32", "f16", "f64"):
        return random.uniform(-4, 4, shape).astype(dtype)
    if type == "bf16":
        return random.uniform(-4, 4, shape).astype(np.float32)
    if type == "c64":
        return (random.uniform(-4, 4, shape) + 1j * random.uniform(-4, 4, shape)).astype(dtype)
    if type == "bool":
        return random.integers(0, 2, shape).astype(dtype)
    info = np.iinfo(dtype)
    low = info.min if low is None else low
    high = info.max if high is None else high
    return random.integers(low, high, shape, dtype, endpoint=True)


def quantization(type, zero):
    return q(0.5, zero) if zero is not None and type in ("i8", "u8", "i16") else None


def rule(type):
    return HALF if type == "f16" else EQUAL


def not_numbers(type):
    """Returns two tensors that combine NaN, infinities and zeros of both signs with each other and with
    numbers."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], TYPES[type][2])
    return np.repeat(special, len(special)), np.tile(special, len(special))


def elements(op, type, shape, other=None, other_type=None, zero=None, seed=1, pair=None, **case):
    """`pair`: the contents of both inputs."""
    m = Model()
    bits = 8 * np.dtype(TYPES[type][2]).itemsize - 1 if op == "STABLEHLO_SHIFT_LEFT" else None
    quant = quantization(type, zero)
    other_type = other_type or type
    first, second = pair or (
        values(type, shape, seed),
        values(other_type, other or shape, seed + 50, 0 if bits else None, bits))
    a = m.input(type, shape, quant, data=first)
    b = m.input(other_type, other or shape, quantization(other_type, zero), data=second)
    m.op(op, [a, b], [m.output(type, shape, quant, rule=rule(type))])
    return m.case(type=type, main=(op, 1), **case)


def pad(op, type, shape, low, high, between, value_shape=(), zero=None, value_type=None, **case):
    m = Model()
    quant = quantization(type, zero)
    x = m.input(type, shape, quant, data=values(type, shape, 3))
    value_type = value_type or type
    value = m.const(value_type, value_shape, quantization(value_type, zero),
                    data=values(value_type, value_shape, 4))
    m.op(op, [x, value], [m.output(type, shape, quant, rule=EQUAL)],
         StablehloPadOptions=dict(edgePaddingLow=list(low), edgePaddingHigh=list(high),
                                  interiorPadding=list(between)))
    return m.case(type=type, main=(op, 1), **case)


def gather(op, type, shape, sizes, indices, axis, offsets, collapsed, start, rank, zero=None,
           index_type="i32", **case):
    """Slices of `sizes` at `indices`, a nested list whose dimension `axis` holds one index."""
    m = Model()
    quant = quantization(type, zero)
    x = m.input(type, shape, quant, data=values(type, shape, 5))
    at = np.asarray(indices)
    i = m.input(index_type, at.shape, data=at)
    m.op(op, [x, i], [m.output(type, (1,) * rank, quant, rule=EQUAL)],
         StablehloGatherOptions=dict(offsetDims=offsets, collapsedSliceDims=collapsed,
                                     startIndexMap=start, indexVectorDim=axis, sliceSizes=sizes))
    return m.case(type=type, main=(op, 1), **case)


def scatter(op, type, shape, updates, indices, axis, windows, inserted, dims, body="STABLEHLO_ADD",
            zero=None, index_type="i32", subgraph=1, pair=None, **case):
    """`pair`: the contents of operand and updates."""
    m = Model()
    quant = quantization(type, zero)
    operand, news = pair or (values(type, shape, 6), values(type, updates, 7))
    x = m.input(type, shape, quant, data=operand)
    at = np.asarray(indices)
    i = m.input(index_type, at.shape, data=at)
    u = m.input(type, updates, quant, data=news)
    m.op(op, [x, i, u], [m.output(type, shape, quant, rule=rule(type))],
         StablehloScatterOptions=dict(updateWindowDims=windows, insertedWindowDims=inserted,
                                      scatterDimsToOperandDims=dims, indexVectorDim=axis,
                                      updateComputationSubgraphIndex=subgraph))
    m.next_subgraph()
    a, b = m.input(type, ()), m.input(type, ())
    if body is None:
        m.outputs.append(b)
    else:
        m.op(body, [a, b], [m.output(type, ())])
    return m.case(type=type, main=(op, 1), **case)


def cases(op):
    make = {"STABLEHLO_PAD": _pad, "STABLEHLO_GATHER": _gather, "STABLEHLO_SCATTER": _scatter}
    yield from make.get(op, _elements)(op)


def _elements(op):
    for type in TYPES_OF[op]:
        yield elements(op, type, (2, 3), name=f"{type}_plain", tags=ORDINARY)
        yield elements(op, type, (3, 5, 7), seed=2, name=f"{type}_odd", tags=ODD)
        yield elements(op, type, (1,), seed=3, name=f"{type}_one", tags=SMALL)
        yield elements(op, type, (), seed=4, name=f"{type}_scalar", tags=SMALL)
        yield elements(op, type, (2, 0), name=f"{type}_empty", tags=SMALL)
        if type in ("f32", "f16", "f64"):
            yield elements(op, type, (36,), pair=not_numbers(type), name=f"{type}_nan")
        if quantization(type, 3):
            yield elements(op, type, (4, 2), zero=3, name=f"{type}_zero_point", tags=ZERO_POINT)
    first = TYPES_OF[op][0]
    yield elements(op, first, (2, 3), (3,), name="refused_broadcast",
                   **(dict(undefined="reads beyond the second input")
                      if op == "STABLEHLO_SHIFT_LEFT" else {}))
    yield elements(op, "i32", (2, 3), other_type="i16", name="refused_two_types")
    if op in ("STABLEHLO_AND", "STABLEHLO_SHIFT_LEFT"):
        yield elements(op, "f32", (2, 3), name="refused_floats")


def _pad(op):
    for type in TYPES_OF[op]:
        yield pad(op, type, (2, 3), (1, 0), (0, 2), (0, 0), name=f"{type}_plain", tags=ORDINARY)
        yield pad(op, type, (3, 2, 4), (1, -1, 0), (2, 3, -1), (2, 1, 0), name=f"{type}_odd",
                  tags=ODD)
        yield pad(op, type, (1,), (0,), (0,), (5,), name=f"{type}_one", tags=SMALL)
        yield pad(op, type, (0, 3), (1, 0), (1, 0), (0, 0), name=f"{type}_empty", tags=SMALL)
        if quantization(type, 3):
            yield pad(op, type, (2, 2), (1, 1), (1, 1), (0, 1), zero=3, name=f"{type}_zero_point",
                      tags=ZERO_POINT)
    for number, (low, high, between) in enumerate((
            (-1, 0, 3), (-2, 0, 3), (-3, -1, 3), (0, -2, 2), (0, -4, 3), (-5, 2, 1), (-4, -4, 4),
            (4, -1, 0), (-3, 9, 0), (-9, 20, 1), (2, 3, 0))):
        yield pad(op, "i32", (4,), (low,), (high,), (between,), name=f"line_{number}")
    yield pad(op, "f32", (2, 3), (-2, 0), (0, 0), (0, 0), name="nothing_left")
    yield pad(op, "f32", (2, 3), (-5, 1), (1, 0), (0, 0), name="less_than_nothing_left")
    yield pad(op, "f32", (2, 3), (1, 1), (0, 0), (0, 0), value_shape=(1, 1), name="value_of_rank_2")
    yield pad(op, "f32", (2, 3), (1, 1), (0, 0), (0, 0), value_shape=(2,), name="refused_two_values")
    yield pad(op, "f32", (2, 3), (1, 1), (0, 0), (0, 0), value_type="i32", name="refused_int_value")
    yield pad(op, "f32", (2, 3), (1, 1), (0, 0), (-1, 0), name="refused_negative_interior",
              undefined="steps back in memory")
    yield pad(op, "f32", (), (), (), (), name="refused_scalar")


def _gather(op):
    for type in TYPES_OF[op]:
        # Gathers rows 2 and 0 of a matrix.
        yield gather(op, type, (3, 4), [1, 4], [[2], [0]], 1, [1], [0], [0], 2,
                     name=f"{type}_rows", tags=ORDINARY)
        yield gather(op, type, (3, 4, 5), [2, 1, 3], [[0, 1], [9, -9], [1, 3]], 1, [0, 2], [1],
                     [0, 1], 3, index_type="i64", name=f"{type}_windows", tags=ODD)
        yield gather(op, type, (4,), [1], [[3]], 1, [], [0], [0], 1, name=f"{type}_one", tags=SMALL)
        yield gather(op, type, (3, 0), [1, 0], [[2], [0]], 1, [1], [0], [0], 2,
                     name=f"{type}_empty", tags=SMALL)
        if quantization(type, 3):
            yield gather(op, type, (3, 4), [1, 4], [[2], [0]], 1, [1], [0], [0], 2, zero=3,
                         name=f"{type}_zero_point", tags=ZERO_POINT)
    yield gather(op, "f32", (3, 4, 2, 2), [1, 2, 2, 1], [[[0, 0], [1, 0], [2, 1]],
                                                         [[0, 1], [1, 1], [0, 9]]],
                 2, [2, 3], [0, 3], [1, 0], 4, name="two_index_axes")
    yield gather(op, "f32", (3, 4), [2, 2], [[1, 0], [2, 0]], 0, [1, 2], [], [0, 1], 3,
                 name="components_first")
    yield gather(op, "f32", (3, 4), [0, 2], [[1], [2]], 1, [1, 2], [], [0], 3, name="no_rows")
    yield gather(op, "f32", (3, 4), [1, 5], [[1], [2]], 1, [1], [0], [0], 2,
                 name="refused_slice_too_large", undefined="reads beyond the operand")
    yield gather(op, "f32", (3, 4), [1, 4], [[2, 0]], 1, [1], [0], [0, 5], 2,
                 name="refused_axis", undefined="writes beyond its memory")
    yield gather(op, "f32", (3, 4), [1, 4], [[2], [0]], 1, [1], [0], [0], 2, index_type="i16",
                 name="refused_short_indices")


def _scatter(op):
    for type in TYPES_OF[op]:
        yield scatter(op, type, (3, 4), (2, 4), [[2], [0]], 1, [1], [0], [0], name=f"{type}_rows",
                      tags=ORDINARY)
        yield scatter(op, type, (3, 4, 5), (2, 3, 3), [[0, 1], [1, 9], [0, 2]], 1, [0, 2], [1],
                      [0, 1], index_type="i64", name=f"{type}_windows", tags=ODD)
        yield scatter(op, type, (4,), (1,), [[3]], 1, [], [0], [0], name=f"{type}_one", tags=SMALL)
        if quantization(type, 3):
            yield scatter(op, type, (3, 4), (2, 4), [[2], [0]], 1, [1], [0], [0], zero=3,
                          name=f"{type}_zero_point", tags=ZERO_POINT)
    for body in ("STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", None):
        name = (body or "replaced").lower()
        yield scatter(op, "f32", (5,), (7, 2), [[0], [3], [3], [1], [0], [2], [4]], 1, [1], [], [0],
                      body=body, name=f"overlapping_{name}")
        yield scatter(op, "bool", (5,), (7, 2), [[0], [3], [3], [1], [0], [2], [4]], 1, [1], [],
                      [0], body=body, name=f"bool_overlapping_{name}")
        yield scatter(op, "f32", (36,), (36,), np.arange(36).reshape(36, 1), 1, [], [0], [0],
                      body=body, pair=not_numbers("f32"), name=f"nan_{name}")
    yield scatter(op, "f32", (0, 4), (0, 4), np.zeros((0, 1)), 1, [1], [0], [0], name="empty")
    yield scatter(op, "f32", (5, 6), (3, 2, 2), [[0, 1], [1, 4], [4, 4]], 1, [1, 2], [], [0, 1],
                  name="partly_beyond")
    yield scatter(op, "f32", (5,), (2,), [[-1], [2]], 1, [], [0], [0], name="negative",
                  undefined="writes before its memory")
    yield scatter(op, "f32", (5,), (0,), np.zeros((0, 1)), 1, [], [0], [0], name="no_updates",
                  undefined="reads updates that are not there")
    yield scatter(op, "f32", (5,), (1,), [[1]], 1, [], [0], [0], body="ADD", name="refused_body")
    yield scatter(op, "f32", (5,), (1,), [[1]], 1, [], [0], [0], subgraph=4,
                  name="refused_no_subgraph")
    yield scatter(op, "f32", (5,), (1,), [[1]], 1, [], [0], [0], index_type="i16",
                  name="refused_short_indices")


def draw(op, random):
    types = TYPES_OF[op]
    type = types[int(random.integers(len(types)))]
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    seed = zlib.crc32(repr((op, type, shape)).encode()) % 1000
    name = f"draw_{type}_{shape}"
    if op in ELEMENTS:
        return elements(op, type, shape, seed=seed, name=name)
    if op == "STABLEHLO_PAD":
        low, high = random.integers(-1, 4, (2, len(shape))).tolist()
        return pad(op, type, shape, low, high, random.integers(0, 3, len(shape)).tolist(),
                   name=name)
    rows, columns = int(random.integers(2, 6)), int(random.integers(1, 6))
    at = random.integers(0, rows, (int(random.integers(1, 5)), 1))
    if op == "STABLEHLO_GATHER":
        return gather(op, type, (rows, columns), [1, columns], at, 1, [1], [0], [0], 2, name=name)
    return scatter(op, type, (rows, columns), (len(at), columns), at, 1, [1], [0], [0], name=name)
