# SPDX-License-Identifier: Apache-2.0
"""ADD and MUL: element by element with broadcasting, float32 and int8."""
import numpy as np

from .. import generator
from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, SMALL, TANH,
                     ZERO_POINT, Model, q)

OPERATORS = ["ADD", "MUL"]
VERSIONS = {"ADD": 6, "MUL": 8}
TABLE = {"ADD": "AddOptions", "MUL": "MulOptions"}


def broadcast(a, b):
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        return a


def binary(op, type="f32", a=(2, 3, 4), b=None, act=NONE, qa=None, qb=None, qo=None, version=1,
           const_b=False, out_type=None, b_type=None, options=True, seed=1, data_a=None,
           data_b=None, **case):
    """One operator on two operands; case's name, tags and so on go through."""
    b = a if b is None else b
    if type == "i8":
        qa, qb, qo = qa or q(0.02), qb or q(0.03), qo or q(0.05 if op == "ADD" else 0.04)
    m = Model(seed)
    x = m.input(type, a, qa, data=data_a)
    second = m.const if const_b else m.input
    y = second(b_type or type, b, qb, data=data_b)
    out = m.output(out_type or type, broadcast(a, b), qo)
    table = {TABLE[op]: dict(fusedActivationFunction=act)} if options else {}
    m.op(op, [x, y], [out], version, **table)
    return m.case(type=type, **case)


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in ("f32", "i8"):
            yield from _claim(op, type, version)
    for type in ("f32", "i8"):
        yield from _wide(op, type)
    yield from _floats(op)
    yield from _quantised(op)
    yield from _refused(op)
    yield from _exact(op)


def _claim(op, type, version):
    name = f"v{version}_{type}"
    yield binary(op, type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield binary(op, type, (2, 3, 1, 4), (3, 5, 1), version=version, act=RELU,
                 name=f"{name}_broadcast", tags=ODD)
    if type == "i8":
        yield binary(op, type, (3, 7), qa=q(0.02, -5), qb=q(0.031, 17), qo=q(0.043, 9),
                     version=version, name=f"{name}_zero_points", tags=ZERO_POINT)
    yield binary(op, type, (1,), (1,), version=version, name=f"{name}_one", tags=SMALL)
    yield binary(op, type, (0, 3), (1, 3), version=version, name=f"{name}_empty", tags=SMALL)


SHAPES = [((), ()), ((), (2, 3)), ((4,), (2, 3, 4)), ((1, 1, 1, 1), (2, 3, 2, 5)),
          ((2, 1, 3), (1, 4, 1)), ((2, 3, 1, 1, 2), (1, 1, 4, 3, 2)), ((5, 1), (5, 7)),
          ((2, 1, 2, 1, 2, 1), (1, 3, 1, 2, 1, 2)), ((1, 9, 1, 16), (1, 9, 9, 1)),
          ((3, 1, 1, 33), (33,)), ((1, 7, 5, 19), (1, 1, 1, 19)), ((1, 1, 1, 17), (2, 4, 3, 17)),
          ((2, 0, 3), (1,)), ((0,), (0,)), ((2, 0), ()), ((1, 1), (0, 4)), ((67,), (67,))]


def _wide(op, type):
    zero = dict(qa=q(0.02, 3), qb=q(0.05, -11), qo=q(0.07, 5)) if type == "i8" else {}
    for number, (a, b) in enumerate(SHAPES):
        yield binary(op, type, a, b, **zero, name=f"{type}_shapes_{number}")
    for act in (RELU, RELU_N1_TO_1, RELU6):
        yield binary(op, type, (2, 61), act=act, **zero, name=f"{type}_act_{act}")
    for act in (TANH, SIGN_BIT):
        yield binary(op, type, (2, 5), act=act, lenient=True, **zero,
                     name=f"{type}_odd_act_{act}")
    yield binary(op, type, (2, 3, 5), const_b=True, **zero, name=f"{type}_constant")
    yield binary(op, type, (2, 3, 5), (1,), const_b=True, **zero, name=f"{type}_constant_scalar")
    yield binary(op, type, (2, 3, 5), options=False, **zero, name=f"{type}_no_options")
    yield _same_tensor(op, type)
    yield _resized(op, type)


def _same_tensor(op, type):
    m = Model()
    quant = q(0.03, 4) if type == "i8" else None
    x = m.input(type, (3, 5), quant)
    out = m.output(type, (3, 5), q(0.05, -3) if type == "i8" else None)
    m.op(op, [x, x], [out], **{TABLE[op]: {}})
    return m.case(f"{type}_with_itself", type)


def _resized(op, type):
    m = Model()
    quant = q(0.03, 4) if type == "i8" else None
    x = m.input(type, (1, 5), quant, resize=(4, 5))
    y = m.input(type, (1,), quant, resize=(4, 1))
    out = m.output(type, (1, 5), q(0.05, -3) if type == "i8" else None)
    m.op(op, [x, y], [out], **{TABLE[op]: {}})
    return m.case(f"{type}_resized", type)


def _floats(op):
    # No denormals here: flushed to zero or not, they decide what becomes of infinity times them.
    special = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0, -0.5, 3e38, -3e38, 1.0])
    a, b = np.repeat(special, 10), np.tile(special, 10)
    yield binary(op, "f32", (100,), data_a=a, data_b=b, name="f32_special_values")
    yield binary(op, "f32", (10, 1), (1, 10), data_a=special, data_b=special, act=RELU6,
                 name="f32_special_values_relu6")
    small = np.float32([1e-40, -1e-40, 1e-45, 0.0, 1.0])
    yield binary(op, "f32", (5, 1), (1, 5), data_a=small, data_b=small, name="f32_denormals")


def _quantised(op):
    corners = np.int8([-128, -127, -1, 0, 1, 126, 127])
    data = dict(data_a=np.repeat(corners, 7), data_b=np.tile(corners, 7))
    scales = [(1, 1, 1), (1, 1, 2), (0.5, 0.25, 1), (1e-4, 10, 1), (10, 1e-4, 0.5), (1, 1, 1e-3),
              (0.1, 0.1, 30), (3e-3, 7e-3, 2e-3)]
    for number, (sa, sb, so) in enumerate(scales):
        for za, zb, zo in ((0, 0, 0), (-128, 127, -128), (127, -128, 60)):
            yield binary(op, "i8", (49,), qa=q(sa, za), qb=q(sb, zb), qo=q(so, zo), **data,
                         name=f"i8_scales_{number}_zero_{zo}")


def _refused(op):
    for type in ("f32", "i8"):
        yield binary(op, type, (2, 3), (2, 4), name=f"{type}_refused_shapes")
        yield binary(op, type, (2, 3, 1), (3, 2, 2, 2), name=f"{type}_refused_rank")
    yield binary(op, "f32", (2, 3), (2, 3), b_type="i32", name="refused_mixed_types")
    yield binary(op, "f32", (2, 3), (2, 3), b_type="i8", qb=q(0.1), name="refused_mixed_i8")
    wrong = "the output's type in the file is not the operator's"
    yield binary(op, "f32", (2, 3), out_type="i32", undefined=wrong, name="output_type")
    yield binary(op, "i8", (2, 3), out_type="f32", undefined=wrong, name="i8_output_type")
    yield binary(op, "bool", (2, 3), name="refused_bool")
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
    ties = (1, 1, 2) if op == "ADD" else (0.5, 0.25, 0.25)
    for name, (sa, sb, so), zero, act in (
            ("ties", ties, (0, 0, 0), NONE), ("ties_zero", ties, (3, -7, 11), NONE),
            ("saturating", (1, 1.3, 0.4), (-20, 31, 5), NONE),
            ("usual", (0.0235, 0.0178, 0.0371), (-3, 7, -14), RELU6),
            ("far_scales", (0.0001, 0.9, 0.7), (5, 6, 7), RELU)):
        yield binary(op, "i8", (40, 1024), qa=q(sa, zero[0]), qb=q(sb, zero[1]),
                     qo=q(so, zero[2]), act=act, name=f"exact_{name}", exact=True)
    yield binary(op, "i8", (40, 32, 33), (1, 32, 1), qa=q(0.03, 1), qb=q(0.07, -2),
                 qo=q(0.05, 4), name="exact_broadcast", exact=True)


def draw(op, random):
    rank = random.integers(0, 6)
    full = [int(n) for n in random.integers(1, 8, rank)]
    a = tuple(1 if random.random() < 0.25 else n for n in full)
    b = tuple(1 if random.random() < 0.25 else n for n in full)[random.integers(0, rank + 1):]
    if random.random() < 0.5:
        a, b = b, a
    type = random.choice(["f32", "i8"])
    quant = {}
    if type == "i8":
        quant = {k: q(float(10 ** random.uniform(-3, 0.5)), int(random.integers(-128, 128)))
                 for k in ("qa", "qb", "qo")}
    return binary(op, str(type), a, b, act=int(random.integers(0, 4)), **quant,
                  version=int(random.integers(1, VERSIONS[op])),
                  const_b=bool(random.random() < 0.3), seed=int(random.integers(1, 2**30)),
                  name=f"draw_{type}_{a}_{b}")
