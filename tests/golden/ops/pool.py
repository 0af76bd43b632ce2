# SPDX-License-Identifier: Apache-2.0
"""AVERAGE_POOL_2D and MAX_POOL_2D in float32, int8, uint8 and int16; L2_POOL_2D in float32."""
import numpy as np

from ..model import (ELEMENT, EQUAL, NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SAME, SMALL,
                     TANH, VALID, ZERO_POINT, Model, q)

OPERATORS = ["AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"]
VERSIONS = {"AVERAGE_POOL_2D": 3, "MAX_POOL_2D": 3, "L2_POOL_2D": 1}
QUANTISED = {"i8": q(0.05), "u8": q(0.05, 128), "i16": q(0.001)}


def types_of(op):
    return ("f32",) if op == "L2_POOL_2D" else ("f32", *QUANTISED)


def pool(op, type="f32", x=(1, 6, 6, 3), filter=(2, 2), stride=(2, 2), padding=VALID, act=NONE,
         qx=None, qo=None, version=1, data=None, out_type=None, seed=1, resize=None, options=True,
         **case):
    """`filter` and `stride` are (height, width). Prepare computes the output's shape."""
    if type in QUANTISED:
        qx = qx or QUANTISED[type]
        qo = qo or qx
    m = Model(seed)
    source = m.input(type, x, qx, data=data, resize=resize)
    # A maximum of quantised values is one of them: there is no rounding, so no tolerance.
    rule = EQUAL if op == "MAX_POOL_2D" and type != "f32" else ELEMENT
    out = m.output(out_type or type, (1, 1, 1, 1), qo, rule=rule)
    table = dict(padding=padding, strideH=stride[0], strideW=stride[1], filterHeight=filter[0],
                 filterWidth=filter[1], fusedActivationFunction=act)
    m.op(op, [source], [out], version, **({"Pool2DOptions": table} if options else {}))
    return m.case(type=type, **case)


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in types_of(op):
            name = f"v{version}_{type}"
            yield pool(op, type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield pool(op, type, (2, 7, 8, 5), (3, 2), (2, 3), SAME, RELU, version=version,
                       name=f"{name}_odd", tags=ODD)
            if type in ("i8", "u8"):
                yield pool(op, type, (1, 5, 5, 4), (3, 3), (1, 1), SAME, qx=q(0.03, 17),
                           version=version, name=f"{name}_zero_point", tags=ZERO_POINT)
            yield pool(op, type, (1, 1, 1, 1), (1, 1), (1, 1), version=version,
                       name=f"{name}_one", tags=SMALL)
            yield pool(op, type, (0, 4, 4, 2), version=version, name=f"{name}_empty", tags=SMALL)
    for type in types_of(op):
        yield from _wide(op, type)
    yield from _special(op)
    yield from _refused(op)
    if op != "L2_POOL_2D":
        yield from _special_steps(op)
        yield from _exact(op)


def _wide(op, type):
    quant = dict(qx=q(0.04, 9)) if type in ("i8", "u8") else {}
    number = 0
    for filter in ((1, 1), (3, 3), (5, 2), (1, 4)):
        for stride in ((1, 1), (2, 1), (3, 4)):
            for padding in (SAME, VALID):
                yield pool(op, type, (2, 7, 9, 3), filter, stride, padding, **quant,
                           name=f"{type}_windows_{number}")
                number += 1
    for number, channels in enumerate((1, 7, 16, 33, 70)):
        yield pool(op, type, (1, 5, 6, channels), (3, 3), (2, 2), SAME, **quant,
                   name=f"{type}_channels_{number}")
    yield pool(op, type, (2, 7, 7, 20), (7, 7), (7, 7), VALID, **quant, name=f"{type}_global")
    yield pool(op, type, (1, 3, 3, 2), (5, 5), (1, 1), SAME, **quant, name=f"{type}_over_the_edge")
    for act in (RELU, RELU_N1_TO_1, RELU6):
        yield pool(op, type, (1, 8, 8, 6), act=act, **quant, name=f"{type}_act_{act}")
    yield pool(op, type, (1, 4, 4, 2), resize=(3, 6, 8, 2), **quant, name=f"{type}_resized")


def _special(op):
    special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38] * 4)
    yield pool(op, x=(1, 4, 8, 1), data=special, name="f32_special_values")


def _special_steps(op):
    corners = np.int8([-128, 127, -128, 127, -127, 126, 0, 1] * 4)
    for zero in (-128, 127):
        yield pool(op, "i8", (1, 4, 8, 1), data=corners, qx=q(0.1, zero), act=RELU,
                   name=f"i8_corners_zero_{zero}")
    yield pool(op, "i8", (1, 12, 12, 2), (12, 12), (1, 1), data=np.full(288, -128, np.int8),
               name="i8_many_minimal")
    yield pool(op, "u8", (1, 4, 8, 1), data=corners.view(np.uint8), qx=q(0.1, 255), act=RELU,
               name="u8_corners")
    words = np.int16([-32768, 32767, -32768, 32767, -32767, 32766, 0, 1] * 4)
    yield pool(op, "i16", (1, 4, 8, 1), data=words, act=RELU_N1_TO_1, name="i16_corners")
    yield pool(op, "i16", qx=q(0.001, 5), name="i16_zero_point")


def _refused(op):
    yield pool(op, stride=(0, 1), name="refused_zero_stride_height")
    yield pool(op, stride=(1, 0), name="refused_zero_stride_width")
    yield pool(op, stride=(-1, 1), name="refused_negative_stride")
    yield pool(op, filter=(0, 1), lenient=True, name="zero_filter")
    yield pool(op, filter=(2, -1), lenient=True, name="negative_filter")
    yield pool(op, x=(1, 3, 3, 2), filter=(5, 5), stride=(1, 1), name="filter_too_large")
    yield pool(op, x=(3, 3, 2), name="refused_rank_3")
    yield pool(op, x=(1, 2, 3, 3, 2), name="refused_rank_5")
    yield pool(op, options=False, name="refused_no_options")
    yield pool(op, out_type="i8", qo=q(0.05), name="refused_output_type")
    yield pool(op, "i32", name="refused_i32")
    yield pool(op, "bool", name="refused_bool")
    yield pool(op, "i8", qx=q(0.05), qo=q(0.06), name="i8_other_output_scale")
    yield pool(op, "i8", qx=q(0.05, 1), qo=q(0.05, 2), name="i8_other_output_zero_point")
    yield pool(op, act=TANH, name="odd_activation_tanh")
    for count in (0, 2):
        m = Model()
        m.op(op, [m.input("f32", (1, 2, 2, 1)) for _ in range(count)],
             [m.output("f32", (1, 1, 1, 1))],
             Pool2DOptions=dict(strideH=1, strideW=1, filterHeight=1, filterWidth=1))
        yield m.case(f"refused_{count}_inputs", "f32")


def _exact(op):
    yield pool(op, "i8", (1, 42, 42, 32), (2, 2), (1, 1), VALID, qx=q(0.03), name="exact_ties",
               exact=True)
    yield pool(op, "i8", (2, 32, 32, 32), (3, 3), (1, 1), SAME, RELU6, qx=q(0.05, -60),
               name="exact_same", exact=True)
    yield pool(op, "i8", (1, 61, 61, 17), (4, 5), (2, 3), SAME, qx=q(0.05, 13),
               name="exact_strides", exact=True)
    yield pool(op, "u8", (1, 42, 42, 32), (3, 2), (1, 1), SAME, exact=True, name="exact_u8")
    yield pool(op, "i16", (1, 42, 42, 32), (2, 3), (1, 1), SAME, exact=True, name="exact_i16")


def draw(op, random):
    type = str(random.choice(types_of(op)))
    x = tuple(int(n) for n in random.integers((1, 1, 1, 1), (4, 12, 12, 24)))
    filter = tuple(int(n) for n in random.integers(1, 5, 2))
    padding = int(random.integers(0, 2))
    if padding == VALID:
        filter = (min(filter[0], x[1]), min(filter[1], x[2]))
    quant = {}
    if type in ("i8", "u8"):
        zero = int(random.integers(-128, 128)) + (128 if type == "u8" else 0)
        quant = dict(qx=q(float(10 ** random.uniform(-3, 0)), zero))
    return pool(op, type, x, filter, tuple(int(n) for n in random.integers(1, 4, 2)), padding,
                int(random.integers(0, 4)), **quant, version=int(random.integers(1, VERSIONS[op] + 1)),
                seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{x}_{filter}")
