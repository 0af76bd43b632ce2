#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the errors of a float32 model's outputs in float32, bf16 and fp16 against float64.

    PYTHONPATH=bindings/python DEPUTY_LIBRARY=build/release/libdeputy.so.1 \\
        python tools/bench/float64_errors.py [--inputs N] [--plan FILE] MODEL…

Prints a table in Markdown: the largest difference from float64, as a fraction of the largest
magnitude of the output, over all outputs and N random inputs from 0 to 1; "as float32" where the
processor has no such products. TensorFlow computes the operators in float64, from the constants of
the file. Needs tools/requirements-bench.txt.
"""
import argparse
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

PADDINGS = ("SAME", "VALID")


def activate(tf, function, x):
    if function == 1:
        return tf.nn.relu(x)
    if function == 2:
        return tf.clip_by_value(x, -1, 1)
    return tf.nn.relu6(x) if function == 3 else x


class Reference:
    """A model that TensorFlow computes in float64."""

    def __init__(self, path):
        import numpy as np
        import tensorflow as tf
        from tensorflow.lite.python import schema_py_generated as schema
        self._np, self._tf, self._schema = np, tf, schema
        self._names = {code: name for name, code in vars(schema.BuiltinOperator).items() if isinstance(code, int)}
        self._types = {0: np.float32, 1: np.float16, 2: np.int32, 4: np.int64, 6: np.bool_}
        model = schema.Model.GetRootAs(path.read_bytes(), 0)
        self._graph = graph = model.Subgraphs(0)
        self._codes = [max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
                       for code in map(model.OperatorCodes, range(model.OperatorCodesLength()))]
        self._constants = {}
        for index in range(graph.TensorsLength()):
            tensor = graph.Tensors(index)
            data = model.Buffers(tensor.Buffer()).DataAsNumpy()
            if isinstance(data, int) or data.size == 0:
                continue
            shape = tensor.ShapeAsNumpy() if tensor.ShapeLength() else ()
            self._constants[index] = self._widen(data.view(self._types[tensor.Type()]).reshape(shape))

    def _widen(self, values):
        return values.astype(self._np.float64) if values.dtype.kind == "f" else values

    def _options(self, node, name):
        options = getattr(self._schema, name)()
        table = node.BuiltinOptions()
        options.Init(table.Bytes, table.Pos)
        return options

    def run(self, inputs):
        """Returns the outputs for a list of inputs."""
        graph = self._graph
        values = dict(self._constants)
        values.update(zip(graph.InputsAsNumpy().tolist(), map(self._widen, inputs)))
        for number in range(graph.OperatorsLength()):
            node = graph.Operators(number)
            name = self._names[self._codes[node.OpcodeIndex()]]
            operands = [values.get(index) for index in node.InputsAsNumpy().tolist()]
            shape = graph.Tensors(node.Outputs(0)).ShapeAsNumpy()
            values[node.Outputs(0)] = self._np.asarray(self._compute(name, node, operands, shape))
        return [values[index] for index in graph.OutputsAsNumpy().tolist()]

    def _convolve(self, function, node, operands, options, filters):
        tf = self._tf
        options = self._options(node, options)
        strides = [1, options.StrideH(), options.StrideW(), 1]
        dilations = [options.DilationHFactor(), options.DilationWFactor()]
        result = function(operands[0], filters, strides, PADDINGS[options.Padding()], dilations=dilations)
        if len(operands) > 2 and operands[2] is not None:
            result = result + operands[2]
        return activate(tf, options.FusedActivationFunction(), result)

    def _pool(self, kind, node, operands):
        options = self._options(node, "Pool2DOptions")
        result = self._tf.nn.pool(operands[0], [options.FilterHeight(), options.FilterWidth()], kind,
                                  strides=[options.StrideH(), options.StrideW()], padding=PADDINGS[options.Padding()])
        return activate(self._tf, options.FusedActivationFunction(), result)

    def _compute(self, name, node, operands, shape):
        tf = self._tf
        x = operands[0]
        if name == "CONV_2D":
            return self._convolve(tf.nn.conv2d, node, operands, "Conv2DOptions", operands[1].transpose(1, 2, 3, 0))
        if name == "DEPTHWISE_CONV_2D":
            channels = x.shape[3]
            filters = operands[1].reshape(*operands[1].shape[1:3], channels, -1)
            return self._convolve(tf.nn.depthwise_conv2d, node, operands, "DepthwiseConv2DOptions", filters)
        if name == "FULLY_CONNECTED":
            result = x.reshape(-1, operands[1].shape[1]) @ operands[1].T
            if len(operands) > 2 and operands[2] is not None:
                result = result + operands[2]
            function = self._options(node, "FullyConnectedOptions").FusedActivationFunction()
            return tf.reshape(activate(tf, function, result), shape)
        if name == "BATCH_MATMUL":
            options = self._options(node, "BatchMatMulOptions")
            left = x.swapaxes(-1, -2) if options.AdjX() else x
            right = operands[1].swapaxes(-1, -2) if options.AdjY() else operands[1]
            return left @ right
        if name in ("ADD", "SUB", "MUL"):
            result = {"ADD": self._np.add, "SUB": self._np.subtract, "MUL": self._np.multiply}[name](*operands)
            options = self._options(node, name.capitalize() + "Options")
            return activate(tf, options.FusedActivationFunction(), result)
        if name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            return self._pool("AVG" if name[0] == "A" else "MAX", node, operands)
        if name == "PAD":
            return self._np.pad(x, operands[1])
        if name == "RESHAPE":
            return x.reshape(shape)
        if name == "MEAN":
            keeps = self._options(node, "ReducerOptions").KeepDims()
            return x.mean(axis=tuple(self._np.atleast_1d(operands[1])), keepdims=bool(keeps))
        if name == "SOFTMAX":
            return tf.nn.softmax(self._options(node, "SoftmaxOptions").Beta() * x)
        if name == "CONCATENATION":
            return self._np.concatenate(operands, self._options(node, "ConcatenationOptions").Axis())
        if name == "RESIZE_BILINEAR":
            return self._resize(node, x, operands[1])
        if name == "PRELU":
            return self._np.where(x >= 0, x, x * operands[1])
        simple = {"DEQUANTIZE": tf.identity, "RELU": tf.nn.relu, "RELU6": tf.nn.relu6, "LOGISTIC": tf.sigmoid,
                  "HARD_SWISH": lambda v: v * tf.nn.relu6(v + 3) / 6, "TANH": tf.tanh}
        if name not in simple:
            raise NotImplementedError(f"{name} has no function in float64")
        return simple[name](x)

    def _resize(self, node, x, size):
        np = self._np
        options = self._options(node, "ResizeBilinearOptions")
        for axis in (1, 2):
            out, extent = int(size[axis - 1]), x.shape[axis]
            aligned = options.AlignCorners() and out > 1
            scale = (extent - 1) / (out - 1) if aligned else extent / out
            at = (np.arange(out) + 0.5) * scale - 0.5 if options.HalfPixelCenters() else np.arange(out) * scale
            low = np.clip(np.floor(at), 0, extent - 1).astype(int)
            high = np.clip(np.floor(at) + 1, 0, extent - 1).astype(int)
            part = np.clip(at - low, 0, 1).reshape([-1 if each == axis else 1 for each in range(4)])
            x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
        return x


def error_of(np, found, expected):
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, expected))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, metavar="MODEL")
    parser.add_argument("--inputs", type=int, default=4, help="number of random inputs (%(default)s)")
    parser.add_argument("--plan", help="a precision plan of the model, measured in a column of its own")
    arguments = parser.parse_args()
    import numpy as np
    from deputy.interpreter import Interpreter
    columns = {name: {"precision": name} for name in ("float32", "bf16", "fp16")}
    if arguments.plan:
        columns["plan"] = {"precision": "float32", "precision_plan": arguments.plan}
    print("| model |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for path in arguments.models:
        reference, cells = Reference(path), []
        interpreters = []
        for options in columns.values():
            interpreters.append(Interpreter(str(path), **options))
            interpreters[-1].allocate_tensors()
        errors = np.zeros(len(columns))
        random = np.random.default_rng(1)
        for _ in range(arguments.inputs):
            details = interpreters[0].get_input_details()
            inputs = [random.random(each["shape"], np.float32).astype(each["dtype"]) for each in details]
            expected = reference.run(inputs)
            for column, interpreter in enumerate(interpreters):
                for each, values in zip(interpreter.get_input_details(), inputs):
                    interpreter.set_tensor(each["index"], values)
                interpreter.invoke()
                found = [interpreter.get_tensor(each["index"]) for each in interpreter.get_output_details()]
                errors[column] = max(errors[column], error_of(np, found, expected))
        for column, error in enumerate(errors):
            cells.append("as float32" if column > 0 and error == errors[0] else f"{error:.1e}")
        print(f"| {path.stem} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
