# SPDX-License-Identifier: Apache-2.0
"""The benchmarked engines with a common interface, and the alternation between them.

An engine contains a prepared model: `feed` sets the inputs, `invoke` runs once, `outputs` reads the
results. Our library is called through ctypes, the others through their Python packages, which are
imported on first use; a call costs about one microsecond, in OpenVINO seven.

Engines alternate in blocks of many inferences, not after each one: TFLite's thread pool spins for a
while after its work and, with few cores, would slow the next engine; hence also the short pause
between blocks.
"""
import contextlib
import ctypes
import functools
import os
import statistics
import sys
import tempfile
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

from golden.model import TYPE_OF_NUMPY, TYPES, from_bytes, to_bytes

_REST_SECONDS = 0.003
_NUMPY = {tflite: dtype for _, tflite, dtype in TYPES.values()}


class Refused(Exception):
    """An engine does not run this model; the text names the step that failed."""


def _first_line(text):
    """Returns the first sentence of an error text."""
    lines = str(text).strip().splitlines()
    return lines[0].removeprefix("ERROR: ").split(". ")[0][:100] if lines else "no message"


@contextlib.contextmanager
def _refusals():
    """Converts a Refused raised inside to one with the message on the process's stderr."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        except Refused as refusal:
            file.seek(0)
            said = _first_line(file.read().decode(errors="replace"))
            raise Refused(f"{refusal}: {said}") from None
        finally:
            os.dup2(saved, 2)
            os.close(saved)


class Ours:
    """A model in our library (golden.ours.Library, or any with the same C API)."""

    def __init__(self, library, content, threads, shapes=None):
        self._library, self._model, self._handle = library, None, None
        self._content = content  # kept, because the C API borrows it
        with _refusals():
            self._prepare(threads, shapes or [])
        self.invoke = functools.partial(library.InterpreterInvoke, self._handle)

    def _prepare(self, threads, shapes):
        library, content = self._library, self._content
        self._model = library.ModelCreate(content, len(content))
        if not self._model:
            raise Refused("model")
        options = library.InterpreterOptionsCreate()
        library.InterpreterOptionsSetNumThreads(options, threads)
        self._handle = library.InterpreterCreate(self._model, options)
        library.InterpreterOptionsDelete(options)
        if not self._handle:
            raise Refused("create")
        for number, shape in enumerate(shapes):
            dims = (ctypes.c_int * len(shape))(*shape)
            if library.InterpreterResizeInputTensor(self._handle, number, dims, len(shape)):
                raise Refused("resize")
        if library.InterpreterAllocateTensors(self._handle):
            raise Refused("allocate")

    def __del__(self):
        if self._handle:
            self._library.InterpreterDelete(self._handle)
        if self._model:
            self._library.ModelDelete(self._model)

    def feed(self, values):
        for number, value in enumerate(values):
            data = to_bytes(TYPE_OF_NUMPY[value.dtype], value)
            tensor = self._library.InterpreterGetInputTensor(self._handle, number)
            if self._library.TensorCopyFromBuffer(tensor, data, len(data)):
                raise Refused(f"input {number}")
        with _refusals():
            if self.invoke():
                raise Refused("invoke")

    def outputs(self):
        count = self._library.InterpreterGetOutputTensorCount(self._handle)
        return [self._library._output(self._library.InterpreterGetOutputTensor(self._handle, i))
                for i in range(count)]


class Peer:
    """A model in the real TFLite, with its built-in kernels, with its default delegate, or with a
    delegate from a library: (path, options)."""

    def __init__(self, content, threads, xnnpack=False, keep_all=False, delegate=None, shapes=None):
        resolver = (OpResolverType.BUILTIN if xnnpack
                    else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        try:
            delegates = [load_delegate(str(delegate[0]), delegate[1])] if delegate else None
            self._interpreter = Interpreter(
                model_content=content, num_threads=threads, experimental_delegates=delegates,
                experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=keep_all)
            self._native = self._interpreter._interpreter
            for index, shape in zip(self._native.InputIndices(), shapes or []):
                self._interpreter.resize_tensor_input(index, shape)
            self._native.AllocateTensors()
        except (RuntimeError, ValueError) as error:
            raise Refused(_first_line(error)) from error
        self.invoke = self._native.Invoke

    def input_details(self):
        return [(tuple(detail["shape"]), np.dtype(detail["dtype"]))
                for detail in self._interpreter.get_input_details()]

    def feed(self, values):
        for index, value in zip(self._native.InputIndices(), values):
            if value.size:
                self._native.SetTensor(index, value)
        try:
            self._native.Invoke()
        except RuntimeError as error:
            raise Refused(_first_line(error)) from error

    def outputs(self):
        return [self.tensor(index) for index in self._native.OutputIndices()]

    def tensor(self, index):
        return np.array(self._interpreter.get_tensor(index))


def _shaped(value, shape):
    """Returns the value in the shape that an engine declares, whose extents may be unknown."""
    return value.reshape([extent if isinstance(extent, int) and extent > 0 else had
                          for extent, had in zip(shape, value.shape)]
                         if len(shape) == value.ndim else value.shape)


class OpenVino:
    """A model in OpenVINO, which reads .tflite directly, computed in float32."""

    def __init__(self, path, threads):
        import openvino

        settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1,
                    "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        core = openvino.Core()
        try:
            self._model = core.compile_model(core.read_model(path), "CPU", settings)
        except RuntimeError as error:
            raise Refused(_first_line(error)) from error
        self._request = self._model.create_infer_request()
        self._tensor = functools.partial(openvino.Tensor, shared_memory=True)
        self._kept = []
        self.invoke = functools.partial(self._request.infer, share_outputs=True)

    def feed(self, values):
        if len(values) != len(self._model.inputs):
            raise Refused(f"{len(self._model.inputs)} inputs")
        for number, (value, port) in enumerate(zip(values, self._model.inputs)):
            if value.dtype != port.element_type.to_dtype():
                raise Refused(f"input {number} is {port.element_type}")
            tensor = self._tensor(np.ascontiguousarray(value))
            self._kept.append((value, tensor))
            self._request.set_input_tensor(number, tensor)
        self.invoke()

    def outputs(self):
        return [self._request.get_output_tensor(number).data.copy()
                for number in range(len(self._model.outputs))]


class OnnxRuntime:
    """A model in ONNX Runtime, from a previously converted file."""

    def __init__(self, path, threads):
        import onnxruntime

        self._runtime = onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session = onnxruntime.InferenceSession(str(path), options,
                                                         providers=["CPUExecutionProvider"])
        except RuntimeError as error:
            raise Refused(_first_line(error)) from error
        self._binding = self._session.io_binding()
        self.invoke = functools.partial(self._session.run_with_iobinding, self._binding)

    def feed(self, values):
        inputs = self._session.get_inputs()
        if len(values) != len(inputs):
            raise Refused(f"{len(inputs)} inputs")
        for value, declared in zip(values, inputs):
            bound = self._runtime.OrtValue.ortvalue_from_numpy(_shaped(value, declared.shape))
            self._binding.bind_ortvalue_input(declared.name, bound)
        for output in self._session.get_outputs():
            self._binding.bind_output(output.name, "cpu")
        try:
            self.invoke()
        except RuntimeError as error:
            raise Refused(_first_line(error)) from error

    def outputs(self):
        return [value.numpy() for value in self._binding.get_outputs()]


def random_inputs(details, seed=1):
    """Returns floats in [-1, 1], quantised types over the full range, other integers small."""
    random = np.random.default_rng(seed)
    values = []
    for shape, dtype in details:
        if dtype.kind == "f":
            values.append(random.uniform(-1, 1, shape).astype(dtype))
        elif dtype.kind == "b":
            values.append(random.integers(0, 2, shape).astype(dtype))
        elif dtype.itemsize <= 2:
            info = np.iinfo(dtype)
            values.append(random.integers(info.min, info.max + 1, shape).astype(dtype))
        else:
            values.append(random.integers(0, 100, shape).astype(dtype))
    return values


def _block(invoke, seconds):
    """Returns times of single inferences in milliseconds; the first one only warms the caches."""
    invoke()
    times, begin = [], time.perf_counter_ns()
    before = begin
    while not times or before - begin < seconds * 1e9:
        invoke()
        now = time.perf_counter_ns()
        times.append((now - before) / 1e6)
        before = now
    return times


def race(engines, rounds, seconds):
    """Returns {name: (median, best)} in milliseconds; each round starts with another engine."""
    names = list(engines)
    times = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            times[name] += _block(engines[name].invoke, seconds)
            time.sleep(_REST_SECONDS)
    return {name: (statistics.median(t), min(t)) for name, t in times.items()}


def disagreement(ours, theirs):
    """Returns the largest difference between two lists of outputs, relative to the largest
    magnitude."""
    worst = 0.0
    if len(ours) != len(theirs):
        return float("inf")
    for a, b in zip(ours, theirs):
        if a.shape != b.shape:
            return float("inf")
        if not a.size:
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        largest = max(float(np.abs(b).max()), 1e-30)
        worst = max(worst, float(np.abs(a - b).max()) / largest)
    return worst
