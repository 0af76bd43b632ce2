# SPDX-License-Identifier: Apache-2.0
"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""
import numpy as np

from .. import movement
from ..model import ELEMENT, EQUAL, Model, q
from ..movement import indices, quant_of

OPERATORS = ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"]
VERSIONS = {"RESIZE_BILINEAR": 4, "RESIZE_NEAREST_NEIGHBOR": 4}
TYPES = {"RESIZE_BILINEAR": ("f32", "i8", "u8", "i16"),
         "RESIZE_NEAREST_NEIGHBOR": ("f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32",
                                     "bool")}
TABLE = {"RESIZE_BILINEAR": "ResizeBilinearOptions",
         "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions"}


def resize(op, type="f32", x=(1, 3, 4, 2), to=(5, 7), align=False, half=False, how="const",
           index="i32", version=1, quant=None, qo=None, options=True, dims=None, resize=None,
           out_type=None, seed=1, **case):
    m = Model(seed)
    inputs = [m.input(type, x, quant, resize=resize), indices(m, index, to, how, dims)]
    nearest = op == "RESIZE_NEAREST_NEIGHBOR"
    if type == "i16" and quant is None and not nearest:
        quant = q(0.05, 0)
    out = m.output(out_type or type, x, qo or quant, rule=EQUAL if nearest else ELEMENT)
    table = {TABLE[op]: dict(alignCorners=align, halfPixelCenters=half)} if options else {}
    m.op(op, inputs, [out], version, **table)
    if not nearest and type == "f32":
        case["factor"] = 4.0
    return m.case(type=type, **case)


def cases(op):
    def build(type, **arguments):
        return resize(op, type, **arguments)

    types = TYPES[op]
    yield from movement.claims(build, range(1, 5), types, {}, dict(x=(2, 5, 1, 3), to=(3, 4)),
                               [dict(x=(1, 1, 1, 1), to=(1, 1)), dict(x=(0, 2, 2, 1), to=(3, 3))])
    yield from movement.refused(build, types, {})
    shapes = [((1, 2, 2, 1), (4, 4)), ((1, 4, 4, 1), (2, 2)), ((2, 3, 5, 4), (3, 5)),
              ((1, 1, 1, 3), (3, 2)), ((1, 7, 5, 2), (3, 9)), ((1, 5, 5, 1), (1, 1)),
              ((1, 2, 3, 17), (5, 5)), ((1, 6, 9, 3), (1, 4)), ((2, 2, 2, 8), (4, 4)),
              ((1, 3, 3, 0), (2, 2))]
    for type in ("f32", "i8", "u8", "i16"):
        quant = quant_of(type)
        for align, half in ((False, False), (True, False), (False, True)):
            for number, (x, to) in enumerate(shapes):
                yield build(type, x=x, to=to, align=align, half=half, quant=quant,
                            name=f"{type}_{int(align)}{int(half)}_{number}")
        yield build(type, how="input", quant=quant, name=f"{type}_input")
    yield build("f32", x=(1, 0, 2, 1), to=(3, 3), name="no_rows", undefined="reads where nothing is")
    yield build("f32", align=True, half=True, name="both_options")
    yield build("f32", options=False, name="no_options")
    for how in ("const", "input"):
        for number, to in enumerate(((0, 3), (3, 0), (-1, 3), (3, -2**31))):
            yield build("f32", to=to, how=how, name=f"refused_{how}_{number}")
        yield build("f32", to=(2**31 - 1, 2**31 - 1), how=how, name=f"overflow_{how}",
                    undefined="a size that overflows")
        yield build("f32", to=(3,), how=how, name=f"refused_{how}_size_1")
        yield build("f32", to=(3, 3, 3), how=how, name=f"refused_{how}_size_3")
        yield build("f32", to=(3, 3), dims=(1, 2), how=how, name=f"refused_{how}_size_rank_2")
        yield build("f32", index="i64", how=how, name=f"refused_{how}_index_i64")
    yield build("f32", x=(3, 4, 2), name="refused_rank_3")
    yield build("f32", x=(1, 1, 3, 4, 2), name="refused_rank_5")
    yield build("f32", out_type="i32", name="output_type", undefined=(
        "the output's type in the file is not the input's"))
    yield build("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale", lenient=True)
    yield build("f32", resize=(2, 6, 3, 1), name="resized")
    for align, half in ((False, False), (True, False), (False, True)):
        yield build("i8", x=(1, 33, 47, 8), to=(90, 100), align=align, half=half, quant=q(0.1, 2),
                    exact=True, name=f"exact_i8_{int(align)}{int(half)}")


def draw(op, random):
    def number(low, high):
        return int(random.integers(low, high))

    type = str(random.choice(TYPES[op]))
    x = (number(1, 3), number(1, 9), number(1, 9), number(1, 5))
    align, half = [(False, False), (True, False), (False, True)][number(0, 3)]
    to = (number(1, 14), number(1, 14))
    return resize(op, type, x, to, align, half, str(random.choice(["const", "input"])),
                  quant=quant_of(type), seed=number(1, 2**30),
                  name=f"draw_{type}_{x}_{to}_{int(align)}{int(half)}")
