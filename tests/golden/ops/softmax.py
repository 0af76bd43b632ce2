# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX and LOG_SOFTMAX over the last axis. Their output scales are fixed."""
import numpy as np

from ..model import HALF, ODD, ORDINARY, SMALL, SUM, ZERO_POINT, Model, q
from . import single as one

OPERATORS = ["SOFTMAX", "LOG_SOFTMAX"]
VERSIONS = {"SOFTMAX": 4, "LOG_SOFTMAX": 2}
TYPES = {"SOFTMAX": ("f32", "f16", "i8", "u8", "i16"), "LOG_SOFTMAX": ("f32", "i8", "u8")}
OUTPUT = {"SOFTMAX": {"i8": q(1 / 256, -128), "u8": q(1 / 256), "i16": q(1 / 32768)},
          "LOG_SOFTMAX": {"i8": q(16 / 256, 127), "u8": q(16 / 256, 255)}}
INPUT = {"i8": q(0.1), "u8": q(0.1, 128), "i16": q(0.0005)}


def softmax(op="SOFTMAX", type="f32", shape=(2, 10), beta=1.0, qx=None, qo=None, bare=False,
            options=True, out_type=None, **more):
    if type in INPUT and not bare:
        qx, qo = qx or INPUT[type], qo or OUTPUT[op].get(out_type or type)
    table = {"SoftmaxOptions": dict(beta=beta)} if options and op == "SOFTMAX" else None
    return one.single(op, type, shape, qx, qo, options=table, rule=SUM, out_type=out_type, **more)


def cases(op):
    def make(**more):
        return softmax(op, **more)
    types = TYPES[op]
    yield from one.claims(make, VERSIONS[op], types, lambda type: (
        q(0.07, -33 if type == "i8" else 200), OUTPUT[op].get(type)))
    for type in types:
        for number, shape in enumerate([(5,), (1, 1001), (2, 3, 4), (1, 2, 3, 4, 5), (4, 0),
                                        (33, 3), (2, 2, 2, 2, 2, 2), (3, 1)]):
            more = dict(undefined="upstream's optimised kernel dies of a signal") \
                if number == 4 and op == "SOFTMAX" and type == "f32" else {}
            yield make(type=type, shape=shape, name=f"{type}_shapes_{number}", **more)
        yield make(type=type, shape=(), lenient=op == "LOG_SOFTMAX", name=f"{type}_scalar")
        yield make(type=type, shape=(1, 5), resize=(3, 5), name=f"{type}_resized")
    yield from one.refused_types(make, types)
    yield from _floats(make)
    for type in types:
        if type in INPUT:
            yield from _quantised(op, type, make)
    yield make(out_type="i8", qo=q(1 / 256, -128), name="output_type",
               undefined="TFLite writes floats into an int8 tensor")
    yield from one.counts(op, {"SoftmaxOptions": dict(beta=1.0)} if op == "SOFTMAX" else None)
    if op == "SOFTMAX":
        yield from _betas()
        yield from _wide_outputs()


def _betas():
    for type in TYPES["SOFTMAX"]:
        for beta in (0.0, 0.01, 1.5, 4.0, -1.0, 100.0):
            wrong = dict(undefined="int16: a negative multiplier, which upstream's own checks "
                                   "exclude") if type == "i16" and beta < 0 else {}
            yield softmax(type=type, shape=(4, 21), beta=beta, name=f"{type}_beta_{beta}", **wrong)
        yield softmax(type=type, shape=(4, 5), options=False, name=f"{type}_no_options")


def _wide_outputs():
    """8-bit inputs with an int16 output: the reference kernel requires 1/65536 and -32768."""
    for type in ("i8", "u8"):
        yield softmax(type=type, shape=(4, 21), out_type="i16", qo=q(1 / 65536, -32768),
                      name=f"{type}_to_i16")
        yield softmax(type=type, shape=(4, 21), out_type="i16", qo=q(1 / 32768),
                      name=f"{type}_to_i16_other_scale")
    yield softmax(type="i16", out_type="i8", qo=q(1 / 256, -128), lenient=True, name="i16_to_i8")


def _floats(make):
    yield make(shape=(3, 40), low=-90, high=90, name="f32_large")
    yield make(shape=(2, 5), data=np.float32([1e30, 1, 2, -1e30, 0, -3e38, 3e38, 0, 0, 0]),
               name="f32_huge")
    yield make(shape=(4, 3), name="f32_infinite",
               data=np.float32([np.inf, 0, 1, -np.inf, 0, 1, np.nan, 0, 1, 0, 0, 0]))


def _quantised(op, type, make):
    fixed = OUTPUT[op][type]
    short = type == "i16"
    low = -32768 if short else 0 if type == "u8" else -128
    high = 32767 if short else low + 255
    for number, (scale, zero) in enumerate([(1e-4, 0), (0.01, 127), (1.0, -128), (8.0, 3),
                                            (0.0625, 0)]):
        zero = 0 if short else zero + (128 if type == "u8" else 0)
        yield make(type=type, shape=(7, 29), qx=q(scale / (50 if short else 1), zero),
                   name=f"{type}_scales_{number}")
    yield make(type=type, shape=(2, 4), data=np.array([high] * 4 + [low] * 4),
               name=f"{type}_all_equal")
    yield make(type=type, shape=(1, 4), data=np.array([high, low, low, low]), qx=q(1.0),
               name=f"{type}_one_certain")
    yield make(type=type, shape=(2, 4), qo=q(fixed.scale * 2, fixed.zero), lenient=type == "u8",
               name=f"{type}_other_output_scale")
    yield make(type=type, shape=(2, 4), qo=q(fixed.scale, fixed.zero + 1 if fixed.zero < 100 else 5),
               lenient=type == "u8", name=f"{type}_other_output_zero_point")
    if short:
        yield make(type=type, shape=(2, 4), qx=q(0.1, 3), name="i16_refused_zero_point")
    for number, (scale, zero) in enumerate([(0.1, 0), (0.03, -20), (1.0, 11), (0.005, 99)]):
        zero = 0 if short else zero + (128 if type == "u8" else 0)
        yield make(type=type, shape=(256, 32), qx=q(scale / (100 if short else 1), zero),
                   name=f"exact_{type}_{number}", exact=True)


def draw(op, random):
    type = str(random.choice(TYPES[op]))
    qx = one.some(random, type, *((-5, -2) if type == "i16" else (-3, 0))) if type in INPUT else None
    shape = one.drawn_shape(random, 1)
    return softmax(op, type, shape, float(random.choice([0.5, 1.0, 1.0, 3.0])), qx,
                   version=int(random.integers(1, VERSIONS[op] + 1)),
                   seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{shape}")
