# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE_CONV: float32, int8 per tensor and per channel, uint8, int16, hybrid."""
import numpy as np

from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SAME, SMALL, SUM, TANH, VALID,
                     ZERO_POINT, Model, q)
from .conv import add_bias, form_of, quantisation

OPERATORS = ["TRANSPOSE_CONV"]
VERSIONS = {"TRANSPOSE_CONV": 5}
TYPES = ("f32", "i8", "u8", "i16")
INT32, INT64 = 2, 4


def transpose(type="f32", x=(1, 4, 5, 3), w=(4, 3, 3), stride=(2, 2), padding=SAME, act=NONE,
              out=None, bias="omitted", per_channel=False, qx=None, qw=None, qo=None, version=1,
              shape="const", shape_values=None, shape_type="i32", weights_type=None,
              bias_type=None, bias_shape=None, quantized_bias_type=None, channels=None,
              options=True, data_x=None, out_type=None, weights_input=False, seed=1, **case):
    """`w` is (channels, height, width); `out` the output's shape, by default the size without remainder."""
    terms = x[3] * w[1] * w[2] // max(1, stride[0] * stride[1])
    qx, qw, qo = quantisation(type, w[0], terms, per_channel, 0, qx, qw, qo)
    data, weights, _ = form_of(type)
    weights = weights_type or weights
    if out is None:
        sizes = [n * s if padding == SAME else (n - 1) * s + k
                 for n, s, k in zip(x[1:3], stride, w[1:3])]
        out = (x[0], *sizes, w[0])
    values = np.asarray(out if shape_values is None else shape_values)
    m = Model(seed)
    make = m.const if shape == "const" else m.input
    inputs = [make(shape_type, values.shape, data=values)]
    make = m.input if weights_input else m.const
    inputs.append(make(weights, (*w, x[3] if channels is None else channels), qw,
                       low=-127 if weights == "i8" else None))
    inputs.append(m.input(data, x, qx, data=data_x))
    inputs += add_bias(m, type, bias, bias_shape or (w[0],), bias_type, qx, qw)
    result = m.output(out_type or data, (1, 1, 1, 1), qo, rule=SUM)
    table = dict(padding=padding, strideH=stride[0], strideW=stride[1],
                 fusedActivationFunction=act)
    if quantized_bias_type is not None:
        table["quantizedBiasType"] = quantized_bias_type
    m.op("TRANSPOSE_CONV", inputs, [result], version,
         **({"TransposeConvOptions": table} if options else {}))
    return m.case(type=data, main=("TRANSPOSE_CONV", version), **case)


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in TYPES:
            yield from _claim(type, version)
        yield transpose("hybrid", per_channel=True, bias="const", version=version,
                        name=f"v{version}_hybrid")
    for type in (*TYPES, "hybrid"):
        yield from _windows(type)
        yield from _forms(type)
        yield from _refused(type)
    yield from _types()
    yield from _exact()


def _claim(type, version):
    name = f"v{version}_{type}"
    yield transpose(type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield transpose(type, (2, 3, 4, 5), (3, 2, 4), (2, 3), VALID, RELU, bias="const",
                    version=version, name=f"{name}_odd", tags=ODD)
    if type == "i8":
        yield transpose(type, per_channel=True, bias="const", version=version,
                        name=f"{name}_per_channel")
    if type in ("i8", "u8"):
        yield transpose(type, qx=q(0.03, 9), qo=q(0.2, 23), version=version,
                        name=f"{name}_zero_points", tags=ZERO_POINT)
    yield transpose(type, (1, 1, 1, 1), (1, 1, 1), (1, 1), version=version, name=f"{name}_one",
                    tags=SMALL)


def _per_channel(type):
    return dict(per_channel=type in ("i8", "i16", "hybrid"),
                qx={"i8": q(0.03, 5), "u8": q(0.03, 99)}.get(type))


def _windows(type):
    number = 0
    for kernel in ((1, 1), (2, 2), (3, 3), (4, 4), (2, 5)):
        for stride in ((1, 1), (2, 2), (1, 3), (4, 3)):
            for padding in (SAME, VALID):
                yield transpose(type, (1, 4, 3, 3), (3, *kernel), stride, padding,
                                RELU6 if number % 3 == 0 else NONE, seed=number + 2,
                                bias="const" if number % 2 else "omitted", **_per_channel(type),
                                name=f"{type}_windows_{number}")
                number += 1
    for number, (depth, channels) in enumerate([(1, 1), (7, 9), (16, 1), (17, 70), (33, 16)]):
        yield transpose(type, (2, 3, 3, depth), (channels, 2, 2), bias="const",
                        **_per_channel(type), name=f"{type}_depths_{number}")
    # Output sizes with each remainder of the division by the stride, all of which are valid.
    for number, out in enumerate([(1, 7, 9, 4), (1, 8, 9, 4), (1, 7, 10, 4)]):
        yield transpose(type, out=out, **_per_channel(type), name=f"{type}_remainder_{number}")
    yield transpose(type, padding=VALID, out=(1, 10, 12, 4), **_per_channel(type),
                    name=f"{type}_valid_remainder")


def _forms(type):
    quant = _per_channel(type)
    for act in (RELU, RELU_N1_TO_1, RELU6, TANH):
        yield transpose(type, act=act, version=4, **quant, name=f"{type}_act_{act}")
    for bias in ("const", "minus_one", "input"):
        yield transpose(type, bias=bias, **quant, name=f"{type}_bias_{bias}")
    yield transpose(type, shape="input", bias="const", **quant, name=f"{type}_shape_from_outside")
    yield transpose(type, weights_input=True, **quant, name=f"{type}_weights_from_outside")
    yield transpose(type, (0, 4, 5, 3), lenient=type == "hybrid", **quant,
                    name=f"{type}_no_pictures")
    yield transpose(type, name=f"{type}_one_scale")


def _refused(type):
    name = f"refused_{type}"
    yield transpose(type, out=(2, 8, 10, 4), name=f"{name}_batches")
    yield transpose(type, out=(1, 8, 10, 5), name=f"{name}_channels")
    yield transpose(type, out=(1, 0, 10, 4), name=f"{name}_no_height")
    yield transpose(type, out=(1, -1, 10, 4), name=f"{name}_negative_height")
    yield transpose(type, out=(1, 12, 10, 4), name=f"{name}_too_high")
    yield transpose(type, out=(1, 8, 3, 4), name=f"{name}_too_narrow")
    yield transpose(type, stride=(0, 1), out=(1, 4, 5, 4), name=f"{name}_zero_stride_height")
    yield transpose(type, stride=(1, 0), out=(1, 4, 5, 4), name=f"{name}_zero_stride_width")
    yield transpose(type, stride=(-2, 1), out=(1, 4, 5, 4), name=f"{name}_negative_stride")
    for number, values in enumerate([(1, -3, 4, 4), (1, 2**31 - 1, 2**31 - 1, 4), (1, 8, 10, 3),
                                     (3, 8, 10, 4), (1, 0, 0, 4), (1, 8, 10), (1, 8, 10, 4, 1)]):
        yield transpose(type, shape="input", shape_values=values, name=f"{name}_hostile_{number}")
    yield transpose(type, shape_values=(1, 8, 10), name=f"{name}_three_dims")
    yield transpose(type, shape_type="i64", name=f"{name}_shape_i64")
    yield transpose(type, channels=2, name=f"{name}_depth")
    yield transpose(type, bias="const", bias_shape=(3,), name=f"{name}_bias_size")
    yield transpose(type, bias="const", bias_type="i8", name=f"{name}_bias_i8")
    yield transpose(type, options=False, name=f"{name}_no_options")
    yield transpose(type, out_type="i32", name=f"{name}_output_type")


def _types():
    misread = "TFLite reads an int32 bias as int64 unless the options say INT32"
    yield transpose("i16", bias="const", bias_type="i32", quantized_bias_type=INT32,
                    per_channel=True, name="i16_bias_i32_said")
    yield transpose("i16", bias="const", bias_type="i32", undefined=misread,
                    name="i16_bias_i32_unsaid")
    yield transpose("i16", bias="const", quantized_bias_type=INT64, name="i16_bias_i64_said")
    yield transpose("i16", quantized_bias_type=INT32, name="i16_no_bias_i32_said")
    yield transpose("i16", bias="const", quantized_bias_type=INT32, name="refused_i16_said_i32")
    yield transpose("i16", bias="const", quantized_bias_type=9, name="refused_i16_said_i8")
    yield transpose("i16", qx=q(1e-4, 3), name="refused_i16_zero_point")
    yield transpose("i16", qo=q(1e-2, 3), name="refused_i16_output_zero_point")
    yield transpose("i8", weights_type="u8", qw=q(0.1, 3), name="refused_i8_weights_u8")
    yield transpose("u8", weights_type="i8", qw=q(0.1), name="refused_u8_weights_i8")
    yield transpose("u8", qw=q([0.1, 0.2, 0.1, 0.1]), name="refused_u8_per_channel")
    yield transpose("i8", qw=q([0.1, 0.2]), name="refused_i8_scale_count")
    yield transpose("f32", weights_type="u8", qw=q(0.1), name="refused_f32_weights_u8")
    for type in ("f16", "i32", "i64", "bool"):
        yield transpose(type, name=f"refused_type_{type}")


def _exact():
    common = dict(x=(1, 24, 24, 24), w=(40, 3, 3), exact=True)
    yield transpose("i8", qx=q(0.5, 3), qw=q(0.25), qo=q(16.0, -5), name="exact_i8_ties", **common)
    yield transpose("i8", qx=q(0.0235, -17), per_channel=True, bias="const", name="exact_i8",
                    **common)
    yield transpose("u8", qx=q(0.0235, 140), bias="const", name="exact_u8", **common)
    yield transpose("i16", per_channel=True, bias="const", name="exact_i16", **common)


def draw(op, random):
    type = str(random.choice([*TYPES, "hybrid"]))
    x = tuple(int(n) for n in random.integers((1, 1, 1, 1), (3, 7, 7, 20)))
    w = tuple(int(n) for n in random.integers((1, 1, 1), (20, 5, 5)))
    return transpose(type, x, w, tuple(int(n) for n in random.integers(1, 4, 2)),
                     int(random.integers(0, 2)), int(random.integers(0, 4)),
                     bias=str(random.choice(["const", "omitted"])),
                     per_channel=bool(random.random() < 0.6), version=int(random.integers(4, 6)),
                     seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{x}_{w}")
