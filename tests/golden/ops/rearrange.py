# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE, TILE, BROADCAST_TO, space-depth and space-batch conversions, REVERSE_V2 and REVERSE_SEQUENCE."""
import numpy as np

from .. import movement
from ..model import EQUAL, Model, q
from ..movement import MOVED, MOVED_NUMBERS, indices, out_shape, quant_of
from ..pieces import In, Out, counts, node

OPERATORS = ["TRANSPOSE", "DEPTH_TO_SPACE", "SPACE_TO_DEPTH", "BATCH_TO_SPACE_ND",
             "SPACE_TO_BATCH_ND", "TILE", "BROADCAST_TO", "REVERSE_V2", "REVERSE_SEQUENCE"]
VERSIONS = {"TRANSPOSE": 9, "DEPTH_TO_SPACE": 2, "SPACE_TO_DEPTH": 2, "BATCH_TO_SPACE_ND": 4,
            "SPACE_TO_BATCH_ND": 4, "TILE": 3, "BROADCAST_TO": 4, "REVERSE_V2": 4,
            "REVERSE_SEQUENCE": 1}
SHAPED = ("TRANSPOSE", "TILE", "BROADCAST_TO")
DEPTH = ("DEPTH_TO_SPACE", "SPACE_TO_DEPTH")


REVERSED = ("f32", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool")
SEQUENCES = ("f32", "u8", "i16", "i32", "i64")


def cases(op):
    if op.startswith("REVERSE"):
        yield from (_reverses if op == "REVERSE_V2" else _sequences)()
    elif op in SHAPED:
        yield from _shaped_cases(op)
    elif op in DEPTH:
        yield from _depth_cases(op)
    else:
        yield from _batch_cases(op)


# ---- REVERSE_V2 and REVERSE_SEQUENCE ------------------------------------------------------------


def reverse(type="f32", x=(2, 3), axes=(1,), how="const", index="i32", version=1, quant=None,
            out=None, axes_shape=None, seed=1, **case):
    axes = np.asarray(axes, np.int64)
    inputs = [In(type, x, quant=quant), In(index, axes_shape or axes.shape, axes, how == "const")]
    return node("REVERSE_V2", inputs, [Out(out or type, (1,), EQUAL)], version, seed=seed, **case)


def _reverses():
    odd = dict(x=(2, 3, 1, 5), axes=(2, 1))
    small = [dict(x=(1,), axes=(0,)), dict(x=(0, 3), axes=(-1,))]
    yield from movement.claims(reverse, range(1, 5), REVERSED, {}, odd, small)
    for type in ("u32", "f64", "c64"):
        yield reverse(type, name=f"refused_{type}")
    forms = [((5,), (0,)), ((5,), (-1,)), ((3, 4), (0,)), ((3, 4), (0, 1)), ((3, 4), (1, 0)),
             ((2, 3, 4), (1,)), ((2, 3, 4), (-2, 2)), ((2, 3, 4), (0, -2)), ((2, 3, 4), (2, 0, 1)),
             ((1, 2) * 4, (3, 4, 2)), ((2, 1) * 4, (7, 6, 5, 4, 3, 2, 1, 0)), ((3, 0, 2), (0,)),
             ((2, 33, 1), (1,)), ((2, 33, 1), (1, 2))]
    bad = [((2, 3), (2,)), ((2, 3), (-3,)), ((2, 3), (0, 0)), ((2, 3, 4), (0, 2)),
           ((2, 3), (2**31 - 1,)), ((2, 3), (-2**31,)), ((2, 3), (0, -2)), ((2, 3), (0, 1, 0)),
           ((2, 3), ((0,),)), ((2, 3), 0), ((), (0,)), ((2, 3), (0, 1, 0) * 3)]
    for how in ("const", "input"):
        for number, (x, axes) in enumerate(forms):
            yield reverse("f32", x, axes, how, name=f"forms_{how}_{number}")
        for number, (x, axes) in enumerate(bad):
            yield reverse("f32", x, axes, how, name=f"refused_{how}_{number}")
        yield reverse("f32", (2, 3), np.zeros((0,)), how, axes_shape=(0,), name=f"no_axes_{how}",
                      undefined="reads in front of the axes")
    yield reverse(index="i64", name="refused_index_i64")
    yield reverse(out="i32", name="refused_output_type")
    yield from counts("REVERSE_V2", ((1, 1), (3, 1), (2, 2)))


def sequence(type="f32", x=(2, 3), lengths=(3, 2), seq=1, batch=0, how="input", index="i32",
             version=1, quant=None, out=None, lengths_shape=None, options=True, seed=1, **case):
    lengths = np.asarray(lengths, np.int64)
    inputs = [In(type, x, quant=quant),
              In(index, lengths_shape or lengths.shape, lengths, how == "const")]
    table = {"ReverseSequenceOptions": dict(seqDim=seq, batchDim=batch)} if options else {}
    return node("REVERSE_SEQUENCE", inputs, [Out(out or type, (1,), EQUAL)], version, table, seed,
                **case)


def _sequences():
    odd = dict(x=(2, 3, 1, 4, 2), lengths=(2, 0, 3, 4), seq=1, batch=3, index="i64")
    odd["lengths"] = (2, 0, 3, 1)
    small = [dict(x=(1, 1), lengths=(1,)), dict(x=(2, 0), lengths=(0, 0)),
             dict(x=(0, 2), lengths=(), lengths_shape=(0,))]
    yield from movement.claims(sequence, (1,), SEQUENCES, {}, odd, small)
    for type in ("f16", "i8", "u32", "bool"):
        yield sequence(type, name=f"refused_{type}")
    forms = [((3, 4), (4, 1, 0), 1, 0), ((4, 3), (4, 1, 0), 0, 1), ((3, 4, 5), (2, 3, 4), 1, 0),
             ((2, 4, 3), (2, 4), 1, 0), ((4, 2, 3), (1, 3, 4), 0, 2), ((2, 4, 3, 2), (4, 0), 1, 0),
             ((3, 2, 2, 4), (4, 2, 3), 3, 0), ((2, 5, 3), (0, 2, 5), 1, 2), ((2, 3), (-1, -5), 1, 0)]
    bad = [((2, 3), (4, 0), 1, 0), ((2, 3), (2**31 - 1, 0), 1, 0), ((2, 3), (1,), 1, 0),
           ((2, 3), (1, 1, 1), 1, 0), ((2, 3), (1, 1), 0, 0), ((2, 3), (1, 1), 2, 0),
           ((2, 3), (1, 1), -1, 0), ((2, 3), (1, 1), 1, -2), ((2, 3), (1, 1), 1, 2),
           ((2, 3), ((1,), (1,)), 1, 0), ((2,), (1, 1), 1, 0), ((), (1,), 0, 0)]
    for how in ("const", "input"):
        for index in ("i32", "i64"):
            for number, (x, lengths, seq, batch) in enumerate(forms):
                yield sequence("f32", x, lengths, seq, batch, how, index,
                               name=f"forms_{how}_{index}_{number}")
            for number, (x, lengths, seq, batch) in enumerate(bad):
                yield sequence("f32", x, lengths, seq, batch, how, index,
                               name=f"refused_{how}_{index}_{number}")
        for number, lengths in enumerate(((3, 4), (0, 2**31 - 1), (0, -2**31))):
            yield sequence("f32", (2, 3), lengths, how=how, name=f"later_length_{how}_{number}",
                           undefined="only the first length is checked")
    yield sequence(options=False, name="refused_no_options")
    yield sequence(index="i16", name="refused_index_i16")
    yield sequence(out="i32", name="refused_output_type")
    yield from counts("REVERSE_SEQUENCE", ((1, 1), (3, 1), (2, 2)))


# ---- A tensor and a vector ----------------------------------------------------------------------


def _result(op, x, to):
    try:
        if op == "TRANSPOSE":
            return tuple(x[i] for i in to)
        return tuple(a * b for a, b in zip(x, to)) if op == "TILE" else tuple(to)
    except IndexError:
        return x


def shaped(op, type="f32", x=(2, 3), to=(1, 0), how="const", index="i32", version=2, quant=None,
           qo=None, out_type=None, dims=None, resize=None, const_x=False, seed=1, **case):
    m = Model(seed)
    source = m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)
    vector = indices(m, index, to, how, dims)
    out = out_shape(m, out_type or type, _result(op, x, to), qo or quant)
    m.op(op, [source, vector], [out], version)
    return m.case(type=type, **case)


ORDINARY = {"TRANSPOSE": dict(x=(2, 3, 4), to=(2, 0, 1)), "TILE": dict(x=(2, 3), to=(2, 3)),
            "BROADCAST_TO": dict(x=(2, 1), to=(2, 3))}
ODD = {"TRANSPOSE": dict(x=(2, 3, 1, 5), to=(-1, 1, 0, -2)), "TILE": dict(x=(3, 1, 5), to=(1, 4, 2)),
       "BROADCAST_TO": dict(x=(3, 1, 5), to=(2, 3, 7, 5))}
SMALL = {"TRANSPOSE": [dict(x=(1,), to=(0,)), dict(x=(0, 3), to=(1, 0))],
         "TILE": [dict(x=(1,), to=(1,)), dict(x=(0, 3), to=(2, 1))],
         "BROADCAST_TO": [dict(x=(1,), to=(1,)), dict(x=(0, 1), to=(0, 3))]}
SHAPED_TYPES = {"TRANSPOSE": (*MOVED_NUMBERS, "i4", "u4"), "TILE": MOVED,
                "BROADCAST_TO": MOVED_NUMBERS}
FORMS = {
    "TRANSPOSE": [((), ()), ((5,), (0,)), ((5,), (-1,)), ((3, 4), (0, 1)), ((7, 9), (1, 0)),
                  ((2, 3, 4), (0, 2, 1)), ((2, 3, 4), (1, 0, 2)), ((2, 3, 4), (2, 1, 0)),
                  ((2, 3, 4), (1, 2, 0)), ((1, 5, 6, 3), (0, 3, 1, 2)), ((2, 3, 4, 5), (3, 2, 1, 0)),
                  ((1, 3, 5, 6), (0, 2, 3, 1)), ((2, 3, 1, 4, 2), (4, 1, 0, 3, 2)),
                  ((2, 3, 2, 2, 3), (0, 1, 3, 2, 4)), ((2, 3, 2, 1, 3, 2), (5, 4, 3, 2, 1, 0)),
                  ((2, 3, 2, 2, 3, 2), (1, 0, 3, 2, 5, 4)), ((19, 37), (1, 0)),
                  ((2, 18, 35), (0, 2, 1)), ((1, 2, 1, 3, 1, 2, 2), (6, 3, 0, 5, 4, 2, 1)),
                  ((2, 1) * 4, (7, 6, 4, 5, 0, 2, 1, 3)), ((2, 0, 3), (2, 0, 1)), ((1, 1, 1), (2, 1, 0))],
    "TILE": [((), ()), ((5,), (3,)), ((3, 4), (1, 1)), ((3, 4), (2, 1)), ((3, 4), (1, 2)),
             ((1, 4), (5, 1)), ((3, 1), (1, 5)), ((2, 3, 4), (2, 1, 3)), ((1, 2, 3, 1), (2, 2, 2, 2)),
             ((2, 1, 2, 1, 2), (1, 2, 1, 2, 1)), ((2, 3), (0, 2)), ((2, 3), (2, 0)),
             ((0,), (4,)), ((2,) * 6, (2, 1, 2, 1, 1, 2)), ((1, 2, 1, 2, 1, 2, 1, 2), (2, 1) * 4)],
    "BROADCAST_TO": [((), ()), ((), (4,)), ((1,), (7,)), ((3,), (2, 3)), ((3, 1), (3, 4)),
                     ((1, 4), (3, 4)), ((1, 3, 1), (2, 3, 5)), ((2, 1, 3, 1), (2, 4, 3, 2)),
                     ((1, 1, 1), (1, 1, 1)), ((4,), (1, 2, 1, 3, 4)), ((1,), (0,)), ((0,), (3, 0)),
                     ((1, 2, 1, 2, 1, 2, 1, 2), (2,) * 8), ((2,), (1, 1, 1, 1, 1, 1, 1, 2)),
                     ((3, 1, 1), (3, 8, 9))],
}
REFUSED = {
    "TRANSPOSE": dict(axis_high=((2, 3), (0, 2)), axis_low=((2, 3), (-3, 0)),
                      short=((2, 3), (0,)), long=((2, 3), (0, 1, 2)), rank_9=((1,) * 9, range(9)),
                      huge=((2, 3), (2**31 - 1, 0))),
    "TILE": dict(short=((2, 3), (2,)), long=((2, 3), (2, 2, 2)), negative=((2, 3), (-1, 2)),
                 overflow=((2, 3), (2**31 - 1, 2**31 - 1))),
    "BROADCAST_TO": dict(shorter=((2, 3), (3,)), other=((2, 3), (2, 4)), shrink=((2, 3), (1, 3)),
                         negative=((1,), (-1,)), rank_9=((1,), (1,) * 9),
                         overflow=((1,), (2**31 - 1, 2**31 - 1, 2**31 - 1))),
}


def _shaped_cases(op):
    def build(type, **arguments):
        return shaped(op, type, **arguments)

    versions = range(2 if op == "BROADCAST_TO" else 1, VERSIONS[op] + 1)
    types = SHAPED_TYPES[op]
    yield from movement.claims(build, versions, types, ORDINARY[op], ODD[op], SMALL[op])
    yield from movement.refused(build, types, ORDINARY[op])
    for how in ("const", "input"):
        for number, (x, to) in enumerate(FORMS[op]):
            yield build("f32", x=x, to=to, how=how, name=f"forms_{how}_{number}")
        yield build("i8", **ODD[op], how=how, quant=q(0.1, 5), name=f"i8_{how}")
        for name, (x, to) in REFUSED[op].items():
            undefined = "numbers that overflow" if name == "overflow" else ""
            # Upstream may support ranks beyond those of Deputy.
            yield build("f32", x=x, to=list(to), how=how, undefined=undefined,
                        lenient=name.startswith("rank"), name=f"refused_{how}_{name}")
        yield build("f32", **ODD[op], how=how, index="i64", name=f"index_i64_{how}",
                    undefined="int64 axes are read as int32" if op == "TRANSPOSE" else "")
        yield build("f32", **ODD[op], how=how, index="f32", name=f"refused_index_f32_{how}",
                    undefined="float axes are read as int32" if op == "TRANSPOSE" else "")
    if op == "TILE":
        yield build("str", x=(2, 2), to=(2, 3), how="input", name="str_input")
    yield build("f32", **ORDINARY[op], const_x=True, name="constant")
    yield build("f32", **ORDINARY[op], dims=(1, len(ORDINARY[op]["to"])), name="vector_rank_2",
                lenient=True)
    yield build("f32", x=(1, 3), to={"TRANSPOSE": (1, 0), "TILE": (2, 2)}.get(op, (4, 3)),
                resize=(4, 3), name="resized")
    yield build("f32", **ORDINARY[op], out_type="i32", name="output_type",
                undefined="the output's type in the file is not the input's")
    yield build("i8", **ORDINARY[op], quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    if op == "TRANSPOSE":
        for number, to in enumerate(((0, 0), (1, -1))):
            yield build("f32", x=(2, 2), to=to, name=f"twice_{number}",
                        undefined="an axis named twice leaves part of the output unwritten")
    yield build("i8", x=(60, 33, 20), to={"TRANSPOSE": (2, 0, 1), "TILE": (1, 2, 2)}.get(
        op, (2, 60, 33, 20)), quant=q(0.1, 2), exact=True, name="exact_i8")


# ---- Space and depth ----------------------------------------------------------------------------


def depth(op, type="f32", x=(1, 2, 2, 4), block=2, version=1, quant=None, options=True, seed=1,
          resize=None, **case):
    m = Model(seed)
    source = m.input(type, x, quant, resize=resize)
    out = out_shape(m, type, x, quant)
    table = "DepthToSpaceOptions" if op == "DEPTH_TO_SPACE" else "SpaceToDepthOptions"
    m.op(op, [source], [out], version, **({table: dict(blockSize=block)} if options else {}))
    return m.case(type=type, **case)


def _depth_cases(op):
    def build(type, **arguments):
        return depth(op, type, **arguments)

    types = ("f32", "i8", "u8", "i32", "i64")
    to_space = op == "DEPTH_TO_SPACE"
    odd = dict(x=(2, 3, 1, 18) if to_space else (2, 6, 3, 2), block=3)
    yield from movement.claims(build, (1, 2), types, dict(x=(1, 2, 4, 8)), odd,
                               [dict(x=(1, 1, 1, 1), block=1),
                                dict(x=(0, 2, 2, 4)), dict(x=(1, 0, 2, 4))])
    yield from movement.refused(build, types, {})
    forms = ([((1, 1, 1, 4), 2), ((1, 3, 5, 12), 2), ((2, 2, 3, 16), 4), ((1, 2, 3, 5), 1),
              ((2, 2, 2, 0), 2)] if to_space else
             [((1, 2, 2, 1), 2), ((1, 6, 10, 3), 2), ((2, 8, 4, 1), 4), ((1, 2, 3, 5), 1),
              ((2, 2, 2, 0), 2)])
    for number, (x, block) in enumerate(forms):
        yield build("f32", x=x, block=block, name=f"forms_{number}")
    for name, x, block in (("rank_3", (2, 2, 4), 2), ("rank_5", (1, 1, 2, 2, 4), 2),
                           ("indivisible", (1, 3, 3, 6), 2), ("zero", (1, 2, 2, 4), 0),
                           ("negative", (1, 2, 2, 4), -2), ("huge", (1, 2, 2, 4), 65536),
                           ("largest", (1, 2, 2, 4), 2**31 - 1)):
        yield build("f32", x=x, block=block, name=f"refused_{name}",
                    undefined="block_size squared overflows" if block > 60000 else "")
    yield build("f32", options=False, name="refused_no_options")
    yield build("f32", x=(1, 2, 2, 4), resize=(3, 4, 2, 8), name="resized")
    yield build("i8", x=(2, 32, 32, 32), quant=q(0.1, 2), block=4, exact=True, name="exact_i8")


# ---- Space and batch ----------------------------------------------------------------------------


def batch(op, type="f32", x=(1, 2, 2, 3), block=(2, 2), margins=((0, 0), (0, 0)), how="const",
          version=1, quant=None, index="i32", dims=(None, None), seed=1, resize=None, qo=None,
          **case):
    m = Model(seed)
    inputs = [m.input(type, x, quant, resize=resize), indices(m, index, block, how, dims[0]),
              indices(m, index, margins, how, dims[1])]
    m.op(op, inputs, [out_shape(m, type, x, qo or quant)], version)
    return m.case(type=type, **case)


def _batch_cases(op):
    def build(type, **arguments):
        return batch(op, type, **arguments)

    to_batch = op == "SPACE_TO_BATCH_ND"
    plain = dict(x=(1, 4, 2, 3) if to_batch else (4, 2, 1, 3))
    odd = dict(x=(2, 3, 4, 1) if to_batch else (12, 2, 3, 1), block=(3, 2), margins=((1, 2), (2, 0)))
    small = [dict(x=(1, 1, 1, 1), block=(1, 1)), dict(x=(0, 2, 2, 1))]
    yield from movement.claims(build, range(1, 5), MOVED_NUMBERS, plain, odd, small)
    yield from movement.refused(build, MOVED_NUMBERS, plain)
    if to_batch:
        forms = [((1, 4, 4, 1), (2, 2), ((0, 0), (0, 0))), ((2, 5, 7, 3), (3, 2), ((1, 0), (0, 1))),
                 ((2, 5, 3), (2,), ((1, 0),)), ((1, 6, 2), (3,), ((2, 1),)),
                 ((2, 4, 3, 2), (1, 1), ((1, 2), (3, 4))), ((1, 2, 2, 1), (4, 4), ((1, 1), (0, 2))),
                 ((1, 2, 3, 0), (2, 3), ((0, 0), (0, 0))), ((1, 0, 2, 2), (2, 2), ((1, 1), (0, 0)))]
        refused = [((1, 3, 2, 1), (2, 2), ((0, 0), (0, 0))), ((1, 2, 2, 1), (2, 2), ((-2, 0), (0, 0)))]
    else:
        forms = [((4, 2, 2, 1), (2, 2), ((0, 0), (0, 0))), ((6, 3, 4, 3), (3, 2), ((1, 1), (0, 3))),
                 ((4, 3, 3), (2,), ((1, 0),)), ((3, 2, 2), (3,), ((2, 1),)),
                 ((2, 4, 5, 2), (1, 1), ((1, 2), (3, 1))), ((8, 2, 2, 1), (2, 2), ((1, 1), (0, 2))),
                 ((4, 2, 3, 0), (2, 2), ((0, 0), (0, 0))), ((4, 1, 1, 2), (2, 2), ((1, 1), (0, 0)))]
        refused = [((3, 2, 2, 1), (2, 2), ((0, 0), (0, 0))), ((4, 2, 2, 1), (2, 2), ((-1, 0), (0, 0))),
                   ((4, 2, 2, 1), (2, 2), ((3, 3), (0, 0)))]
    refused += [((4, 2, 2, 2, 2), (2, 2), ((0, 0), (0, 0))), ((4, 2), (2,), ((0, 0),)),
                ((4, 2, 2, 1), (2,), ((0, 0),)), ((4, 2, 2, 1), (2, 2, 1), ((0, 0), (0, 0), (0, 0)))]
    # Blocks of size 0 or a negative size, and a product of sizes that overflows.
    undefined = [((4, 2, 2, 1), (0, 2), ((0, 0), (0, 0))), ((4, 2, 2, 1), (-2, 2), ((0, 0), (0, 0))),
                 ((4, 2, 2, 1), (2**30, 2**30), ((0, 0), (0, 0)))]
    for how in ("const", "input"):
        for number, (x, block, margins) in enumerate(forms):
            yield build("f32", x=x, block=block, margins=margins, how=how,
                        name=f"forms_{how}_{number}")
        for number, (x, block, margins) in enumerate(refused):
            yield build("f32", x=x, block=block, margins=margins, how=how,
                        lenient=np.min(margins) < 0, name=f"refused_{how}_{number}")
        for number, (x, block, margins) in enumerate(undefined):
            yield build("f32", x=x, block=block, margins=margins, how=how,
                        name=f"hostile_{how}_{number}",
                        undefined="blocks of 0, of negative size or that overflow")
        yield build("i8", **odd, how=how, quant=q(0.1, -7), name=f"i8_{how}")
        yield build("f32", **odd, index="i64", how=how, name=f"index_i64_{how}",
                    undefined="int64 is read as int32")
    yield build("i16", **odd, quant=q(0.1, 0), name="i16_zero")
    yield build("i8", **odd, quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale",
                lenient=True)
    yield build("f32", **plain, resize=(2, 4, 6, 2) if to_batch else (8, 2, 3, 2), name="resized")
    yield build("i8", x=(8, 24, 24, 16), quant=q(0.1, 2), exact=True, name="exact_i8")


# ---- Random cases -------------------------------------------------------------------------------


def draw(op, random):
    if op.startswith("REVERSE"):
        return _draw_reverse(op, random)
    def number(low, high):
        return int(random.integers(low, high))

    seed = number(1, 2**30)
    if op in SHAPED:
        type = str(random.choice(SHAPED_TYPES[op]))
        x = tuple(number(1, 6) for _ in range(number(1, 6)))
        if op == "TRANSPOSE":
            to = [int(i) - (len(x) if random.random() < 0.2 else 0)
                  for i in random.permutation(len(x))]
        elif op == "TILE":
            to = [number(0, 4) for _ in x]
        else:
            to = [number(1, 4) for _ in range(number(0, 3))] + list(x)
            x = tuple(1 if random.random() < 0.4 else n for n in x)
        return shaped(op, type, x, to, str(random.choice(["const", "input"])),
                      quant=quant_of(type), seed=seed, name=f"draw_{type}_{x}_{to}")
    block = number(1, 4)
    if op in DEPTH:
        type = str(random.choice(["f32", "i8", "u8", "i32", "i64"]))
        h, w, c = number(1, 4), number(1, 4), number(1, 5)
        x = ((number(1, 3), h, w, c * block * block) if op == "DEPTH_TO_SPACE" else
             (number(1, 3), h * block, w * block, c))
        return depth(op, type, x, block, quant=quant_of(type), seed=seed,
                     name=f"draw_{type}_{x}_{block}")
    type, other = str(random.choice(MOVED_NUMBERS)), number(1, 4)
    margins = ((number(0, 3), number(0, 3)), (number(0, 3), number(0, 3)))
    x = (number(1, 3) * (1 if op == "SPACE_TO_BATCH_ND" else block * other), number(2, 7),
         number(2, 7), number(1, 4))
    if op == "SPACE_TO_BATCH_ND" and random.random() < 0.8:
        margins = tuple((a, -(n + a) % b) for (a, _), n, b in zip(margins, x[1:], (block, other)))
    return batch(op, type, x, (block, other), margins, str(random.choice(["const", "input"])),
                 quant=quant_of(type), seed=seed, name=f"draw_{type}_{x}_{block}_{other}")


def _draw_reverse(op, random):
    x = tuple(int(n) for n in random.integers(1, 7, random.integers(2, 6)))
    how, seed = str(random.choice(["const", "input"])), int(random.integers(1, 2**30))
    if op == "REVERSE_V2":
        first = int(random.integers(0, len(x)))
        axes = random.permutation(np.arange(first, int(random.integers(first, len(x))) + 1))
        type = str(random.choice(REVERSED))
        return reverse(type, x, axes, how, seed=seed, name=f"draw_{type}_{x}_{axes}")
    seq, batch = (int(n) for n in random.permutation(len(x))[:2])
    type, index = str(random.choice(SEQUENCES)), str(random.choice(["i32", "i64"]))
    lengths = random.integers(0, x[seq] + 1, x[batch])
    return sequence(type, x, lengths, seq, batch, how, index, seed=seed,
                    name=f"draw_{type}_{x}_{seq}_{batch}")
