# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED: float32, int8 per tensor and per channel, fp16 constants."""
import numpy as np

from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, SMALL, SUM, TANH,
                     ZERO_POINT, Model, q)
from .conv import bias_quant, channel_scales

OPERATORS = ["FULLY_CONNECTED"]
VERSIONS = {"FULLY_CONNECTED": 14}


def full(type="f32", x=(2, 8), w=(5, 8), act=NONE, keep=False, per_channel=False, qx=None, qw=None,
         qo=None, version=1, bias="const", fp16=False, weights_input=False, weights_type=None,
         bias_shape=None, bias_type=None, out_type=None, weights_format=0, asymmetric=False,
         seed=1, data_x=None, data_w=None, data_b=None, resize=None, options=True, out_shape=None,
         **case):
    if type == "i8":
        qx = qx or q(0.03)
        qw = qw or (q(channel_scales(w[0], 0.01)) if per_channel else q(0.01))
        depth = w[1] if len(w) > 1 else 1
        spread = np.float32(qx.scale) * float(np.max(qw.scale)) * 73 * 73 * np.sqrt(max(1, depth))
        qo = qo or q(float(spread / 45))
    m = Model(seed)
    inputs = [m.input(type, x, qx, data=data_x, resize=resize)]
    if fp16:
        inputs.append(_dequantized(m, w))
    elif weights_input:
        inputs.append(m.input(weights_type or type, w, qw, data=data_w))
    else:
        inputs.append(m.const(weights_type or type, w, qw, data=data_w,
                              low=-127 if type == "i8" else None))
    shape = bias_shape or (w[0],)
    if bias == "minus_one":
        inputs.append(-1)
    elif bias != "omitted" and fp16:
        inputs.append(_dequantized(m, shape))
    elif bias != "omitted":
        make = m.input if bias == "input" else m.const
        if type == "i8":
            inputs.append(make(bias_type or "i32", shape, bias_quant(qx, qw), data=data_b,
                               low=-3000, high=3000))
        else:
            inputs.append(make(bias_type or "f32", shape, data=data_b))
    out = m.output(out_type or type, out_shape or (1, w[0]), qo, rule=SUM)
    table = dict(fusedActivationFunction=act, keepNumDims=keep, weightsFormat=weights_format,
                 asymmetricQuantizeInputs=asymmetric)
    m.op("FULLY_CONNECTED", inputs, [out], version,
         **({"FullyConnectedOptions": table} if options else {}))
    return m.case(type=type, main=("FULLY_CONNECTED", version), **case)


def _dequantized(m, shape):
    half = m.const("f16", shape)
    wide = m.tensor("f32", shape)
    m.op("DEQUANTIZE", [half], [wide], 3, DequantizeOptions={})
    return wide


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in ("f32", "i8"):
            yield from _claim(type, version)
        yield full(version=version, fp16=True, name=f"v{version}_fp16_weights")
    for type in ("f32", "i8"):
        yield from _shapes(type)
        yield from _forms(type)
    yield full(fp16=True, x=(3, 17), w=(9, 17), bias="minus_one", act=RELU, name="fp16_no_bias")
    yield from _special()
    yield from _scales()
    yield from _refused()
    yield from _exact()


def _claim(type, version):
    name = f"v{version}_{type}"
    yield full(type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield full(type, (2, 3, 4), (5, 4), keep=True, act=RELU, version=version,
               name=f"{name}_odd", tags=ODD)
    if type == "i8":
        yield full(type, per_channel=True, version=version, name=f"{name}_per_channel")
        yield full(type, (3, 7), (4, 7), qx=q(0.03, -17), qo=q(0.2, 23), version=version,
                   name=f"{name}_zero_points", tags=ZERO_POINT)
    yield full(type, (1, 1), (1, 1), version=version, name=f"{name}_one", tags=SMALL)
    yield full(type, (0, 4), (3, 4), version=version, name=f"{name}_empty", tags=SMALL)


def _shapes(type):
    quant = dict(qx=q(0.03, 11), per_channel=True) if type == "i8" else {}
    pairs = [((1, 1), (7, 1)), ((1, 33), (17, 33)), ((4, 16), (16, 16)), ((5, 31), (65, 31)),
             ((17, 64), (33, 64)), ((1, 256), (40, 256)), ((8,), (3, 8)), ((2, 2, 8), (3, 8)),
             ((2, 2, 4), (3, 8)), ((1, 2, 2, 6), (5, 24)), ((4, 3), (2, 6)), ((13, 5), (1, 5))]
    for number, (x, w) in enumerate(pairs):
        yield full(type, x, w, **quant, name=f"{type}_shapes_{number}")
    for number, (x, w) in enumerate([((8,), (3, 8)), ((2, 1, 3, 4), (5, 4)), ((2, 2, 4), (3, 8)),
                                     ((1, 1, 1, 1, 6), (2, 6)), ((2, 6), (3, 6))]):
        yield full(type, x, w, keep=True, **quant, name=f"{type}_keep_dims_{number}")
    yield full(type, (1, 8), (5, 8), resize=(6, 8), **quant, name=f"{type}_resized")
    yield full(type, (2, 0), (3, 0), **quant, name=f"{type}_no_depth")
    yield full(type, (2, 4), (0, 4), name=f"{type}_no_units")


def _forms(type):
    quant = dict(qx=q(0.03, 2), per_channel=True) if type == "i8" else {}
    for act in (RELU, RELU_N1_TO_1, RELU6):
        yield full(type, (3, 12), (9, 12), act, **quant, name=f"{type}_act_{act}")
    for act in (TANH, SIGN_BIT):
        yield full(type, act=act, **quant, name=f"{type}_odd_act_{act}")
    for bias in ("omitted", "minus_one", "input"):
        yield full(type, bias=bias, **quant, name=f"{type}_bias_{bias}")
    yield full(type, weights_input=True, **quant, name=f"{type}_weights_from_outside")
    yield full(type, options=False, **quant, name=f"{type}_no_options")
    yield full(type, asymmetric=True, **quant, name=f"{type}_asymmetric_said")
    yield full(type, bias_shape=(1, 5), **quant, name=f"{type}_bias_rank_2")


def _special():
    values = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, 1])
    yield full(x=(8, 1), w=(2, 1), data_x=values, name="f32_special_values")
    yield full(x=(8, 1), w=(1, 1), data_x=values, data_w=np.float32([1]), data_b=np.float32([0]),
               act=RELU6, name="f32_special_values_relu6")


def _scales():
    corners = np.int8([-128, 127, -128, 127, -127, 126, 0, 1, -1, 64, -64, 100])
    number = 0
    for sx, sw, so in ((0.5, 0.5, 0.25), (1, 1, 4), (1e-3, 1e-3, 0.5), (0.02, 0.01, 1e-3),
                       (1, 0.5, 1e3)):
        for zx, zo in ((0, 0), (-128, 127), (127, -128)):
            yield full("i8", (3, 4), (5, 4), RELU if zo == -128 else NONE, qx=q(sx, zx), qw=q(sw),
                       qo=q(so, zo), data_x=corners, name=f"i8_scales_{number}")
            number += 1
    yield full("i8", (2, 4), (3, 4), qx=q(0.02), qw=q([1e-6, 0.01, 3.0]), qo=q(0.1),
               name="i8_far_channel_scales")
    yield full("i8", (2, 4), (3, 4), qx=q(0.02, 4), qw=q(0.01, 9), qo=q(0.1),
               name="i8_weights_zero_point")


def _refused():
    for type in ("f32", "i8"):
        name = f"refused_{type}"
        yield full(type, (2, 8), (5, 7), lenient=True, name=f"{type}_depth_does_not_divide")
        yield full(type, (2, 8), (5, 7), keep=True, name=f"{name}_depth_keep_dims")
        yield full(type, (2, 8), (5, 8, 1), name=f"{name}_weights_rank_3")
        yield full(type, (2, 8), (8,), name=f"{name}_weights_rank_1")
        yield full(type, (), (3, 1), lenient=True, name=f"{type}_scalar")
        yield full(type, bias_shape=(4,), name=f"{name}_bias_size")
        yield full(type, bias_shape=(0,), name=f"{name}_bias_empty")
        yield full(type, bias_type="i64", name=f"{type}_bias_i64", lenient=True,
                   undefined="TFLite reads an int64 bias as int32" if type == "i8" else "")
        yield full(type, bias_type="i8", name=f"{name}_bias_i8")
        yield full(type, weights_format=1, name=f"{name}_shuffled")
        yield full(type, weights_type="i16", qw=q(0.1), name=f"{name}_weights_i16")
        yield full(type, out_type="i32", name=f"{name}_output_type")
    yield full("f32", bias_type="i32", name="refused_f32_bias_i32")
    yield full("i8", bias_type="f32", name="refused_i8_bias_f32")
    yield full("i8", weights_type="f32", name="refused_i8_weights_f32")
    yield full("i8", qw=q([0.1, 0.2]), name="refused_i8_scale_count")
    yield full("i32", name="refused_i32")
    yield full("bool", name="refused_bool")
    m = Model()
    m.op("FULLY_CONNECTED", [m.input("f32", (2, 3))], [m.output("f32", (2, 3))],
         FullyConnectedOptions={})
    yield m.case("refused_one_input", "f32")


def _exact():
    common = dict(x=(400, 27), w=(260, 27), exact=True)
    yield full("i8", qx=q(0.5, 3), qw=q(0.25), qo=q(16.0, -5), name="exact_ties", **common)
    yield full("i8", qx=q(0.5, -7), qw=q(0.25), qo=q(2.0, 9), act=RELU, name="exact_saturating",
               **common)
    yield full("i8", qx=q(0.0235, -128), per_channel=True, qo=q(0.31, -11), act=RELU6,
               name="exact_per_channel", **common)
    yield full("i8", qx=q(0.0235, 17), name="exact_usual", **common)


def draw(op, random):
    type = str(random.choice(["f32", "i8"]))
    depth, units = int(random.integers(1, 80)), int(random.integers(1, 70))
    lead = tuple(int(n) for n in random.integers(1, 6, random.integers(1, 4)))
    more = {}
    if type == "i8":
        more = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128))),
                    per_channel=bool(random.random() < 0.5))
    elif random.random() < 0.2:
        more = dict(fp16=True)
    return full(type, (*lead, depth), (units, depth), int(random.integers(0, 4)),
                bool(random.integers(0, 2)),
                bias=str(random.choice(["const", "minus_one", "omitted"])),
                version=int(random.integers(1, 15)), seed=int(random.integers(1, 2**30)),
                name=f"draw_{type}_{lead}_{depth}_{units}", **more)
