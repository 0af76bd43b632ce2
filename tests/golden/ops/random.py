# SPDX-License-Identifier: Apache-2.0
"""The random operators: the same numbers for the same seeds or state."""
import numpy as np

from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL
from ..pieces import In, Out, counts, node

BITS = "STABLEHLO_RNG_BIT_GENERATOR"
OPERATORS = ["RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM", "MULTINOMIAL", BITS]
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


DEFAULT, PHILOX, THREEFRY = range(3)


def bits(out="u32", shape=(3, 4), state=(0x0123456789abcdef, 0xfedcba9876543210), algorithm=PHILOX,
         const=False, state_type="u64", state_shape=None, next_shape=None, next_type="u64", options=True,
         **case):
    values = np.asarray(state, np.uint64)
    inputs = [In(state_type, values.shape if state_shape is None else state_shape, values, const)]
    outputs = [Out(next_type, values.shape if next_shape is None else next_shape, EQUAL),
               Out(out, shape, EQUAL)]
    table = {"StablehloRngBitGeneratorOptions": dict(algorithm=algorithm)} if options else {}
    return node(BITS, inputs, outputs, table=table, type=out, **case)


def _bits():
    most = 2**64 - 1
    for out in ("u32", "i32", "u64", "i64"):
        yield bits(out, name=f"v1_{out}_plain", tags=ORDINARY)
        yield bits(out, (5, 1, 3), algorithm=THREEFRY, name=f"v1_{out}_odd", tags=ODD)
        yield bits(out, (), name=f"v1_{out}_scalar", tags=SMALL)
        yield bits(out, (0, 3), name=f"v1_{out}_empty", tags=SMALL)
        for algorithm in (DEFAULT, PHILOX, THREEFRY):
            yield bits(out, (3, 3, 3), (3, 5), algorithm, name=f"{out}_odd_{algorithm}")
    for algorithm in (PHILOX, THREEFRY):
        for number, state in enumerate(((0, 0), (1, 0), (0, 1), (most, most), (7, 2**32 - 1),
                                        (7, 2**32 - 3), (2**63, most - 1), (2**32, most))):
            yield bits("u32", (19,), state, algorithm, name=f"states_{algorithm}_{number}")
            yield bits("u64", (19,), state, algorithm, const=True,
                       name=f"constants_{algorithm}_{number}")
        yield bits("u32", (700,), algorithm=algorithm, name=f"many_{algorithm}")
    for number, state in enumerate(((0, 0, 0), (1, 2, 3), (5, most, most), (2**40, 2**50, 2**60))):
        yield bits("u32", (19,), state, name=f"three_{number}")
        yield bits("u64", (19,), state, DEFAULT, name=f"three_default_{number}")
        yield bits("u32", (19,), state, THREEFRY, name=f"refused_three_threefry_{number}")
    for state in ((), (1,), (1, 2, 3, 4)):
        yield bits(state=state, name=f"refused_state_of_{len(state)}")
        yield bits(state=state, algorithm=THREEFRY, name=f"refused_threefry_state_of_{len(state)}")
    yield bits(state=((1, 2),), name="refused_matrix")
    yield bits(state=1, name="refused_scalar")
    yield bits(state_type="i64", state=(1, 2), name="refused_i64_state")
    yield bits(next_type="i64", name="refused_i64_next_state")
    yield bits(next_shape=(3,), name="refused_next_shape")
    yield bits(options=False, name="no_options")
    for out in ("f32", "i8", "u16", "bool"):
        yield bits(out, name=f"refused_{out}")
    yield bits(algorithm=9, name="refused_algorithm")
    yield from counts(BITS, ((0, 2), (2, 2), (1, 1), (1, 3)),
                      {"StablehloRngBitGeneratorOptions": dict(algorithm=1)})


def cases(op):
    make = {"MULTINOMIAL": _samples, BITS: _bits}
    yield from make[op]() if op in make else _numbers(op)


def draw(op, random):
    seeds = tuple(int(n) for n in random.integers(1, 2**31, 2))
    how = str(random.choice(["const", "input"]))
    if op == BITS:
        shape = tuple(int(n) for n in random.integers(1, 9, random.integers(1, 4)))
        return bits(str(random.choice(["u32", "i32", "u64", "i64"])), shape, seeds,
                    int(random.integers(3)), how == "const", name=f"draw_{shape}")
    if op == "MULTINOMIAL":
        logits = tuple(int(n) for n in random.integers(1, 9, 2))
        return samples(logits, int(random.integers(0, 40)), seeds, how, seed=seeds[0],
                       name=f"draw_{logits}")
    shape = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 4))) + (2,)
    return numbers(op, shape, seeds, how, name=f"draw_{shape}")
