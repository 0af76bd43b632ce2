# SPDX-License-Identifier: Apache-2.0
"""Unary mathematical functions."""
import numpy as np

from .. import generator
from ..model import EQUAL, Model, q
from . import single as one

_Q = ("f32", "i8", "i16")
VERSIONS = {"ABS": 5, "NEG": 1, "CEIL": 1, "FLOOR": 1, "ROUND": 1, "EXP": 2, "LOG": 2, "SQRT": 2,
            "RSQRT": 3, "SQUARE": 1, "SIN": 2, "COS": 2, "SIGN": 2}
OPERATORS = list(VERSIONS)
TYPES = {"ABS": ("f32", "i8", "i16", "i32"), "NEG": ("f32", "f16", "bf16", "i8", "i16", "i32", "i64"),
         "CEIL": ("f32",), "FLOOR": ("f32", "f16", "bf16"),
         "ROUND": ("f32", "f16", "bf16"), "EXP": _Q, "LOG": _Q,
         "SQRT": _Q, "RSQRT": _Q, "SQUARE": ("f32",), "SIN": ("f32", "f16"),
         "COS": ("f32", "f16"), "SIGN": ("f32", "i32", "f64")}
POSITIVE = ("LOG", "SQRT", "RSQRT")   # undefined for negative numbers


def quantisations(op, type):
    if op in POSITIVE:
        qx = {"i8": q(0.05, -128), "i16": q(0.001)}.get(type)
        qo = {"i8": q(0.03, -20), "i16": q(0.0005)}.get(type)
    else:
        qx = {"i8": q(0.03), "i16": q(1e-4)}.get(type)
        qo = {"i8": q(0.35, -128) if op == "EXP" else q(0.03), "i16": q(0.001)}.get(type)
    return qx, qo


def zero_points(op):
    def of(type):
        return (q(0.05, -128) if op == "SQRT" else q(0.04, -120 if op in POSITIVE else 13),
                q(0.06, -9))
    return of


def _overflow(type, qx, qo):
    """Returns the reason why TFLite's table of EXP is invalid, or "": its steps are cast to int32
    (int8), or its samples are infinite (int16)."""
    highest, limit = (127, 2.0**31) if type == "i8" else (32768, 3e38)
    if np.exp(np.float64(qx.scale) * (highest - int(qx.zero))) < limit * float(qo.scale):
        return ""
    return "the exponential overflows in steps; upstream turns it into the lowest step, or 0"


def math(op, type="f32", shape=(2, 3), qx=None, qo=None, bare=False, **more):
    if type in ("i8", "i16") and not bare and not (op == "NEG" and qx is None):
        default = quantisations(op, type)
        qx, qo = qx or default[0], qo or default[1]
    if op in POSITIVE and "data" not in more:
        if type in one.FLOATS:
            more.setdefault("low", 0.01)
            more.setdefault("high", 50)
        elif type in ("i8", "i16") and qx is not None:
            more.setdefault("low", int(qx.zero))
    if op == "EXP" and type == "f32":
        more.setdefault("low", -20)
        more.setdefault("high", 20)
    elif op == "EXP" and type in ("i8", "i16") and qx is not None and qo is not None:
        more.setdefault("undefined", _overflow(type, qx, qo))
    rule = EQUAL if type not in one.FLOATS and qx is None else 1
    return one.single(op, type, shape, qx, qo, rule=rule, **more)


def cases(op):
    def make(**more):
        return math(op, **more)
    types = TYPES[op]
    yield from one.claims(make, VERSIONS[op], types, zero_points(op))
    yield from one.shapes(make, types)
    if op == "NEG":
        yield from (c for c in one.refused_types(make, types) if "without" not in c.name
                    and "u16" not in c.name)
    else:
        yield from one.refused_types(make, types)
    data = one.SPECIAL
    yield make(shape=data.shape, data=data, name="f32_special_values")
    if "f16" in types:
        halves = np.clip(data, -65504, 65504).astype(np.float16)
        yield make(type="f16", shape=halves.shape, data=halves, name="f16_special_values")
    spread = 60 if op not in ("SIN", "COS") else 30
    positive = op in POSITIVE
    yield make(shape=(4, 100), data=generator.uniform(9, 0.001 if positive else -spread, spread),
               name="f32_many")
    if op in ("CEIL", "FLOOR", "ROUND"):
        yield make(shape=(200,), data=generator.grid(3, -20, 20, 0.5), name="f32_halves")
        large = np.float32([8388607.5, -8388607.5, 16777217, 2147483648, -1e20, 0.50000006])
        yield make(shape=large.shape, data=large, name="f32_large")
    yield from one.counts(op)
    if op in ("ABS", "NEG", "SIGN"):
        for type in ("i16", "i32", "i64"):
            if type in types:
                info = np.iinfo({"i16": np.int16, "i32": np.int32, "i64": np.int64}[type])
                edges = np.array([info.min, info.min + 1, -1, 0, 1, info.max])
                yield make(type=type, shape=edges.shape, data=edges, bare=True,
                           name=f"{type}_edges")
    if op == "ABS":
        yield make(type="i16", shape=(3, 5), bare=True, name="i16_integers")
    for type in types:
        if type in ("i8", "i16"):
            yield from _quantised(op, type, make)
    if op not in ("EXP", "NEG"):
        yield make(out_type="i32", name="f32_output_type",
                   undefined="the output's type in the file is not the operator's")


def _quantised(op, type, make):
    steps = one.all_steps(type)
    scales = [(0.02, 0.02), (0.02, 0.04), (0.1, 0.05), (0.3, 0.004), (0.004, 1.0), (0.05, 0.3)]
    for number, (sx, so) in enumerate(scales):
        zeros = [(0, 0)] if type == "i16" else [(-128, -128), (-128, 127), (-100, 3), (0, 0)]
        if type == "i16":
            sx, so = sx / 200, so / 200
        for zx, zo in zeros:
            values = steps[steps >= zx] if op in ("SQRT", "RSQRT") else steps
            yield make(type=type, shape=values.shape, data=values, qx=q(sx, zx), qo=q(so, zo),
                       name=f"{type}_scales_{number}_zero_{zo}_{zx}")
    if type == "i16" and op != "NEG":
        yield make(type=type, data=np.arange(1, 7), qx=q(0.01, 5), name="i16_zero_point_in")
        yield make(type=type, data=np.arange(1, 7), qo=q(0.01, 5), name="i16_zero_point_out")
    if op in ("SQRT", "RSQRT"):
        yield make(type=type, data=np.array([1, 2, -3, 4, 5, 6]), qx=q(0.1), qo=q(0.1),
                   name=f"{type}_refused_negative")
    zx = -128 if op in POSITIVE and type == "i8" else 0
    scale = 2e-4 if op == "EXP" and type == "i16" else 0.0123
    yield make(type=type, shape=(32, 512), qx=q(scale, zx), qo=q(0.017, 5 if type == "i8" else 0),
               low=zx if op in POSITIVE else None, name=f"exact_{type}", exact=True)


def draw(op, random):
    type = str(random.choice(TYPES[op]))
    shape = one.drawn_shape(random, 1)
    qx = qo = None
    if type in ("i8", "i16"):
        low, high = (-4, -2.5) if type == "i16" else (-2.5, -1)
        qx, qo = one.some(random, type, low, high), one.some(random, type, low, high)
    return math(op, type, shape, qx, qo, version=int(random.integers(1, VERSIONS[op] + 1)),
                seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{shape}")
