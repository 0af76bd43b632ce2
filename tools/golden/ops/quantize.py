# SPDX-License-Identifier: Apache-2.0
"""QUANTIZE (float32 to int8, int8 to int8) and DEQUANTIZE (int8 and float16 to float32)."""
import numpy as np

from .. import generator
from ..model import ODD, ORDINARY, SMALL, ZERO_POINT, Model, q

OPERATORS = ["QUANTIZE", "DEQUANTIZE"]
VERSIONS = {"QUANTIZE": 6, "DEQUANTIZE": 9}


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
    yield from (_quantize() if op == "QUANTIZE" else _dequantize())


def _quantize():
    op = "QUANTIZE"
    for version in range(1, VERSIONS[op] + 1):
        for type in ("f32", "i8"):
            qx = dict(qx=q(0.02)) if type == "i8" else {}
            name = f"v{version}_{type}"
            yield convert(op, type, qo=q(0.02 if type == "f32" else 0.03), version=version, **qx,
                          name=f"{name}_plain", tags=ORDINARY)
            yield convert(op, type, x=(2, 3, 1, 5), qo=q(0.013), version=version, **qx,
                          name=f"{name}_saturating", tags=ODD)
            if type == "i8":
                qx = dict(qx=q(0.02, 31))
            yield convert(op, type, qo=q(0.021, -17), version=version, **qx,
                          name=f"{name}_zero_point", tags=ZERO_POINT)
            yield convert(op, type, x=(1,), qo=q(0.02), version=version, **qx,
                          name=f"{name}_one", tags=SMALL)
            yield convert(op, type, x=(0, 2), qo=q(0.02), version=version, **qx,
                          name=f"{name}_empty", tags=SMALL)
    yield from _quantize_floats()
    yield from _requantize()
    yield from _quantize_refused()
    yield from _quantize_exact()


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


def _quantize_refused():
    op = "QUANTIZE"
    yield convert(op, target="f32", name="refused_to_f32")
    yield convert(op, target="i8", name="refused_without_quantisation")
    yield convert(op, "i8", target="f32", qx=q(0.1), name="refused_i8_to_f32")
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


def _dequantize():
    op = "DEQUANTIZE"
    for version in range(1, VERSIONS[op] + 1):
        for type in ("i8", "f16"):
            qx = dict(qx=q(0.02)) if type == "i8" else {}
            name = f"v{version}_{type}"
            for const in (False, True):
                how = "constant" if const else "plain"
                yield convert(op, type, "f32", const=const, version=version, **qx,
                              name=f"{name}_{how}", tags=ORDINARY)
            yield convert(op, type, "f32", (2, 3, 1, 5), version=version, **qx,
                          name=f"{name}_odd", tags=ODD)
            if type == "i8":
                yield convert(op, type, "f32", qx=q(0.02, -77), version=version,
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
    yield convert(op, "i64", "f32", name="refused_from_i64")
    yield convert(op, "bool", "f32", name="refused_from_bool")
    yield convert(op, "i8", "i8", qx=q(0.1), qo=q(0.1), lenient=True, name="to_i8")
    yield convert(op, "i8", "f16", qx=q(0.1), lenient=True, name="to_f16")
    yield convert(op, "i8", "f32", name="i8_without_quantisation")
    yield convert(op, "i8", "f32", (3, 4), qx=q([0.1, 0.2]), name="refused_scale_count")
    for count in (0, 2):
        m = Model()
        m.op(op, [m.input("i8", (3,), q(0.1)) for _ in range(count)], [m.output("f32", (3,))],
             DequantizeOptions={})
        yield m.case(f"refused_{count}_inputs", "i8")


def draw(op, random):
    shape = tuple(int(n) for n in random.integers(1, 12, random.integers(1, 5)))
    def some():
        return q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128)))
    seed = int(random.integers(1, 2**30))
    if op == "QUANTIZE":
        source = str(random.choice(["f32", "i8"]))
        return convert(op, source, "i8", shape, some() if source == "i8" else None, some(),
                       int(random.integers(1, 7)), seed=seed, name=f"draw_{source}_{shape}")
    source = str(random.choice(["i8", "f16"]))
    return convert(op, source, "f32", shape, some() if source == "i8" else None, None,
                   int(random.integers(1, 10)), const=bool(random.integers(0, 2)), seed=seed,
                   name=f"draw_{source}_{shape}")
