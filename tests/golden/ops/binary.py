# SPDX-License-Identifier: Apache-2.0
"""MAXIMUM, MINIMUM, POW, SQUARED_DIFFERENCE, FLOOR_DIV, FLOOR_MOD, BITWISE_XOR, RIGHT_SHIFT: two
operands, broadcasting. ATAN2: two operands of one shape."""
import numpy as np

from ..model import (ELEMENT, EQUAL, HALF, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q)

OPERATORS = ["MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV", "FLOOR_MOD",
             "ATAN2", "BITWISE_XOR", "RIGHT_SHIFT"]
VERSIONS = {"MAXIMUM": 4, "MINIMUM": 4, "POW": 1, "SQUARED_DIFFERENCE": 2, "FLOOR_DIV": 3,
            "FLOOR_MOD": 2, "ATAN2": 1, "BITWISE_XOR": 1, "RIGHT_SHIFT": 1}
EXTREMES = ["f32", "f16", "bf16", "i8", "u8", "i16", "i32", "i64"]
TYPES = {"MAXIMUM": EXTREMES, "MINIMUM": EXTREMES, "POW": ["f32", "i32"],
         "SQUARED_DIFFERENCE": ["f32", "i32", "i8"], "FLOOR_DIV": ["f32", "i8", "i16", "i32"],
         "FLOOR_MOD": ["f32", "i8", "i16", "i32", "i64"], "ATAN2": ["f32", "f16", "bf16", "f64"],
         "BITWISE_XOR": ["i8", "u8", "i16", "u16", "i32", "u32"],
         "RIGHT_SHIFT": ["i8", "u8", "i16", "u16", "i32", "u32"]}
OTHERS = ["f32", "f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "bool", "str"]
SAME_SHAPES = "the second input is read by the first one's shape"
SHAPES = [((), ()), ((), (2, 3)), ((4,), (2, 3, 4)), ((2, 1, 3), (1, 4, 1)),
          ((2, 3, 1, 1, 2), (1, 1, 4, 3, 2)), ((2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2)),
          ((1, 2, 1, 2, 1, 2, 1), (2, 1, 2, 1, 2, 1, 2)), ((1, 7, 5, 3), (1, 1, 1, 3)),
          ((2, 0, 3), (1,)), ((0,), (0,)), ((1, 1), (0, 4)), ((67,), (67,))]
QUANTISED = {"MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"}


def shape_of(a, b):
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return a


def pair(op, type, a=(2, 3, 4), b=None, qa=None, qb=None, qo=None, version=1, b_type=None,
         out_type=None, const_b=False, seed=1, data_a=None, data_b=None, range_a=(None, None),
         range_b=(None, None), rule=ELEMENT, resize_a=None, resize_b=None, **case):
    """One operator without options on two operands."""
    b = a if b is None else b
    m = Model(seed)
    x = m.input(type, a, qa, data=data_a, low=range_a[0], high=range_a[1], resize=resize_a)
    second = dict(data=data_b, low=range_b[0], high=range_b[1])
    y = (m.const(b_type or type, b, qb, **second) if const_b else
         m.input(b_type or type, b, qb, resize=resize_b, **second))
    m.op(op, [x, y], [m.output(out_type or type, shape_of(a, b), qo, rule)], version)
    return m.case(type=type, **case)


def _settings(op, type):
    """Returns the operands' contents and the rule of comparison for an operator."""
    more = dict(rule=HALF if type == "f16" else ELEMENT)
    if op in ("MAXIMUM", "MINIMUM") or type[0] in "iu":
        more["rule"] = EQUAL
    if op == "RIGHT_SHIFT":
        more["range_b"] = (-3 if type[0] == "i" else 0, 34)
    if op == "POW":
        more.update(range_a=(0, 4) if type == "f32" else (-5, 5),
                    range_b=(-2, 3) if type == "f32" else (0, 9))
        if type == "f32":
            more["factor"] = 4.0
    if op.startswith("FLOOR_"):
        small = {"f32": (0.3, 3), "i8": (1, 20), "i16": (1, 300)}.get(type, (1, 5000))
        more["range_b"] = small
    if op == "SQUARED_DIFFERENCE" and type == "i8":
        more.update(rule=ELEMENT, qa=q(0.02), qb=q(0.03), qo=q(0.08))
    return more


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in TYPES[op]:
            yield from _claim(op, type, version)
    for type in TYPES[op]:
        for number, (a, b) in enumerate(SHAPES):
            wrong = SAME_SHAPES if op == "ATAN2" and a != b and len(a) == len(b) else ""
            yield pair(op, type, a, b, **_settings(op, type), name=f"{type}_shapes_{number}",
                       undefined=wrong)
        if op == "ATAN2":
            yield pair(op, type, (2, 3), const_b=True, **_settings(op, type),
                       name=f"{type}_constant")
            continue
        yield pair(op, type, (2, 3, 5), (5,), const_b=True, **_settings(op, type),
                   name=f"{type}_constant")
        yield pair(op, type, (1, 5), (1,), resize_a=(4, 5), resize_b=(4, 1),
                   **_settings(op, type), name=f"{type}_resized")
    yield from _refused(op)
    yield from _values(op)


def _claim(op, type, version):
    name, more = f"v{version}_{type}", dict(_settings(op, type), version=version)
    yield pair(op, type, (2, 3), **more, name=f"{name}_plain", tags=ORDINARY)
    odd = None if op == "ATAN2" else (3, 5, 1)
    yield pair(op, type, (2, 3, 1, 2), odd, **more, name=f"{name}_broadcast", tags=ODD)
    yield pair(op, type, (1,), (1,), **more, name=f"{name}_one", tags=SMALL)
    yield pair(op, type, (0, 3), (0 if op == "ATAN2" else 1, 3), **more, name=f"{name}_empty",
               tags=SMALL)
    if type in ("i8", "u8"):
        zero = 0 if type == "i8" else 128
        quantised = [q(0.02, zero - 5), q(0.02, zero - 5), q(0.02, zero - 5)]
        if op == "SQUARED_DIFFERENCE":
            quantised = [q(0.02, -5), q(0.031, 17), q(0.09, -100)]
        more.update(zip(("qa", "qb", "qo"), quantised))
        yield pair(op, type, (3, 7), **more, name=f"{name}_zero_points", tags=ZERO_POINT)


def _refused(op):
    for type in OTHERS:
        if type not in TYPES[op]:
            quant = dict(qa=q(0.1), qb=q(0.1), qo=q(0.1)) if type in ("u8", "i16") else {}
            yield pair(op, type, (2, 3), **quant, name=f"refused_{type}")
    type = TYPES[op][0]
    if op == "ATAN2":
        yield pair(op, type, (2, 3), (3, 2), name="shapes_differ", undefined=SAME_SHAPES)
    yield pair(op, type, (2, 3), (2, 3, 1) if op == "ATAN2" else (2, 4), name="refused_shapes")
    yield pair(op, type, (2, 3), b_type="i16", name="refused_mixed_types")
    wrong = "the output's type in the file is not the operator's"
    yield pair(op, type, (2, 3), out_type="i32", undefined=wrong, name="output_type")
    for inputs, outputs in ((1, 1), (3, 1), (2, 2)):
        m = Model()
        m.op(op, [m.input("f32", (2,)) for _ in range(inputs)],
             [m.output("f32", (2,)) for _ in range(outputs)])
        yield m.case(f"refused_{inputs}_inputs_{outputs}_outputs", "f32")


def _bits(op):
    for type in TYPES[op]:
        info = np.iinfo({"i": "i", "u": "u"}[type[0]] + str(int(type[1:]) // 8))
        few = np.array([info.min, info.max, 0, 1, 5, info.bits - 2, info.bits - 1, info.bits],
                       np.int64)
        a, b = np.repeat(few, few.size), np.tile(few, few.size)
        yield pair(op, type, a.shape, data_a=a, data_b=b, rule=EQUAL, name=f"{type}_extremes")


def _values(op):
    if op in ("BITWISE_XOR", "RIGHT_SHIFT"):
        yield from _bits(op)
        return
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, -0.5, 3e38, -3e38, 1.0, 5.5])
    if op == "FLOOR_DIV":
        special = special[special != 0]
    a, b = np.repeat(special, special.size), np.tile(special, special.size)
    settings = _settings(op, "f32")
    yield pair(op, "f32", a.shape, data_a=a, data_b=b, name="f32_special_values",
               **dict(settings, range_b=(None, None)))
    if op in ("MAXIMUM", "MINIMUM", "ATAN2"):
        yield pair(op, "f16", a.shape, data_a=np.clip(a, -6e4, 6e4), data_b=np.clip(b, -6e4, 6e4),
                   rule=HALF if op == "ATAN2" else EQUAL, name="f16_special_values")
        yield pair(op, "bf16", a.shape, data_a=a, data_b=b, name="bf16_special_values")
    if op in ("MAXIMUM", "MINIMUM"):
        yield pair(op, "i8", (40,), qa=q(0.1, 3), qb=q(0.2, -4), qo=q(0.4, 9), rule=EQUAL,
                   name="i8_other_scales")
        yield pair(op, "i64", (2,), data_a=[2**62 + 1, -2**63], data_b=[2**62, 2**63 - 1],
                   rule=EQUAL, name="i64_beyond_double")
    if op.startswith("FLOOR_"):
        yield from _divisions(op)
    if op == "POW":
        yield pair(op, "i32", (6,), data_a=[2, -3, 0, 10, -2, 2], data_b=[10, 3, 0, 9, 31, 30],
                   rule=EQUAL, name="i32_exact")
        yield pair(op, "i32", (2,), data_a=[2, 3], data_b=[1, -1], name="refused_i32_negative")
        yield pair(op, "i32", (2,), data_a=[2, 10], data_b=[32, 20], name="i32_overflow",
                   undefined="a double beyond int32 is cast to int32")
    if op == "SQUARED_DIFFERENCE":
        yield from _squares(op)


def _divisions(op):
    for type in ("i8", "i16", "i32") + (("i64",) if op == "FLOOR_MOD" else ()):
        yield pair(op, type, (6,), data_a=[-7, 7, -7, 7, 6, -6], data_b=[2, -2, -2, 2, 3, -3],
                   rule=EQUAL, name=f"{type}_signs")
        yield pair(op, type, (3,), data_a=[-7, 7, 0], data_b=[2, 0, 1],
                   name=f"refused_{type}_by_zero")
        yield pair(op, type, (0, 2), (1, 2), data_b=[0, 1], name=f"refused_{type}_empty_by_zero")
        low = np.iinfo({"i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}[type]).min
        yield pair(op, type, (1,), data_a=[low], data_b=[-1], rule=EQUAL, name=f"{type}_smallest")
    yield pair(op, "f32", (3,), data_a=[-7, 7, 0], data_b=[2, 0, 1],
               name="refused_f32_by_zero" if op == "FLOOR_DIV" else "f32_by_zero")
    yield pair(op, "f32", (60,), range_a=(-9, 9), range_b=(-2, 2), name="f32_signs")


def _squares(op):
    yield pair(op, "i32", (3,), data_a=[2**31 - 1, 5, -40000], data_b=[-1, 7, 40000], rule=EQUAL,
               name="i32_wrapping")
    for number, (sa, sb, so) in enumerate(((1, 1, 300), (0.02, 0.05, 0.1), (1e-3, 1, 20),
                                           (0.5, 0.25, 40))):
        for za, zb, zo in ((0, 0, 0), (-128, 127, -128), (13, -40, 60)):
            yield pair(op, "i8", (8, 32), qa=q(sa, za), qb=q(sb, zb), qo=q(so, zo),
                       name=f"i8_scales_{number}_zero_{zo}")
    yield pair(op, "i8", (5,), name="i8_without_quantisation", lenient=True)
    yield pair(op, "i8", (40, 1024), qa=q(0.0235, -3), qb=q(0.0178, 7), qo=q(0.0371, -14),
               name="exact_usual", exact=True)
    yield pair(op, "i8", (40, 1024), qa=q(1, 0), qb=q(1, 0), qo=q(300, -128), name="exact_ties",
               exact=True)


def draw(op, random):
    a, b = draw_shapes(random)
    if op == "ATAN2":
        b = a
    type = str(random.choice(TYPES[op]))
    more = _settings(op, type)
    if op == "SQUARED_DIFFERENCE" and type == "i8":
        sa, sb = (float(10 ** random.uniform(-3, 0.3)) for _ in range(2))
        so = max(sa, sb) ** 2 * float(10 ** random.uniform(0, 3))
        zeros = [int(random.integers(-128, 128)) for _ in range(3)]
        more.update(qa=q(sa, zeros[0]), qb=q(sb, zeros[1]), qo=q(so, zeros[2]))
    return pair(op, type, a, b, version=int(random.integers(1, VERSIONS[op] + 1)),
                const_b=bool(random.random() < 0.3), seed=int(random.integers(1, 2**30)),
                name=f"draw_{type}_{a}_{b}", **more)


def draw_shapes(random):
    """Returns two shapes that broadcast."""
    rank = random.integers(0, 6)
    full = [int(n) for n in random.integers(1, 8, rank)]
    a = tuple(1 if random.random() < 0.25 else n for n in full)
    b = tuple(1 if random.random() < 0.25 else n for n in full)[random.integers(0, rank + 1):]
    return (a, b) if random.random() < 0.5 else (b, a)
