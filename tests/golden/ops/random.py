# SPDX-License-Identifier: Apache-2.0
"""RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL with seeds: the same numbers."""
import numpy as np

from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL
from ..pieces import In, Out, counts, node

OPERATORS = ["RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL"]
VERSIONS = {op: 1 for op in OPERATORS}
PAST_END = "of an odd number of elements, one more is written"


def table(seed, seed2):
    return {"RandomOptions": dict(seed=seed, seed2=seed2)}


def numbers(op, shape=(2, 3), seeds=(1, 2), how="const", index="i32", out="f32", dims=None,
            **case):
    values = np.asarray(shape, np.int64)
    inputs = [In(index, values.shape if dims is None else dims, values, how == "const")]
    return node(op, inputs, [Out(out, (1,), EQUAL if op.endswith("UNIFORM") else ELEMENT)],
                table=table(*seeds), **case)


def _numbers(op):
    yield numbers(op, name="v1_i32_plain", tags=ORDINARY)
    yield numbers(op, (3, 1, 4, 5), (-7, 0), "input", name="v1_i32_odd", tags=ODD)
    yield numbers(op, (2,), name="v1_i32_two", tags=SMALL)
    yield numbers(op, (0, 3), name="v1_i32_empty", tags=SMALL)
    for how in ("const", "input"):
        for number, seeds in enumerate(((0, 1), (1, 0), (-1, -1), (2**31 - 1, -2**31),
                                        (2**40 + 3, 5), (12345, 2**62))):
            yield numbers(op, (5, 6), seeds, how, name=f"seeds_{how}_{number}")
        for number, shape in enumerate(((4,), (2, 5), (700,), (1, 2) * 4, (2, 2, 0))):
            yield numbers(op, shape, how=how, name=f"forms_{how}_{number}")
        odd = PAST_END if op.endswith("NORMAL") else ""
        for number, shape in enumerate(((1,), (3,), (7, 3), ())):
            yield numbers(op, shape, how=how, dims=(len(shape),), undefined=odd,
                          name=f"odd_{how}_{number}")
        yield numbers(op, (2, -3), how=how, name=f"negative_{how}",
                      undefined="a negative dimension is not checked")
        yield numbers(op, ((2, 3),), how=how, name=f"refused_matrix_{how}")
        yield numbers(op, 2, how=how, name=f"refused_scalar_{how}")
        yield numbers(op, index="i64", how=how, name=f"refused_index_{how}")
        yield numbers(op, out="f16", how=how, name=f"refused_output_{how}")
    yield from counts(op, ((0, 1), (2, 1), (1, 2)), table(1, 2))


def samples(logits=(2, 5), count=7, seeds=(1, 2), how="input", const_logits=False, out="i64",
            type="f32", index="i32", count_shape=(), data=None, seed=1, **case):
    inputs = [In(type, logits, data, const_logits),
              In(index, count_shape, np.full(count_shape, count), how == "const")]
    return node("MULTINOMIAL", inputs, [Out(out, (1,), EQUAL)], table=table(*seeds), seed=seed,
                **case)


def _samples():
    yield samples(name="v1_f32_plain", tags=ORDINARY)
    yield samples((3, 1), 5, (7, -9), "const", out="i32", name="v1_f32_odd", tags=ODD)
    yield samples((1, 1), 1, name="v1_f32_one", tags=SMALL)
    yield samples((0, 3), 2, name="v1_f32_empty", tags=SMALL)
    for how in ("const", "input"):
        for const in (True, False):
            name = f"{how}_{'constant' if const else 'fed'}"
            more = dict(how=how, const_logits=const)
            for out in ("i32", "i64"):
                yield samples((4, 9), 50, (3, 4), out=out, **more, name=f"{name}_{out}")
            yield samples(count=0, **more, name=f"{name}_none")
            yield samples((1, 700), 33, **more, name=f"{name}_classes")
            yield samples(count=-1, **more, name=f"refused_{name}_count",
                          undefined="a negative dimension is not checked" if const and
                          how == "const" else "")
        yield samples(count_shape=(1,), how=how, name=f"refused_{how}_count_vector")
        yield samples(index="i64", how=how, name=f"refused_{how}_count_i64")
    wild = np.float32([[np.inf, 0, 1], [-np.inf, 0, 1], [np.nan, 0, 1], [-np.inf, np.nan, np.inf],
                       [3e38, 3e38, -3e38]])
    yield samples((5, 3), 20, data=wild, name="f32_wild")
    yield samples((2, 3), 20, data=[[100, 0, -100], [0, 0, 0]], name="f32_sure")
    yield samples((2, 0), name="refused_no_classes")
    for shape in ((5,), (2, 3, 4), ()):
        yield samples(shape, name=f"refused_rank_{len(shape)}")
    yield samples(type="f64", name="refused_f64")
    yield samples(out="f32", name="refused_output")
    yield from counts("MULTINOMIAL", ((1, 1), (3, 1), (2, 2)), table(1, 2))


def cases(op):
    yield from _samples() if op == "MULTINOMIAL" else _numbers(op)


def draw(op, random):
    seeds = tuple(int(n) for n in random.integers(1, 2**31, 2))
    how = str(random.choice(["const", "input"]))
    if op == "MULTINOMIAL":
        logits = tuple(int(n) for n in random.integers(1, 9, 2))
        return samples(logits, int(random.integers(0, 40)), seeds, how, seed=seeds[0],
                       name=f"draw_{logits}")
    shape = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 4))) + (2,)
    return numbers(op, shape, seeds, how, name=f"draw_{shape}")
