# SPDX-License-Identifier: Apache-2.0
"""QUANTIZE, DEQUANTIZE, DENSIFY of sparse constants, CAST, BITCAST and FAKE_QUANT."""
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from .. import generator
from ..model import (ELEMENT, EQUAL, HALF, ODD, ORDINARY, PACKED, SMALL, TYPES, ZERO_POINT, Model,
                     q)
from ..pieces import In, Out, counts, node

OPERATORS = ["QUANTIZE", "DEQUANTIZE", "DENSIFY", "CAST", "BITCAST", "FAKE_QUANT"]
VERSIONS = {"QUANTIZE": 6, "DEQUANTIZE": 9, "DENSIFY": 1, "CAST": 9, "BITCAST": 1,
            "FAKE_QUANT": 2}
# Output types of QUANTIZE by input type; MIDDLE is the middle of each type's range.
TARGETS = {"f32": ["i8", "u8", "i16", "i4", "u4"], "i8": ["i8", "u8", "i16"], "u8": ["i8", "u8", "i16"],
           "i16": ["i8", "i16", "i32"], "i32": ["i8", "i16"]}
MIDDLE = {"i8": 0, "u8": 128, "i16": 0, "i32": 0, "i4": 0, "i2": 0, "u4": 8}
CASTS = ["f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "bool", "f64", "c64",
         "bf16"]


def convert(op, source="f32", target="i8", x=(3, 7), qx=None, qo=None, version=1, data=None,
            const=False, seed=1, resize=None, low=None, high=None, options=True, **case):
    m = Model(seed)
    make = m.const if const else m.input
    more = {} if const else dict(resize=resize)
    inputs = [make(source, x, qx, data=data, low=low, high=high, **more)]
    out = m.output(target, x, qo)
    table = {"QUANTIZE": "QuantizeOptions", "DEQUANTIZE": "DequantizeOptions"}[op]
    m.op(op, inputs, [out], version, **({table: {}} if options else {}))
    return m.case(type=source, **case)


def cases(op):
    yield from {"QUANTIZE": _quantize, "DEQUANTIZE": _dequantize, "DENSIFY": _densify,
                "CAST": _cast, "BITCAST": _bitcast, "FAKE_QUANT": _fake_quant}[op]()


def _quantize():
    op = "QUANTIZE"
    for version in range(1, VERSIONS[op] + 1):
        for type in TARGETS:
            yield from _quantize_claim(type, version)
    yield from _quantize_floats()
    yield from _requantize()
    yield from _quantize_refused()
    yield from _quantize_exact()


def _some(type, scale, shift=0):
    """A scale for a type; the zero point is `shift` off the middle if the type allows one."""
    if type in ("f32", "f16"):
        return None
    return q(scale, MIDDLE[type] + (shift if type in ("i8", "u8") else 0))


def _quantize_claim(type, version):
    more = dict(op="QUANTIZE", source=type, version=version)
    if type in ("i16", "i32"):
        more.update(low=-300, high=300)
    for target in TARGETS[type]:
        name = f"v{version}_{type}" + ("" if target == "i8" else f"_{target}")
        yield convert(target=target, qx=_some(type, 0.02), qo=_some(target, 0.03),
                      name=f"{name}_plain", tags=ORDINARY, **more)
        if target != "i8" and version > 1:
            continue
        yield convert(target=target, x=(2, 3, 1, 5), qx=_some(type, 0.02), qo=_some(target, 0.013),
                      name=f"{name}_saturating", tags=ODD, **more)
        yield convert(target=target, qx=_some(type, 0.02, 31), qo=_some(target, 0.021, -17),
                      name=f"{name}_zero_point", tags=ZERO_POINT, **more)
        yield convert(target=target, x=(1,), qx=_some(type, 0.02), qo=_some(target, 0.02),
                      name=f"{name}_one", tags=SMALL, **more)
        yield convert(target=target, x=(0, 2), qx=_some(type, 0.02), qo=_some(target, 0.02),
                      name=f"{name}_empty", tags=SMALL, **more)


def _quantize_floats():
    op = "QUANTIZE"
    special = np.float32([0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 126.5, 127.5, 1e9, -1e9, 1e-40,
                          127.49999, -128.5, -129, 0.49999997, 8388609])
    for scale, zero in ((1, 0), (1, 1), (0.5, -128), (2, 127), (1e-3, 5)):
        data = special[np.abs(special / scale) < 2**31]
        yield convert(op, x=data.shape, data=data, qo=q(scale, zero),
                      name=f"f32_special_scale_{scale}_zero_{zero}")
    for name, values in (("infinite", [np.inf, -np.inf]), ("nan", [np.nan, 1]),
                         ("beyond_int32", [3e9, -3e9, 1e30])):
        yield convert(op, x=(len(values),), data=np.float32(values), qo=q(0.1, 3),
                      name=f"f32_{name}", undefined="a float beyond int32 is cast to int32")
    for number, shape in enumerate([(), (1, 1, 1, 9), (2, 2, 2, 2, 3), (67,), (1, 33, 3)]):
        yield convert(op, x=shape, qo=q(0.017, -3), name=f"f32_shapes_{number}")
    yield convert(op, x=(2, 5), resize=(7, 5), qo=q(0.02), name="f32_resized")
    yield convert(op, qo=q(0.02), options=False, name="f32_no_options")
    yield convert(op, qo=q(0.02), const=True, name="f32_constant")
    for axis, shape in ((0, (3, 4)), (1, (2, 3, 2)), (3, (1, 2, 2, 3))):
        yield convert(op, x=shape, qo=q([0.01, 0.02, 0.05], axis=axis),
                      name=f"f32_per_channel_axis_{axis}")
    yield convert(op, x=(3, 4), qo=q([0.01, 0.02, 0.05], [1, -7, 100]),
                  name="f32_per_channel_zero_points")


def _requantize():
    every = np.arange(-128, 128).astype(np.int8)
    number = 0
    for sx, so in ((1, 2), (2, 1), (0.5, 0.5), (0.02, 0.0201), (1e-3, 1), (1, 1e-3), (0.3, 0.7)):
        for zx, zo in ((0, 0), (-128, 127), (13, -40)):
            yield convert("QUANTIZE", "i8", x=(256,), data=every, qx=q(sx, zx), qo=q(so, zo),
                          name=f"i8_scales_{number}")
            number += 1
    yield from _requantize_others()


def _requantize_others():
    values = {"i8": [-128, -127, -3, 0, 1, 5, 126, 127], "u8": [0, 1, 5, 127, 128, 129, 254, 255],
              "i16": [-32768, -32767, -129, -3, 0, 5, 300, 32767],
              "i32": [-10**8, -70000, -129, -3, 0, 5, 40000, 10**8]}
    for type in ("u8", "i16", "i32", "i8"):
        for target in TARGETS[type]:
            if (type, target) == ("i8", "i8"):
                continue
            for number, (sx, so) in enumerate(((1, 2), (2, 1), (0.5, 0.5), (0.02, 0.0201),
                                               (1e-3, 1), (0.3, 0.7))):
                for shift in (0, 13):
                    yield convert("QUANTIZE", type, target, (8,), _some(type, sx, shift),
                                  _some(target, so, -3 * shift), data=values[type],
                                  name=f"{type}_{target}_scales_{number}_{shift}")
    yield convert("QUANTIZE", "i16", "i8", (40,), q(0.02, 500), q(0.03, 5), name="i16_i8_zero")
    yield convert("QUANTIZE", "i16", "i32", (40,), q(0.02, 500), q(0.03, 7000),
                  name="i16_i32_zero")
    yield convert("QUANTIZE", "i8", "i16", (40,), q(0.02, 5), q(0.003, 700), name="i8_i16_zero")
    yield convert("QUANTIZE", "i32", "i16", (40,), q(2e-6, 70000), q(0.3, 7), name="i32_i16_zero")
    yield convert("QUANTIZE", "f32", "i16", (40,), None, q(1e-4, 700), name="f32_i16_zero")
    yield convert("QUANTIZE", "i32", "i8", (2,), q(2), q(1), data=[-2**31, 2**31 - 1],
                  name="i32_far", undefined="int32 values are shifted out of 32 bits")
    for zx, zo in ((3, 0), (0, 3)):
        yield convert("QUANTIZE", "i16", "i16", (4,), q(0.02, zx), q(0.03, zo),
                      name=f"refused_i16_zero_{zx}")
    special = np.float32([0, 0.5, -0.5, 1.5, 2.5, -1.5, 127.5, 255.5, 300, -300, 40000, -40000])
    for target in ("i4", "u4"):
        for scale, shift in ((1, 0), (0.5, 7), (2, -8)):
            yield convert("QUANTIZE", "f32", target, (13,), None,
                          q(scale, MIDDLE[target] + (shift if shift != 7 else 3)),
                          data=[*special, 7.5], name=f"f32_{target}_special_{scale}")
        for axis, shape in ((0, (3, 5)), (1, (2, 3, 3))):
            yield convert("QUANTIZE", "f32", target, shape, None,
                          q([0.1, 0.2, 0.5], MIDDLE[target], axis),
                          name=f"refused_f32_{target}_per_channel_{axis}")
        yield convert("QUANTIZE", "i8", target, (4,), q(0.1), q(0.1),
                      name=f"refused_i8_to_{target}")
    for target in ("u8", "i16"):
        for scale, shift in ((1, 0), (0.5, 100), (2, -100)):
            yield convert("QUANTIZE", "f32", target, (12,), None, _some(target, scale, shift),
                          data=special, name=f"f32_{target}_special_{scale}")
        yield convert("QUANTIZE", "f32", target, (3, 4), None,
                      q([0.01, 0.02, 0.05], MIDDLE[target]), name=f"f32_{target}_per_channel")


def _quantize_refused():
    op = "QUANTIZE"
    yield convert(op, target="f32", name="refused_to_f32")
    yield convert(op, target="i8", name="refused_without_quantisation")
    yield convert(op, "i8", target="f32", qx=q(0.1), name="refused_i8_to_f32")
    yield convert(op, "i8", target="i32", qx=q(0.1), qo=q(0.1), name="refused_i8_to_i32")
    yield convert(op, "i32", target="u8", qx=q(0.1), qo=q(0.1), name="refused_i32_to_u8")
    yield convert(op, "i16", target="u8", qx=q(0.1), qo=q(0.1), name="refused_i16_to_u8")
    yield convert(op, target="i32", qo=q(0.1), name="refused_to_i32")
    yield convert(op, "f16", qo=q(0.1), name="refused_from_f16")
    yield convert(op, "i64", qo=q(0.1), name="refused_from_i64")
    yield convert(op, "bool", qo=q(0.1), name="refused_from_bool")
    yield convert(op, target="i64", qo=q(0.1), name="refused_to_i64")
    yield convert(op, x=(3, 4), qo=q([0.1, 0.2], axis=0), name="refused_scale_count")
    for count in (0, 2):
        m = Model()
        m.op(op, [m.input("f32", (3,)) for _ in range(count)], [m.output("i8", (3,), q(0.1))],
             QuantizeOptions={})
        yield m.case(f"refused_{count}_inputs", "f32")


def _quantize_exact():
    big = (128, 1024)
    yield convert("QUANTIZE", x=big, qo=q(1.0, 3), name="exact_ties", exact=True,
                  data=generator.grid(5, -600, 600, 0.25))
    yield convert("QUANTIZE", x=big, qo=q(0.0117, -9), name="exact_usual", exact=True)
    yield convert("QUANTIZE", "i8", x=big, qx=q(1.0, 3), qo=q(2.0, -5), name="exact_i8_ties",
                  exact=True)
    yield convert("QUANTIZE", "i8", x=big, qx=q(0.031, 3), qo=q(0.0117, -9),
                  name="exact_i8_saturating", exact=True)
    yield convert("QUANTIZE", "i16", "i8", x=(100, 1024), qx=q(0.00031), qo=q(0.0817, -9),
                  name="exact_i16_i8", exact=True)
    yield convert("QUANTIZE", "u8", x=(100, 1024), qx=q(0.031, 130), qo=q(0.047, -9),
                  name="exact_u8_i8", exact=True)


def _dequantize():
    op = "DEQUANTIZE"
    for version in range(1, VERSIONS[op] + 1):
        for type in ("i8", "u8", "i16", "f16", *PACKED):
            qx = dict(qx=_some(type, 0.02))
            name = f"v{version}_{type}"
            for const in (False, True):
                how = "constant" if const else "plain"
                yield convert(op, type, "f32", const=const, version=version, **qx,
                              name=f"{name}_{how}", tags=ORDINARY)
            yield convert(op, type, "f32", (2, 3, 1, 5), version=version, **qx,
                          name=f"{name}_odd", tags=ODD)
            if type in ("i8", "u8"):
                yield convert(op, type, "f32", qx=_some(type, 0.02, -77), version=version,
                              name=f"{name}_zero_point", tags=ZERO_POINT)
            yield convert(op, type, "f32", (1,), version=version, **qx, name=f"{name}_one",
                          tags=SMALL)
            yield convert(op, type, "f32", (0, 2), version=version, **qx, name=f"{name}_empty",
                          tags=SMALL)
    yield from _dequantize_values()
    yield from _dequantize_refused()
    yield convert(op, "i8", "f32", (100, 1024), qx=q(0.0371, -11), name="exact_i8", exact=True)


def _dequantize_values():
    op = "DEQUANTIZE"
    every = np.arange(-128, 128).astype(np.int8)
    for number, (scale, zero) in enumerate([(1, 0), (0.1, -128), (1e-20, 127), (1e37, 5)]):
        yield convert(op, "i8", "f32", (256,), data=every, qx=q(scale, zero),
                      name=f"i8_scales_{number}")
    for axis, shape in ((0, (3, 4)), (1, (2, 3, 2)), (3, (1, 2, 2, 3))):
        for const in (False, True):
            how = "_constant" if const else ""
            yield convert(op, "i8", "f32", shape, qx=q([0.01, 0.02, 0.05], axis=axis), const=const,
                          name=f"i8_per_channel_axis_{axis}{how}")
    yield convert(op, "i8", "f32", (3, 4), qx=q([0.01, 0.02, 0.05], [1, -7, 100]),
                  name="i8_per_channel_zero_points")
    halves = np.float16([0, -0.0, 1, -1, 65504, -65504, 6e-8, -6e-8, 6.1e-5, np.inf, -np.inf,
                         np.nan, 0.333, 1e-3, 2049, 3e-5])
    yield convert(op, "f16", "f32", (16,), data=halves, name="f16_special_values")
    yield convert(op, "f16", "f32", (16,), data=halves, const=True,
                  name="f16_special_values_constant")
    for number, shape in enumerate([(), (1, 1, 1, 9), (2, 2, 2, 2, 3), (67,)]):
        yield convert(op, "i8", "f32", shape, qx=q(0.017, -3), name=f"i8_shapes_{number}")
    for type, (_, low, high) in PACKED.items():
        every = np.arange(low, high + 1)
        for number, (scale, zero) in enumerate([(1, 0), (0.1, low), (1e-20, high)]):
            yield convert(op, type, "f32", every.shape, data=every, qx=q(scale, zero),
                          name=f"{type}_scales_{number}")
        for axis, shape in ((0, (3, 4)), (1, (2, 3, 2)), (3, (1, 2, 2, 3))):
            yield convert(op, type, "f32", shape, qx=q([0.01, 0.02, 0.05], [1, 0, low], axis),
                          const=axis == 1, name=f"{type}_per_channel_axis_{axis}")
        yield convert(op, type, "f32", name=f"{type}_without_quantisation")
        for number, shape in enumerate([(), (1, 1, 1, 9), (67,)]):
            yield convert(op, type, "f32", shape, qx=q(0.017, low), const=number == 2,
                          name=f"{type}_shapes_{number}")
    yield convert(op, "i8", "f32", (2, 5), qx=q(0.02), resize=(7, 5), name="i8_resized")
    yield convert(op, "i8", "f32", qx=q(0.02), options=False, name="i8_no_options")
    yield _shared_constant()


def _shared_constant():
    """One float16 constant, dequantised once and read twice."""
    m = Model()
    x = m.input("f32", (4,))
    wide = m.tensor("f32", (4,))
    m.op("DEQUANTIZE", [m.const("f16", (4,))], [wide], 3, DequantizeOptions={})
    first = m.tensor("f32", (4,))
    m.op("ADD", [x, wide], [first], AddOptions={})
    m.op("MUL", [first, wide], [m.output("f32", (4,))], MulOptions={})
    return m.case("f16_constant_read_twice", "f16", main=("DEQUANTIZE", 3))


def _dequantize_refused():
    op = "DEQUANTIZE"
    yield convert(op, "f32", "f32", name="refused_from_f32")
    yield convert(op, "i32", "f32", name="refused_from_i32")
    yield convert(op, "u16", "f32", name="refused_from_u16")
    yield convert(op, "i16", "f32", qx=q(0.1, 3), name="refused_i16_zero_point")
    yield convert(op, "i64", "f32", name="refused_from_i64")
    yield convert(op, "bool", "f32", name="refused_from_bool")
    yield convert(op, "i8", "i8", qx=q(0.1), qo=q(0.1), name="to_i8")
    yield convert(op, "i8", "f16", qx=q(0.1), name="to_f16")
    yield convert(op, "i8", "f32", name="i8_without_quantisation")
    yield convert(op, "i8", "f32", (3, 4), qx=q([0.1, 0.2]), name="refused_scale_count")
    for count in (0, 2):
        m = Model()
        m.op(op, [m.input("i8", (3,), q(0.1)) for _ in range(count)], [m.output("f32", (3,))],
             DequantizeOptions={})
        yield m.case(f"refused_{count}_inputs", "i8")


class Sparse:
    """A small sparse tensor: its levels, values and type."""

    def __init__(self, shape, order, blocks, levels, count):
        self.shape, self.order, self.blocks, self.levels, self.count = (
            shape, order, blocks, levels, count)

    def add(self, m, type, quant=None, seed=1):
        if type == "f32":
            values = np.arange(1, self.count + 1) / 4 - 1
        else:
            values = np.arange(1, self.count + 1) * 3 % 100 + 1
        index = m.const(type, self.shape, quant, data=values)
        m.tensors[index].sparsity = schema.SparsityParametersT(
            traversalOrder=np.int32(self.order),
            blockMap=np.int32(self.blocks) if self.blocks else None,
            dimMetadata=[self.level(level) for level in self.levels])
        return index

    @staticmethod
    def level(level):
        if isinstance(level, int):
            return schema.DimensionMetadataT(format=0, denseSize=level)
        width, segments, indices = level
        dtype, table, kind = {8: (np.uint8, schema.Uint8VectorT, "Uint8Vector"),
                              16: (np.uint16, schema.Uint16VectorT, "Uint16Vector"),
                              32: (np.int32, schema.Int32VectorT, "Int32Vector")}[width]
        kind = getattr(schema.SparseIndexVector, kind)
        return schema.DimensionMetadataT(
            format=1, denseSize=0, arraySegmentsType=kind,
            arraySegments=table(values=np.asarray(segments, dtype)), arrayIndicesType=kind,
            arrayIndices=table(values=np.asarray(indices, dtype)))


SPARSE = {
    "rows": Sparse((3, 4), [0, 1], [], [3, (32, [0, 2, 2, 5], [0, 3, 1, 2, 3])], 5),
    "bytes": Sparse((3, 4), [0, 1], [], [3, (8, [0, 2, 2, 5], [0, 3, 1, 2, 3])], 5),
    "columns": Sparse((3, 4), [1, 0], [], [4, (16, [0, 1, 1, 3, 4], [2, 0, 1, 2])], 4),
    "dense": Sparse((2, 3), [0, 1], [], [2, 3], 6),
    "both": Sparse((4, 4), [0, 1], [], [(32, [0, 2], [1, 3]), (32, [0, 1, 3], [2, 0, 3])], 3),
    "blocks": Sparse((4, 8), [0, 1, 2], [1], [4, (32, [0, 1, 1, 2, 3], [1, 0, 1]), 4], 12),
    "both_blocks": Sparse((4, 4), [0, 1, 2, 3], [0, 1],
                          [2, (32, [0, 1, 3], [1, 0, 1]), 2, 2], 12),
    "turned_blocks": Sparse((4, 4), [1, 0, 3, 2], [0, 1],
                            [2, (32, [0, 1, 3], [1, 0, 1]), 2, 2], 12),
    "cube": Sparse((2, 3, 4), [0, 1, 2], [],
                   [2, (32, [0, 1, 3], [2, 0, 1]), (8, [0, 2, 3, 5], [0, 3, 1, 0, 2])], 5),
    "vector": Sparse((7,), [0], [], [(32, [0, 3], [1, 4, 6])], 3),
    "one": Sparse((1,), [0], [], [(32, [0, 1], [0])], 1),
}


def sparse(form, type="f32", read=True, quant=None, **case):
    """DENSIFY of a sparse constant; `read`: a MAXIMUM reads the result, else it is an output."""
    m, tensor = Model(), SPARSE[form]
    x = tensor.add(m, type, quant)
    if not read:
        m.op("DENSIFY", [x], [m.output(type, tensor.shape, quant, EQUAL)])
        return m.case(type=type, **case)
    wide = m.tensor(type, tensor.shape, quant)
    m.op("DENSIFY", [x], [wide])
    y = m.input(type, tensor.shape, quant)
    m.op("MAXIMUM", [wide, y], [m.output(type, tensor.shape, quant, EQUAL)])
    return m.case(type=type, **case)


def _densify():
    for type in ("f32", "f16", "i8"):
        for form in SPARSE:
            tags = {"rows": ORDINARY, "both_blocks": ODD, "one": SMALL}.get(form, 0)
            yield sparse(form, type, name=f"{type}_{form}", tags=tags)
            yield sparse(form, type, False, name=f"{type}_{form}_output")
    yield sparse("rows", "i8", quant=q(0.1, 7), name="i8_zero_point", tags=ZERO_POINT)
    yield sparse("rows", "i8", False, quant=q(0.1, 7), name="i8_zero_point_output")
    for type in ("u8", "i16", "i32", "i64", "bool"):
        yield sparse("rows", type, False, name=f"refused_{type}")
    m = Model()
    m.op("DENSIFY", [m.const("f32", (2, 3))], [m.output("f32", (2, 3))])
    yield m.case("refused_dense_constant", "f32")
    m = Model()
    m.op("DENSIFY", [m.input("f32", (2, 3))], [m.output("f32", (2, 3))])
    yield m.case("refused_input", "f32")


def cast(source, target, x=(2, 3), version=1, data=None, seed=1, resize=None, options=False,
         low=None, high=None, **case):
    m = Model(seed)
    if low is None:
        low, high = (0, 100) if source[0] == "u" else (-100, 100)
    if source == "f64":
        data = np.arange(np.prod(resize or x)) / 3 - 1 if data is None else data
    if source in ("f32", "f16", "bf16", "c64") and data is None:
        if target[0] == "u":
            low = 0
    rule = HALF if target == "f16" else EQUAL
    tables = dict(CastOptions=dict(inDataType=0, outDataType=2)) if options else {}
    m.op("CAST", [m.input(source, x, data=data, low=None if source == "bool" else low,
                          high=None if source == "bool" else high, resize=resize)],
         [m.output(target, x, rule=rule)], version, **tables)
    return m.case(type=source, **case)


def _cast():
    for version in range(1, VERSIONS["CAST"] + 1):
        for number, source in enumerate(CASTS):
            name, target = f"v{version}_{source}", CASTS[(number + version) % len(CASTS)]
            yield cast(source, target, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield cast(source, "f32", (3, 1, 5), version, name=f"{name}_odd", tags=ODD)
            yield cast(source, "i32", (1,), version, name=f"{name}_one", tags=SMALL)
            yield cast(source, "i8", (0, 2), version, name=f"{name}_empty", tags=SMALL)
            if source in ("i8", "u8"):  # the scale has no effect, but every such type needs the tag
                yield cast(source, "i64", (7,), version, name=f"{name}_zero_point",
                           tags=ZERO_POINT)
    special = [0, -0.0, 0.5, -0.5, 1.7, -1.7, 126.99, 255.9, 256, -129, 70000, 3e9, -3e9, 1e20,
               -1e20, np.inf, -np.inf, np.nan, 2147483520, 1e-3]
    whole = {"i8": [-128, -1, 0, 1, 127], "u8": [0, 1, 127, 128, 255],
             "i16": [-32768, -129, -1, 0, 128, 300, 32767], "u16": [0, 129, 32768, 65535],
             "i32": [-2**31, -70000, -129, -1, 0, 300, 2**24 + 1, 2**31 - 1],
             "u32": [0, 300, 2**24 + 1, 2**31, 2**32 - 1],
             "i64": [-2**63, -2**40 - 5, -1, 0, 300, 2**31, 2**53 + 1, 2**63 - 1],
             "bf16": special, "c64": np.array(special) + 7j, "bool": [0, 1], "f32": special, "f64": special + [1e300, 2**53 + 1, 2**63],
             "f16": np.clip(np.nan_to_num(special, nan=3, posinf=np.inf, neginf=-np.inf),
                            -np.inf, np.inf)}
    for source in CASTS:
        with np.errstate(over="ignore"):
            data = np.asarray(whole[source])
            if source == "f16":
                data = data.astype(np.float16)
        for target in CASTS:
            yield cast(source, target, data.shape, data=data, name=f"{source}_to_{target}")
    for type in PACKED:
        yield from _cast_packed(type, special)
    for type in ("str", "u64"):
        m = Model()
        m.op("CAST", [m.input(type, (2,))], [m.output("f32", (2,))])
        yield m.case(f"refused_from_{type}", type)
        m = Model()
        m.op("CAST", [m.input("f32", (2,))], [m.output(type, (2,))])
        yield m.case(f"refused_to_{type}", "f32")
    yield cast("f32", "i32", (1, 3), resize=(4, 3), name="resized")
    yield cast("f32", "i32", (), name="scalar")
    yield cast("f32", "i16", (5,), options=True, name="options_of_other_types")
    for count in (0, 2):
        m = Model()
        m.op("CAST", [m.input("f32", (3,)) for _ in range(count)], [m.output("i32", (3,))])
        yield m.case(f"refused_{count}_inputs", "f32")


def _cast_packed(type, special):
    """The inputs and outputs of packed types are casts themselves."""
    _, low, high = PACKED[type]
    for version in range(1, VERSIONS["CAST"] + 1):
        for name, shape, tags in (("plain", (2, 3), ORDINARY), ("odd", (3, 1, 5), ODD),
                                  ("one", (1,), SMALL), ("empty", (0, 2), SMALL)):
            yield cast(type, "f32", shape, version, low=low, high=high,
                       name=f"v{version}_{type}_{name}", tags=tags)
        yield cast("f32", type, (67,), version, low=low - 3, high=high + 3,
                   name=f"v{version}_f32_to_{type}")
    yield cast("f32", type, (len(special),), data=special, name=f"f32_to_{type}")
    for other in CASTS:
        if other != "f32":
            yield cast(type, other, (2, 3), low=low, high=high, name=f"refused_{type}_to_{other}")
            yield cast(other, type, (2, 3), low=0, high=1, name=f"refused_{other}_to_{type}")


def fake(shape=(3, 5), low=-1.5, high=1.25, bits=8, narrow=False, type="f32", version=1, out="f32",
         data=None, options=True, seed=1, resize=None, **case):
    table = {"FakeQuantOptions": dict(min=low, max=high, numBits=bits, narrowRange=narrow)}
    return node("FAKE_QUANT", [In(type, shape, data, resize=resize)], [Out(out, shape, ELEMENT)],
                version, table if options else {}, seed, **case)


def _fake_quant():
    for version in (1, 2):
        for name, shape, tags in (("plain", (3, 5), ORDINARY), ("odd", (2, 1, 3, 7), ODD),
                                  ("one", (1,), SMALL), ("empty", (0, 3), SMALL)):
            yield fake(shape, version=version, name=f"v{version}_f32_{name}", tags=tags)
    for number, (low, high) in enumerate(((-1, 1), (0, 2), (-2, 0), (0.5, 1.5), (-1.5, -0.25),
                                          (-0.001, 1), (-1e-6, 1e-6), (-1e6, 3e6), (-1, 0.001))):
        for bits in (1, 2, 4, 8, 15, 16):
            yield fake((67,), low, high, bits, name=f"f32_range_{number}_bits_{bits}")
    special = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, 0.5, 0.24999, -1.5, 1.25])
    yield fake((10,), data=special, name="f32_special")
    yield fake((10,), -32, 31.75, 8, data=np.float32([0.125, 0.375, -0.125, -0.375, 1.125, 1.375,
                                                      31.7, 31.8, -32.1, -31.9]), name="f32_ties")
    yield fake((), name="f32_scalar")
    yield fake((1, 5), resize=(4, 5), name="f32_resized")
    yield fake(narrow=True, name="refused_narrow_range")
    for bits in (0, -1, 17, 24, 31, 32, -2**31):
        yield fake(bits=bits, name=f"bits_{bits}", undefined="steps of more than 16 bits or none")
    for number, (low, high) in enumerate(((1, 1), (0, 0), (1, -1), (np.nan, 1), (-1, np.inf),
                                          (-3e38, 3e38))):
        yield fake(low=low, high=high, name=f"no_range_{number}", undefined="no range")
    yield fake(options=False, name="no_options", undefined="no range")
    for type in ("f16", "i8", "i32", "f64"):
        yield fake(type=type, out=type, name=f"as_float_{type}", undefined="reads it as floats")
    yield fake(out="i32", name="output_type",
               undefined="the output's type in the file is not the input's")
    yield from counts("FAKE_QUANT", ((0, 1), (2, 1), (1, 2)),
                      {"FakeQuantOptions": dict(min=-1.0, max=1.0, numBits=8)})


BITS = ["f32", "f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "c64",
        "bf16"]


def bitcast(source, target, shape, seed=1, quant=None, **case):
    """Random bits; if `target` is bool or a float, only values with a unique representation."""
    low = high = None
    if target == "bool":
        low, high = 0, 1
    elif source[0] in "iu" and (target[0] in "fc" or target == "bf16"):
        low, high = 0, 50   # no NaN, which may lose bits when copied
    return node("BITCAST", [In(source, shape, low=low, high=high, quant=quant)],
                [Out(target, shape, EQUAL)], seed=seed, **case)


def _bitcast():
    for source in BITS:
        bytes = np.dtype(TYPES[source][2]).itemsize
        target = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}[bytes]
        yield bitcast(source, target, (2, 3), name=f"v1_{source}_plain", tags=ORDINARY)
        more = (2, 1, 3, 8 // bytes) if bytes < 8 else (2, 1, 3)
        yield bitcast(source, "i64" if bytes < 8 else "u8", more, name=f"v1_{source}_odd", tags=ODD)
        yield bitcast(source, target, (1,), name=f"v1_{source}_one", tags=SMALL)
        yield bitcast(source, target, (0, 3), name=f"v1_{source}_empty", tags=SMALL)
        if source in ("i8", "u8"):
            yield bitcast(source, target, (5,), quant=q(0.1, 3), name=f"v1_{source}_zero_point",
                          tags=ZERO_POINT)
        for other in BITS:
            wide = np.dtype(TYPES[other][2]).itemsize
            shape = (3, wide // bytes) if wide > bytes else (3,)
            if source != other and not (other == "bool" and bytes > 1):
                yield bitcast(source, other, shape, name=f"{source}_to_{other}")
    yield bitcast("f32", "u8", (), name="scalar_to_vector")
    yield bitcast("u8", "f32", (4,), name="vector_to_scalar")
    yield bitcast("u8", "f32", (), name="scalar_to_wider",
                  undefined="reads the last dimension of a scalar")
    for shape in ((3,), (5,), (4, 3), (4, 0)):
        yield bitcast("u8", "f32", shape, name=f"refused_shape_{shape}")
    yield bitcast("f32", "u8", (1,) * 7, name="rank_7_to_8")
    yield bitcast("f32", "u8", (1,) * 8, name="refused_rank_9", lenient=True)
    yield node("BITCAST", [In("str", (2,))], [Out("u8", (2,))], name="refused_str")
    yield node("BITCAST", [In("u8", (4,))], [Out("str", (2,))], name="refused_to_str")
    yield from counts("BITCAST", ((0, 1), (2, 1), (1, 2)))


def draw(op, random):
    if op == "FAKE_QUANT":
        low, high = np.sort(random.uniform(-3, 3, 2))
        shape = tuple(int(n) for n in random.integers(1, 9, random.integers(0, 4)))
        return fake(shape, float(low), float(high), int(random.integers(1, 17)),
                    seed=int(random.integers(1, 2**30)), name=f"draw_{low}_{high}")
    if op == "BITCAST":
        source, target = (str(random.choice(BITS[:-2])) for _ in range(2))
        if target == "bool":
            target = "u8"
        ratio = np.dtype(TYPES[target][2]).itemsize // np.dtype(TYPES[source][2]).itemsize
        shape = tuple(int(n) for n in random.integers(1, 9, random.integers(0, 4)))
        return bitcast(source, target, shape + ((ratio,) if ratio > 1 else ()),
                       int(random.integers(1, 2**30)), name=f"draw_{source}_{target}_{shape}")
    shape = tuple(int(n) for n in random.integers(1, 12, random.integers(1, 5)))
    def some():
        return q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128)))
    seed = int(random.integers(1, 2**30))
    if op == "DENSIFY":
        form, type = str(random.choice(list(SPARSE))), str(random.choice(["f32", "f16", "i8"]))
        return sparse(form, type, bool(random.integers(0, 2)), name=f"draw_{type}_{form}")
    if op == "CAST":
        source, target = (str(t) for t in random.choice(CASTS, 2))
        return cast(source, target, shape, int(random.integers(1, 10)), seed=seed,
                    name=f"draw_{source}_{target}_{shape}")
    def fit(type):
        quant = some()
        if type in PACKED:
            quant.zero //= 16
        quant.zero = 0 if type == "i16" or type == "i32" else quant.zero + MIDDLE.get(type, 0)
        return None if type in ("f32", "f16") else quant
    if op == "QUANTIZE":
        source = str(random.choice(list(TARGETS)))
        target = str(random.choice(TARGETS[source]))
        small = dict(low=-20000, high=20000) if source == "i32" else {}
        return convert(op, source, target, shape, fit(source), fit(target),
                       int(random.integers(1, 7)), seed=seed, **small,
                       name=f"draw_{source}_{target}_{shape}")
    source = str(random.choice(["i8", "u8", "i16", "f16"]))
    return convert(op, source, "f32", shape, fit(source), None,
                   int(random.integers(1, 10)), const=bool(random.integers(0, 2)), seed=seed,
                   name=f"draw_{source}_{shape}")
