# SPDX-License-Identifier: Apache-2.0
"""Converts tensors to numpy: types, details, contents in both directions, views without a copy."""
import ctypes
import weakref

import numpy as np

from . import _native
from ._native import numbers

STRING, RESOURCE, VARIANT = 5, 14, 15
# Maps each TfLiteType to a numpy type. numpy lacks some of them: types smaller than a byte are shown
# as the bytes that contain them, and bfloat16 as its 16 bits.
DTYPES = {
    1: np.float32, 2: np.int32, 3: np.uint8, 4: np.int64, STRING: np.bytes_, 6: np.bool_,
    7: np.int16, 8: np.complex64, 9: np.int8, 10: np.float16, 11: np.float64, 12: np.complex128,
    13: np.uint64, 14: np.uint8, 15: np.uint8, 16: np.uint32, 17: np.uint16, 18: np.int8,
    19: np.uint16, 20: np.int8, 21: np.uint8,
}
PACKED = (18, 20, 21)
MMAP_RO, PERSISTENT_RO = 1, 5  # kTfLiteMmapRo, kTfLitePersistentRo
MAX_STRING_BYTES = 2**31 - 1
SMALL = 2**16  # Bytes.


def dtype_of(tensor):
    return DTYPES.get(tensor.type, np.void)


def name_of(tensor):
    return (tensor.name or b'').decode(errors='replace')


def is_constant(tensor):
    """Returns True for contents of the model's file, or computed once from them."""
    return tensor.allocation_type in (MMAP_RO, PERSISTENT_RO)


def shape_of(tensor):
    """Returns the shape of the array that represents the tensor."""
    if tensor.type in PACKED:
        return (tensor.bytes,)
    if tensor.sparsity:  # The nonzero values.
        return (tensor.bytes // np.dtype(dtype_of(tensor)).itemsize,)
    return tuple(numbers(tensor.dims))


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
            'quantized_dimension': dimension, 'block_size': 0}


def details(tensor, index):
    """Returns the dictionary of a tensor for get_input_details() and similar methods."""
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


class _Memory:
    """Memory that exposes numpy's array interface; an array of it keeps this object alive."""

    def __init__(self, tensor, read_only, owner=None):
        self.owner = owner
        self.__array_interface__ = {
            'data': (tensor.data, read_only), 'typestr': np.dtype(dtype_of(tensor)).str,
            'shape': shape_of(tensor), 'version': 3}


def _array(tensor, read_only, owner=None):
    """Returns (array over the tensor's memory, the object that it keeps alive); the object is None
    if the tensor is empty."""
    if not tensor.data and tensor.bytes:
        raise ValueError('Tensor data is null. Run allocate_tensors() first')
    if not tensor.bytes:
        return np.zeros(shape_of(tensor), dtype_of(tensor)), None
    dtype = np.dtype(dtype_of(tensor))
    elements = 1
    for extent in shape_of(tensor):
        elements *= extent
    if elements * dtype.itemsize > tensor.bytes:
        raise ValueError(f"tensor '{name_of(tensor)}': expected {elements} elements of type {dtype}, "
                         f'found {tensor.bytes} bytes')
    memory = _Memory(tensor, read_only, owner)
    return np.asarray(memory), memory


def _refuse_objects(tensor):
    if tensor.type in (RESOURCE, VARIANT):
        raise ValueError(f"tensor '{name_of(tensor)}' is a resource or variant, which has no array")


def view(tensor, owner, live):
    """Returns an array over the tensor's own memory, read-only for a constant. `live` has an entry
    until the array and all arrays derived from it are deleted."""
    if tensor.type == STRING:
        raise ValueError('a tensor of strings cannot be viewed: use get_tensor()')
    _refuse_objects(tensor)
    array, memory = _array(tensor, is_constant(tensor), owner)
    if memory is not None:
        live.add(memory)
    return array


def new_live_set():
    return weakref.WeakSet()


def unpack_strings(data, shape):
    """Returns an array of bytes objects. `data`: [count, offset 0..count] as int32, then the
    characters."""
    count = int(np.frombuffer(data, np.int32, 1)[0]) if len(data) >= 4 else 0
    offsets = np.frombuffer(data, np.int32, count + 1, 4).tolist() if count > 0 else [0]
    array = np.empty(max(count, 0), dtype=object)
    for i in range(count):
        array[i] = data[offsets[i]:offsets[i + 1]]
    return array.reshape(shape)


def _bytes_of(text):
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode()
    raise ValueError(f'Cannot set tensor: expected bytes or str, found {type(text).__name__}')


def pack_strings(array):
    """Returns the strings in the layout that unpack_strings() reads."""
    texts = [_bytes_of(text) for text in array.ravel()]
    first = 4 * (len(texts) + 2)
    offsets = np.cumsum([first] + [len(text) for text in texts])
    if offsets[-1] > MAX_STRING_BYTES:
        raise ValueError(f'Cannot set tensor: expected strings of at most {MAX_STRING_BYTES} bytes '
                         f'with their offsets, found {offsets[-1]}')
    return np.array([len(texts), *offsets], np.int32).tobytes() + b''.join(texts)


def read(tensor):
    """Returns a copy of the tensor's contents."""
    if tensor.type == STRING:
        if not tensor.data and tensor.bytes:
            raise ValueError('Tensor data is null. Run allocate_tensors() first')
        data = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b''
        return unpack_strings(data, numbers(tensor.dims))
    _refuse_objects(tensor)
    if tensor.data and 0 < tensor.bytes <= SMALL:  # Two short copies take less time than a view.
        values = np.frombuffer(ctypes.string_at(tensor.data, tensor.bytes), dtype_of(tensor))
        return values.copy().reshape(shape_of(tensor))
    return _array(tensor, True)[0].copy()


def check_shape(array, tensor, index):
    shape = numbers(tensor.dims)
    if array.ndim != len(shape):
        raise ValueError(f'Cannot set tensor: Dimension mismatch. Got {array.ndim} but expected '
                         f'{len(shape)} for input {index}.')
    for i, (found, expected) in enumerate(zip(array.shape, shape)):
        if found != expected:
            raise ValueError(f'Cannot set tensor: Dimension mismatch. Got {found} but expected '
                             f'{expected} for dimension {i} of input {index}.')


def write(pointer, array, index):
    """Copies `array` into the tensor at `pointer`; shape and type must be equal."""
    tensor = pointer.contents
    if is_constant(tensor):
        raise ValueError(f"Cannot set tensor: tensor {index} '{name_of(tensor)}' is a constant of the "
                         'model, which is read-only')
    _refuse_objects(tensor)
    if tensor.type == STRING:
        _write_strings(pointer, array, index)
        return
    expected = np.dtype(dtype_of(tensor))
    if array.dtype != expected:
        raise ValueError(f'Cannot set tensor: Got value of type {array.dtype} but expected type '
                         f'{expected} for input {index}, name: {name_of(tensor)} ')
    if tensor.type not in PACKED:
        check_shape(array, tensor, index)
    if array.nbytes != tensor.bytes:
        raise ValueError(f'numpy array had {array.nbytes} bytes but expected {tensor.bytes} bytes.')
    if not tensor.data and tensor.bytes:
        raise ValueError('Cannot set tensor: Tensor is unallocated. Try calling '
                         'allocate_tensors() first')
    array = np.ascontiguousarray(array)
    ctypes.memmove(tensor.data, array.ctypes.data, tensor.bytes)


def _write_strings(pointer, array, index):
    if array.dtype.kind not in 'SUO':
        raise ValueError(f'Cannot set tensor: Got value of type {array.dtype} but expected type '
                         f'STRING for input {index}, name: {name_of(pointer.contents)} ')
    check_shape(array, pointer.contents, index)
    data = pack_strings(array)
    if _native.library().TfLiteTensorRealloc(len(data), pointer) != _native.OK:
        raise RuntimeError(f'Cannot set tensor: no memory for {len(data)} bytes of strings')
    if not pointer.contents.data or pointer.contents.bytes < len(data):
        raise ValueError(f"Cannot set tensor: tensor {index} '{name_of(pointer.contents)}' has no "
                         'memory of its own for strings')
    ctypes.memmove(pointer.contents.data, data, len(data))
