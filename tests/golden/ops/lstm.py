# SPDX-License-Identifier: Apache-2.0
"""LSTM and its two sequence forms: float32, hybrid, int8, and the basic kernel.

States are variables, which are zero at the start. To test non-zero states, a model has several nodes
with the same states: the second begins with the final state of the first.
"""
import numpy as np

from .. import generator
from . import matmul
from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, SMALL, SUM, TANH,
                     ZERO_POINT, Model, q)

SIGMOID = 6
FULL = ["LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"]
BOTH = "BIDIRECTIONAL_SEQUENCE_LSTM"
OPERATORS = [*FULL, BOTH]
VERSIONS = {"LSTM": 4, "UNIDIRECTIONAL_SEQUENCE_LSTM": 4, BOTH: 3}
OPTIONS = {"LSTM": "LSTMOptions",
           "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions"}
HYBRID_SCALES = [0.004, 0.006, 0.003, 0.005]

# Indices of the first input of each group, as in kernels/rnn/lstm_cell.h.
INPUT, RECURRENT, PEEPHOLE, BIAS, PROJECTION, STATE, CELL, NORM = 1, 5, 9, 12, 16, 18, 19, 20


def tensors(inputs, cells, outputs, weights, cifg, peephole, norm, projection, diagonal):
    """Returns {index: (type, shape, quantisation, low, high)} of a full cell's constants."""
    made = {}
    small = weights == "f32"

    def matrix(number, shape, gate, high=0.7):
        if small:
            made[number] = ("f32", shape, None, -high, high)
        else:
            made[number] = (weights, shape, q(HYBRID_SCALES[gate % 4]), -127, None)

    for gate in range(1 if cifg else 0, 4):
        matrix(INPUT + gate, (cells, inputs), gate)
        if diagonal:
            made[RECURRENT + gate] = ("f32", (cells,), None, -0.9, 0.9)
        else:
            matrix(RECURRENT + gate, (cells, outputs), gate + 1)
        made[BIAS + gate] = ("f32", (cells,), None, -0.5, 0.5)
        if norm:
            made[NORM + gate] = ("f32", (cells,), None, 0.1, 1.2)
        if peephole and gate != 2:
            matrix(PEEPHOLE + (gate if gate < 2 else 2), (cells,), gate)
    if projection:
        matrix(PROJECTION, (outputs, cells), 2)
        if projection == "bias":
            made[PROJECTION + 1] = ("f32", (outputs,), None, -0.3, 0.3)
    return made


def full(op="UNIDIRECTIONAL_SEQUENCE_LSTM", batch=2, time=3, inputs=5, cells=4, outputs=None,
         weights="f32", cifg=False, peephole=False, norm=False, projection=False, act=TANH,
         cell_clip=0.0, proj_clip=0.0, time_major=False, asymmetric=False, diagonal=False,
         version=1, nodes=2, count=24, change=None, without=(), variable=True, states=None,
         rank=None, low=-2, high=2, data=None, options=True, resize=None, seed=1,
         out_type="f32", live=(), sparse=(), block=16, **case):
    """`change`: {index of an input: (type, shape, ...)} to replace; `without`: absent inputs; `states`:
    their shapes; `live`: inputs that are graph inputs instead of constants; `sparse`: matrices stored
    as sparse, in blocks of 1 by `block`."""
    outputs = cells if outputs is None else outputs
    m = Model(seed)
    shape = {2: (batch, inputs), 3: (time, batch, inputs) if time_major else (batch, time, inputs)}
    shape = shape[rank or (2 if op == "LSTM" else 3)] if rank in (None, 2, 3) else (inputs,) * rank
    xs = [m.input("f32", shape, low=low, high=high, resize=resize,
                  data=None if data is None else data[k]) for k in range(nodes)]
    made = tensors(inputs, cells, outputs, weights, cifg, peephole, norm, projection, diagonal)
    made.update(change or {})
    places = [-1] * count
    for number, (kind, dims, quant, least, most) in made.items():
        if number >= count or number in without:
            continue
        if number in sparse:
            rows = matmul.sparse_rows(*dims, block, seed=seed + number)
            places[number] = rows.add(m, kind, quant)
        elif number in live:
            places[number] = m.input(kind, dims, quant, low=least, high=most)
        else:
            places[number] = constant(m, kind, dims, quant, least, most)
    for number, dims in zip((STATE, CELL), states or ((batch, outputs), (batch, cells))):
        if number not in without:
            places[number] = m.tensor("f32", dims, variable=variable)
    table = dict(fusedActivationFunction=act, cellClip=cell_clip, projClip=proj_clip,
                 asymmetricQuantizeInputs=asymmetric)
    if op != "LSTM":
        table.update(timeMajor=time_major, diagonalRecurrentTensors=diagonal)
    for x in xs:
        y = m.output(out_type, (1, 1), rule=SUM)
        m.op(op, [x, *places[1:]], [y], version, **({OPTIONS[op]: table} if options else {}))
    return m.case(type="f32", main=(op, version), **case)


INTEGER_SCALES = dict(input=0.02, weights=0.004, recurrent=0.003, peephole=2.0**-14, norm=2.0**-15,
                      projection=0.006, output=1 / 128, hidden=1 / 140, gate=2.0**-10)


def integer(op="UNIDIRECTIONAL_SEQUENCE_LSTM", batch=2, time=3, inputs=5, cells=4, outputs=None,
            cifg=False, peephole=False, norm=False, projection=False, cell_clip=0.0, proj_clip=0.0,
            time_major=False, zero=3, out_zero=-5, hidden_zero=7, cell_exponent=-11, version=1,
            nodes=2, act=TANH, count=24, change=None, without=(), intermediates=5, scales=None,
            seed=1, **case):
    """int8 with an int16 cell state. `scales` replace some of INTEGER_SCALES."""
    at = {**INTEGER_SCALES, **(scales or {})}
    outputs = cells if outputs is None else outputs
    m = Model(seed)
    made = {}
    for gate in range(1 if cifg else 0, 4):
        made[INPUT + gate] = ("i8", (cells, inputs), q(at["weights"] * (1 + gate / 8)), -127, None)
        made[RECURRENT + gate] = ("i8", (cells, outputs), q(at["recurrent"]), -127, None)
        made[BIAS + gate] = ("i32", (cells,), q(at["norm"] / 1024 if norm else 8e-5), -3000, 3000)
        if norm:
            made[NORM + gate] = ("i16", (cells,), q(at["norm"]), 3000, 30000)
        if peephole and gate != 2:
            made[PEEPHOLE + (gate if gate < 2 else 2)] = ("i16", (cells,), q(at["peephole"]),
                                                          -16000, 16000)
    if projection:
        made[PROJECTION] = ("i8", (outputs, cells), q(at["projection"]), -127, None)
        if projection == "bias":
            made[PROJECTION + 1] = ("i32", (outputs,), q(4e-5), -3000, 3000)
    made.update(change or {})
    places = [-1] * count
    for number, content in sorted(made.items()):
        if number not in without and number < count:
            places[number] = constant(m, *content)
    output = q(at["output"], out_zero)
    places[STATE] = m.tensor("i8", (batch, outputs), output, variable=True)
    places[CELL] = m.tensor("i16", (batch, cells), q(2.0**cell_exponent), variable=True)
    between = [m.tensor("i16", (1,), q(at["gate"] * (1 + k / 8))) for k in range(4)]
    between += [m.tensor("i8", (1,), q(at["hidden"], hidden_zero) if projection else output)
                for _ in range(max(0, intermediates - 4))]
    table = dict(fusedActivationFunction=act, cellClip=cell_clip, projClip=proj_clip)
    if op != "LSTM":
        table["timeMajor"] = time_major
    shape = ((batch, inputs) if op == "LSTM" else (time, batch, inputs) if time_major
             else (batch, time, inputs))
    for _ in range(nodes):
        places[0] = m.input("i8", shape, q(at["input"], zero))
        m.op(op, places, [m.output("i8", (1, 1), output, rule=SUM)], version,
             between[:intermediates], **{OPTIONS[op]: table})
    return m.case(type="i8", main=(op, version), **case)


def _integer_cases(op):
    for version in range(1, VERSIONS[op] + 1):
        name = f"v{version}_i8"
        yield integer(op, version=version, name=f"{name}_plain", tags=ORDINARY)
        yield integer(op, 3, 2, 9, 8, 5, version > 1, False, version > 2, "bias", 0.9, 0.6, nodes=3,
                      time_major=True, version=version, name=f"{name}_odd", tags=ODD)
        yield integer(op, version=version, zero=-100, out_zero=88, name=f"{name}_zero_points",
                      tags=ZERO_POINT)
        yield integer(op, 1, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
    number = 0
    for cifg in (False, True):
        for peephole in (False, True):
            for norm in (False, True):
                for projection in (False, True, "bias"):
                    number += 1
                    yield integer(op, 2, 3, 17, 16, 11 if projection else None, cifg, peephole, norm,
                                  projection, time_major=number % 3 == 0, seed=number, nodes=3,
                                  name=f"i8_form_{number}")
    for exponent in range(-15, -8):
        yield integer(op, cell_exponent=exponent, nodes=4, name=f"i8_cell_exponent{exponent}")
    for number, sizes in enumerate([(1, 9, 16, 16), (5, 4, 31, 33), (3, 2, 64, 40), (1, 2, 200, 130)]):
        yield integer(op, *sizes, name=f"i8_sizes_{number}")
        yield integer(op, *sizes, outputs=7, projection=True, norm=True, cifg=True, seed=number,
                      name=f"i8_sizes_projected_{number}")
    for number, scales in enumerate([dict(input=0.5, weights=0.1), dict(recurrent=0.5),
                                     dict(output=0.001), dict(output=0.1), dict(norm=2.0**-9),
                                     dict(norm=2.0**-20), dict(gate=2.0**-4), dict(gate=2.0**-15),
                                     dict(peephole=0.01), dict(hidden=0.1), dict(projection=0.3)]):
        yield integer(op, 2, 3, 8, 6, norm=number % 2 == 0, projection=True, scales=scales,
                      peephole=True, name=f"i8_scales_{number}")
    yield integer(op, batch=0, name="i8_no_batch", tags=SMALL)
    yield integer(op, inputs=0, name="i8_no_inputs", lenient=True)
    yield integer(op, 2, 1, 6, 4, 4, True, True, False, True, cell_clip=0.01, proj_clip=0.02,
                  name="i8_clips")
    yield integer(op, 40, 3, 64, 32, nodes=2, exact=True, peephole=True, name="exact_i8")
    yield integer(op, 40, 3, 64, 32, 20, nodes=2, exact=True, norm=True, cifg=True, projection="bias",
                  name="exact_i8_projected")
    yield integer(op, count=20, name="i8_20_inputs")
    for exponent in (-8, -3, -16, -20):
        yield integer(op, cell_exponent=exponent, name=f"i8_cell_exponent{exponent}", lenient=True,
                      undefined="TFLite has no tanh or shift for it")
    for count in (0, 4, 6):
        yield integer(op, intermediates=count, name=f"refused_i8_{count}_intermediates")
    yield integer(op, intermediates=12, cifg=True, norm=True, projection="bias",
                  undefined="TFLite reads past the ends of its scales", name="i8_12_intermediates")
    yield integer(op, 2, 2, 5, 4, 6, peephole=True, projection=True,
                  undefined="TFLite reads past the peephole weights", name="i8_peephole_outputs")
    for number in (INPUT + 1, RECURRENT + 2):
        yield integer(op, change={number: ("f32", (4, 5) if number < 5 else (4, 4), None, -1, 1)},
                      lenient=number < 5, undefined="TFLite reads floats as bytes" if number < 5 else "",
                      name=f"refused_i8_type_of_{number}")
    for number in (BIAS + 1, BIAS + 2):
        yield integer(op, change={number: ("f32", (4,), None, -1, 1)},
                      name=f"refused_i8_type_of_{number}")
    yield integer(op, peephole=True, change={PEEPHOLE + 1: ("i8", (4,), q(0.01), -9, 9)},
                  name="refused_i8_peephole_of_bytes")


def basic(type="f32", batch=2, inputs=5, cells=4, version=1, nodes=2, change=None, live=False,
          variable=True, constant_state=False, count=5, outs=4, state_scale=2.0**-11, bias_scale=1e-4,
          weights=q(0.01, 121), types=None, seed=1, **case):
    """The basic kernel: `change` are replaced shapes of inputs; `live`: the states are fed; `types` are
    those of the inputs from the first one, if they differ."""
    bytes = type == "u8"
    m = Model(seed)
    shapes = [(batch, inputs), (batch, cells), (4 * cells, inputs + cells), (4 * cells,),
              (batch, cells)]
    for number, shape in (change or {}).items():
        shapes[number] = shape
    kinds = types or (["u8", "u8", "u8", "i32", "i16"] if bytes else ["f32"] * 5)
    vector, state = (q(1 / 128, 128), q(state_scale)) if bytes else (None, None)
    small = (None, None) if bytes else (-0.6, 0.6)
    if live:
        held = [m.input(kinds[1], shapes[1], vector),
                m.input(kinds[4], shapes[4], state, low=-9000 if bytes else None,
                        high=9000 if bytes else None)]
    elif constant_state:
        held = [m.const(kinds[1], shapes[1], vector), m.const(kinds[4], shapes[4], state)]
    else:
        held = [m.tensor(kinds[1], shapes[1], vector, variable=variable),
                m.tensor(kinds[4], shapes[4], state, variable=variable)]
    w = m.const(kinds[2], shapes[2], weights if bytes else None, low=small[0], high=small[1])
    b = m.const(kinds[3], shapes[3], q(bias_scale) if bytes else None,
                low=-9000 if bytes else -0.4, high=9000 if bytes else 0.4)
    for _ in range(nodes):
        x = m.input(kinds[0], shapes[0], vector)
        ys = [m.output(kind, (1, 1), quant, rule=SUM) for kind, quant in
              ((kinds[0], vector), (kinds[4], state), (kinds[0], vector), (kinds[4], q(2.0**-12) if bytes
                                                                           else None))][:outs]
        m.op("LSTM", [x, held[0], w, b, held[1]][:count], ys, version,
             LSTMOptions=dict(fusedActivationFunction=TANH, kernelType=1))
    return m.case(type=type, main=("LSTM", version), **case)


def _basic_cases():
    for version in range(1, 5):
        for type in ("f32", "u8"):
            name = f"v{version}_basic_{type}"
            yield basic(type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield basic(type, 3, 17, 9, version=version, nodes=4, name=f"{name}_odd", tags=ODD)
            if type == "u8":
                yield basic(type, version=version, weights=q(0.02, 7), name=f"{name}_zero_points",
                            tags=ZERO_POINT)
            yield basic(type, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
    outside = "TFLite reads uninitialised memory"
    for type in ("f32", "u8"):
        for number, sizes in enumerate([(1, 3, 2), (5, 31, 33), (2, 64, 40), (1, 200, 130)]):
            yield basic(type, *sizes, nodes=3, seed=number, name=f"basic_{type}_sizes_{number}")
        yield basic(type, live=True, nodes=3, name=f"basic_{type}_fed_states")
        yield basic(type, variable=False, nodes=1, undefined=outside,
                    name=f"basic_{type}_states_from_nowhere")
        yield basic(type, constant_state=True, undefined="TFLite writes to constants",
                    name=f"basic_{type}_constant_states")
        yield basic(type, batch=0, name=f"basic_{type}_no_batch", lenient=True)
        for number, shape in ((1, (3, 4)), (1, (2, 5)), (2, (16, 8)), (2, (15, 9)), (3, (15,)),
                              (4, (2, 3)), (0, (2, 5, 1))):
            yield basic(type, change={number: shape},
                        name=f"refused_basic_{type}_shape_of_{number}_{shape[0]}_{shape[-1]}")
        yield basic(type, count=4, name=f"refused_basic_{type}_4_inputs")
        yield basic(type, outs=3, name=f"refused_basic_{type}_3_outputs")
    for number, (bias_scale, weights) in enumerate([(1e-5, q(0.01, 0)), (1e-2, q(0.01, 255)),
                                                    (3e-4, q(0.01, 128))]):
        yield basic("u8", 2, 20, 16, bias_scale=bias_scale, weights=weights, nodes=3,
                    name=f"basic_u8_scales_{number}")
    yield basic("u8", state_scale=2.0**-10, name="refused_basic_u8_state_scale")
    yield basic("u8", 40, 64, 32, exact=True, nodes=3, live=True, name="exact_basic_u8")
    yield basic(types=["f32", "f32", "i8", "f32", "f32"], name="refused_basic_types")
    yield basic("i8", types=["i8", "i8", "i8", "i32", "i16"], name="refused_basic_i8")


# Index of the second cell's first tensor in each group; the keys are those of the first cell.
BACKWARD = {INPUT: 18, RECURRENT: 22, PEEPHOLE: 26, BIAS: 29, PROJECTION: 33}
AUXILIARY, AUXILIARY_WEIGHTS = 39, (40, 44)


def both(batch=2, time=3, inputs=5, cells=4, outputs=None, auxiliary=None, weights="f32",
         cifg=False, peephole=False, projection=False, act=TANH, cell_clip=0.0, proj_clip=0.0,
         time_major=True, merge=False, asymmetric=False, version=1, nodes=2, change=None,
         without=(), backward_cells=None, other_shape=None, outs=None, options=True, seed=1,
         **case):
    """`auxiliary`: values of the auxiliary input with weights; "input": without weights, as the input of
    the second cell."""
    outputs = cells if outputs is None else outputs
    m = Model(seed)
    lead = (time, batch) if time_major else (batch, time)
    made = {}
    for half in range(2):
        width = backward_cells or cells if half else cells
        for number, content in tensors(inputs, width, outputs if not half or not backward_cells
                                       else width, weights, cifg, peephole, False, projection,
                                       False).items():
            first = max(group for group in BACKWARD if group <= number)
            made[BACKWARD[first] + number - first if half else number] = content
        if isinstance(auxiliary, int):
            for gate in range(1 if cifg else 0, 4):
                kind, _, quant, least, most = made[INPUT + gate]
                made[AUXILIARY_WEIGHTS[half] + gate] = (kind, (width, auxiliary), quant, least, most)
    made.update(change or {})
    places = [-1] * 48
    for number, (kind, dims, quant, least, most) in sorted(made.items()):
        if number not in without:
            places[number] = constant(m, kind, dims, quant, least, most)
    for k, dims in enumerate([(batch, outputs), (batch, cells)] * 2):
        if 35 + k not in without:
            places[35 + k] = m.tensor("f32", dims, variable=True)
    table = dict(fusedActivationFunction=act, cellClip=cell_clip, projClip=proj_clip,
                 mergeOutputs=merge, timeMajor=time_major, asymmetricQuantizeInputs=asymmetric)
    for _ in range(nodes):
        places[0] = m.input("f32", (*lead, inputs))
        if auxiliary is not None and AUXILIARY not in without:
            places[AUXILIARY] = m.input("f32", other_shape or (
                *lead, inputs if auxiliary == "input" else auxiliary))
        ys = [m.output("f32", (1, 1, 1), rule=SUM)
              for _ in range(outs or (1 if merge else 2))]
        m.op(BOTH, places, ys, version,
             **({"BidirectionalSequenceLSTMOptions": table} if options else {}))
    return m.case(type="f32", main=(BOTH, version), **case)


def constant(m, kind, dims, quant, least, most):
    if kind != "u8":
        return m.const(kind, dims, quant, low=least, high=most)
    # int8 contents without -128, which TFLite multiplies wrongly.
    values = generator.integers(m.next_seed(), -127, 127).values(dims, np.int8)
    return m.const(kind, dims, quant, data=values.view(np.uint8))


def _both_cases():
    for version in (1, 2, 3):
        name = f"v{version}_f32"
        yield both(version=version, name=f"{name}_plain", tags=ORDINARY)
        yield both(3, 4, 7, 6, outputs=5, auxiliary=3, peephole=True, projection="bias",
                   cell_clip=0.8, proj_clip=0.5, merge=True, version=version,
                   name=f"{name}_everything", tags=ODD)
        yield both(1, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
        yield both(1, 2, 33, 17, version=version, weights="i8", name=f"v{version}_hybrid")
    outside = "TFLite reads and writes states of other batches"
    number = 0
    for weights, asymmetric in (("f32", False), ("i8", False), ("i8", True), ("u8", True)):
        name = weights if weights == "f32" else f"hybrid_{weights}_{int(asymmetric)}"
        for cifg in (False, True):
            for auxiliary in (None, "input", 6):
                for merge in (False, True):
                    for time_major in (True, False):
                        number += 1
                        yield both(2, 3, 7, 5, 4 if number % 3 == 0 else None, auxiliary, weights,
                                   cifg, number % 2 == 0, number % 3 == 0, merge=merge,
                                   time_major=time_major, asymmetric=asymmetric, seed=number,
                                   undefined=outside if merge and not time_major else "",
                                   name=f"{name}_form_{number}")
        yield both(1, 3, 7, 5, merge=True, time_major=False, weights=weights,
                   asymmetric=asymmetric, name=f"{name}_merged_batch_of_one")
        yield both(weights=weights, asymmetric=asymmetric, act=RELU6, name=f"{name}_relu6")
    for name, lead in (("no_batch", (0, 2)), ("no_steps", (2, 0))):
        yield both(*lead, name=name, tags=SMALL)
    yield both(auxiliary=0, name="no_auxiliary_values", lenient=True)
    yield both(options=False, name="no_options", act=NONE)
    yield from _both_refused()


def _both_refused():
    vector, matrix = ("f32", (4,), None, -1, 1), ("f32", (4, 5), None, -1, 1)
    for number in (2, 3, 4, 6, 8, 13, 15, 18, 19, 20, 21, 22, 25, 30, 31, 32, 35, 36, 37, 38):
        yield both(without=(number,), name=f"refused_without_{number}")
    for number in (40, 44):
        yield both(auxiliary=6, without=(number,), name=f"without_{number}",
                   undefined="TFLite reads weights that are not there")
    for number in (39, 41, 43, 45, 46, 47):
        yield both(auxiliary=6, without=(number,), name=f"refused_without_{number}")
        if number > 40:
            yield both(auxiliary=6, change={number: matrix}, name=f"refused_columns_of_{number}")
    for number in (1, 4, 18, 21):
        yield both(change={number: ("f32", (3, 5), None, -1, 1)}, name=f"refused_rows_of_{number}")
    for number in (26, 9, 28):
        yield both(change={number: vector}, name=f"refused_peephole_{number}_alone")
    yield both(backward_cells=3, name="refused_other_number_of_cells")
    yield both(auxiliary="input", other_shape=(3, 2, 6), name="refused_width_of_other_input")
    yield both(auxiliary="input", other_shape=(4, 2, 5), name="refused_steps_of_other_input")
    yield both(auxiliary=6, other_shape=(3, 3, 6), name="refused_batches_of_auxiliary")
    yield both(outs=1, name="refused_one_output")
    yield both(outs=2, merge=True, name="refused_two_outputs")
    yield both(cell_clip=-1.0, name="refused_cell_clip")
    yield both(change={18 + k: ("i8", (4, 5), q(0.01), -127, None) for k in range(4)},
               name="refused_types_of_backward_cell")


def cases(op):
    if op == BOTH:
        yield from _both_cases()
        return
    for version in range(1, VERSIONS[op] + 1):
        name = f"v{version}_f32"
        yield full(op, version=version, name=f"{name}_plain", tags=ORDINARY)
        yield full(op, 3, 2, 7, 6, outputs=5, version=version, cifg=version > 1, peephole=True,
                   norm=version > 2, projection="bias", cell_clip=0.8, proj_clip=0.5, nodes=3,
                   time_major=True, name=f"{name}_everything", tags=ODD)
        yield full(op, 1, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
        yield full(op, 1, 2, 33, 17, version=version, weights="i8", name=f"v{version}_hybrid")
    yield from _integer_cases(op)
    if op == "LSTM":
        yield from _basic_cases()
    yield from _sparse(op)
    yield from _forms(op, "f32", "f32")
    yield from _sizes(op)
    yield from _special(op)
    yield from _refused(op)
    for weights in ("i8", "u8"):
        for asymmetric in (False, True):
            kind = f"hybrid_{weights}_{'asymmetric' if asymmetric else 'symmetric'}"
            yield from _forms(op, kind, weights, asymmetric=asymmetric)


def _forms(op, name, weights, **more):
    """Every combination of optional parts, on odd sizes."""
    number = 0
    for cifg in (False, True):
        for peephole in (False, True):
            for norm in (False, True):
                for projection in (False, True, "bias"):
                    number += 1
                    yield full(op, 2 + number % 2, 2, 9, 7, outputs=5 if projection else None,
                               weights=weights, cifg=cifg, peephole=peephole, norm=norm,
                               projection=projection, time_major=number % 3 == 0, seed=number,
                               name=f"{name}_form_{number}", **more)
    for act in (RELU, RELU_N1_TO_1, RELU6, SIGN_BIT, SIGMOID):
        yield full(op, weights=weights, act=act, name=f"{name}_act_{act}", **more)
    yield full(op, weights=weights, act=NONE, low=0.1, name=f"{name}_act_none", **more)
    yield full(op, weights=weights, cell_clip=0.3, proj_clip=0.1, name=f"{name}_clips", **more)
    yield full(op, weights=weights, outputs=3, projection=True, cell_clip=0.3, proj_clip=0.1,
               name=f"{name}_projection_clips", **more)
    yield full(op, weights=weights, count=20, peephole=True, name=f"{name}_20_inputs", **more)
    yield full(op, weights=weights, states=((8,), (1, 8, 1)), name=f"{name}_flat_states", **more)
    yield full(op, weights=weights, batch=1, nodes=5, name=f"{name}_five_nodes", **more)
    zeros = [np.zeros((2, 5) if op == "LSTM" else (2, 3, 5), np.float32)] * 2
    yield full(op, weights=weights, data=zeros, name=f"{name}_zeros", **more)
    if op == "UNIDIRECTIONAL_SEQUENCE_LSTM":
        yield full(op, weights=weights, diagonal=True, version=4, name=f"{name}_diagonal", **more)
        yield full(op, weights=weights, diagonal=True, version=4, cifg=True, time_major=True,
                   peephole=True, name=f"{name}_diagonal_cifg", **more)


def _sizes(op):
    for number, (batch, time, inputs, cells) in enumerate(
            [(1, 1, 3, 2), (1, 9, 16, 16), (5, 4, 31, 33), (3, 2, 64, 40), (1, 2, 200, 130),
             (17, 1, 8, 8)]):
        yield full(op, batch, time, inputs, cells, name=f"f32_sizes_{number}")
        yield full(op, batch, time, inputs, cells, outputs=cells // 2, projection=True,
                   time_major=True, norm=True, name=f"f32_sizes_projected_{number}")
        yield full(op, batch, time, inputs, cells, weights="i8", asymmetric=number % 2 == 0,
                   time_major=number % 2 == 1, name=f"hybrid_sizes_{number}")
    yield full(op, batch=0, name="f32_no_batch", tags=SMALL)
    yield full(op, inputs=0, name="f32_no_inputs", tags=SMALL, lenient=True)
    yield full(op, cells=0, name="f32_no_cells", tags=SMALL, lenient=True)
    if op != "LSTM":
        yield full(op, time=0, name="f32_no_steps", tags=SMALL)
        yield full(op, time=1, resize=(2, 4, 5), name="f32_resized_steps")
    yield full(op, live=(INPUT, RECURRENT + 2, BIAS + 1), name="f32_live_weights")
    yield full(op, options=False, name="f32_no_options", low=0.1)


def _sparse(op):
    """The kernel of LSTM reads hybrid matrices as rows of complete blocks of 16, and requires a
    projection. The kernels of the other operators read them as dense ones, beyond their end."""
    gates = (*range(INPUT, INPUT + 4), *range(RECURRENT, RECURRENT + 4))
    common = dict(op=op, batch=3, inputs=32, cells=16, weights="i8", sparse=gates)
    if op != "LSTM":
        yield full(**common, name="refused_sparse", undefined="TFLite reads past the weights")
        return
    projected = dict(common, outputs=16, projection=True)
    yield full(**projected, name="sparse_plain")
    yield full(**dict(projected, sparse=(*gates, PROJECTION)), name="sparse_projection")
    yield full(**dict(projected, inputs=16, cells=48, outputs=32, projection="bias", seed=5),
               norm=True, peephole=True, nodes=3, name="sparse_everything")
    yield full(**dict(projected, sparse=gates[1:4] + gates[5:]), cifg=True, name="sparse_cifg")
    yield full(**dict(projected, weights="u8"), name="sparse_u8")
    dies = "TFLite looks for what a projection says of itself"
    yield full(**common, name="sparse_without_projection", undefined=dies)
    wrong = "TFLite takes the weights for blocks of 16"
    yield full(**projected, block=4, name="sparse_blocks_of_4", undefined=wrong)
    yield full(**dict(projected, sparse=(INPUT + 3,)), name="sparse_one", undefined=wrong)
    yield full(**projected, asymmetric=True, name="refused_sparse_asymmetric",
               undefined="TFLite leaves the zero points out of the products")
    yield full(**dict(projected, weights="f32"), name="refused_sparse_f32",
               undefined="TFLite reads past the weights")


def _special(op):
    shape = (2, 5) if op == "LSTM" else (2, 1, 5)
    special = np.float32([0, -0.0, np.inf, -np.inf, 1e-40, 3e38, 1, -1, 2, -3e38]).reshape(shape)
    yield full(op, time=1, data=[special, special], nodes=2, name="f32_special_values")
    nan = np.float32([np.nan, 1, 1, 1, 1, 0, 1, 2, 3, 4]).reshape(shape)
    yield full(op, time=1, data=[nan, nan], name="f32_nan")


def _refused(op):
    v = ("f32", (4,), None, -1, 1)
    w = ("f32", (4, 5), None, -1, 1)
    r = ("f32", (4, 4), None, -1, 1)
    for number in (INPUT + 1, INPUT + 2, INPUT + 3, RECURRENT + 1, RECURRENT + 2, RECURRENT + 3,
                   BIAS + 1, BIAS + 2, BIAS + 3, STATE, CELL, INPUT, RECURRENT):
        yield full(op, without=(number,), name=f"refused_without_{number}")
    yield full(op, without=(BIAS,), undefined="TFLite reads a bias that is not there",
               name="without_12")
    for number in (PEEPHOLE, PEEPHOLE + 1, PEEPHOLE + 2):
        yield full(op, peephole=True, without=(number,), name=f"refused_peephole_without_{number}")
        yield full(op, change={number: v}, name=f"refused_peephole_{number}_alone")
    for number in (NORM, NORM + 2, NORM + 3):
        yield full(op, norm=True, without=(number,), name=f"refused_norm_without_{number}")
    yield full(op, norm=True, without=(NORM + 1,), name="norm_without_forget")
    yield full(op, cifg=True, change={BIAS: v}, name="refused_cifg_with_bias")
    yield full(op, cifg=True, change={RECURRENT: r}, name="refused_cifg_with_recurrent")
    yield full(op, cifg=True, norm=True, change={NORM: v}, name="refused_cifg_with_norm")
    yield full(op, cifg=True, peephole=True, change={PEEPHOLE: v}, name="cifg_with_peephole")
    yield full(op, change={PROJECTION + 1: v}, name="refused_projection_bias_alone")
    for number in (INPUT, INPUT + 1, INPUT + 2, INPUT + 3):
        yield full(op, change={number: ("f32", (3, 5), None, -1, 1)},
                   name=f"refused_rows_of_{number}")
        yield full(op, change={number: ("f32", (4, 6), None, -1, 1)},
                   name=f"refused_columns_of_{number}")
        yield full(op, change={number: ("f32", (20,), None, -1, 1)},
                   name=f"refused_rank_of_{number}")
    for number in (RECURRENT, RECURRENT + 1, RECURRENT + 2, RECURRENT + 3):
        yield full(op, change={number: ("f32", (4, 3), None, -1, 1)}, lenient=True,
                   undefined="TFLite reads outside of tensors" if number == RECURRENT + 3 else "",
                   name=f"refused_columns_of_{number}")
        yield full(op, change={number: ("f32", (4, 4, 1), None, -1, 1)},
                   name=f"refused_rank_of_{number}")
    for number in (BIAS, BIAS + 1, BIAS + 2, BIAS + 3):
        yield full(op, change={number: ("f32", (5,), None, -1, 1)}, name=f"refused_size_of_{number}")
        yield full(op, change={number: ("i32", (4,), None, -1, 1)}, name=f"refused_type_of_{number}")
    for number in (INPUT, INPUT + 2, RECURRENT, RECURRENT + 1, RECURRENT + 3):
        yield full(op, change={number: ("i8", w[1] if number < 5 else r[1], q(0.01), -127, None)},
                   undefined="TFLite reads bytes as floats", name=f"type_of_{number}")
    yield full(op, projection=True, outputs=3, change={PROJECTION: ("f32", (3, 5), None, -1, 1)},
               name="refused_projection_columns")
    yield full(op, projection=True, outputs=3, change={PROJECTION: ("f32", (4, 4), None, -1, 1)},
               name="refused_projection_rows")
    yield full(op, outputs=3, undefined="TFLite mixes up the batches", name="fewer_outputs_than_cells")
    yield full(op, outputs=6, undefined="TFLite reads outside of tensors",
               name="more_outputs_than_cells")
    yield full(op, variable=False, name="refused_states_no_variables")
    yield full(op, states=((2, 5), (2, 4)), name="refused_output_state_size")
    yield full(op, states=((2, 4), (2, 3)), name="refused_cell_state_size")
    yield full(op, cell_clip=-1.0, name="refused_cell_clip")
    yield full(op, proj_clip=-1.0, name="refused_proj_clip")
    yield full(op, count=23, name="refused_23_inputs")
    yield full(op, count=20, without=(STATE, CELL), name="refused_no_states")
    yield full(op, rank=3 if op == "LSTM" else 2, undefined="TFLite reads outside of the shape",
               name="other_rank")
    yield full(op, rank=1, name="refused_rank_1")
    yield full(op, weights="i8", change={INPUT + 3: ("i8", (4, 5), None, -127, None)},
               lenient=True, name="hybrid_without_scale")


def draw(op, random):
    """TANH is the only activation: with others the cell's state grows, which magnifies rounding.
    (The schema has no SIGMOID, and TFLite reads it as NONE.) Outputs do not outnumber cells:
    otherwise TFLite writes beyond the end of its scratch tensor."""
    some = lambda: bool(random.integers(2))
    cells = int(random.integers(1, 40))
    projection = [False, True, "bias"][int(random.integers(3))]
    weights = ["f32", "f32", "i8", "u8"][int(random.integers(4))]
    if op == BOTH:
        merge, auxiliary = some(), [None, "input", int(random.integers(1, 9))][int(random.integers(3))]
        return both(int(random.integers(1, 4)), int(random.integers(1, 5)),
                    int(random.integers(1, 30)), cells, int(random.integers(1, cells + 1))
                    if projection else None, auxiliary, weights, some(), some(), projection,
                    time_major=merge or some(), merge=merge, asymmetric=some(),
                    version=int(random.integers(1, 4)), seed=int(random.integers(1 << 20)),
                    name=f"draw_{weights}_{cells}")
    if random.integers(3) == 0:
        return integer(op, int(random.integers(1, 4)), int(random.integers(1, 5)),
                       int(random.integers(1, 40)), cells,
                       int(random.integers(1, cells + 1)) if projection else None, some(), some(),
                       some(), projection, time_major=some(), zero=int(random.integers(-128, 128)),
                       out_zero=int(random.integers(-128, 128)),
                       hidden_zero=int(random.integers(-128, 128)),
                       cell_exponent=int(random.integers(-15, -8)), nodes=int(random.integers(1, 4)),
                       seed=int(random.integers(1 << 20)), name=f"draw_i8_{cells}")
    return full(op, int(random.integers(1, 5)), int(random.integers(1, 6)),
                int(random.integers(1, 40)), cells,
                outputs=int(random.integers(1, cells + 1)) if projection else None, weights=weights,
                cifg=some(), peephole=some(), norm=some(), projection=projection,
                act=TANH,
                cell_clip=float(random.integers(0, 3)) / 2, time_major=some(), asymmetric=some(),
                version=int(random.integers(1, 5)), nodes=int(random.integers(1, 4)),
                seed=int(random.integers(1 << 20)), name=f"draw_{weights}_{cells}")
