# SPDX-License-Identifier: Apache-2.0
"""ctypes declarations of libLiteRt.so, the C API of compiled models.

A status other than kLiteRtStatusOk becomes a RuntimeError with its number, as in ai-edge-litert.
"""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from typing import Any

from . import _native
from ._native import Owned

HOST_ALIGNMENT = 64  # of host memory, in bytes
COMPILER_FOLDER, DISPATCH_FOLDER, RUNTIME_FOLDER, MIN_SEVERITY = 0, 1, 22, 23
READ, WRITE = 0, 1
MAX_RANK = 8
# Names of element types by their number.
DTYPES = {1: 'float32', 2: 'int32', 3: 'uint8', 4: 'int64', 6: 'bool', 7: 'int16', 8: 'complex64', 9: 'int8',
          10: 'float16', 11: 'float64', 12: 'complex128', 13: 'uint64', 16: 'uint32', 17: 'uint16', 19: 'bfloat16',
          22: 'float8_e4m3fn', 23: 'float8_e5m2'}
INVALID, NOT_FOUND, OUT_OF_RANGE = 1, 6, 1000


class Value(ctypes.Structure):
    """LiteRtAny; a text has the type 8."""
    _fields_ = [('type', ctypes.c_int), ('text', ctypes.c_char_p)]


class EnvOption(ctypes.Structure):
    _fields_ = [('tag', ctypes.c_int), ('value', Value)]


class Layout(ctypes.Structure):
    _fields_ = [('rank', ctypes.c_uint, 7), ('has_strides', ctypes.c_uint, 1), ('dimensions', ctypes.c_int32 * MAX_RANK),
                ('strides', ctypes.c_uint32 * MAX_RANK)]

    def shape(self) -> list[int]:
        return list(self.dimensions[:self.rank])


class RankedType(ctypes.Structure):
    _fields_ = [('element_type', ctypes.c_int), ('layout', Layout)]


def ranked_type(element_type: int, shape: list[int]) -> RankedType:
    result = RankedType(element_type, Layout(rank=len(shape)))
    for i, extent in enumerate(shape):
        result.layout.dimensions[i] = extent
    return result


Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
no_destructor = Destructor(lambda address: None)


@functools.cache
def library() -> ctypes.CDLL:
    """Loads libLiteRt.so: of this package (a wheel contains it), of the build of DEPUTY_LIBRARY, or of the system."""
    _native.library()  # libLiteRt.so uses it
    folder = pathlib.Path(os.environ.get('DEPUTY_LIBRARY') or pathlib.Path(__file__).parent / 'lib/libdeputy.so.1').resolve().parent
    places = (folder / 'libLiteRt.so', folder / 'drop-in/libLiteRt.so', folder / 'deputy/drop-in/libLiteRt.so')
    return ctypes.CDLL(str(next((place for place in places if place.exists()), 'libLiteRt.so')))


def error(status: int, message: str) -> RuntimeError:
    return RuntimeError(f'CompiledModel error: code={status}, message={message}')


def call(name: str, *arguments: Any, message: str = '') -> None:
    """Calls a function that returns a status; raises RuntimeError for a failure."""
    status = getattr(library(), name)(*arguments)
    if status:
        raise error(status, message or f'{name} failed; the log has the reason')


def made(name: str, *arguments: Any, message: str = '') -> ctypes.c_void_p:
    """Calls a function whose last parameter receives a handle, and returns the handle."""
    handle = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(handle), message=message)
    return handle


def owned(handle: ctypes.c_void_p, name: str, *keeps: Any) -> Owned:
    """Returns the owner of a handle, which LiteRtDestroy… deletes."""
    destroy = getattr(library(), f'LiteRtDestroy{name}')
    destroy.restype, destroy.argtypes = None, [ctypes.c_void_p]
    return Owned(handle.value, destroy, *keeps)


def number(name: str, *arguments: Any, kind: Any = ctypes.c_size_t) -> Any:
    """Calls a function whose last parameter receives a number, and returns the number."""
    value = kind()
    call(name, *arguments, ctypes.byref(value))
    return value.value


def text(name: str, *arguments: Any) -> str:
    """Calls a function whose last parameter receives a text, and returns the text."""
    return number(name, *arguments, kind=ctypes.c_char_p).decode(errors='replace')


def ptr(owner: Owned) -> ctypes.c_void_p:
    return ctypes.c_void_p(owner.pointer)


def size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)
