# SPDX-License-Identifier: Apache-2.0
"""SLICE, STRIDED_SLICE with all its masks, and DYNAMIC_UPDATE_SLICE."""
import numpy as np

from .. import movement
from ..model import Model, q
from ..movement import MOVED, MOVED_NUMBERS, indices, out_shape, quant_of

OPERATORS = ["SLICE", "STRIDED_SLICE", "DYNAMIC_UPDATE_SLICE"]
VERSIONS = {"SLICE": 8, "STRIDED_SLICE": 8, "DYNAMIC_UPDATE_SLICE": 6}
MASKS = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")


def cut(type="f32", x=(4, 5), begin=(1, 2), size=(2, 2), how="const", index="i32", size_index=None,
        version=1, quant=None, qo=None, out_type=None, resize=None, const_x=False, seed=1, **case):
    m = Model(seed)
    source = m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)
    inputs = [source, indices(m, index, begin, how), indices(m, size_index or index, size, how)]
    # Unlike other kernels, this one compares the output's shape in the file with its own.
    shape = ([n - b if s == -1 else s for n, b, s in zip(x, begin, size)]
             if np.shape(begin) == (len(x),) else x)
    m.op("SLICE", inputs, [out_shape(m, out_type or type, shape, qo or quant)], version)
    return m.case(type=type, **case)


def stride(type="f32", x=(4, 5), begin=(1, 2), end=(3, 5), strides=None, masks=(), offset=False,
           how="const", index="i32", version=1, quant=None, qo=None, out_type=None, resize=None,
           options=True, const_x=False, seed=1, **case):
    m = Model(seed)
    source = m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)
    strides = [1] * len(begin) if strides is None else strides
    inputs = [source] + [indices(m, index, v, how) for v in (begin, end, strides)]
    table = dict(zip(MASKS, masks), offset=offset)
    m.op("STRIDED_SLICE", inputs, [out_shape(m, out_type or type, x, qo or quant)], version,
         **(dict(StridedSliceOptions=table) if options else {}))
    return m.case(type=type, **case)


def update(type="f32", x=(4, 5), part=(2, 2), at=(1, 2), how="input", index="i32", version=1,
           quant=None, other_type=None, const_x=False, resize=None, out_type=None, seed=1, **case):
    m = Model(seed)
    source = m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)
    inputs = [source, m.input(other_type or type, part, quant), indices(m, index, at, how)]
    m.op("DYNAMIC_UPDATE_SLICE", inputs, [out_shape(m, out_type or type, x, quant)], version)
    return m.case(type=type, **case)


def cases(op):
    yield from {"SLICE": _slices, "STRIDED_SLICE": _strides}.get(op, _updates)()


def _slices():
    yield from movement.claims(
        cut, range(1, 9), (*MOVED, "i4"), {}, dict(x=(3, 1, 7), begin=(1, 0, 2), size=(-1, 1, 3)),
        [dict(x=(1,), begin=(0,), size=(1,)), dict(x=(0, 3), begin=(0, 1), size=(0, 2)),
         dict(x=(2, 3), begin=(2, 0), size=(0, 3))])
    forms = [((), (), ()), ((5,), (2,), (3,)), ((5,), (0,), (-1,)), ((5,), (5,), (-1,)),
             ((5,), (5,), (0,)), ((3, 4), (0, 0), (3, 4)), ((3, 4), (1, 0), (1, -1)),
             ((2, 3, 4), (1, 1, 1), (1, 2, 3)), ((1, 4, 5, 3), (0, 1, 2, 0), (1, 2, -1, 2)),
             ((2, 3, 2, 3, 2), (1, 0, 1, 1, 0), (1, 3, 1, 2, 2)), ((2, 1) * 3, (1, 0) * 3, (1, 1) * 3),
             ((1,) * 8, (0,) * 8, (1,) * 8), ((2, 3), (1, 1), (0, 2))]
    bad = [((4, 5), (5, 0), (0, 1)), ((4, 5), (-1, 0), (1, 1)), ((4, 5), (3, 0), (2, 1)),
           ((4, 5), (0, 0), (5, 1)), ((4, 5), (0, 0), (-2, 1)), ((4, 5), (0,), (1,)),
           ((4, 5), (0, 0, 0), (1, 1, 1)), ((4, 5), (5, 0), (-1, 1)),
           ((4, 5), (2**31 - 1, 0), (1, 1)), ((4, 5), (1, 1), (2**31 - 1, 1)),
           ((4, 5), (-2**31, 0), (-1, -1))]
    for how in ("const", "input"):
        for index in ("i32", "i64"):
            for number, (x, begin, size) in enumerate(forms):
                yield cut(x=x, begin=begin, size=size, how=how, index=index,
                          name=f"forms_{how}_{index}_{number}")
            for number, (x, begin, size) in enumerate(bad):
                yield cut(x=x, begin=begin, size=size, how=how, index=index,
                          name=f"refused_{how}_{index}_{number}")
        yield cut("str", how=how, name=f"str_{how}")
        yield cut("i8", how=how, quant=q(0.1, 5), name=f"i8_{how}")
    yield cut(index="i64", size_index="i32", name="mixed_indices", lenient=True)
    yield cut(index="f32", name="refused_index_f32")
    yield cut(begin=((1, 2),), size=((2, 2),), name="refused_index_rank_2")
    yield cut(out_type="i32", name="output_type",
              undefined="the output's type in the file is not the input's")
    yield cut("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield cut(x=(1, 5), begin=(0, 1), size=(-1, 2), resize=(4, 5), name="resized",
              undefined="refused because the shape in the file is another")
    yield cut(const_x=True, name="constant")
    yield cut("i8", x=(60, 50, 33), begin=(3, 7, 5), size=(50, -1, 20), quant=q(0.1, 2),
              exact=True, name="exact_i8")


STRIDED = [  # x, begin, end, strides, masks (begin, end, ellipsis, new axis, shrink)
    ((5,), (1,), (4,), (1,), ()), ((5,), (0,), (5,), (2,), ()), ((5,), (4,), (0,), (-1,), ()),
    ((5,), (-1,), (-6,), (-2,), ()), ((5,), (-3,), (9,), (1,), ()), ((5,), (9,), (-9,), (-1,), ()),
    ((5,), (3,), (1,), (1,), ()), ((5,), (1,), (3,), (-1,), ()), ((5,), (0,), (0,), (1,), (1, 1)),
    ((5,), (0,), (0,), (-1,), (1, 1)), ((5,), (0,), (0,), (-3,), (1, 1)), ((5,), (2,), (9,), (3,), ()),
    ((4, 5), (1, 2), (3, 5), (1, 2), ()), ((4, 5), (0, 1), (4, 2), (1, 1), (0, 0, 0, 0, 2)),
    ((4, 5), (1, 0), (2, 5), (1, 1), (0, 0, 0, 0, 1)), ((4, 5), (1, 2), (2, 3), (1, 1), (0, 0, 0, 0, 3)),
    ((4, 5), (-1, 2), (0, 3), (1, 1), (0, 0, 0, 0, 1)), ((4, 5), (1,), (3,), (1,), ()),
    ((4, 5), (0, 0), (4, 5), (1, 1), (0, 0, 0, 1)), ((4, 5), (1, 0), (3, 0), (1, 1), (0, 0, 0, 2)),
    ((2, 3, 4), (0, 1), (0, 3), (1, 1), (0, 0, 1)), ((2, 3, 4), (1, 0), (2, 0), (1, 1), (0, 0, 2)),
    ((2, 3, 4), (1, 0, 1), (2, 0, 3), (1, 1, 1), (0, 0, 2)),
    ((2, 3, 4), (1, 0, 1), (2, 0, 3), (1, 1, 1), (0, 0, 2, 0, 5)),
    ((2, 3, 4), (0, 0, 1), (0, 0, 3), (1, 1, 1), (0, 0, 1, 2)),
    ((2, 3, 4), (0, 0, 1, 0), (0, 0, 3, 9), (1, 1, 1, 1), (0, 0, 1, 2)),
    ((2, 3, 4), (0, 0, 0), (2, 3, 4), (1, 2, -1), (4, 4)), ((2, 3, 4), (1, 2, 3), (0, 0, 0), (-1,) * 3, ()),
    ((1, 4, 6, 3), (0, 1, 0, 0), (1, 4, 6, 3), (1, 2, 3, 1), ()),
    ((1, 4, 6, 3), (0, 0, 0, 0), (0, 0, 0, 2), (1, 2, 2, 1), (7, 7)),
    ((2, 3, 2, 3, 2), (0, 1, 0, 2, 0), (2, 3, 2, 0, 2), (1, 1, 1, -1, 1), (0, 0, 0, 0, 4)),
    ((2, 3), (0, 0, 0), (2, 3, 1), (1, 1, 1), (0, 0, 0, 4)), ((0, 3), (0, 0), (0, 3), (1, 2), ()),
    ((3, 0), (0, 0), (2, 0), (1, 1), (0, 2)), ((4, 5), (2, 0), (2, 5), (1, 1), ()),
    ((4, 5), (3, 1), (1, 4), (1, 1), (1,)), ((4, 5), (2, 1), (0, 0), (1, 1), (0, 3)),
    ((4, 5), (2, 1), (0, 3), (1, 1), (1, 1, 0, 0, 1)), ((4, 5), (0, 0), (0, 3), (1, 1), (0, 0, 0, 1, 1)),
    ((4, 5), (0, 0, 1), (4, 9, 5), (1, 1, 2), (0, 0, 0, 2, 2)),
    ((2, 3, 4), (0, 0), (0, 0), (1, 1), (0, 0, 3)), ((4,), (1,), (2,), (-1,), (0, 0, 0, 0, 1)),
    ((4,), (1,), (2,), (3,), (0, 0, 0, 0, 1)), ((), (), (), (), ()),
    ((5,), (-6,), (0,), (1,), (0, 0, 0, 0, 1)),
    ((2, 3, 2, 3, 2, 1), (0, 1, 0, 2, 0, 0), (2,) * 6, (1, 1, 1, 1, -1, 1), ()),
    ((2,) * 5, (0,), (0,), (1,), (0, 0, 0, 1)), ((2, 1, 2, 1, 2, 1, 2), (1, 0), (2, 1), (1, 1), ()),
    ((2, 1) * 4, (1, 0) * 4, (2, 1) * 4, (1,) * 8, (0, 0, 0, 0, 3)),
    ((2, 1) * 3, (1, 0, 0), (2, 1, 0), (1, 1, 1), (0, 0, 4, 3))]
STRIDED_BAD = [
    ((5,), (0,), (5,), (0,), ()), ((5,), (5,), (6,), (1,), (0, 0, 0, 0, 1)),
    ((5,), (-6,), (0,), (0,), (0, 0, 0, 0, 1)),
    ((0, 3), (0, 0), (1, 1), (1, 1), (0, 0, 0, 0, 1)), ((2, 3), (0, 0), (2, 3), (1, 0), (3, 3))]
STRIDED_HOSTILE = [
    ((5,), (-2**31,), (2**31 - 1,), (1,), ()), ((5,), (2**31 - 1,), (-2**31,), (-1,), ()),
    ((5,), (0,), (5,), (2**31 - 1,), ()), ((5,), (4,), (0,), (-2**31,), ()),
    ((5,), (2**31 - 1,), (0,), (1,), (0, 0, 0, 0, 1)), ((5,), (0, 0), (1, 1), (1, 1), ()),
    ((5,), (-6,), (0,), (-1,), (0, 0, 0, 0, 1))]


def _strides():
    odd = dict(x=(3, 1, 7), begin=(-1, 0, 6), end=(0, 1, 1), strides=(-1, 1, -2), masks=(0, 1))
    yield from movement.claims(
        stride, range(1, 9), MOVED, {}, odd,
        [dict(x=(1,), begin=(0,), end=(1,)), dict(x=(0, 3), begin=(0, 1), end=(0, 3))])
    for how in ("const", "input"):
        for number, (x, begin, end, steps, masks) in enumerate(STRIDED):
            yield stride(x=x, begin=begin, end=end, strides=steps, masks=masks, how=how,
                         name=f"forms_{how}_{number}")
        for number, (x, begin, end, steps, masks) in enumerate(STRIDED_BAD):
            yield stride(x=x, begin=begin, end=end, strides=steps, masks=masks, how=how,
                         name=f"refused_{how}_{number}")
        for number, (x, begin, end, steps, masks) in enumerate(STRIDED_HOSTILE):
            yield stride(x=x, begin=begin, end=end, strides=steps, masks=masks, how=how,
                         undefined="entries that overflow, or read outside", name=f"hostile_{how}_{number}")
        for number, (begin, end) in enumerate((((1, 2), (2, 3)), ((0, 1), (4, 9)), ((-3, -2), (2, 2)))):
            yield stride(begin=begin, end=end, offset=True, how=how, version=8,
                         undefined="a run-time end is not clamped" if number == 1 else "",
                         name=f"offset_{how}_{number}")
        yield stride("str", **odd, how=how, name=f"str_{how}")
        yield stride("i8", **odd, how=how, quant=q(0.1, 5), name=f"i8_{how}")
        yield stride(index="i64", how=how, name=f"index_i64_{how}")
    yield stride(index="f32", name="refused_index_f32")
    yield stride(strides=(1,), name="refused_short_strides",
                 undefined="reads past the end of the vector")
    yield stride(end=(3,), name="refused_short_end", undefined="reads past the end of the vector")
    yield stride(options=False, name="no_options")
    yield stride(out_type="i32", name="output_type",
                 undefined="the output's type in the file is not the input's")
    yield stride("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield stride(x=(1, 5), begin=(0, 1), end=(9, 3), resize=(4, 5), name="resized")
    yield stride(const_x=True, name="constant")
    yield stride("i8", x=(60, 50, 33), begin=(3, 40, 30), end=(60, 2, 0), strides=(2, -1, -1),
                 quant=q(0.1, 2), exact=True, name="exact_i8")


def _updates():
    types = (*MOVED_NUMBERS, "i4")
    yield from movement.claims(
        update, range(1, 7), types, {}, dict(x=(3, 1, 7), part=(2, 1, 3), at=(2, 5, -1)),
        [dict(x=(1,), part=(1,), at=(0,)), dict(x=(0, 3), part=(0, 2), at=(0, 1)),
         dict(x=(2, 3), part=(0, 3), at=(1, 0))])
    yield from movement.refused(update, types, {})
    forms = [((), (), ()), ((5,), (2,), (1,)), ((5,), (5,), (3,)), ((4, 5), (1, 5), (2, 0)),
             ((4, 5), (4, 1), (9, 9)), ((2, 3, 4), (1, 2, 3), (-4, 1, 0)), ((1, 6, 4), (1, 1, 4), (0, 3, 0)),
             ((2, 1, 3, 2), (1, 1, 2, 2), (1, 0, 1, 0)), ((2, 1, 2, 1, 2), (1,) * 5, (1, 0, 1, 0, 1)),
             ((1, 2) * 3, (1, 1) * 3, (0, 1) * 3), ((2,) * 8, (1,) * 8, (1, 0) * 4)]
    bad = [((4, 5), (5, 1), (0, 0)), ((4, 5), (2,), (0, 0)), ((4, 5), (2, 2), (0,)),
           ((4, 5), (2, 2), (0, 0, 0)), ((4, 5), (2, 2, 1), (0, 0))]
    for how in ("const", "input"):
        for index in ("i32", "i64"):
            for number, (x, part, at) in enumerate(forms):
                yield update(x=x, part=part, at=at, how=how, index=index,
                             name=f"forms_{how}_{index}_{number}")
        for number, (x, part, at) in enumerate(bad):
            yield update(x=x, part=part, at=at, how=how, name=f"refused_{how}_{number}")
        yield update(at=(2**31 - 1, -2**31), how=how, name=f"far_{how}")
        yield update(at=(2**31 - 1, -2**31), how=how, index="i64", name=f"far_i64_{how}")
    yield update(index="f32", name="refused_index_f32")
    yield update(index="i16", name="refused_index_i16")
    yield update(other_type="i32", name="refused_mixed_types")
    yield update(out_type="i32", name="output_type",
                 undefined="the output's type in the file is not the input's")
    yield update(const_x=True, name="constant")
    yield update(x=(3, 5), resize=(4, 5), name="resized")
    yield update("i8", x=(60, 50, 33), part=(20, 30, 33), at=(5, 7, 0), quant=q(0.1, 2), exact=True,
                 name="exact_i8")


def draw(op, random):
    def number(low, high):
        return int(random.integers(low, high))

    x = tuple(number(1, 7) for _ in range(number(1, 6)))
    types = {"SLICE": (*MOVED, "i4"), "STRIDED_SLICE": MOVED}.get(op, (*MOVED_NUMBERS, "i4"))
    type, how = str(random.choice(types)), str(random.choice(["const", "input"]))
    more = dict(how=how, quant=quant_of(type), seed=number(1, 2**30))
    if op == "SLICE":
        begin = [number(0, n + 1) for n in x]
        size = [number(-1, n - b + 1) for n, b in zip(x, begin)]
        return cut(type, x, begin, size, **more, name=f"draw_{type}_{x}_{begin}_{size}")
    if op == "DYNAMIC_UPDATE_SLICE":
        part = tuple(number(1, n + 1) for n in x)
        at = [number(-2, 7) for _ in x]
        return update(type, x, part, at, **more, name=f"draw_{type}_{x}_{part}_{at}")
    entries = number(1, len(x) + 1)
    begin = [number(-8, 8) for _ in range(entries)]
    end = [number(-8, 8) for _ in range(entries)]
    steps = [int(random.choice([1, 1, 1, 2, 3, -1, -2])) for _ in range(entries)]
    masks = [number(0, 2**entries) if random.random() < 0.5 else 0 for _ in range(2)]
    masks += [2 ** number(0, entries) if random.random() < 0.2 else 0 for _ in range(3)]
    # Upstream reads arbitrary memory if an index of a shrunk axis is out of range.
    begin = [b if masks[4] >> i & 1 == 0 else number(-1, 1) for i, b in enumerate(begin)]
    return stride(type, x, begin, end, steps, masks, **more,
                  name=f"draw_{type}_{x}_{begin}_{end}_{steps}_{masks}")
