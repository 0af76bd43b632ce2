# SPDX-License-Identifier: Apache-2.0
"""Compiled models of LiteRT 2, with the interface of `ai_edge_litert.compiled_model` 2.3.0.

    model = CompiledModel.from_file('model.tflite')
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(image)
    model.run_by_index(0, inputs, outputs)
    scores = outputs[0].read(10, np.float32)
"""
from __future__ import annotations

import ctypes
import dataclasses
import os
import pathlib
import sys
from typing import Any, Optional, Sequence, Union

import numpy as np

from . import _litert
from ._litert import call, made, number, owned, ptr, size, text
from ._native import Owned
from .litert_options import (CpuKernelMode, CpuOptions, GpuOptions, HardwareAccelerator, IntelOpenVinoOptions, Options,
                             QualcommOptions)

__all__ = ['CompiledModel', 'CpuKernelMode', 'CpuOptions', 'Environment', 'EnvironmentOptions', 'GpuOptions',
           'HardwareAccelerator', 'IntelOpenVinoOptions', 'Options', 'QualcommOptions', 'TensorBuffer']

_NUMBERS = {name: kind for kind, name in _litert.DTYPES.items()}
_WRITABLE = ('bfloat16', 'float8_e4m3fn', 'float8_e5m2', 'float32', 'float16', 'int32', 'int8', 'uint8', 'bool')


@dataclasses.dataclass(frozen=True)
class EnvironmentOptions:
    """Folders of an environment."""
    runtime_path: Optional[str] = None
    compiler_plugin_path: str = ''
    dispatch_library_path: str = ''


def _vendor_folder(kind: str, name: str, preferred: str = '') -> str:
    """Returns the folder `kind` of the preferred, or else the first vendor in ai_edge_litert/vendors that has libraries."""
    package = sys.modules.get('ai_edge_litert')
    vendors = pathlib.Path(package.__path__[0], 'vendors') if package else pathlib.Path()
    folders = sorted(vendors.glob(f'*/{kind}'), key=lambda folder: (folder.parent.name != preferred, folder))
    return next((str(folder) for folder in folders if any(folder.glob(f'lib{name}_*.so'))), '')


class Environment:
    """State that compiled models share."""

    def __init__(self, capsule: Owned, options: EnvironmentOptions):
        self._capsule: Optional[Owned] = capsule
        self._options = options

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the use of the environment; models that were created from it keep it."""
        self._capsule = None

    @classmethod
    def create(cls, *, options: Optional[Union[EnvironmentOptions, str]] = None, runtime_path: Optional[str] = None,
               compiler_plugin_path: str = '', dispatch_library_path: str = '') -> Environment:
        """Creates an environment. Without folders of plug-ins those of the package are used, if it has any."""
        if isinstance(options, str):
            if runtime_path is not None:
                raise ValueError('runtime_path was provided twice.')
            options, runtime_path = None, options
        if options is not None and (runtime_path is not None or compiler_plugin_path or dispatch_library_path):
            raise ValueError('Pass either options or environment path shortcuts.')
        if options is None:
            options = EnvironmentOptions(runtime_path, compiler_plugin_path, dispatch_library_path)
        dispatch = options.dispatch_library_path or _vendor_folder('dispatch', 'LiteRtDispatch')
        vendor = pathlib.Path(dispatch).parent.name if dispatch else ''
        compiler = options.compiler_plugin_path or _vendor_folder('compiler', 'LiteRtCompilerPlugin', vendor)
        runtime = runtime_path or options.runtime_path or os.path.dirname(os.path.abspath(__file__))
        folders = {_litert.COMPILER_FOLDER: compiler, _litert.DISPATCH_FOLDER: dispatch, _litert.RUNTIME_FOLDER: runtime}
        settings = [_litert.EnvOption(tag, _litert.Value(8, os.fsencode(path))) for tag, path in folders.items() if path]
        handle = made('LiteRtCreateEnvironment', len(settings), (_litert.EnvOption * len(settings))(*settings))
        return cls(owned(handle, 'Environment'), EnvironmentOptions(runtime, compiler, dispatch))

    @property
    def options(self) -> EnvironmentOptions:
        """The folders that are used."""
        return self._options

    @property
    def capsule(self) -> Owned:
        """The environment of the C API."""
        if self._capsule is None:
            raise ValueError('Environment is no longer valid')
        return self._capsule


class TensorBuffer:
    """Memory of an input or output."""

    def __init__(self, capsule: Owned, environment: Optional[Environment] = None):
        self._capsule: Optional[Owned] = capsule
        self._environment = environment

    @staticmethod
    def _dtype(dtype: Any) -> tuple[str, np.dtype]:
        try:
            known = np.dtype(dtype)
        except TypeError as error:
            raise ValueError(f'Unsupported dtype: {dtype}') from error
        if known.name not in _WRITABLE:
            raise ValueError(f'Unsupported dtype: {dtype}')
        return known.name, known

    @classmethod
    def _checked(cls, data_array: Any) -> tuple[np.ndarray, str]:
        if not isinstance(data_array, np.ndarray):
            raise ValueError('data_array must be a NumPy array')
        return data_array, cls._dtype(data_array.dtype)[0]

    @classmethod
    def create_from_host_memory(cls, data_array: np.ndarray) -> TensorBuffer:
        """Creates a buffer that uses an array's memory, or a copy if its address is not a multiple of 64."""
        array, name = cls._checked(data_array)
        if not array.flags.c_contiguous:
            raise ValueError('data_array must be C-contiguous for zero-copy host-memory binding')
        if array.ctypes.data % _litert.HOST_ALIGNMENT or not array.nbytes:
            raw = np.zeros(array.nbytes + 2 * _litert.HOST_ALIGNMENT, np.uint8)
            begin = -raw.ctypes.data % _litert.HOST_ALIGNMENT
            copy = raw[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
            copy[...] = array
            array = copy
        kind = _litert.ranked_type(_NUMBERS[name], [array.size])
        handle = made('LiteRtCreateTensorBufferFromHostMemory', ctypes.byref(kind), ctypes.c_void_p(array.ctypes.data),
                      size(array.nbytes), None, message='LiteRtCreateTensorBufferFromHostMemory failed')
        return cls(owned(handle, 'TensorBuffer', array))

    def _copy(self, array: np.ndarray, mode: int, caller: str, role: str) -> None:
        """Copies from or to the begin of the buffer."""
        if self._capsule is None:
            raise RuntimeError(f'{caller}: invalid capsule')
        handle = ptr(self._capsule)
        if array.nbytes > number('LiteRtGetTensorBufferPackedSize', handle):
            raise RuntimeError(f'{caller}: {role} buffer is larger than the tensor buffer')
        address = ctypes.c_void_p()
        call('LiteRtLockTensorBuffer', handle, ctypes.byref(address), mode)
        data = ctypes.c_void_p(array.ctypes.data)
        source, target = (address, data) if mode == _litert.READ else (data, address)
        ctypes.memmove(target, source, array.nbytes)
        call('LiteRtUnlockTensorBuffer', handle)

    def write(self, data_array: np.ndarray) -> None:
        """Copies an array to the begin of the buffer. The element type is not compared."""
        array, _ = self._checked(data_array)
        self._copy(np.ascontiguousarray(array), _litert.WRITE, 'WriteTensorBuffer', 'source')

    def read(self, num_elements: int, output_dtype: Any) -> np.ndarray:
        """Returns a copy of the first elements."""
        result = np.empty(num_elements, self._dtype(output_dtype)[1])
        self._copy(result, _litert.READ, 'ReadTensorToBuffer', 'destination')
        return result

    def get_tensor_details(self) -> dict[str, Any]:
        """Returns the element type and shape."""
        kind = _litert.RankedType()
        call('LiteRtGetTensorBufferTensorType', ptr(self.capsule), ctypes.byref(kind))
        return {'dtype': _litert.DTYPES.get(kind.element_type, 'unknown'), 'shape': kind.layout.shape()}

    def destroy(self) -> None:
        """Releases the buffer."""
        self._capsule = None
        self._environment = None

    @property
    def capsule(self) -> Owned:
        """The buffer of the C API."""
        if self._capsule is None:
            raise ValueError('TensorBuffer has been destroyed')
        return self._capsule


class _Model:
    """A compiled model of the C API, with its signatures."""

    def __init__(self, environment: Environment, model: Owned, options: Options):
        self.environment = environment
        settings = owned(made('LiteRtCreateOptions'), 'Options')
        call('LiteRtSetOptionsHardwareAccelerators', ptr(settings), int(options.hardware_accelerators))
        texts = []
        for identifier, setting in options._opaque():
            texts.append(ctypes.create_string_buffer(setting.encode()))
            group = made('LiteRtCreateOpaqueOptions', identifier.encode(), texts[-1], _litert.no_destructor)
            call('LiteRtAddOpaqueOptions', ptr(settings), group)
        capsule = environment.capsule
        handle = made('LiteRtCreateCompiledModel', ptr(capsule), ptr(model), ptr(settings),
                      message='Failed to compile the model; the log has the reason')
        self.compiled = owned(handle, 'CompiledModel', capsule, model, settings, *texts)
        count = number('LiteRtGetNumModelSignatures', ptr(model))
        self.signatures = [made('LiteRtGetModelSignature', ptr(model), size(i)) for i in range(count)]
        self.keys = [text('LiteRtGetSignatureKey', signature) for signature in self.signatures]
        self.names = {kind: [self._names(signature, kind) for signature in self.signatures]
                      for kind in ('Input', 'Output')}

    @staticmethod
    def _names(signature: ctypes.c_void_p, kind: str) -> list[str]:
        count = number(f'LiteRtGetNumSignature{kind}s', signature)
        return [text(f'LiteRtGetSignature{kind}Name', signature, size(i)) for i in range(count)]

    def check(self, index: int) -> int:
        """Returns the index of a signature; an error if there is none."""
        if not 0 <= index < len(self.signatures):
            raise _litert.error(_litert.OUT_OF_RANGE, 'Signature index is out of range of signature keys')
        return index

    def index_of(self, key: str) -> int:
        if key not in self.keys:
            raise _litert.error(_litert.NOT_FOUND, f'Signature not found: {key}')
        return self.keys.index(key)

    def position(self, kind: str, signature: int, name: str) -> int:
        if name not in self.names[kind][signature]:
            raise _litert.error(_litert.NOT_FOUND, f'{kind} tensor not found: {name}')
        return self.names[kind][signature].index(name)

    def shapes(self, kind: str, signature: int) -> list[list[int]]:
        """Returns the present shapes of all inputs or outputs."""
        count = len(self.names[kind][signature])
        layouts = (_litert.Layout * count)()
        if kind == 'Output':
            call('LiteRtGetCompiledModelOutputTensorLayouts', ptr(self.compiled), size(signature), size(count), layouts, True)
        else:
            for i in range(count):
                call('LiteRtGetCompiledModelInputTensorLayout', ptr(self.compiled), size(signature), size(i),
                     ctypes.byref(layouts[i]))
        return [layout.shape() for layout in layouts]

    def tensor(self, kind: str, signature: int, index: int) -> ctypes.c_void_p:
        return made(f'LiteRtGetSignature{kind}TensorByIndex', self.signatures[signature], size(index))

    def element_type(self, tensor: ctypes.c_void_p) -> int:
        found = _litert.RankedType()
        call('LiteRtGetRankedTensorType', tensor, ctypes.byref(found))
        return found.element_type

    def details(self, kind: str, key: str) -> dict[str, Any]:
        signature = self.index_of(key)
        result = {}
        for i, (name, shape) in enumerate(zip(self.names[kind][signature], self.shapes(kind, signature))):
            tensor = self.tensor(kind, signature, i)
            result[name] = {'name': text('LiteRtGetTensorName', tensor),
                            'index': number('LiteRtGetTensorIndex', tensor, kind=ctypes.c_uint32),
                            'dtype': _litert.DTYPES.get(self.element_type(tensor), 'unknown'), 'shape': shape}
        return result

    def requirements(self, kind: str, signature: int, index: int) -> ctypes.c_void_p:
        if not 0 <= index < len(self.names[kind][self.check(signature)]):
            raise _litert.error(_litert.OUT_OF_RANGE, f'{kind} index out of range')
        return made(f'LiteRtGetCompiledModel{kind}BufferRequirements', ptr(self.compiled), size(signature), size(index))

    def buffer(self, kind: str, signature: int, index: int) -> TensorBuffer:
        element_type = self.element_type(self.tensor(kind, signature, index))
        # The shapes of outputs after a resize are computed before their requirements.
        ranked = _litert.ranked_type(element_type, self.shapes(kind, signature)[index])
        requirements = self.requirements(kind, signature, index)
        capsule = self.environment_of_buffers()
        handle = made('LiteRtCreateManagedTensorBufferFromRequirements', ptr(capsule), ctypes.byref(ranked), requirements)
        return TensorBuffer(owned(handle, 'TensorBuffer', capsule), self.environment)

    def environment_of_buffers(self) -> Owned:
        """The environment, also after Environment.close()."""
        return self.compiled._owned_keeps[0]

    def run(self, signature: int, inputs: Sequence[Optional[Owned]], outputs: Sequence[Owned]) -> None:
        handles = [(ctypes.c_void_p * len(buffers))(*(buffer.pointer if buffer else None for buffer in buffers))
                   for buffers in (inputs, outputs)]
        call('LiteRtRunCompiledModel', ptr(self.compiled), size(self.check(signature)), size(len(inputs)), handles[0],
             size(len(outputs)), handles[1], message='Failed to invoke the compiled model; the log has the reason')


class CompiledModel:
    """A model that is ready to run."""

    def __init__(self, c_model_ptr: _Model, environment: Environment):
        self._compiled: Optional[_Model] = c_model_ptr
        self._environment = environment

    def __enter__(self) -> CompiledModel:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    @property
    def _model(self) -> _Model:
        if self._compiled is None:
            raise AttributeError('the compiled model has been closed')
        return self._compiled

    def close(self) -> None:
        """Releases the model."""
        self._compiled = None

    @classmethod
    def _create(cls, load: Any, hardware_accel: Optional[HardwareAccelerator], environment: Optional[Environment],
                options: Optional[Options]) -> CompiledModel:
        if options is not None and hardware_accel is not None:
            raise ValueError('Pass either options or hardware_accel, not both.')
        environment = environment or Environment.create()
        if options is None:
            accelerators = HardwareAccelerator.CPU if hardware_accel is None else hardware_accel
            options = Options(accelerators, CpuOptions(num_threads=1))
        return cls(_Model(environment, load(environment.capsule), options), environment)

    @classmethod
    def from_file(cls, model_path: str, hardware_accel: Optional[HardwareAccelerator] = None,
                  environment: Optional[Environment] = None, options: Optional[Options] = None) -> CompiledModel:
        """Compiles a model file, with one thread of the CPU unless options say otherwise."""
        if not isinstance(model_path, str):
            raise TypeError(f'model_path: expected str, found {type(model_path).__name__}')

        def load(environment: Owned) -> Owned:
            handle = made('LiteRtCreateModelFromFile', ptr(environment), os.fsencode(model_path),
                          message='Failed to load model from file')
            return owned(handle, 'Model')

        return cls._create(load, hardware_accel, environment, options)

    @classmethod
    def from_buffer(cls, model_data: bytes, hardware_accel: Optional[HardwareAccelerator] = None,
                    environment: Optional[Environment] = None, options: Optional[Options] = None) -> CompiledModel:
        """Compiles the bytes of a model file."""
        if not isinstance(model_data, bytes):
            raise TypeError(f'model_data: expected bytes, found {type(model_data).__name__}')

        def load(environment: Owned) -> Owned:
            handle = made('LiteRtCreateModelFromBuffer', ptr(environment), model_data, size(len(model_data)),
                          message='Failed to load model from buffer')
            return owned(handle, 'Model', model_data)

        return cls._create(load, hardware_accel, environment, options)

    @property
    def environment(self) -> Environment:
        """The environment of the model."""
        return self._environment

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """Returns the names of inputs and outputs by signature."""
        return {key: {'inputs': self._model.names['Input'][i], 'outputs': self._model.names['Output'][i]}
                for i, key in enumerate(self._model.keys)}

    def get_signature_by_index(self, index: int) -> dict[str, Any]:
        """Returns key and names of a signature."""
        key = self._model.keys[self._model.check(index)]
        return {'key': key, **self.get_signature_list()[key]}

    def get_num_signatures(self) -> int:
        """Returns the number of signatures."""
        return len(self._model.keys)

    def get_signature_index(self, key: str) -> int:
        """Returns the index of a signature, or -1."""
        return self._model.keys.index(key) if key in self._model.keys else -1

    def get_input_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """Returns name, index, element type and present shape of each input."""
        return self._model.details('Input', signature_key)

    def get_output_tensor_details(self, signature_key: str) -> dict[str, Any]:
        """Returns name, index, element type and present shape of each output."""
        return self._model.details('Output', signature_key)

    def _requirements(self, kind: str, signature: int, index: int) -> dict[str, Any]:
        self._model.shapes(kind, self._model.check(signature))
        handle = self._model.requirements(kind, signature, index)
        count = number('LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes', handle, kind=ctypes.c_int)
        types = [number('LiteRtGetTensorBufferRequirementsSupportedTensorBufferType', handle, i, kind=ctypes.c_int)
                 for i in range(count)]
        return {'buffer_size': number('LiteRtGetTensorBufferRequirementsBufferSize', handle), 'supported_types': types}

    def get_input_buffer_requirements(self, input_index: int, signature_index: int = 0) -> dict[str, Any]:
        """Returns the size and the types of buffers that an input may have."""
        return self._requirements('Input', signature_index, input_index)

    def get_output_buffer_requirements(self, output_index: int, signature_index: int = 0) -> dict[str, Any]:
        """Returns the size and the types of buffers that an output may have."""
        return self._requirements('Output', signature_index, output_index)

    def is_fully_accelerated(self) -> bool:
        """Returns whether accelerators run all operators."""
        return number('LiteRtCompiledModelIsFullyAccelerated', ptr(self._model.compiled), kind=ctypes.c_bool)

    def _buffer_by_name(self, kind: str, key: str, name: str) -> TensorBuffer:
        signature = self._model.index_of(key)
        return self._model.buffer(kind, signature, self._model.position(kind, signature, name))

    def create_input_buffer_by_name(self, signature_key: str, input_name: str) -> TensorBuffer:
        """Creates a buffer for an input."""
        return self._buffer_by_name('Input', signature_key, input_name)

    def create_output_buffer_by_name(self, signature_key: str, output_name: str) -> TensorBuffer:
        """Creates a buffer for an output."""
        return self._buffer_by_name('Output', signature_key, output_name)

    def _buffers(self, kind: str, signature: int) -> list[TensorBuffer]:
        names = self._model.names[kind][self._model.check(signature)]
        return [self._model.buffer(kind, signature, i) for i in range(len(names))]

    def create_input_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """Creates a buffer for each input."""
        return self._buffers('Input', signature_index)

    def create_output_buffers(self, signature_index: int) -> list[TensorBuffer]:
        """Creates a buffer for each output."""
        return self._buffers('Output', signature_index)

    def resize_input_tensor(self, input_index: int, dims: Sequence[int], signature_index: int = 0,
                            strict: bool = True) -> None:
        """Changes the shape of an input; with `strict` only dimensions that the model leaves open."""
        function = 'LiteRtCompiledModelResizeInputTensor' + ('' if strict else 'NonStrict')
        call(function, ptr(self._model.compiled), size(signature_index), size(input_index),
             (ctypes.c_int * len(dims))(*dims), size(len(dims)), message='New shape is not compatible with current shape.')

    def resize_input_tensor_by_name(self, signature_key: str, input_name: str, dims: Sequence[int],
                                    strict: bool = True) -> None:
        """Changes the shape of an input by its name."""
        if signature_key not in self._model.keys:
            raise ValueError(f'Unknown signature: {signature_key}')
        signature = self._model.keys.index(signature_key)
        names = self._model.names['Input'][signature]
        if input_name not in names:
            raise ValueError(f"Unknown input '{input_name}' for signature '{signature_key}'")
        self.resize_input_tensor(names.index(input_name), dims, signature, strict)

    def run_by_name(self, signature_key: str, input_map: dict[str, TensorBuffer],
                    output_map: dict[str, TensorBuffer]) -> None:
        """Runs a signature; buffers with other names have no effect."""
        inputs = {name: buffer.capsule for name, buffer in input_map.items()}
        outputs = {name: buffer.capsule for name, buffer in output_map.items()}
        if signature_key not in self._model.keys:
            raise _litert.error(_litert.NOT_FOUND, 'Failed to get signature_index')
        signature = self._model.keys.index(signature_key)
        for kind, given in (('Input', inputs), ('Output', outputs)):
            missing = [name for name in self._model.names[kind][signature] if name not in given]
            if missing:
                raise _litert.error(_litert.NOT_FOUND, f'The given map is missing some {kind.lower()} TensorBuffers: '
                                    f'{", ".join(missing)}')
        self._model.run(signature, [inputs[name] for name in self._model.names['Input'][signature]],
                        [outputs[name] for name in self._model.names['Output'][signature]])

    def run_by_index(self, signature_index: int, input_buffers: list[TensorBuffer],
                     output_buffers: list[TensorBuffer]) -> None:
        """Runs a signature with buffers in the order of its inputs and outputs."""
        self._model.run(signature_index, [buffer.capsule for buffer in input_buffers],
                        [buffer.capsule for buffer in output_buffers])
