# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's Python interpreter, on Deputy.

A program for `tflite_runtime.interpreter` or `ai_edge_litert.interpreter` runs when it imports from
here instead. What Deputy adds: `delegate_policy` and `validation` of an Interpreter, `explain()`,
`delegation_status()` and `findings()`.

One interpreter is used by one thread at a time; several work side by side, since every call into
the library releases Python's lock.
"""
import ctypes
import enum
import os

import numpy as np

from . import _explain, _native, _tensors
from ._native import OK, Owned, last_error, library

__all__ = ['Delegate', 'Interpreter', 'InterpreterWithCustomOps', 'OpResolverType',
           'SignatureRunner', 'load_delegate']


@enum.unique
class OpResolverType(enum.Enum):
    """Which kernels compute. BUILTIN_REF is the reference arithmetic: quantised results equal those
    of TensorFlow Lite's reference kernels bit by bit. Deputy applies no delegate of its own accord,
    so that the others are one and the same."""
    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


class Delegate:
    """A delegate from a library, see load_delegate. Whoever uses it keeps it alive."""

    def __init__(self, library, options=None):  # noqa: A002, the argument's name is upstream's
        lib = _native.library()
        plugin = Owned(lib.DeputyPluginLoadWithErrorReporter(
            os.fsencode(library), _native.quiet_reporter, None), lib.DeputyPluginRelease)
        if not plugin.pointer:
            raise ValueError(f'Failed to load delegate from {library}\n{last_error()}')
        pairs = [(str(key).encode(), str(value).encode()) for key, value in (options or {}).items()]
        keys = (_native.TEXT * len(pairs))(*(key for key, _ in pairs))
        values = (_native.TEXT * len(pairs))(*(value for _, value in pairs))
        self._owned = Owned(lib.DeputyPluginCreateDelegateWithErrorReporter(
            plugin.pointer, keys, values, len(pairs), _native.quiet_reporter, None),
            lib.DeputyPluginDeleteDelegate)
        if not self._owned.pointer:
            raise ValueError(f'Failed to load delegate from {library}\n{last_error()}')

    def _get_native_delegate_pointer(self):
        return self._owned.pointer


def load_delegate(library, options=None):
    """A delegate of the library at that path, or of a plug-in by its name ('gpu'), made with
    `options`, a dictionary of keys and values. ValueError, with the reason, if it cannot be had."""
    return Delegate(library, options)


def _check(status, failure=RuntimeError):
    if status != OK:
        raise failure(last_error() or f'failed with status {status}')


def _dims(shape):
    return (ctypes.c_int * len(shape))(*shape), len(shape)


class SignatureRunner:
    """Runs one signature of a model: call it with its inputs by name, and it returns its outputs by
    name, as copies. Of Interpreter.get_signature_runner()."""

    def __init__(self, interpreter, signature_key):
        self._lib, self._key = library(), signature_key
        pointer = self._lib.TfLiteInterpreterGetSignatureRunner(
            interpreter._owned.pointer, signature_key.encode())
        if not pointer:
            raise ValueError(f'Invalid signature_key provided: {signature_key}')
        self._interpreter = interpreter
        self._owned = Owned(pointer, self._lib.TfLiteSignatureRunnerDelete, interpreter._owned)
        self._inputs, self._outputs = _signature_names(self._lib, pointer)
        self._allocated = False

    def __call__(self, **kwargs):
        if len(kwargs) != len(self._inputs):
            raise ValueError('Invalid number of inputs provided for running a SignatureDef, '
                             f'expected {len(self._inputs)} vs provided {len(kwargs)}')
        self._interpreter._ensure_safe()
        values = {}
        for name, value in kwargs.items():
            if name not in self._inputs:
                raise ValueError(f'Invalid Input name ({name}) for SignatureDef')
            values[name] = np.asarray(value)
            self._resize(name, values[name].shape)
        if not self._allocated:
            _check(self._lib.TfLiteSignatureRunnerAllocateTensors(self._owned.pointer))
            self._allocated = True
        for name, value in values.items():
            _tensors.write(self._tensor(name, True), value, name)
        _check(self._lib.TfLiteSignatureRunnerInvoke(self._owned.pointer))
        return {name: _tensors.read(self._tensor(name, False).contents) for name in self._outputs}

    def get_input_details(self):
        """As Interpreter.get_input_details(), by name."""
        return {name: self._details(name, True) for name in self._inputs}

    def get_output_details(self):
        """As Interpreter.get_output_details(), by name."""
        return {name: self._details(name, False) for name in self._outputs}

    def _tensor(self, name, is_input):
        which = 'Input' if is_input else 'Output'
        return getattr(self._lib, f'TfLiteSignatureRunnerGet{which}Tensor')(self._owned.pointer,
                                                                             name.encode())

    def _details(self, name, is_input):
        tensor = self._tensor(name, is_input)
        index = self._interpreter._index_of(tensor)
        return dict(_tensors.details(tensor.contents, index), name=name)

    def _resize(self, name, shape):
        if tuple(_native.numbers(self._tensor(name, True).contents.dims)) != tuple(shape):
            _check(self._lib.TfLiteSignatureRunnerResizeInputTensor(
                self._owned.pointer, name.encode(), *_dims(shape)), ValueError)
            self._allocated = False


def _signature_names(lib, runner):
    inputs = [lib.TfLiteSignatureRunnerGetInputName(runner, i).decode()
              for i in range(lib.TfLiteSignatureRunnerGetInputCount(runner))]
    outputs = [lib.TfLiteSignatureRunnerGetOutputName(runner, i).decode()
               for i in range(lib.TfLiteSignatureRunnerGetOutputCount(runner))]
    return inputs, outputs


def _create_model(lib, path, content):
    if path is not None and content is not None:
        raise ValueError("Can't both provide `model_path` and `model_content`")
    if path is None and content is None:
        raise ValueError('`model_path` or `model_content` must be specified.')
    if path is not None:
        pointer = lib.TfLiteModelCreateFromFileWithErrorReporter(
            os.fsencode(path), _native.quiet_reporter, None)
    else:
        content = bytes(content)
        pointer = lib.TfLiteModelCreateWithErrorReporter(content, len(content),
                                                         _native.quiet_reporter, None)
    if not pointer:
        raise ValueError(last_error())
    return Owned(pointer, lib.TfLiteModelDelete, content)


def _create_options(lib, threads, resolver, policy, validation):
    options = Owned(lib.TfLiteInterpreterOptionsCreate(), lib.TfLiteInterpreterOptionsDelete)
    lib.TfLiteInterpreterOptionsSetErrorReporter(options.pointer, _native.quiet_reporter, None)
    if threads is not None:
        if not isinstance(threads, int):
            raise ValueError('type of num_threads should be int')
        if threads < 1:
            raise ValueError('num_threads should >= 1')
        lib.TfLiteInterpreterOptionsSetNumThreads(options.pointer, threads)
    if not isinstance(resolver, OpResolverType):
        raise ValueError(f'Unrecognized passed in op resolver type: {resolver}')
    if resolver == OpResolverType.BUILTIN_REF:
        _check(lib.DeputyInterpreterOptionsSetArithmetic(options.pointer, 1))
    if policy is not None:
        if policy not in _explain.POLICIES:
            raise ValueError(f"delegate_policy: expected 'tflite' or 'hot', found {policy!r}")
        _check(lib.DeputyInterpreterOptionsSetDelegatePolicy(options.pointer,
                                                             _explain.POLICIES[policy]))
    if validation is not None:
        _check(lib.DeputyInterpreterOptionsSetValidation(
            options.pointer, ctypes.byref(_native.ValidationOptions(enabled=int(validation)))))
    return options


class Interpreter:
    """A model with its tensors.

    model_path, model_content: a file, or its bytes; one of the two.
    experimental_delegates: delegates of load_delegate, applied in order.
    num_threads: 1 or more; None leaves it to the library, which takes one.
    experimental_op_resolver_type: see OpResolverType.
    experimental_preserve_all_tensors: intermediate tensors keep what was computed, for get_tensor().
    experimental_disable_delegate_clustering, experimental_default_delegate_latest_features:
        taken for compatibility; neither changes what Deputy does.
    delegate_policy: 'tflite' or 'hot', what happens when a delegate fails (docs/delegates.md).
    validation: True checks delegates at work, False does not; None asks DEPUTY_VALIDATION.

    A model that is refused is a ValueError, a failure at work a RuntimeError; both carry Deputy's
    text.
    """

    def __init__(self, model_path=None, model_content=None, experimental_delegates=None,
                 num_threads=None, experimental_op_resolver_type=OpResolverType.AUTO,
                 experimental_preserve_all_tensors=False,
                 experimental_disable_delegate_clustering=False,
                 experimental_default_delegate_latest_features=False,
                 delegate_policy=None, validation=None):
        self._lib = lib = library()
        self._live = _tensors.new_live_set()
        self._preserve = bool(experimental_preserve_all_tensors)
        self._kept = []  # memory of preserved tensors
        self._model = _create_model(lib, model_path, model_content)
        self._options = _create_options(lib, num_threads, experimental_op_resolver_type,
                                        delegate_policy, validation)
        self._add_custom_ops(self._options.pointer)
        self._delegates = list(experimental_delegates or [])
        self._owned = self._create()
        for delegate in self._delegates:
            status = lib.TfLiteInterpreterModifyGraphWithDelegate(
                self._owned.pointer, delegate._get_native_delegate_pointer())
            # Under 'hot' a delegate that cannot be applied is left out.
            if status != OK and not (delegate_policy == 'hot' and status == _native.DELEGATE_ERROR):
                raise RuntimeError(last_error() or 'the delegate could not be applied')
        self._signatures = {}

    def _add_custom_ops(self, options):
        pass

    def _create(self):
        pointer = self._lib.TfLiteInterpreterCreate(self._model.pointer, self._options.pointer)
        if not pointer:
            raise ValueError(last_error())
        owned = (getattr(delegate, '_owned', delegate) for delegate in self._delegates)
        return Owned(pointer, self._lib.TfLiteInterpreterDelete, self._model, self._kept, *owned)

    # ---- tensors -------------------------------------------------------------------------------

    def allocate_tensors(self):
        """Plans memory; after the constructor and after each resize."""
        self._ensure_safe()
        if self._preserve:
            self._keep_all_tensors()
        _check(self._lib.TfLiteInterpreterAllocateTensors(self._owned.pointer))

    def get_input_details(self):
        """A dictionary per input: name, index, shape, shape_signature, dtype, quantization,
        quantization_parameters (scales, zero_points, quantized_dimension), sparsity_parameters."""
        return [self._details(index) for index in self._input_indices()]

    def get_output_details(self):
        """As get_input_details()."""
        lib, pointer = self._lib, self._owned.pointer
        return [self._details(lib.TfLiteInterpreterGetOutputTensorIndex(pointer, i))
                for i in range(lib.TfLiteInterpreterGetOutputTensorCount(pointer))]

    def get_tensor_details(self, subgraph_index=0):
        """As get_input_details(), for all tensors of a subgraph; those without a type, which are
        temporary, are left out."""
        count = self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph_index)
        return [self._details(i, subgraph_index) for i in range(count)
                if self._tensor(i, subgraph_index).contents.type != 0]

    def num_subgraphs(self):
        return self._lib.DeputyInterpreterGetSubgraphCount(self._owned.pointer)

    def set_tensor(self, tensor_index, value):
        """Copies `value`, of the tensor's shape and type, into it."""
        _tensors.write(self._tensor(tensor_index), value, tensor_index)

    def get_tensor(self, tensor_index, subgraph_index=0):
        """A copy of the tensor's contents."""
        tensor = self._tensor(tensor_index, subgraph_index).contents
        if subgraph_index == 0 and tensor.data_is_stale:
            _check(self._lib.TfLiteInterpreterEnsureTensorDataIsReadable(self._owned.pointer,
                                                                         tensor_index))
        return _tensors.read(tensor)

    def tensor(self, tensor_index):
        """A function that returns an array over the tensor's own memory, without a copy. The array
        must not be kept while the interpreter allocates or invokes, which raises RuntimeError."""
        self._tensor(tensor_index)

        def current():
            tensor = self._tensor(tensor_index).contents
            if not tensor.data and tensor.bytes:
                raise ValueError('Tensor data is null. Run allocate_tensors() first')
            return _tensors.view(tensor, self._owned, self._live)
        return current

    def resize_tensor_input(self, input_index, tensor_size, strict=False):
        """Gives an input, named by its tensor's index, another shape; allocate_tensors() follows.
        With `strict`, only dimensions that the model leaves open (-1) may change."""
        self._ensure_safe()
        size = np.asarray(tensor_size)
        if size.ndim != 1:
            raise ValueError(f'Shape should be 1D instead of {size.ndim}.')
        if size.dtype.kind not in 'iu' and size.size:
            raise ValueError(f'Shape must be type int32 (was {size.dtype}).')
        size = [int(extent) for extent in size]
        tensor = self._tensor(input_index).contents
        indices = self._input_indices()
        if input_index not in indices:
            raise ValueError(f'Tensor {input_index} is no input of the model.')
        if strict:
            self._check_strict(tensor, input_index, size)
        _check(self._lib.TfLiteInterpreterResizeInputTensor(
            self._owned.pointer, indices.index(input_index), *_dims(size)))

    def reset_all_variables(self):
        """Sets every variable tensor to zero."""
        _check(self._lib.TfLiteInterpreterResetVariableTensors(self._owned.pointer))

    def invoke(self):
        """Computes the outputs. Other threads of Python run meanwhile."""
        self._ensure_safe()
        _check(self._lib.TfLiteInterpreterInvoke(self._owned.pointer))

    # ---- signatures ----------------------------------------------------------------------------

    def get_signature_list(self):
        """{key: {'inputs': [names], 'outputs': [names]}}."""
        lib, signatures = self._lib, {}
        for key in self._signature_keys():
            runner = Owned(lib.TfLiteInterpreterGetSignatureRunner(self._owned.pointer,
                                                                   key.encode()),
                           lib.TfLiteSignatureRunnerDelete, self._owned)
            inputs, outputs = _signature_names(lib, runner.pointer)
            signatures[key] = {'inputs': inputs, 'outputs': outputs}
        return signatures

    def get_signature_runner(self, signature_key=None):
        """The SignatureRunner of that key, which may be left out where there is one signature."""
        keys = self._signature_keys()
        if signature_key is None:
            if len(keys) != 1:
                raise ValueError('SignatureDef signature_key is None and model has '
                                 f'{len(keys)} Signatures. None is only allowed when the model has '
                                 '1 SignatureDef')
            signature_key = keys[0]
        if signature_key not in keys:
            raise ValueError(f'Invalid signature_key provided: {signature_key}')
        return SignatureRunner(self, signature_key)

    # ---- Deputy's own --------------------------------------------------------------------------

    def explain(self):
        """Who runs what: {'delegates': [...], 'nodes': [...]}. A node has `run_by`, 'CPU' or the
        delegate's name, and `reasons` for each delegate that does not run it."""
        return _explain.explain(self._lib, self._owned.pointer)

    def delegation_status(self):
        """The policy, and whether the newest inference had to do without a delegate."""
        return _explain.delegation_status(self._lib, self._owned.pointer)

    def findings(self):
        """What the validation layer has found, see `validation` (docs/validation.md)."""
        return _explain.findings(self._lib, self._owned.pointer)

    # ---- helpers -------------------------------------------------------------------------------

    def _signature_keys(self):
        count = self._lib.TfLiteInterpreterGetSignatureCount(self._owned.pointer)
        return [self._lib.TfLiteInterpreterGetSignatureKey(self._owned.pointer, i).decode()
                for i in range(count)]

    def _input_indices(self):
        lib, pointer = self._lib, self._owned.pointer
        return [lib.TfLiteInterpreterGetInputTensorIndex(pointer, i)
                for i in range(lib.TfLiteInterpreterGetInputTensorCount(pointer))]

    def _tensor(self, index, subgraph=0):
        pointer = self._lib.DeputyInterpreterGetTensor(self._owned.pointer, subgraph, index)
        if not pointer:
            count = self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph)
            raise ValueError(f'Invalid tensor index {index} exceeds max tensor index {count}')
        return pointer

    def _details(self, index, subgraph=0):
        return _tensors.details(self._tensor(index, subgraph).contents, index)

    def _index_of(self, pointer):
        """The index of a tensor of a signature in its subgraph."""
        address = ctypes.addressof(pointer.contents)
        for subgraph in range(self.num_subgraphs()):
            for i in range(self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph)):
                if ctypes.addressof(self._tensor(i, subgraph).contents) == address:
                    return i
        return -1

    def _get_ops_details(self, subgraph_index=0):
        """index, op_name, inputs, outputs of each node, as upstream's method of that name."""
        return [{'index': node['node'], 'op_name': node['operator'],
                 'inputs': np.array(node['inputs'], np.int32),
                 'outputs': np.array(node['outputs'], np.int32)}
                for node in self.explain()['nodes'] if node['subgraph'] == subgraph_index]

    def _native_handle(self):
        """The TfLiteInterpreter*, as a number."""
        return self._owned.pointer

    def _ensure_safe(self):
        if self._live:
            raise RuntimeError(
                'There is at least 1 reference to internal data in the interpreter in the form of a '
                'numpy array or slice. Be sure to only hold the function returned from tensor() if '
                'you are using raw data access.')

    @staticmethod
    def _check_strict(tensor, index, size):
        shape = _native.numbers(tensor.dims)
        signature = _native.numbers(tensor.dims_signature) or shape
        if len(size) != len(shape):
            raise RuntimeError(f'ResizeInputTensorStrict only allows mutating unknown dimensions '
                               f'identified by -1: tensor {index} has {len(shape)} dimensions, '
                               f'found {len(size)}.')
        for i, extent in enumerate(size):
            if extent != shape[i] and signature[i] != -1:
                raise RuntimeError(
                    f'Attempting to resize dimension {i} of tensor {index} with value {shape[i]} to '
                    f'{extent}. ResizeInputTensorStrict only allows mutating unknown dimensions '
                    'identified by -1.')

    def _keep_all_tensors(self):
        """Every tensor of the arena gets memory of its own: an interpreter without delegates tells
        the sizes at the present shapes of the inputs."""
        lib, indices = self._lib, self._input_indices()
        scout = Owned(lib.TfLiteInterpreterCreate(self._model.pointer, self._options.pointer),
                      lib.TfLiteInterpreterDelete, self._model)
        for i, index in enumerate(indices):
            shape = _native.numbers(self._tensor(index).contents.dims)
            _check(lib.TfLiteInterpreterResizeInputTensor(scout.pointer, i, *_dims(shape)))
        _check(lib.TfLiteInterpreterAllocateTensors(scout.pointer))
        for index in range(lib.DeputyInterpreterGetTensorCount(scout.pointer, 0)):
            tensor = lib.DeputyInterpreterGetTensor(scout.pointer, 0, index).contents
            exists = index < lib.DeputyInterpreterGetTensorCount(self._owned.pointer, 0)
            if tensor.allocation_type == 2 and tensor.bytes and exists:  # kTfLiteArenaRw
                self._give_memory(index, tensor.bytes)

    def _give_memory(self, index, size):
        memory = ctypes.create_string_buffer(size + 128)  # aligned to 64 bytes, with room behind
        start = -(-ctypes.addressof(memory) // 64) * 64
        given = _native.CustomAllocation(start, size)
        _check(self._lib.TfLiteInterpreterSetCustomAllocationForTensor(
            self._owned.pointer, index, ctypes.byref(given), 0))
        self._kept.append(memory)


def _registerer(entry):
    """The function that an element of custom_op_registerers stands for."""
    if isinstance(entry, str):
        try:
            entry = ctypes.cast(getattr(ctypes.CDLL(None), entry), ctypes.c_void_p).value
        except AttributeError as error:
            raise ValueError(f"Looking up symbol '{entry}' failed with error '{error}'.") from None
    elif not isinstance(entry, int):
        entry = ctypes.cast(entry, ctypes.c_void_p).value
    if not entry:
        raise ValueError('a registerer is NULL')
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(entry)


class InterpreterWithCustomOps(Interpreter):
    """An interpreter with operators of the program's own.

    custom_op_registerers: functions of C, each by its name in a library that is loaded with
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL), by its address, or as a function of ctypes. Each is
        called once with the TfLiteInterpreterOptions* of the interpreter and adds its operators to
        them, by TfLiteInterpreterOptionsAddCustomOp or AddOperator. What it adds must live as long
        as the interpreter. TensorFlow Lite's registerers, which take an object of C++, do not fit.
    The other arguments are those of Interpreter.
    """

    def __init__(self, custom_op_registerers=None, **kwargs):
        self._custom_op_registerers = list(custom_op_registerers or [])
        super().__init__(**kwargs)

    def _add_custom_ops(self, options):
        for register in [_registerer(entry) for entry in self._custom_op_registerers]:
            register(options)
