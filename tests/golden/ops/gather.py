# SPDX-License-Identifier: Apache-2.0
"""GATHER, GATHER_ND and EMBEDDING_LOOKUP."""
import numpy as np

from .. import movement
from ..model import ELEMENT, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q
from ..movement import ALL, indices, out_shape, quant_of

OPERATORS = ["GATHER", "GATHER_ND", "EMBEDDING_LOOKUP"]
VERSIONS = {"GATHER": 8, "GATHER_ND": 6, "EMBEDDING_LOOKUP": 5}
PICKED = ("f32", "f16", "i8", "u8", "i16", "i32", "i64", "bool")
LOOKED_UP = tuple(t for t in ALL if t != "str")


def pick(op, type="f32", x=(4, 3), at=(2, 0, 3), axis=0, batch=0, index="i32", how="input",
         version=1, quant=None, qo=None, options=True, dims=None, const_x=False, resize=None,
         out_type=None, out_quant=True, seed=1, **case):
    m = Model(seed)
    source = m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)
    inputs = [source, indices(m, index, at, how, dims)]
    if op == "EMBEDDING_LOOKUP":
        inputs.reverse()
        if not const_x:
            m.inputs, m.feeds = m.inputs[::-1], m.feeds[::-1]
    hybrid = out_type == "f32" and type in ("i8", "u8")
    out = (m.output("f32", x, rule=ELEMENT) if hybrid else
           out_shape(m, out_type or type, x, (qo or quant) if out_quant else None))
    table = dict(GatherOptions=dict(axis=axis, batchDims=batch)) if op == "GATHER" and options else {}
    m.op(op, inputs, [out], version, **table)
    return m.case(type=type, **case)


def cases(op):
    def build(type, **arguments):
        return pick(op, type, **arguments)

    yield from {"GATHER": _gathers, "GATHER_ND": _tuples}.get(op, _lookups)(build)
    yield build("i8", x=(90, 40, 33), at=np.arange(80) * 7 % 90 if op != "GATHER_ND" else
                np.arange(160).reshape(80, 2) * 7 % 40, quant=q(0.1, 2), exact=True, name="exact_i8")
    yield build("f32", const_x=True, name="constant",
                **(dict(at=((2,), (0,))) if op == "GATHER_ND" else {}))


def _gathers(build):
    odd = dict(x=(3, 1, 5), at=((4, 0), (2, 2)), axis=-1)
    small = [dict(x=(1,), at=(0,)), dict(x=(3, 2), at=np.zeros((0,)), dims=(0,))]
    yield from movement.claims(build, range(1, 9), PICKED, {}, odd, small)
    strings = dict(x=(5,), at=(4, 0, 0))
    yield from movement.claims(build, range(1, 9), ("str",), strings,
                               dict(x=(5,), at=((4, 1), (0, 2))),
                               [dict(x=(1,), at=(0,)), dict(x=(3,), at=np.zeros((0,)), dims=(0,))])
    yield from movement.refused(build, PICKED + ("str",), {})
    yield build("str", name="refused_str_rank_2")
    forms = [((5,), 3, 0, 0), ((5,), (4, 4, 0), 0, 0), ((2, 3), ((0, 1), (2, 0)), 1, 0),
             ((2, 3, 4), 1, 1, 0), ((2, 3, 4), (3, 0), 2, 0), ((2, 3, 4), (1, 0), -3, 0),
             ((2, 3, 4), ((0, 2), (1, 1)), 1, 1), ((2, 3, 4), ((0, 2), (1, 1)), -2, -1),
             ((2, 3, 4), ((3, 0, 1), (1, 1, 2)), 2, 2), ((2, 3), (2, 1), 1, 1),
             ((2, 2, 3, 2), ((((1, 0), (2, 2)), ((0, 0), (1, 2)))), 2, 2),
             ((1, 2) * 2, ((1,), (0,)), 1, 0), ((2, 0), (1, 0), 0, 0), ((2, 1) * 3, (0, 1), 4, 0),
             ((1,) * 8, (0, 0), 5, 0), ((1,) * 7, ((0,),), 5, 0), ((1,) * 8, ((0,),), 5, 0)]
    bad = [((4, 3), (4,), 0, 0), ((4, 3), (-1,), 0, 0), ((4, 3), (2**31 - 1,), 0, 0),
           ((4, 3), (0,), 2, 0), ((4, 3), (0,), -3, 0), ((4, 3), (0,), 0, 1), ((4, 3), (0,), 1, 2),
           ((4, 3), ((0,), (0,)), 1, 1), ((), (0,), 0, 0), ((0, 3), (0,), 0, 0),
           ((4, 3), (0,), 1, -2), ((4, 3), (0,), 2**31 - 1, 0), ((4, 3), (0,), 0, -2**31)]
    for how in ("const", "input"):
        for index in ("i16", "i32", "i64"):
            for number, (x, at, axis, batch) in enumerate(forms):
                # The last form makes nine dimensions, more than ours take.
                yield build("f32", x=x, at=at, axis=axis, batch=batch, how=how, index=index,
                            lenient=number == 16, name=f"forms_{how}_{index}_{number}")
        for number, (x, at, axis, batch) in enumerate(bad):
            yield build("f32", x=x, at=at, axis=axis, batch=batch, how=how,
                        name=f"refused_{how}_{number}")
    for index in ("i8", "u8", "u32", "f32", "bool"):
        yield build("f32", at=(1, 0), index=index, name=f"refused_index_{index}")
    yield build("f32", options=False, name="no_options")
    yield build("f32", out_type="i32", name="output_type",
                undefined="the output's type in the file is not the input's")
    yield build("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield build("f32", x=(4, 3), resize=(6, 2), name="resized")


def _tuples(build):
    odd = dict(x=(3, 1, 5), at=(((2, 0, 4), (0, 0, 1)),))
    small = [dict(x=(1,), at=((0,),)), dict(x=(3, 2), at=np.zeros((0, 1)), dims=(0, 1))]
    plain = dict(at=((2,), (0,), (3,)))
    yield from movement.claims(build, range(1, 7), PICKED + ("str",), plain, odd, small)
    yield from movement.refused(build, PICKED + ("str",), plain)
    forms = [((5,), (3,)), ((5,), ((3,), (0,))), ((4, 3), (2, 1)), ((4, 3), ((2, 1), (0, 0))),
             ((2, 3, 4), ((1, 2), (0, 0))), ((2, 3, 4), (((1,),), ((0,),))),
             ((2, 1) * 3, ((1, 0, 1), (0, 0, 0))), ((3, 0), ((1,), (0,))),
             ((2, 2, 2, 2, 2), ((1,) * 5, (0,) * 5)), ((1,) * 8, ((0,) * 3,))]
    bad = [((4, 3), ((4,),)), ((4, 3), ((0, 3),)), ((4, 3), ((-1, 0),)), ((4, 3), ((0, 0, 0),)),
           ((4, 3), 1), ((), (0,)), ((4, 3), ((2**31 - 1, 2**31 - 1),)), ((4, 3), ((0, -2**31),)),
           ((0, 3), ((0,),))]
    for how in ("const", "input"):
        for index in ("i16", "i32", "i64"):
            for number, (x, at) in enumerate(forms):
                yield build("f32", x=x, at=at, how=how, index=index,
                            name=f"forms_{how}_{index}_{number}")
        for number, (x, at) in enumerate(bad):
            yield build("f32", x=x, at=at, how=how, name=f"refused_{how}_{number}")
    yield build("f32", x=(2, 3), at=np.zeros((2, 0)), dims=(2, 0), name="depth_0", lenient=True)
    for index in ("i8", "u8", "u32", "f32"):
        yield build("f32", at=((1,), (0,)), index=index, name=f"refused_index_{index}")
    yield build("f32", **plain, out_type="i32", name="output_type",
                undefined="the output's type in the file is not the input's")
    yield build("i8", **plain, quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")


def _lookups(build):
    odd = dict(x=(5, 1, 3), at=(4, 4, 0))
    small = [dict(x=(1, 1), at=(0,)), dict(x=(3, 2), at=np.zeros((0,)), dims=(0,))]
    yield from movement.claims(build, range(1, 6), LOOKED_UP, {}, odd, small)
    for version in range(1, 6):
        for type in ("i8", "u8"):
            yield build(type, quant=q(0.05, 0), out_type="f32", version=version,
                        name=f"v{version}_{type}_hybrid")
    for name, x, at in (("rank_1", (4,), (0,)), ("index_high", (4, 3), (4,)),
                        ("index_low", (4, 3), (-1,)), ("index_far", (4, 3), (2**31 - 1,)),
                        ("lookup_rank_2", (4, 3), ((0,),)), ("lookup_scalar", (4, 3), 0)):
        yield build("f32", x=x, at=at, name=f"refused_{name}")
        yield build("i8", x=x, at=at, quant=q(0.05, 0), out_type="f32",
                    name=f"refused_hybrid_{name}")
    yield build("f32", x=(0, 3), at=(0,), name="table_without_rows",
                undefined="divides by the number of rows")
    for index in ("i64", "i16", "f32"):
        yield build("f32", index=index, name=f"refused_index_{index}")
    for type in ("i8", "u8"):
        for number, (scale, zero, axis) in enumerate((
                (0.5, 0, 0), (0.5, 3, 0), ([0.1, 0.2, 0.3, 0.4], 0, 0), ([0.1, 0.2, 0.3], 0, 0),
                ([0.1, 0.2, 0.3], 0, 1), ([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 0], 0))):
            yield build(type, quant=q(scale, zero, axis), out_type="f32", const_x=True,
                        name=f"{type}_hybrid_scales_{number}",
                        undefined={3: "scales of a number that fits nothing",
                                   5: "zero points other than 0 are ignored"}.get(number, ""))
        yield build(type, out_type="f32", name=f"{type}_hybrid_without_scales",
                    lenient=True)
        yield build(type, x=(3, 0), at=(1, 2), quant=q(0.5), out_type="f32",
                    name=f"{type}_hybrid_empty_rows")
    yield build("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield build("f32", out_type="i32", name="output_type",
                undefined="the output's type in the file is not the table's")
    yield build("f32", x=(2, 1, 2, 1, 2), at=(1, 0, 1), name="rank_5")
    yield build("f32", x=(2, 1, 2, 1, 2, 1, 2, 1), at=(1, 0, 1), name="rank_8")


def draw(op, random):
    def number(low, high):
        return int(random.integers(low, high))

    types = {"GATHER": PICKED, "GATHER_ND": PICKED + ("str",)}.get(op, LOOKED_UP)
    type, rank = str(random.choice(types)), number(1 if op != "EMBEDDING_LOOKUP" else 2, 5)
    x = tuple(number(1, 6) for _ in range(rank))
    more = dict(quant=quant_of(type), seed=number(1, 2**30))
    if op == "EMBEDDING_LOOKUP":
        at = random.integers(0, x[0], number(1, 6))
        return pick(op, type, x, at, **more, name=f"draw_{type}_{x}_{len(at)}")
    more.update(index=str(random.choice(["i16", "i32", "i64"])),
                how=str(random.choice(["const", "input"])))
    if op == "GATHER":
        axis = number(0, rank)
        batch = number(0, axis + 1)
        dims = x[:batch] + tuple(number(1, 4) for _ in range(number(0, 3)))
        at = random.integers(0, x[axis], dims)
        return pick(op, type, x, at, axis, batch, **more,
                    name=f"draw_{type}_{x}_{axis}_{batch}_{dims}")
    depth = number(1, rank + 1)
    dims = tuple(number(1, 4) for _ in range(number(0, 3)))
    at = np.stack([random.integers(0, x[d], dims) for d in range(depth)], -1)
    return pick(op, type, x, at, **more, name=f"draw_{type}_{x}_{at.shape}")
