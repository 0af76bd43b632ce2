# SPDX-License-Identifier: Apache-2.0
"""Runs a case on Deputy's library through ctypes; works with any library that has the TFLite C API."""
import ctypes
import os

import numpy as np

from .tflite import (INVOKED, REFUSED_ALLOCATE, REFUSED_CREATE, REFUSED_INVOKE, REFUSED_RESIZE,
                     UNDEFINED, Result, in_child)
from .model import TYPES, TYPE_OF_NUMPY, from_bytes, to_bytes

_NUMPY = {tflite: dtype for _, tflite, dtype in TYPES.values()}
_POINTER, _INT, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
_FUNCTIONS = {
    "ModelCreate": (_POINTER, [ctypes.c_char_p, _SIZE]), "ModelDelete": (None, [_POINTER]),
    "InterpreterOptionsCreate": (_POINTER, []),
    "InterpreterOptionsSetNumThreads": (None, [_POINTER, _INT]),
    "InterpreterOptionsDelete": (None, [_POINTER]),
    "InterpreterCreate": (_POINTER, [_POINTER, _POINTER]),
    "InterpreterDelete": (None, [_POINTER]),
    "InterpreterGetInputTensor": (_POINTER, [_POINTER, _INT]),
    "InterpreterGetOutputTensorCount": (_INT, [_POINTER]),
    "InterpreterGetOutputTensor": (_POINTER, [_POINTER, _INT]),
    "InterpreterResizeInputTensor": (_INT, [_POINTER, _INT, _POINTER, _INT]),
    "InterpreterAllocateTensors": (_INT, [_POINTER]), "InterpreterInvoke": (_INT, [_POINTER]),
    "TensorType": (_INT, [_POINTER]), "TensorNumDims": (_INT, [_POINTER]),
    "TensorDim": (_INT, [_POINTER, _INT]), "TensorByteSize": (_SIZE, [_POINTER]),
    "TensorCopyFromBuffer": (_INT, [_POINTER, _POINTER, _SIZE]),
    "TensorCopyToBuffer": (_INT, [_POINTER, _POINTER, _SIZE]),
    "TensorDataFree": (None, [_POINTER]), "TensorRealloc": (_INT, [_SIZE, _POINTER]),
}


class Library:
    def __init__(self, path):
        self.path = path
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "TfLite" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def run(self, case, reference_mode, threads=1):
        fine, result = in_child(self._run, case, reference_mode, threads)
        return result if fine else Result(UNDEFINED, [], result)

    def _run(self, case, reference_mode, threads):
        os.environ["DEPUTY_ARITHMETIC"] = "reference" if reference_mode else "default"
        model = self.ModelCreate(case.model, len(case.model))
        if not model:
            return Result(REFUSED_CREATE, [], "model")
        options = self.InterpreterOptionsCreate()
        self.InterpreterOptionsSetNumThreads(options, threads)
        interpreter = self.InterpreterCreate(model, options)
        if not interpreter:
            return Result(REFUSED_CREATE, [], "interpreter")
        for number, feed in enumerate(case.feeds):
            dims = (ctypes.c_int * len(feed.shape))(*feed.shape)
            if feed.resize and self.InterpreterResizeInputTensor(interpreter, number, dims,
                                                                 len(dims)):
                return Result(REFUSED_RESIZE, [])
        if self.InterpreterAllocateTensors(interpreter):
            return Result(REFUSED_ALLOCATE, [])
        for number, feed in enumerate(case.feeds):
            values = to_bytes(feed.type, feed.values())
            tensor = self.InterpreterGetInputTensor(interpreter, number)
            if feed.type == "str":
                self._set_strings(tensor, values)
            elif self.TensorCopyFromBuffer(tensor, values, len(values)):
                return Result(REFUSED_INVOKE, [], "input")
        outputs = []
        for _ in range(case.invokes):
            if self.InterpreterInvoke(interpreter):
                return Result(REFUSED_INVOKE, [])
            outputs += [self._output(self.InterpreterGetOutputTensor(interpreter, i))
                        for i in range(self.InterpreterGetOutputTensorCount(interpreter))]
        return Result(INVOKED, outputs)

    def _set_strings(self, tensor, data):
        """Allocates memory for a string tensor (abi.md: allocation_type at 32, data at 8)."""
        self.TensorDataFree(tensor)
        ctypes.c_int.from_address(tensor + 32).value = 4
        self.TensorRealloc(len(data), tensor)
        ctypes.memmove(ctypes.c_void_p.from_address(tensor + 8).value, data, len(data))

    def _output(self, tensor):
        shape = [self.TensorDim(tensor, d) for d in range(self.TensorNumDims(tensor))]
        data = ctypes.create_string_buffer(self.TensorByteSize(tensor))
        if len(data) and self.TensorCopyToBuffer(tensor, data, len(data)):
            raise RuntimeError("cannot copy an output")
        type = TYPE_OF_NUMPY[np.dtype(_NUMPY[self.TensorType(tensor)])]
        return from_bytes(type, shape, data.raw)
