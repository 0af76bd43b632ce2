# SPDX-License-Identifier: Apache-2.0
"""Streaming models: one step of a sequence per inference, with the state in variables. Writes the models
with the real TFLite's results of a hundred inferences, including a reset of the variables, for
tests/agreement/streaming_test.cc; likewise the results for the models of keras_models.py.

A .results file holds four int32 (number of inferences, index of the first one after the reset, bytes
of an input, bytes of all outputs) and then each inference's input and outputs. For the converter's
models, whose inputs are larger, it holds the outputs only: `drawn` generates the inputs.
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
    """An LSTM layer as Keras has it, for one sequence and one step per inference."""
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
    """Two LSTM layers and a dense layer."""
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


def drawn(count, state):
    """Returns numbers from -1 to 1, which the test generates as well, and the generator's new state."""
    values = np.empty(count, np.float32)
    for i in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        values[i] = np.float32(state >> 8) / np.float32(8388608) - np.float32(1)
    return values, state


def results(model, stored):
    random, state = np.random.default_rng(1), 1
    interpreter = Interpreter(model_content=model, num_threads=1,
                              experimental_op_resolver_type=RESOLVERS["reference"])
    interpreter.allocate_tensors()
    feed = interpreter.get_input_details()[0]
    outputs = [detail["index"] for detail in interpreter.get_output_details()]
    rows = []
    for number in range(INFERENCES):
        if number == RESET:
            interpreter.reset_all_variables()
        if not stored:
            values, state = drawn(int(np.prod(feed["shape"])), state)
            values = values.reshape(feed["shape"])
        elif feed["dtype"] == np.float32:
            values = random.uniform(-1, 1, feed["shape"]).astype(np.float32)
        else:
            values = random.integers(-128, 128, feed["shape"]).astype(np.int8)
        interpreter.set_tensor(feed["index"], values)
        interpreter.invoke()
        rows.append(b"".join(interpreter.get_tensor(out).tobytes() for out in outputs))
        output_bytes = len(rows[-1])
        if stored:
            rows[-1] = values.tobytes() + rows[-1]
    sizes = values.nbytes, output_bytes
    return struct.pack("<4i", INFERENCES, RESET, *sizes) + b"".join(rows)


def make(_):
    FOLDER.mkdir(exist_ok=True)
    for name, case in models().items():
        (FOLDER / f"{name}.tflite").write_bytes(case.model)
    for path in sorted(FOLDER.glob("*.tflite")):
        model = path.read_bytes()
        stored = not path.stem.startswith("keras_")
        path.with_suffix(".results").write_bytes(results(model, stored))
        print(path.stem, len(model))
