# SPDX-License-Identifier: Apache-2.0
"""ARG_MAX, ARG_MIN, TOPK_V2, WHERE, UNIQUE and BUCKETIZE. All their results are compared for equality."""
import numpy as np

from .. import generator
from ..model import EQUAL, ODD, ORDINARY, SMALL, TYPES as NUMBERS, ZERO_POINT, Model, q
from ..pieces import In, Out, counts, node

OPERATORS = ["ARG_MAX", "ARG_MIN", "TOPK_V2", "WHERE", "UNIQUE", "BUCKETIZE"]
VERSIONS = {"ARG_MAX": 3, "ARG_MIN": 3, "TOPK_V2": 3, "WHERE": 2, "UNIQUE": 1, "BUCKETIZE": 1}
TYPES = {"ARG_MAX": ("f32", "i8", "u8", "i32", "bool"), "ARG_MIN": ("f32", "i8", "u8", "i32", "bool"),
         "TOPK_V2": ("f32", "i8", "u8", "i16", "i32", "i64"),
         "WHERE": ("bool", "f32", "i8", "u8", "i32", "u32", "i64"),
         "UNIQUE": ("f32", "i8", "u8", "i16", "i32", "i64"), "BUCKETIZE": ("f32", "f64", "i32", "i64")}
ALL = ("f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool")
QUANT = {"i8": q(0.1, 7), "u8": q(0.1, 77), "i16": q(0.1)}


def _input(m, type, shape, quant=False, **more):
    return m.input(type, shape, QUANT.get(type) if quant else None, **more)


def arg(op, type="f32", shape=(3, 5), axis=-1, axis_type="i32", out="i32", const_axis=True,
        version=1, quant=False, seed=1, data=None, low=None, high=None, resize=None,
        axis_shape=(), out_type=None, **case):
    m = Model(seed)
    x = _input(m, type, shape, quant, data=data, low=low, high=high, resize=resize)
    a = (m.const if const_axis else m.input)(axis_type, axis_shape,
                                             data=np.full(axis_shape, axis))
    y = m.output(out_type or out, (1,), rule=EQUAL)
    m.op(op, [x, a], [y], version,
         **{("ArgMaxOptions" if op == "ARG_MAX" else "ArgMinOptions"):
            dict(outputType=NUMBERS[out][0])})
    return m.case(type=type, **case)


def top(type="f32", shape=(3, 7), k=3, k_type="i32", out="i32", const_k=True, version=1,
        quant=False, seed=1, data=None, low=None, high=None, resize=None, k_shape=(),
        out_type=None, **case):
    m = Model(seed)
    x = _input(m, type, shape, quant, data=data, low=low, high=high, resize=resize)
    count = (m.const if const_k else m.input)(k_type, k_shape, data=np.full(k_shape, k))
    values = m.output(out_type or type, (1,), QUANT.get(type) if quant else None, rule=EQUAL)
    m.op("TOPK_V2", [x, count], [values, m.output(out, (1,), rule=EQUAL)], version)
    return m.case(type=type, **case)


def where(type="bool", shape=(3, 4), version=1, quant=False, seed=1, data=None, const=False,
          low=0, high=None, resize=None, out_type="i64", **case):
    m = Model(seed)
    if data is None:   # about half of the elements are 0
        count = int(np.prod(resize or shape, dtype=np.int64))
        data = (generator.splitmix64(seed, count) >> np.uint64(40)) % np.uint64(2)
        data = data.astype(np.int64).reshape(resize or shape)
    x = m.const(type, shape, data=data) if const else _input(m, type, shape, quant, data=data,
                                                             resize=resize)
    m.op("WHERE", [x], [m.output(out_type, (1, 1), rule=EQUAL)], version)
    return m.case(type=type, **case)


def unique(type="f32", count=9, out="i32", data=None, quant=False, seed=1, shape=None,
           positions=None, values=None, options=True, resize=None, **case):
    few = {} if data is not None else dict(low=0, high=5)
    if data is None and type in ("f32", "f16", "f64"):
        data = np.float32(np.arange(count) * 7 % 5 - 2)
    x = In(type, (count,) if shape is None else shape, data,
           quant=QUANT.get(type) if quant else None, resize=resize, **few)
    table = {"UniqueOptions": dict(idxOutType=NUMBERS[out][0])} if options else {}
    return node("UNIQUE", [x], [Out(values or type, (1,), EQUAL), Out(positions or out, (1,), EQUAL)],
                table=table, seed=seed, **case)


def _unique():
    for type in TYPES["UNIQUE"]:
        yield unique(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield unique(type, 67, "i64", name=f"v1_{type}_odd", tags=ODD)
        yield unique(type, 1, name=f"v1_{type}_one", tags=SMALL)
        yield unique(type, 0, name=f"v1_{type}_empty", tags=SMALL)
        if type in ("i8", "u8"):
            yield unique(type, quant=True, name=f"v1_{type}_zero_points", tags=ZERO_POINT)
        yield unique(type, 1, data=np.arange(7), shape=(7,), name=f"{type}_all_different")
        yield unique(type, 700, seed=5, name=f"{type}_many")
        yield unique(type, 2, resize=(6,), data=np.array([3, 1, 3, 2, 1, 9]), name=f"{type}_resized")
    yield unique("i64", 4, data=np.array([2**40, 1, 2**40, -2**63]), name="i64_far")
    yield unique("f32", 8, data=np.float32([0.0, -0.0, np.inf, -np.inf, np.inf, 1e-40, 3, -0.0]),
                 undefined="whether a denormal is 0 is the processor's mode", name="f32_denormal")
    yield unique("f32", 7, data=np.float32([0.0, -0.0, np.inf, -np.inf, np.inf, 3, -0.0]),
                 name="f32_special")
    yield unique("f32", 6, data=np.float32([np.nan, 1, np.nan, 0, 1, 2]), name="f32_nan",
                 undefined="NaN has no place in an order")
    for type in ("f16", "u16", "u32", "bool", "f64"):
        yield unique(type, name=f"refused_{type}")
    yield unique(shape=(3, 3), name="refused_matrix")
    yield unique(shape=(), data=np.float32(1), name="refused_scalar")
    yield unique(positions="i64", name="refused_positions_i64")
    yield unique(out="i64", positions="i32", name="refused_positions_i32")
    yield unique(out="f32", name="refused_positions_f32", positions="f32")
    yield unique(out="i16", positions="i32", name="positions_option_i16")
    yield unique(values="i32", name="refused_values_type")
    yield unique(options=False, name="no_options")
    yield from counts("UNIQUE", ((0, 2), (2, 2), (1, 1), (1, 3)))


def bucketize(type="f32", shape=(3, 5), boundaries=(-1.0, 0.0, 0.5, 7.0), data=None, out="i32",
              seed=1, options=True, resize=None, **case):
    x = In(type, shape, data, low=-4, high=9, resize=resize)
    table = {"BucketizeOptions": dict(boundaries=np.asarray(boundaries, np.float32))}
    return node("BUCKETIZE", [x], [Out(out, shape, EQUAL)], table=table if options else {},
                seed=seed, **case)


def _bucketize():
    for type in TYPES["BUCKETIZE"]:
        yield bucketize(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield bucketize(type, (2, 1, 3, 7), (0.25,), name=f"v1_{type}_odd", tags=ODD)
        yield bucketize(type, (1,), name=f"v1_{type}_one", tags=SMALL)
        yield bucketize(type, (0, 3), name=f"v1_{type}_empty", tags=SMALL)
        yield bucketize(type, (), name=f"{type}_scalar")
        yield bucketize(type, (1, 3), resize=(4, 3), name=f"{type}_resized")
        yield bucketize(type, boundaries=(-1, 2, 2, 2, 3), data=np.arange(15) - 5,
                        name=f"{type}_equal_boundaries")
        yield bucketize(type, boundaries=np.arange(-300, 300) / 7, shape=(40,),
                        name=f"{type}_many_boundaries")
        yield bucketize(type, boundaries=(1, 0), name=f"refused_{type}_falling")
        yield bucketize(type, out="i64", name=f"{type}_output_type",
                        undefined="the output's type in the file is not int32")
    special = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30])
    yield bucketize("f32", (6,), data=special, name="f32_special")
    yield bucketize("f32", (6,), (-np.inf, 0, np.inf), special, name="f32_infinite_boundaries")
    yield bucketize("f32", (6,), (-1, np.nan, 1), special, name="f32_nan_boundary", lenient=True)
    yield bucketize("f64", (3,), (0.1, 16777216), [0.1, 16777217.0, float(np.float32(0.1))],
                    name="f64_finer_than_f32")
    yield bucketize("i64", (3,), (0, 2.0**62), [2**62 - 1, 2**62 + 1, -2**63], name="i64_far")
    yield bucketize("i32", (2,), (16777216,), [16777217, 16777215], name="i32_beyond_f32")
    yield bucketize(boundaries=(), name="no_boundaries", lenient=True)
    yield bucketize(options=False, name="no_options", undefined="reads what is no parameters")
    for type in ("f16", "i8", "u8", "i16", "u32", "bool"):
        yield bucketize(type, data=np.zeros(15), name=f"refused_{type}")
    yield from counts("BUCKETIZE", ((0, 1), (2, 1), (1, 2)),
                      {"BucketizeOptions": dict(boundaries=np.float32([0, 1]))})


def cases(op):
    if op in ("UNIQUE", "BUCKETIZE"):
        yield from (_unique if op == "UNIQUE" else _bucketize)()
        return

    def make(**more):
        return {"TOPK_V2": top, "WHERE": where}[op](**more) if op in ("TOPK_V2", "WHERE") \
            else arg(op, **more)
    for version in range(1, VERSIONS[op] + 1):
        for type in TYPES[op]:
            name = f"v{version}_{type}"
            one = dict(k=1) if op == "TOPK_V2" else {}
            yield make(type=type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield make(type=type, shape=(2, 3, 1, 5), version=version, seed=2,
                       name=f"{name}_odd", tags=ODD)
            if type in ("i8", "u8"):
                yield make(type=type, version=version, quant=True, seed=3,
                           name=f"{name}_zero_points", tags=ZERO_POINT)
            yield make(type=type, shape=(1,), version=version, name=f"{name}_one", tags=SMALL,
                       **one)
            yield make(type=type, shape=(0, 3), version=version, name=f"{name}_empty", tags=SMALL)
    for type in ALL:
        if type not in TYPES[op]:
            yield make(type=type, name=f"refused_{type}")
    for type in TYPES[op]:
        yield make(type=type, shape=(1, 5), resize=(4, 5), name=f"{type}_resized")
    yield from {"TOPK_V2": _top, "WHERE": _where}.get(op, lambda: _arg(op))()
    for inputs, outputs in ((0, 1), (3, 1), (1, 3)):
        m = Model()
        xs = [m.input("f32", (2,)) for _ in range(inputs)]
        m.op(op, xs, [m.output("f32", (2,)) for _ in range(outputs)])
        yield m.case(f"refused_{inputs}_inputs_{outputs}_outputs", "f32")


def _arg(op):
    for type in TYPES[op]:
        for number, (shape, axis) in enumerate([
                ((7,), 0), ((3, 5), 0), ((3, 5), -2), ((2, 3, 4), 1), ((2, 3, 4), -1),
                ((2, 3, 4), 0), ((2, 2, 3, 2, 2, 2), 2), ((2, 33, 70), 1), ((5, 130), 0),
                ((1, 2, 1, 2, 1, 2, 2, 2), 7)]):
            few = dict(low=0, high=5) if type in ("i8", "u8", "i32") else {}
            yield arg(op, type, shape, axis, out="i64" if number % 2 else "i32",
                      axis_type="i64" if number % 3 == 0 else "i32", **few,
                      name=f"{type}_shapes_{number}")
    for axis in (0, 1, 2, -1, -3):
        yield arg(op, "f32", (2, 3, 4), axis, const_axis=False, name=f"f32_axis_input_{axis}")
    for axis in (3, -4, 2**31 - 1, -2**31):
        yield arg(op, "f32", (2, 3, 4), axis, name=f"refused_axis_{axis}")
        yield arg(op, "f32", (2, 3, 4), axis, const_axis=False, name=f"refused_axis_input_{axis}")
    yield arg(op, "f32", (2, 3), 2**32, axis_type="i64", lenient=True, name="f32_axis_beyond_int32")
    yield arg(op, "f32", (2, 3), 1, axis_shape=(1,), name="f32_axis_vector")
    yield arg(op, "f32", (2, 3), 1, axis_shape=(2,), name="refused_two_axes")
    yield arg(op, "f32", (2, 3), 1, axis_type="i16", name="refused_axis_i16")
    yield arg(op, "f32", (2, 3), 1, out="i16", name="refused_output_i16")
    yield arg(op, "f32", (2, 3), 1, out="f32", name="refused_output_f32")
    yield arg(op, "f32", (2, 3), 1, out="i64", out_type="i32", name="f32_output_type_from_options")
    yield arg(op, "f32", (), 0, name="refused_scalar")
    yield arg(op, "f32", (0, 3), -1, name="f32_none_to_answer")
    yield arg(op, "f32", (3, 0), -1, undefined="the best of nothing: reads past the end",
              name="f32_best_of_nothing")
    yield arg(op, "f32", (4, 4), data=np.float32([1, 1, 1, 1, 0, -0.0, 0, 5, np.inf, -np.inf,
                                                 np.inf, 0, -1, -1, -2, -2]), name="f32_ties")
    nan = np.float32([np.nan, 1, 2, 0, 1, np.nan, 2, 0, 1, 2, 0, np.nan])
    yield arg(op, "f32", (3, 4), data=nan, undefined="NaN: the result depends on vector widths",
              name="f32_nan")
    yield arg(op, "f32", (3, 1003), name="f32_long")
    yield arg(op, "i8", (3, 1003), name="i8_long")
    yield arg(op, "u8", (3, 1003), name="u8_long")


def _top():
    for type in TYPES["TOPK_V2"]:
        few = dict(low=0, high=5) if type != "f32" else {}
        for number, (shape, k) in enumerate([((7,), 7), ((3, 5), 0), ((2, 3, 4), 4), ((9, 40), 13),
                                             ((2, 1, 2, 1, 3), 2), ((1, 1), 1), ((4, 5), 1)]):
            yield top(type, shape, k, **few, name=f"{type}_shapes_{number}")
        yield top(type, k=2, k_type="i16", out="i16", name=f"{type}_int16")
        yield top(type, k=2, const_k=False, name=f"{type}_k_input")
        yield top(type, (3, 0), 0, name=f"{type}_empty_rows")
    for k in (8, 2**31 - 1):
        yield top(k=k, name=f"refused_k_{k}")
        yield top(k=k, const_k=False, name=f"refused_k_input_{k}")
    for k in (-1, -2**31):
        yield top(k=k, name=f"f32_k_{k}")
        yield top(k=k, const_k=False, name=f"f32_k_input_{k}")
    yield top(k=2, k_shape=(1,), name="f32_k_vector")
    yield top(k=2, k_shape=(2,), name="refused_two_k")
    yield top(k=2, k_type="i64", name="refused_k_i64")
    yield top(k=2, out="i64", name="refused_indices_i64")
    yield top(k=2, out_type="i32", name="refused_values_type")
    yield top(shape=(), k=1, name="refused_scalar")
    yield top(shape=(2, 6), k=4, name="f32_ties",
              data=np.float32([1, 1, 2, 2, 1, 2, np.inf, -np.inf, 0, -0.0, np.inf, 3]))
    yield top(shape=(2, 5), k=3, undefined="NaN has no place in an order", name="f32_nan",
              data=np.float32([np.nan, 1, 2, np.nan, 0, 1, 2, 3, 4, np.nan]))


def _where():
    for type in TYPES["WHERE"]:
        for number, shape in enumerate([(67,), (2, 3, 4), (1, 1), (2, 1, 2, 1, 3), (3, 0),
                                        (1, 2, 1, 2, 1, 2, 1, 2)]):
            yield where(type, shape, seed=9, name=f"{type}_shapes_{number}")
        yield where(type, (3, 4), const=True, seed=4, name=f"{type}_constant")
        yield where(type, (3, 4), data=np.zeros(12), name=f"{type}_none")
        yield where(type, (3, 4), data=np.ones(12), name=f"{type}_every")
    yield where(shape=(), data=np.ones(()), name="refused_scalar")
    yield where("f32", (6,), data=np.float32([0.0, -0.0, np.nan, np.inf, 1e-40, -1]),
                undefined="whether a denormal is 0 is the processor's mode", name="f32_denormal")
    yield where("f32", (5,), data=np.float32([0.0, -0.0, np.nan, np.inf, -1]), name="f32_special")
    yield where("i64", (3,), data=np.array([2**32, 0, -1]), name="i64_high_bits")
    yield where(out_type="i32", name="output_type")


def draw(op, random):
    type = str(random.choice(TYPES[op]))
    shape = tuple(int(n) for n in random.integers(1, 9, random.integers(1, 5)))
    more = dict(version=int(random.integers(1, VERSIONS[op] + 1)),
                seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{shape}")
    if op in ("UNIQUE", "BUCKETIZE"):
        del more["version"]
    if op == "UNIQUE":
        count, out = int(random.integers(0, 200)), str(random.choice(["i32", "i64"]))
        return unique(type, count, out, random.integers(0, 9, count), **more)
    if op == "BUCKETIZE":
        return bucketize(type, shape, np.sort(random.uniform(-4, 9, int(random.integers(1, 9)))),
                         **more)
    if op == "WHERE":
        return where(type, shape, const=bool(random.integers(0, 2)), **more)
    const = bool(random.integers(0, 2))
    if op == "TOPK_V2":
        return top(type, shape, int(random.integers(0, shape[-1] + 1)), const_k=const, **more)
    axis = int(random.integers(-len(shape), len(shape)))
    return arg(op, type, shape, axis, const_axis=const, out=str(random.choice(["i32", "i64"])),
               **more)
