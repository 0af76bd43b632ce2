# SPDX-License-Identifier: Apache-2.0
"""Operators that run other subgraphs of the model."""
import numpy as np
from flatbuffers import flexbuffers

from ..model import EQUAL, NONE, ODD, ORDINARY, SMALL, Model

OPERATORS = ["IF", "WHILE", "CALL_ONCE", "STABLEHLO_COMPOSITE", "STABLEHLO_CASE"]
VERSIONS = dict.fromkeys(OPERATORS, 1)
PLAIN = {"ADD": dict(AddOptions=dict(fusedActivationFunction=NONE)),
         "MUL": dict(MulOptions=dict(fusedActivationFunction=NONE))}


def choose(condition, shape, resize=None, branch_shape=None, then_index=1, else_index=2, inputs=2,
           condition_type="bool", **case):
    """y = condition ? a + b : a * b."""
    m = Model()
    c = m.input(condition_type, (1,), data=[condition])
    args = [m.input("f32", shape, resize=resize) for _ in range(inputs)]
    y = m.output("f32", shape)
    m.op("IF", [c, *args], [y],
         IfOptions=dict(thenSubgraphIndex=then_index, elseSubgraphIndex=else_index))
    for op in ("ADD", "MUL"):
        m.next_subgraph()
        a, b = (m.input("f32", branch_shape or shape) for _ in range(2))
        m.op(op, [a, b], [m.output("f32", branch_shape or shape)], **PLAIN[op])
    return m.case(type="bool", **case)


def loop(limit, shape, type="f32", body="ADD", grow=False, condition_index=1, body_index=2, **case):
    """i, x = 0, x; while i < limit: i, x = i + 1, x body x; `grow`: x = concat(x, x)."""
    m = Model()
    i = m.input("i32", (1,), data=[0])
    x = m.input(type, shape, low=-3, high=3)
    m.op("WHILE", [i, x], [m.output("i32", (1,), rule=EQUAL), m.output(type, shape)],
         WhileOptions=dict(condSubgraphIndex=condition_index, bodySubgraphIndex=body_index))
    m.next_subgraph()
    ci = m.input("i32", (1,))
    m.input(type, shape)
    m.op("LESS", [ci, m.const("i32", (1,), data=[limit])], [m.output("bool", (1,))])
    m.next_subgraph()
    bi, bx = m.input("i32", (1,)), m.input(type, shape)
    bi_out = m.output("i32", (1,))
    bx_out = m.output(type, (2 * shape[0], *shape[1:]) if grow else shape)
    m.op("ADD", [bi, m.const("i32", (1,), data=[1])], [bi_out], **PLAIN["ADD"])
    if grow:
        m.op("CONCATENATION", [bx, bx], [bx_out],
             ConcatenationOptions=dict(axis=0, fusedActivationFunction=NONE))
    else:
        m.op(body, [bx, bx], [bx_out], **PLAIN[body])
    return m.case(type="i32", **case)


def once(shape, calls=1, index=1, outputs=0, inputs=0, nested=False, **case):
    """Subgraph 1 sets v to 3, once for any number of calls; v = v + x; y = v."""
    m = Model()
    x = m.input("f32", shape)

    def handle():
        made = m.tensor("resource", ())
        m.op("VAR_HANDLE", [], [made], VarHandleOptions=dict(container="", sharedName="v"))
        return made

    v = handle()
    for _ in range(calls):
        m.op("CALL_ONCE", [x] * inputs, [], CallOnceOptions=dict(initSubgraphIndex=index))
        before, after = m.tensor("f32", shape), m.tensor("f32", shape)
        m.op("READ_VARIABLE", [v], [before])
        m.op("ADD", [before, x], [after], **PLAIN["ADD"])
        m.op("ASSIGN_VARIABLE", [v, after], [])
    m.op("READ_VARIABLE", [v], [m.output("f32", shape)])
    m.next_subgraph()
    if nested:
        m.op("CALL_ONCE", [], [], CallOnceOptions=dict(initSubgraphIndex=2))
        m.next_subgraph()
    v = handle()
    count = int(np.prod(shape))
    start = m.const("f32", shape, data=[3.0] * count)
    if outputs:
        m.op("ADD", [start, start], [m.output("f32", shape)], **PLAIN["ADD"])
    m.op("ASSIGN_VARIABLE", [v, start], [])
    return m.case(type="f32", main=("CALL_ONCE", 1), **case)


def cases(op):
    yield from {"IF": _if, "WHILE": _while, "CALL_ONCE": _once, "STABLEHLO_CASE": _case,
                "STABLEHLO_COMPOSITE": _composite}[op]()


def composite(shape, resize=None, index=1, inputs=2, nested=False, outputs=1, **case):
    """y = a + b, or a + b + a + b, computed by a decomposition."""
    m = Model()
    args = [m.input("f32", shape, resize=resize) for _ in range(inputs)]
    options = lambda index: dict(StableHLOCompositeOptions=dict(
        name="deputy.sum", decompositionSubgraphIndex=index, version=1,
        compositeAttributes=list(flexbuffers.Dumps({}))))
    m.op("STABLEHLO_COMPOSITE", args, [m.output("f32", shape) for _ in range(outputs)],
         **options(index))
    m.next_subgraph()
    if nested:
        a, b = (m.input("f32", shape) for _ in range(2))
        sum = m.tensor("f32", shape)
        m.op("STABLEHLO_COMPOSITE", [a, b], [sum], **options(2))
        m.op("ADD", [sum, sum], [m.output("f32", shape)], **PLAIN["ADD"])
        m.next_subgraph()
    a, b = (m.input("f32", shape) for _ in range(2))
    m.op("ADD", [a, b], [m.output("f32", shape)], **PLAIN["ADD"])
    return m.case(type="f32", main=("STABLEHLO_COMPOSITE", 1), **case)


def _composite():
    yield composite((2, 3), name="plain", tags=ORDINARY)
    yield composite((1, 3), resize=(5, 3), name="resized", tags=ODD)
    yield composite((1,), name="one", tags=SMALL)
    yield composite((0, 2), name="empty", tags=SMALL)
    yield composite((2, 3), nested=True, name="nested")
    yield composite((2,), index=7, name="refused_no_such_subgraph")
    yield composite((2,), inputs=1, name="refused_too_few_inputs")


def case_of(number, shape, branches=2, type="i32", inputs=2, first=1, **case):
    """y = a + b, a * b or a + b again, selected by an index."""
    m = Model()
    c = m.input(type, (1,), data=[number])
    args = [m.input("f32", shape) for _ in range(inputs)]
    m.op("STABLEHLO_CASE", [c, *args], [m.output("f32", shape)],
         StablehloCaseOptions=dict(branchSubgraphIndices=list(range(first, first + branches))))
    for _ in range(1, first):
        m.next_subgraph()
    for op in ("ADD", "MUL", "ADD")[:branches]:
        m.next_subgraph()
        a, b = (m.input("f32", shape) for _ in range(2))
        m.op(op, [a, b], [m.output("f32", shape)], **PLAIN[op])
    return m.case(type="i32", main=("STABLEHLO_CASE", 1), **case)


def _case():
    for number in (0, 1, 2, 7, -1):
        yield case_of(number, (2, 3), name=f"two_{number}", tags=ORDINARY)
        yield case_of(number, (3, 5, 2), 3, name=f"three_{number}", tags=ODD)
    yield case_of(1, (1,), name="one", tags=SMALL)
    yield case_of(0, (2,), branches=1, name="a_single_branch")
    yield case_of(0, (2,), inputs=1, name="refused_too_few_inputs")
    yield case_of(0, (2,), type="i64", name="refused_long_number")
    yield case_of(1, (2,), first=2, name="later_subgraphs",
                  undefined="TFLite checks the first subgraphs, whichever the branches are")


def _once():
    yield once((2, 3), name="plain", tags=ORDINARY)
    yield once((3, 5, 7), calls=3, name="three_calls", tags=ODD)
    yield once((1,), name="one", tags=SMALL)
    yield once((2,), nested=True, name="nested")
    yield once((2,), index=0, name="refused_itself")
    yield once((2,), index=5, name="refused_no_such_subgraph")
    yield once((2,), index=-1, name="refused_negative_subgraph")
    yield once((2,), outputs=1, name="refused_a_subgraph_with_outputs")
    yield once((2,), inputs=1, name="refused_inputs")


def _if():
    for condition in (True, False):
        yield choose(condition, (2, 3), name=f"plain_{condition}", tags=ORDINARY)
        yield choose(condition, (1, 3), resize=(5, 3), name=f"resized_{condition}", tags=ODD)
        yield choose(condition, (1,), name=f"one_{condition}", tags=SMALL)
        yield choose(condition, (0, 3), name=f"empty_{condition}", tags=SMALL)
        yield choose(condition, (2, 3), branch_shape=(7,), name=f"other_shapes_{condition}")
    yield choose(True, (2,), inputs=1, name="refused_too_few_inputs")
    yield choose(True, (2,), inputs=3, name="refused_too_many_inputs")
    yield choose(1, (2,), condition_type="i32", name="refused_int_condition")
    yield choose(True, (2,), else_index=9, name="refused_no_such_subgraph")


def _while():
    yield loop(5, (2, 3), name="plain", tags=ORDINARY)
    yield loop(3, (3, 5, 2), body="MUL", name="square", tags=ODD)
    yield loop(0, (2, 3), name="no_iteration", tags=SMALL)
    yield loop(1, (1,), name="one", tags=SMALL)
    yield loop(4, (6,), type="i32", name="ints")
    yield loop(2, (0, 2), name="empty", tags=SMALL)
    for limit in (0, 1, 3):
        yield loop(limit, (1, 2), grow=True, name=f"growing_{limit}")
    yield loop(2, (2,), condition_index=7, name="refused_no_such_condition")
    yield loop(2, (2,), body_index=-1, name="refused_negative_body")


def draw(op, random):
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    if op == "IF":
        condition = bool(random.random() < 0.5)
        return choose(condition, shape, name=f"draw_{condition}_{shape}")
    if op == "STABLEHLO_COMPOSITE":
        return composite(shape, nested=bool(random.random() < 0.5), name=f"draw_{shape}")
    if op == "STABLEHLO_CASE":
        number = int(random.integers(-1, 4))
        return case_of(number, shape, 3, name=f"draw_{number}_{shape}")
    if op == "CALL_ONCE":
        return once(shape, calls=int(random.integers(1, 4)), name=f"draw_{shape}")
    limit = int(random.integers(0, 6))
    return loop(limit, shape, name=f"draw_{limit}_{shape}")
