# SPDX-License-Identifier: Apache-2.0
"""FILL, ZEROS_LIKE, RANGE and ONE_HOT: shapes from contents, constant and not."""
import numpy as np

from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q

OPERATORS = ["FILL", "ZEROS_LIKE", "RANGE", "ONE_HOT"]
VERSIONS = {"FILL": 5, "ZEROS_LIKE": 1, "RANGE": 1, "ONE_HOT": 1}
FILLED = ["f32", "f16", "i8", "u8", "i16", "i32", "i64", "u32", "bool", "str"]
ENCODED = ["f32", "i8", "u8", "i32", "i64", "bool"]
OTHERS = ["f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "bool", "str"]


def fill(shape, type="f32", const=True, shape_type="i32", shape_dims=None, value_dims=(),
         quant=None, out_quant=None, out_type=None, version=1, data=None, seed=1, **case):
    m = Model(seed)
    dims = np.asarray(shape)
    at = dims.shape if shape_dims is None else shape_dims
    x = (m.const if const else m.input)(shape_type, at, data=dims)
    # Python cannot feed a scalar string.
    y = (m.const if type == "str" else m.input)(type, value_dims, quant, data=data)
    out = m.output(out_type or type, (1,), out_quant or quant, EQUAL)
    m.op("FILL", [x, y], [out], version)
    return m.case(type=type, **case)


def number_range(type, start, limit, step, const=True, dims=(), out_type=None, types=None,
                 **case):
    m = Model()
    make = m.const if const else m.input
    inputs = [make(t, dims, data=np.array(v)) for t, v in
              zip(types or [type] * 3, (start, limit, step))]
    m.op("RANGE", inputs, [m.output(out_type or type, (2,))])
    return m.case(type=type, **case)


def one_hot(type="f32", shape=(3,), depth=4, axis=-1, const=True, index_type="i32",
            depth_type="i32", depth_dims=(), value_dims=(), quant=None, low=-1, data=None,
            off_type=None, options=True, seed=1, resize=None, out_type=None, **case):
    m = Model(seed)
    inputs = [m.input(index_type, shape, low=low, high=4, data=data, resize=resize),
              (m.const if const else m.input)(depth_type, depth_dims, data=np.array(depth))]
    for t in (type, off_type or type):
        inputs.append(m.input(t, value_dims, quant))
    table = dict(OneHotOptions=dict(axis=axis)) if options else {}
    m.op("ONE_HOT", inputs, [m.output(out_type or type, (1,), quant, EQUAL)], **table)
    return m.case(type=type, **case)


def cases(op):
    yield from {"FILL": _fills, "ZEROS_LIKE": _zeros, "RANGE": _ranges, "ONE_HOT": _one_hots}[op]()


def _fills():
    for version in range(1, VERSIONS["FILL"] + 1):
        for type in FILLED:
            name, more = f"v{version}_{type}", dict(version=version)
            yield fill((2, 3), type, name=f"{name}_plain", tags=ORDINARY, **more)
            yield fill((3, 1, 5), type, const=False, shape_type="i64", name=f"{name}_dynamic",
                       tags=ODD, **more)
            yield fill((1,), type, name=f"{name}_one", tags=SMALL, **more)
            if type != "str":
                yield fill((2, 0, 3), type, name=f"{name}_empty", tags=SMALL, **more)
            if type in ("i8", "u8"):
                yield fill((3, 5), type, quant=q(0.1, 7), name=f"{name}_zero_point",
                           tags=ZERO_POINT, **more)
    for const in (True, False):
        way = "constant" if const else "dynamic"
        for shape_type in ("i32", "i64"):
            name = f"{way}_{shape_type}"
            more = dict(const=const, shape_type=shape_type)
            yield fill([], shape_dims=(0,), name=f"{name}_scalar", **more)
            yield fill((1, 2, 1, 2, 1, 2, 1, 2), name=f"{name}_rank_8", **more)
            yield fill((2, -3), name=f"refused_{name}_negative", **more)
            yield fill((0, -3), name=f"refused_{name}_negative_behind_0", **more)
            yield fill((2**20, 2**20), name=f"refused_{name}_huge", **more)
            yield fill((2**31 - 1,) * 4, name=f"refused_{name}_overflow", **more)
            yield fill((2, 2), shape_dims=(1, 2), name=f"refused_{name}_matrix", **more)
        yield fill(2, shape_dims=(), const=const, name=f"refused_{way}_scalar_shape")
        yield fill((2**40, 0), const=const, shape_type="i64", name=f"{way}_beyond_int32",
                   undefined="an int64 extent is cut to int32")
        yield fill((2, 3), value_dims=(1,), const=const, name=f"refused_{way}_value_vector")
        yield fill((2, 3), "i32", out_type="f32", const=const, name=f"{way}_output_type")
    yield fill((2,), shape_type="i16", name="refused_shape_i16")
    yield fill((2,), shape_type="f32", name="refused_shape_f32")
    yield fill((2,), "i16", quant=q(0.1), name="i16_quantised")
    yield fill((2,), "i16", quant=q(0.1, 3), name="refused_i16_zero_point")
    yield fill((2,), "i8", quant=q(0.1, 3), out_quant=q(0.2, 3), name="refused_i8_other_scale")
    yield fill((2,), "i8", quant=q(0.1, 3), out_quant=q(0.1, 4), name="refused_i8_other_zero")
    yield fill((2, 2), "str", data=[b"text"], name="str_text")
    yield fill((70, 33), "i64", name="i64_large")


def _zeros():
    for type in ("f32", "i32", "i64"):
        for name, shape, tags in (("plain", (2, 3), ORDINARY), ("odd", (3, 1, 5, 1, 2, 1), ODD),
                                  ("one", (1,), SMALL), ("empty", (0, 3), SMALL), ("scalar", (), 0)):
            yield _zero(type, shape, f"{type}_{name}", tags)
        yield _zero(type, (1, 3), f"{type}_resized", 0, resize=(4, 3))
    yield _zero("i32", (2, 3), "output_type", 0, out_type="f32")
    for type in OTHERS:
        if type not in ("i32", "i64"):
            yield _zero(type, (2, 3), f"refused_{type}", 0)


def _zero(type, shape, name, tags, resize=None, out_type=None):
    m = Model()
    m.op("ZEROS_LIKE", [m.input(type, shape, resize=resize)],
         [m.output(out_type or type, shape, rule=EQUAL)])
    return m.case(name, type, tags=tags)


def _ranges():
    for type in ("f32", "i32", "i64"):
        for const in (True, False):
            name = f"{type}_{'constant' if const else 'dynamic'}"
            for number, (row, tags) in enumerate((
                    ((1, 6, 2), ORDINARY), ((10, 0, -3), ODD), ((0, 1, 1), SMALL),
                    ((0, 0, 1), SMALL), ((0, 0, -1), 0), ((-7, 8, 5), 0), ((5, -5, -1), 0),
                    ((0, 300, 1), 0), ((0, 2, 100), 0))):
                yield number_range(type, *row, const=const, name=f"{name}_{number}", tags=tags)
            for number, row in enumerate(((0, 10, 0), (10, 0, 1), (0, 10, -1), (1, 1, 0))):
                yield number_range(type, *row, const=const, name=f"refused_{name}_{number}")
    for number, row in enumerate(((0, 1, 0.1), (0, -1, -0.3), (0.5, 7.25, 0.375), (-3, 50, 0.7),
                                  (0, 1, np.inf), (1, 1, 1), (0, 1e-3, 3e-5))):
        yield number_range("f32", *row, const=False, name=f"f32_fractions_{number}")
    for number, row in enumerate(((np.nan, 1, 1), (0, np.inf, 1), (0, 1e30, 1e-5), (0, 1, np.nan))):
        yield number_range("f32", *row, const=False, name=f"refused_f32_{number}")
    yield number_range("i64", -2**62, 2**62, 2**61, const=False, name="i64_far")
    over = "the length overflows"
    for number, row in enumerate(((-2**31, 2**31 - 1, 2**30),
                                  (2**31 - 1, -2**31, -2**31))):
        yield number_range("i32", *row, const=False, name=f"i32_far_{number}", undefined=over)
    yield number_range("i64", -2**63, 2**63 - 1, 1, const=False, name="i64_all", undefined=over)
    yield number_range("i64", 0, 2**40, 1, const=False, name="i64_too_many", undefined=over)
    yield number_range("i32", [0], [4], [1], dims=(1,), name="refused_vectors")
    yield number_range("i32", 0, 4, 1, types=["i32", "i64", "i32"], name="refused_mixed_types")
    yield number_range("i32", 0, 4, 1, out_type="f32", name="i32_output_type")
    for type in OTHERS:
        if type not in ("i32", "i64", "str"):
            yield number_range(type, 0, 1, 1, name=f"refused_{type}")
    m = Model()
    m.op("RANGE", [m.const("i32", (), data=1)] * 2, [m.output("i32", (2,))])
    yield m.case("refused_2_inputs", "i32")


def _one_hots():
    for type in ENCODED:
        yield one_hot(type, name=f"{type}_plain", tags=ORDINARY)
        yield one_hot(type, (2, 3, 2), 3, 1, const=False, index_type="i64", name=f"{type}_odd",
                      tags=ODD)
        yield one_hot(type, (1,), 1, name=f"{type}_one", tags=SMALL)
        yield one_hot(type, (0,), name=f"{type}_empty", tags=SMALL)
        if type in ("i8", "u8"):
            yield one_hot(type, (2, 3), quant=q(0.1, 7), name=f"{type}_zero_point",
                          tags=ZERO_POINT)
    for const in (True, False):
        way = "constant" if const else "dynamic"
        for axis in range(-3, 4):
            name = f"{way}_axis_{axis}"
            yield one_hot(shape=(2, 3), axis=axis, const=const,
                          name=name if -1 <= axis <= 2 else f"refused_{name}")
        yield one_hot(shape=(), axis=0, const=const, name=f"{way}_scalar")
        yield one_hot(depth=0, const=const, name=f"{way}_depth_0")
        yield one_hot(depth=-2, const=const, name=f"refused_{way}_depth_negative")
        yield one_hot(depth=2**30, shape=(2**10,), const=const, name=f"refused_{way}_depth_huge",
                      undefined="how much memory there is")
        yield one_hot(depth=[4], depth_dims=(1,), const=const, name=f"{way}_depth_vector")
        yield one_hot(depth=[4, 4], depth_dims=(2,), const=const, name=f"refused_{way}_two_depths")
        yield one_hot(depth=5, depth_type="i64", const=const, name=f"{way}_depth_i64",
                      undefined="an int64 depth is read as int32")
    yield one_hot(data=[2**31 - 1, -2**31, -1], name="indices_outside")
    yield one_hot(index_type="i64", data=[2**40 + 1, -2**62, 1], name="i64_indices_outside",
                  undefined="int64 indices may be cut to int32")
    yield one_hot(value_dims=(1,), name="value_vector")
    yield one_hot(value_dims=(1, 1), name="value_matrix")
    yield one_hot(value_dims=(2,), name="refused_two_values")
    yield one_hot(index_type="i8", name="refused_indices_i8")
    yield one_hot(index_type="f32", low=0, name="refused_indices_f32")
    yield one_hot(depth_type="i8", name="depth_i8", undefined="four bytes are read from one")
    yield one_hot(off_type="i32", name="refused_mixed_types")
    yield one_hot(options=False, shape=(2, 3), name="no_options")
    yield one_hot(out_type="i32", name="output_type")
    yield one_hot(shape=(1, 3), resize=(4, 3), name="resized")
    yield one_hot(shape=(1, 2, 1, 2, 1, 2, 1), name="rank_8")
    for type in OTHERS:
        if type not in ENCODED:
            yield one_hot(type, name=f"refused_{type}")


def draw(op, random):
    seed, const = int(random.integers(1, 2**30)), bool(random.integers(0, 2))
    shape = tuple(int(n) for n in random.integers(1, 6, random.integers(0, 5)))
    if op == "FILL":
        type = str(random.choice([t for t in FILLED if t != "str"]))
        return fill(np.array(shape, np.int32), type, const, str(random.choice(["i32", "i64"])),
                    seed=seed, name=f"draw_{type}_{shape}")
    if op == "ZEROS_LIKE":
        return _zero(str(random.choice(["f32", "i32", "i64"])), shape, f"draw_{shape}", 0)
    if op == "ONE_HOT":
        type = str(random.choice(ENCODED))
        axis = int(random.integers(-1, len(shape) + 1))
        return one_hot(type, shape, int(random.integers(0, 6)), axis, const, seed=seed,
                       name=f"draw_{type}_{shape}_{axis}")
    type = str(random.choice(["f32", "i32", "i64"]))
    numbers = [int(n) for n in random.integers(-50, 50, 3)]
    if type == "f32":
        numbers = [n / 8 for n in numbers]
    return number_range(type, *numbers, const=const, name=f"draw_{type}_{numbers}")
