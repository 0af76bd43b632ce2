# SPDX-License-Identifier: Apache-2.0
"""Builds the cases of operators with one data input and one output of the same shape."""
import numpy as np

from ..model import (ELEMENT, HALF, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q)

FLOATS = ("f32", "f16")
QUANTISED = ("i8", "u8", "i16")


def single(op, type="f32", shape=(2, 3), qx=None, qo=None, version=1, options=None, data=None,
           low=None, high=None, out_type=None, seed=1, resize=None, rule=ELEMENT, const=False,
           **case):
    """`options` is {table: fields}; **case holds the case's name, tags etc."""
    m = Model(seed)
    if const:
        x = m.const(type, shape, qx, data=data, low=low, high=high)
    else:
        x = m.input(type, shape, qx, data=data, low=low, high=high, resize=resize)
    rule = HALF if type == "f16" else rule
    out = m.output(out_type or type, shape, qo, rule=rule)
    m.op(op, [x], [out], version, **(options or {}))
    return m.case(type=type, **case)


def claims(make, versions, types, zero_points):
    """Yields the rows that every claim needs. `make(type=…, …)` builds a case with suitable
    quantisation; `zero_points(type)` are (qx, qo) away from the middle."""
    for version in range(1, versions + 1):
        for type in types:
            name = f"v{version}_{type}"
            yield make(type=type, shape=(3, 5), version=version, name=f"{name}_plain",
                       tags=ORDINARY)
            yield make(type=type, shape=(2, 1, 3, 7), version=version, seed=2,
                       name=f"{name}_odd", tags=ODD)
            if type in ("i8", "u8"):
                qx, qo = zero_points(type)
                yield make(type=type, shape=(3, 7), qx=qx, qo=qo, version=version, seed=3,
                           name=f"{name}_zero_points", tags=ZERO_POINT)
            yield make(type=type, shape=(1,), version=version, name=f"{name}_one", tags=SMALL)
            yield make(type=type, shape=(0, 3), version=version, name=f"{name}_empty", tags=SMALL)


SHAPES = [(), (67,), (1, 1, 1, 9), (2, 3, 1, 2, 3), (2, 2, 1, 2, 1, 2, 2), (4, 0), (1, 2, 1, 2, 1, 2, 1, 2)]


def shapes(make, types):
    for type in types:
        for number, shape in enumerate(SHAPES):
            yield make(type=type, shape=shape, name=f"{type}_shapes_{number}")
        yield make(type=type, shape=(1, 5), resize=(4, 5), name=f"{type}_resized")


def all_steps(type):
    """Returns every value of an 8-bit type, a selection of the others."""
    if type == "i8":
        return np.arange(-128, 128)
    if type == "u8":
        return np.arange(0, 256)
    edges = [-32768, -32767, -1, 0, 1, 32766, 32767]
    return np.concatenate([edges, np.arange(-32768, 32768, 127)])[:523]


SPECIAL = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, -0.5, 3e38, -3e38, 1.0, -1.0, 6.0,
                      6.5, 0.5, 1.5, 2.5, -2.5, 1e-3, -1e-3, 88.0, -88.0, 100.0, -100.0, 20.0,
                      -20.0, 9.0, -9.0, 3.0, -3.0, 1e-7, 1e7, 4e9, -4e9, 0.49999997])


# bfloat16 numbers over the whole range, as float32.
BRAINS = (np.arange(0, 65536, 37, np.uint32) << 16).view(np.float32)


def counts(op, options=None):
    """Yields cases with numbers of inputs and outputs that no such operator accepts."""
    for inputs, outputs in ((0, 1), (2, 1), (1, 2)):
        m = Model()
        xs = [m.input("f32", (2,)) for _ in range(inputs)]
        ys = [m.output("f32", (2,)) for _ in range(outputs)]
        m.op(op, xs, ys, **(options or {}))
        yield m.case(f"refused_{inputs}_inputs_{outputs}_outputs", "f32")


def refused_types(make, types):
    for type in ("f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"):
        if type not in types:
            yield make(type=type, name=f"refused_{type}")
    for type in types:
        if type in QUANTISED:
            yield make(type=type, qx=None, qo=None, bare=True, lenient=True,
                       name=f"{type}_without_quantisation")


def some(random, type, low=-3, high=0.3):
    """Draws a scale and zero point."""
    scale = float(10 ** random.uniform(low, high))
    if type == "i16":
        return q(scale)
    first = 0 if type == "u8" else -128
    return q(scale, int(random.integers(first, first + 256)))


def drawn_shape(random, smallest_rank=0):
    return tuple(int(n) for n in random.integers(1, 9, random.integers(smallest_rank, 5)))
