# SPDX-License-Identifier: Apache-2.0
"""ctypes declarations of the library, its functions and structs.

Every call releases Python's lock while it runs. An object of the library is an `Owned`: it is
deleted when no Python object refers to it any more, and always before the objects that it uses.
"""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import Any

from . import _log

OK, ERROR, DELEGATE_ERROR = 0, 1, 2  # TfLiteStatus
POINTER, INT, SIZE, TEXT = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t, ctypes.c_char_p


class IntArray(ctypes.Structure):
    _fields_ = [('size', ctypes.c_int), ('data', ctypes.c_int * 0)]


class FloatArray(ctypes.Structure):
    _fields_ = [('size', ctypes.c_int), ('data', ctypes.c_float * 0)]


IntArrayPointer = ctypes.POINTER(IntArray)


class QuantizationParams(ctypes.Structure):
    _fields_ = [('scale', ctypes.c_float), ('zero_point', INT)]


class AffineQuantization(ctypes.Structure):
    _fields_ = [('scale', ctypes.POINTER(FloatArray)), ('zero_point', IntArrayPointer),
                ('quantized_dimension', INT)]


class Quantization(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('params', POINTER)]


class DimensionMetadata(ctypes.Structure):
    _fields_ = [('format', ctypes.c_int), ('dense_size', ctypes.c_int),
                ('array_segments', IntArrayPointer), ('array_indices', IntArrayPointer)]


class Sparsity(ctypes.Structure):
    _fields_ = [('traversal_order', IntArrayPointer), ('block_map', IntArrayPointer),
                ('dim_metadata', ctypes.POINTER(DimensionMetadata)),
                ('dim_metadata_size', ctypes.c_int)]


class Tensor(ctypes.Structure):
    """TfLiteTensor of common.h."""
    _fields_ = [('type', ctypes.c_int), ('data', POINTER), ('dims', IntArrayPointer),
                ('params', QuantizationParams), ('allocation_type', ctypes.c_int), ('bytes', SIZE),
                ('allocation', POINTER), ('name', TEXT), ('delegate', POINTER),
                ('buffer_handle', ctypes.c_int), ('data_is_stale', ctypes.c_bool),
                ('is_variable', ctypes.c_bool), ('quantization', Quantization),
                ('sparsity', ctypes.POINTER(Sparsity)), ('dims_signature', IntArrayPointer)]


TensorPointer = ctypes.POINTER(Tensor)


class CustomAllocation(ctypes.Structure):
    _fields_ = [('data', POINTER), ('bytes', SIZE)]


class Sized(ctypes.Structure):
    """A struct of deputy.h, which starts with its size."""

    def __init__(self, **values):
        super().__init__(struct_size=ctypes.sizeof(self), **values)


class NodeInfo(Sized):
    _fields_ = [('struct_size', SIZE), ('subgraph_index', INT), ('node_index', INT),
                ('plan_position', INT), ('builtin_code', INT), ('version', INT),
                ('operator_name', TEXT), ('owner', TEXT), ('inputs', ctypes.POINTER(INT)),
                ('input_count', INT), ('output_count', INT), ('outputs', ctypes.POINTER(INT))]


class DelegateInfo(Sized):
    _fields_ = [('struct_size', SIZE), ('delegate', POINTER), ('name', TEXT), ('applied', INT),
                ('partition_count', INT), ('node_count', INT), ('reserved', INT), ('failure', TEXT)]


class NodeSupport(Sized):
    _fields_ = [('struct_size', SIZE), ('delegated', INT), ('reason', INT), ('reason_name', TEXT),
                ('text', TEXT), ('group', INT), ('reserved', INT), ('cost_ns', ctypes.c_double)]


class NodeRun(Sized):
    _fields_ = [('struct_size', SIZE), ('runner', INT), ('delegate_index', INT),
                ('runs', ctypes.c_int64), ('total_ns', ctypes.c_int64),
                ('recomputed', ctypes.c_int64), ('group_head', INT), ('group_size', INT),
                ('implementation', TEXT), ('row_stride', INT), ('column_stride', INT)]


class DelegationStatus(Sized):
    _fields_ = [('struct_size', SIZE), ('policy', INT), ('degraded', INT),
                ('delegates_skipped', ctypes.c_int64), ('recomputed_nodes', ctypes.c_int64),
                ('restarts', ctypes.c_int64), ('reserved_bytes', SIZE),
                ('saving_ns', ctypes.c_int64)]


class Verification(Sized):
    _fields_ = [('struct_size', SIZE), ('mode', INT), ('interval', INT),
                ('float32_tolerance', ctypes.c_double), ('float16_tolerance', ctypes.c_double),
                ('quantized_steps', INT), ('reserved', INT)]


class VerificationStatus(Sized):
    _fields_ = [('struct_size', SIZE), ('verified', ctypes.c_int64), ('wrong', ctypes.c_int64),
                ('skipped', ctypes.c_int64), ('spent_ns', ctypes.c_int64), ('subgraph_index', INT),
                ('node_index', INT), ('tensor_index', INT), ('reserved', INT),
                ('element', ctypes.c_int64), ('expected', ctypes.c_double),
                ('found', ctypes.c_double)]


class WeightCache(Sized):
    _fields_ = [('struct_size', SIZE), ('state', INT), ('reused', ctypes.c_int64),
                ('packed', ctypes.c_int64), ('mapped_bytes', SIZE)]


class BackgroundOptions(Sized):
    _fields_ = [('struct_size', SIZE), ('max_shapes', INT), ('time_limit_ms', INT)]


class BackgroundStatus(Sized):
    _fields_ = [('struct_size', SIZE), ('state', INT), ('kept_shapes', INT),
                ('preparations', ctypes.c_int64), ('cpu_inferences', ctypes.c_int64),
                ('delegate_inferences', ctypes.c_int64), ('first_inference', ctypes.c_int64),
                ('prepare_ns', ctypes.c_int64), ('failure', TEXT)]


class PlacementSettings(Sized):
    _fields_ = [('struct_size', SIZE), ('budget_ms', INT), ('runs', INT), ('cache_directory', TEXT),
                ('user_data', POINTER), ('prepare', POINTER), ('clock', POINTER)]


class PlacementAlternative(Sized):
    _fields_ = [('struct_size', SIZE), ('name', TEXT), ('partition_count', INT),
                ('delegated_count', INT), ('predicted_ns', ctypes.c_double),
                ('estimated_ns', ctypes.c_double), ('measured_ns', ctypes.c_double)]


class PlacementStatus(Sized):
    _fields_ = [('struct_size', SIZE), ('measurements', INT), ('from_cache', INT),
                ('spent_ns', ctypes.c_int64)]


class ValidationOptions(Sized):
    _fields_ = [('struct_size', SIZE), ('enabled', INT), ('reserved', INT),
                ('invoke_budget_ns', ctypes.c_int64), ('on_finding', POINTER),
                ('user_data', POINTER)]


class Finding(Sized):
    _fields_ = [('struct_size', SIZE), ('rule', TEXT), ('text', TEXT), ('severity', INT),
                ('subgraph_index', INT), ('node_index', INT), ('tensor_index', INT),
                ('count', ctypes.c_int64), ('delegate', POINTER), ('delegate_name', TEXT)]


class DeviceInfo(Sized):
    """DeputyDeviceInfo of deputy_plugin.h."""
    _fields_ = [('struct_size', SIZE), ('index', INT), ('usable', INT), ('platform', TEXT),
                ('platform_version', TEXT), ('name', TEXT), ('vendor', TEXT), ('type', TEXT),
                ('device_class', TEXT), ('version', TEXT), ('driver_version', TEXT),
                ('extensions', TEXT), ('memory_bytes', ctypes.c_uint64),
                ('max_buffer_bytes', ctypes.c_uint64), ('compute_units', ctypes.c_uint32),
                ('fp16', INT), ('power_class', INT), ('preferred_layout', INT),
                ('preferred_batch', INT), ('reserved', INT), ('preferred_precision', TEXT),
                ('options', TEXT)]


class DeviceEntry(Sized):
    """DeputyDeviceEntry of deputy_devices.h."""
    _fields_ = [('struct_size', SIZE), ('plugin', POINTER), ('path', TEXT), ('name', TEXT),
                ('problem', TEXT)]


class OptionUse(Sized):
    """DeputyOptionUse of deputy_plugin.h."""
    _fields_ = [('struct_size', SIZE), ('name', TEXT), ('value', TEXT), ('state', INT),
                ('reserved', INT), ('text', TEXT)]


DevicePointers = ctypes.POINTER(ctypes.POINTER(DeviceInfo))

# Reports are raised as exceptions, not printed. The library keeps the newest text for
# DeputyLastError.
Reporter = ctypes.CFUNCTYPE(None, POINTER, TEXT, POINTER)
OptionUseCallback = ctypes.CFUNCTYPE(None, POINTER, ctypes.POINTER(OptionUse))
quiet_reporter = Reporter(lambda user_data, text, arguments: None)

# (name, result, arguments) of every function that the package calls.
_FUNCTIONS: tuple[tuple[str, Any, list[Any]], ...] = (
    ('TfLiteModelCreateWithErrorReporter', POINTER, [TEXT, SIZE, Reporter, POINTER]),
    ('TfLiteModelCreateFromFileWithErrorReporter', POINTER, [TEXT, Reporter, POINTER]),
    ('TfLiteModelDelete', None, [POINTER]),
    ('TfLiteInterpreterOptionsCreate', POINTER, []),
    ('TfLiteInterpreterOptionsDelete', None, [POINTER]),
    ('TfLiteInterpreterOptionsSetNumThreads', None, [POINTER, INT]),
    ('TfLiteInterpreterOptionsSetErrorReporter', None, [POINTER, Reporter, POINTER]),
    ('TfLiteInterpreterOptionsAddDelegate', None, [POINTER, POINTER]),
    ('TfLiteInterpreterCreate', POINTER, [POINTER, POINTER]),
    ('TfLiteInterpreterDelete', None, [POINTER]),
    ('TfLiteInterpreterAllocateTensors', INT, [POINTER]),
    ('TfLiteInterpreterInvoke', INT, [POINTER]),
    ('TfLiteInterpreterModifyGraphWithDelegate', INT, [POINTER, POINTER]),
    ('TfLiteInterpreterGetInputTensorCount', INT, [POINTER]),
    ('TfLiteInterpreterGetOutputTensorCount', INT, [POINTER]),
    ('TfLiteInterpreterGetInputTensorIndex', INT, [POINTER, INT]),
    ('TfLiteInterpreterGetOutputTensorIndex', INT, [POINTER, INT]),
    ('TfLiteInterpreterResizeInputTensor', INT, [POINTER, INT, ctypes.POINTER(ctypes.c_int), INT]),
    ('TfLiteInterpreterResetVariableTensors', INT, [POINTER]),
    ('TfLiteInterpreterSetCustomAllocationForTensor', INT,
     [POINTER, ctypes.c_int, ctypes.POINTER(CustomAllocation), ctypes.c_int64]),
    ('TfLiteInterpreterEnsureTensorDataIsReadable', INT, [POINTER, ctypes.c_int]),
    ('TfLiteInterpreterGetSignatureCount', INT, [POINTER]),
    ('TfLiteInterpreterGetSignatureKey', TEXT, [POINTER, INT]),
    ('TfLiteInterpreterGetSignatureRunner', POINTER, [POINTER, TEXT]),
    ('TfLiteSignatureRunnerGetInputCount', SIZE, [POINTER]),
    ('TfLiteSignatureRunnerGetOutputCount', SIZE, [POINTER]),
    ('TfLiteSignatureRunnerGetInputName', TEXT, [POINTER, INT]),
    ('TfLiteSignatureRunnerGetOutputName', TEXT, [POINTER, INT]),
    ('TfLiteSignatureRunnerGetInputTensor', TensorPointer, [POINTER, TEXT]),
    ('TfLiteSignatureRunnerGetOutputTensor', TensorPointer, [POINTER, TEXT]),
    ('TfLiteSignatureRunnerAllocateTensors', INT, [POINTER]),
    ('TfLiteSignatureRunnerInvoke', INT, [POINTER]),
    ('TfLiteSignatureRunnerDelete', None, [POINTER]),
    ('TfLiteTensorRealloc', INT, [SIZE, TensorPointer]),
    ('DeputyPlacementPlanCreate', POINTER, [POINTER, POINTER, ctypes.POINTER(PlacementSettings)]),
    ('DeputyPlacementPlanDelete', None, [POINTER]),
    ('DeputyInterpreterOptionsSetPlacementPlan', INT, [POINTER, POINTER]),
    ('DeputyPlacementPlanGetOwner', INT, [POINTER, INT]),
    ('DeputyPlacementPlanGetAlternativeCount', SIZE, [POINTER]),
    ('DeputyPlacementPlanGetAlternative', INT,
     [POINTER, SIZE, ctypes.POINTER(PlacementAlternative)]),
    ('DeputyPlacementPlanGetStatus', INT, [POINTER, ctypes.POINTER(PlacementStatus)]),
    ('DeputyVersion', TEXT, []),
    ('DeputyLastError', TEXT, []),
    ('DeputyInterpreterLastError', TEXT, [POINTER]),
    ('DeputyInterpreterOptionsSetArithmetic', INT, [POINTER, ctypes.c_int]),
    ('DeputyInterpreterOptionsSetDelegatePolicy', INT, [POINTER, ctypes.c_int]),
    ('DeputyInterpreterOptionsSetPrecision', INT, [POINTER, ctypes.c_int]),
    ('DeputyInterpreterOptionsSetPrecisionPlan', INT, [POINTER, POINTER, TEXT]),
    ('DeputyInterpreterOptionsSetVerification', INT, [POINTER, ctypes.POINTER(Verification)]),
    ('DeputyInterpreterGetVerificationStatus', INT, [POINTER, ctypes.POINTER(VerificationStatus)]),
    ('DeputyInterpreterOptionsSetValidation', INT, [POINTER, ctypes.POINTER(ValidationOptions)]),
    ('DeputyInterpreterOptionsSetWeightCache', INT, [POINTER, TEXT]),
    ('DeputyInterpreterOptionsSetMemoryBudget', INT, [POINTER, SIZE]),
    ('DeputyInterpreterGetWeightCache', INT, [POINTER, ctypes.POINTER(WeightCache)]),
    ('DeputySignatureRunnerResizeInputTensor', INT,
     [POINTER, TEXT, ctypes.POINTER(ctypes.c_int), INT]),
    ('DeputyInterpreterReleaseMemory', INT, [POINTER]),
    ('DeputyInterpreterShareState', INT, [POINTER, TEXT, TEXT]),
    ('DeputyInterpreterResetSharedStates', INT, [POINTER]),
    ('DeputyInterpreterGetSubgraphCount', INT, [POINTER]),
    ('DeputyInterpreterGetTensorCount', INT, [POINTER, INT]),
    ('DeputyInterpreterGetTensor', TensorPointer, [POINTER, INT, INT]),
    ('DeputyInterpreterGetNodeCount', INT, [POINTER, INT]),
    ('DeputyInterpreterGetNodeInfo', INT, [POINTER, INT, INT, ctypes.POINTER(NodeInfo)]),
    ('DeputyInterpreterGetDelegateCount', INT, [POINTER]),
    ('DeputyInterpreterGetDelegateInfo', INT, [POINTER, INT, ctypes.POINTER(DelegateInfo)]),
    ('DeputyInterpreterGetNodeSupport', INT, [POINTER, INT, INT, INT, ctypes.POINTER(NodeSupport)]),
    ('DeputyInterpreterGetNodeRun', INT, [POINTER, INT, INT, ctypes.POINTER(NodeRun)]),
    ('DeputyInterpreterGetDelegationStatus', INT, [POINTER, ctypes.POINTER(DelegationStatus)]),
    ('DeputyInterpreterApplyInBackground', INT,
     [POINTER, ctypes.POINTER(POINTER), SIZE, ctypes.POINTER(BackgroundOptions)]),
    ('DeputyInterpreterWaitForBackground', INT, [POINTER, ctypes.c_int64]),
    ('DeputyInterpreterGetBackgroundStatus', INT, [POINTER, ctypes.POINTER(BackgroundStatus)]),
    ('DeputyInterpreterGetFindingCount', SIZE, [POINTER]),
    ('DeputyInterpreterGetFinding', INT, [POINTER, SIZE, ctypes.POINTER(Finding)]),
    ('DeputyPluginLoadWithErrorReporter', POINTER, [TEXT, Reporter, POINTER]),
    ('DeputyPluginRelease', None, [POINTER]),
    ('DeputyPluginCreateDelegateWithErrorReporter', POINTER,
     [POINTER, ctypes.POINTER(TEXT), ctypes.POINTER(TEXT), SIZE, Reporter, POINTER]),
    ('DeputyPluginDeleteDelegate', None, [POINTER]),
    ('DeputyPluginSetDelegateOptions', INT,
     [POINTER, ctypes.POINTER(TEXT), ctypes.POINTER(TEXT), SIZE]),
    ('DeputyPluginGetDelegateOption', INT, [POINTER, TEXT, OptionUseCallback, POINTER]),
    ('DeputyPluginListCreate', POINTER, [TEXT]),
    ('DeputyPluginListDelete', None, [POINTER]),
    ('DeputyPluginListGetCount', SIZE, [POINTER]),
    ('DeputyPluginListGetPath', TEXT, [POINTER, SIZE]),
    ('DeputyPluginListGetError', TEXT, [POINTER, SIZE]),
    ('DeputyChooseDevice', INT, [ctypes.c_int, DevicePointers, SIZE, ctypes.POINTER(ctypes.c_int64)]),
    ('DeputyDeviceListCreate', POINTER, [TEXT]),
    ('DeputyDeviceListDelete', None, [POINTER]),
    ('DeputyDeviceListGetCount', SIZE, [POINTER]),
    ('DeputyDeviceListGetDevices', DevicePointers, [POINTER]),
    ('DeputyDeviceListGetEntry', INT, [POINTER, SIZE, ctypes.POINTER(DeviceEntry)]),
    ('DeputySetLogLevel', INT, [INT]),
    ('DeputySetLogCallback', None, [_log.CALLBACK, POINTER]),
    ('DeputyGetProcessorCount', ctypes.c_int32, []),
)


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """Returns the shared library: that of the environment variable DEPUTY_LIBRARY, the one in this
    package (a wheel contains it), or the system's."""
    own = pathlib.Path(__file__).resolve().parent / 'lib' / 'libdeputy.so.1'
    path = os.environ.get('DEPUTY_LIBRARY') or (str(own) if own.exists() else 'libdeputy.so.1')
    opened = ctypes.CDLL(path)
    for name, result, arguments in _FUNCTIONS:
        function = getattr(opened, name)
        function.restype, function.argtypes = result, arguments
    _log.install(opened)
    return opened


def last_error() -> str:
    """Returns the text of the newest failure of this thread."""
    return library().DeputyLastError().decode(errors='replace')


class Owned:
    """A pointer, the function that deletes it, and the objects that it uses. Used `Owned` objects
    are deleted after it, others are kept alive.

    Users are counted here, because Python runs the finalizers of a cycle, and of all objects at
    exit, in any order. At exit the globals of this module are None, so finalizers use none."""

    def __init__(self, pointer: int | None, delete: Any, *keeps: Any) -> None:
        self._pointer, self._delete, self._keeps = pointer, delete, keeps
        self._owned_keeps = [kept for kept in keeps if isinstance(kept, Owned)]
        # One entry per user; only the first is True. append() and pop() are atomic, so exactly one
        # thread pops the last entry and deletes the object.
        self._users = [True]
        for kept in self._owned_keeps:
            kept._users.append(False)

    @property
    def pointer(self) -> Any:
        """Null if the library returned no object; RuntimeError once the object is deleted."""
        if not self._users:
            raise RuntimeError('the object has been deleted')
        return self._pointer

    def share(self):
        """Returns a new user of the object, None if it is deleted or another thread deletes it.

        An entry that is added before the last one is taken keeps the first one, True, in the list."""
        user = Owned(self._pointer, lambda pointer: None, self)
        return user if self._users[:1] == [True] else None

    def __reduce__(self):
        raise TypeError('an object of the Deputy library cannot be copied or pickled')

    def __del__(self):
        self._drop()

    def _drop(self):
        if self._users and self._users.pop():
            if self._pointer:
                self._delete(self._pointer)
            for kept in self._owned_keeps:
                kept._drop()


def numbers(array):
    """Returns the elements of a TfLiteIntArray or TfLiteFloatArray (or NULL) as a list."""
    if not array:
        return []
    kind = ctypes.c_float if isinstance(array.contents, FloatArray) else ctypes.c_int
    start = ctypes.addressof(array.contents) + type(array.contents).data.offset
    return list((kind * array.contents.size).from_address(start))


def int_array(numbers_):
    """Returns the numbers as a C array."""
    return (ctypes.c_int * len(numbers_))(*numbers_)


def list_plugins():
    """Returns the delegate libraries for deputy.plugins()."""
    lib = library()
    found = Owned(lib.DeputyPluginListCreate(None), lib.DeputyPluginListDelete)
    entries = []
    for i in range(lib.DeputyPluginListGetCount(found.pointer)):
        path = os.fsdecode(lib.DeputyPluginListGetPath(found.pointer, i))
        name = pathlib.Path(path).name
        for affix in ('libdeputy_', 'lib'):
            if name.startswith(affix):
                name = name[len(affix):]
        entries.append({'path': path, 'name': name.partition('.so')[0],
                        'error': lib.DeputyPluginListGetError(found.pointer, i).decode()})
    return entries
