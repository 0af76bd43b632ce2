# SPDX-License-Identifier: Apache-2.0
"""FILL, ZEROS_LIKE, RANGE, ONE_HOT and SPARSE_TO_DENSE: shapes from contents, constant and at run time.
MATRIX_DIAG and MATRIX_SET_DIAG."""
import numpy as np

from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q
from ..pieces import In, Out, counts, node

OPERATORS = ["FILL", "ZEROS_LIKE", "RANGE", "ONE_HOT", "MATRIX_DIAG", "MATRIX_SET_DIAG",
             "SPARSE_TO_DENSE"]
VERSIONS = {"FILL": 5, "ZEROS_LIKE": 1, "RANGE": 2, "ONE_HOT": 1, "MATRIX_DIAG": 1,
            "MATRIX_SET_DIAG": 1, "SPARSE_TO_DENSE": 3}
DIAGONAL = ["f32", "i8", "u8", "i16", "i32", "i64", "u32"]
DENSE = ["f32", "i8", "u8", "i32", "i64"]
FILLED = ["f32", "f16", "i8", "u8", "i16", "i32", "i64", "u32", "bool", "str", "bf16", "c64", "f64",
          "u64", "u16"]
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
                 version=1, **case):
    m = Model()
    make = m.const if const else m.input
    inputs = [make(t, dims, data=np.array(v)) for t, v in
              zip(types or [type] * 3, (start, limit, step))]
    m.op("RANGE", inputs, [m.output(out_type or type, (2,))], version)
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
    yield from {"FILL": _fills, "ZEROS_LIKE": _zeros, "RANGE": _ranges, "ONE_HOT": _one_hots,
                "MATRIX_DIAG": _diagonals, "MATRIX_SET_DIAG": _set_diagonals,
                "SPARSE_TO_DENSE": _dense}[op]()


def diagonal(op, type="f32", x=(2, 3), d=None, quant=None, d_type=None, out=None, seed=1, **case):
    """`d` is the shape of MATRIX_SET_DIAG's diagonal."""
    inputs = [In(type, x, quant=quant)]
    if op == "MATRIX_SET_DIAG":
        fit = x[:-2] + (min(x[-2:]),) if len(x) > 1 else x
        inputs.append(In(d_type or type, fit if d is None else d, quant=quant))
    return node(op, inputs, [Out(out or type, (1,), EQUAL)], seed=seed, **case)


def _diagonal_claims(op, plain, odd):
    for type in DIAGONAL:
        yield diagonal(op, type, plain, name=f"v1_{type}_plain", tags=ORDINARY)
        yield diagonal(op, type, odd, name=f"v1_{type}_odd", tags=ODD)
        yield diagonal(op, type, (1, 1), name=f"v1_{type}_one", tags=SMALL)
        yield diagonal(op, type, (0, 3), name=f"v1_{type}_empty", tags=SMALL)
        if type in ("i8", "u8"):
            yield diagonal(op, type, plain, quant=q(0.1, 7), name=f"v1_{type}_zero_point",
                           tags=ZERO_POINT)
    for type in ("f16", "u16", "bool"):
        yield diagonal(op, type, plain, name=f"as_float_{type}",
                       undefined="elements of other sizes are copied as floats")
    for type in ("f64", "u64"):
        yield diagonal(op, type, plain, name=f"as_float_{type}", undefined="half of each element")
    yield diagonal(op, "f32", plain, out="i32", name="output_type",
                   undefined="the output's type in the file is not the input's")


def _diagonals():
    op = "MATRIX_DIAG"
    yield from _diagonal_claims(op, (2, 3), (3, 1, 2, 5))
    for number, x in enumerate(((5,), (3, 0), (2, 1, 2, 1, 2, 1, 2), (1, 9), (0,))):
        yield diagonal(op, "i32", x, name=f"forms_{number}")
    yield diagonal(op, "f32", (), name="refused_scalar")
    yield diagonal(op, "f32", (1,) * 8, name="refused_rank_9", lenient=True)
    yield from counts(op, ((0, 1), (2, 1), (1, 2)))


def _set_diagonals():
    op = "MATRIX_SET_DIAG"
    yield from _diagonal_claims(op, (3, 3), (2, 1, 5, 3))
    for number, x in enumerate(((2, 7), (7, 2), (3, 0), (0, 3), (2, 0, 3, 3), (1, 2) * 4)):
        yield diagonal(op, "i32", x, name=f"forms_{number}")
    for number, (x, d) in enumerate((((3, 3), (2,)), ((3, 3), ()), ((2, 3, 3), (3,)),
                                     ((3, 3), (0,)), ((2, 3, 3), (2, 2)))):
        yield diagonal(op, "f32", x, d, name=f"short_{number}", undefined="reads past its end")
    for number, (x, d) in enumerate((((3, 3), (4,)), ((2, 3, 3), (2, 4)), ((3, 3), (1, 3)))):
        yield diagonal(op, "f32", x, d, name=f"other_shape_{number}", lenient=True)
    yield diagonal(op, "f32", (3, 3), d_type="i64", name="other_type",
                   undefined="reads the diagonal as the input's type")
    for x in ((), (3,)):
        yield diagonal(op, "f32", x, x, name=f"refused_{len(x)}")
    yield from counts(op, ((1, 1), (3, 1), (2, 2)))


def dense(type="f32", at=((0, 1), (2, 0)), shape=(3, 2), values=(2,), how="const", index="i32",
          shape_type=None, otherwise=(), version=1, validate=False, quant=None, out=None, seed=1,
          at_shape=None, other_type=None, shape_shape=None, data=None, **case):
    at, shape = np.asarray(at, np.int64), np.asarray(shape, np.int64)
    const = how == "const"
    inputs = [In(index, at.shape if at_shape is None else at_shape, at, const),
              In(shape_type or index, shape.shape if shape_shape is None else shape_shape, shape,
                 const),
              In(type, values, data, quant=quant), In(other_type or type, otherwise, quant=quant)]
    return node("SPARSE_TO_DENSE", inputs, [Out(out or type, (1,), EQUAL, quant)], version,
                {"SparseToDenseOptions": dict(validateIndices=validate)}, seed, type, **case)


def _dense():
    for version in (1, 2, 3):
        for type in DENSE:
            name, more = f"v{version}_{type}", dict(version=version)
            yield dense(type, name=f"{name}_plain", tags=ORDINARY, **more)
            yield dense(type, ((0, 1, 0, 2), (2, 0, 1, 1), (0, 1, 0, 2)), (3, 2, 2, 5), (3,),
                        "input", "i64", name=f"{name}_odd", tags=ODD, **more)
            yield dense(type, 0, (1,), (), name=f"{name}_one", tags=SMALL, **more)
            yield dense(type, np.zeros((0, 2)), (2, 3), (0,), at_shape=(0, 2),
                        name=f"{name}_none", tags=SMALL, **more)
            if type in ("i8", "u8"):
                yield dense(type, quant=q(0.1, 7), name=f"{name}_zero_point", tags=ZERO_POINT,
                            **more)
    yield from _dense_forms()
    for type in ("f16", "i16", "u32", "bool", "str"):
        if type != "str":
            yield dense(type, name=f"refused_{type}")
    yield dense(index="i16", name="refused_index_i16")
    yield dense(index="i64", shape_type="i32", name="mixed_index_types")
    yield dense(shape_type="f32", name="refused_shape_f32")
    yield dense(other_type="i32", name="refused_default_type")
    yield dense(otherwise=(2,), name="refused_defaults")
    yield dense(otherwise=(1,), name="default_vector")
    yield dense(out="i32", name="output_type",
                undefined="the output's type in the file is not the values'")
    yield from counts("SPARSE_TO_DENSE", ((3, 1), (5, 1), (4, 2)))


def _dense_forms():
    forms = [(3, (5,), ()), (3, (5,), (1,)), ((3, 0, 4), (5,), ()), ((3, 0, 3), (5,), (3,)),
             (((1, 1),), (2, 2), ()), (((0, 0, 1), (1, 2, 0)), (2, 3, 2), (2,)),
             (((1,), (0,)), (3,), (2,)), (np.zeros((2, 0)), (), (2,)), (np.zeros((0,)), (3,), ()),
             (np.zeros((0, 1)), (0,), (0,))]
    bad = [(5, (5,), ()), (-1, (5,), ()), (((0, 2),), (2, 2), (1,)), (((2**31 - 1, 0),), (2, 2), ()),
           (((0, -2**31),), (2, 2), ()), (((0, 0),), (2, 2, 2), ()), (((0, 0),), (2, 2), (2,)),
           ((0, 1), (2, 2), (2,)), (((0,) * 5,), (2,) * 5, (1,)), (((0, 0),), (2, 2), (1, 1)),
           ((((0, 0),),), (2, 2), (1,)), (0, (0,), ())]
    for how in ("const", "input"):
        for index in ("i32", "i64"):
            for number, (at, shape, values) in enumerate(forms):
                yield dense("f32", at, shape, values, how, index, at_shape=np.asarray(at).shape,
                            shape_shape=(len(shape),), name=f"forms_{how}_{index}_{number}")
            for number, (at, shape, values) in enumerate(bad):
                yield dense("f32", at, shape, values, how, index,
                            name=f"refused_{how}_{index}_{number}")
            for validate in (False, True):
                yield dense("f32", ((2, 0), (0, 1), (2, 0)), (3, 2), (3,), how, index,
                            validate=validate, name=f"unsorted_{how}_{index}_{validate}")
        yield dense("f32", ((0, 0),), (2, -2), (1,), how, name=f"negative_shape_{how}",
                    undefined="a negative dimension is not checked")
        yield dense("f32", ((0, 0),), (2, 2**33), (1,), how, "i64", name=f"far_shape_{how}",
                    undefined="an int64 dimension is cut to int32")
        yield dense("f32", ((0, 0),), ((2, 2),), (1,), how, name=f"refused_shape_matrix_{how}")


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
        for number, (row, tags) in enumerate((((1, 6, 2), ORDINARY), ((10, 0, -3), ODD),
                                              ((0, 1, 1), SMALL), ((0, 0, 1), SMALL))):
            for const in (True, False):
                yield number_range(type, *row, const, version=2, tags=tags,
                                   name=f"v2_{type}_{'constant' if const else 'dynamic'}_{number}")
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
    if op.startswith(("MATRIX", "SPARSE")):
        return _draw_other(op, random)
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


def _draw_other(op, random):
    shape = tuple(int(n) for n in random.integers(1, 7, random.integers(2, 5)))
    seed = int(random.integers(1, 2**30))
    if op != "SPARSE_TO_DENSE":
        type = str(random.choice(DIAGONAL))
        return diagonal(op, type, shape, seed=seed, name=f"draw_{type}_{shape}")
    at = np.stack([random.integers(0, n, int(shape[0])) for n in shape], -1)
    type, how = str(random.choice(DENSE)), str(random.choice(["const", "input"]))
    return dense(type, at, shape, () if random.random() < 0.3 else (len(at),), how,
                 str(random.choice(["i32", "i64"])), seed=seed, name=f"draw_{type}_{shape}")
