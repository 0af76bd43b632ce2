# SPDX-License-Identifier: Apache-2.0
"""CONV_3D and CONV_3D_TRANSPOSE."""
import numpy as np

from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SAME, SMALL, SUM, VALID)
from ..pieces import In, Out, counts, node

OPERATORS = ["CONV_3D", "CONV_3D_TRANSPOSE"]
VERSIONS = {op: 1 for op in OPERATORS}


def _table(padding, strides, dilations, act, options):
    fields = dict(padding=padding, fusedActivationFunction=act)
    for name, stride, dilation in zip("DHW", strides, dilations):
        fields[f"stride{name}"], fields[f"dilation{name}Factor"] = stride, dilation
    return {"Conv3DOptions": fields} if options else {}


def conv(x=(1, 3, 4, 5, 2), filter=(2, 2, 3), out=4, padding=VALID, strides=(1, 1, 1),
         dilations=(1, 1, 1), act=NONE, bias=True, const=True, bias_count=None, types=(),
         out_type="f32", options=True, depth=None, seed=1, resize=None, **case):
    kinds = list(types) or ["f32"] * 3
    shape = tuple(filter) + (x[-1] if depth is None else depth, out)
    inputs = [In(kinds[0], x, resize=resize), In(kinds[1], shape, const=const)]
    if bias is not False:
        inputs.append(In(kinds[2], (out if bias_count is None else bias_count,), const=const)
                      if bias else None)
    return node("CONV_3D", inputs, [Out(out_type, (1,), SUM)], seed=seed,
                table=_table(padding, strides, dilations, act, options), **case)


def _convs():
    yield conv(name="v1_f32_plain", tags=ORDINARY)
    yield conv((2, 5, 4, 7, 3), (3, 1, 2), 5, SAME, (2, 1, 3), name="v1_f32_odd", tags=ODD)
    yield conv((1, 1, 1, 1, 1), (1, 1, 1), 1, name="v1_f32_one", tags=SMALL)
    for padding in (SAME, VALID):
        for number, (strides, dilations) in enumerate((
                ((1, 1, 1), (1, 1, 1)), ((2, 2, 2), (1, 1, 1)), ((1, 2, 3), (1, 1, 1)),
                ((1, 1, 1), (2, 1, 1)), ((1, 1, 1), (2, 2, 2)), ((2, 1, 2), (1, 3, 2)))):
            for act in (NONE, RELU6):
                yield conv((2, 5, 6, 7, 3), (2, 3, 2), 4, padding, strides, dilations, act,
                           name=f"f32_{padding}_{number}_{act}")
    for act in (RELU, RELU_N1_TO_1):
        yield conv(act=act, name=f"f32_act_{act}")
    yield conv(bias=False, name="f32_two_inputs")
    yield conv(bias=None, name="f32_no_bias")
    yield conv(const=False, name="f32_run_time_filter")
    yield conv((1, 3, 4, 5, 2), resize=(2, 4, 4, 6, 2), name="f32_resized")
    yield conv((1, 4, 4, 4, 16), (1, 1, 1), 32, name="f32_pointwise")
    yield conv((0, 3, 4, 5, 2), name="f32_no_batch", lenient=True)
    yield conv((1, 1, 4, 5, 2), name="f32_one_too_small", lenient=True)
    yield conv((1, 2, 2, 2, 2), (4, 4, 4), name="refused_too_small")
    yield conv((1, 2, 2, 2, 2), (4, 4, 4), padding=SAME, name="f32_same_larger_filter")
    yield from _refused_convs()


def _refused_convs():
    for strides in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1)):
        yield conv(strides=strides, name=f"refused_strides_{strides}")
    for dilations in ((0, 1, 1), (1, 0, 1), (1, 1, -2)):
        yield conv(dilations=dilations, name=f"refused_dilations_{dilations}")
    yield conv(depth=3, name="refused_depth")
    yield conv(bias_count=3, name="refused_bias")
    yield conv((3, 4, 5, 2), name="refused_rank_4")
    yield conv(filter=(2, 3), name="refused_filter_rank_4")
    for x in ((1, 0, 4, 5, 2), (1, 3, 0, 5, 2), (1, 3, 4, 0, 2), (1, 3, 4, 5, 0)):
        yield conv(x, name=f"refused_empty_{x}")
    for filter in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        yield conv(filter=filter, name=f"refused_filter_{filter}")
    yield conv(out=0, name="refused_no_outputs")
    for number, types in enumerate((("f16", "f32", "f32"), ("f32", "i8", "f32"),
                                    ("f32", "f32", "i32"), ("i8", "i8", "i32"))):
        yield conv(types=types, name=f"refused_types_{number}")
    yield conv(out_type="i8", name="refused_output_type")
    yield conv(options=False, name="refused_no_options")
    yield conv(padding=VALID, strides=(2**31 - 1,) * 3, name="f32_far_strides")
    yield conv(padding=SAME, dilations=(2**31 - 1, 1, 1), name="f32_far_dilation",
               undefined="the window's reach overflows")
    yield from counts("CONV_3D", ((1, 1), (4, 1), (3, 2)), _table(SAME, (1, 1, 1), (1, 1, 1), 0, 1))


def _forward(extent, filter, stride, dilation, padding):
    reach = (filter - 1) * dilation + 1
    return -(-extent // stride) if padding == SAME else (extent + stride - reach) // stride


def transpose(shape=(1, 4, 5, 6, 3), filter=(2, 2, 3), channels=2, padding=VALID,
              strides=(1, 1, 1), dilations=(1, 1, 1), act=NONE, bias=True, how="const", x=None,
              out=None, bias_count=None, types=(), out_type="f32", shape_dims=None, options=True,
              shape_type="i32", depth=None, seed=1, **case):
    kinds = list(types) or ["f32"] * 3
    if x is None:
        middle = [_forward(*one, padding) for one in zip(shape[1:4], filter, strides, dilations)]
        x = (shape[0], *middle, channels)
    out = shape[-1] if out is None else out
    values = np.asarray(shape, np.int64)
    inputs = [In(shape_type, values.shape if shape_dims is None else shape_dims, values,
                 how == "const"),
              In(kinds[0], tuple(filter) + (out, channels if depth is None else depth), const=True),
              In(kinds[1], x)]
    if bias is not False:
        inputs.append(In(kinds[2], (out if bias_count is None else bias_count,), const=True)
                      if bias else None)
    return node("CONV_3D_TRANSPOSE", inputs, [Out(out_type, (1,), SUM)], seed=seed, type=kinds[1],
                table=_table(padding, strides, dilations, act, options), **case)


def _transposes():
    yield transpose(name="v1_f32_plain", tags=ORDINARY)
    yield transpose((2, 5, 7, 6, 5), (3, 1, 2), 3, SAME, (2, 1, 3), name="v1_f32_odd", tags=ODD)
    yield transpose((1, 1, 1, 1, 1), (1, 1, 1), 1, name="v1_f32_one", tags=SMALL)
    for how in ("const", "input"):
        for padding in (SAME, VALID):
            for number, (strides, dilations) in enumerate((
                    ((1, 1, 1), (1, 1, 1)), ((2, 2, 2), (1, 1, 1)), ((1, 2, 3), (1, 1, 1)),
                    ((1, 1, 1), (2, 2, 2)), ((2, 1, 2), (1, 2, 1)))):
                yield transpose((2, 5, 6, 7, 3), (2, 3, 2), 4, padding, strides, dilations,
                                (NONE, RELU, RELU6)[number % 3], how=how,
                                name=f"f32_{how}_{padding}_{number}")
        for number, shape in enumerate(((2, 4, 5, 6, 3), (1, 4, 5, 6, 2), (1, 5, 5, 6, 3),
                                        (1, 4, 6, 6, 3), (1, 4, 5, 7, 3), (1, -4, 5, 6, 3),
                                        (1, 4, 5, 6, -3), (1, 0, 5, 6, 3))):
            yield transpose(shape, x=(1, 3, 4, 4, 2), out=3, how=how,
                            name=f"refused_{how}_{number}")
        yield transpose((1, 2**31 - 1, 5, 6, 3), x=(1, 3, 4, 4, 2), out=3, how=how,
                        name=f"far_{how}", undefined="the window's reach overflows")
    yield transpose(bias=False, name="f32_three_inputs")
    yield transpose(bias=None, name="f32_no_bias")
    yield transpose((0, 4, 5, 6, 3), name="f32_no_batch", lenient=True)
    yield from _refused_transposes()


def _refused_transposes():
    wild = dict(undefined="divides by the stride")
    for strides in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1)):
        yield transpose(strides=strides, x=(1, 3, 4, 4, 2), name=f"strides_{strides}", **wild)
    for dilations in ((0, 1, 1), (1, -1, 1)):
        yield transpose(dilations=dilations, x=(1, 3, 4, 4, 2), name=f"dilations_{dilations}",
                        undefined="dilations below 1 are not checked")
    yield transpose(depth=3, name="refused_depth")
    yield transpose(bias_count=2, name="refused_bias")
    yield transpose(shape_type="i64", name="refused_shape_i64")
    yield transpose(shape=(1, 4, 5, 6), filter=(2, 2, 3), x=(1, 3, 4, 4, 2), out=3,
                    name="refused_shape_of_4")
    yield transpose(shape_dims=(1, 5), name="refused_shape_matrix")
    yield transpose(x=(3, 4, 4, 2), name="refused_rank_4")
    yield transpose(filter=(2, 3), x=(1, 3, 4, 4, 2), name="refused_filter_rank_4")
    yield transpose(filter=(0, 2, 3), x=(1, 4, 4, 4, 2), name="filter_0", lenient=True,
                    undefined="a filter without taps")
    for number, types in enumerate((("f16", "f32", "f32"), ("f32", "i8", "f32"),
                                    ("f32", "f32", "i32"))):
        yield transpose(types=types, name=f"refused_types_{number}")
    yield transpose(out_type="i8", name="refused_output_type")
    yield transpose(options=False, name="no_options", **wild)
    yield from counts("CONV_3D_TRANSPOSE", ((2, 1), (5, 1), (4, 2)),
                      _table(SAME, (1, 1, 1), (1, 1, 1), 0, 1))


def cases(op):
    yield from (_convs if op == "CONV_3D" else _transposes)()


def draw(op, random):
    def three(low, high):
        return tuple(int(n) for n in random.integers(low, high, 3))

    filter, strides, channels, out = three(1, 4), three(1, 4), *random.integers(1, 6, 2)
    dilations = three(1, 3) if random.random() < 0.5 else (1, 1, 1)
    more = dict(padding=int(random.integers(0, 2)), strides=strides, dilations=dilations,
                act=int(random.integers(0, 4)), seed=int(random.integers(1, 2**30)),
                name=f"draw_{filter}_{strides}_{dilations}")
    wide, batch = three(5, 8), int(random.integers(1, 3))
    if op == "CONV_3D":
        return conv((batch, *wide, int(channels)), filter, int(out), **more)
    return transpose((batch, *wide, int(out)), filter, int(channels), **more,
                     how=str(random.choice(["const", "input"])))
