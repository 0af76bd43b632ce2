# SPDX-License-Identifier: Apache-2.0
"""Streaming models: a step of a sequence per inference, the rest in variables. Written with what the
real TFLite answered to a hundred inferences, with a reset of the variables in between, for
tests/streaming_test.cc.

An .answers file holds four int32 (inferences, the number of the first one after the reset, bytes of
an input, bytes of an output) and then each inference's input and output.
"""
import pathlib
import struct

import numpy as np

from .model import RELU, TANH, Model, q
from .ops import lstm, rnn
from .tflite import RESOLVERS, Interpreter

INFERENCES, RESET = 100, 60
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "data" / "streams"


def cell(m, x, inputs, cells, weights):
    """A layer as Keras has it: its LSTM for one sequence, one step at a time."""
    places = [-1] * 24
    made = lstm.tensors(inputs, cells, cells, weights, False, False, False, False, False)
    for number, content in sorted(made.items()):
        places[number] = lstm.constant(m, *content)
    places[lstm.STATE], places[lstm.CELL] = (m.tensor("f32", (1, cells), variable=True)
                                             for _ in range(2))
    places[0] = x
    y = m.tensor("f32", (1, 1, cells))
    m.op("UNIDIRECTIONAL_SEQUENCE_LSTM", places, [y], 1 if weights == "f32" else 3,
         UnidirectionalSequenceLSTMOptions=dict(fusedActivationFunction=TANH, cellClip=10.0))
    return y


def layers(weights):
    """Two such layers and a dense one."""
    m = Model(7)
    x = m.input("f32", (1, 1, 8))
    y = cell(m, cell(m, x, 8, 20, weights), 20, 12, weights)
    w = m.const("f32", (4, 12), low=-0.5, high=0.5)
    m.op("FULLY_CONNECTED", [y, w, m.const("f32", (4,))], [m.output("f32", (1, 4))],
         FullyConnectedOptions={})
    return m.case("stream", "f32")


def convolutions():
    """Two SVDF layers of int8."""
    m = Model(8)
    x = m.input("i8", (1, 10), q(0.03, 4))
    for inputs, units, rank, to in ((10, 16, 2, q(0.04, -128)), (16, 6, 1, q(0.05, -128))):
        filters = units * rank
        w = m.const("i8", (filters, inputs), q(0.005), low=-127)
        t = m.const("i16", (filters, 8), q(0.001), low=-3000, high=3000)
        state = m.tensor("i16", (1, 8 * filters), q(0.0005), variable=True)
        y = m.output("i8", (1, 1), to) if units == 6 else m.tensor("i8", (1, 1), to)
        m.op("SVDF", [x, w, t, m.const("i32", (units,), q(1e-4), low=-3000, high=3000), state], [y],
             3, SVDFOptions=dict(rank=rank, fusedActivationFunction=RELU))
        x = y
    return m.case("stream", "i8")


def models():
    return {"lstm_f32": layers("f32"), "lstm_hybrid": layers("i8"), "svdf_i8": convolutions(),
            "lstm_i8": lstm.integer("UNIDIRECTIONAL_SEQUENCE_LSTM", 1, 1, 8, 16, 10, True, False, True,
                                    "bias", nodes=1, name="stream"),
            "rnn_f32": rnn.recurrent("RNN", 1, 1, 8, 12, nodes=1, name="stream")}


def answers(case, random):
    interpreter = Interpreter(model_content=case.model, num_threads=1,
                              experimental_op_resolver_type=RESOLVERS["reference"])
    interpreter.allocate_tensors()
    index, out = (f()[0]["index"] for f in (interpreter.get_input_details,
                                            interpreter.get_output_details))
    rows = []
    for number in range(INFERENCES):
        if number == RESET:
            interpreter.reset_all_variables()
        feed = case.feeds[0]
        values = (random.uniform(-1, 1, feed.shape).astype(np.float32) if feed.type == "f32"
                  else random.integers(-128, 128, feed.shape).astype(np.int8))
        interpreter.set_tensor(index, values)
        interpreter.invoke()
        rows.append(values.tobytes() + interpreter.get_tensor(out).tobytes())
    sizes = values.nbytes, len(rows[0]) - values.nbytes
    return struct.pack("<4i", INFERENCES, RESET, *sizes) + b"".join(rows)


def make(_):
    FOLDER.mkdir(exist_ok=True)
    for name, case in models().items():
        (FOLDER / f"{name}.tflite").write_bytes(case.model)
        (FOLDER / f"{name}.answers").write_bytes(answers(case, np.random.default_rng(1)))
        print(name, len(case.model))
