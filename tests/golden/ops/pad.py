# SPDX-License-Identifier: Apache-2.0
"""PAD, PADV2 and MIRROR_PAD."""
import numpy as np

from .. import movement
from ..model import Model, q
from ..movement import MOVED_NUMBERS, indices, out_shape, quant_of

OPERATORS = ["PAD", "PADV2", "MIRROR_PAD"]
VERSIONS = {"PAD": 6, "PADV2": 6, "MIRROR_PAD": 3}
PADDED = ("f32", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool")
TYPES = {"PAD": PADDED, "PADV2": PADDED, "MIRROR_PAD": MOVED_NUMBERS}


def pad(op, type="f32", x=(2, 3), margins=((1, 0), (0, 2)), how="const", index="i32", version=1,
        quant=None, qv=None, qo=None, mode=0, options=True, value=None, value_dims=(1,),
        value_type=None, out_type=None, dims=None, resize=None, const_x=False, seed=1, **case):
    m = Model(seed)
    inputs = [m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize),
              indices(m, index, np.asarray(margins).reshape(-1, 2) if dims is None else margins,
                      how, dims)]
    if op == "PADV2":
        data = None if value is None else np.full(value_dims, value)
        make = m.const if how == "const" else m.input
        inputs.append(make(value_type or type, value_dims, qv or quant, data=data))
    out = out_shape(m, out_type or type, x, qo or quant)
    table = dict(MirrorPadOptions=dict(mode=mode)) if op == "MIRROR_PAD" and options else {}
    m.op(op, inputs, [out], version, **table)
    return m.case(type=type, **case)


FORMS = [((5,), ((1, 2),)), ((5,), ((0, 0),)), ((3, 4), ((0, 0), (1, 1))), ((3, 4), ((2, 1), (0, 0))),
         ((2, 3, 4), ((1, 1), (0, 2), (2, 0))), ((1, 4, 5, 3), ((0, 0), (1, 2), (2, 1), (0, 0))),
         ((1, 4, 5, 3), ((0, 0), (3, 1), (1, 1), (1, 2))), ((2, 2, 3, 2, 2), ((1, 0),) * 5),
         ((2, 2, 2, 2, 2, 2), ((0, 1),) * 6), ((2,) * 7, ((1, 0),) * 7), ((2,) * 8, ((0, 1),) * 8),
         ((), ()), ((1, 1), ((3, 0), (0, 4))), ((0, 3), ((0, 0), (1, 1))), ((0, 3), ((1, 1), (0, 0)))]
BAD = [((2, 3), ((1, 0),)), ((2, 3), ((1, 0),) * 3), ((2, 3), ((-1, 0), (0, 0))),
       ((2, 3), ((0, 0), (0, -1))), ((2, 3), ((-2**31, 0), (0, 0)))]


def cases(op):
    def build(type, **arguments):
        return pad(op, type, **arguments)

    mirror = op == "MIRROR_PAD"
    odd = dict(x=(3, 1, 4), margins=((1, 2), (0, 0), (2, 3)))
    small = [dict(x=(1,), margins=((0, 0),)), dict(x=(0, 3), margins=((0, 0), (1, 1)), mode=1)]
    yield from movement.claims(build, range(1, VERSIONS[op] + 1), TYPES[op],
                               dict(x=(3, 4), margins=((1, 0), (0, 2))), odd, small)
    yield from movement.refused(build, TYPES[op], {})
    for how in ("const", "input"):
        for mode in (0, 1) if mirror else (0,):
            for number, (x, margins) in enumerate(FORMS):
                yield build("f32", x=x, margins=margins, how=how, mode=mode,
                            name=f"forms_{how}_{mode}_{number}")
        for number, (x, margins) in enumerate(BAD):
            yield build("f32", x=x, margins=margins, how=how, name=f"refused_{how}_{number}")
        for index in ("i64", "i16", "i8", "f32"):
            yield build("f32", **odd, how=how, index=index, name=f"index_{index}_{how}")
        yield build("f32", margins=((2**31 - 1, 2**31 - 1), (0, 0)), how=how,
                    undefined="a size that overflows", name=f"overflow_{how}")
        yield build("i8", **odd, how=how, quant=q(0.1, -7), name=f"i8_{how}")
    yield build("i16", **odd, quant=q(0.1, 0), name="i16_zero")
    yield build("i16", **odd, name="i16_plain")
    yield build("i8", **odd, name="i8_plain")
    yield build("u8", **odd, name="u8_plain")
    yield build("f32", margins=(1, 2, 3, 4), dims=(4,), name="refused_margins_rank_1")
    yield build("f32", margins=((1, 2, 3), (3, 4, 5)), dims=(2, 3), name="refused_margins_3")
    yield build("f32", **odd, out_type="i32", name="output_type",
                undefined="the output's type in the file is not the input's")
    yield build("i8", **odd, quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield build("u8", **odd, quant=q(0.1, 1), qo=q(0.1, 200), name="u8_other_output_zero")
    yield build("f32", x=(1, 3), margins=((0, 0), (2, 1)), resize=(4, 3), name="resized")
    yield build("f32", const_x=True, name="constant")
    yield build("i8", x=(60, 40, 33), margins=((2, 1), (3, 4), (5, 6)), quant=q(0.1, 2), exact=True,
                name="exact_i8")
    if mirror:
        yield from _mirrored(build)
    elif op == "PADV2":
        yield from _valued(build)


def _mirrored(build):
    for mode, most in ((0, 2), (1, 3)):
        yield build("f32", x=(3, 3), margins=((most, most),) * 2, mode=mode, name=f"most_{mode}")
        for number, margins in enumerate((((most + 1, 0), (0, 0)), ((0, 0), (0, most + 1)))):
            for how in ("const", "input"):
                yield build("f32", x=(3, 3), margins=margins, mode=mode, how=how,
                            name=f"refused_{how}_too_much_{mode}_{number}")
    yield build("f32", options=False, name="no_options")
    yield build("f32", mode=7, name="refused_mode_7", lenient=True)
    yield build("f32", x=(1, 20, 30), margins=((0, 0), (19, 10), (29, 7)), name="wide")


def _valued(build):
    yield build("f32", value=-1.5, name="value")
    yield build("f32", value=np.nan, name="value_nan")
    yield build("i8", value=100, quant=q(0.1, 3), name="i8_value")
    yield build("i8", value=100, quant=q(0.1, 3), qv=q(0.2, 3), name="i8_value_scale")
    yield build("i8", value=100, quant=q(0.1, 3), qv=q(0.1, 4), name="i8_value_zero")
    yield build("u8", value=100, quant=q(0.1, 3), qv=q(0.1, 4), name="u8_value_zero")
    yield build("i16", value=100, quant=q(0.1, 0), qv=q(0.2, 0), name="i16_value_scale")
    yield build("f32", value_dims=(), name="value_scalar")
    yield build("f32", value_dims=(1, 1), name="value_rank_2")
    yield build("f32", value_dims=(2,), name="refused_value_2")
    yield build("f32", value_dims=(0,), name="refused_value_none", lenient=True)
    yield build("f32", value_type="i32", name="refused_value_type")


def draw(op, random):
    def number(low, high):
        return int(random.integers(low, high))

    type = str(random.choice(TYPES[op]))
    x = tuple(number(2, 6) for _ in range(number(1, 6)))
    most = 2 if op == "MIRROR_PAD" else 4
    margins = [(number(0, most), number(0, most)) for _ in x]
    return pad(op, type, x, margins, str(random.choice(["const", "input"])), mode=number(0, 2),
               index=str(random.choice(["i32", "i64"])), quant=quant_of(type),
               seed=number(1, 2**30), name=f"draw_{type}_{x}_{margins}")
