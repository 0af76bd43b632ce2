# SPDX-License-Identifier: Apache-2.0
"""ADD, SUB, MUL and DIV: element-wise with broadcasting and fused activations. ADD_N: any number of
tensors of one shape."""
import numpy as np

from ..model import (ELEMENT, EQUAL, HALF, NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT,
                     SMALL, SUM, TANH, ZERO_POINT, Model, q)
from ..pieces import In, Out, counts, node

OPERATORS = ["ADD", "SUB", "MUL", "DIV", "ADD_N"]
VERSIONS = {"ADD": 6, "SUB": 5, "MUL": 8, "DIV": 2, "ADD_N": 1}
TABLE = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}
TYPES = {"ADD": ["f32", "f16", "i8", "u8", "i16", "i32", "i64"],
         "SUB": ["f32", "i8", "u8", "i16", "i32", "i64"],
         "MUL": ["f32", "f16", "i8", "u8", "i16", "i32", "i64", "u32"],
         "DIV": ["f32", "i8", "u8", "i16", "i32"]}
MIDDLE = {"i8": 0, "u8": 128, "i16": 0}
# Upstream's quantised DIV shifts by more than 31 bits, with arbitrary results, unless the scales make
# its quotients large; defined rows use such scales.
SCALES = {"ADD": (0.02, 0.03, 0.05), "SUB": (0.02, 0.03, 0.05), "MUL": (0.02, 0.03, 0.04),
          "DIV": (1, 1, 1 / 100)}
SHIFTS = "quantised DIV shifts by more than 31 bits"


def broadcast(a, b):
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return a


def binary(op, type="f32", a=(2, 3, 4), b=None, act=NONE, qa=None, qb=None, qo=None, version=1,
           const_b=False, out_type=None, b_type=None, options=True, seed=1, data_a=None,
           data_b=None, plain=False, pot=None, **case):
    """One operator on two operands; **case holds the case's name, tags etc.

    `plain`: without scales. `pot`: the option pot_scale_int16."""
    b = a if b is None else b
    if type in MIDDLE and not plain:
        middle = [q(scale, MIDDLE[type]) for scale in SCALES[op]]
        qa, qb, qo = qa or middle[0], qb or middle[1], qo or middle[2]
    m = Model(seed)
    x = m.input(type, a, qa, data=data_a)
    low = high = None
    if op == "DIV" and type != "f32":
        low = 1 + (qb.zero if qb else 0)
        high = min(low + 98, np.iinfo({"i8": "i1", "u8": "u1"}.get(type, "i2")).max)
    second = m.const if const_b else m.input
    y = second(b_type or type, b, qb, data=data_b, low=low, high=high)
    rule = {"f32": ELEMENT, "f16": HALF, "c64": SUM}.get(type, EQUAL if qo is None else ELEMENT)
    out = m.output(out_type or type, broadcast(a, b), qo, rule)
    table = {TABLE[op]: dict(fusedActivationFunction=act)} if options else {}
    if pot is not None:
        table[TABLE[op]]["potScaleInt16"] = pot
    m.op(op, [x, y], [out], version, **table)
    return m.case(type=type, **case)


def add_n(type="f32", shapes=((2, 3),) * 3, seed=1, data=None, out=None, others=None, **case):
    """`shapes` of the inputs; `others` is the type of all inputs except the first."""
    inputs = [In(type if i == 0 else others or type, shape, None if data is None else data[i])
              for i, shape in enumerate(shapes)]
    return node("ADD_N", inputs, [Out(out or type, shapes[0], EQUAL if type == "i32" else SUM)],
                seed=seed, **case)


def _add_n():
    for type in ("f32", "i32"):
        yield add_n(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield add_n(type, ((2, 1, 3, 5, 2),) * 2, name=f"v1_{type}_odd", tags=ODD)
        yield add_n(type, ((1,),) * 3, name=f"v1_{type}_one", tags=SMALL)
        yield add_n(type, ((0, 3),) * 3, name=f"v1_{type}_empty", tags=SMALL)
        yield add_n(type, ((),) * 4, name=f"{type}_scalars")
        yield add_n(type, ((3, 7),) * 17, name=f"{type}_many")
        yield add_n(type, ((2, 3), (2, 3), (3, 2)), name=f"refused_{type}_shapes")
        yield add_n(type, ((2, 3), (3,)), name=f"refused_{type}_ranks")
        yield add_n(type, others="i64", name=f"refused_{type}_mixed")
        yield add_n(type, ((2, 3),), name=f"refused_{type}_alone")
    yield add_n("i32", ((2,),) * 3, data=[[2**31 - 1, -2**31], [1, -1], [7, 7]], name="i32_wrapping")
    yield add_n("f32", out="i32", name="output_type",
                undefined="the output's type in the file is not the inputs'")
    for type in ("f16", "i8", "u8", "i16", "i64", "u32", "bool", "f64"):
        yield add_n(type, name=f"refused_{type}")
    yield from counts("ADD_N", ((0, 1), (2, 2)))


def cases(op):
    if op == "ADD_N":
        yield from _add_n()
        return
    for version in range(1, VERSIONS[op] + 1):
        for type in TYPES[op]:
            yield from _claim(op, type, version)
    for type in TYPES[op]:
        yield from _wide(op, type)
    yield from _floats(op)
    yield from (_divided() if op == "DIV" else _quantised(op))
    if op in ("ADD", "SUB"):
        yield from _shifted(op)
    yield from _integers(op)
    yield from _refused(op)
    yield from _exact(op)
    if op == "MUL":
        yield from _complex()


def _complex():
    for version in range(1, VERSIONS["MUL"] + 1):
        for name, a, b, tags in (("plain", (2, 3, 4), None, ORDINARY),
                                 ("broadcast", (2, 3, 1, 4), (3, 5, 1), ODD),
                                 ("one", (1,), (1,), SMALL), ("empty", (0, 3), (1, 3), SMALL)):
            yield binary("MUL", "c64", a, b, version=version, name=f"v{version}_c64_{name}",
                         tags=tags)
    for number, (a, b) in enumerate(SHAPES):
        yield binary("MUL", "c64", a, b, name=f"c64_shapes_{number}")
    few = [-0.0, 2.5, np.inf, np.nan]
    special = np.array([complex(a, b) for a in few for b in few], np.complex64)
    yield binary("MUL", "c64", (special.size ** 2,), data_a=np.repeat(special, special.size),
                 data_b=np.tile(special, special.size), name="c64_special")
    yield binary("MUL", "c64", const_b=True, name="c64_constant")
    for act in (RELU, RELU6, TANH):
        yield binary("MUL", "c64", act=act, name=f"refused_c64_act_{act}")
    for op in ("ADD", "SUB", "DIV"):
        yield binary(op, "c64", main=("MUL", 1), name=f"refused_c64_{op}")


def _zeros(op, type):
    """Returns different scales and zero points for the operands and the output, by argument of `binary`."""
    middle = MIDDLE[type]
    zeros = (0, 0, 0) if type == "i16" and op != "DIV" else (middle - 5, middle + 17, middle + 9)
    return dict(zip(("qa", "qb", "qo"), (q(scale * 1.03, zero) for scale, zero in
                                         zip(SCALES[op], zeros))))


def _claim(op, type, version):
    name = f"v{version}_{type}"
    yield binary(op, type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield binary(op, type, (2, 3, 1, 4), (3, 5, 1), version=version, act=RELU,
                 name=f"{name}_broadcast", tags=ODD)
    if type in ("i8", "u8"):
        yield binary(op, type, (3, 7), **_zeros(op, type), version=version,
                     name=f"{name}_zero_points", tags=ZERO_POINT)
    yield binary(op, type, (1,), (1,), version=version, name=f"{name}_one", tags=SMALL)
    yield binary(op, type, (0, 3), (1, 3), version=version, name=f"{name}_empty", tags=SMALL)


SHAPES = [((), ()), ((), (2, 3)), ((4,), (2, 3, 4)), ((1, 1, 1, 1), (2, 3, 2, 5)),
          ((2, 1, 3), (1, 4, 1)), ((2, 3, 1, 1, 2), (1, 1, 4, 3, 2)), ((5, 1), (5, 7)),
          ((2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2)), ((1, 9, 1, 16), (1, 9, 9, 1)),
          ((3, 1, 1, 33), (33,)), ((1, 7, 5, 19), (1, 1, 1, 19)), ((1, 1, 1, 17), (2, 4, 3, 17)),
          ((2, 0, 3), (1,)), ((0,), (0,)), ((2, 0), ()), ((1, 1), (0, 4)), ((67,), (67,))]


def _wide(op, type):
    zero = _zeros(op, type) if type in MIDDLE else {}
    for number, (a, b) in enumerate(SHAPES):
        yield binary(op, type, a, b, **zero, name=f"{type}_shapes_{number}")
    for act in (RELU, RELU_N1_TO_1, RELU6):
        yield binary(op, type, (2, 61), act=act, **zero, name=f"{type}_act_{act}",
                     undefined="-1 is cast to uint32" if type == "u32" and act == RELU_N1_TO_1
                     else "")
    for act in (TANH, SIGN_BIT) if type in ("f32", "i8") else ():
        yield binary(op, type, (2, 5), act=act, **zero, name=f"{type}_odd_act_{act}")
    yield binary(op, type, (2, 3, 5), const_b=True, **zero, name=f"{type}_constant")
    yield binary(op, type, (2, 3, 5), (1,), const_b=True, **zero, name=f"{type}_constant_scalar")
    yield binary(op, type, (2, 3, 5), options=False, **zero, name=f"{type}_no_options")
    yield _same_tensor(op, type)
    yield _resized(op, type)


def _same_tensor(op, type):
    m = Model()
    quant = q(0.03, MIDDLE[type]) if type in MIDDLE else None
    low = dict(low=1 + quant.zero if quant else 1, high=100 if type != "u8" else 250) if (
        op == "DIV") else {}
    x = m.input(type, (3, 5), quant, **low)
    out = m.output(type, (3, 5), _out(op, type), HALF if type == "f16" else ELEMENT)
    m.op(op, [x, x], [out], **{TABLE[op]: {}})
    return m.case(f"{type}_with_itself", type)


def _out(op, type):
    return q(0.01 if op == "DIV" else 0.05, MIDDLE[type]) if type in MIDDLE else None


def _resized(op, type):
    m = Model()
    quant = q(0.03, MIDDLE[type]) if type in MIDDLE else None
    low = dict(low=1 + quant.zero if quant else 1, high=100 if type != "u8" else 250) if (
        op == "DIV") else {}
    x = m.input(type, (1, 5), quant, resize=(4, 5), **low)
    y = m.input(type, (1,), quant, resize=(4, 1), **low)
    out = m.output(type, (1, 5), _out(op, type), HALF if type == "f16" else ELEMENT)
    m.op(op, [x, y], [out], **{TABLE[op]: {}})
    return m.case(f"{type}_resized", type)


def _floats(op):
    # There are no denormals, because infinity times a denormal depends on whether it is flushed to
    # zero.
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, -0.5, 3e38, -3e38, 1.0])
    a, b = np.repeat(special, 10), np.tile(special, 10)
    yield binary(op, "f32", (100,), data_a=a, data_b=b, name="f32_special_values")
    yield binary(op, "f32", (10, 1), (1, 10), data_a=special, data_b=special, act=RELU6,
                 name="f32_special_values_relu6")
    small = np.float32([1e-40, -1e-40, 1e-45, 0.0, 1.0])
    yield binary(op, "f32", (5, 1), (1, 5), data_a=small, data_b=small, name="f32_denormals",
                 undefined="denormals are not flushed, and 0/0 differs" if op == "DIV" else "")


def _quantised(op):
    yield from _unsigned(op)
    corners = np.int8([-128, -127, -1, 0, 1, 126, 127])
    data = dict(data_a=np.repeat(corners, 7), data_b=np.tile(corners, 7))
    scales = [(1, 1, 1), (1, 1, 2), (0.5, 0.25, 1), (1e-4, 10, 1), (10, 1e-4, 0.5), (1, 1, 1e-3),
              (0.1, 0.1, 30), (3e-3, 7e-3, 2e-3)]
    for number, (sa, sb, so) in enumerate(scales):
        for za, zb, zo in ((0, 0, 0), (-128, 127, -128), (127, -128, 60)):
            yield binary(op, "i8", (49,), qa=q(sa, za), qb=q(sb, zb), qo=q(so, zo), **data,
                         name=f"i8_scales_{number}_zero_{zo}")


def _unsigned(op):
    corners = np.uint8([0, 1, 127, 128, 129, 254, 255])
    data = dict(data_a=np.repeat(corners, 7), data_b=np.tile(corners, 7))
    for number, (sa, sb, so) in enumerate([(1, 1, 2), (0.5, 0.25, 1), (3e-3, 7e-3, 2e-3)]):
        for za, zb, zo in ((128, 128, 128), (0, 255, 0), (255, 0, 60)):
            yield binary(op, "u8", (49,), qa=q(sa, za), qb=q(sb, zb), qo=q(so, zo), **data,
                         name=f"u8_scales_{number}_zero_{zo}")
    corners = np.int16([-32768, -32767, -300, -1, 0, 1, 200, 32767])
    data = dict(data_a=np.repeat(corners, 8), data_b=np.tile(corners, 8))
    for number, (sa, sb, so) in enumerate([(1e-4, 2e-4, 3e-4), (1e-3, 1e-5, 2e-3), (1, 1, 2),
                                           (0.3, 0.7, 0.2), (2**-8, 2**-8, 2**-8)]):
        yield binary(op, "i16", (64,), qa=q(sa), qb=q(sb), qo=q(so), **data,
                     name=f"i16_scales_{number}", **({} if op == "MUL" else dict(pot=False)))


def _divided():
    for type, low in (("i8", -128), ("u8", 0)):
        for number, (sa, sb, so) in enumerate(((1, 1, 1 / 70), (1, 1, 1e-4), (0.3, 0.02, 0.1))):
            for za, zb, zo in ((0, 0, 0), (127, -128, 60), (13, -40, 7)):
                shift = low + 128
                a = np.repeat(np.arange(low, low + 256, 15), 16)[:256]
                b = np.tile(np.arange(low + 1, low + 256, 17), 20)[:a.size]
                b = np.where(b == zb + shift, low + (9 if zb != -119 else 10), b)
                yield binary("DIV", type, a.shape, qa=q(sa, za + shift), qb=q(sb, zb + shift),
                             qo=q(so, zo + shift), data_a=a, data_b=b,
                             name=f"{type}_scales_{number}_zero_{zo}")
    for number, (sa, sb, so) in enumerate(((0.1, 0.1, 0.1), (0.01, 1, 1), (0.02, 0.02, 0.05))):
        yield binary("DIV", "i8", (40,), qa=q(sa), qb=q(sb), qo=q(so), undefined=SHIFTS,
                     name=f"i8_small_quotients_{number}")
    for type in ("i8", "u8", "i16"):
        yield binary("DIV", type, (3,), (3,), data_a=[5, 6, 7], data_b=[1, MIDDLE[type], 3],
                     name=f"refused_{type}_by_zero")
    yield binary("DIV", "i32", (3,), data_a=[5, 6, 7], data_b=[1, 0, 3], name="refused_i32_by_zero")
    yield binary("DIV", "i32", (0, 2), (1, 2), data_b=[0, 1], name="refused_i32_empty_by_zero")
    yield binary("DIV", "i32", (5,), data_a=[-7, 7, -7, -2**31, -2**31],
                 data_b=[2, -2, -2, -1, 1], name="i32_signs")


def _shifted(op):
    a = np.int16([2, 401, 30000, -30000, -401, 5, -5, 32767, -32768])
    b = np.int16([1, -3, 20000, -20001, 6, 7, -7, 32767, 32767])
    for pot in (True, False):
        for number, (ea, eb, eo) in enumerate(((8, 9, 8), (9, 8, 8), (8, 8, 8), (12, 8, 8),
                                               (8, 23, 8), (8, 8, 7), (7, 8, 8), (15, 15, 15))):
            bad = pot and ((eo < ea and eo < eb) or eo > min(ea, eb))
            yield binary(op, "i16", (9,), data_a=a, data_b=b, qa=q(2.0**-ea), qb=q(2.0**-eb),
                         qo=q(2.0**-eo), pot=pot,
                         name=f"{'refused_' if bad else ''}i16_pot_{pot}_{number}")
        yield binary(op, "i16", (9,), data_a=a, data_b=b, qa=q(0.1), qb=q(0.15), qo=q(0.12),
                     pot=pot, name=f"i16_no_pot_{pot}")
        yield binary(op, "i16", (9,), data_a=a, data_b=b, qa=q(2**-8, 1), qb=q(2**-8),
                     qo=q(2**-8), pot=pot, name=f"refused_i16_zero_point_{pot}")
        yield binary(op, "i16", (9,), data_a=a, data_b=b, qa=q(2**-8), qb=q(2**-9),
                     qo=q(2**-8), pot=pot, act=RELU6, name=f"i16_relu6_pot_{pot}")
    yield binary(op, "i16", (3, 4), (4,), qa=q(2**-8), qb=q(2**-8), qo=q(2**-8), pot=True,
                 name="i16_pot_broadcast",
                 **(dict(undefined="broadcasting int16 ADD with shifts ends the process")
                    if op == "ADD" else {}))


def _integers(op):
    for type, dtype in (("i32", np.int32), ("i64", np.int64), ("u32", np.uint32)):
        if type not in TYPES[op] or op == "DIV":
            continue
        info = np.iinfo(dtype)
        a = np.array([info.max, info.min, info.max // 2, 7, 3], dtype)
        b = np.array([1, info.max, 2, 5, 9], dtype)
        yield binary(op, type, (5,), data_a=a, data_b=b, name=f"{type}_wrapping")
        for act in (NONE, RELU, RELU6) + ((RELU_N1_TO_1,) if type != "u32" else ()):
            small = np.arange(8).astype(dtype) - (0 if type == "u32" else dtype(4))
            yield binary(op, type, (8,), data_a=small, data_b=small[::-1] // dtype(2), act=act,
                         name=f"{type}_small_act_{act}")
    if op in ("ADD", "MUL"):
        for act in (NONE, RELU6):
            yield binary(op, "i16", (4,), data_a=[2, 400, 30000, -30000], plain=True,
                         data_b=[1, -2, 20000, -20000], act=act, name=f"i16_plain_act_{act}")
        yield binary(op, "i16", (2, 3), (3,), plain=True, name="i16_plain_broadcast")
    if op in ("SUB", "DIV"):
        yield binary(op, "i16", (4,), plain=True, lenient=True, name="i16_plain")


def _refused(op):
    for type in ("f16", "u32", "i64", "u16", "bool", "str"):
        if type not in TYPES[op]:
            yield binary(op, type, (2, 3), plain=True, name=f"refused_{type}")
    for type in ("f32", "i8"):
        yield binary(op, type, (2, 3), (2, 4), name=f"{type}_refused_shapes")
        yield binary(op, type, (2, 3, 1), (3, 2, 2, 2), name=f"{type}_refused_rank")
    yield binary(op, "f32", (2, 3), (2, 3), b_type="i32", name="refused_mixed_types")
    yield binary(op, "f32", (2, 3), (2, 3), b_type="i8", qb=q(0.1), name="refused_mixed_i8")
    wrong = "the output's type in the file is not the operator's"
    yield binary(op, "f32", (2, 3), out_type="i32", undefined=wrong, name="output_type")
    yield binary(op, "i8", (2, 3), out_type="f32", undefined=wrong, name="i8_output_type")
    yield _counts(op, 1, 1)
    yield _counts(op, 3, 1)
    yield _counts(op, 2, 2)
    yield _unquantised(op)
    yield binary(op, "f32", (1, 2, 1, 2, 1, 2, 1), (2, 1, 2, 1, 2, 1, 2), name="rank_7_broadcast")


def _counts(op, inputs, outputs):
    m = Model()
    xs = [m.input("f32", (2,)) for _ in range(inputs)]
    ys = [m.output("f32", (2,)) for _ in range(outputs)]
    m.op(op, xs, ys, **{TABLE[op]: {}})
    return m.case(f"refused_{inputs}_inputs_{outputs}_outputs", "f32")


def _unquantised(op):
    m = Model()
    x, y = m.input("i8", (5,)), m.input("i8", (5,))
    m.op(op, [x, y], [m.output("i8", (5,))], **{TABLE[op]: {}})
    return m.case("i8_without_quantisation", "i8", lenient=True)


def _exact(op):
    if op == "DIV":
        a, b = np.repeat(np.arange(-128, 128), 256), np.tile(np.arange(-128, 128), 256)
        a, b = a[b != 0], b[b != 0]
        for name, zo, act in (("usual", -3, NONE), ("relu", 0, RELU)):
            yield binary(op, "i8", a.shape, data_a=a, data_b=b, qa=q(1), qb=q(1), qo=q(1 / 77, zo),
                         act=act, name=f"exact_{name}", exact=True)
        return
    ties = (0.5, 0.25, 0.25) if op == "MUL" else (1, 1, 2)
    for name, (sa, sb, so), zero, act in (
            ("ties", ties, (0, 0, 0), NONE), ("ties_zero", ties, (3, -7, 11), NONE),
            ("saturating", (1, 1.3, 0.4), (-20, 31, 5), NONE),
            ("usual", (0.0235, 0.0178, 0.0371), (-3, 7, -14), RELU6),
            ("far_scales", (0.0001, 0.9, 0.7), (5, 6, 7), RELU)):
        yield binary(op, "i8", (40, 1024), qa=q(sa, zero[0]), qb=q(sb, zero[1]),
                     qo=q(so, zero[2]), act=act, name=f"exact_{name}", exact=True)
        if name not in ("saturating", "usual"):
            continue
        yield binary(op, "i16", (20, 1024), qa=q(sa / 256), qb=q(sb / 256), qo=q(so / 256),
                     act=act, name=f"exact_i16_{name}", exact=True)
    yield binary(op, "u8", (40, 1024), qa=q(0.0235, 125), qb=q(0.0178, 135), qo=q(0.0371, 114),
                 name="exact_u8", exact=True)
    yield binary(op, "i8", (40, 32, 33), (1, 32, 1), qa=q(0.03, 1), qb=q(0.07, -2),
                 qo=q(0.05, 4), name="exact_broadcast", exact=True)


def draw(op, random):
    if op == "ADD_N":
        shape = tuple(int(n) for n in random.integers(1, 8, random.integers(0, 5)))
        count, type = int(random.integers(2, 9)), str(random.choice(["f32", "i32"]))
        return add_n(type, (shape,) * count, seed=int(random.integers(1, 2**30)),
                     name=f"draw_{type}_{shape}_{count}")
    rank = random.integers(0, 6)
    full = [int(n) for n in random.integers(1, 8, rank)]
    a = tuple(1 if random.random() < 0.25 else n for n in full)
    b = tuple(1 if random.random() < 0.25 else n for n in full)[random.integers(0, rank + 1):]
    if random.random() < 0.5:
        a, b = b, a
    type = str(random.choice(TYPES[op]))
    quant = {}
    if type in MIDDLE and op != "DIV":
        low = MIDDLE[type] - 128
        quant = {k: q(float(10 ** random.uniform(-3, 0.5)),
                      0 if type == "i16" else int(random.integers(low, low + 256)))
                 for k in ("qa", "qb", "qo")}
    return binary(op, type, a, b, act=int(random.integers(0, 2 if type == "u32" else 4)), **quant,
                  version=int(random.integers(1, VERSIONS[op] + 1)),
                  const_b=bool(random.random() < 0.3), seed=int(random.integers(1, 2**30)),
                  name=f"draw_{type}_{a}_{b}")
