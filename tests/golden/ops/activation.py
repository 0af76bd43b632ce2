# SPDX-License-Identifier: Apache-2.0
"""Activation operators, in float, half, and quantised with tables."""
import numpy as np

from .. import generator
from ..model import ELEMENT, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q
from . import single as one

OPERATORS = ["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "PRELU", "LEAKY_RELU", "ELU",
             "HARD_SWISH", "LOGISTIC", "TANH", "GELU"]
VERSIONS = {"RELU": 3, "RELU6": 3, "RELU_N1_TO_1": 1, "RELU_0_TO_1": 1, "PRELU": 1,
            "LEAKY_RELU": 2, "ELU": 1, "HARD_SWISH": 1, "LOGISTIC": 3, "TANH": 3, "GELU": 3}
_WIDE, _NARROW = ("f32", "i8", "u8", "i16"), ("f32", "i8", "u8")
_SMOOTH = ("f32", "f16", "i8", "u8", "i16")
TYPES = {"RELU": _WIDE, "RELU6": _WIDE, "RELU_N1_TO_1": _NARROW, "RELU_0_TO_1": _NARROW,
         "PRELU": _WIDE, "LEAKY_RELU": _WIDE, "ELU": ("f32", "i8"), "HARD_SWISH": _NARROW,
         "LOGISTIC": (*_SMOOTH, "bf16"), "TANH": (*_SMOOTH, "bf16"), "GELU": _SMOOTH}
# Output quantisation that the kernel requires, by type; types that are not listed have no
# requirement.
OUTPUT = {"LOGISTIC": {"i8": q(1 / 256, -128), "u8": q(1 / 256), "i16": q(1 / 32768)},
          "TANH": {"i8": q(1 / 128), "u8": q(1 / 128, 128), "i16": q(1 / 32768)}}


def quantisations(op, type):
    """Returns the quantisation of (input, output) for an ordinary case."""
    qx = {"i8": q(0.06), "u8": q(0.06, 128), "i16": q(2.0**-12)}.get(type)
    qo = {"i8": q(0.05), "u8": q(0.05, 128), "i16": q(0.0003)}.get(type)
    return qx, OUTPUT.get(op, {}).get(type, qo)


def zero_points(op):
    def of(type):
        qx, qo = (q(0.043, 17), q(0.031, -9)) if type == "i8" else (q(0.043, 140), q(0.031, 99))
        return qx, OUTPUT.get(op, {}).get(type, qo)
    return of


def table(op, alpha=0.3, approximate=False):
    return {"LEAKY_RELU": {"LeakyReluOptions": dict(alpha=alpha)},
            "GELU": {"GeluOptions": dict(approximate=approximate)}}.get(op)


def act(op, type="f32", shape=(2, 3), qx=None, qo=None, options=None, bare=False, **more):
    if type in one.QUANTISED and not bare:
        default = quantisations(op, type)
        qx, qo = qx or default[0], qo or default[1]
    if type == "f32":
        more.setdefault("low", -8)
        more.setdefault("high", 8)
    if op == "PRELU":
        return prelu(type, shape, qx=qx, qo=qo, **more)
    return one.single(op, type, shape, qx, qo, options=options or table(op), **more)


def prelu(type="f32", shape=(2, 3), alpha=None, qx=None, qa=None, qo=None, alpha_type=None,
          const=True, seed=1, data=None, low=None, high=None, resize=None, version=1, **case):
    m = Model(seed)
    x = m.input(type, shape, qx, data=data, low=low, high=high, resize=resize)
    if alpha is None:
        alpha = shape[-1:]
    if qx is not None:
        qa = qa or {"i8": q(0.01, 5), "u8": q(0.01, 77), "i16": q(0.01, 5)}[type]
    alpha_type = alpha_type or ("i8" if type == "i16" else type)
    a = (m.const if const else m.input)(alpha_type, alpha, qa)
    m.op("PRELU", [x, a], [m.output(type, shape, qo)], version)
    return m.case(type=type, **case)


def cases(op):
    def make(**more):
        return act(op, **more)
    types = TYPES[op]
    yield from one.claims(make, VERSIONS[op], types, zero_points(op))
    yield from one.shapes(make, types)
    yield from one.refused_types(make, types)
    data = one.SPECIAL
    yield make(shape=(len(data),), data=data, name="f32_special_values")
    if "bf16" in types:
        yield make(type="bf16", shape=one.BRAINS.shape, data=one.BRAINS, name="bf16_values")
    if "f16" in types:
        with np.errstate(over="ignore"):
            halves = np.clip(data, -65504, 65504).astype(np.float16)
        yield make(type="f16", shape=(len(halves),), data=halves, name="f16_special_values")
    yield make(shape=(4, 100), data=generator.uniform(7, -12, 12), name="f32_many")
    for type in types:
        if type in one.QUANTISED:
            yield from _quantised(op, type, make)
    if op == "PRELU":
        yield from _prelu()
    else:
        yield from one.counts(op, table(op))
        yield make(out_type="i32", name="f32_output_type",
                   undefined="the output's type in the file is not the operator's")
    if op == "LEAKY_RELU":
        yield from _alphas()
    if op == "GELU":
        yield from _approximate()


def _quantised(op, type, make):
    steps = one.all_steps(type)
    scales = [(0.01, 0.01), (0.02, 0.04), (0.1, 0.05), (0.3, 0.002), (0.004, 1.0), (1.0, 1.0)]
    fixed = OUTPUT.get(op, {}).get(type)
    for number, (sx, so) in enumerate(scales):
        if type == "i16":
            sx, so = sx / 200, so / 200
            zeros = [(0, 0)]
        else:
            first = 0 if type == "u8" else -128
            zeros = [(first + 128, first + 128), (first, first + 255), (first + 200, first + 3)]
        for zx, zo in zeros:
            yield make(type=type, shape=steps.shape, data=steps, qx=q(sx, zx),
                       qo=fixed or q(so, zo), name=f"{type}_scales_{number}_zero_{zo}_{zx}")
    if type == "i16":
        for exponent in (-12, -11, -13, -10, -15):
            yield make(type=type, shape=steps.shape, data=steps, qx=q(2.0**exponent),
                       qo=fixed or q(2.0**exponent), name=f"i16_power_{exponent}")
        yield make(type=type, qx=q(0.01, 5), lenient=op in ("GELU", "PRELU"),
                   name="i16_zero_point_in")
        yield make(type=type, qo=q(1 / 32768, 5), lenient=op in ("GELU", "PRELU"),
                   name="i16_zero_point_out")
    if fixed:
        yield make(type=type, qo=q(0.01, fixed.zero), name=f"{type}_other_output_scale")
        if type != "i16":
            yield make(type=type, qo=q(fixed.scale, 7), name=f"{type}_other_output_zero_point")
    yield make(type=type, shape=(32, 512), qx=q(0.0123, 3 if type != "i16" else 0),
               qo=fixed or q(0.017, 5 if type != "i16" else 0), name=f"exact_{type}", exact=True)


def _prelu():
    for type in TYPES["PRELU"]:
        qx, qo = quantisations("PRELU", type)
        for number, (x, alpha) in enumerate([
                ((2, 3, 4), (4,)), ((2, 3, 4), (1, 1, 4)), ((2, 3, 4), (3, 4)), ((2, 3, 4), ()),
                ((2, 3, 4), (2, 3, 4)), ((1, 4, 5, 7), (1, 1, 7)), ((2, 3, 4), (3, 1)),
                ((2, 4, 5, 7), (2, 1, 1, 7)), ((5,), (1,)), ((2, 1, 2, 3, 2), (3, 1))]):
            yield prelu(type, x, alpha, qx, qo=qo, name=f"{type}_alpha_{number}")
        yield prelu(type, (2, 3, 4), (4,), qx, qo=qo, const=False, name=f"{type}_alpha_input")
        yield prelu(type, (2, 3), (2,), qx, qo=qo, name=f"{type}_refused_shapes")
        yield prelu(type, (1, 3), (2, 3), qx, qo=qo, name=f"{type}_refused_larger_alpha")
    wrong = "reads slopes of another type as if they were float, or int8 for int16"
    yield prelu("f32", alpha_type="i8", undefined=wrong, name="f32_alpha_i8")
    yield prelu("i16", alpha_type="i16", qx=q(0.1), qa=q(0.1), qo=q(0.1), undefined=wrong,
                name="i16_alpha_i16")
    yield prelu("f32", (1, 5), (5,), resize=(4, 5), name="f32_alpha_resized")


def _alphas():
    for alpha in (0.0, 1.0, 2.5, -0.5, 1e-3):
        for type in TYPES["LEAKY_RELU"]:
            yield act("LEAKY_RELU", type, (4, 9), options=table("LEAKY_RELU", alpha),
                      name=f"{type}_alpha_{alpha}")
    yield one.single("LEAKY_RELU", "f32", (2, 3), name="f32_no_options")


def _approximate():
    for version in (1, 3):
        for type in TYPES["GELU"]:
            yield act("GELU", type, (4, 33), version=version,
                      options=table("GELU", approximate=True),
                      name=f"v{version}_{type}_approximate")
    for type in ("i8", "u8"):
        yield act("GELU", type, (256,), data=one.all_steps(type), qx=q(0.04, 9), qo=q(0.03, 11),
                  options=table("GELU", approximate=True), name=f"{type}_approximate_all")
    yield act("GELU", "f32", one.SPECIAL.shape, data=one.SPECIAL,
              options=table("GELU", approximate=True), name="f32_approximate_special_values")
    yield one.single("GELU", "f32", (2, 3), name="f32_no_options")


def draw(op, random):
    type = str(random.choice(TYPES[op]))
    shape = one.drawn_shape(random, 1)
    qx = qo = None
    if type in one.QUANTISED:
        low, high = (-5, -2) if type == "i16" else (-3, 0)
        qx = one.some(random, type, low, high)
        qo = OUTPUT.get(op, {}).get(type) or one.some(random, type, low, high)
        if op == "HARD_SWISH":
            qo.scale = max(qo.scale, qx.scale / 100)
    return act(op, type, shape, qx, qo, version=int(random.integers(1, VERSIONS[op] + 1)),
               options=table(op, float(random.choice([0.1, 0.3, 0.01])),
                             bool(random.integers(0, 2))),
               seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{shape}")
