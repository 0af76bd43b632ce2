# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX over the last axis, float32 and int8 (output scale 1/256, output zero point -128)."""
import numpy as np

from ..model import ODD, ORDINARY, SMALL, SUM, ZERO_POINT, Model, q

OPERATORS = ["SOFTMAX"]
VERSIONS = {"SOFTMAX": 4}


def softmax(type="f32", x=(2, 10), beta=1.0, qx=None, qo=None, version=1, data=None, low=None,
            high=None, out_type=None, out_shape=None, seed=1, resize=None, options=True, **case):
    if type == "i8":
        qx, qo = qx or q(0.1), qo or q(1 / 256, -128)
    m = Model(seed)
    source = m.input(type, x, qx, data=data, low=low, high=high, resize=resize)
    out = m.output(out_type or type, out_shape or x, qo, rule=SUM)
    m.op("SOFTMAX", [source], [out], version,
         **({"SoftmaxOptions": dict(beta=beta)} if options else {}))
    return m.case(type=type, **case)


def cases(op):
    for version in range(1, VERSIONS[op] + 1):
        for type in ("f32", "i8"):
            name = f"v{version}_{type}"
            yield softmax(type, version=version, name=f"{name}_plain", tags=ORDINARY)
            yield softmax(type, (2, 3, 5, 7), 0.7, version=version, name=f"{name}_odd", tags=ODD)
            if type == "i8":
                yield softmax(type, (3, 17), qx=q(0.07, -33), version=version,
                              name=f"{name}_zero_point", tags=ZERO_POINT)
            yield softmax(type, (3, 1), version=version, name=f"{name}_one", tags=SMALL)
            yield softmax(type, (0, 4), version=version, name=f"{name}_empty", tags=SMALL)
    for type in ("f32", "i8"):
        for number, shape in enumerate([(5,), (1, 1001), (2, 3, 4), (1, 2, 3, 4, 5), (), (4, 0),
                                        (33, 3), (2, 2, 2, 2, 2, 2)]):
            yield softmax(type, shape, name=f"{type}_shapes_{number}")
        for beta in (0.0, 0.01, 1.5, 4.0, -1.0, 100.0):
            yield softmax(type, (4, 21), beta, name=f"{type}_beta_{beta}")
        yield softmax(type, (4, 5), options=False, name=f"{type}_no_options")
        yield softmax(type, (1, 5), resize=(3, 5), name=f"{type}_resized")
    yield from _floats()
    yield from _quantised()
    yield from _refused()
    yield from _exact()


def _floats():
    yield softmax(x=(3, 40), low=-90, high=90, name="f32_large")
    yield softmax(x=(2, 5), data=np.float32([1e30, 1, 2, -1e30, 0, -3e38, 3e38, 0, 0, 0]),
                  name="f32_huge")
    yield softmax(x=(4, 3), name="f32_infinite",
                  data=np.float32([np.inf, 0, 1, -np.inf, 0, 1, np.nan, 0, 1, 0, 0, 0]))


def _quantised():
    for number, (scale, zero) in enumerate([(1e-4, 0), (0.01, 127), (1.0, -128), (8.0, 3),
                                            (0.0625, 0)]):
        yield softmax("i8", (7, 29), qx=q(scale, zero), name=f"i8_scales_{number}")
    yield softmax("i8", (2, 4), data=np.int8([127] * 4 + [-128] * 4), name="i8_all_equal")
    yield softmax("i8", (1, 4), data=np.int8([127, -128, -128, -128]), qx=q(1.0),
                  name="i8_one_certain")


def _refused():
    yield softmax("i8", (2, 4), qo=q(1 / 128, -128), name="refused_output_scale")
    yield softmax("i8", (2, 4), qo=q(1 / 256, 0), name="refused_output_zero_point")
    yield softmax("f32", (2, 4), out_type="i8", qo=q(1 / 256, -128), name="output_type",
                  undefined="TFLite writes floats into an int8 tensor")
    yield softmax("i32", (2, 4), name="refused_i32")
    yield softmax("bool", (2, 4), name="refused_bool")
    for count in (0, 2):
        m = Model()
        m.op("SOFTMAX", [m.input("f32", (3,)) for _ in range(count)], [m.output("f32", (3,))],
             SoftmaxOptions=dict(beta=1.0))
        yield m.case(f"refused_{count}_inputs", "f32")


def _exact():
    for number, (scale, zero, beta) in enumerate([(0.1, 0, 1.0), (0.03, -20, 1.0),
                                                  (1.0, 11, 0.5), (0.005, 99, 2.0)]):
        yield softmax("i8", (1024, 32), beta, qx=q(scale, zero), name=f"exact_{number}",
                      exact=True)


def draw(op, random):
    type = str(random.choice(["f32", "i8"]))
    shape = tuple(int(n) for n in random.integers(1, 12, random.integers(1, 5)))
    quant = {}
    if type == "i8":
        quant = dict(qx=q(float(10 ** random.uniform(-3, 0)), int(random.integers(-128, 128))))
    return softmax(type, shape, float(random.choice([0.5, 1.0, 1.0, 3.0])), **quant,
                   version=int(random.integers(1, 4)), seed=int(random.integers(1, 2**30)),
                   name=f"draw_{type}_{shape}")
