# SPDX-License-Identifier: Apache-2.0
"""RNN, its two sequence forms, and SVDF: float32 and hybrid, SVDF also int8.

States are variables, which are zero at the start. To test non-zero states, a model has several nodes
with the same states: the second begins with the final state of the first.
"""
import numpy as np

from ..model import (NONE, ODD, ORDINARY, RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, SMALL, SUM, TANH,
                     ZERO_POINT, Model, q)
from .lstm import SIGMOID, constant

STEP, SEQUENCE, BOTH = "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN", "BIDIRECTIONAL_SEQUENCE_RNN"
OPERATORS = [STEP, SEQUENCE, BOTH, "SVDF"]
VERSIONS = {STEP: 3, SEQUENCE: 3, BOTH: 3, "SVDF": 4}
OPTIONS = {STEP: "RNNOptions", SEQUENCE: "SequenceRNNOptions",
           BOTH: "BidirectionalSequenceRNNOptions", "SVDF": "SVDFOptions"}
FORMS = [("f32", "f32", False), ("hybrid_i8", "i8", False), ("hybrid_i8_asymmetric", "i8", True),
         ("hybrid_u8", "u8", False), ("hybrid_u8_asymmetric", "u8", True)]


def matrix(shape, weights, scale=0.004):
    """Small weights keep TANH away from 1: for states between -1 and 1 the zero point is -0.5, where the
    last bit of a state decides how all of it is rounded."""
    scale = float(scale * min(1, 3 / np.sqrt(shape[-1] + 1)))
    if weights == "f32":
        return "f32", shape, None, -150 * scale, 150 * scale
    return weights, shape, q(scale), -127, None


def cell(inputs, units, weights, batch, auxiliary=None):
    """Returns (type, shape, quantisation, low, high) of a cell's weights, bias and (variable) state."""
    return [matrix((units, inputs), weights), matrix((units, units), weights, 0.003),
            ("f32", (units,), None, -0.4, 0.4), ("variable", (batch, units))]


def recurrent(op, batch=2, time=3, inputs=5, units=4, weights="f32", act=TANH, time_major=True,
              merge=False, auxiliary=None, asymmetric=False, version=1, nodes=2, change=None,
              without=(), backward_units=None, other_shape=None, outs=None, variable=True, rank=None,
              options=True, data=None, resize=None, count=None, seed=1, **case):
    """`auxiliary`: values of the auxiliary input with weights; "input": without weights, as the input of
    the second cell. `change` and `without` are as in lstm.full."""
    m = Model(seed)
    made = cell(inputs, units, weights, batch)
    if op == BOTH:
        made += cell(inputs, backward_units or units, weights, batch)
    made = dict(enumerate(made, 1))
    if isinstance(auxiliary, int):
        made[10] = matrix((units, auxiliary), weights, 0.002)
        made[11] = matrix((backward_units or units, auxiliary), weights, 0.002)
    made.update(change or {})
    places = [-1] * (count or (12 if op == BOTH else 5))
    for number, (kind, dims, *rest) in sorted(made.items()):
        if number not in without and number < len(places):
            places[number] = (m.tensor("f32", dims, variable=variable) if kind == "variable"
                              else constant(m, kind, dims, *rest))
    lead = (batch,) if op == STEP else (time, batch) if time_major else (batch, time)
    shape = (*lead, inputs) if rank is None else (inputs,) * rank
    table = dict(fusedActivationFunction=act, asymmetricQuantizeInputs=asymmetric)
    if op != STEP:
        table["timeMajor"] = time_major
    if op == BOTH:
        table["mergeOutputs"] = merge
    for _ in range(nodes):
        places[0] = m.input("f32", shape, data=data, resize=resize)
        if auxiliary is not None and 9 not in without:
            places[9] = m.input("f32", other_shape or (
                *lead, inputs if auxiliary == "input" else auxiliary))
        ys = [m.output("f32", (1, 1), rule=SUM)
              for _ in range(outs or (2 if op == BOTH and not merge else 1))]
        m.op(op, places, ys, version, **({OPTIONS[op]: table} if options else {}))
    return m.case(type="f32", main=(op, version), **case)


def svdf(type="f32", batch=2, inputs=5, units=4, rank=1, memory=6, weights=None, act=None, bias=True,
         asymmetric=False, version=1, nodes=3, qx=q(0.03, 4), qo=q(0.05, -3), change=None, without=(),
         variable=True, count=5, options=True, data=None, resize=None, state=None, seed=1,
         out_type=None, scales=(0.005, 0.001, 0.0005), **case):
    """`scales`: for int8, those of the features' weights, the weights over time and the state."""
    integer = type == "i8"
    weights = weights or ("i8" if integer else "f32")
    filters = units * abs(rank)
    m = Model(seed)
    made = {1: matrix((filters, inputs), weights, scales[0]), 2: matrix((filters, memory), weights)}
    if integer:
        made[2] = ("i16", (filters, memory), q(scales[1]), -3000, 3000)
    if bias:
        made[3] = ("i32", (units,), q(1e-4), -3000, 3000) if integer else (
            "f32", (units,), None, -0.4, 0.4)
    made.update(change or {})
    places = [-1] * count
    for number, (kind, dims, *rest) in made.items():
        if number not in without:
            places[number] = constant(m, kind, dims, *rest)
    if 4 not in without:
        places[4] = m.tensor("i16" if integer else "f32", state or (batch, memory * filters),
                             q(scales[2]) if integer else None, variable=variable)
    act = (RELU if integer else NONE) if act is None else act
    table = dict(rank=rank, fusedActivationFunction=act, asymmetricQuantizeInputs=asymmetric)
    for _ in range(nodes):
        places[0] = m.input(type, (batch, inputs), qx if integer else None, data=data, resize=resize)
        y = m.output(out_type or type, (1, 1), qo if integer else None, rule=SUM)
        m.op("SVDF", places, [y], version, **({"SVDFOptions": table} if options else {}))
    return m.case(type=type, main=("SVDF", version), **case)


def cases(op):
    yield from _svdf_cases() if op == "SVDF" else _recurrent_cases(op)


def _recurrent_cases(op):
    for version in range(1, 4):
        name = f"v{version}_f32"
        yield recurrent(op, version=version, name=f"{name}_plain", tags=ORDINARY)
        yield recurrent(op, 3, 4, 7, 9, act=RELU6, time_major=False, version=version, nodes=3,
                        name=f"{name}_odd", tags=ODD)
        yield recurrent(op, 1, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
        yield recurrent(op, 2, 3, 17, 9, "i8", version=version, name=f"v{version}_hybrid")
    for name, weights, asymmetric in FORMS:
        for act in (NONE, RELU, RELU_N1_TO_1, RELU6, SIGN_BIT, SIGMOID):
            yield recurrent(op, weights=weights, act=act, asymmetric=asymmetric,
                            name=f"{name}_act_{act}")
        for number, (batch, time, inputs, units) in enumerate(
                [(1, 7, 3, 2), (4, 2, 31, 33), (3, 3, 64, 17), (1, 2, 100, 70)]):
            for time_major in (True, False):
                yield recurrent(op, batch, time, inputs, units, weights, time_major=time_major,
                                asymmetric=asymmetric, seed=number,
                                name=f"{name}_sizes_{number}_{int(time_major)}")
        zeros = np.zeros(10 if op == STEP else 30, np.float32)
        yield recurrent(op, weights=weights, asymmetric=asymmetric, data=zeros, name=f"{name}_zeros")
    yield recurrent(op, batch=0, name="no_batch", tags=SMALL)
    yield recurrent(op, inputs=0, name="no_inputs", tags=SMALL, lenient=True)
    yield recurrent(op, units=0, name="no_units", tags=SMALL, lenient=True)
    yield recurrent(op, options=False, act=NONE, time_major=False, name="no_options")
    if op != STEP:
        yield recurrent(op, time=0, name="no_steps", tags=SMALL)
        yield recurrent(op, time=1, resize=(4, 2, 5), name="resized_steps")
    yield from _recurrent_refused(op)
    if op == BOTH:
        yield from _both_cases()


def _recurrent_refused(op):
    for number in (1, 2, 3, 4):
        yield recurrent(op, without=(number,), name=f"refused_without_{number}")
    for number, shape in ((1, (3, 5)), (1, (4, 6)), (2, (3, 4)), (3, (5,))):
        yield recurrent(op, change={number: ("f32", shape, None, -1, 1)},
                        name=f"refused_shape_of_{number}_{shape[0]}")
    yield recurrent(op, change={2: ("f32", (4, 3), None, -1, 1)}, name="columns_of_2",
                    undefined="TFLite reads outside of tensors" if op == BOTH else "")
    for shape in ((2, 5), (3, 4), (8,)):
        yield recurrent(op, change={4: ("variable", shape)}, name=f"refused_state_{len(shape)}_{shape[-1]}")
    yield recurrent(op, variable=False, name="refused_state_is_no_variable")
    yield recurrent(op, change={2: ("i8", (4, 4), q(0.01), -127, None)}, name="types_of_weights",
                    undefined="TFLite reads bytes as floats" if op == BOTH else "")
    yield recurrent(op, change={3: ("i32", (4,), None, -1, 1)}, name="type_of_bias",
                    undefined="TFLite reads integers as floats")
    yield recurrent(op, rank=1, undefined="TFLite reads outside of the shape" if op == STEP else "",
                    name="rank_1")
    yield recurrent(op, count=4 if op != BOTH else 11, name="refused_one_input_less")
    yield recurrent(op, outs=3 if op == BOTH else 2, name="refused_outputs")


def _both_cases():
    other = "TFLite takes the steps of the auxiliary input to be as long as those of the input"
    number = 0
    for name, weights, asymmetric in FORMS:
        for auxiliary in (None, "input", 5, 3):
            for merge in (False, True):
                for time_major in (True, False):
                    number += 1
                    why = other if auxiliary == 3 and (time_major or weights != "f32") else ""
                    yield recurrent(BOTH, 2, 3, 5, 4, weights, [TANH, RELU][number % 2], time_major,
                                    merge, auxiliary, asymmetric, backward_units=6 - number % 3,
                                    undefined=why, seed=number, name=f"{name}_form_{number}")
    for number in (5, 6, 7, 8):
        yield recurrent(BOTH, without=(number,), name=f"refused_backward_without_{number}")
    for number in (10, 11):
        yield recurrent(BOTH, auxiliary=5, without=(number,), name=f"refused_auxiliary_without_{number}")
    yield recurrent(BOTH, auxiliary=5, without=(9,), undefined="TFLite reads an input that is not there",
                    name="no_auxiliary_input")
    for shape in ((4, 2, 5), (3, 3, 5), (3, 2, 6)):
        yield recurrent(BOTH, auxiliary=5, other_shape=shape, undefined="TFLite ends the process",
                        name=f"auxiliary_shape_{shape[0]}{shape[1]}{shape[2]}")


def _svdf_cases():
    for version in range(1, 5):
        for type in ("f32", "i8"):
            name = f"v{version}_{type}"
            yield svdf(type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield svdf(type, 3, 17, 5, 3, 7, version=version, nodes=9, name=f"{name}_odd", tags=ODD)
            yield svdf(type, 1, 1, 1, 1, 1, version=version, nodes=1, name=f"{name}_one", tags=SMALL)
            if type == "i8":
                yield svdf(type, 2, 33, 6, 2, 9, version=version, qx=q(0.05, -77), qo=q(0.1, 101),
                           name=f"{name}_zero_points", tags=ZERO_POINT)
        yield svdf(weights="i8", version=version, name=f"v{version}_hybrid")
    for name, weights, asymmetric in FORMS:
        for act in (RELU, RELU_N1_TO_1, RELU6, TANH, SIGN_BIT, SIGMOID):
            yield svdf(weights=weights, act=act, asymmetric=asymmetric, name=f"{name}_act_{act}")
        for number, sizes in enumerate([(1, 3, 2, 1, 4), (4, 31, 9, 2, 10), (2, 64, 33, 1, 1),
                                        (1, 200, 40, 4, 17), (3, 8, 3, 5, 2)]):
            yield svdf("f32", *sizes, weights=weights, asymmetric=asymmetric, nodes=5, seed=number,
                       name=f"{name}_sizes_{number}")
        yield svdf(weights=weights, asymmetric=asymmetric, bias=False, name=f"{name}_no_bias")
        yield svdf(weights=weights, asymmetric=asymmetric, data=np.zeros(10, np.float32),
                   name=f"{name}_zeros")
    for number, sizes in enumerate([(1, 3, 2, 1, 4), (4, 31, 9, 2, 10), (2, 64, 33, 1, 1),
                                    (1, 200, 40, 4, 17), (3, 8, 3, 5, 2)]):
        yield svdf("i8", *sizes, nodes=5, seed=number, name=f"i8_sizes_{number}")
    number = 0
    for scales in ((0.005, 0.001, 0.0005), (0.05, 1e-3, 1e-3), (0.01, 3e-5, 2e-4), (0.5, 0.01, 0.02),
                   (1e-4, 1e-4, 1e-4)):
        for qo in (q(0.05, -128), q(0.5, 0), q(1e-3, 127)):
            number += 1
            yield svdf("i8", 2, 20, 7, 2, 5, scales=scales, qo=qo, seed=number,
                       name=f"i8_scales_{number}")
    yield svdf("i8", bias=False, name="i8_no_bias")
    yield svdf("i8", 40, 64, 100, 2, 8, nodes=3, exact=True, name="exact_i8")
    yield svdf("i8", 40, 64, 100, 1, 8, nodes=3, exact=True, qx=q(0.5, -3), scales=(0.5, 0.25, 4.0),
               qo=q(8.0, 5), name="exact_i8_ties")
    for type in ("f32", "i8"):
        yield svdf(type, batch=0, name=f"{type}_no_batch", tags=SMALL)
        yield svdf(type, inputs=0, name=f"{type}_no_inputs", lenient=True)
        yield svdf(type, units=0, name=f"{type}_no_units", lenient=True)
        yield svdf(type, memory=0, name=f"{type}_no_memory", lenient=True,
                   undefined="TFLite writes outside of the state")
        yield from _svdf_refused(type)
    for act in (NONE, RELU6, TANH):
        yield svdf("i8", act=act, name=f"refused_i8_act_{act}")
    for number in (1, 2):
        yield svdf("i8", change={number: matrix((4, 5 if number == 1 else 6), "i8")[:2] + (None, -9, 9)}
                   if number == 1 else {2: ("i16", (4, 6), None, -9, 9)},
                   name=f"refused_i8_{number}_without_scale")
    yield svdf("i8", change={2: ("i8", (4, 6), q(0.01), -9, 9)}, name="i8_time_of_bytes",
               undefined="TFLite reads bytes as int16")
    yield svdf(options=False, name="refused_no_options")
    yield svdf("i16", weights="i8", name="refused_i16")
    yield svdf(weights="i16", name="refused_weights_i16")


def _svdf_refused(type):
    name = f"refused_{type}"
    low = dict(f32=(None, -1, 1), i8=(q(0.01), -9, 9))[type]
    for number in (1, 2, 4):
        yield svdf(type, without=(number,), name=f"{name}_without_{number}")
    for rank in (0, 3):
        yield svdf(type, rank=rank, change={1: (type, (4, 5), *low),
                                            2: ("i16" if type == "i8" else type, (4, 6), *low)},
                   state=(2, 24), bias=False, name=f"{name}_rank_{rank}")
    yield svdf(type, rank=-1, bias=False, undefined="TFLite makes a negative size", name=f"{type}_rank_-1")
    yield svdf(type, change={1: (type, (4, 6), *low)}, name=f"{name}_inputs")
    yield svdf(type, change={2: ("i16" if type == "i8" else type, (5, 6), *low)}, name=f"{name}_filters")
    yield svdf(type, change={3: ("i32" if type == "i8" else "f32", (5,), None, -1, 1)},
               name=f"{name}_bias")
    yield svdf(type, state=(2, 23), name=f"{name}_state_size")
    yield svdf(type, state=(3, 24), name=f"{name}_state_batches")
    yield svdf(type, state=(48,), name=f"{name}_state_rank")
    yield svdf(type, variable=False, name=f"{name}_state_is_no_variable")
    yield svdf(type, count=4, without=(4,), name=f"{name}_4_inputs")


def draw(op, random):
    some = lambda: bool(random.integers(2))
    name, weights, asymmetric = FORMS[int(random.integers(len(FORMS)))]
    batch, inputs = int(random.integers(1, 5)), int(random.integers(1, 40))
    units, seed = int(random.integers(1, 30)), int(random.integers(1 << 20))
    act = [NONE, RELU, RELU6, TANH, SIGMOID][int(random.integers(5))]
    if op == "SVDF":
        if some():
            return svdf("i8", batch, inputs, units, int(random.integers(1, 4)),
                        int(random.integers(1, 12)), seed=seed, bias=some(),
                        qx=q(float(random.uniform(0.01, 0.1)), int(random.integers(-128, 128))),
                        qo=q(float(random.uniform(0.01, 0.3)), int(random.integers(-128, 128))),
                        nodes=int(random.integers(1, 9)), name="draw_i8")
        return svdf("f32", batch, inputs, units, int(random.integers(1, 4)),
                    int(random.integers(1, 12)), weights, act, some(), asymmetric, seed=seed,
                    nodes=int(random.integers(1, 9)), name=f"draw_{name}")
    auxiliary = [None, "input"][int(random.integers(2))] if op == BOTH else None
    return recurrent(op, batch, int(random.integers(1, 6)), inputs, units, weights, act, some(),
                     op == BOTH and some(), auxiliary, asymmetric, seed=seed,
                     version=int(random.integers(1, 4)), nodes=int(random.integers(1, 4)),
                     name=f"draw_{name}")
