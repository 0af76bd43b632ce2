# SPDX-License-Identifier: Apache-2.0
"""REDUCE_WINDOW, STABLEHLO_REDUCE_WINDOW and DILATE."""
import numpy as np

from ..model import ELEMENT, EQUAL, ODD, ORDINARY, SMALL, SUM, ZERO_POINT, Model, q
from ..pieces import In, Out, counts, node

OPERATORS = ["REDUCE_WINDOW", "STABLEHLO_REDUCE_WINDOW", "DILATE"]
VERSIONS = dict.fromkeys(OPERATORS, 1)
ADD, MUL, MIN, MAX, ALL, ANY = range(1, 7)
REDUCED = ["f32", "f64", "i8", "u8", "i16", "i32", "i64", "bool"]
DILATED = ["f32", "f16", "bf16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "c64"]


def reduce(type="f32", x=(4, 5), window=(2, 2), strides=None, dilations=None, function=ADD,
           init=0, const=True, index="i64", init_type=None, init_shape=(), out=None, quant=None,
           options=True, seed=1, data=None, resize=None, **case):
    rank = len(x)
    vectors = [(1,) * rank if v is None else v for v in (window, strides, dilations)]
    few = {} if type in ("f32", "f64", "bool") else dict(low=0, high=5)
    if type == "f64":
        few = dict(low=-2, high=2)
    inputs = [In(type, x, data, quant=quant, resize=resize, **few),
              In(init_type or type, init_shape, np.full(init_shape, init))]
    inputs += [In(index, np.shape(v), np.asarray(v, np.int64), const) for v in vectors]
    table = {"ReduceWindowOptions": dict(reduceFunction=function)} if options else {}
    summing = type in ("f32", "f64") and function in (ADD, MUL)
    return node("REDUCE_WINDOW", inputs, [Out(out or type, (1,), SUM if summing else EQUAL)],
                table=table, seed=seed, type=type, **case)


def _reduce():
    for type in REDUCED:
        yield reduce(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield reduce(type, (5, 2, 7, 3), (2, 1, 3, 2), (2, 1, 1, 1), (2, 1, 2, 1), MAX,
                     name=f"v1_{type}_odd", tags=ODD)
        yield reduce(type, (1,), (1,), name=f"v1_{type}_one", tags=SMALL)
        yield reduce(type, (0, 3), (1, 1), name=f"v1_{type}_empty", tags=SMALL)
        if type in ("i8", "u8"):
            yield reduce(type, quant=q(0.1, 7), name=f"v1_{type}_zero_point", tags=ZERO_POINT)
        for function in range(1, 7):
            yield reduce(type, (6, 7), (3, 2), (1, 2), (2, 1), function, init=1,
                         name=f"{type}_function_{function}")
            yield reduce(type, (2, 9), (1, 4), None, None, function, name=f"{type}_row_{function}")
    forms = [((7,), (3,), (2,), None), ((7,), (3,), None, (3,)), ((7,), (8,), None, None),
             ((7,), (4,), None, (3,)), ((2, 3, 1, 2, 3, 2), (1, 2, 1, 2, 2, 1), None, None),
             ((4, 4), (4, 4), None, None), ((4, 4), (2, 2), (5, 1), None), ((3, 0), (1, 2), None, None),
             ((7,), (1,), (7,), None), ((7,), (2**40,), None, None), ((7,), (2,), (2**40,), None),
             ((7,), (1,), None, (2**62,))]
    for number, (x, window, strides, dilations) in enumerate(forms):
        yield reduce("f32", x, window, strides, dilations, name=f"forms_{number}")
    wild = dict(undefined="divides by the stride, or steps outside of the input")
    for number, (window, strides, dilations) in enumerate((
            ((0,), None, None), ((-1,), None, None), ((2,), (0,), None), ((2,), (-1,), None),
            ((2,), None, (0,)), ((2,), None, (-2,)), ((-2**63,), (-2**63,), (-2**63,)),
            ((2**62,), None, (8,)))):
        yield reduce("f32", (7,), window, strides, dilations, name=f"hostile_{number}", **wild)
    for number, window in enumerate(((2,), (2, 2, 2), (), ((2, 2),))):
        yield reduce("f32", (4, 5), window, name=f"other_count_{number}",
                     undefined="reads past the window's extents")
    yield reduce("i32", (3,), (3,), data=[2**31 - 1, 2**31 - 1, 5], name="i32_wrapping")
    yield reduce("f32", (6,), (2,), function=MAX, data=np.float32([np.nan, 1, 2, np.nan, 0, -1]),
                 name="f32_nan_max", init=-9)
    yield reduce("f32", (6,), (2,), function=MIN, data=np.float32([np.nan, 1, 2, np.nan, 0, -1]),
                 name="f32_nan_min", init=9)
    yield reduce("f32", (2, 5), resize=(4, 5), name="f32_resized")
    yield reduce(const=False, name="refused_run_time_window")
    yield reduce(index="i32", name="refused_index_i32")
    yield reduce(init_type="i32", name="refused_init_type")
    yield reduce(init_shape=(1,), name="init_vector")
    yield reduce(init_shape=(2,), name="two_inits", lenient=True)
    yield reduce(init_shape=(0,), name="no_init", undefined="reads what is not there")
    yield reduce(out="i32", name="refused_output_type")
    yield reduce(options=False, name="refused_no_options")
    yield reduce(function=0, name="refused_function_0")
    yield reduce("f32", (), (), name="refused_scalar")
    yield reduce("f32", (1,) * 7, (1,) * 7, name="refused_rank_7")
    for type in ("f16", "u16", "u32", "u64", "c64"):
        yield reduce(type, name=f"refused_{type}")
    yield from counts("REDUCE_WINDOW", ((4, 1), (6, 1), (5, 2)),
                      {"ReduceWindowOptions": dict(reduceFunction=1)})


BODIES = ["ADD", "MUL", "MINIMUM", "MAXIMUM", "STABLEHLO_ADD", "STABLEHLO_MULTIPLY",
          "STABLEHLO_MINIMUM", "STABLEHLO_MAXIMUM"]
BOOLEAN_BODIES = ["LOGICAL_AND", "LOGICAL_OR"]


def bodies(type):
    """Bodies are never run, but a delegate makes the runtime prepare them: StableHLO's support every type."""
    if type == "bool":
        return BOOLEAN_BODIES
    return BODIES[4:] if type in ("f64", "i8", "u8") else BODIES


OPTIONS_OF = {"ADD": "AddOptions", "MUL": "MulOptions"}


def stablehlo(type="f32", x=(4, 5), window=(2, 2), strides=(), dilations=(), base=(), padding=(),
              body="ADD", init=0, init_type=None, init_shape=(), out=None, quant=None, seed=1,
              data=None, resize=None, subgraph=1, options=True, length=1, inputs=2, outs=1, **case):
    """Empty lists are omitted from the options."""
    m = Model(seed)
    few = {} if type in ("f32", "f64", "bool") else dict(low=0, high=5)
    if type == "f64":
        few = dict(low=-2, high=2)
    numbers = [m.input(type, x, quant, data=data, resize=resize, **few),
               m.input(init_type or type, init_shape, data=np.full(init_shape, init)),
               m.input(type, x, data=data, **few) if inputs == 3 else None]
    summing = type in ("f32", "f64") and body.endswith(("ADD", "MUL", "MULTIPLY"))
    rule = SUM if summing else EQUAL
    table = dict(windowDimensions=list(window), windowStrides=list(strides),
                 baseDilations=list(base), windowDilations=list(dilations), padding=list(padding),
                 bodySubgraphIndex=subgraph)
    m.op("STABLEHLO_REDUCE_WINDOW", numbers[:inputs],
         [m.output(out or type, (1,), quant, rule=rule) for _ in range(outs)],
         **({"StablehloReduceWindowOptions": table} if options else {}))
    m.next_subgraph()
    a, b = m.input(type, ()), m.input(type, ())
    # Every operator of the body reads the body's inputs; the last result is the body's output. Only
    # a body of one operator is valid.
    for _ in range(length):
        kind = OPTIONS_OF.get(body)
        a = m.tensor(type, ())
        m.op(body, [0, b], [a], **({kind: {}} if kind else {}))
    m.outputs.append(a)
    return m.case(type=type, main=("STABLEHLO_REDUCE_WINDOW", 1), **case)


def _stablehlo():
    for type in REDUCED:
        some = "LOGICAL_OR" if type == "bool" else "STABLEHLO_MAXIMUM"
        sum_of = "LOGICAL_AND" if type == "bool" else "STABLEHLO_ADD"
        yield stablehlo(type, body=sum_of, name=f"v1_{type}_plain", tags=ORDINARY)
        yield stablehlo(type, (5, 2, 7, 3), (2, 1, 3, 2), (2, 1, 1, 1), (2, 1, 2, 1), (1, 3, 2, 1),
                        (1, 0, -1, 2, 3, 1, 0, 0), some, name=f"v1_{type}_odd", tags=ODD)
        yield stablehlo(type, (1,), (1,), body=some, name=f"v1_{type}_one", tags=SMALL)
        if type in ("i8", "u8"):
            yield stablehlo(type, quant=q(0.1, 7), body=some, name=f"v1_{type}_zero_point",
                            tags=ZERO_POINT)
        for body in bodies(type):
            yield stablehlo(type, (6, 7), (3, 2), (1, 2), (2, 1), (), (1, 2, 0, 3), body, init=1,
                            name=f"{type}_{body.lower()}")
    forms = [dict(base=(3,)), dict(padding=(2, 1)), dict(padding=(-2, -1)), dict(padding=(-9, 12)),
             dict(padding=(9, -8)), dict(padding=(-2, 4), base=(2,)), dict(base=(4,), dilations=(4,)),
             dict(base=(2,), padding=(1, 0), strides=(2,)), dict(padding=(0, -6)),
             dict(dilations=(7,)), dict(strides=(9,)), dict(padding=(3, 0), base=(3,), init=2.5),
             dict(padding=(-7, 1)), dict(padding=(0, 0)), dict(padding=(30, 30), dilations=(20,))]
    for number, form in enumerate(forms):
        for body in ("STABLEHLO_ADD", "MINIMUM"):
            yield stablehlo("f32", (7,), (2,), body=body, **form, name=f"forms_{body}_{number}")
    yield stablehlo("f32", (2, 3, 1, 2, 3, 2), (1, 2, 1, 2, 2, 1), padding=(0, 1) * 6, base=(1, 2) * 3,
                    name="rank_6")
    yield stablehlo("f32", (3, 4), (2, 2), padding=(0, 0, 1, 1), base=(2, 1), name="one_padded_axis")
    yield stablehlo("f32", (3, 4), (2, 2), padding=(1, -1, 0, -1), name="cropped_axes")
    yield stablehlo("f32", (0, 3), (1, 1), padding=(1, 1, 0, 0), name="empty_padded")
    yield stablehlo("f32", (0, 3), (1, 1), name="empty")
    yield stablehlo("f32", (0, 3), (1, 1), base=(1, 2), name="empty_dilated",
                    undefined="writes an element where there is none")
    yield stablehlo("f32", (0, 3), (1, 1), base=(2, 1), name="empty_dilated_away",
                    undefined="its extent is negative")
    for number, padding in enumerate(((-7, 0), (-4, -3), (-8, 0), (-20, 3))):
        yield stablehlo("f32", (7,), (2,), padding=padding, name=f"refused_nothing_left_{number}")
    yield stablehlo("f32", (3, 4), (1, 1), padding=(-4, 0, -5, 0), name="less_than_nothing_left",
                    undefined="two negative extents make a positive size")
    for number, form in enumerate((dict(window=(0,)), dict(window=(-1,)), dict(strides=(0,)),
                                   dict(strides=(-1,)), dict(dilations=(0,)), dict(base=(0,)),
                                   dict(base=(-2,)), dict(dilations=(-2**63,)))):
        yield stablehlo("f32", (7,), **{"window": (2,)} | form, name=f"refused_numbers_{number}")
    for number, form in enumerate((dict(base=(2**62,)), dict(padding=(2**62, 2**62)),
                                   dict(padding=(2**31, 0)), dict(padding=(-2**63, 0)),
                                   dict(window=(2**62,), dilations=(8,)),
                                   dict(window=(2**40,)), dict(strides=(2**40,)),
                                   dict(base=(2**40,), padding=(0, -6 * 2**40)))):
        yield stablehlo("f32", (7,), **{"window": (2,)} | form, name=f"hostile_{number}",
                        undefined="extents beyond 32 bits")
    yield stablehlo("f32", (4, 5), (2,), name="refused_few_extents")
    yield stablehlo("f32", (7,), (2, 2), name="many_extents", lenient=True)
    yield stablehlo("f32", (7,), (2,), strides=(2, 2), name="refused_two_strides")
    yield stablehlo("f32", (7,), (2,), padding=(2,), name="refused_one_margin")
    yield stablehlo("f32", (7,), (), name="refused_no_extents")
    yield stablehlo("f32", (7,), (2,) * 9, name="refused_nine_extents")
    yield stablehlo("i32", (3,), (3,), data=[2**31 - 1, 2**31 - 1, 5], name="i32_wrapping")
    for body in ("MINIMUM", "MAXIMUM"):
        yield stablehlo("f32", (6,), (2,), data=np.float32([np.nan, 1, 2, np.nan, 0, -1]), body=body,
                        init=9 if body == "MINIMUM" else -9, name=f"f32_nan_{body.lower()}")
    yield stablehlo("f32", (2, 5), resize=(4, 5), padding=(1, 1, 0, 0), name="f32_resized")
    yield stablehlo(init_type="i32", name="refused_init_type")
    yield stablehlo(init_shape=(1,), name="init_vector")
    yield stablehlo(init_shape=(2,), name="two_inits", lenient=True)
    yield stablehlo(init_shape=(0,), name="no_init", undefined="reads what is not there")
    yield stablehlo(out="i32", name="refused_output_type")
    yield stablehlo(options=False, name="refused_no_options")
    yield stablehlo("f32", (), (), name="refused_scalar")
    yield stablehlo("f32", (1,) * 7, (1,) * 7, name="refused_rank_7")
    yield stablehlo(subgraph=2, name="refused_no_subgraph")
    yield stablehlo(subgraph=-1, name="negative_subgraph", undefined="reads before the subgraphs")
    yield stablehlo(subgraph=0, name="itself", lenient=True)
    yield stablehlo(body="SUB", name="refused_body")
    yield stablehlo(length=2, name="refused_two_operators")
    yield stablehlo(length=0, name="refused_no_operator")
    for type in ("f16", "u16", "u32", "u64"):
        yield stablehlo(type, body="STABLEHLO_ADD", name=f"refused_{type}")
    yield stablehlo(inputs=1, name="refused_1_input")
    yield stablehlo(inputs=3, name="refused_3_inputs")
    yield stablehlo(outs=2, name="refused_2_outputs")


def dilate(type="f32", x=(3, 4), by=(2, 3), how="const", between=7, index="i32", out=None,
           between_type=None, between_shape=(), quant=None, seed=1, **case):
    by = np.asarray(by, np.int64)
    inputs = [In(type, x, quant=quant), In(index, by.shape, by, how == "const"),
              In(between_type or type, between_shape, np.full(between_shape, between))]
    return node("DILATE", inputs, [Out(out or type, (1,), EQUAL)], seed=seed, type=type, **case)


def _dilate():
    for type in DILATED:
        yield dilate(type, name=f"v1_{type}_plain", tags=ORDINARY)
        yield dilate(type, (2, 1, 3, 2), (1, 5, 2, 1), "input", name=f"v1_{type}_odd", tags=ODD)
        yield dilate(type, (1,), (9,), name=f"v1_{type}_one", tags=SMALL)
        if type in ("i8", "u8"):
            yield dilate(type, quant=q(0.1, 7), name=f"v1_{type}_zero_point", tags=ZERO_POINT)
    forms = [((5,), (1,)), ((5,), (4,)), ((3, 4), (1, 1)), ((3, 4), (1, 3)), ((3, 4), (3, 1)),
             ((2, 3, 2, 2, 2), (2, 1, 3, 1, 2)), ((1, 1), (2**31 - 1, 2**31 - 1)),
             ((2, 1) * 4, (2, 9) * 4), ((2, 3, 4), (2, 1, 1))]
    bad = [((3, 4), (0, 1)), ((3, 4), (2, -1)), ((3, 4), (2,)), ((3, 4), (2, 2, 2)),
           ((3, 4), ((2, 2),)), ((3, 4), (-2**31, 1))]
    for how in ("const", "input"):
        for number, (x, by) in enumerate(forms):
            wild = "strides of 32 bits overflow" if number == 6 else ""
            yield dilate("f32", x, by, how, name=f"forms_{how}_{number}", undefined=wild)
        for number, (x, by) in enumerate(bad):
            wild = "reads past the dilations" if how == "const" and number == 2 else ""
            yield dilate("f32", x, by, how, name=f"refused_{how}_{number}", undefined=wild)
        for number, (x, by) in enumerate((((0, 3), (1, 1)), ((0, 3), (2, 2)), ((3, 0), (1, 2)))):
            yield dilate("f32", x, by, how, name=f"empty_{how}_{number}",
                         undefined="writes an element where there is none")
        yield dilate("f32", (3, 4), (2**31 - 1, 2), how, name=f"overflow_{how}",
                     undefined="extents of 32 bits overflow")
    yield dilate(index="i64", name="index_i64", undefined="reads int64 dilations as int32")
    yield dilate(between_type="i32", name="refused_between_type")
    yield dilate(between_shape=(1,), name="between_vector")
    yield dilate(between_shape=(2,), name="two_between", lenient=True)
    yield dilate(between_shape=(0,), name="none_between", undefined="reads what is not there")
    yield dilate(out="i32", name="refused_output_type")
    yield dilate("f32", (), np.zeros((0,)), name="refused_scalar")
    yield from counts("DILATE", ((2, 1), (4, 1), (3, 2)))


def cases(op):
    yield from {"REDUCE_WINDOW": _reduce, "DILATE": _dilate}.get(op, _stablehlo)()


def draw(op, random):
    x = tuple(int(n) for n in random.integers(1, 7, random.integers(1, 5)))
    seed = int(random.integers(1, 2**30))
    if op == "DILATE":
        type, how = str(random.choice(DILATED)), str(random.choice(["const", "input"]))
        return dilate(type, x, random.integers(1, 4, len(x)), how, seed=seed,
                      name=f"draw_{type}_{x}")
    type = str(random.choice(REDUCED))
    window, strides, dilations = (random.integers(1, 4, len(x)) for _ in range(3))
    if op == "STABLEHLO_REDUCE_WINDOW":
        body = str(random.choice(bodies(type)))
        return stablehlo(type, x, window, strides, dilations, random.integers(1, 4, len(x)).tolist(),
                         random.integers(0, 4, 2 * len(x)).tolist(), body, seed=seed,
                         name=f"draw_{type}_{x}_{window}")
    return reduce(type, x, window, strides, dilations, int(random.integers(1, 7)), seed=seed,
                  name=f"draw_{type}_{x}_{window}")
