# SPDX-License-Identifier: Apache-2.0
"""RESHAPE: from the options, from a constant and from a shape that is only known at run time."""
import numpy as np

from .. import generator
from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q

OPERATORS = ["RESHAPE"]
VERSIONS = {"RESHAPE": 1}


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
    said = options_to if options_to is not None else (to if how == "options" else None)
    table = {} if said is None else dict(newShape=np.asarray(said, np.int32))
    m.op("RESHAPE", inputs, [out], version, ReshapeOptions=table)
    return m.case(type=type, **case)


def cases(op):
    for type in ("f32", "i8", "u8", "i16", "i32", "i64", "bool", "f16"):
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
    """Two run-time reshapes after one another: the second one's input is dynamic."""
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


def draw(op, random):
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
