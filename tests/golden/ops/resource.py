# SPDX-License-Identifier: Apache-2.0
"""VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE: values that the interpreter keeps by name."""
from ..model import EQUAL, ODD, ORDINARY, SMALL, ZERO_POINT, Model, q

OPERATORS = ["VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"]
VERSIONS = dict.fromkeys(OPERATORS, 1)
TYPES = ("f32", "f16", "i8", "u8", "i16", "i32", "i64", "bool")


def handle(m, name="v", container="", type="resource"):
    tensor = m.tensor(type, ())
    m.op("VAR_HANDLE", [], [tensor], VarHandleOptions=dict(container=container, sharedName=name))
    return tensor


def quantization(type, zero=3):
    return q(0.5, zero) if type in ("i8", "u8") else None


def assigned_and_read(op, type, shape, read_shape=None, read_type=None, handle_type="resource",
                      second="v", container="", zero=3, **case):
    """v = x; y = the variable named `second` of `container`."""
    m = Model()
    x = m.input(type, shape, quantization(type, zero))
    v = handle(m, type=handle_type)
    m.op("ASSIGN_VARIABLE", [v, x], [])
    y = m.output(read_type or type, shape if read_shape is None else read_shape,
                 quantization(type, zero), rule=EQUAL)
    m.op("READ_VARIABLE", [handle(m, second, container, handle_type)], [y])
    return m.case(type="resource" if op == "VAR_HANDLE" else type, main=(op, 1), **case)


def sum_of_values(op, shape, **case):
    """Two variables, one of them assigned twice: y = v + w."""
    m = Model()
    a, b, c = (m.input("f32", shape) for _ in range(3))
    v, w = handle(m, "v"), handle(m, "w")
    for variable, value in ((v, a), (w, b), (v, c)):
        m.op("ASSIGN_VARIABLE", [variable, value], [])
    values = [m.tensor("f32", shape) for _ in range(2)]
    m.op("READ_VARIABLE", [v], values[:1])
    m.op("READ_VARIABLE", [w], values[1:])
    m.op("ADD", values, [m.output("f32", shape)], AddOptions=dict(fusedActivationFunction=0))
    return m.case(type="resource" if op == "VAR_HANDLE" else "f32", main=(op, 1), **case)


def cases(op):
    for type in ("f32",) if op == "VAR_HANDLE" else TYPES:
        for shape, tags in (((2, 4), ORDINARY), ((3, 5, 7), ODD), ((1,), SMALL)):
            yield assigned_and_read(op, type, shape, name=f"{type}_{len(shape)}d", tags=tags)
        if quantization(type):
            yield assigned_and_read(op, type, (2, 3), zero=100, name=f"{type}_zero_point",
                                    tags=ZERO_POINT)
        yield assigned_and_read(op, type, (2, 3), read_shape=(), name=f"{type}_unknown_shape")
    yield assigned_and_read(op, "f32", (0, 3), name="empty")
    yield assigned_and_read(op, "f32", (2,), handle_type="i32", name="int_handle")
    yield sum_of_values(op, (2, 3), name="two_variables")
    yield assigned_and_read(op, "f32", (2,), second="w", name="refused_not_assigned")
    yield assigned_and_read(op, "f32", (2,), container="c", name="refused_other_container")
    yield assigned_and_read(op, "f32", (2,), read_type="i32", name="refused_other_type")
    yield assigned_and_read(op, "f32", (2,), handle_type="i64", name="refused_long_handle")


def draw(op, random):
    shape = tuple(int(n) for n in random.integers(1, 5, random.integers(1, 4)))
    if op == "VAR_HANDLE":
        return sum_of_values(op, shape, name=f"draw_{shape}")
    type = TYPES[int(random.integers(len(TYPES)))]
    return assigned_and_read(op, type, shape, name=f"draw_{type}_{shape}")
