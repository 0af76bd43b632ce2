# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE: operators that run other subgraphs of the model."""
from ..model import EQUAL, NONE, ODD, ORDINARY, SMALL, Model

OPERATORS = ["IF", "WHILE"]
VERSIONS = {"IF": 1, "WHILE": 1}
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


def cases(op):
    yield from _if() if op == "IF" else _while()


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
    limit = int(random.integers(0, 6))
    return loop(limit, shape, name=f"draw_{limit}_{shape}")
