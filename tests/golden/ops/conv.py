# SPDX-License-Identifier: Apache-2.0
"""CONV_2D and DEPTHWISE_CONV_2D: float32, int8 per tensor and per channel, uint8, int16 data with
int8 weights, float32 data with int8 weights ("hybrid"), fp16 constants."""
import numpy as np

from .. import generator
from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SAME, SIGN_BIT, SMALL, SUM,
                     TANH, VALID, ZERO_POINT, Model, q)

OPERATORS = ["CONV_2D", "DEPTHWISE_CONV_2D"]
VERSIONS = {"CONV_2D": 8, "DEPTHWISE_CONV_2D": 7}


def channel_scales(count, base):
    """`count` different scales around `base`."""
    return (base * (0.5 + (np.arange(count) * 7 % 11) / 8)).astype(np.float32)


# Types of data, weights and bias by form. The suffix "_i4" or "_i2" stands for weights of 4 or 2
# bits instead of int8.
FORMS = {"f32": ("f32", "f32", "f32"), "i8": ("i8", "i8", "i32"), "u8": ("u8", "u8", "i32"),
         "i16": ("i16", "i8", "i64"), "hybrid": ("f32", "i8", "f32")}
FORMS.update({f"{form}_{packed}": (FORMS[form][0], packed, FORMS[form][2])
              for form in ("i8", "u8", "i16", "hybrid") for packed in ("i4", "i2")})
WEIGHT_SCALES = {"i4": 0.16, "i2": 0.64}
QUANTISED = ("i8", "u8", "i16")
DATA_SCALE = {"i8": q(0.03), "u8": q(0.03, 128), "i16": q(1.1e-4)}


def form_of(type):
    """Returns the types of data, weights and bias; other names are plain types."""
    return FORMS.get(type, (type, type, type))


def quantisation(type, channels, terms, per_channel, axis, qx, qw, qo):
    """Returns defaults for missing quantisation of data, weights and output; `terms` is the number of
    summed products."""
    base = WEIGHT_SCALES.get(form_of(type)[1], 0.01)
    type, weights = type.split("_")[0], form_of(type)[1]
    if type == "hybrid":
        return None, qw or (q(channel_scales(channels, base), axis=axis) if per_channel
                            else q(base)), None
    if type not in QUANTISED:
        return qx, qw, qo
    qx = qx or DATA_SCALE[type]
    if type == "u8":
        qw = qw or q(0.01, 121)
    qw = qw or (q(channel_scales(channels, base), axis=axis) if per_channel else q(base))
    data_spread = 18900 if type == "i16" else 73
    weight_spread = {"i4": 4.6, "i2": 1.1}.get(weights, 73)
    spread = float(np.float32(qx.scale)) * float(np.max(qw.scale)) * data_spread * (
        weight_spread * np.sqrt(max(1, terms)))
    if type == "i16":
        qo = qo or q(spread / 11500)
    return qx, qw, qo or q(float(spread / 45), 120 if type == "u8" else 0)


def bias_quant(qx, qw):
    scale = np.float32(qx.scale) * np.atleast_1d(np.asarray(qw.scale, np.float32))
    return q(scale if np.ndim(qw.scale) else float(scale[0]))


def ties(rows, count):
    """Sequences of floats of which many lie halfway between two steps when they are quantised, with and
    without a zero point."""
    random = np.random.default_rng(3)
    for kind, scale, low, high in (("symmetric", 1.0, -127, 127), ("shifted", 0.375, -50, 205),
                                   ("scaled", 0.0123, -50, 205), ("positive", 0.5, 0, 255)):
        values = random.integers(2 * low, 2 * high + 1, (rows, count)) / 2
        values[:, 0], values[:, 1] = low, high
        yield kind, (values * scale).astype(np.float32).reshape(-1)


def conv(op, type="f32", x=(1, 6, 7, 3), kernel=(3, 3), channels=4, stride=(1, 1),
         dilation=(1, 1), padding=VALID, act=NONE, groups=1, multiplier=None, per_channel=False,
         qx=None, qw=None, qo=None, version=1, bias="const", fp16=False, filter_shape=None,
         filter_type=None, filter_input=False, bias_shape=None, bias_type=None, out_type=None,
         seed=1, data_x=None, data_w=None, data_b=None, resize=None, options=True,
         table_multiplier=None, quantized_bias_type=None, **case):
    """`channels` is the output's; a depthwise operator takes `multiplier` instead.

    bias: "const", "input", "omitted" (two inputs) or "minus_one". fp16: weights and bias are float16
    constants followed by DEQUANTIZE."""
    deep = op == "DEPTHWISE_CONV_2D"
    depth = x[3] if len(x) > 3 else 1
    if deep:
        multiplier = 1 if multiplier is None else multiplier
        channels = depth * multiplier
    shape = (1, *kernel, channels) if deep else (channels, *kernel, depth // groups)
    shape = filter_shape or shape
    terms = max(1, int(np.prod(shape)) // max(1, channels))
    qx, qw, qo = quantisation(type, channels, terms, per_channel, 3 if deep else 0, qx, qw, qo)
    data = form_of(type)[0]
    m = Model(seed)
    source = m.input(data, x, qx, data=data_x, resize=resize)
    weights = _weights(m, type, shape, qw, fp16, filter_input, filter_type, data_w)
    inputs = [source, weights]
    inputs += add_bias(m, type, bias, bias_shape or (channels,), bias_type, qx, qw, fp16, data_b)
    out = m.output(out_type or data, (1, 1, 1, channels), qo, rule=SUM)
    table = dict(padding=padding, strideH=stride[0], strideW=stride[1],
                 dilationHFactor=dilation[0], dilationWFactor=dilation[1],
                 fusedActivationFunction=act)
    if quantized_bias_type is not None:
        table["quantizedBiasType"] = quantized_bias_type
    if deep:
        table["depthMultiplier"] = multiplier if table_multiplier is None else table_multiplier
    name = "DepthwiseConv2DOptions" if deep else "Conv2DOptions"
    m.op(op, inputs, [out], version, **({name: table} if options else {}))
    return m.case(type=data, main=(op, version), **case)


def _weights(m, type, shape, qw, fp16, as_input, other_type, data):
    if fp16:
        half = m.const("f16", shape)
        return _dequantized(m, half, shape)
    weights = other_type or form_of(type)[1]
    if as_input:
        return m.input(weights, shape, qw, data=data)
    return m.const(weights, shape, qw, data=data, low=-127 if weights == "i8" else None)


def _dequantized(m, half, shape):
    full = m.tensor("f32", shape)
    m.op("DEQUANTIZE", [half], [full], 3, DequantizeOptions={})
    return full


def add_bias(m, type, how, shape, other_type, qx, qw, fp16=False, data=None):
    """Returns the inputs for a bias: none, -1, or a tensor."""
    if how == "omitted":
        return []
    if how == "minus_one":
        return [-1]
    if fp16:
        return [_dequantized(m, m.const("f16", shape), shape)]
    make = m.input if how == "input" else m.const
    usual = other_type or form_of(type)[2]
    if type.split("_")[0] in QUANTISED:
        size = 400000 if type.startswith("i16") else 3000
        return [make(usual, shape, bias_quant(qx, qw), data=data, low=-size, high=size)]
    return [make(usual, shape, data=data)]


def cases(op):
    deep = op == "DEPTHWISE_CONV_2D"
    for version in range(1, VERSIONS[op] + 1):
        for type in ("f32", *QUANTISED):
            yield from _claim(op, type, version)
        yield conv(op, version=version, fp16=True, name=f"v{version}_fp16_weights")
        yield conv(op, "hybrid", per_channel=True, version=version, name=f"v{version}_hybrid")
    for type in ("f32", "i8"):
        yield from _windows(op, type)
        yield from _depths(op, type)
        yield from _forms(op, type)
    yield from (_multipliers() if deep else _groups())
    yield conv(op, fp16=True, x=(2, 7, 8, 6), stride=(2, 2), padding=SAME, act=RELU6,
               name="fp16_strided")
    yield conv(op, fp16=True, bias="minus_one", name="fp16_no_bias")
    for type in ("u8", "i16", "hybrid"):
        yield from _other_form(op, type)
    yield from _other_types(op)
    yield from _packed(op)
    yield from _special(op)
    yield from _scales(op)
    yield from _refused(op)
    yield from _exact(op)


def _packed(op):
    """Cases with filters of 4 and 2 bits."""
    deep = op == "DEPTHWISE_CONV_2D"
    for form in ("i8_i4", "i16_i4", "hybrid_i4"):
        wrong = "TFLite reads weights of 4 bits as int8, past their end"
        wrong = wrong if deep and form == "i16_i4" else ""
        number = 0
        for kernel in ((1, 1), (3, 3), (2, 3)):
            for stride, padding in (((1, 1), SAME), ((2, 3), VALID)):
                yield conv(op, form, (2, 8, 9, 3), kernel, 5, stride, padding=padding,
                           act=RELU6 if number % 3 == 0 else NONE, per_channel=number % 2 == 0 or
                           form == "hybrid_i4", qx=q(0.03, -13) if form == "i8_i4" else None,
                           seed=number + 2, undefined=wrong, name=f"{form}_windows_{number}")
                number += 1
        for number, (depth, channels) in enumerate([(1, 1), (7, 9), (17, 33), (64, 24)]):
            yield conv(op, form, (1, 4, 5, depth), (1, 1), channels, per_channel=True,
                       undefined=wrong, name=f"{form}_depths_{number}")
        yield conv(op, form, per_channel=True, dilation=(2, 2), undefined=wrong,
                   name=f"{form}_dilated")
        yield conv(op, form, filter_input=True, per_channel=True, undefined=wrong,
                   name=f"{form}_filter_from_outside")
        yield conv(op, form, per_channel=True, resize=(2, 9, 8, 3), undefined=wrong,
                   name=f"{form}_resized")
        yield conv(op, form, x=(1, 4, 4, 3), undefined=wrong, lenient=True,
                   name=f"{form}_one_scale")
        zeros = q(channel_scales(3 if deep else 4, 0.1), 3, 3 if deep else 0)
        yield conv(op, form, qw=zeros, undefined=wrong, lenient=deep,
                   name=f"{form}_zero_points")
        if not deep:
            yield conv(op, form, (1, 5, 6, 4), channels=6, groups=2, per_channel=True,
                       name=f"{form}_groups")
    reads = "TFLite reads the weights as another type"
    for form in ("u8_i4", "i8_i2", "i16_i2", "hybrid_i2"):
        yield conv(op, form, per_channel=form != "u8_i4", undefined=reads, name=f"refused_{form}")
    common = dict(x=(1, 30, 30, 13), channels=13, padding=SAME)
    yield conv(op, "i8_i4", per_channel=True, qx=q(0.031, 17), exact=True, name="exact_i8_i4",
               **common)


def _claim(op, type, version):
    name = f"v{version}_{type}"
    yield conv(op, type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield conv(op, type, (2, 8, 7, 3), (3, 2), 5, (2, 3), padding=SAME, act=RELU,
               version=version, name=f"{name}_odd", tags=ODD)
    if type == "i8":
        yield conv(op, type, per_channel=True, version=version, name=f"{name}_per_channel")
    if type in ("i8", "u8"):
        yield conv(op, type, (1, 5, 5, 4), (3, 3), 6, padding=SAME,
                   qx=q(0.03, -17 if type == "i8" else 17), qo=q(0.2, 23),
                   per_channel=type == "i8", version=version,
                   name=f"{name}_zero_points", tags=ZERO_POINT)
    yield conv(op, type, (1, 1, 1, 1), (1, 1), 1, version=version, name=f"{name}_one", tags=SMALL)
    yield conv(op, type, (0, 4, 4, 2), version=version, name=f"{name}_empty", tags=SMALL)


def _windows(op, type):
    """Combinations of kernel sizes, strides, dilations and paddings."""
    quant = dict(qx=q(0.03, 21), per_channel=True) if type == "i8" else {}
    number = 0
    for kernel in ((1, 1), (3, 3), (2, 4), (5, 5), (1, 7)):
        for stride, dilation in (((1, 1), (1, 1)), ((2, 2), (1, 1)), ((1, 3), (1, 1)),
                                 ((1, 1), (2, 2)), ((1, 1), (3, 1)), ((2, 1), (1, 2))):
            for padding in (SAME, VALID):
                yield conv(op, type, (1, 11, 13, 3), kernel, 5, stride, dilation, padding,
                           act=RELU6 if number % 3 == 0 else NONE, seed=number + 2, **quant,
                           name=f"{type}_windows_{number}")
                number += 1
    yield conv(op, type, (1, 2, 3, 3), (5, 5), 4, padding=SAME, **quant,
               name=f"{type}_kernel_over_the_edge")
    yield conv(op, type, (1, 4, 4, 3), (3, 3), 4, (5, 5), padding=SAME, **quant,
               name=f"{type}_stride_over_the_edge")
    yield conv(op, type, (1, 9, 9, 2), (3, 3), 3, dilation=(4, 4), padding=SAME, **quant,
               name=f"{type}_wide_dilation")


def _depths(op, type):
    """Channel counts around the widths of vector registers and of blocks."""
    quant = dict(qx=q(0.03, -9), per_channel=True) if type == "i8" else {}
    pairs = [(1, 1), (1, 8), (3, 16), (4, 7), (8, 9), (15, 17), (16, 32), (33, 31), (64, 24),
             (24, 65)]
    for number, (depth, channels) in enumerate(pairs):
        yield conv(op, type, (1, 4, 5, depth), (1, 1), channels, **quant,
                   name=f"{type}_depths_1x1_{number}")
        yield conv(op, type, (1, 5, 5, depth), (3, 3), channels, padding=SAME, **quant,
                   name=f"{type}_depths_3x3_{number}")
    yield conv(op, type, (3, 9, 7, 5), (3, 3), 6, (2, 2), padding=SAME, **quant,
               name=f"{type}_batches")
    yield conv(op, type, (1, 1, 1, 200), (1, 1), 50, **quant, name=f"{type}_deep_point")


def _forms(op, type):
    quant = dict(qx=q(0.03, 2), per_channel=True) if type == "i8" else {}
    for act in (RELU, RELU_N1_TO_1, RELU6):
        yield conv(op, type, (1, 6, 6, 4), channels=6, act=act, **quant, name=f"{type}_act_{act}")
    for act in (TANH, SIGN_BIT):
        yield conv(op, type, act=act, **quant, name=f"{type}_odd_act_{act}")
    yield conv(op, type, bias="omitted", **quant, name=f"{type}_bias_omitted")
    yield conv(op, type, bias="minus_one", **quant, name=f"{type}_bias_minus_one")
    yield conv(op, type, bias="input", **quant, name=f"{type}_bias_from_outside")
    yield conv(op, type, filter_input=True, **quant, name=f"{type}_filter_from_outside")
    yield conv(op, type, resize=(2, 9, 8, 3), **quant, name=f"{type}_resized")
    yield conv(op, type, stride=(2, 2), resize=(1, 1, 1, 3), padding=SAME, **quant,
               name=f"{type}_resized_to_a_point")


def _other_form(op, type):
    """uint8, int16 and hybrid: fewer rows, because the code of the windows is shared by all types."""
    deep = op == "DEPTHWISE_CONV_2D"
    quant = dict(per_channel=type != "u8", qx=q(0.03, 77) if type == "u8" else None)
    number = 0
    for kernel in ((1, 1), (3, 3), (2, 4)):
        for stride, dilation in (((1, 1), (1, 1)), ((2, 3), (1, 1)), ((1, 1), (2, 3))):
            for padding in (SAME, VALID):
                yield conv(op, type, (2, 8, 9, 3), kernel, 5, stride, dilation, padding,
                           act=RELU6 if number % 3 == 0 else NONE, seed=number + 2, **quant,
                           name=f"{type}_windows_{number}")
                number += 1
    for number, (depth, channels) in enumerate([(1, 8), (7, 9), (17, 33), (64, 24)]):
        yield conv(op, type, (1, 4, 5, depth), (1, 1), channels, **quant,
                   name=f"{type}_depths_1x1_{number}")
        yield conv(op, type, (1, 5, 5, depth), (3, 3), channels, padding=SAME, **quant,
                   name=f"{type}_depths_3x3_{number}")
    for act in (RELU, RELU_N1_TO_1, TANH):
        yield conv(op, type, (1, 6, 6, 4), channels=6, act=act, **quant, name=f"{type}_act_{act}")
    yield conv(op, type, bias="minus_one", **quant, name=f"refused_{type}_bias_minus_one")
    yield conv(op, type, bias="omitted", lenient=True, **quant, name=f"{type}_bias_omitted")
    yield conv(op, type, filter_input=True, bias="input", **quant,
               name=f"{type}_constants_from_outside")
    yield conv(op, type, resize=(2, 9, 8, 3), **quant, name=f"{type}_resized")
    if deep:
        for depth, multiplier in ((1, 2), (3, 3), (8, 2)):
            yield conv(op, type, (1, 7, 6, depth), multiplier=multiplier, stride=(2, 1),
                       padding=SAME, **quant, name=f"{type}_multiplier_{multiplier}_of_{depth}")
    else:
        for number, (depth, channels, groups) in enumerate([(4, 6, 2), (6, 3, 3)]):
            yield conv(op, type, (1, 5, 6, depth), channels=channels, groups=groups, padding=SAME,
                       **quant, name=f"{type}_groups_{number}")
    yield conv(op, type, bias_type="i8", name=f"refused_{type}_bias_i8")
    yield conv(op, type, bias_shape=(7,), name=f"refused_{type}_bias_size")
    yield conv(op, type, filter_type="i16", qw=q(0.1), name=f"refused_{type}_filter_i16",
               undefined="TFLite takes int16 weights for others" if type == "i16" or not deep
               else "")
    yield conv(op, type, stride=(0, 1), name=f"refused_{type}_zero_stride")


def _other_types(op):
    deep = op == "DEPTHWISE_CONV_2D"
    axis = 3 if deep else 0
    yield conv(op, "u8", qx=q(0.02, 255), qw=q(0.03, 0), qo=q(0.3, 3), padding=SAME,
               name="u8_far_zero_points")
    yield conv(op, "u8", qw=q([0.01, 0.02, 0.03], axis=axis), x=(1, 4, 4, 3), channels=3,
               name="refused_u8_per_channel")
    yield conv(op, "u8", bias_type="i64", name="refused_u8_bias_i64")
    yield conv(op, "u8", filter_type="i8", qw=q(0.01), name="u8_filter_i8", lenient=True,
               undefined="" if deep else "TFLite reads int8 weights as uint8")
    yield conv(op, "i8", filter_type="u8", qw=q(0.01, 121), name="refused_i8_filter_u8")
    yield conv(op, "hybrid", filter_type="u8", qw=q(0.01), name="hybrid_filter_u8",
               undefined="" if deep else "TFLite reads uint8 weights as int8")
    yield conv(op, "i16", qx=q(1e-4, 5), name="refused_i16_zero_point")
    yield conv(op, "i16", qo=q(1e-2, 5), name="refused_i16_output_zero_point")
    yield conv(op, "i16", qw=q(0.01, 5), name="i16_filter_zero_point")
    yield conv(op, "hybrid", x=(0, 4, 4, 3), per_channel=True, lenient=True,
               name="hybrid_no_pictures")
    zeros = np.zeros(96, np.float32)
    yield conv(op, "hybrid", (2, 4, 4, 3), data_x=zeros, per_channel=True, name="hybrid_zeros")
    for kind, values in ties(2, 5 * 7 * 3):
        for per_channel in (True,) if deep else (False, True):
            yield conv(op, "hybrid", (2, 5, 7, 3), data_x=values, per_channel=per_channel,
                       name=f"hybrid_ties_{kind}_{int(per_channel)}")
    yield conv(op, "hybrid", (2, 4, 4, 3), data_x=zeros + np.float32(3), per_channel=True,
               padding=SAME, name="hybrid_positive")
    yield conv(op, "hybrid", name="hybrid_one_scale", lenient=deep)
    yield conv(op, "hybrid", qw=q(channel_scales(3 if deep else 4, 0.01), 5, axis),
               name="hybrid_zero_points")
    same = q([0.01] * (3 if deep else 4), axis=axis)
    yield conv(op, "hybrid", qw=same, padding=SAME, name="hybrid_equal_scales")
    if deep:
        yield conv(op, "i16", bias_type="i32", name="refused_i16_bias_i32")
        return
    misread = "TFLite reads an int32 bias as int64 unless the options say INT32"
    yield conv(op, "i16", bias_type="i32", quantized_bias_type=2, per_channel=True,
               name="i16_bias_i32_said")
    yield conv(op, "i16", bias_type="i32", undefined=misread, name="i16_bias_i32_unsaid")
    yield conv(op, "i16", quantized_bias_type=4, name="i16_bias_i64_said")
    yield conv(op, "i16", bias_type="i32", quantized_bias_type=4, name="refused_i16_said_i64")
    yield conv(op, "i16", quantized_bias_type=9, name="refused_i16_said_i8")
    yield conv(op, "hybrid", (1, 5, 6, 4), channels=6, groups=2, name="refused_hybrid_groups")


def _groups():
    for type in ("f32", "i8"):
        quant = dict(qx=q(0.03, 5), per_channel=True) if type == "i8" else {}
        for number, (depth, channels, groups) in enumerate([(4, 6, 2), (6, 3, 3), (8, 8, 8)]):
            yield conv("CONV_2D", type, (1, 5, 6, depth), channels=channels, groups=groups,
                       padding=SAME, **quant, name=f"{type}_groups_{number}")


def _multipliers():
    for type in ("f32", "i8"):
        quant = dict(qx=q(0.03, 5), per_channel=True) if type == "i8" else {}
        for depth in (1, 3, 8):
            for multiplier in (2, 3, 8):
                yield conv("DEPTHWISE_CONV_2D", type, (1, 7, 6, depth), multiplier=multiplier,
                           stride=(2, 1), padding=SAME, **quant,
                           name=f"{type}_multiplier_{multiplier}_of_{depth}")
        yield conv("DEPTHWISE_CONV_2D", type, (1, 5, 5, 2), multiplier=3, table_multiplier=0,
                   **quant, name=f"{type}_multiplier_unsaid")
        yield conv("DEPTHWISE_CONV_2D", type, (1, 5, 5, 2), multiplier=3, table_multiplier=2,
                   **quant, name=f"{type}_multiplier_wrong")


def _special(op):
    values = np.float32([0, -0.0, 1, -1, np.inf, 2, -np.inf, 1, 1e-40, 3, 3e38, 0, np.nan, 1, 2, 3])
    yield conv(op, x=(1, 4, 4, 1), kernel=(2, 2), channels=1, data_x=values,
               name="f32_special_values")
    yield conv(op, x=(1, 4, 4, 1), kernel=(1, 1), channels=1, data_x=values, act=RELU,
               data_w=np.float32([1]), data_b=np.float32([0]), name="f32_special_values_relu")


def _scales(op):
    corners = np.int8([-128, 127, -128, 127, -127, 126, 0, 1, -1, 64, -64, 100, -100, 5, 9, -9])
    number = 0
    for sx, sw, so in ((0.5, 0.5, 0.25), (1, 1, 4), (1e-3, 1e-3, 0.5), (0.02, 0.01, 1e-3),
                       (1, 0.5, 1e3)):
        for zx, zo in ((0, 0), (-128, 127), (127, -128)):
            yield conv(op, "i8", (1, 4, 4, 1), (2, 2), 3, qx=q(sx, zx), qw=q(sw), qo=q(so, zo),
                       data_x=corners, padding=SAME, act=RELU if zo == -128 else NONE,
                       name=f"i8_scales_{number}")
            number += 1
    yield conv(op, "i8", (1, 4, 4, 3), channels=3, qx=q(0.02),
               qw=q([1e-6, 0.01, 3.0], axis=3 if op.startswith("DEPTH") else 0), qo=q(0.1),
               name="i8_far_channel_scales")


def _refused(op):
    for type in ("f32", "i8"):
        name = f"refused_{type}"
        yield conv(op, type, stride=(0, 1), name=f"{name}_zero_stride_height")
        yield conv(op, type, stride=(1, 0), name=f"{name}_zero_stride_width")
        yield conv(op, type, dilation=(0, 1), name=f"{name}_zero_dilation_height")
        yield conv(op, type, dilation=(1, 0), name=f"{name}_zero_dilation_width")
        yield conv(op, type, stride=(-1, 1), name=f"{name}_negative_stride")
        yield conv(op, type, dilation=(-1, 1), name=f"{name}_negative_dilation")
        yield conv(op, type, x=(6, 7, 3), name=f"{name}_rank_3")
        yield conv(op, type, x=(1, 2, 6, 7, 3), filter_shape=(4, 3, 3, 7), channels=4,
                   name=f"{name}_rank_5")
        yield conv(op, type, filter_shape=(4, 3, 3), name=f"{name}_filter_rank_3")
        yield conv(op, type, filter_shape=(4, 3, 3, 5), name=f"{name}_channels")
        yield conv(op, type, filter_shape=(2, 3, 3, 3), channels=2, bias_shape=(5,),
                   name=f"{name}_bias_size")
        yield conv(op, type, bias_shape=(0,), name=f"{name}_bias_empty")
        yield conv(op, type, bias_type="i64", name=f"{name}_bias_i64")
        yield conv(op, type, bias_type="i8", name=f"{name}_bias_i8")
        yield conv(op, type, options=False, name=f"{name}_no_options")
        yield conv(op, type, out_type="i16", qo=q(0.1), name=f"{name}_output_type")
        yield conv(op, type, x=(1, 2, 2, 3), name=f"{type}_kernel_too_large")
    yield conv(op, "f32", filter_type="i16", qw=q(0.1), name="f32_filter_i16",
               undefined="TFLite reads int16 weights as floats" if op == "CONV_2D" else "")
    yield conv(op, "i8", filter_type="i16", qw=q(0.1), name="refused_i8_filter_i16")
    yield conv(op, "f32", bias_type="i32", name="refused_f32_bias_i32")
    yield conv(op, "i8", bias_type="f32", name="refused_i8_bias_f32")
    yield conv(op, "i8", filter_type="f32", name="refused_i8_filter_f32")
    yield conv(op, "i8", qw=q([0.1, 0.2], axis=0), name="refused_i8_scale_count")
    yield conv(op, "i32", name="refused_i32")
    yield conv(op, "bool", name="refused_bool")
    yield _unquantised(op)


def _unquantised(op):
    m = Model()
    x, w = m.input("i8", (1, 4, 4, 2)), m.const("i8", (1, 2, 2, 2))
    out = m.output("i8", (1, 3, 3, 1))
    table = "DepthwiseConv2DOptions" if op.startswith("DEPTH") else "Conv2DOptions"
    m.op(op, [x, w, m.const("i32", (1,), data=np.int32([1]))], [out],
         **{table: dict(strideH=1, strideW=1, padding=VALID)})
    return m.case("refused_i8_without_quantisation", "i8")


def _exact(op):
    deep = op == "DEPTHWISE_CONV_2D"
    shapes = dict(x=(1, 30, 30, 40)) if deep else dict(x=(1, 28, 28, 12), channels=50)
    common = dict(kernel=(3, 3), padding=SAME, exact=True, **shapes)
    yield conv(op, "i8", qx=q(0.5, 3), qw=q(0.25), qo=q(16.0, -5), name="exact_ties", **common)
    yield conv(op, "i8", qx=q(0.5, -7), qw=q(0.25), qo=q(2.0, 9), act=RELU,
               name="exact_saturating", **common)
    yield conv(op, "i8", qx=q(0.0235, -128), per_channel=True, qo=q(0.31, -11), act=RELU6,
               name="exact_per_channel", **common)
    yield conv(op, "i8", qx=q(0.0181, 31), per_channel=True, stride=(2, 2),
               name="exact_strided", **common)
    yield conv(op, "u8", qx=q(0.0235, 140), act=RELU, name="exact_u8", **common)
    yield conv(op, "i16", per_channel=True, name="exact_i16", **common)
    if deep:
        yield conv(op, "i8", (1, 40, 40, 9), (5, 5), multiplier=3, qx=q(0.02, -3),
                   per_channel=True, exact=True, name="exact_multiplier")
    else:
        yield conv(op, "i8", (1, 30, 30, 48), (1, 1), 56, qx=q(0.02, -3), per_channel=True,
                   exact=True, name="exact_1x1")


def draw(op, random):
    type = str(random.choice(["f32", "i8", "u8", "i16", "hybrid"]))
    x = tuple(int(n) for n in random.integers((1, 3, 3, 1), (3, 14, 14, 40)))
    kernel = tuple(int(n) for n in random.integers(1, 6, 2))
    dilation = tuple(int(n) for n in random.integers(1, 3, 2))
    padding = int(random.integers(0, 2))
    if any((k - 1) * d + 1 > n for k, d, n in zip(kernel, dilation, x[1:3])):
        padding = SAME
    more = {}
    if type == "i8":
        more = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128))),
                    per_channel=bool(random.random() < 0.7))
    elif type == "u8":
        more = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(0, 256))))
    elif type != "f32":
        more = dict(per_channel=True)
    elif random.random() < 0.2:
        more = dict(fp16=True)
    if op == "DEPTHWISE_CONV_2D":
        more["multiplier"] = int(random.choice([1, 1, 1, 2, 3]))
    return conv(op, type, x, kernel, int(random.integers(1, 48)),
                tuple(int(n) for n in random.integers(1, 4, 2)), dilation, padding,
                int(random.integers(0, 4)), version=int(random.integers(1, VERSIONS[op])),
                seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{x}_{kernel}", **more)
