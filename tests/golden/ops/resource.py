# SPDX-License-Identifier: Apache-2.0
"""Variables, which the interpreter stores by name, and hash tables, which it stores by number."""
import numpy as np

from ..model import EQUAL, ODD, ORDINARY, SMALL, TYPES, ZERO_POINT, Model, q
from ..movement import COPIED

VARIABLES = ["VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"]
TABLES = ["HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE"]
OPERATORS = VARIABLES + TABLES
VERSIONS = dict.fromkeys(OPERATORS, 1)
VALUE_TYPES = tuple(t for t in COPIED if t != "str")


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


def table(op, key="i64", value="str", entries=5, lookups=(4,), table_id=7, other_id=None,
          types=None, imports=1, default=None, filled=True, keys=None, **case):
    """A table of `entries` entries, filled `imports` times with different values; y = table[x].

    Keys are 0, 3, 6, … as numbers or as text, lookups 0, 2, 4, …; `types` are those with which the
    table is created, if they differ."""
    m = Model()
    as_key = lambda n: n if key == "i64" else b"k%d" % n
    as_value = lambda n: n * 5 - 7 if value == "i64" else b"v" * (n % 4) + b"%d" % n
    count = int(np.prod(lookups))
    x = m.input(key, lookups, data=[as_key(2 * n) for n in range(count)])
    key_type, value_type = (TYPES[t][0] for t in types or (key, value))
    def create(id):
        made = m.tensor("resource", (1,))
        m.op("HASHTABLE", [], [made],
             HashtableOptions=dict(tableId=id, keyDtype=key_type, valueDtype=value_type))
        return made
    t = create(table_id)
    numbers = [3 * n for n in range(entries)] if keys is None else keys
    for time in range(imports if filled else 0):
        m.op("HASHTABLE_IMPORT",
             [t, m.const(key, (len(numbers),), data=[as_key(n) for n in numbers]),
              m.const(value, (len(numbers),), data=[as_value(n + 100 * time) for n in numbers])],
             [])
    read = t if other_id is None else create(other_id)
    if op == "HASHTABLE_SIZE":
        m.op("HASHTABLE_SIZE", [read], [m.output("i64", (1,), rule=EQUAL)])
    else:
        m.op("HASHTABLE_FIND", [read, x, m.const(value, default or (), data=[as_value(999)] *
                                                 int(np.prod(default or ())))],
             [m.output(value, lookups, rule=EQUAL)])
    type = {"HASHTABLE": "resource", "HASHTABLE_SIZE": "i64"}.get(op, key)
    return m.case(type=type, main=(op, 1), **case)


def cases(op):
    yield from _variables(op) if op in VARIABLES else _tables(op)


def _tables(op):
    for key, value in (("i64", "str"), ("str", "i64")):
        name = key if op != "HASHTABLE_SIZE" else "i64_of_" + key
        yield table(op, key, value, name=f"{name}_plain", tags=ORDINARY)
        yield table(op, key, value, 40, (3, 7, 2), name=f"{name}_3d", tags=ODD)
        yield table(op, key, value, 1, (1,), name=f"{name}_one", tags=SMALL)
        yield table(op, key, value, 0, (2,), name=f"{name}_empty_table", tags=SMALL)
        yield table(op, key, value, 3, (0, 2), name=f"{name}_no_lookups", tags=SMALL)
        yield table(op, key, value, imports=2, name=f"{name}_imported_twice")
        yield table(op, key, value, keys=[4, 0, 4, 2, 0], name=f"{name}_equal_keys")
        yield table(op, key, value, table_id=3, other_id=3, name=f"{name}_the_same_table")
        yield table(op, key, value, default=(2,), name=f"{name}_two_defaults")
        yield table(op, key, value, filled=False, name=f"{name}_nothing_imported")
        yield table(op, key, value, other_id=8, name=f"{name}_another_table")
        yield table(op, key, value, table_id=-5, name=f"{name}_negative_number")
    yield table(op, types=("str", "i64"), name="refused_other_types")
    yield table(op, types=("i32", "f32"), name="refused_unknown_types")
    yield table(op, types=("i64", "i64"), name="refused_numbers_to_numbers")


def _variables(op):
    for type in ("f32",) if op == "VAR_HANDLE" else VALUE_TYPES:
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
    if op in TABLES:
        key, value = (("i64", "str"), ("str", "i64"))[int(random.integers(2))]
        return table(op, key, value, int(random.integers(1, 30)), shape,
                     name=f"draw_{key}_{shape}")
    if op == "VAR_HANDLE":
        return sum_of_values(op, shape, name=f"draw_{shape}")
    type = VALUE_TYPES[int(random.integers(len(VALUE_TYPES)))]
    return assigned_and_read(op, type, shape, name=f"draw_{type}_{shape}")
