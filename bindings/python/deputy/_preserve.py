# SPDX-License-Identifier: Apache-2.0
"""Memory for experimental_preserve_all_tensors: each tensor of the arena gets a separate block."""
import ctypes

from . import _native
from ._native import Owned

_ARENA_RW = 2  # kTfLiteArenaRw
_ALIGNMENT = 64


class PreservedTensors:
    """Blocks of one interpreter, by tensor. A block that is large enough is reused for the next
    allocation; a smaller one is replaced."""

    def __init__(self, lib, model, options):
        self._lib, self._model, self._options = lib, model, options
        self._blocks = {}
        self._prepared = None  # Shapes of the inputs at the last allocation.

    def prepare(self, interpreter):
        """Assigns each tensor of the arena its block, for the current shapes of the inputs."""
        shapes = [_native.numbers(interpreter._tensor(index).contents.dims)
                  for index in interpreter._input_indices()]
        if shapes == self._prepared:
            return
        self._prepared = None
        for index, size in self._sizes(interpreter, shapes):
            self._assign(interpreter, index, size)
        self._prepared = shapes

    def _sizes(self, interpreter, shapes):
        """Returns (tensor, bytes) at these shapes, from an interpreter without delegates."""
        lib = self._lib
        probe = Owned(lib.TfLiteInterpreterCreate(self._model.pointer, self._options.pointer),
                      lib.TfLiteInterpreterDelete, self._model, self._options)
        for i, shape in enumerate(shapes):
            interpreter._check(lib.TfLiteInterpreterResizeInputTensor(
                probe.pointer, i, _native.int_array(shape), len(shape)))
        interpreter._check(lib.TfLiteInterpreterAllocateTensors(probe.pointer))
        count = min(lib.DeputyInterpreterGetTensorCount(probe.pointer, 0),
                    lib.DeputyInterpreterGetTensorCount(interpreter._owned.pointer, 0))
        tensors = [lib.DeputyInterpreterGetTensor(probe.pointer, 0, i).contents
                   for i in range(count)]
        return [(i, tensor.bytes) for i, tensor in enumerate(tensors)
                if tensor.allocation_type == _ARENA_RW and tensor.bytes]

    def _assign(self, interpreter, index, size):
        memory, capacity = self._blocks.get(index, (None, 0))
        if size <= capacity:
            return
        memory = ctypes.create_string_buffer(size + 2 * _ALIGNMENT)
        start = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
        allocation = _native.CustomAllocation(start, size)
        interpreter._check(self._lib.TfLiteInterpreterSetCustomAllocationForTensor(
            interpreter._owned.pointer, index, ctypes.byref(allocation), 0))
        # The replaced block is freed, since no tensor refers to it any more.
        self._blocks[index] = memory, size
