# SPDX-License-Identifier: Apache-2.0
"""Reductions along any set of axes, and CUMSUM."""
import numpy as np

from .. import generator
from ..model import EQUAL, ODD, ORDINARY, SMALL, STEPS, SUM, ELEMENT, ZERO_POINT, Model, q

OPERATORS = ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD", "REDUCE_ANY", "REDUCE_ALL",
             "CUMSUM"]
VERSIONS = {"MEAN": 3, "SUM": 2, "REDUCE_MAX": 3, "REDUCE_MIN": 3, "REDUCE_PROD": 2,
            "REDUCE_ANY": 1, "REDUCE_ALL": 1, "CUMSUM": 1}
_NUMBERS = ("f32", "i8", "u8", "i16", "i32", "i64")
TYPES = {"MEAN": _NUMBERS, "SUM": (*_NUMBERS, "bool"), "REDUCE_MAX": (*_NUMBERS, "bool"),
         "REDUCE_MIN": (*_NUMBERS, "bool"), "REDUCE_PROD": (*_NUMBERS, "bool"),
         "REDUCE_ANY": ("bool",), "REDUCE_ALL": ("bool",), "CUMSUM": ("f32", "i32", "i64")}
ALL = ("f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool")
BYTE_SUM = "the reference kernel reads int8 and int16 as uint8"
WRAPS = "upstream's quantised sums wrap instead of saturating"


def rule_of(op, type):
    if type != "f32":
        return EQUAL if op not in ("MEAN", "SUM", "REDUCE_PROD") else ELEMENT
    return SUM if op in ("SUM", "MEAN", "CUMSUM") else ELEMENT


def quantisations(op, type):
    """Returns (input, output) for an ordinary case, or (None, None)."""
    if type not in ("i8", "u8", "i16"):
        return None, None
    zx, zo = {"i8": (3, -7), "u8": (120, 99), "i16": (0, 0)}[type]
    scale = 0.001 if type == "i16" else 0.05
    if op in ("REDUCE_MAX", "REDUCE_MIN"):
        return q(scale, zx), q(scale, zx)
    if op == "SUM":
        return q(scale, zx), q(scale * 20, zo)
    if op == "REDUCE_PROD":
        return q(0.02 if type != "i16" else 1e-4, zx), q(0.03 if type != "i16" else 1e-3, zo)
    return q(scale, zx), q(scale * 0.7, zo)


def reduce(op, type="f32", shape=(3, 4), axes=(1,), keep=False, qx=None, qo=None, bare=False,
           version=1, const_axes=True, const_x=False, axis_type="i32", options=True, data=None,
           low=None, high=None, resize=None, out_type=None, seed=1, axes_shape=None, **case):
    default = quantisations(op, type)
    if op == "REDUCE_PROD" and type == "u8":
        bare = True
    if not bare:
        qx, qo = qx or default[0], qo or default[1]
    if op in ("MEAN", "SUM", "REDUCE_PROD", "CUMSUM") and type in ("i32", "i64") and data is None:
        low, high = (-9, 9) if low is None else (low, high)
    m = Model(seed)
    if const_x:
        x = m.const(type, shape, qx, data=data, low=low, high=high)
    else:
        x = m.input(type, shape, qx, data=data, low=low, high=high, resize=resize)
    axes_shape = np.shape(axes) if axes_shape is None else axes_shape
    a = (m.const if const_axes else m.input)(axis_type, axes_shape, data=np.array(axes))
    out = m.output(out_type or type, (1,), qo, rule=rule_of(op, type))
    table = {"ReducerOptions": dict(keepDims=keep)} if options else {}
    m.op(op, [x, a], [out], version, **table)
    if op == "SUM" and type in ("i8", "i16") and qx is not None and "undefined" not in case:
        case.update(undefined=BYTE_SUM, undefined_in=("reference",))
    return m.case(type=type, **case)


def cumsum(type="f32", shape=(3, 4), axis=1, exclusive=False, reverse=False, version=1,
           const_axes=True, axis_type="i32", options=True, data=None, low=None, high=None,
           resize=None, out_type=None, seed=1, axes_shape=(), **case):
    if type in ("i32", "i64") and data is None:
        low, high = (-9, 9) if low is None else (low, high)
    m = Model(seed)
    x = m.input(type, shape, data=data, low=low, high=high, resize=resize)
    a = (m.const if const_axes else m.input)(axis_type, axes_shape,
                                             data=np.full(axes_shape, axis))
    out = m.output(out_type or type, shape, rule=rule_of("CUMSUM", type))
    table = {"CumsumOptions": dict(exclusive=exclusive, reverse=reverse)} if options else {}
    m.op("CUMSUM", [x, a], [out], version, **table)
    return m.case(type=type, **case)


def cases(op):
    if op == "CUMSUM":
        yield from _cumsum()
        return
    def make(**more):
        return reduce(op, **more)
    for version in range(1, VERSIONS[op] + 1):
        for type in TYPES[op]:
            name = f"v{version}_{type}"
            yield make(type=type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield make(type=type, shape=(2, 3, 1, 5), axes=(-1, 0), keep=True, version=version,
                       seed=2, name=f"{name}_odd", tags=ODD)
            if type in ("i8", "u8"):
                yield make(type=type, shape=(2, 3, 2), axes=(1,), version=version, seed=3,
                           name=f"{name}_zero_points", tags=ZERO_POINT)
            yield make(type=type, shape=(1,), axes=(0,), version=version, name=f"{name}_one",
                       tags=SMALL)
            yield make(type=type, shape=(0, 3), axes=(1,), version=version,
                       name=f"{name}_empty", tags=SMALL)
    for type in ALL:
        if type not in TYPES[op]:
            yield make(type=type, name=f"refused_{type}")
    yield from _shapes(op, make)
    yield from _axes(op, make)
    yield from _values(op, make)
    for type in ("i8", "u8", "i16"):
        if type in TYPES[op]:
            yield from _quantised(op, type, make)
    for inputs, outputs in ((1, 1), (3, 1), (2, 2)):
        m = Model()
        xs = [m.input("bool" if op in ("REDUCE_ANY", "REDUCE_ALL") else "f32", (2,))
              for _ in range(inputs)]
        m.op(op, xs, [m.output("f32", (2,)) for _ in range(outputs)], ReducerOptions={})
        yield m.case(f"refused_{inputs}_inputs_{outputs}_outputs", "f32")


SHAPES = [((7,), (0,)), ((3, 5), (0,)), ((3, 5), (0, 1)), ((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)),
          ((2, 3, 4), ()), ((2, 3, 5, 4), (1, 2)), ((2, 3, 5, 4), (2, 1)), ((), ()), ((), (0,)),
          ((2, 1, 3, 1), (1, 3)), ((2, 2, 2, 2, 2, 2), (1, 3, 5)), ((3, 200), (1,)),
          ((200, 3), (0,)), ((1, 2, 1, 2, 1, 2, 1, 2), (1, 5)), ((2, 3, 4), (1, 1, -2)),
          ((4, 1), (1,))]


def _shapes(op, make):
    for type in TYPES[op]:
        for number, (shape, axes) in enumerate(SHAPES):
            if type in ("i64", "bool") and number % 2:
                continue
            yield make(type=type, shape=shape, axes=axes, keep=number % 3 == 1,
                       name=f"{type}_shapes_{number}")
        yield make(type=type, shape=(1, 5), resize=(4, 5), name=f"{type}_resized")
        yield make(type=type, const_axes=False, axes=(0,), name=f"{type}_axes_input")
        yield make(type=type, const_axes=False, axes=(-1, 0), keep=True,
                   name=f"{type}_axes_input_all")
        if op == "REDUCE_PROD" and type in ("i8", "i16"):
            yield make(type=type, shape=(3, 0), axes=(1,), name=f"{type}_of_nothing",
                       undefined="the product of nothing is left unwritten")
        else:
            yield make(type=type, shape=(3, 0), axes=(1,), name=f"{type}_of_nothing")
    first = TYPES[op][0]
    yield make(type=first, const_x=True, name=f"{first}_constant_input")
    yield make(type=first, options=False, name=f"{first}_no_options")
    yield make(type=first, axes=1, name=f"{first}_scalar_axis")


def _axes(op, make):
    type = TYPES[op][0]
    for axes in ((2,), (-3,), (0, 5), (2**31 - 1,), (-2**31,)):
        yield make(type=type, axes=axes, name=f"refused_axes_{axes}")
        yield make(type=type, axes=axes, const_axes=False, name=f"refused_axes_input_{axes}")
    yield make(type=type, axes=(1,), axis_type="i64", name="refused_axes_i64")
    yield make(type=type, out_type="i16", undefined="the output's type in the file is not the "
               "operator's", name="output_type")


def _values(op, make):
    if "f32" in TYPES[op]:
        special = np.float32([[np.inf, 1, 2], [-np.inf, 1, 2], [np.inf, -np.inf, 0],
                              [3e38, 3e38, -3e38], [-0.0, 0.0, -0.0], [1e-30, -1e-30, 1e-30]])
        yield make(type="f32", shape=(6, 3), data=special, name="f32_special_values")
        yield make(type="f32", shape=(6, 3), data=special, axes=(0,), name="f32_special_columns")
        nan = np.float32([[np.nan, 1, 2], [1, np.nan, 2], [1, 2, np.nan]])
        if op in ("REDUCE_MAX", "REDUCE_MIN"):
            yield make(type="f32", shape=(3, 3), data=nan, name="f32_nan",
                       undefined="whether NaN wins depends on where it stands and on vector widths")
        else:
            yield make(type="f32", shape=(3, 3), data=nan, name="f32_nan")
        yield make(type="f32", shape=(4, 1000), name="f32_long")
        yield make(type="f32", shape=(1, 7, 7, 40), axes=(1, 2), keep=True, name="f32_picture")
    for type in ("i32", "i64"):
        if type in TYPES[op]:
            info = np.iinfo(np.int32 if type == "i32" else np.int64)
            edges = np.array([[info.max, 1, 5], [info.min, -1, 5], [-7, 3, 2], [0, 0, 0]])
            yield make(type=type, shape=(4, 3), data=edges, name=f"{type}_edges")
            yield make(type=type, shape=(3, 200), low=-1000, high=1000, name=f"{type}_long")


def _quantised(op, type, make):
    short = type == "i16"
    zero = 0 if short else 128 if type == "u8" else 0
    if op in ("REDUCE_MAX", "REDUCE_MIN"):
        yield make(type=type, bare=True, name=f"{type}_integers")
        yield make(type=type, qx=q(0.1, zero), qo=q(0.2, zero), name=f"{type}_refused_other_scale")
        yield make(type=type, qx=q(0.1, zero), qo=q(0.1000001, zero),
                   name=f"{type}_refused_close_scale")
        if not short:
            yield make(type=type, qx=q(0.1, zero), qo=q(0.1, zero + 1),
                       name=f"{type}_refused_other_zero_point")
        yield make(type=type, shape=(200, 64), name=f"exact_{type}", exact=True)
    elif op == "REDUCE_PROD":
        yield make(type=type, bare=True, low=0 if type == "u8" else -5, high=5,
                   name=f"{type}_integers")
        yield make(type=type, bare=True, name=f"{type}_integers_wrap")
        if type == "u8":
            yield make(type=type, qx=q(0.1, zero), qo=q(0.1, zero), name="u8_quantised")
            return
        scales = [(0.01, 0.01), (0.05, 0.5), (0.5, 4.0), (0.9, 0.01), (0.002, 1e-4)]
        for number, (sx, so) in enumerate(scales):
            if short:
                sx, so = sx / 128, so / 128
            yield make(type=type, shape=(9, 5), qx=q(sx, zero), qo=q(so, zero), seed=number,
                       name=f"{type}_scales_{number}")
        for shape, axes in (((5, 1), (1,)), ((5, 2), (1,)), ((2, 3, 4), (0, 2)), ((40, 3), (0,))):
            yield make(type=type, shape=shape, axes=axes, qx=q(0.01, zero), qo=q(0.02, zero),
                       name=f"{type}_extents_{shape}")
        yield make(type=type, shape=(2048, 3), qx=q(0.011 if not short else 1e-4, zero),
                   qo=q(0.02 if not short else 1e-3, zero), name=f"exact_{type}", exact=True)
    else:
        yield make(type=type, bare=True, lenient=True, name=f"{type}_without_quantisation")
        yield from _sums(op, type, make, zero, short)
    if short:
        yield make(type=type, qx=q(0.1, 5), qo=q(0.1), name="i16_refused_zero_point_in")
        yield make(type=type, qx=q(0.1), qo=q(0.1, 5), name="i16_refused_zero_point_out")


def _sums(op, type, make, zero, short):
    scales = [(0.1, 0.1), (0.1, 0.02), (0.004, 1.0), (0.03, 0.05), (2.0, 0.5)]
    shapes = [((9, 5), (1,)), ((2, 3, 5, 4), (1, 2)), ((3, 333), (1,)), ((64, 7), (0,))]
    for number, (sx, so) in enumerate(scales):
        for count, (shape, axes) in enumerate(shapes):
            more = {}
            if op == "SUM":
                # A sum of n random steps stays within about 4 * sqrt(n) * spread.
                elements = int(np.prod([shape[a] for a in axes]))
                so = sx * np.sqrt(elements) * (4 + number)
            yield make(type=type, shape=shape, axes=axes, keep=count == 1, qx=q(sx, zero + 0),
                       qo=q(float(so), zero), seed=10 * number + count,
                       name=f"{type}_scales_{number}_{count}", **more)
    if op == "SUM":
        yield make(type=type, shape=(3, 200), data=np.full(600, zero + 100), qx=q(0.1, zero),
                   qo=q(0.1, zero), undefined=WRAPS, name=f"{type}_saturating")
    if op == "MEAN" or type == "u8":
        yield make(type=type, shape=(1, 7, 7, 300), axes=(1, 2), keep=True,
                   qx=q(0.07, zero + (0 if short else 5)),
                   qo=q(0.05 if op == "MEAN" else 2.5, zero + (0 if short else -9)),
                   name=f"exact_{type}", exact=True)
        yield make(type=type, shape=(700, 60), axes=(1,), qx=q(0.07, zero),
                   qo=q(0.007 if op == "MEAN" else 3.5, zero), name=f"exact_{type}_rows",
                   exact=True)


def _cumsum():
    for type in TYPES["CUMSUM"]:
        yield cumsum(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield cumsum(type, (2, 3, 1, 5), -2, True, True, seed=2, name=f"v1_{type}_odd", tags=ODD)
        yield cumsum(type, (1,), 0, name=f"v1_{type}_one", tags=SMALL)
        yield cumsum(type, (0, 3), name=f"v1_{type}_empty", tags=SMALL)
        for number, (shape, axis) in enumerate([((7,), 0), ((3, 5), 0), ((2, 3, 4), 1),
                                                ((2, 3, 4), -1), ((2, 2, 2, 2, 2, 2), 3),
                                                ((3, 0), 1), ((1, 2, 1, 2, 1, 2, 1, 2), -8)]):
            for exclusive in (False, True):
                for reverse in (False, True):
                    yield cumsum(type, shape, axis, exclusive, reverse,
                                 name=f"{type}_shapes_{number}_{exclusive:d}{reverse:d}")
        yield cumsum(type, (1, 5), resize=(4, 5), name=f"{type}_resized")
        yield cumsum(type, (2, 3), 0, const_axes=False, name=f"{type}_axis_input")
    for type in ALL:
        if type not in TYPES["CUMSUM"]:
            yield cumsum(type, name=f"refused_{type}")
    yield cumsum("i32", (4,), 0, data=np.array([2**31 - 1, 1, 5, -3]), name="i32_wraps")
    yield cumsum("f32", (2, 4), 1, name="f32_special",
                 data=np.float32([1, np.inf, 2, -np.inf, np.nan, 1, 3e38, 3e38]))
    yield cumsum("f32", (2, 1000), name="f32_long")
    for axis in (2, -3, 2**31 - 1, -2**31):
        yield cumsum(axis=axis, name=f"refused_axis_{axis}")
        yield cumsum(axis=axis, const_axes=False, name=f"refused_axis_input_{axis}")
    yield cumsum(axis=1, axis_type="i64", name="refused_axis_i64")
    yield cumsum(axis=1, axes_shape=(1,), name="f32_axis_vector")
    yield cumsum(axis=1, axes_shape=(2,), name="refused_two_axes")
    yield cumsum(shape=(), axis=0, name="refused_scalar")
    yield cumsum(options=False, name="f32_no_options")
    yield cumsum(out_type="i32", name="output_type",
                 undefined="the output's type in the file is not the operator's")


def draw(op, random):
    type = str(random.choice(TYPES[op]))
    shape = tuple(int(n) for n in random.integers(1, 8, random.integers(1, 5)))
    more = dict(seed=int(random.integers(1, 2**30)), const_axes=bool(random.integers(0, 2)),
                version=int(random.integers(1, VERSIONS[op] + 1)), name=f"draw_{type}_{shape}")
    if op == "CUMSUM":
        return cumsum(type, shape, int(random.integers(-len(shape), len(shape))),
                      bool(random.integers(0, 2)), bool(random.integers(0, 2)), **more)
    axes = tuple(int(a) for a in random.permutation(len(shape))[:random.integers(0, len(shape) + 1)])
    elements = int(np.prod([shape[a] for a in axes], dtype=np.int64))
    if type in ("i8", "u8", "i16") and op == "SUM":
        qx, qo = quantisations(op, type)
        more.update(qx=qx, qo=q(float(qx.scale * np.sqrt(elements) * 6), qx.zero))
    return reduce(op, type, shape, axes, bool(random.integers(0, 2)), **more)
