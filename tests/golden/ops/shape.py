# SPDX-License-Identifier: Apache-2.0
"""RESHAPE, SQUEEZE, EXPAND_DIMS, SHAPE, RANK and BROADCAST_ARGS, with shapes and axes known before or at
run time."""
import numpy as np

from .. import generator, movement
from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q
from ..movement import COPIED, indices, out_shape, quant_of
from ..pieces import In, Out, counts, node

OPERATORS = ["RESHAPE", "SQUEEZE", "EXPAND_DIMS", "SHAPE", "RANK", "BROADCAST_ARGS"]
VERSIONS = {"RESHAPE": 1, "SQUEEZE": 2, "EXPAND_DIMS": 1, "SHAPE": 1, "RANK": 1, "BROADCAST_ARGS": 1}


def reshape(type="f32", x=(2, 3, 4), to=(6, 4), how="const", version=1, qx=None, qo=None,
            out_type=None, options_to=None, shape_type="i32", shape_dims=None, const_x=False,
            resize=None, seed=1, **case):
    """how: "options", "const", "input" (a graph input), "computed" (another RESHAPE's result)."""
    m = Model(seed)
    source = m.const(type, x, qx) if const_x else m.input(type, x, qx, resize=resize)
    values = np.asarray(to, np.int64)
    dims = (len(to),) if shape_dims is None else shape_dims
    inputs = [source]
    if how == "const":
        inputs.append(m.const(shape_type, dims, data=values))
    elif how == "input":
        inputs.append(m.input(shape_type, dims, data=values))
    elif how == "computed":
        raw = m.input("i32", (1, len(to)), data=values)
        shape = m.tensor("i32", (len(to),))
        m.op("RESHAPE", [raw, m.const("i32", (1,), data=np.int32([len(to)]))], [shape], version,
             ReshapeOptions={})
        inputs.append(shape)
    out = m.output(out_type or type, tuple(max(0, n) for n in to), qo or qx, rule=EQUAL)
    stored = options_to if options_to is not None else (to if how == "options" else None)
    table = {} if stored is None else dict(newShape=np.asarray(stored, np.int32))
    m.op("RESHAPE", inputs, [out], version, ReshapeOptions=table)
    return m.case(type=type, **case)


def cases(op):
    if op == "RESHAPE":
        yield from _reshapes()
    elif op == "BROADCAST_ARGS":
        yield from _broadcasts()
    else:
        yield from _others(op)


def _reshapes():
    for type in COPIED:
        quant = q(0.05, 3) if type == "i8" else None
        name = f"v1_{type}"
        yield reshape(type, name=f"{name}_plain", tags=ORDINARY)
        yield reshape(type, (2, 3, 5), (5, -1, 3), name=f"{name}_odd", tags=ODD)
        if type in ("i8", "u8", "i16"):
            yield reshape(type, qx=q(0.05, 0 if type == "i16" else 7), name=f"{name}_zero_point",
                          tags=ZERO_POINT)
        yield reshape(type, (1,), (), name=f"{name}_one", tags=SMALL)
        yield reshape(type, (0, 3), (3, 0), name=f"{name}_empty", tags=SMALL)
        for how in ("options", "input", "computed"):
            yield reshape(type, how=how, qx=quant, name=f"{type}_shape_{how}")
    yield from _shapes()
    yield from _sources()
    yield from _refused()
    yield reshape("i8", (100, 1024), (-1, 64), qx=q(0.1, 5), exact=True, name="exact_i8")


def _shapes():
    forms = [((6,), (6,)), ((6,), (1, 6, 1)), ((2, 3), (-1,)), ((2, 3, 4), (2, -1)),
             ((2, 3, 4), (-1, 1, 4)), ((1, 1, 1), ()), ((), (1, 1)), ((), (-1,)), ((), ()),
             ((2, 3, 2, 2, 1, 3), (9, 8)), ((8, 9), (2, 2, 2, 3, 3, 1, 1, 1)), ((0, 4), (0,)),
             ((0, 4), (4, 0)), ((2, 0), (-1,)), ((4, 0), (0, 7)), ((2, 0), (-1, 3))]
    for how in ("options", "const", "input", "computed"):
        for number, (x, to) in enumerate(forms):
            if how == "computed" and not to:
                continue
            yield reshape(x=x, to=to, how=how, name=f"shapes_{how}_{number}")


def _sources():
    yield reshape(options_to=(4, 6), name="shape_tensor_beats_options")
    yield reshape(how="input", options_to=(4, 6), name="run_time_shape_beats_options")
    yield reshape(x=(7,), to=(0,), how="options", name="legacy_scalar_of_seven")
    yield reshape(x=(1,), to=(0,), how="options", name="legacy_scalar")
    yield reshape(const_x=True, name="constant")
    yield reshape("i8", const_x=True, how="input", qx=q(0.5, 1), name="constant_run_time_shape")
    yield reshape(x=(1, 4), to=(-1, 2), resize=(5, 4), name="resized")
    yield reshape(x=(1, 4), to=(-1, 2), how="input", resize=(5, 4), name="resized_run_time_shape")
    yield reshape(x=(1, 4), to=(2, 2), resize=(5, 4), name="refused_resized")
    yield reshape(to=(24,), shape_dims=(), name="shape_is_a_scalar")
    yield reshape(to=(4, 6), shape_dims=(1, 2), name="shape_has_rank_2")
    yield reshape(to=(4, 6), shape_dims=(1, 2), options_to=(4, 6),
                  name="shape_has_rank_2_options_too")
    yield reshape(to=(4, 6), shape_type="i64", name="shape_is_i64")
    yield reshape(to=(4, 6), shape_type="i64", options_to=(4, 6), name="shape_is_i64_options_too")
    yield reshape("i8", qx=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
    yield _chain()


def _chain():
    """Two consecutive run-time reshapes: the second one's input is dynamic."""
    m = Model()
    x = m.input("f32", (3, 4))
    first, second = m.input("i32", (1,), data=np.int32([-1])), m.const("i32", (2,),
                                                                       data=np.int32([2, -1]))
    flat = m.tensor("f32", (12,))
    m.op("RESHAPE", [x, first], [flat], ReshapeOptions={})
    m.op("RESHAPE", [flat, second], [m.output("f32", (2, 6), rule=EQUAL)], ReshapeOptions={})
    return m.case("dynamic_chain", "f32")


def _refused():
    for how in ("options", "const", "input"):
        name = f"refused_{how}"
        yield reshape(to=(5, 4), how=how, name=f"{name}_count")
        yield reshape(to=(-1, 5), how=how, name=f"{name}_stretch")
        yield reshape(to=(-1, -1), how=how, name=f"{name}_two_stretches")
        yield reshape(to=(-2, 12), how=how, name=f"{name}_negative")
        yield reshape(to=(-2, -12), how=how, name=f"{name}_two_negatives")
        yield reshape(to=(0, 24), how=how, name=f"{name}_zero")
        yield reshape(to=(-1, 0), how=how, name=f"{name}_stretch_over_zero")
        yield reshape(to=(65536, 65536), how=how, name=f"{name}_overflow")
    yield reshape(out_type="i32", name="output_type",
                  undefined="the output's type in the file is not the input's")
    yield reshape(to=(4, 6), shape_type="f32", name="refused_shape_is_f32")
    m = Model()
    m.op("RESHAPE", [m.input("f32", (2, 3))], [m.output("f32", (3, 2))])
    yield m.case("refused_no_shape", "f32")
    m = Model()
    m.op("RESHAPE", [m.input("f32", (1,))], [m.output("f32", ())], ReshapeOptions={})
    yield m.case("no_shape_of_one", "f32")
    m = Model()
    xs = [m.input("f32", (6,)), m.const("i32", (1,), data=np.int32([6])), m.input("f32", (6,))]
    m.op("RESHAPE", xs, [m.output("f32", (6,))], ReshapeOptions={})
    yield m.case("refused_three_inputs", "f32")


# ---- SQUEEZE, EXPAND_DIMS, SHAPE, RANK ----------------------------------------------------------


def other(op, type="f32", x=(2, 1, 3), dims=(), axis=1, how="const", index="i32", version=1,
          quant=None, qo=None, out=None, out_type=None, options=True, resize=None, const_x=False,
          axis_dims=(), seed=1, **case):
    """`dims` for SQUEEZE, `axis` for EXPAND_DIMS, `out` for the output type of SHAPE."""
    m = Model(seed)
    inputs = [m.const(type, x, quant) if const_x else m.input(type, x, quant, resize=resize)]
    table = {}
    if op == "EXPAND_DIMS":
        inputs.append(indices(m, index, np.full(axis_dims, axis), how, axis_dims))
    elif op == "SQUEEZE":
        table = dict(SqueezeOptions=dict(squeezeDims=np.asarray(dims, np.int32)))
    elif op == "SHAPE":
        table = dict(ShapeOptions=dict(outType=SHAPE_TYPES[out or "i32"]))
        out_type = out_type or out or "i32"
    else:
        out_type = out_type or "i32"
    keep = out_type is None
    result = out_shape(m, out_type or type, x, (qo or quant) if keep else None)
    m.op(op, inputs, [result], version, **(table if options else {}))
    return m.case(type=type, **case)


SHAPE_TYPES = {"f32": 0, "i32": 2, "i64": 4, "i16": 7}
ODD_ONES = {"SQUEEZE": dict(x=(1, 3, 1, 2), dims=(-2,)), "EXPAND_DIMS": dict(x=(3, 1, 5), axis=-1),
            "SHAPE": dict(x=(3, 1, 5, 2), out="i64"), "RANK": dict(x=(3, 1, 5, 2))}


def _others(op):
    def build(type, **arguments):
        return other(op, type, **arguments)

    small = [dict(x=(1,), axis=0), dict(x=(0, 1), axis=0)]
    yield from movement.claims(build, range(1, VERSIONS[op] + 1),
                               COPIED, {},
                               ODD_ONES[op], small)
    for number, x in enumerate(((), (5,), (1, 1, 1), (2, 0, 1), (1, 2) * 3, (1,) * 7, (1, 2) * 4)):
        # EXPAND_DIMS of the last form has an output of nine dimensions, more than Deputy supports.
        yield build("f32", x=x, axis=0, name=f"forms_{number}",
                    lenient=op == "EXPAND_DIMS" and len(x) == 8)
    if op != "RANK":
        yield build("f32", options=False, name="no_options")
    yield build("f32", x=(2, 1, 3), resize=(5, 1, 4), name="resized")
    yield build("f32", const_x=True, name="constant")
    yield build("f32", out_type="i16", name="output_type",
                undefined="the output's type in the file is not the operator's")
    if op in ("SQUEEZE", "EXPAND_DIMS"):
        yield build("i8", quant=q(0.1, 1), qo=q(0.2, 2), name="i8_other_output_scale")
        yield build("i8", x=(60, 1, 33, 40), axis=2, quant=q(0.1, 2), exact=True, name="exact_i8")
    if op == "SQUEEZE":
        for number, (x, dims) in enumerate((((1, 1, 2), (0,)), ((1, 1, 2), (0, 1)), ((1, 2), (-2,)),
                                            ((1, 1, 2), (1, 1)), ((1, 1, 2), (0, -3)), ((1,), (0,)))):
            yield build("f32", x=x, dims=dims, name=f"dims_{number}")
        for number, (x, dims) in enumerate((((2, 1), (0,)), ((2, 1), (2,)), ((2, 1), (-3,)),
                                            ((), (0,)), ((1,) * 8, range(9)), ((0, 1), (0,)),
                                            ((2, 1), (2**31 - 1,)))):
            yield build("f32", x=x, dims=list(dims), name=f"refused_{number}")
    elif op == "EXPAND_DIMS":
        for how in ("const", "input"):
            for index in ("i32", "i64"):
                for axis in (0, 1, 2, -1, -3):
                    yield build("f32", x=(2, 3), axis=axis, how=how, index=index,
                                name=f"axis_{how}_{index}_{axis}")
                for axis in (3, -4, 2**31 - 1, -2**31):
                    yield build("f32", x=(2, 3), axis=axis, how=how, index=index,
                                name=f"refused_axis_{how}_{index}_{axis}")
            yield build("str", how=how, name=f"str_axis_{how}")
            yield build("f32", index="i16", how=how, name=f"refused_axis_i16_{how}")
            yield build("f32", axis_dims=(1,), how=how, name=f"axis_vector_{how}")
            yield build("f32", axis_dims=(2,), how=how, name=f"refused_axis_2_{how}", lenient=True)
    elif op == "SHAPE":
        yield build("f32", out="i64", name="out_i64")
        yield build("f32", out="f32", name="refused_out_f32")
        yield build("f32", out="i16", name="refused_out_i16")
    yield from _followed(op)


def _followed(op):
    """The result is used as a shape: RESHAPE of a resized input to the result of SHAPE, and so on."""
    if op != "SHAPE":
        return
    for how in ("const", "input"):
        m = Model()
        x, y = m.input("f32", (2, 6), resize=(4, 6)), m.input("f32", (2, 3), resize=(8, 3))
        shape = m.tensor("i32", (2,))
        m.op("SHAPE", [y], [shape], ShapeOptions=dict(outType=2))
        if how == "input":
            # A run-time RESHAPE makes the shape unknown during prepare.
            flat = m.tensor("i32", (2,))
            m.op("RESHAPE", [shape, m.input("i32", (1,), data=np.int32([2]))], [flat],
                 ReshapeOptions={})
            shape = flat
        m.op("RESHAPE", [x, shape], [m.output("f32", (1,), rule=EQUAL)], ReshapeOptions={})
        yield m.case(f"decides_a_reshape_{how}", "f32")


def broadcast(a, b, type="i32", how="const", out=None, b_type=None, a_shape=None, b_shape=None,
              **case):
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    inputs = [In(type, a.shape if a_shape is None else a_shape, a, how == "const"),
              In(b_type or type, b.shape if b_shape is None else b_shape, b, how != "input")]
    return node("BROADCAST_ARGS", inputs, [Out(out or type, (1,), EQUAL)], type=type, **case)


def _broadcasts():
    forms = [((2, 3), (2, 3)), ((2, 1), (1, 3)), ((4,), (2, 3, 1)), ((2, 3, 1), (4,)), ((), (5, 6)),
             ((), ()), ((1,), (0,)), ((0, 1), (1, 7)), ((-1,), (1,)), ((-3,), (-3,)),
             ((2,) * 12, (1, 2))]
    for how in ("const", "input", "half"):
        for type in ("i32", "i64"):
            for number, (a, b) in enumerate(forms):
                tags = {0: ORDINARY, 3: ODD, 5: SMALL, 6: SMALL}.get(number, 0)
                yield broadcast(a, b, type, how, a_shape=(len(a),), b_shape=(len(b),), tags=tags,
                                name=f"v1_{type}_{how}_{number}")
            for number, (a, b) in enumerate((((2,), (3,)), ((2, 3), (3, 3)), ((0,), (2,)),
                                             ((-1,), (2,)), ((2**31 - 1, 1), (2, 2)))):
                yield broadcast(a, b, type, how, name=f"bad_{type}_{how}_{number}",
                                undefined="ends the process")
        yield broadcast((2**40,), (1,), "i64", how, name=f"far_{how}",
                        undefined="an int64 extent is cut to int32")
    yield broadcast((2,), (2,), b_type="i64", name="refused_mixed")
    yield broadcast((2,), (2,), out="i64", name="refused_output")
    yield broadcast((2,), (2,), "i16", name="refused_i16")
    yield broadcast((2,), (2,), "f32", name="refused_f32")
    yield broadcast(2, (2,), name="refused_scalar")
    yield broadcast(((2,),), (2,), name="refused_matrix")
    yield from counts("BROADCAST_ARGS", ((1, 1), (3, 1), (2, 2)))


def draw(op, random):
    if op == "BROADCAST_ARGS":
        full = random.integers(0, 9, random.integers(1, 7))
        a, b = (np.where(random.random(full.size) < 0.3, 1, full) for _ in range(2))
        b = b[int(random.integers(0, b.size)):]
        return broadcast(a, b, str(random.choice(["i32", "i64"])),
                         str(random.choice(["const", "input", "half"])), name=f"draw_{a}_{b}")
    if op != "RESHAPE":
        return _draw_other(op, random)
    x = tuple(int(n) for n in random.integers(1, 6, random.integers(1, 6)))
    left, to = int(np.prod(x)), []
    while left > 1 and len(to) < 6:
        factor = int(random.choice([n for n in range(1, left + 1) if left % n == 0]))
        to.append(factor)
        left //= factor
    to = to + ([left] if left > 1 or not to else [])
    if random.random() < 0.4:
        to[int(random.integers(0, len(to)))] = -1
    type = str(random.choice(["f32", "i8", "i32"]))
    how = str(random.choice(["options", "const", "input", "computed"]))
    return reshape(type, x, tuple(to), how, seed=int(random.integers(1, 2**30)),
                   name=f"draw_{type}_{x}_{to}")


def _draw_other(op, random):
    type = str(random.choice(COPIED))
    x = tuple(int(n) for n in random.choice([1, 1, 2, 3, 5], random.integers(1, 6)))
    dims = [i if random.random() < 0.5 else i - len(x) for i, n in enumerate(x)
            if n == 1 and random.random() < 0.5]
    axis = int(random.integers(-len(x) - 1, len(x) + 1))
    return other(op, type, x, dims, axis, str(random.choice(["const", "input"])),
                 str(random.choice(["i32", "i64"])), quant=quant_of(type),
                 seed=int(random.integers(1, 2**30)), name=f"draw_{type}_{x}_{dims}_{axis}")
