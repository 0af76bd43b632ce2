# SPDX-License-Identifier: Apache-2.0
"""Tensors concatenated (CONCATENATION, PACK) and split (SPLIT, SPLIT_V, UNPACK)."""
import numpy as np

from .. import movement
from ..model import ODD, RELU, SMALL, ZERO_POINT, Model, q
from ..movement import ALL, indices, out_shape, quant_of

OPERATORS = ["CONCATENATION", "PACK", "UNPACK", "SPLIT", "SPLIT_V"]
VERSIONS = {"CONCATENATION": 7, "PACK": 5, "UNPACK": 6, "SPLIT": 5, "SPLIT_V": 3}
TYPES = {"CONCATENATION": (*(t for t in ALL if t != "str"), "bf16", "i4"),
         "PACK": ("f32", "i8", "u8", "i16", "i32", "i64", "u32"),
         "UNPACK": ("f32", "f16", "bf16", "i8", "u8", "i16", "i32", "bool"),
         "SPLIT": ("f32", "i8", "u8", "i16", "i32", "i64"),
         "SPLIT_V": ("f32", "i8", "u8", "i16", "i32", "i64")}


def join(op, type="f32", xs=((2, 3), (2, 1)), axis=1, act=0, version=1, quant=None, quants=None,
         qo=None, const=(), other_type=None, out_type=None, count=None, options=True, resize=None,
         seed=1, **case):
    m = Model(seed)
    inputs = []
    for number, x in enumerate(xs):
        make = m.const if number in const else m.input
        kind = other_type if other_type and number else type
        more = dict(resize=resize) if resize and make == m.input else {}
        inputs.append(make(kind, x, quants[number] if quants else quant, **more))
    out = out_shape(m, out_type or type, xs[0], qo or quant)
    table = (dict(ConcatenationOptions=dict(axis=axis, fusedActivationFunction=act))
             if op == "CONCATENATION" else
             dict(PackOptions=dict(axis=axis, valuesCount=len(xs) if count is None else count)))
    m.op(op, inputs, [out], version, **(table if options else {}))
    return m.case(type=type, **case)


def apart(op, type="f32", x=(2, 4), axis=1, parts=2, sizes=None, how="const", version=1,
          quant=None, qo=None, index="i32", outputs=None, out_type=None, axis_dims=(), options=True,
          resize=None, seed=1, count=None, **case):
    m = Model(seed)
    source = m.input(type, x, quant, resize=resize)
    parts = len(sizes) if sizes is not None and count is None else (count or parts)
    if op == "UNPACK":
        inputs, table = [source], dict(UnpackOptions=dict(num=parts, axis=axis))
    else:
        place = indices(m, "i32", np.full(axis_dims, axis), how, axis_dims)
        if op == "SPLIT":
            inputs, table = [place, source], dict(SplitOptions=dict(numSplits=parts))
        else:
            inputs = [source, indices(m, index, sizes, how), place]
            table = dict(SplitVOptions=dict(numSplits=parts))
    made = max(parts, 0) if outputs is None else outputs
    outs = [out_shape(m, out_type or type, x, qo or quant) for _ in range(made)]
    m.op(op, inputs, outs, version, **(table if options else {}))
    return m.case(type=type, **case)


def cases(op):
    if op in ("CONCATENATION", "PACK"):
        yield from _join_cases(op)
    else:
        yield from _apart_cases(op)


def _join_cases(op):
    def build(type, **arguments):
        return join(op, type, **arguments)

    concat = op == "CONCATENATION"
    plain = dict(xs=((2, 3), (2, 1), (2, 4)) if concat else ((2, 3),) * 3)
    odd = dict(xs=((2, 1, 3), (2, 4, 3)) if concat else ((2, 1, 3),) * 2, axis=-2)
    small = [dict(xs=((1,), (1,)) if concat else ((),), axis=0), dict(xs=((0, 3), (0, 3)), axis=0)]
    yield from movement.claims(build, range(1, VERSIONS[op] + 1), TYPES[op], plain, odd, small)
    yield from movement.refused(build, TYPES[op], plain)
    forms = ([(((3,),), 0), (((3,), (2,)), -1), (((2, 3), (4, 3)), 0), (((2, 3), (0, 3)), 0),
              (((1, 2, 3, 4), (1, 2, 3, 2)), 3), (((1, 2, 3, 4), (1, 5, 3, 4)), 1),
              (((2, 1, 2, 1, 2),) * 3, 2), (((1, 2, 1, 2, 1, 2),) * 2, 5),
              (((1, 2, 1, 2, 1, 2, 1),) * 2, 6), (((1, 2, 1, 2, 1, 2, 1, 2),) * 2, 7),
              (((2, 0), (2, 3), (2, 0)), 1), (((0, 2), (0, 5)), 1), (((1, 1),) * 20, 1),
              (((7, 3), (7, 9), (7, 1)), 1)] if concat else
             [(((),), 0), (((),) * 4, -1), (((3,),) * 2, 1), (((3,),) * 2, -2), (((2, 3, 4),) * 3, 3),
              (((2, 3, 4),) * 3, 2), (((2, 0),) * 2, 1), (((2, 1, 3, 2),) * 2, 4),
              (((2, 1, 2, 1, 2),) * 2, 0), (((1,) * 7,) * 2, 3), (((5, 3),), 1)])
    for number, (xs, axis) in enumerate(forms):
        yield build("f32", xs=xs, axis=axis, name=f"forms_{number}")
        yield build("i8", xs=xs, axis=axis, quant=q(0.1, -3), name=f"i8_forms_{number}")
    bad = [(((2, 3), (2, 3)), 2 if concat else 3), (((2, 3), (2, 3)), -3 if concat else -4),
           (((2, 3), (3, 3)), 1), (((2, 3), (2, 3, 1)), 1), (((2, 3), (2,)), 1),
           (((2, 3), (2, 3)), 2**31 - 1), (((2, 3), (2, 3)), -2**31)]
    for number, (xs, axis) in enumerate(bad):
        yield build("f32", xs=xs, axis=axis, name=f"refused_{number}",
                    undefined="an axis that overflows" if abs(axis) > 9 else "")
    yield build("f32", xs=((2, 3), (2, 3)), other_type="i32", name="refused_mixed_types")
    yield build("f32", **plain, out_type="i32", name="output_type", undefined=(
        "the output's type in the file is not the inputs'"))
    yield build("f32", **plain, options=False, name="no_options")
    yield build("f32", xs=((2, 3),) * 3, const=(1,), name="constant_part")
    yield build("f32", xs=((1, 3),) * 2, resize=(4, 3), name="resized")
    if concat:
        yield build("f32", xs=((), ()), axis=0, name="refused_scalars")
        yield build("f32", **plain, act=RELU, name="refused_activation")
        yield from _rescaled()
    else:
        yield build("f32", **plain, count=2, name="refused_count_2")
        yield build("f32", **plain, count=0, name="refused_count_0")
        yield build("f32", **plain, count=-1, name="refused_count_negative")
    yield build("i8", xs=((60, 40, 33),) * 2, quant=q(0.1, 2), exact=True, name="exact_i8")
    for type, zero in (("i8", -3), ("u8", 120), ("i16", 0)):
        yield build(type, **plain, quants=[q(0.1, zero)] * 2 + [q(0.2, zero)], qo=q(0.1, zero),
                    name=f"{type}_other_scale")
        yield build(type, **plain, quants=[q(0.1, zero)] * 2 + [q(0.1, zero + 1)], qo=q(0.1, zero),
                    name=f"{type}_other_zero_point")
        yield build(type, **plain, quants=[q(0.1, zero)] * 3, qo=q(0.3, zero + 5),
                    name=f"{type}_other_output")
    yield build("i8", **plain, name="i8_without_quantisation")


def _rescaled():
    """uint8 parts may have different scales."""
    for number, scales in enumerate((((0.1, 3), (0.2, 250)), ((1.0, 0), (0.004, 128)),
                                     ((0.02, 128), (0.02, 128)))):
        yield join("CONCATENATION", "u8", xs=((3, 40), (3, 50)), quants=[q(*s) for s in scales],
                   qo=q(0.05, 100), name=f"u8_rescaled_{number}", tags=ZERO_POINT)
    yield join("CONCATENATION", "u8", xs=((256,), (256,)), axis=0, quants=[q(0.5, 7), q(0.25, 9)],
               qo=q(0.5, 8), name="u8_rescaled_ties")


APART_FORMS = {
    "UNPACK": [((3,), 0, 3), ((3, 2), -1, 2), ((2, 3, 4), 1, 3), ((1, 5), 0, 1), ((2, 1, 3, 2), 2, 3),
               ((2, 1, 2, 1, 2), 4, 2), ((1, 1, 1, 1, 1, 1, 2), 6, 2), ((1,) * 8, 3, 1)],
    "SPLIT": [((4,), 0, 2), ((4, 6), -1, 3), ((4, 6), 0, 4), ((2, 3, 4), 2, 4), ((1, 2, 2, 8), 3, 2),
              ((2, 0), 0, 2), ((2, 0), 1, 3), ((2, 1, 2, 1, 2), 2, 2), ((1,) * 7, 3, 1),
              ((1, 1, 1, 1, 1, 1, 1, 4), 7, 2), ((5, 2), 1, 1)],
    "SPLIT_V": [((4,), 0, (1, 3)), ((4, 6), -1, (2, -1, 1)), ((4, 6), 0, (0, 4)),
                ((2, 3, 4), 2, (-1, 4)), ((2, 3, 4), 2, (-1,)), ((1, 2, 2, 8), 3, (3, 5)),
                ((0, 2), 0, (0, 0)), ((0, 2), 1, (1, 1)), ((2, 1, 3, 1, 2), 2, (1, 2)),
                ((1,) * 8, 3, (1,)), ((7, 3), 0, (1, 2, 4))],
}
APART_BAD = {
    "UNPACK": [((2, 3), 2, 2), ((2, 3), -3, 2), ((2, 3), 0, 3), ((2, 3), 1, 2), ((), 0, 1),
               ((0, 3), 0, 0), ((2, 0), 0, 2), ((2, 3), 0, -1)],
    "SPLIT": [((2, 3), 2, 2), ((2, 3), -3, 2), ((2, 3), 1, 2), ((2, 3), 0, 0), ((2, 3), 0, -2),
              ((), 0, 1)],
    "SPLIT_V": [((2, 3), 2, (1, 2)), ((2, 3), -3, (1, 1)), ((2, 3), 1, (1, 1)), ((2, 3), 1, (2, 2)),
                ((2, 3), 1, (-1, -1)), ((2, 3), 1, (-2, 5)), ((2, 3), 1, (4, -1)), ((), 0, (1,)),
                ((2, 3), 1, (2**31 - 1, 2**31 - 1))],
}


def _apart_cases(op):
    def build(type, x, axis, parts, **arguments):
        split = dict(sizes=parts) if op == "SPLIT_V" else dict(parts=parts)
        return apart(op, type, x, axis, **split, **arguments)

    v = op == "SPLIT_V"
    plain = dict(x=(3, 4), axis=1 if op != "UNPACK" else 0,
                 parts={"SPLIT": 2, "UNPACK": 3}.get(op, (1, 3)))
    odd = dict(x=(2, 6, 3), axis=-2, parts={"SPLIT": 3, "UNPACK": 6}.get(op, (1, -1, 2)))
    small = [dict(x=(1,), axis=0, parts=(1,) if v else 1)]
    if op != "UNPACK":
        small.append(dict(x=(0, 2), axis=1, parts=(1, 1) if v else 2))
    yield from movement.claims(build, range(1, VERSIONS[op] + 1), TYPES[op], plain, odd, small)
    yield from movement.refused(build, TYPES[op], plain)
    for how in ("const", "input") if op != "UNPACK" else ("const",):
        for number, (x, axis, parts) in enumerate(APART_FORMS[op]):
            yield build("f32", x, axis, parts, how=how, name=f"forms_{how}_{number}")
        for number, (x, axis, parts) in enumerate(APART_BAD[op]):
            yield build("f32", x, axis, parts, how=how, name=f"refused_{how}_{number}")
        yield build("i8", **odd, how=how, quant=q(0.1, -7), name=f"i8_{how}")
    yield build("f32", **plain, out_type="i32", name="output_type", undefined=(
        "the output's type in the file is not the input's"))
    yield build("f32", **plain, outputs=1, name="refused_outputs")
    yield build("f32", **plain, options=False, name="refused_no_options")
    yield build("i8", **plain, quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield build("u8", **plain, quant=q(0.1, 1), qo=q(0.2, 2), name="u8_other_output_scale")
    if op != "UNPACK":
        yield build("f32", **plain, axis_dims=(1,), name="axis_vector")
        yield build("f32", **plain, axis_dims=(2,), name="refused_axis_2", lenient=True)
        yield build("f32", (1, 4), 1, (1, 3) if v else 2, resize=(5, 4), name="resized")
    if v:
        yield build("f32", **odd, index="i64", name="index_i64")
        yield build("f32", **odd, index="i64", how="input", name="index_i64_input")
        yield build("f32", **odd, index="f32", name="refused_index_f32")
        yield build("f32", **odd, count=2, outputs=2, name="refused_sizes")
    yield build("i8", (60, 40, 33) if op != "UNPACK" else (60, 2, 33),
                1, {"SPLIT": 4, "UNPACK": 2}.get(op, (7, -1, 9)), quant=q(0.1, 2), exact=True,
                name="exact_i8")


def draw(op, random):
    def number(low, high):
        return int(random.integers(low, high))

    type, seed = str(random.choice(TYPES[op])), number(1, 2**30)
    x = [number(1, 6) for _ in range(number(1, 5))]
    axis = number(0, len(x))
    more = dict(quant=quant_of(type), seed=seed, name=f"draw_{type}_{x}_{axis}")
    signed = axis - len(x) if random.random() < 0.3 else axis
    if op == "PACK":
        return join(op, type, (tuple(x),) * number(1, 5), signed, **more)
    if op == "CONCATENATION":
        xs = []
        for _ in range(number(1, 5)):
            x[axis] = number(0, 6)
            xs.append(tuple(x))
        quants = None
        if type == "u8" and random.random() < 0.5:
            quants = [q(float(10 ** random.uniform(-2, 0)), number(0, 256)) for _ in xs]
        return join(op, type, xs, signed, quants=quants, **more)
    how = str(random.choice(["const", "input"]))
    if op == "UNPACK":
        return apart(op, type, tuple(x), signed, x[axis], **more)
    if op == "SPLIT":
        parts = number(1, 4)
        x[axis] *= parts
        return apart(op, type, tuple(x), signed, parts, how=how, **more)
    sizes = [number(0, 4) for _ in range(number(1, 4))]
    x[axis] = sum(sizes)
    if random.random() < 0.4:
        sizes[number(0, len(sizes))] = -1
    return apart(op, type, tuple(x), signed, sizes=sizes, how=how, **more)
