# SPDX-License-Identifier: Apache-2.0
"""Tensors as numpy sees them: types, details, contents in and out, views without a copy."""
import ctypes
import weakref

import numpy as np

from . import _native
from ._native import numbers

STRING = 5
# TfLiteType to numpy. Numbers of less than a byte are handed out as the bytes they are packed in,
# bfloat16 as its 16 bits: numpy has neither.
DTYPES = {
    1: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, STRING: np.bytes_, 6: np.bool_,
    7: np.int16, 8: np.complex64, 9: np.int8, 10: np.float16, 11: np.float64, 12: np.complex128,
    13: np.uint64, 14: np.uint8, 15: np.uint8, 16: np.uint32, 17: np.uint16, 18: np.int8,
    19: np.uint16, 20: np.int8, 21: np.uint8,
}
PACKED = (18, 20, 21)
DYNAMIC = 4  # kTfLiteDynamic


def dtype_of(tensor):
    return DTYPES.get(tensor.type, np.void)


def name_of(tensor):
    return (tensor.name or b'').decode(errors='replace')


def sparsity_of(tensor):
    if not tensor.sparsity:
        return {}
    sparsity = tensor.sparsity.contents
    metadata = []
    for i in range(sparsity.dim_metadata_size):
        dim = sparsity.dim_metadata[i]
        if dim.format == 0:
            metadata.append({'format': 0, 'dense_size': dim.dense_size})
        else:
            metadata.append({'format': dim.format,
                             'array_segments': np.array(numbers(dim.array_segments), np.int32),
                             'array_indices': np.array(numbers(dim.array_indices), np.int32)})
    return {'traversal_order': np.array(numbers(sparsity.traversal_order), np.int32),
            'block_map': np.array(numbers(sparsity.block_map), np.int32),
            'dim_metadata': metadata}


def quantization_of(tensor):
    scales, zero_points, dimension = [], [], 0
    if tensor.quantization.type == 1 and tensor.quantization.params:
        affine = ctypes.cast(tensor.quantization.params,
                             ctypes.POINTER(_native.AffineQuantization)).contents
        scales, zero_points = numbers(affine.scale), numbers(affine.zero_point)
        dimension = affine.quantized_dimension
    return {'scales': np.array(scales, np.float32), 'zero_points': np.array(zero_points, np.int32),
            'quantized_dimension': dimension}


def details(tensor, index):
    """What get_input_details() and its like say of a tensor."""
    shape = numbers(tensor.dims)
    signature = numbers(tensor.dims_signature) or shape
    return {
        'name': name_of(tensor),
        'index': index,
        'shape': np.array(shape, np.int32),
        'shape_signature': np.array(signature, np.int32),
        'dtype': dtype_of(tensor),
        'quantization': (tensor.params.scale, tensor.params.zero_point),
        'quantization_parameters': quantization_of(tensor),
        'sparsity_parameters': sparsity_of(tensor),
    }


class View:
    """Memory of a tensor as numpy takes it over: an array of it keeps this, and so the interpreter.
    `live` is the set of those that arrays still refer to."""

    def __init__(self, tensor, owner, live):
        self.owner = owner
        dtype = np.dtype(dtype_of(tensor))
        shape = tuple(numbers(tensor.dims))
        if tensor.type in PACKED:
            shape = (tensor.bytes,)
        self.__array_interface__ = {
            'data': (tensor.data, tensor.allocation_type == 1), 'typestr': dtype.str,
            'shape': shape, 'version': 3}
        live.add(self)


def view(tensor, owner, live):
    """An array over the tensor's own memory; read-only where the model's file is mapped."""
    if tensor.type == STRING:
        raise ValueError('a tensor of strings cannot be viewed: use get_tensor()')
    return np.asarray(View(tensor, owner, live))


def new_live_set():
    return weakref.WeakSet()


def unpack_strings(data, shape):
    """TensorFlow Lite's [count, offset 0..count] as int32, then the characters."""
    count = int(np.frombuffer(data, np.int32, 1)[0]) if len(data) >= 4 else 0
    offsets = np.frombuffer(data, np.int32, count + 1, 4) if count else [0]
    strings = [data[offsets[i]:offsets[i + 1]] for i in range(count)]
    array = np.array(strings, dtype=object)
    longest = max((len(text) for text in strings), default=1)
    return array.astype(f'S{max(longest, 1)}').reshape(shape)


def pack_strings(array):
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.ravel()]
    first = 4 * (len(texts) + 2)
    offsets = np.cumsum([first] + [len(text) for text in texts])
    return np.array([len(texts), *offsets], np.int32).tobytes() + b''.join(texts)


def read(tensor):
    """A copy of the tensor's contents."""
    if not tensor.data and tensor.bytes:
        raise ValueError('Tensor data is null. Run allocate_tensors() first')
    data = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b''
    shape = numbers(tensor.dims)
    if tensor.type == STRING:
        return unpack_strings(data, shape)
    array = np.frombuffer(data, dtype_of(tensor)).copy()
    return array if tensor.type in PACKED else array.reshape(shape)


def check_shape(array, tensor, index):
    shape = numbers(tensor.dims)
    if array.ndim != len(shape):
        raise ValueError(f'Cannot set tensor: Dimension mismatch. Got {array.ndim} but expected '
                         f'{len(shape)} for input {index}.')
    for i, (found, expected) in enumerate(zip(array.shape, shape)):
        if found != expected:
            raise ValueError(f'Cannot set tensor: Dimension mismatch. Got {found} but expected '
                             f'{expected} for dimension {i} of input {index}.')


def write(pointer, value, index):
    """Copies `value` into the tensor at `pointer`, whose shape and type it must have."""
    tensor = pointer.contents
    array = np.asarray(value)
    if tensor.type == STRING:
        if array.dtype.kind not in 'SUO':
            raise ValueError(f'Cannot set tensor: Got value of type {array.dtype} but expected type '
                             f'STRING for input {index}, name: {name_of(tensor)} ')
        check_shape(array, tensor, index)
        data = pack_strings(array)
        if _native.library().TfLiteTensorRealloc(len(data), pointer) != _native.OK:
            raise RuntimeError(_native.last_error())
        ctypes.memmove(pointer.contents.data, data, len(data))
        return
    expected = np.dtype(dtype_of(tensor))
    if array.dtype != expected:
        raise ValueError(f'Cannot set tensor: Got value of type {array.dtype} but expected type '
                         f'{expected} for input {index}, name: {name_of(tensor)} ')
    if tensor.type in PACKED:
        if array.nbytes != tensor.bytes:
            raise ValueError(f'Cannot set tensor: Got {array.nbytes} bytes but expected '
                             f'{tensor.bytes} for input {index}.')
    else:
        check_shape(array, tensor, index)
    if not tensor.data and tensor.bytes:
        raise ValueError('Cannot set tensor: Tensor is unallocated. Try calling '
                         'allocate_tensors() first')
    array = np.ascontiguousarray(array)
    ctypes.memmove(tensor.data, array.ctypes.data, tensor.bytes)
