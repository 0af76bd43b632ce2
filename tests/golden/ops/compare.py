# SPDX-License-Identifier: Apache-2.0
"""Comparisons, LOGICAL_AND, LOGICAL_OR, LOGICAL_NOT, SELECT and SELECT_V2: all results must be equal."""
import numpy as np

from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q
from .binary import OTHERS, SHAPES, draw_shapes, pair

ORDERS = ["LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]
EQUALITIES = ["EQUAL", "NOT_EQUAL"]
LOGIC = ["LOGICAL_AND", "LOGICAL_OR"]
SELECTS = ["SELECT", "SELECT_V2"]
OPERATORS = [*EQUALITIES, *ORDERS, *LOGIC, "LOGICAL_NOT", *SELECTS]
VERSIONS = {"EQUAL": 5, "NOT_EQUAL": 4, "LESS": 3, "LESS_EQUAL": 2, "GREATER": 2,
            "GREATER_EQUAL": 3, "LOGICAL_AND": 1, "LOGICAL_OR": 1, "LOGICAL_NOT": 1, "SELECT": 4,
            "SELECT_V2": 2}
ORDERED = ["f32", "f16", "i8", "u8", "i16", "i32", "i64"]
SELECTED = [*ORDERED, "bf16", "u32", "bool", "c64", "f64", "u64", "u16"]
SILENT = "NOT_EQUAL of unquantised int16 writes nothing"


def types_of(op):
    if op in LOGIC or op == "LOGICAL_NOT":
        return ["bool"]
    if op in ("LESS", "GREATER"):
        return [*ORDERED, "bf16"]
    return ORDERED + (["bool", "str"] if op in EQUALITIES else [])


def compare(op, type, a, b=None, **more):
    """Operands have few different values, so that many are equal."""
    if type in ("i8", "u8") or (type == "i16" and op == "NOT_EQUAL"):
        for which in ("qa", "qb"):
            more.setdefault(which, q(0.1, 0 if type != "u8" else 128))
    b = a if b is None else b
    if type == "str":
        texts = [b"", b"a", b"ab", b"b", b"\xc3\xa4"]
        for which, shape, shift in (("data_a", a, 0), ("data_b", b, 2)):
            count = int(np.prod(shape, dtype=np.int64))
            more.setdefault(which, [texts[(i * i + shift) % 5] for i in range(count)])
    elif type in ("f32", "f16", "bf16"):
        for which, shape, shift in (("data_a", a, 0), ("data_b", b, 3)):
            count = int(np.prod(shape, dtype=np.int64))
            more.setdefault(which, np.float32([((i * i + shift) % 7) / 4 - 0.5
                                               for i in range(count)]))
    elif type != "bool":
        low = 126 if type == "u8" else -2
        more.setdefault("range_a", (low, low + 4))
        more.setdefault("range_b", (low, low + 4))
    return pair(op, type, a, b, out_type="bool", rule=EQUAL, **more)


def cases(op):
    if op in SELECTS:
        yield from _selects(op)
    elif op == "LOGICAL_NOT":
        yield from _nots(op)
    else:
        yield from _comparisons(op)


def _comparisons(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in types_of(op):
            name = f"v{version}_{type}"
            yield compare(op, type, (2, 3), version=version, name=f"{name}_plain", tags=ORDINARY)
            yield compare(op, type, (2, 3, 1, 2), (3, 4, 1), version=version,
                          name=f"{name}_broadcast", tags=ODD)
            yield compare(op, type, (1,), version=version, name=f"{name}_one", tags=SMALL)
            if type != "str":
                yield compare(op, type, (0, 3), (1, 3), version=version, name=f"{name}_empty",
                              tags=SMALL)
            if type in ("i8", "u8"):
                zero = 0 if type == "i8" else 128
                yield compare(op, type, (40,), qa=q(0.1, zero + 1), qb=q(0.2, zero - 1),
                              version=version, name=f"{name}_zero_points", tags=ZERO_POINT)
    for type in types_of(op):
        for number, (a, b) in enumerate(SHAPES):
            if type != "str" or 0 not in (*a, *b):
                yield compare(op, type, a, b, name=f"{type}_shapes_{number}")
        yield compare(op, type, (2, 3, 5), (5,), const_b=True, name=f"{type}_constant")
        yield compare(op, type, (1, 5), (1,), resize_a=(4, 5), resize_b=(4, 1),
                      data_a=[b"a"] * 20 if type == "str" else np.arange(20) % 3,
                      data_b=[b"a", b"b"] * 2 if type == "str" else np.arange(4) % 3,
                      name=f"{type}_resized")
    yield from _compared_values(op)
    yield from _compared_refused(op)


def _compared_values(op):
    if op in LOGIC:
        return
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, -0.5, 1.0])
    a, b = np.repeat(special, 8), np.tile(special, 8)
    for type in ("f32", "f16", "bf16") if "bf16" in types_of(op) else ("f32", "f16"):
        yield compare(op, type, (64,), data_a=a, data_b=b, name=f"{type}_special_values")
    yield compare(op, "i64", (3,), data_a=[2**62 + 1, -2**63, 5], data_b=[2**62, 2**63 - 1, 5],
                  name="i64_beyond_double")
    every = np.arange(-128, 128)
    for number, (sa, sb) in enumerate(((0.1, 0.1), (0.1, 0.2), (0.5, 0.25), (0.003, 0.7),
                                       (0.0313, 0.0317), (0.99, 0.33))):
        for za, zb in ((0, 0), (-128, 127), (13, -40)):
            yield compare(op, "i8", (256,), data_a=every, data_b=every * 77 % 256 - 128,
                          qa=q(sa, za), qb=q(sb, zb), name=f"i8_scales_{number}_zero_{za}")
    yield compare(op, "u8", (256,), data_a=every + 128, data_b=every * 77 % 256,
                  qa=q(0.02, 7), qb=q(0.013, 200), name="u8_scales")
    wide = every * 255
    yield compare(op, "i16", (256,), data_a=wide, data_b=wide * 77 % 65536 - 32768,
                  qa=q(0.02), qb=q(0.013), name="i16_scales")
    yield compare(op, "i16", (60,), qa=q(0.02, 5), qb=q(0.01, -3), name="i16_zero_points")
    yield compare(op, "i16", (60,), qa=q(0.0), qb=q(0.0), name="i16_scale_zero",
                  **(dict(undefined=SILENT) if op == "NOT_EQUAL" else {}))


def _compared_refused(op):
    for type in OTHERS:
        if type not in types_of(op) and not (op in LOGIC and type in ("str",)):
            yield compare(op, type, (2, 3), name=f"refused_{type}",
                          **({} if type != "u16" else dict(range_a=(0, 3), range_b=(0, 3))))
    type = types_of(op)[0]
    yield compare(op, type, (2, 3), (2, 4), name="refused_shapes")
    yield compare(op, type, (2, 3), b_type="i32", data_b=np.zeros(6), name="refused_mixed_types")
    for inputs, outputs in ((1, 1), (3, 1), (2, 2)):
        m = Model()
        m.op(op, [m.input(type, (2,)) for _ in range(inputs)],
             [m.output("bool", (2,)) for _ in range(outputs)])
        yield m.case(f"refused_{inputs}_inputs_{outputs}_outputs", type)
    if op not in LOGIC:
        yield pair(op, "i8", (5,), out_type="bool", name="i8_without_quantisation", lenient=True)
        yield pair(op, "i8", (5,), qa=q(1.0), qb=q(2.0), out_type="bool", name="i8_scale_one",
                   lenient=True)


def _nots(op):
    for name, shape, tags in (("plain", (2, 3), ORDINARY), ("odd", (3, 1, 5, 1, 2), ODD),
                              ("one", (1,), SMALL), ("empty", (0, 3), SMALL), ("scalar", (), 0)):
        m = Model()
        m.op(op, [m.input("bool", shape)], [m.output("bool", shape, rule=EQUAL)])
        yield m.case(f"bool_{name}", "bool", tags=tags)
    for type in OTHERS:
        if type != "bool":
            m = Model()
            m.op(op, [m.input(type, (2, 3))], [m.output(type, (2, 3))])
            yield m.case(f"refused_{type}", type)
    m = Model()
    m.op(op, [m.input("bool", (1, 3), resize=(4, 3))], [m.output("bool", (1, 3), rule=EQUAL)])
    yield m.case("bool_resized", "bool")


def select(op, type, c, x=None, y=None, out=None, version=1, quant=None, c_type="bool",
           y_type=None, const=False, seed=1, **case):
    x = c if x is None else x
    y = x if y is None else y
    m = Model(seed)
    make = m.const if const else m.input
    inputs = [m.input(c_type, c), make(type, x, quant), m.input(y_type or type, y, quant)]
    if out is None:
        try:
            out = np.broadcast_shapes(c, x, y)
        except ValueError:
            out = x
    m.op(op, inputs, [m.output(type, out, quant, EQUAL)], version)
    return m.case(type=type, **case)


def _selects(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in SELECTED:
            name = f"v{version}_{type}"
            odd = ((2,), (2, 3)) if op == "SELECT" else ((2, 1, 1), (3, 1), (1, 1, 2))
            yield select(op, type, (2, 3), version=version, name=f"{name}_plain", tags=ORDINARY)
            yield select(op, type, *odd, version=version, name=f"{name}_odd", tags=ODD)
            yield select(op, type, (1,), version=version, name=f"{name}_one", tags=SMALL)
            yield select(op, type, (0, 3), version=version, name=f"{name}_empty", tags=SMALL)
            if type in ("i8", "u8"):
                yield select(op, type, (3, 5), version=version, quant=q(0.1, 7),
                             name=f"{name}_zero_point", tags=ZERO_POINT)
    rows = [((), (2, 3), (2, 3)), ((1,), (2, 3), (2, 3)), ((2,), (2, 3), (2, 3)),
            ((3,), (2, 3), (2, 3)), ((2, 1), (2, 3), (2, 3)), ((2, 3), (2, 3), (1,)),
            ((2, 3), (1,), (2, 3)), ((2, 3), (), (2, 3)), ((2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2),
            (1,)), ((1,), (2, 1, 1, 1, 1, 1, 3), (1,)), ((4,), (4, 3, 2), (4, 3, 2)),
            ((1, 7, 5, 3), (3,), (7, 1, 1)), ((2, 3), (3, 2), (2, 3)), ((4,), (4,), (4,)),
            ((), (), ()), ((), (5,), (5,)), ((2, 2), (2,), (2, 2)), ((0,), (0, 3), (0, 3)),
            ((1,), (1, 3), (1, 3)), ((65, 33), (65, 33), (65, 33)), ((2, 0), (1,), ())]
    for number, shapes in enumerate(rows):
        for type in ("f32", "i8", "i64"):
            yield select(op, type, *shapes, name=f"{type}_shapes_{number}")
    yield select(op, "f32", (1,), (1,), (1, 1), name="f32_one_kept_shape")
    yield select(op, "f32", (1,), (1,), (1,), out=(1, 1), name="f32_one_shape_in_file")
    yield select(op, "f32", (1,), (1,), (1,), out=(), name="f32_one_scalar_in_file")
    yield select(op, "i32", (2, 3), const=True, name="i32_constant")
    yield select(op, "i32", (2, 3), c_type="i32", name="refused_condition_i32")
    yield select(op, "i32", (2, 3), y_type="f32", name="refused_mixed_types")
    yield select(op, "str", (2, 3), name="refused_str")
    for count in (2, 4):
        m = Model()
        m.op(op, [m.input("bool", (2,)) for _ in range(count)], [m.output("bool", (2,))])
        yield m.case(f"refused_{count}_inputs", "bool")


def draw(op, random):
    seed, version = int(random.integers(1, 2**30)), int(random.integers(1, VERSIONS[op] + 1))
    a, b = draw_shapes(random)
    if op == "LOGICAL_NOT":
        m = Model(seed)
        m.op(op, [m.input("bool", a)], [m.output("bool", a, rule=EQUAL)])
        return m.case(f"draw_{a}", "bool")
    if op in SELECTS:
        type = str(random.choice(SELECTED))
        full = np.broadcast_shapes(a, b)
        shapes = [(a, full, full), (a, b, a), (full, b, a)][random.integers(0, 3)]
        return select(op, type, *shapes, version=version, seed=seed,
                      name=f"draw_{type}_{shapes}")
    type = str(random.choice([t for t in types_of(op) if t != "str"]))
    more = {}
    if type in ("i8", "u8"):
        low = -128 if type == "i8" else 0
        for which in ("qa", "qb"):
            more[which] = q(float(10 ** random.uniform(-3, -0.01)),
                            int(random.integers(low, low + 256)))
            more["range_a"] = more["range_b"] = (low, low + 255)
    return compare(op, type, a, b, version=version, seed=seed, name=f"draw_{type}_{a}_{b}", **more)
