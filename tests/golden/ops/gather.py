# SPDX-License-Identifier: Apache-2.0
"""GATHER, GATHER_ND, EMBEDDING_LOOKUP, SCATTER_ND and EMBEDDING_LOOKUP_SPARSE."""
import numpy as np

from .. import movement
from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL, SUM, ZERO_POINT, Model, q
from ..movement import MOVED_NUMBERS, indices, out_shape, quant_of
from ..pieces import In, Out, counts, node

OPERATORS = ["GATHER", "GATHER_ND", "EMBEDDING_LOOKUP", "SCATTER_ND", "EMBEDDING_LOOKUP_SPARSE"]
VERSIONS = {"GATHER": 8, "GATHER_ND": 6, "EMBEDDING_LOOKUP": 5, "SCATTER_ND": 1,
            "EMBEDDING_LOOKUP_SPARSE": 1}
SCATTERED = ("f32", "i8", "u8", "i32", "i64", "bool")
PICKED = ("f32", "f16", "bf16", "i8", "u8", "i16", "i32", "i64", "bool")
LOOKED_UP = MOVED_NUMBERS
PACKED = ("i4", "i2", "u4")


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
    hybrid = out_type == "f32" and type in ("i8", "u8", "i4", "i2")
    out = (m.output("f32", x, rule=ELEMENT) if hybrid else
           out_shape(m, out_type or type, x, (qo or quant) if out_quant else None))
    table = dict(GatherOptions=dict(axis=axis, batchDims=batch)) if op == "GATHER" and options else {}
    m.op(op, inputs, [out], version, **table)
    return m.case(type=type, **case)


def scatter(type="f32", at=((2,), (0,), (2,)), updates=(3, 3), shape=(4, 3), how="const",
            index="i32", out=None, quant=None, seed=1, data=None, at_shape=None, shape_type=None,
            shape_shape=None, version=1, **case):
    at, shape = np.asarray(at, np.int64), np.asarray(shape, np.int64)
    const = how == "const"
    few = dict(low=-40, high=90) if type in ("i32", "i64") else {}
    inputs = [In(index, at_shape or at.shape, at, const),
              In(type, updates, data, quant=quant, **few),
              In(shape_type or index, shape_shape or shape.shape, shape, const)]
    return node("SCATTER_ND", inputs, [Out(out or type, (1,), EQUAL if type != "f32" else SUM)],
                seed=seed, type=type, version=version, **case)


def _scatters():
    for type in SCATTERED:
        quant = quant_of(type)
        yield scatter(type, quant=quant, name=f"v1_{type}_plain", tags=ORDINARY)
        yield scatter(type, (((1, 0), (1, 2)), ((0, 1), (1, 0))), (2, 2, 3), (2, 3, 3),
                      "input", name=f"v1_{type}_odd", tags=ODD)
        if type in ("i8", "u8"):
            yield scatter(type, quant=quant_of(type, 11), name=f"v1_{type}_zero_point",
                          tags=ZERO_POINT)
        yield scatter(type, ((0,),), (1,), (1,), name=f"v1_{type}_one", tags=SMALL)
        yield scatter(type, np.zeros((0, 1)), (0, 3), (4, 3), at_shape=(0, 1),
                      name=f"v1_{type}_nothing", tags=SMALL)
        yield scatter(type, ((0,),) * 9, (9, 5), (2, 5), name=f"{type}_one_place")
    for type in ("f16", "i16", "u32", "str"):
        yield scatter(type, name=f"refused_{type}")
    yield from _scatter_forms()
    yield scatter(index="i64", name="refused_index_i64")
    yield scatter(index="i16", name="refused_index_i16")
    yield scatter(shape_type="i64", name="refused_shape_i64")
    yield scatter(out="i32", name="output_type",
                  undefined="the output's type in the file is not the updates'")
    yield scatter("bool", ((0,), (0,), (1,)), (3,), (3,), data=[True, True, False], name="bool_twice")
    yield from counts("SCATTER_ND", ((2, 1), (4, 1), (3, 2)))


def _scatter_forms():
    forms = [((3, 1), (), (4, 3)), (((3,), (0,)), (2,), (5,)), (((2, 1), (0, 0)), (2,), (4, 3)),
             (((1, 2), (0, 0)), (2, 4), (2, 3, 4)), (((1,),), (1, 2, 2, 2), (2, 2, 2, 2)),
             (np.zeros((2, 0)), (2, 3, 2), (3, 2)), (((1,) * 5, (0,) * 5), (2,), (2,) * 5),
             (np.zeros((1, 1)), (1, 0), (3, 0)), (((1, 0, 1),), (1, 1, 1, 1, 1, 1), (2,) * 8),
             (((1, 0, 1),), (1, 2, 2, 2, 2, 2), (2,) * 8)]
    bad = [(((4,),), (1, 3), (4, 3)), (((-1,),), (1, 3), (4, 3)), (((2**31 - 1,),), (1, 3), (4, 3)),
           (((0, 3),), (1,), (4, 3)), (((0,), (1,)), (1, 3), (4, 3)), (((0,),), (1, 2), (4, 3)),
           (((0,),), (1,), (4, 3)), (((0, 0, 0),), (1,), (4, 3)), (0, (3,), (4, 3)),
           (((0,),), (), (4,)), (((-2**31,),), (1, 3), (4, 3)), (np.zeros((1, 1)), (1, 3), (0, 3))]
    for how in ("const", "input"):
        for number, (at, updates, shape) in enumerate(forms):
            at = np.asarray(at)
            # Deputy may refuse the scalar update of form 0.
            yield scatter("f32", at, updates, shape, how, at_shape=at.shape, lenient=number == 0,
                          name=f"forms_{how}_{number}")
        for number, (at, updates, shape) in enumerate(bad):
            yield scatter("f32", at, updates, shape, how, name=f"refused_{how}_{number}")
        yield scatter(shape=((4, 3),), how=how, name=f"refused_{how}_shape_matrix")
        yield scatter("f32", ((0,),), (1, 3), (-4, 3), how, name=f"refused_{how}_negative_shape",
                      undefined="a negative dimension is not checked")


def sparse_lookup(ids=(1, 3, 0), at=((0, 0), (2, 0), (2, 1)), shape=(3, 2), weights=(1.0, 2.0, 4.0),
                  table=(4, 3, 2), combiner=0, how="input", out="f32", types=(), seed=1, dims=None,
                  at_dims=None, **case):
    kinds = list(types) or ["i32", "i32", "i32", "f32", "f32"]
    const = how == "const"
    ids, at, weights = (np.asarray(x) for x in (ids, at, weights))
    inputs = [In(kinds[0], dims or ids.shape, ids), In(kinds[1], at_dims or at.shape, at, const),
              In(kinds[2], np.asarray(shape).shape, np.asarray(shape), const),
              In(kinds[3], weights.shape, weights), In(kinds[4], table)]
    return node("EMBEDDING_LOOKUP_SPARSE", inputs, [Out(out, (1,), SUM)], seed=seed, type="f32",
                table={"EmbeddingLookupSparseOptions": dict(combiner=combiner)}, **case)


def _sparse_lookups():
    yield sparse_lookup(name="v1_f32_plain", tags=ORDINARY)
    yield sparse_lookup((1, 0, 2, 2), ((0, 0, 0), (0, 1, 2), (1, 0, 0), (1, 0, 1)), (2, 2, 3),
                        (0.5, -1.5, 2.0, 3.0), (3, 2, 1, 5), 1, name="v1_f32_odd", tags=ODD)
    yield sparse_lookup((0,), ((0, 0),), (1, 1), (2.0,), (1, 1), name="v1_f32_one", tags=SMALL)
    yield sparse_lookup((), np.zeros((0, 2)), (3, 2), (), (4, 3), dims=(0,), at_dims=(0, 2),
                        name="v1_f32_empty", tags=SMALL)
    for how in ("const", "input"):
        for combiner in (0, 1, 2):
            more = dict(combiner=combiner, how=how)
            yield sparse_lookup(**more, name=f"{how}_combiner_{combiner}")
            yield sparse_lookup((1, 2, 0), ((0,), (1,), (2,)), (3,), **more,
                                name=f"{how}_combiner_{combiner}_one_bucket")
            yield sparse_lookup((1, 2, 0, 3), ((0, 0), (1, 0), (0, 1), (1, 1)), (2, 2),
                                (1.0, 2.0, 3.0, 4.0), **more,
                                name=f"{how}_combiner_{combiner}_unsorted")
            yield sparse_lookup(weights=(1.0, -2.0, 2.0), **more,
                                name=f"{how}_combiner_{combiner}_nothing_left")
            wild = "divides what lies outside of the output" if combiner else ""
            for number, at in enumerate((((0, 0), (2, 0), (3, 1)), ((-1, 0), (0, 0), (1, 1)),
                                         ((0, 0), (2**31 - 1, 0), (0, 0)))):
                yield sparse_lookup(at=at, **more, lenient=True, undefined=wild,
                                    name=f"{how}_combiner_{combiner}_outside_{number}")
    for ids in ((1, 4, 0), (-1, 0, 0), (0, 0, 2**31 - 1)):
        yield sparse_lookup(ids, name=f"refused_ids_{ids}")
    yield sparse_lookup(shape=(3, 2, 1), name="refused_shape_of_3")
    yield sparse_lookup(shape=(-3, 2), name="negative_shape",
                        undefined="a negative dimension is not checked")
    yield sparse_lookup(weights=(1.0, 2.0), name="refused_weights")
    yield sparse_lookup(ids=(1, 2), name="refused_ids_of_2")
    yield sparse_lookup(table=(4,), name="refused_table_vector")
    yield sparse_lookup(at=np.zeros((3, 0)), at_dims=(3, 0), shape=np.zeros((0,)),
                        name="no_dimensions", undefined="makes a shape of -1 dimensions and more")
    yield sparse_lookup(out="i32", name="refused_output_type")
    for number, wrong in enumerate(("i64", "i64", "i64", "f16")):
        kinds = ["i32", "i32", "i32", "f32", "f32"]
        kinds[number] = wrong
        yield sparse_lookup(types=kinds, name=f"refused_type_{number}")
    yield sparse_lookup(types=("i32", "i32", "i32", "f32", "i8"), name="table_i8",
                        undefined="reads any table as floats")
    yield from counts("EMBEDDING_LOOKUP_SPARSE", ((4, 1), (6, 1), (5, 2)))


def cases(op):
    if op == "SCATTER_ND":
        yield from _scatters()
        return
    if op == "EMBEDDING_LOOKUP_SPARSE":
        yield from _sparse_lookups()
        return

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
    # TFLite computes slices of 4-bit elements correctly only if they are whole bytes.
    yield from movement.claims(
        build, range(1, 9), ("i4",), dict(x=(4, 6)), dict(x=(3, 1, 4), at=((2, 0), (1, 1))),
        [dict(x=(1, 2), at=(0,)), dict(x=(3, 2), at=np.zeros((0,)), dims=(0,))])
    yield build("i4", x=(2, 3, 4), at=((2, 0), (1, 1)), axis=1, name="i4_axis_1")
    yield build("i4", x=(2, 3, 4), at=((2, 0), (1, 1)), axis=1, batch=1, name="i4_batch_1")
    for number, x in enumerate(((4, 3), (4,))):
        yield build("i4", x=x, name=f"i4_half_bytes_{number}",
                    undefined="slices of half bytes are cut to whole ones")
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
                # The last form has an output of nine dimensions, more than Deputy supports.
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
    # TFLite computes rows of packed elements correctly only if they are whole bytes.
    yield from movement.claims(build, range(1, 6), PACKED, dict(x=(4, 4)),
                               dict(x=(5, 1, 8), at=(4, 4, 0)),
                               [dict(x=(1, 4), at=(0,)),
                                dict(x=(3, 4), at=np.zeros((0,)), dims=(0,))])
    for type in PACKED:
        yield build(type, x=(4, 3), name=f"{type}_parts_of_bytes",
                    undefined="rows of parts of bytes are cut to whole ones")
    yield build("u4", quant=q(0.05, 0), out_type="f32", name="u4_hybrid",
                undefined="the output's type in the file is not the table's")
    for version in range(1, 6):
        for type in ("i8", "u8", "i4", "i2"):
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
    for type in ("i8", "u8", "i4", "i2"):
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

    if op == "SCATTER_ND":
        shape = tuple(number(1, 6) for _ in range(number(1, 5)))
        depth, outer = number(1, len(shape) + 1), tuple(number(1, 5) for _ in range(number(0, 3)))
        if not outer and depth == len(shape):
            outer = (1,)
        at = np.stack([random.integers(0, shape[d], outer) for d in range(depth)], -1)
        type = str(random.choice(SCATTERED))
        return scatter(type, at, outer + shape[depth:], shape,
                       str(random.choice(["const", "input"])), seed=number(1, 2**30),
                       name=f"draw_{type}_{shape}_{at.shape}")
    if op == "EMBEDDING_LOOKUP_SPARSE":
        count, table = number(1, 9), tuple(number(1, 6) for _ in range(number(2, 4)))
        shape = tuple(number(1, 5) for _ in range(number(1, 4)))
        at = np.stack([random.integers(0, n, count) for n in shape], -1)
        return sparse_lookup(random.integers(0, table[0], count), at, shape,
                             np.float32(random.uniform(0.5, 2, count)), table, number(0, 3),
                             seed=number(1, 2**30), name=f"draw_{table}_{shape}_{count}")
    types = {"GATHER": PICKED + ("i4",), "GATHER_ND": PICKED + ("str",)}.get(op, LOOKED_UP + PACKED)
    type, rank = str(random.choice(types)), number(1 if op != "EMBEDDING_LOOKUP" else 2, 5)
    x = tuple(number(1, 6) for _ in range(rank))
    more = dict(quant=quant_of(type), seed=number(1, 2**30))
    if type in PACKED:  # whole bytes, the only sizes for which TFLite is correct
        x = (*x, 4)
        rank += 1
    if op == "EMBEDDING_LOOKUP":
        at = random.integers(0, x[0], number(1, 6))
        return pick(op, type, x, at, **more, name=f"draw_{type}_{x}_{len(at)}")
    more.update(index=str(random.choice(["i16", "i32", "i64"])),
                how=str(random.choice(["const", "input"])))
    if op == "GATHER":
        axis = number(0, rank - (type in PACKED))
        batch = number(0, axis + 1)
        dims = x[:batch] + tuple(number(1, 4) for _ in range(number(0, 3)))
        at = random.integers(0, x[axis], dims)
        return pick(op, type, x, at, axis, batch, **more,
                    name=f"draw_{type}_{x}_{axis}_{batch}_{dims}")
    depth = number(1, rank + 1)
    dims = tuple(number(1, 4) for _ in range(number(0, 3)))
    at = np.stack([random.integers(0, x[d], dims) for d in range(depth)], -1)
    return pick(op, type, x, at, **more, name=f"draw_{type}_{x}_{at.shape}")
