# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED: float32, int8 per tensor and per channel, uint8, int16, hybrid, fp16 constants.
BATCH_MATMUL: float32, int8, int16, int16 with int8, hybrid."""
import numpy as np

from ..model import (EQUAL, NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, SMALL, SUM, TANH,
                     ZERO_POINT, Model, blocks, q)
from . import quantize
from .conv import QUANTISED, add_bias, channel_scales, form_of, quantisation, ties

OPERATORS = ["FULLY_CONNECTED", "BATCH_MATMUL"]
VERSIONS = {"FULLY_CONNECTED": 14, "BATCH_MATMUL": 4}


def full(type="f32", x=(2, 8), w=(5, 8), act=NONE, keep=False, per_channel=False, qx=None, qw=None,
         qo=None, version=1, bias="const", fp16=False, weights_input=False, weights_type=None,
         bias_shape=None, bias_type=None, out_type=None, weights_format=0, asymmetric=False,
         seed=1, data_x=None, data_w=None, data_b=None, resize=None, options=True, out_shape=None,
         low_x=None, quantized_bias_type=None, block=0, scales=None, sparse=None, **case):
    """`sparse`: the sparsity parameters of the weights. `block`: weights of 4 bits with one scale per
    `block` elements; `scales`: (type, shape)."""
    qx, qw, qo = quantisation(type, w[0], w[1] if len(w) > 1 else 1, per_channel, 0, qx, qw, qo)
    data, weights, _ = form_of(type)
    weights = weights_type or weights
    m = Model(seed)
    inputs = [m.input(data, x, qx, data=data_x, resize=resize, low=low_x)]
    if block:
        kind, shape = scales or ("f16", (w[0], max(1, w[1] // block)))
        qw = blocks(m.const(kind, shape, low=0.01, high=0.2), block)
    if sparse:
        inputs.append(sparse.add(m, weights, qw))
    elif fp16:
        inputs.append(_dequantized(m, w))
    elif weights_input:
        inputs.append(m.input(weights, w, qw, data=data_w))
    else:
        inputs.append(m.const(weights, w, qw, data=data_w, low=-127 if weights == "i8" else None))
    inputs += add_bias(m, type, bias, bias_shape or (w[0],), bias_type, qx, qw, fp16, data_b)
    out = m.output(out_type or data, out_shape or (1, w[0]), qo, rule=SUM)
    table = dict(fusedActivationFunction=act, keepNumDims=keep, weightsFormat=weights_format,
                 asymmetricQuantizeInputs=asymmetric)
    if quantized_bias_type is not None:
        table["quantizedBiasType"] = quantized_bias_type
    m.op("FULLY_CONNECTED", inputs, [out], version,
         **({"FullyConnectedOptions": table} if options else {}))
    return m.case(type=data, main=("FULLY_CONNECTED", version), **case)


def _dequantized(m, shape):
    half = m.const("f16", shape)
    wide = m.tensor("f32", shape)
    m.op("DEQUANTIZE", [half], [wide], 3, DequantizeOptions={})
    return wide


def cases(op):
    return _full_cases() if op == "FULLY_CONNECTED" else _batch_cases()


def _full_cases():
    for version in range(1, VERSIONS["FULLY_CONNECTED"] + 1):
        for type in ("f32", *QUANTISED):
            yield from _claim(type, version)
        yield full(version=version, fp16=True, name=f"v{version}_fp16_weights")
        for number, how in enumerate([{}, dict(per_channel=True), dict(asymmetric=True)]):
            yield full("hybrid", (2, 17), (5, 17), version=version, **how,
                       name=f"v{version}_hybrid_{number}")
    for type in ("f32", "i8"):
        yield from _shapes(type)
        yield from _forms(type)
    yield full(fp16=True, x=(3, 17), w=(9, 17), bias="minus_one", act=RELU, name="fp16_no_bias")
    for type in ("u8", "i16", "hybrid"):
        yield from _other_form(type)
    yield from _other_types()
    yield from _packed()
    yield from _blocks()
    yield from _sparse()
    yield from _special()
    yield from _scales()
    yield from _refused()
    yield from _exact()


def _packed():
    """Cases with weights of 4 and 2 bits."""
    for bits in ("i4", "i2"):
        for form in (f"i8_{bits}", f"i16_{bits}", f"hybrid_{bits}"):
            quant = dict(qx=q(0.03, 11)) if form.startswith("i8") else {}
            for number, (x, w) in enumerate([((1, 1), (7, 1)), ((1, 33), (17, 33)),
                                             ((5, 31), (65, 31)), ((17, 64), (33, 64)),
                                             ((2, 40), (4, 40)), ((8,), (3, 8))]):
                for per_channel in (False, True):
                    yield full(form, x, w, RELU if number % 2 else NONE, per_channel=per_channel,
                               **quant, name=f"{form}_shapes_{number}_{int(per_channel)}")
            for bias in ("omitted", "minus_one"):
                yield full(form, bias=bias, per_channel=True, **quant, name=f"{form}_bias_{bias}")
            yield full(form, weights_input=True, per_channel=True, **quant,
                       name=f"{form}_weights_from_outside")
            yield full(form, (1, 8), (5, 8), resize=(6, 8), **quant, name=f"{form}_resized")
            yield full(form, (2, 3, 4), (5, 4), keep=True, **quant, name=f"{form}_keep_dims")
            yield full(form, (2, 4), (0, 4), name=f"{form}_no_units")
            yield full(form, (0, 4), (3, 4), name=f"{form}_empty")
            yield full(form, qw=q(0.1, 1), **quant, name=f"refused_{form}_zero_point")
            yield full(form, qw=q(channel_scales(5, 0.1), [0, 0, 1, 0, 0]), **quant,
                       name=f"refused_{form}_zero_points")
        for act in (RELU, RELU6, TANH, SIGN_BIT):
            yield full(f"hybrid_{bits}", (3, 64), (9, 64), act, name=f"hybrid_{bits}_act_{act}")
        yield full(f"hybrid_{bits}", (3, 64), (9, 64), asymmetric=True, per_channel=True,
                   name=f"hybrid_{bits}_asymmetric")
        yield full(f"hybrid_{bits}", (3, 64), (9, 64), data_x=np.zeros(192, np.float32),
                   name=f"hybrid_{bits}_zeros")
        yield full(f"u8_{bits}", qw=q(0.1), name=f"refused_u8_{bits}",
                   undefined="TFLite reads bytes of another type than it was given")
        yield full(f"i8_{bits}", (400, 27), (260, 27), qx=q(0.0235, 17), per_channel=True,
                   exact=True, name=f"exact_i8_{bits}")


def _blocks():
    """Cases with a scale per block. Only the optimised kernel supports them, for constant weights of at
    least 4 units and rows of an even number of 32 or more elements; otherwise TFLite reads the scale
    as 0."""
    reference = dict(undefined="TFLite takes the scales of blocks for 0",
                     undefined_in=("reference",))
    for number, (x, w, block) in enumerate([((1, 32), (4, 32), 32), ((3, 64), (5, 64), 32),
                                            ((7, 96), (9, 96), 32), ((2, 5, 64), (8, 64), 16),
                                            ((1, 128), (33, 128), 128), ((2, 40), (4, 40), 20)]):
        yield full("hybrid_i4", x, w, block=block, **reference, name=f"blocks_{number}")
    common = dict(x=(3, 64), w=(6, 64), block=32)
    for bias in ("omitted", "minus_one", "input"):
        yield full("hybrid_i4", bias=bias, **common, **reference, name=f"blocks_bias_{bias}")
    yield full("hybrid_i4", data_x=np.zeros(192, np.float32), **common, **reference,
               name="blocks_zeros")
    yield full("hybrid_i4", keep=True, x=(2, 3, 64), w=(6, 64), block=32, **reference,
               name="blocks_keep_dims")
    yield full("hybrid_i4", asymmetric=True, **common, **reference, name="blocks_asymmetric")
    # TFLite's own kernel ignores the activation; XNNPACK's does not.
    for act in (RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT):
        yield full("hybrid_i4", act=act, **common, **reference, name=f"blocks_act_{act}")
    small = "TFLite takes the scales of blocks for 0"
    yield full("hybrid_i4", (2, 16), (4, 16), block=8, undefined=small, name="blocks_few_columns")
    yield full("hybrid_i4", (2, 64), (3, 64), block=32, undefined=small, name="blocks_few_units")
    unchecked = "TFLite does not check the blocks"
    for name, how in (("size", dict(block=24)), ("size_0", dict(block=-1)),
                      ("scales_f32", dict(scales=("f32", (6, 2)))),
                      ("scale_count", dict(scales=("f16", (6, 1))))):
        yield full("hybrid_i4", undefined=unchecked, **dict(common, **how),
                   name=f"refused_blocks_{name}")
    for form in ("hybrid_i2", "hybrid", "i8_i4"):
        yield full(form, undefined=unchecked, **common, name=f"refused_blocks_{form}")


def sparse_rows(units, depth, block, part=0.4, seed=1):
    """Returns rows of blocks of 1 by `block`, of which the fraction `part` is stored."""
    random = np.random.default_rng(seed)
    segments, indices = [0], []
    for _ in range(units):
        indices += np.flatnonzero(random.random(depth // block) < part).tolist()
        segments.append(len(indices))
    level = (32, segments, indices)
    if block == 1:
        return quantize.Sparse((units, depth), [0, 1], [], [units, level], len(indices))
    return quantize.Sparse((units, depth), [0, 1, 2], [1], [units, level, block],
                           len(indices) * block)


def _sparse():
    def rows(type, x, block, name, **more):
        units, depth = more.pop("units"), x[-1]
        return full(type, x, (units, depth), sparse=sparse_rows(units, depth, block), name=name,
                    **more)
    for number, (x, units, block) in enumerate([((1, 8), 5, 1), ((3, 64), 33, 1), ((3, 64), 8, 4),
                                                ((2, 3, 32), 7, 4), ((9, 16), 1, 4)]):
        yield rows("f32", x, block, f"sparse_f32_{number}", units=units,
                   act=RELU if number % 2 else NONE)
    for number, (x, units) in enumerate([((1, 16), 4), ((3, 64), 33), ((2, 48), 7)]):
        for per_channel in (False, True):
            how = int(per_channel)
            yield rows("i8", x, 16, f"sparse_i8_{number}_{how}", units=units, qx=q(0.03, 7),
                       per_channel=per_channel)
            for asymmetric in (False, True):
                yield rows("hybrid", x, 16, f"sparse_hybrid_{number}_{how}_{int(asymmetric)}",
                           units=units, per_channel=per_channel, asymmetric=asymmetric)
    for bias in ("omitted", "minus_one"):
        yield rows("f32", (3, 64), 1, f"sparse_f32_bias_{bias}", units=5, bias=bias)
        yield rows("i8", (3, 64), 16, f"sparse_i8_bias_{bias}", units=5, bias=bias,
                   per_channel=True)
    # Forms that only the reference kernel supports, and only for float32.
    wrong = dict(undefined="TFLite takes any sparse weights for rows of blocks",
                 undefined_in=("optimised",))
    for form in ("columns", "both", "dense", "both_blocks", "turned_blocks"):
        tensor = quantize.SPARSE[form]
        yield full("f32", (3, tensor.shape[1]), tensor.shape, sparse=tensor,
                   name=f"sparse_f32_{form}", **wrong)
    yield rows("f32", (3, 64), 16, "sparse_f32_16", units=5, **wrong)
    anything = "TFLite takes the weights for blocks of 16"
    yield rows("hybrid", (3, 64), 4, "sparse_hybrid_4", units=5, undefined=anything)
    yield rows("i8", (3, 64), 4, "sparse_i8_4", units=5, undefined=anything)
    reads = "TFLite takes sparse weights for dense ones, past their end"
    for type in ("u8", "i16"):
        yield rows(type, (3, 64), 16, f"refused_sparse_{type}", units=5, undefined=reads)
    yield rows("i8", (3, 64), 16, "refused_sparse_zero_point", units=5, qw=q(0.01, 3))


def _claim(type, version):
    name = f"v{version}_{type}"
    yield full(type, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield full(type, (2, 3, 4), (5, 4), keep=True, act=RELU, version=version,
               name=f"{name}_odd", tags=ODD)
    if type == "i8":
        yield full(type, per_channel=True, version=version, name=f"{name}_per_channel")
    if type in ("i8", "u8"):
        yield full(type, (3, 7), (4, 7), qx=q(0.03, 17), qo=q(0.2, 23), version=version,
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


def _other_form(type):
    quant = dict(per_channel=type != "u8", qx=q(0.03, 11) if type == "u8" else None)
    for number, (x, w) in enumerate([((1, 1), (7, 1)), ((1, 33), (17, 33)), ((5, 31), (65, 31)),
                                     ((17, 64), (33, 64)), ((1, 700), (9, 700)), ((8,), (3, 8)),
                                     ((2, 2, 4), (3, 8))]):
        yield full(type, x, w, **quant, name=f"{type}_shapes_{number}")
    yield full(type, (2, 1, 3, 4), (5, 4), keep=True, **quant, name=f"{type}_keep_dims")
    yield full(type, (2, 0), (3, 0), **quant, name=f"{type}_no_depth")
    yield full(type, (2, 4), (0, 4), name=f"{type}_no_units")
    yield full(type, (1, 8), (5, 8), resize=(6, 8), **quant, name=f"{type}_resized")
    for act in (RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT):
        yield full(type, (3, 12), (9, 12), act, **quant, name=f"{type}_act_{act}")
    for bias in ("omitted", "minus_one", "input"):
        yield full(type, bias=bias, **quant, name=f"{type}_bias_{bias}")
    yield full(type, weights_input=True, **quant, name=f"{type}_weights_from_outside")
    yield full(type, asymmetric=True, **quant, name=f"{type}_asymmetric_said")
    yield full(type, (2, 8), (5, 7), lenient=True, name=f"{type}_depth_does_not_divide")
    yield full(type, bias_shape=(4,), name=f"refused_{type}_bias_size")
    yield full(type, bias_type="i8", name=f"refused_{type}_bias_i8")
    yield full(type, out_type="i32", name=f"refused_{type}_output_type")


def _other_types():
    misread = "TFLite reads an int32 bias as int64 unless the options say INT32"
    yield full("i16", bias_type="i32", quantized_bias_type=2, name="i16_bias_i32_said")
    yield full("i16", bias_type="i32", quantized_bias_type=2, per_channel=True,
               name="i16_bias_i32_said_per_channel")
    yield full("i16", bias_type="i32", undefined=misread, name="i16_bias_i32_unsaid")
    yield full("i16", quantized_bias_type=4, name="i16_bias_i64_said")
    yield full("i16", bias="omitted", quantized_bias_type=2, name="i16_no_bias_i32_said")
    yield full("i16", bias_type="i32", quantized_bias_type=4, name="refused_i16_said_i64")
    yield full("i16", quantized_bias_type=9, name="refused_i16_said_i8")
    yield full("i16", qx=q(1e-4, 5), name="refused_i16_zero_point")
    yield full("i16", qo=q(1e-2, 5), name="refused_i16_output_zero_point")
    yield full("i16", qw=q(0.01, 5), name="i16_weights_zero_point")
    yield full("u8", qx=q(0.02, 255), qw=q(0.03, 0), qo=q(0.3, 3), name="u8_far_zero_points")
    yield full("u8", (3, 40), (7, 40), out_type="i16", qo=q(1e-3), name="u8_to_i16")
    yield full("u8", (3, 40), (7, 40), RELU6, out_type="i16", qo=q(1e-3), bias="minus_one",
               name="u8_to_i16_relu6")
    yield full("u8", qw=q([0.1, 0.2, 0.1, 0.1, 0.1]), name="refused_u8_per_channel")
    reads = "TFLite reads bytes of another type than it was given"
    yield full("u8", bias_type="i64", undefined=reads, name="u8_bias_i64")
    yield full("u8", weights_type="i8", qw=q(0.01), undefined=reads, name="u8_weights_i8")
    yield full("i16", weights_type="i16", qw=q(1e-3), undefined=reads, name="i16_weights_i16")
    yield full("i8", out_type="i16", qo=q(1e-3), undefined=reads, name="i8_to_i16")
    yield full("i16", out_type="i8", qo=q(0.1), undefined=reads, name="i16_to_i8")
    yield full("hybrid", weights_type="u8", undefined=reads, name="hybrid_weights_u8")
    for number, how in enumerate([{}, dict(asymmetric=True)]):
        yield full("hybrid", data_x=np.zeros(16, np.float32), **how, name=f"hybrid_zeros_{number}")
        yield full("hybrid", data_x=np.full(16, 3, np.float32), **how,
                   name=f"hybrid_positive_{number}")
        yield full("hybrid", (9, 50), (20, 50), per_channel=True, bias="minus_one", **how,
                   name=f"hybrid_rows_{number}")
        yield full("hybrid", (9, 50), (20, 50), RELU, **how, name=f"hybrid_relu_{number}")
        for kind, values in ties(4, 50):
            yield full("hybrid", (4, 50), (20, 50), data_x=values, **how,
                       name=f"hybrid_ties_{kind}_{number}")


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
        yield full(type, (), (3, 1), name=f"{type}_scalar")
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
    yield full("u8", qx=q(0.0235, 17), name="exact_u8", **common)
    yield full("i16", per_channel=True, name="exact_i16", **common)
    yield full("i16", bias_type="i32", quantized_bias_type=2, name="exact_i16_bias_i32", **common)


# ---- BATCH_MATMUL

BATCH_QUANT = {"i8": q(0.05, 3), "i16": q(1e-3)}


def batch(type="f32", x=(2, 3, 4), y=(2, 4, 5), adj_x=False, adj_y=False, right=None, to=None,
          asymmetric=False, qx=None, qy=None, qo=None, version=1, const=False, data_x=None,
          resize=None, options=True, seed=1, **case):
    """`x` and `y` are the stored shapes; `right` the right operand's type, `to` the output's."""
    right, to = right or type, to or type
    m = Model(seed)
    a = m.input(type, x, qx or BATCH_QUANT.get(type), data=data_x, resize=resize)
    mixed = right == "i8" and type != "i8"
    b = (m.const if const else m.input)(right, y, qy or (q(0.01) if mixed else
                                                         BATCH_QUANT.get(right)))
    depth = max(1, x[-2 if adj_x else -1]) if len(x) > 1 else 1
    scale = {"i8": 0.05 * 0.05 * 73 * 73 / 45, "i16": 1e-6 * 18900 * 18900 / 11500}.get(to, 0)
    if mixed:
        scale = 1e-5 * 18900 * 73 / 11500
    if to in BATCH_QUANT:
        qo = qo or q(float(scale * np.sqrt(depth)), -4 if to == "i8" else 0)
    result = m.output(to, (1, 1, 1), qo, rule=EQUAL if to == "i32" else SUM)
    table = dict(adjX=adj_x, adjY=adj_y, asymmetricQuantizeInputs=asymmetric)
    m.op("BATCH_MATMUL", [a, b], [result], version,
         **({"BatchMatMulOptions": table} if options else {}))
    return m.case(type=type, main=("BATCH_MATMUL", version), **case)


def _misscaled(x, y, adj_x, asymmetric):
    """Returns the reason why TFLite's hybrid result for batches of these stored shapes is wrong, or "".
    It reads the scales of batch (i, j) at i + j, likewise the sums of the weights, and has none of
    them for the outermost of three batch axes of the weights. One batch axis is folded into the rows
    before that if it is 1 in the weights. Verified with 2 000 pairs of shapes."""
    rank = max(len(x), len(y)) - 2
    left = [1] * (rank + 2 - len(x)) + list(x[:-2])
    right = [1] * (rank + 2 - len(y)) + list(y[:-2])
    if not adj_x and len(x) > 2 and len(y) > 2 and right[-1] == 1:
        left, right = left[:-1], right[:-1]
    several = [sum(n > 1 for n in lead) > 1 for lead in (left, right)]
    if several[0] or asymmetric and (several[1] or len(right) == 3 and right[0] > 1):
        return "TFLite scales batches along two axes by others' factors"
    return ""


BATCH_FORMS = {"f32": {}, "i8": {}, "i16": {}, "i8_to_i32": dict(type="i8", to="i32"),
               "i16_i8": dict(type="i16", right="i8"), "hybrid": dict(type="f32", right="i8"),
               "hybrid_asymmetric": dict(type="f32", right="i8", asymmetric=True)}


def _batch_cases():
    forms = {name: dict(dict(type=name), **form) for name, form in BATCH_FORMS.items()}
    for version in range(1, VERSIONS["BATCH_MATMUL"] + 1):
        for name, form in forms.items():
            yield from _batch_claim(f"v{version}_{name}", form, version)
    for name, form in forms.items():
        yield from _batch_shapes(name, form)
    yield from _batch_scales()
    yield from _batch_refused()
    exact = dict(x=(3, 97, 61), y=(3, 61, 85), exact=True)
    yield batch("i8", **exact, qx=q(0.05, -7), name="exact_i8")
    yield batch("i8", **exact, qx=q(0.5), qy=q(0.5), qo=q(0.25 * 512, 5), name="exact_i8_ties")
    yield batch("i16", **exact, name="exact_i16")
    yield batch("i16", right="i8", **exact, name="exact_i16_i8")


def _batch_claim(name, form, version):
    yield batch(**form, version=version, name=f"{name}_plain", tags=ORDINARY)
    yield batch(**form, x=(2, 1, 7, 3), y=(3, 7, 2), adj_x=True, version=version,
                name=f"{name}_odd", tags=ODD)
    if form["type"] == "i8" and "to" not in form:
        yield batch(**form, qx=q(0.03, -17), qo=q(0.2, 23), version=version,
                    name=f"{name}_zero_points", tags=ZERO_POINT)
    yield batch(**form, x=(1, 1), y=(1, 1), version=version, name=f"{name}_one", tags=SMALL)
    yield batch(**form, x=(2, 0, 4), y=(2, 4, 5), version=version, name=f"{name}_empty",
                tags=SMALL)


def _batch_shapes(name, form):
    pairs = [((3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (3, 4, 5)),
             ((2, 1, 2, 3, 4), (3, 1, 4, 5)), ((1, 17), (17, 33)), ((9, 64), (64, 17)),
             ((4, 1, 70), (4, 70, 1)), ((0, 3, 4), (1, 4, 5)), ((2, 3, 4), (2, 4, 0))]
    if not name.startswith("hybrid"):
        pairs.append(((2, 3, 0), (2, 0, 5)))
    for number, (x, y) in enumerate(pairs):
        for adj_x, adj_y in ((False, False), (True, False), (False, True), (True, True)):
            if number % 3 and adj_x != adj_y:
                continue
            turn = lambda s, adj: (*s[:-2], s[-1], s[-2]) if adj else s
            x_stored, y_stored = turn(x, adj_x), turn(y, adj_y)
            wrong = (_misscaled(x_stored, y_stored, adj_x, form.get("asymmetric"))
                     if name.startswith("hybrid") else "")
            yield batch(**form, undefined=wrong, x=x_stored, y=y_stored, adj_x=adj_x,
                        adj_y=adj_y, const=number % 2 == 1, seed=number + 2,
                        name=f"{name}_shapes_{number}_{int(adj_x)}{int(adj_y)}")
    yield batch(**form, const=True, resize=(2, 6, 4), name=f"{name}_resized")
    yield batch(**form, options=False, name=f"{name}_no_options")


def _batch_scales():
    scales = q([0.01, 0.02, 0.03, 0.04, 0.05], axis=2)
    for number, asymmetric in enumerate((False, True)):
        yield batch(right="i8", qy=scales, asymmetric=asymmetric, const=True,
                    name=f"hybrid_per_channel_{number}")
        yield batch(right="i8", y=(2, 5, 4), adj_y=True, qy=q(scales.scale, axis=1),
                    asymmetric=asymmetric, name=f"hybrid_per_channel_adj_{number}")
        yield batch(right="i8", data_x=np.zeros(24, np.float32), asymmetric=asymmetric,
                    name=f"hybrid_zeros_{number}")
        yield batch(right="i8", data_x=np.full(24, -2, np.float32), asymmetric=asymmetric,
                    name=f"hybrid_negative_{number}")
        for lead_x, lead_y in (((2, 3), ()), ((2, 3), (2, 3)), ((2, 3), (2, 1)), ((), (2, 3))):
            x, y = (*lead_x, 3, 4), (*lead_y, 4, 5)
            yield batch(right="i8", x=x, y=y, asymmetric=asymmetric,
                        undefined=_misscaled(x, y, False, asymmetric),
                        name=f"hybrid_batches_{lead_x}_{lead_y}_{number}".replace(", ", "x"))
    wrong = "TFLite reads scales of the depth as scales of the columns"
    yield batch(right="i8", qy=q([0.01, 0.02, 0.03, 0.04], axis=1), undefined=wrong,
                name="hybrid_scales_of_depth")
    yield batch("i8", qy=scales, undefined="TFLite uses one of several scales",
                name="i8_per_channel")
    yield batch("i8", qy=q(0.05, -9), qx=q(0.02, 100), qo=q(0.1, 50), name="i8_both_zero_points")
    special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1, 3e38, 2])
    yield batch(x=(2, 2, 2), y=(2, 2, 3), data_x=special, name="f32_special_values")


def _batch_refused():
    yield batch(x=(4,), y=(4, 5), name="refused_rank_1")
    yield batch(x=(1, 2, 1, 2, 3, 4), y=(4, 5), name="refused_rank_6")
    yield batch(x=(2, 3, 4), y=(3, 4, 5), name="refused_batches")
    yield batch(x=(2, 3, 4), y=(2, 5, 4), name="refused_depth")
    yield batch(x=(2, 3, 4), y=(2, 4, 5), adj_x=True, name="refused_depth_adj")
    yield batch("i16", qx=q(1e-3, 4), name="refused_i16_zero_point")
    yield batch("i16", qy=q(1e-3, 4), name="refused_i16_right_zero_point")
    yield batch("i16", qo=q(1e-1, 4), name="refused_i16_output_zero_point")
    yield batch("i8", right="i16", name="refused_i8_i16")
    other = "TFLite writes its own type into whatever the output is"
    yield batch("f32", to="i8", undefined=other, name="f32_to_i8")
    yield batch("i8", to="i16", undefined=other, name="i8_to_i16")
    yield batch("i16", to="i32", undefined=other, name="i16_to_i32")
    for type in ("u8", "i32", "i64", "f16", "bool"):
        yield batch(type, qx=q(0.05), qy=q(0.05), qo=q(1.0), name=f"refused_type_{type}")


def _draw_batch(random):
    rank = int(random.integers(0, 3))
    lead = tuple(int(n) for n in random.integers(1, 4, rank))
    rows, depth, columns = (int(n) for n in random.integers(1, 40, 3))
    adj_x, adj_y = bool(random.integers(0, 2)), bool(random.integers(0, 2))
    name = str(random.choice(list(BATCH_FORMS)))
    form = dict(dict(type=name), **BATCH_FORMS[name])
    x = (*lead, depth, rows) if adj_x else (*lead, rows, depth)
    y = (columns, depth) if adj_y else (depth, columns)
    if rank and random.random() < 0.5:
        y = (*(n if random.random() < 0.5 else 1 for n in lead), *y)
    wrong = (_misscaled(x, y, adj_x, form.get("asymmetric")) if name.startswith("hybrid") else "")
    return batch(**form, x=x, y=y, adj_x=adj_x, adj_y=adj_y, const=bool(random.integers(0, 2)),
                 undefined=wrong,
                 version=int(random.integers(1, 5)), seed=int(random.integers(1, 2**30)),
                 name=f"draw_{name}_{x}_{y}")


def draw(op, random):
    if op == "BATCH_MATMUL":
        return _draw_batch(random)
    type = str(random.choice(["f32", "i8", "u8", "i16", "hybrid"]))
    depth, units = int(random.integers(1, 80)), int(random.integers(1, 70))
    lead = tuple(int(n) for n in random.integers(1, 6, random.integers(1, 4)))
    more = {}
    if type == "i8":
        more = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128))),
                    per_channel=bool(random.random() < 0.5))
    elif type == "u8":
        more = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(0, 256))))
    elif type != "f32":
        more = dict(per_channel=bool(random.random() < 0.5), asymmetric=bool(random.integers(0, 2)))
    elif random.random() < 0.2:
        more = dict(fp16=True)
    return full(type, (*lead, depth), (units, depth), int(random.integers(0, 4)),
                bool(random.integers(0, 2)),
                bias=str(random.choice(["const", "minus_one", "omitted"])),
                version=int(random.integers(1, 15)), seed=int(random.integers(1, 2**30)),
                name=f"draw_{type}_{lead}_{depth}_{units}", **more)
