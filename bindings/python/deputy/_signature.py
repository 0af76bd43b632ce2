# SPDX-License-Identifier: Apache-2.0
"""Signatures: inputs and outputs of a subgraph by name."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Tuple

import numpy as np

from . import _checks, _native, _tensors
from ._native import Owned

if TYPE_CHECKING:
    from .interpreter import Interpreter

_NAMES = 'surrogateescape'  # Names come from the model and may be invalid UTF-8.


def keys(lib: ctypes.CDLL, interpreter: int) -> List[str]:
    """Returns the keys of a model's signatures."""
    return [lib.TfLiteInterpreterGetSignatureKey(interpreter, i).decode(errors=_NAMES)
            for i in range(lib.TfLiteInterpreterGetSignatureCount(interpreter))]


class NativeRunner:
    """The library's object for one signature: names, tensors, and their indices in the subgraph."""

    def __init__(self, lib: ctypes.CDLL, interpreter: Owned, key: str) -> None:
        self._lib = lib
        pointer = lib.TfLiteInterpreterGetSignatureRunner(interpreter.pointer,
                                                          key.encode(errors=_NAMES))
        if not pointer:
            raise ValueError(f'Invalid signature_key provided: "{key}".')
        self.owned = Owned(pointer, lib.TfLiteSignatureRunnerDelete, interpreter)
        self.input_names = self._names('Input')
        self.output_names = self._names('Output')

    @property
    def pointer(self) -> int:
        """The TfLiteSignatureRunner*."""
        return self.owned.pointer

    def _names(self, side: str) -> List[str]:
        count = getattr(self._lib, f'TfLiteSignatureRunnerGet{side}Count')(self.pointer)
        name = getattr(self._lib, f'TfLiteSignatureRunnerGet{side}Name')
        return [name(self.pointer, i).decode(errors=_NAMES) for i in range(count)]

    def input(self, name: str) -> Any:
        """Returns the pointer to the tensor of an input."""
        return self._lib.TfLiteSignatureRunnerGetInputTensor(self.pointer,
                                                             name.encode(errors=_NAMES))

    def output(self, name: str) -> Any:
        """Returns the pointer to the tensor of an output."""
        return self._lib.TfLiteSignatureRunnerGetOutputTensor(self.pointer,
                                                              name.encode(errors=_NAMES))

    def resize(self, name: str, shape: List[int]) -> int:
        """Sets the shape of an input, regardless of the model's shape; returns the status."""
        dims = (ctypes.c_int * len(shape))(*shape)
        return self._lib.DeputySignatureRunnerResizeInputTensor(
            self.pointer, name.encode(errors=_NAMES), dims, len(shape))


class SignatureRunner:
    """Runs one signature of a model: call it with its inputs by name; it returns copies of its
    outputs by name. Created by Interpreter.get_signature_runner()."""

    def __init__(self, interpreter: Optional[Interpreter] = None, signature_key: Optional[str] = None) -> None:
        if not interpreter:
            raise ValueError('None interpreter provided.')
        if not signature_key:
            raise ValueError('None signature_key provided.')
        self._interpreter, self._signature_key = interpreter, signature_key
        signatures = interpreter._get_full_signature_list()
        if signature_key not in signatures:
            raise ValueError(f'Invalid signature_key provided: "{signature_key}".')
        self._signature_def = signatures[signature_key]
        self._inputs = self._signature_def['inputs']
        self._outputs = self._signature_def['outputs'].items()
        with interpreter._guard.metadata:
            self._runner = NativeRunner(interpreter._lib, interpreter._owned, signature_key)
            self._subgraph_index = interpreter._subgraph_of(self._runner)

    def __call__(self, **kwargs: Any) -> Dict[str, np.ndarray]:
        """Runs the signature with its inputs by name; returns its outputs by name."""
        shared = self._shared()
        if len(kwargs) + len(shared.keys() - kwargs.keys()) != len(self._inputs):
            raise ValueError(
                'Invalid number of inputs provided for running a SignatureDef, '
                f'expected {len(self._inputs)} vs provided {len(kwargs)}')
        values, shapes = {}, {}
        for name, value in kwargs.items():
            if name not in self._inputs:
                raise ValueError(f'Invalid Input name ({name}) for SignatureDef')
            values[name] = np.asarray(value)
            shapes[name] = _checks.extents(values[name].shape)
        interpreter = self._interpreter
        with interpreter._changing('SignatureRunner'):
            return self._run(interpreter, values, shapes)

    def _run(self, interpreter: Interpreter, values: Dict[str, np.ndarray],
             shapes: Dict[str, List[int]]) -> Dict[str, np.ndarray]:
        lib, runner = interpreter._lib, self._runner
        for name, shape in shapes.items():
            if _native.numbers(runner.input(name).contents.dims) != shape:
                interpreter._check(runner.resize(name, shape))
        interpreter._check(lib.TfLiteSignatureRunnerAllocateTensors(runner.pointer))
        for name, value in values.items():
            _tensors.write(runner.input(name), value, self._inputs[name])
        interpreter._check(lib.TfLiteSignatureRunnerInvoke(runner.pointer))
        shared = self._shared().values()
        return {name: _tensors.read(runner.output(name).contents) for name, _ in self._outputs
                if name not in shared}

    def _shared(self) -> Dict[str, str]:
        """Returns the names of outputs that are shared states, by input name."""
        return {name: output for name, output in self._interpreter._states.items()
                if name in self._inputs and output in self._signature_def['outputs']}

    def _read_input(self, name: str) -> np.ndarray:
        with self._interpreter._guard.metadata:
            return _tensors.read(self._runner.input(name).contents)

    def get_input_details(self) -> Dict[str, Dict[str, Any]]:
        """Returns {name: dictionary as in Interpreter.get_input_details()}."""
        return self._details(self._inputs.items())

    def get_output_details(self) -> Dict[str, Dict[str, Any]]:
        """Returns {name: dictionary as in Interpreter.get_output_details()}."""
        return self._details(self._outputs)

    def _details(self, tensors: Iterable[Tuple[str, int]]) -> Dict[str, Dict[str, Any]]:
        return {name: self._interpreter._get_tensor_details(index, self._subgraph_index)
                for name, index in tensors}
