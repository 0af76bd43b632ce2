# SPDX-License-Identifier: Apache-2.0
"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION over the last axis."""
import numpy as np

from ..model import ODD, ORDINARY, RELU, SMALL, SUM, q
from ..pieces import In, Out, counts, node
from . import single as one

OPERATORS = ["L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"]
VERSIONS = {"L2_NORMALIZATION": 2, "LOCAL_RESPONSE_NORMALIZATION": 1}
TYPES = ("f32", "i8", "u8")
OUTPUT = {"i8": q(1 / 128), "u8": q(1 / 128, 128)}


def norm(type="f32", shape=(2, 3), qx=None, qo=None, act=0, bare=False, options=True, **more):
    if type in OUTPUT and not bare:
        qx, qo = qx or q(0.05, 0 if type == "i8" else 128), qo or OUTPUT[type]
    table = {"L2NormOptions": dict(fusedActivationFunction=act)} if options else {}
    return one.single("L2_NORMALIZATION", type, shape, qx, qo, options=table, rule=SUM, **more)


def local(shape=(1, 2, 3, 7), radius=2, bias=1.0, alpha=0.5, beta=0.75, type="f32", out=None,
          options=True, data=None, seed=1, resize=None, **case):
    table = {"LocalResponseNormalizationOptions": dict(radius=radius, bias=bias, alpha=alpha,
                                                       beta=beta)}
    return node("LOCAL_RESPONSE_NORMALIZATION", [In(type, shape, data, resize=resize)],
                [Out(out or type, shape, SUM)], table=table if options else {}, seed=seed, **case)


# The reference kernel omits the window's upper end, so the optimised kernel is the reference here.
LOCAL = dict(undefined="its window has no upper end", undefined_in=("reference",))


def _local():
    yield local(name="v1_f32_plain", tags=ORDINARY, **LOCAL)
    yield local((2, 3, 1, 5), 1, 0.5, 2.0, 0.5, name="v1_f32_odd", tags=ODD, **LOCAL)
    yield local((1, 1, 1, 1), name="v1_f32_one", tags=SMALL, **LOCAL)
    yield local((0, 2, 2, 3), name="v1_f32_empty", tags=SMALL, **LOCAL)
    for radius in (0, 1, 3, 6, 7, 20):
        for number, (bias, alpha, beta) in enumerate(((1, 1, 1), (1, 0.1, 0.5), (9, 4, 0.5),
                                                      (2, 1, -1), (1, 0, 0.75), (0.1, 1, 2))):
            yield local(radius=radius, bias=bias, alpha=alpha, beta=beta, **LOCAL,
                        name=f"f32_radius_{radius}_{number}")
    yield local(bias=0, data=np.float32([0] * 7 + [1, 0, 0, 0, 0, 0, 0] + [2] * 28),
                name="f32_nothing_to_divide_by", **LOCAL)
    yield local(bias=-3, name="f32_negative_bias", **LOCAL)
    yield local((1, 5, 1, 700), 5, name="f32_deep", **LOCAL)
    yield local((1, 1, 1, 4), resize=(2, 3, 1, 4), name="f32_resized", **LOCAL)
    yield local(options=False, name="no_options", **LOCAL)
    for radius in (-1, -2**31, 2**31 - 1, 2**30):
        yield local(radius=radius, name=f"radius_{radius}", undefined="makes a buffer of that size")
    for shape in ((2, 3), (7,), (), (1, 1, 2, 3, 4)):
        yield local(shape, name=f"refused_rank_{len(shape)}")
    for type in ("f16", "i8", "u8", "i32", "f64"):
        yield local(type=type, name=f"refused_{type}")
    yield local(out="i8", name="refused_output_type")
    yield from counts("LOCAL_RESPONSE_NORMALIZATION", ((0, 1), (2, 1), (1, 2)))


def cases(op):
    if op != "L2_NORMALIZATION":
        yield from _local()
        return
    yield from one.claims(norm, VERSIONS[op], TYPES, lambda type: (
        q(0.1, 17 if type == "i8" else 201), OUTPUT[type]))
    for type in TYPES:
        for number, shape in enumerate([(67,), (1, 1, 1, 9), (4, 0), (2, 3, 700), (2, 2, 2, 2, 2),
                                        (3, 1)]):
            yield norm(type, shape, name=f"{type}_shapes_{number}")
        yield norm(type, (), lenient=True, name=f"{type}_scalar")
        yield norm(type, (1, 5), resize=(4, 5), name=f"{type}_resized")
        yield norm(type, act=RELU, name=f"{type}_refused_activation")
        yield norm(type, options=False, name=f"{type}_no_options")
    yield from one.refused_types(norm, TYPES)
    yield norm(shape=(3, 4), data=np.zeros(12), name="f32_zeros")
    yield norm(shape=(2, 4), data=np.float32([1e-7, 0, 0, 0, 1e-9, 2e-9, 0, 0]), name="f32_tiny")
    yield norm(shape=(3, 4), name="f32_huge",
               data=np.float32([1e20, 1, 2, 3, np.inf, 1, 2, 3, np.nan, 1, 2, 3]))
    for type in ("i8", "u8"):
        zero = 0 if type == "i8" else 128
        low = zero - 128
        yield norm(type, (3, 4), data=np.full(12, zero), name=f"{type}_zeros")
        yield norm(type, (4, 2), data=np.array([zero, zero + 1, zero - 1, zero, zero + 1, zero + 1,
                                                low, low + 255]), name=f"{type}_near_zero")
        yield norm(type, (2, 300), qx=q(1.0, low), name=f"{type}_low_zero_point")
        yield norm(type, (1, 9000), qx=q(1.0, low), data=np.full(9000, low + 255),
                   name=f"{type}_long")
        yield norm(type, qo=q(1 / 64, zero), name=f"{type}_refused_scale")
        yield norm(type, qo=q(1 / 128, zero + 1), name=f"{type}_refused_zero_point")
        yield norm(type, (512, 32), qx=q(0.02, zero + 9), name=f"exact_{type}", exact=True)
    yield norm(out_type="i8", qo=q(1 / 128), name="refused_output_type")
    yield from one.counts(op, {"L2NormOptions": {}})


def draw(op, random):
    if op != "L2_NORMALIZATION":
        shape = tuple(int(n) for n in random.integers(1, 9, 4))
        return local(shape, int(random.integers(0, 9)), float(random.uniform(0.5, 2)),
                     float(random.uniform(0, 2)), float(random.choice([0.5, 0.75, 1, 2])), **LOCAL,
                     seed=int(random.integers(1, 2**30)), name=f"draw_{shape}")
    type = str(random.choice(TYPES))
    shape = one.drawn_shape(random, 1)
    qx = one.some(random, type) if type != "f32" else None
    return norm(type, shape, qx, version=int(random.integers(1, 3)),
                seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{shape}")
