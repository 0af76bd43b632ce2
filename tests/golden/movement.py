# SPDX-License-Identifier: Apache-2.0
"""Shared code for the cases of data movement operators."""
import numpy as np

from .model import ODD, ORDINARY, SMALL, ZERO_POINT, q

ALL = ("f32", "f16", "i8", "u8", "i16", "i32", "i64", "u32", "bool", "str")
MOVED = (*ALL, "bf16", "c64", "f64", "u64", "u16")
MOVED_NUMBERS = tuple(t for t in MOVED if t != "str")
# Types supported by operators that copy bytes or do not read their input.
COPIED = (*MOVED, "c128", "i4", "i2", "u4")
QUANTISED = {"i8": q(0.05, 3), "u8": q(0.05, 131)}


def quant_of(type, zero=None):
    """Returns the usual quantisation of a type; `zero` replaces the zero point."""
    if zero is not None:
        return q(0.05, zero)
    return QUANTISED.get(type, q(0.05, 0) if type == "i16" else None)


def claims(build, versions, types, ordinary, odd, small):
    """Yields the rows that prove each (version, type): `build(type, **arguments)` with these arguments;
    `small` is a list of them."""
    for version in versions:
        for type in types:
            name = f"v{version}_{type}"
            common = dict(version=version, quant=quant_of(type))
            yield build(type, **common, **ordinary, name=f"{name}_plain", tags=ORDINARY)
            yield build(type, **common, **odd, name=f"{name}_odd", tags=ODD)
            if type in QUANTISED:
                yield build(type, version=version, quant=quant_of(type, 11), **ordinary,
                            name=f"{name}_zero_point", tags=ZERO_POINT)
            for number, arguments in enumerate(small):
                yield build(type, **common, **arguments, name=f"{name}_small_{number}", tags=SMALL)


def refused(build, types, arguments):
    """Yields one row for each type that the operator refuses."""
    for type in ALL:
        if type not in types:
            yield build(type, quant=quant_of(type), **arguments, name=f"refused_type_{type}")


def indices(m, type, values, how="const", shape=None):
    """Adds axes, shapes or indices as a constant or as a graph input (how="input")."""
    values = np.asarray(values, np.int64)
    shape = values.shape if shape is None else shape
    if how == "const":
        return m.const(type, shape, data=values)
    return m.input(type, shape, data=values)


def out_shape(m, type, shape, quant=None):
    """Adds the output tensor of an operator whose result must equal TFLite's."""
    from .model import EQUAL
    return m.output(type, tuple(min(max(0, int(n)), 4096) for n in shape), quant, rule=EQUAL)
