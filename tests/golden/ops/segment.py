# SPDX-License-Identifier: Apache-2.0
"""SEGMENT_SUM and the UNSORTED_SEGMENT operators."""
import numpy as np

from ..model import EQUAL, ODD, ORDINARY, SMALL, SUM
from ..pieces import In, Out, counts, node

UNSORTED = ["UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_MIN", "UNSORTED_SEGMENT_PROD",
            "UNSORTED_SEGMENT_SUM"]
OPERATORS = ["SEGMENT_SUM"] + UNSORTED
VERSIONS = {op: 1 for op in OPERATORS}


def segment(op, type="f32", x=(4, 3), ids=(0, 0, 1, 2), number=3, how="input", ids_type="i32",
            number_type="i32", number_shape=(), out=None, data=None, seed=1, ids_dims=None, **case):
    ids = np.asarray(ids, np.int64)
    inputs = [In(type, x, data), In(ids_type, ids_dims or ids.shape, ids, how != "input")]
    if op != "SEGMENT_SUM":
        inputs.append(In(number_type, number_shape, np.full(number_shape, number), how != "input"))
    few = type == "f32" and op.endswith(("SUM", "PROD"))
    return node(op, inputs, [Out(out or type, (1,), SUM if few else EQUAL)], seed=seed, type=type,
                **case)


def cases(op):
    for type in ("f32", "i32"):
        yield segment(op, type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield segment(op, type, (5, 1, 2, 3), (0, 1, 1, 2, 3), 4, "const", name=f"v1_{type}_odd",
                      tags=ODD)
        yield segment(op, type, (1,), (0,), 1, name=f"v1_{type}_one", tags=SMALL)
        yield segment(op, type, (0, 3), (), 2, ids_dims=(0,), name=f"v1_{type}_empty", tags=SMALL)
        yield segment(op, type, (3, 0), (0, 1, 1), 2, name=f"v1_{type}_empty_rows", tags=SMALL)
    bad = [(1, 1, 2, 3), (0, 2, 2, 3), (0, 1, 0, 1), (-1, 0, 0, 0), (0, 0, 0, 2**31 - 1),
           (0, 0, 0), (0, 0, 0, 0, 0), ((0, 0, 1, 1),), (-2**31, 0, 0, 0)]
    for how in ("const", "input"):
        for number, ids in enumerate(bad if op == "SEGMENT_SUM" else ()):
            yield segment(op, ids=ids, how=how, name=f"refused_{how}_{number}")
        if op != "SEGMENT_SUM":
            yield from _unsorted(op, how)
    yield segment(op, "i32", (3, 2), (0, 0, 0), 1, data=[2**31 - 1, -2**31, 5, -1, 65537, 2],
                  name="i32_wrapping")
    special = np.float32([np.inf, -np.inf, np.nan, 1, 0.0, -0.0, np.inf, 2, -np.inf, np.nan])
    yield segment(op, "f32", (10,), (0, 0, 1, 1, 2, 2, 3, 4, 4, 4), 5, data=special,
                  name="f32_special")
    for type in ("f16", "i8", "u8", "i16", "i64", "u32", "bool"):
        yield segment(op, type, name=f"refused_{type}")
    for type in ("i64", "i16", "f32"):
        yield segment(op, ids_type=type, name=f"refused_ids_{type}")
    yield segment(op, x=(), ids=(), ids_dims=(), name="scalar", lenient=True) \
        if op != "SEGMENT_SUM" else segment(op, x=(), ids=(0,), name="refused_scalar")
    yield segment(op, out="i16", name="output_type",
                  undefined="the output's type in the file is not the data's")
    yield from counts(op, ((1, 1), (4, 1), (3 if op != "SEGMENT_SUM" else 2, 2)))


def _unsorted(op, how):
    forms = [((4, 3), (2, 0, 2, 1), 3), ((4, 3), (2, -1, 2, -7), 5), ((4, 3), (0, 0, 0, 0), 1),
             ((2, 3, 2), ((0, 1, 0), (3, 3, -1)), 4), ((2, 3), ((1, 0, 1), (1, 0, 1)), 2),
             ((3, 2), 1, 3), ((4,), (-1, -1, -1, -2**31), 2), ((0, 2), np.zeros((0,)), 0),
             ((2, 2), (-1, -1), 0)]
    for number, (x, ids, segments) in enumerate(forms):
        for type in ("f32", "i32"):
            yield segment(op, type, x, ids, segments, how, ids_dims=np.asarray(ids).shape,
                          name=f"{type}_forms_{how}_{number}")
    bad = [((4, 3), (0, 1, 2, 3), 3), ((4, 3), (0, 1, 2, 2**31 - 1), 3), ((4, 3), (0, 1, 2, 0), -1),
           ((4, 3), (0, 1, 2, 0), -2**31), ((4, 3), (0, 1, 2), 3), ((4, 3), (0, 1, 2, 0, 0), 3),
           ((4, 3), ((0, 1, 2, 0),), 3), ((4,), ((0, 0, 1, 1),), 3), ((4, 3), (0, 0, 0, 0), 0)]
    for number, (x, ids, segments) in enumerate(bad):
        yield segment(op, "f32", x, ids, segments, how, name=f"refused_{how}_{number}")
    yield segment(op, how=how, number_shape=(1,), name=f"number_vector_{how}")
    for shape in ((2,), (1, 1)):
        yield segment(op, how=how, number_shape=shape, name=f"refused_number_{how}_{shape}")
    yield segment(op, how=how, number_type="i64", name=f"refused_number_type_{how}")


def draw(op, random):
    shape = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 5)))
    type, how = str(random.choice(["f32", "i32"])), str(random.choice(["const", "input"]))
    seed = int(random.integers(1, 2**30))
    if op == "SEGMENT_SUM":
        ids = np.cumsum(random.integers(0, 2, shape[0]))
        return segment(op, type, shape, ids - ids[0], how=how, seed=seed, name=f"draw_{shape}")
    number = int(random.integers(1, 6))
    ids = random.integers(-1, number, shape[:int(random.integers(0, len(shape) + 1))])
    return segment(op, type, shape, ids, number, how, seed=seed, ids_dims=ids.shape,
                   name=f"draw_{shape}_{ids.shape}")
