# SPDX-License-Identifier: Apache-2.0
"""REDUCE_WINDOW and DILATE."""
import numpy as np

from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL, SUM, ZERO_POINT, q
from ..pieces import In, Out, counts, node

OPERATORS = ["REDUCE_WINDOW", "DILATE"]
VERSIONS = {"REDUCE_WINDOW": 1, "DILATE": 1}
ADD, MUL, MIN, MAX, ALL, ANY = range(1, 7)
REDUCED = ["f32", "f64", "i8", "u8", "i16", "i32", "i64", "bool"]
DILATED = ["f32", "f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "c64"]


def reduce(type="f32", x=(4, 5), window=(2, 2), strides=None, dilations=None, function=ADD,
           init=0, const=True, index="i64", init_type=None, init_shape=(), out=None, quant=None,
           options=True, seed=1, data=None, resize=None, **case):
    rank = len(x)
    vectors = [(1,) * rank if v is None else v for v in (window, strides, dilations)]
    few = {} if type in ("f32", "f64", "bool") else dict(low=0, high=5)
    if type == "f64":
        few = dict(low=-2, high=2)
    inputs = [In(type, x, data, quant=quant, resize=resize, **few),
              In(init_type or type, init_shape, np.full(init_shape, init))]
    inputs += [In(index, np.shape(v), np.asarray(v, np.int64), const) for v in vectors]
    table = {"ReduceWindowOptions": dict(reduceFunction=function)} if options else {}
    summing = type in ("f32", "f64") and function in (ADD, MUL)
    return node("REDUCE_WINDOW", inputs, [Out(out or type, (1,), SUM if summing else EQUAL)],
                table=table, seed=seed, type=type, **case)


def _reduce():
    for type in REDUCED:
        yield reduce(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield reduce(type, (5, 2, 7, 3), (2, 1, 3, 2), (2, 1, 1, 1), (2, 1, 2, 1), MAX,
                     name=f"v1_{type}_odd", tags=ODD)
        yield reduce(type, (1,), (1,), name=f"v1_{type}_one", tags=SMALL)
        yield reduce(type, (0, 3), (1, 1), name=f"v1_{type}_empty", tags=SMALL)
        if type in ("i8", "u8"):
            yield reduce(type, quant=q(0.1, 7), name=f"v1_{type}_zero_point", tags=ZERO_POINT)
        for function in range(1, 7):
            yield reduce(type, (6, 7), (3, 2), (1, 2), (2, 1), function, init=1,
                         name=f"{type}_function_{function}")
            yield reduce(type, (2, 9), (1, 4), None, None, function, name=f"{type}_row_{function}")
    forms = [((7,), (3,), (2,), None), ((7,), (3,), None, (3,)), ((7,), (8,), None, None),
             ((7,), (4,), None, (3,)), ((2, 3, 1, 2, 3, 2), (1, 2, 1, 2, 2, 1), None, None),
             ((4, 4), (4, 4), None, None), ((4, 4), (2, 2), (5, 1), None), ((3, 0), (1, 2), None, None),
             ((7,), (1,), (7,), None), ((7,), (2**40,), None, None), ((7,), (2,), (2**40,), None),
             ((7,), (1,), None, (2**62,))]
    for number, (x, window, strides, dilations) in enumerate(forms):
        yield reduce("f32", x, window, strides, dilations, name=f"forms_{number}")
    wild = dict(undefined="divides by the stride, or steps outside of the input")
    for number, (window, strides, dilations) in enumerate((
            ((0,), None, None), ((-1,), None, None), ((2,), (0,), None), ((2,), (-1,), None),
            ((2,), None, (0,)), ((2,), None, (-2,)), ((-2**63,), (-2**63,), (-2**63,)),
            ((2**62,), None, (8,)))):
        yield reduce("f32", (7,), window, strides, dilations, name=f"hostile_{number}", **wild)
    for number, window in enumerate(((2,), (2, 2, 2), (), ((2, 2),))):
        yield reduce("f32", (4, 5), window, name=f"other_count_{number}",
                     undefined="reads past the window's extents")
    yield reduce("i32", (3,), (3,), data=[2**31 - 1, 2**31 - 1, 5], name="i32_wrapping")
    yield reduce("f32", (6,), (2,), function=MAX, data=np.float32([np.nan, 1, 2, np.nan, 0, -1]),
                 name="f32_nan_max", init=-9)
    yield reduce("f32", (6,), (2,), function=MIN, data=np.float32([np.nan, 1, 2, np.nan, 0, -1]),
                 name="f32_nan_min", init=9)
    yield reduce("f32", (2, 5), resize=(4, 5), name="f32_resized")
    yield reduce(const=False, name="refused_run_time_window")
    yield reduce(index="i32", name="refused_index_i32")
    yield reduce(init_type="i32", name="refused_init_type")
    yield reduce(init_shape=(1,), name="init_vector")
    yield reduce(init_shape=(2,), name="two_inits", lenient=True)
    yield reduce(init_shape=(0,), name="no_init", undefined="reads what is not there")
    yield reduce(out="i32", name="refused_output_type")
    yield reduce(options=False, name="refused_no_options")
    yield reduce(function=0, name="refused_function_0")
    yield reduce("f32", (), (), name="refused_scalar")
    yield reduce("f32", (1,) * 7, (1,) * 7, name="refused_rank_7")
    for type in ("f16", "u16", "u32", "u64", "c64"):
        yield reduce(type, name=f"refused_{type}")
    yield from counts("REDUCE_WINDOW", ((4, 1), (6, 1), (5, 2)),
                      {"ReduceWindowOptions": dict(reduceFunction=1)})


def dilate(type="f32", x=(3, 4), by=(2, 3), how="const", between=7, index="i32", out=None,
           between_type=None, between_shape=(), quant=None, seed=1, **case):
    by = np.asarray(by, np.int64)
    inputs = [In(type, x, quant=quant), In(index, by.shape, by, how == "const"),
              In(between_type or type, between_shape, np.full(between_shape, between))]
    return node("DILATE", inputs, [Out(out or type, (1,), EQUAL)], seed=seed, type=type, **case)


def _dilate():
    for type in DILATED:
        yield dilate(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield dilate(type, (2, 1, 3, 2), (1, 5, 2, 1), "input", name=f"v1_{type}_odd", tags=ODD)
        yield dilate(type, (1,), (9,), name=f"v1_{type}_one", tags=SMALL)
        if type in ("i8", "u8"):
            yield dilate(type, quant=q(0.1, 7), name=f"v1_{type}_zero_point", tags=ZERO_POINT)
    forms = [((5,), (1,)), ((5,), (4,)), ((3, 4), (1, 1)), ((3, 4), (1, 3)), ((3, 4), (3, 1)),
             ((2, 3, 2, 2, 2), (2, 1, 3, 1, 2)), ((1, 1), (2**31 - 1, 2**31 - 1)),
             ((2, 1) * 4, (2, 9) * 4), ((2, 3, 4), (2, 1, 1))]
    bad = [((3, 4), (0, 1)), ((3, 4), (2, -1)), ((3, 4), (2,)), ((3, 4), (2, 2, 2)),
           ((3, 4), ((2, 2),)), ((3, 4), (-2**31, 1))]
    for how in ("const", "input"):
        for number, (x, by) in enumerate(forms):
            wild = "strides of 32 bits overflow" if number == 6 else ""
            yield dilate("f32", x, by, how, name=f"forms_{how}_{number}", undefined=wild)
        for number, (x, by) in enumerate(bad):
            wild = "reads past the dilations" if how == "const" and number == 2 else ""
            yield dilate("f32", x, by, how, name=f"refused_{how}_{number}", undefined=wild)
        for number, (x, by) in enumerate((((0, 3), (1, 1)), ((0, 3), (2, 2)), ((3, 0), (1, 2)))):
            yield dilate("f32", x, by, how, name=f"empty_{how}_{number}",
                         undefined="writes an element where there is none")
        yield dilate("f32", (3, 4), (2**31 - 1, 2), how, name=f"overflow_{how}",
                     undefined="extents of 32 bits overflow")
    yield dilate(index="i64", name="index_i64", undefined="reads int64 dilations as int32")
    yield dilate(between_type="i32", name="refused_between_type")
    yield dilate(between_shape=(1,), name="between_vector")
    yield dilate(between_shape=(2,), name="two_between", lenient=True)
    yield dilate(between_shape=(0,), name="none_between", undefined="reads what is not there")
    yield dilate(out="i32", name="refused_output_type")
    yield dilate("f32", (), np.zeros((0,)), name="refused_scalar")
    yield from counts("DILATE", ((2, 1), (4, 1), (3, 2)))


def cases(op):
    yield from (_reduce if op == "REDUCE_WINDOW" else _dilate)()


def draw(op, random):
    x = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 5)))
    seed = int(random.integers(1, 2**30))
    if op == "DILATE":
        type, how = str(random.choice(DILATED)), str(random.choice(["const", "input"]))
        return dilate(type, x, random.integers(1, 4, len(x)), how, seed=seed,
                      name=f"draw_{type}_{x}")
    type = str(random.choice(REDUCED))
    window, strides, dilations = (random.integers(1, 4, len(x)) for _ in range(3))
    return reduce(type, x, window, strides, dilations, int(random.integers(1, 7)), seed=seed,
                  name=f"draw_{type}_{x}_{window}")
