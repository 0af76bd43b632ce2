# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's Python interpreter, on Deputy.

A program for `tflite_runtime.interpreter` or `ai_edge_litert.interpreter` runs after changing its
import to this module. Additions of Deputy: `delegate_policy`, `validation`, `background`, `placement`,
`weight_cache`, `memory_budget`, `precision`, `precision_plan` and `verification` of an Interpreter,
`explain()`, `placement_plan()`, `weight_cache_use()`, `delegation_status()`, `verification_status()`,
`background_status()`, `wait_for_background()`, `findings()`,
`release_memory()`, `share_state()`, `shared_state()` and `reset_shared_states()`.

One interpreter runs one call at a time, see _guard.py. Several interpreters run in parallel, since
every call into the library releases Python's lock.
"""
from __future__ import annotations

import ctypes
import enum
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _checks, _explain, _log, _native, _placement, _signature, _tensors, _verification
from ._delegate import Delegate, Path, load_delegate
from ._guard import CallGuard
from ._model import create_model
from ._native import OK, Owned, last_error, library
from ._preserve import PreservedTensors
from ._reports import Reports
from ._signature import SignatureRunner

__all__ = ['Delegate', 'Interpreter', 'InterpreterWithCustomOps', 'OpResolverType',
           'SignatureRunner', 'load_delegate']


@enum.unique
class OpResolverType(enum.Enum):
    """Selects the kernels. BUILTIN_REF is the reference arithmetic: quantised results equal those
    of TensorFlow Lite's reference kernels bit by bit. All other values are equivalent, because
    Deputy applies no delegate by default."""
    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    BUILTIN_WITHOUT_DEFAULT_DELEGATES = 3


_PRECISIONS = {'float32': 0, 'bf16': 1, 'fp16': 2}


def _create_options(lib: ctypes.CDLL, reports: Reports, threads: Optional[int], resolver: OpResolverType,
                    policy: Optional[str], validation: Optional[bool], weight_cache: Optional[Path],
                    memory_budget: Optional[int], precision: Optional[str],
                    verification: Union[str, int, Dict[str, Any], None]) -> Owned:
    options = Owned(lib.TfLiteInterpreterOptionsCreate(), lib.TfLiteInterpreterOptionsDelete, reports)
    lib.TfLiteInterpreterOptionsSetErrorReporter(options.pointer, reports.function, None)
    threads = _checks.threads(threads)
    if threads is not None:
        lib.TfLiteInterpreterOptionsSetNumThreads(options.pointer, threads)
    if not isinstance(resolver, OpResolverType):
        raise ValueError(f'Unrecognized passed in op resolver type: {resolver}')
    if resolver == OpResolverType.BUILTIN_REF:
        _must(lib.DeputyInterpreterOptionsSetArithmetic(options.pointer, 1))
    if policy is not None:
        if policy not in _explain.POLICIES:
            raise ValueError(f"delegate_policy: expected 'tflite' or 'hot', found {policy!r}")
        _must(lib.DeputyInterpreterOptionsSetDelegatePolicy(options.pointer,
                                                            _explain.POLICIES[policy]))
    if validation is not None:
        _must(lib.DeputyInterpreterOptionsSetValidation(
            options.pointer, ctypes.byref(_native.ValidationOptions(enabled=int(validation)))))
    if weight_cache is not None:
        _must(lib.DeputyInterpreterOptionsSetWeightCache(options.pointer, os.fsencode(weight_cache)))
    if memory_budget is not None:
        size = _checks.bytes_count(memory_budget, 'memory_budget')
        _must(lib.DeputyInterpreterOptionsSetMemoryBudget(options.pointer, size))
    if precision is not None:
        if precision not in _PRECISIONS:
            raise ValueError(f"precision: expected 'float32', 'bf16' or 'fp16', found {precision!r}")
        _must(lib.DeputyInterpreterOptionsSetPrecision(options.pointer, _PRECISIONS[precision]))
    if verification is not None:
        given = _verification.settings(verification)
        if lib.DeputyInterpreterOptionsSetVerification(options.pointer, ctypes.byref(given)) != OK:
            raise ValueError(f'verification: a number is out of range in {verification!r}')
    return options


def _must(status: int) -> None:
    if status != OK:
        raise RuntimeError(last_error() or f'failed with status {status}')


class Interpreter:
    """A model with its tensors.

    model_path, model_content: a file, or its bytes; exactly one of the two.
    experimental_delegates: delegates of load_delegate, applied in order.
    num_threads: 1 or more; None selects the library's default, one.
    experimental_op_resolver_type: see OpResolverType.
    experimental_preserve_all_tensors: intermediate tensors keep their values, for get_tensor().
    experimental_disable_delegate_clustering, experimental_default_delegate_latest_features,
    experimental_compress_quantization_zero_points, experimental_disable_delegate_node_fusion,
    experimental_force_delegate_node_profiling:
        accepted for compatibility, without effect.
    delegate_policy: 'tflite' or 'hot', the behaviour if a delegate fails (docs/delegates.md).
    validation: True enables the delegate validation layer, False disables it; None selects the
        value of the environment variable DEPUTY_VALIDATION.
    background: True prepares the delegates on another thread while the CPU runs the model
        (docs/background.md); a number does so for that many input shapes.
    placement: True places the nodes on the delegates and the CPU by measured times
        (docs/placement.md); a dictionary does so with budget_ms, runs and cache_directory.
    weight_cache: file with packed constants, which processes share (docs/weight-cache.md).
    memory_budget: upper bound on the interpreter's memory in bytes
        (DeputyInterpreterOptionsSetMemoryBudget); allocate_tensors() fails beyond it.
    precision: 'float32', 'bf16' or 'fp16', the precision of float32 products on the CPU; None
        selects the value of the environment variable DEPUTY_PRECISION (docs/design/precision.md).
    verification: compares delegates' results with the CPU's (docs/design/verification.md): 'never',
        'first', 'always', a number for every n-th run, or a dictionary with mode, interval,
        float32_tolerance, float16_tolerance and quantized_steps.
    precision_plan: file of `deputy precision` with the precision of single nodes
        (docs/precision-plans.md).

    A rejected model raises ValueError, a failure at run time RuntimeError; both contain the texts
    that Deputy, operators and delegates reported. A call while another thread is in invoke(),
    allocate_tensors(), resize_tensor_input(), reset_all_variables() or a signature runner raises
    RuntimeError; methods that only read names and shapes wait instead.
    """

    def __init__(self, model_path: Optional[Path] = None,
                 model_content: Union[bytes, bytearray, memoryview, None] = None,
                 experimental_delegates: Optional[Sequence[Delegate]] = None,
                 num_threads: Optional[int] = None,
                 experimental_op_resolver_type: OpResolverType = OpResolverType.AUTO,
                 experimental_preserve_all_tensors: bool = False,
                 experimental_disable_delegate_clustering: bool = False,
                 experimental_default_delegate_latest_features: bool = False,
                 experimental_compress_quantization_zero_points: bool = False,
                 experimental_disable_delegate_node_fusion: bool = False,
                 experimental_force_delegate_node_profiling: bool = False,
                 delegate_policy: Optional[str] = None, validation: Optional[bool] = None,
                 background: Union[bool, int] = False,
                 placement: Union[bool, Dict[str, Any], None] = None,
                 weight_cache: Optional[Path] = None, memory_budget: Optional[int] = None,
                 precision: Optional[str] = None,
                 verification: Union[str, int, Dict[str, Any], None] = None,
                 precision_plan: Optional[Path] = None) -> None:
        self._lib = lib = library()
        _log.follow(lib)
        self._guard, self._reports = CallGuard(), Reports()
        self._live = _tensors.new_live_set()
        self._states: Dict[str, str] = {}  # Output names of share_state(), by input name.
        self._compresses_zero_points = experimental_compress_quantization_zero_points
        self._model = create_model(lib, model_path, model_content)
        self._options = _create_options(lib, self._reports, num_threads,
                                        experimental_op_resolver_type, delegate_policy, validation,
                                        weight_cache, memory_budget, precision, verification)
        if precision_plan is not None:
            _must(lib.DeputyInterpreterOptionsSetPrecisionPlan(
                self._options.pointer, self._model.pointer, os.fsencode(precision_plan)))
        self._add_custom_ops(self._options.pointer)
        self._preserved = None
        if experimental_preserve_all_tensors:
            self._preserved = PreservedTensors(lib, self._model, self._options)
        self._delegates = list(experimental_delegates or [])
        if placement and background:
            raise ValueError('placement: expected no background')
        self._placement = self._place(placement) if placement else None
        self._owned = self._create()
        if placement:
            return
        if background and self._delegates:
            self._apply_in_background(int(background))
            return
        for delegate in self._delegates:
            self._apply(delegate, delegate_policy == 'hot')

    def _add_custom_ops(self, options: int) -> None:
        pass

    def _place(self, settings: Union[bool, Dict[str, Any]]) -> Dict[str, Any]:
        self._reports.clear()
        pointers = [delegate._get_native_delegate_pointer() for delegate in self._delegates]
        plan = _placement.place(self._lib, self._model.pointer, self._options.pointer, pointers, settings)
        if plan is None:
            raise RuntimeError(self._reports.failure(last_error(), last_error()))
        return plan

    def placement_plan(self) -> Optional[Dict[str, Any]]:
        """Returns the placement by measured times as a dictionary: owners has for each node of subgraph 0
        the index of its delegate, or None for the CPU; alternatives has the considered assignments, the
        chosen one first, with their times in nanoseconds. None without `placement`."""
        return self._placement

    def weight_cache_use(self) -> Dict[str, Any]:
        """Returns the use of `weight_cache` as a dictionary: state of the file when it was opened
        ('usable', 'absent', 'damaged', 'other build' or 'other model'), the numbers of values that
        were reused and packed, and mapped_bytes."""
        use = _native.WeightCache()
        with self._guard.metadata:
            self._check(self._lib.DeputyInterpreterGetWeightCache(self._owned.pointer,
                                                                  ctypes.byref(use)))
        states = ('usable', 'absent', 'damaged', 'other build', 'other model')
        return {'state': states[use.state], 'reused': use.reused, 'packed': use.packed,
                'mapped_bytes': use.mapped_bytes}

    def _create(self) -> Owned:
        self._reports.clear()
        pointer = self._lib.TfLiteInterpreterCreate(self._model.pointer, self._options.pointer)
        if not pointer:
            raise ValueError(self._reports.failure(last_error(), last_error()))
        owned = (getattr(delegate, '_owned', delegate) for delegate in self._delegates)
        return Owned(pointer, self._lib.TfLiteInterpreterDelete, self._model, self._reports,
                     self._preserved, *owned)

    def _apply(self, delegate: Delegate, hot: bool) -> None:
        self._reports.clear()
        status = self._lib.TfLiteInterpreterModifyGraphWithDelegate(
            self._owned.pointer, delegate._get_native_delegate_pointer())
        # Under 'hot' a delegate that cannot be applied is skipped.
        if not (hot and status == _native.DELEGATE_ERROR):
            self._check(status)

    def _apply_in_background(self, shapes: int) -> None:
        self._reports.clear()
        pointers = [delegate._get_native_delegate_pointer() for delegate in self._delegates]
        self._check(self._lib.DeputyInterpreterApplyInBackground(
            self._owned.pointer, (_native.POINTER * len(pointers))(*pointers), len(pointers),
            ctypes.byref(_native.BackgroundOptions(max_shapes=shapes))))

    # ---- tensors -------------------------------------------------------------------------------

    def allocate_tensors(self) -> None:
        """Plans memory. Call it after the constructor and after each resize."""
        _log.follow(self._lib)
        with self._changing('allocate_tensors'):
            if self._preserved is not None:
                self._preserved.prepare(self)
            self._check(self._lib.TfLiteInterpreterAllocateTensors(self._owned.pointer))

    def get_input_details(self) -> List[Dict[str, Any]]:
        """Returns a dictionary per input: name, index, shape, shape_signature, dtype, quantization,
        quantization_parameters (scales, zero_points, quantized_dimension, block_size),
        sparsity_parameters."""
        with self._guard.metadata:
            return [self._details(index) for index in self._input_indices()]

    def get_output_details(self) -> List[Dict[str, Any]]:
        """Like get_input_details(), for the outputs."""
        lib, pointer = self._lib, self._owned.pointer
        with self._guard.metadata:
            return [self._details(lib.TfLiteInterpreterGetOutputTensorIndex(pointer, i))
                    for i in range(lib.TfLiteInterpreterGetOutputTensorCount(pointer))]

    def get_tensor_details(self, subgraph_index: int = 0) -> List[Dict[str, Any]]:
        """Like get_input_details(), for all tensors of a subgraph except those without a type,
        which are temporary."""
        subgraph = _checks.index(subgraph_index, 'subgraph_index')
        count = self.num_subgraphs()
        if not 0 <= subgraph < count:
            raise ValueError(f'subgraph_index is out of range: {subgraph} for the model, which has '
                             f'{count} subgraphs.')
        with self._guard.metadata:
            tensors = range(self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph))
            return [self._details(i, subgraph) for i in tensors
                    if self._tensor(i, subgraph).contents.type != 0]

    @property
    def experimental_compress_quantization_zero_points(self) -> bool:
        """The constructor's argument, which has no effect."""
        return self._compresses_zero_points

    def num_subgraphs(self) -> int:
        """Returns the number of subgraphs of the model."""
        return self._lib.DeputyInterpreterGetSubgraphCount(self._owned.pointer)

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copies `value` into the tensor; type and shape must be equal. Strings are bytes or str."""
        index, array = _checks.index(tensor_index, 'tensor_index'), np.asarray(value)
        with self._guard.contents('set_tensor'):
            _tensors.write(self._tensor(index), array, index)

    def get_tensor(self, tensor_index: int, subgraph_index: int = 0) -> np.ndarray:
        """Returns a copy of the tensor's contents. Strings are an array of bytes objects."""
        index = _checks.index(tensor_index, 'tensor_index')
        subgraph = _checks.index(subgraph_index, 'subgraph_index')
        with self._guard.contents('get_tensor'):
            tensor = self._tensor(index, subgraph).contents
            if subgraph == 0 and tensor.data_is_stale:
                self._check(self._lib.TfLiteInterpreterEnsureTensorDataIsReadable(
                    self._owned.pointer, index))
            return _tensors.read(tensor)

    def tensor(self, tensor_index: int) -> Callable[[], np.ndarray]:
        """Returns a function that returns an array over the tensor's own memory, without a copy.
        allocate_tensors(), resize_tensor_input(), invoke() and signature runners raise RuntimeError
        while such an array exists."""
        index = _checks.index(tensor_index, 'tensor_index')
        with self._guard.metadata:
            self._tensor(index)

        def current() -> np.ndarray:
            with self._guard.contents('tensor'):
                return _tensors.view(self._tensor(index).contents, self._owned, self._live)
        return current

    def resize_tensor_input(self, input_index: int, tensor_size: Union[Sequence[int], np.ndarray],
                            strict: bool = False) -> None:
        """Changes the shape of an input, selected by its tensor's index; call allocate_tensors()
        afterwards. With `strict`, only unknown dimensions of the model (-1) may change."""
        index = _checks.index(input_index, 'input_index')
        size = _checks.extents(tensor_size)
        with self._changing('resize_tensor_input'):
            tensor, inputs = self._tensor(index).contents, self._input_indices()
            if index not in inputs:
                raise ValueError(f'Tensor {index} is no input of the model.')
            if strict:
                self._check_strict(tensor, index, size)
            self._check(self._lib.TfLiteInterpreterResizeInputTensor(
                self._owned.pointer, inputs.index(index), _native.int_array(size), len(size)))

    def reset_all_variables(self) -> None:
        """Sets every variable tensor to zero, int8 ones to their zero point."""
        with self._guard.exclusive('reset_all_variables'):
            self._reports.clear()
            self._check(self._lib.TfLiteInterpreterResetVariableTensors(self._owned.pointer))

    def invoke(self) -> None:
        """Computes the outputs. Other Python threads run meanwhile."""
        guard = self._guard
        guard.begin('invoke')
        try:
            self._ensure_safe()
            self._reports.clear()
            status = self._lib.TfLiteInterpreterInvoke(self._owned.pointer)
            if status != OK:
                self._check(status)
        finally:
            guard.end()

    # ---- signatures ----------------------------------------------------------------------------

    def get_signature_list(self) -> Dict[str, Dict[str, List[str]]]:
        """Returns {key: {'inputs': [names], 'outputs': [names]}}."""
        return {key: {side: list(tensors) for side, tensors in signature.items()}
                for key, signature in self._get_full_signature_list().items()}

    def get_signature_runner(self, signature_key: Optional[str] = None) -> SignatureRunner:
        """Returns the SignatureRunner of that key, which is optional if there is only one
        signature."""
        if signature_key is None:
            keys = _signature.keys(self._lib, self._owned.pointer)
            if len(keys) != 1:
                raise ValueError('SignatureDef signature_key is None and model has '
                                 f'{len(keys)} Signatures. None is only allowed when the model has '
                                 '1 SignatureDef')
            signature_key = keys[0]
        return SignatureRunner(interpreter=self, signature_key=signature_key)

    # ---- Additions of Deputy --------------------------------------------------------------------

    def explain(self) -> Dict[str, Any]:
        """Returns the owner of each node: {'delegates': [...], 'nodes': [...]}. A node has
        `run_by`, 'CPU' or the delegate's name, and `reasons` for each delegate that does not run
        it."""
        with self._guard.metadata:
            return _explain.explain(self._lib, self._owned.pointer)

    def delegation_status(self) -> Dict[str, Any]:
        """Returns the policy, `degraded`, which is True if the last inference used the CPU's results
        for a delegate's nodes or a delegate was skipped, and counts of skipped delegates,
        recomputed nodes and restarts."""
        with self._guard.metadata:
            return _explain.delegation_status(self._lib, self._owned.pointer)

    def verification_status(self) -> Dict[str, Any]:
        """Returns the results of `verification` so far: the numbers of runs of partitions that were
        verified, wrong and skipped, spent_ns, and first_wrong, the position and values of the first
        wrong element, or None."""
        with self._guard.metadata:
            return _verification.status(self._lib, self._owned.pointer)

    def background_status(self) -> Dict[str, Any]:
        """Returns the state of delegates in the background: 'none', 'waiting', 'preparing', 'ready',
        'active', 'failed' or 'timed out', the reason of a failure, and counts
        (DeputyBackgroundStatus)."""
        with self._guard.metadata:
            return _explain.background_status(self._lib, self._owned.pointer)

    def wait_for_background(self, timeout: Optional[float] = None) -> bool:
        """Waits until the delegates are ready for the present shapes or have failed, at most
        `timeout` seconds. Returns False after the timeout."""
        milliseconds = -1 if timeout is None else int(timeout * 1000)
        with self._changing('wait_for_background'):
            return self._lib.DeputyInterpreterWaitForBackground(self._owned.pointer,
                                                                milliseconds) == OK

    def share_state(self, input_name: str, output_name: str) -> None:
        """Makes an output of the signatures the input of the next run (DeputyInterpreterShareState).
        A SignatureRunner then needs no value for this input and does not return the output."""
        with self._changing('share_state'):
            names = [name.encode(errors='surrogateescape') for name in (input_name, output_name)]
            self._check(self._lib.DeputyInterpreterShareState(self._owned.pointer, *names))
            self._states[input_name] = output_name

    def shared_state(self, input_name: str) -> np.ndarray:
        """Returns a copy of the current state of share_state()."""
        output_name = self._states.get(input_name)
        if output_name is None:
            raise ValueError(f'shared_state: expected an input of share_state(), found {input_name!r}')
        key = next(key for key, names in self._get_full_signature_list().items()
                   if input_name in names['inputs'] and output_name in names['outputs'])
        return SignatureRunner(self, key)._read_input(input_name)

    def reset_shared_states(self) -> None:
        """Sets all states of share_state() to zero."""
        with self._changing('reset_shared_states'):
            self._check(self._lib.DeputyInterpreterResetSharedStates(self._owned.pointer))

    def release_memory(self) -> None:
        """Releases memory that is not needed until the next invoke(), which provides it again
        (DeputyInterpreterReleaseMemory). Inputs, outputs and variables keep their contents."""
        with self._changing('release_memory'):
            self._check(self._lib.DeputyInterpreterReleaseMemory(self._owned.pointer))

    def findings(self) -> List[Dict[str, Any]]:
        """Returns the findings of the validation layer, see `validation` (docs/validation.md)."""
        with self._guard.metadata:
            return _explain.findings(self._lib, self._owned.pointer)

    # ---- helpers -------------------------------------------------------------------------------

    def _changing(self, call: str) -> Any:
        """Returns a context manager for a call that changes the interpreter."""
        held = self._guard.exclusive(call)
        try:
            self._ensure_safe()
            self._reports.clear()
        except BaseException:
            self._guard.end()
            raise
        return held

    def _check(self, status: int) -> None:
        """Raises RuntimeError, with all reported texts, for a call that failed."""
        if status != OK:
            newest = self._lib.DeputyInterpreterLastError(self._owned.pointer)
            raise RuntimeError(self._reports.failure((newest or b'').decode(errors='replace'),
                                                     f'failed with status {status}'))

    def _input_indices(self) -> List[int]:
        lib, pointer = self._lib, self._owned.pointer
        return [lib.TfLiteInterpreterGetInputTensorIndex(pointer, i)
                for i in range(lib.TfLiteInterpreterGetInputTensorCount(pointer))]

    def _tensor(self, index: int, subgraph: int = 0) -> Any:
        pointer = self._lib.DeputyInterpreterGetTensor(self._owned.pointer, subgraph, index)
        if pointer:
            return pointer
        count = self.num_subgraphs()
        if not 0 <= subgraph < count:
            raise ValueError(f'Invalid subgraph index {subgraph} exceeds max subgraph index {count}')
        count = self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph)
        raise ValueError(f'Invalid tensor index {index} exceeds max tensor index {count}')

    def _details(self, index: int, subgraph: int = 0) -> Dict[str, Any]:
        return _tensors.details(self._tensor(index, subgraph).contents, index)

    def _index_of(self, pointer: Any) -> Tuple[int, int]:
        """Returns (subgraph, index) of a tensor by its address; (0, -1) if there is none."""
        address = ctypes.addressof(pointer.contents)
        for subgraph in range(self.num_subgraphs()):
            count = self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph)
            if count == 0:
                continue
            # The tensor structs of a subgraph are an array.
            first = ctypes.addressof(self._tensor(0, subgraph).contents)
            index, between = divmod(address - first, ctypes.sizeof(_native.Tensor))
            if between == 0 and 0 <= index < count:
                return subgraph, index
        return 0, -1

    def _subgraph_of(self, runner: _signature.NativeRunner) -> int:
        tensors = ([runner.input(name) for name in runner.input_names] +
                   [runner.output(name) for name in runner.output_names])
        return self._index_of(tensors[0])[0] if tensors else 0

    # ---- Private methods of upstream that programs call -----------------------------------------

    def _get_full_signature_list(self) -> Dict[str, Dict[str, Dict[str, int]]]:
        """Returns {key: {'inputs': {name: tensor index}, 'outputs': {name: tensor index}}}."""
        signatures = {}
        with self._guard.metadata:
            for key in _signature.keys(self._lib, self._owned.pointer):
                runner = _signature.NativeRunner(self._lib, self._owned, key)
                signatures[key] = {
                    'inputs': {name: self._index_of(runner.input(name))[1]
                               for name in runner.input_names},
                    'outputs': {name: self._index_of(runner.output(name))[1]
                                for name in runner.output_names}}
        return signatures

    def _get_tensor_details(self, tensor_index: int, subgraph_index: int) -> Dict[str, Any]:
        """Returns the details of one tensor; raises ValueError if it has no type."""
        index = _checks.index(tensor_index, 'tensor_index')
        subgraph = _checks.index(subgraph_index, 'subgraph_index')
        with self._guard.metadata:
            if self._tensor(index, subgraph).contents.type == 0:
                raise ValueError('Tensor with no type found.')
            return self._details(index, subgraph)

    def _get_op_details(self, op_index: int) -> Dict[str, Any]:
        """Returns index, op_name, inputs, outputs, operand_types and result_types of one node."""
        index = _checks.index(op_index, 'op_index')
        with self._guard.metadata:
            node = _explain.node_details(self._lib, self._owned.pointer, index)
            if node is None:
                raise ValueError('Invalid node index')
            for types, tensors in (('operand_types', 'inputs'), ('result_types', 'outputs')):
                node[types] = [_tensors.dtype_of(self._tensor(int(i)).contents)
                               for i in node[tensors] if i != -1]
            return node

    def _get_ops_details(self) -> List[Dict[str, Any]]:
        """Returns _get_op_details() of every node of the main subgraph."""
        count = self._lib.DeputyInterpreterGetNodeCount(self._owned.pointer, 0)
        return [self._get_op_details(i) for i in range(count)]

    def _has_variables(self) -> bool:
        """Returns True if a tensor of a subgraph keeps its contents between runs."""
        return any(self._tensor(i, subgraph).contents.is_variable
                   for subgraph in range(self.num_subgraphs())
                   for i in range(self._lib.DeputyInterpreterGetTensorCount(self._owned.pointer, subgraph)))

    def _native_handle(self) -> int:
        """Returns the TfLiteInterpreter* as a number."""
        return self._owned.pointer

    def _safe_to_run(self) -> bool:
        """Returns True if no array over the memory of a tensor exists."""
        return not self._live

    def _ensure_safe(self) -> None:
        if self._live:
            raise RuntimeError(
                'There is at least 1 reference to internal data in the interpreter in the form of a '
                'numpy array or slice. Be sure to only hold the function returned from tensor() if '
                'you are using raw data access.')

    @staticmethod
    def _check_strict(tensor: _native.Tensor, index: int, size: List[int]) -> None:
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


def _registerer(entry: Any) -> Any:
    """Returns the function that an element of custom_op_registerers specifies."""
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
    """An interpreter with custom operators of the program.

    custom_op_registerers: C functions, each given as its name in a library that is loaded with
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL), as its address, or as a ctypes function. Each is
        called once with the TfLiteInterpreterOptions* of the interpreter and adds its operators
        by TfLiteInterpreterOptionsAddCustomOp or AddOperator. The operators must outlive the
        interpreter. TensorFlow Lite's registerers, which take a C++ object, are not supported.
    The other arguments are those of Interpreter.
    """

    def __init__(self, custom_op_registerers: Optional[Sequence[Any]] = None, **kwargs: Any) -> None:
        self._custom_op_registerers = list(custom_op_registerers or [])
        super().__init__(**kwargs)

    def _add_custom_ops(self, options: int) -> None:
        for register in [_registerer(entry) for entry in self._custom_op_registerers]:
            register(options)
