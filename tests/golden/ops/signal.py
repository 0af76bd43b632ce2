# SPDX-License-Identifier: Apache-2.0
"""RFFT2D, REAL, IMAG and COMPLEX_ABS."""
import numpy as np

from ..model import ELEMENT, ODD, ORDINARY, SMALL, SUM
from ..pieces import In, Out, counts, node

OPERATORS = ["RFFT2D", "REAL", "IMAG", "COMPLEX_ABS"]
VERSIONS = {op: 1 for op in OPERATORS}


def part(op, type="c64", shape=(2, 3), out=None, data=None, seed=1, resize=None, **case):
    out = out or {"c64": "f32", "c128": "f64"}.get(type, "f32")
    return node(op, [In(type, shape, data, resize=resize)], [Out(out, shape, ELEMENT)], seed=seed,
                **case)


def _parts(op):
    for type in ("c64", "c128"):
        yield part(op, type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield part(op, type, (3, 1, 5, 7), name=f"v1_{type}_odd", tags=ODD)
        yield part(op, type, (1,), name=f"v1_{type}_one", tags=SMALL)
        yield part(op, type, (0, 3), name=f"v1_{type}_empty", tags=SMALL)
        yield part(op, type, (), name=f"{type}_scalar")
        yield part(op, type, (1, 3), resize=(4, 3), name=f"{type}_resized")
        numbers = [0, -0.0, 3, -4, np.inf, -np.inf, np.nan, 1e-30, 3e38]
        special = np.array([complex(a, b) for a in numbers for b in numbers])
        yield part(op, type, special.shape, data=special, name=f"{type}_special")
        yield part(op, type, out="i32", name=f"refused_{type}_to_i32")
    yield part(op, "c64", out="f64", name="refused_c64_to_f64")
    yield part(op, "c128", out="f32", name="refused_c128_to_f32")
    for type in ("f32", "f64", "i32"):
        yield part(op, type, name=f"refused_{type}")
    yield from counts(op, ((0, 1), (2, 1), (1, 2)))


def rfft(x=(4, 8), lengths=(4, 8), how="const", index="i32", type="f32", out="c64", shape=None,
         data=None, seed=1, resize=None, **case):
    lengths = np.asarray(lengths, np.int64)
    inputs = [In(type, x, data, resize=resize),
              In(index, lengths.shape if shape is None else shape, lengths, how == "const")]
    return node("RFFT2D", inputs, [Out(out, (1,), SUM)], seed=seed, **case)


THIN = "transforms of one column come out wrong"


def _transforms():
    yield rfft(name="v1_f32_plain", tags=ORDINARY)
    yield rfft((2, 3, 5, 9), (8, 4), name="v1_f32_odd", tags=ODD)
    yield rfft((1, 1), (2, 4), name="v1_f32_one", tags=SMALL)
    yield rfft((0, 4, 8), name="v1_f32_empty", tags=SMALL)
    for how in ("const", "input"):
        for number, (x, lengths) in enumerate((
                ((8, 8), (8, 8)), ((16, 16), (16, 16)), ((32, 8), (32, 8)), ((2, 64), (2, 64)),
                ((5, 7), (8, 8)), ((9, 30), (4, 16)), ((3, 9, 6), (2, 8)), ((2, 1, 2, 4, 4), (4, 4)),
                ((0, 8), (2, 8)), ((3, 0), (4, 8)), ((32, 64), (32, 64)))):
            yield rfft(x, lengths, how, name=f"forms_{how}_{number}")
        for number, lengths in enumerate(((3, 8), (4, 6), (0, 8), (4, 0), (-1, 8), (4, -8),
                                          (2**31 - 1, 8))):
            yield rfft(lengths=lengths, how=how, name=f"refused_{how}_{number}")
        for lengths in ((-2**31, 8), (4, -2**31)):
            yield rfft(lengths=lengths, how=how, name=f"smallest_{how}_{lengths}",
                       undefined="takes the smallest integer for a power of two")
        for number, lengths in enumerate(((1, 1), (1, 2), (2, 1), (1, 8), (8, 1), (8, 2), (1, 4))):
            yield rfft((8, 8), lengths, how, name=f"thin_{how}_{number}",
                       undefined=THIN if lengths[1] == 1 else "")
        yield rfft(lengths=(2**30, 2**30), how=how, name=f"far_{how}",
                   undefined="its work areas overflow")
        yield rfft(lengths=(4,), how=how, name=f"refused_{how}_one_length")
        yield rfft(lengths=(4, 8, 2), how=how, name=f"refused_{how}_three_lengths")
        yield rfft(lengths=((4, 8),), how=how, name=f"refused_{how}_matrix")
    yield rfft((1, 8), resize=(4, 8), name="f32_resized")
    yield rfft(data=np.float32([np.inf] + [1] * 31), name="f32_infinite",
               undefined="where NaN comes up depends on the order of the sums")
    yield rfft((8,), name="refused_vector")
    yield rfft(index="i64", name="refused_index_i64")
    for type in ("f16", "f64", "i32", "c64"):
        yield rfft(type=type, name=f"refused_{type}")
    yield rfft(out="f32", name="output_type",
               undefined="the output's type in the file is not the operator's")
    yield from counts("RFFT2D", ((1, 1), (3, 1), (2, 2)))


def cases(op):
    yield from _transforms() if op == "RFFT2D" else _parts(op)


def draw(op, random):
    x = tuple(int(n) for n in random.integers(1, 7, random.integers(2, 4)))
    seed = int(random.integers(1, 2**30))
    if op != "RFFT2D":
        type = str(random.choice(["c64", "c128"]))
        return part(op, type, x, seed=seed, name=f"draw_{type}_{x}")
    lengths = 2 ** random.integers(0, 4), 2 ** random.integers(1, 5)
    return rfft(x, lengths, str(random.choice(["const", "input"])), seed=seed,
                name=f"draw_{x}_{lengths}")
