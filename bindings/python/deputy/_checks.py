# SPDX-License-Identifier: Apache-2.0
"""Checks arguments before ctypes, which truncates numbers to 32 bits and texts at the first NUL."""
import operator
import os

import numpy as np

MAX_INT32 = 2**31 - 1


def index(value, name):
    """Returns `value` as a 32-bit number; raises TypeError otherwise, as LiteRT does."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{name}: expected an integer, found {type(value).__name__}') from None
    if not -MAX_INT32 - 1 <= number <= MAX_INT32:
        raise TypeError(f'{name}: expected an integer of 32 bits, found {number}')
    return number


def extents(shape):
    """Returns a shape as a list of 32-bit numbers; raises OverflowError for larger ones."""
    # numpy converts large integers of a list to floats; an array of objects preserves them.
    size = shape if isinstance(shape, np.ndarray) else np.asarray(shape, object)
    if size.ndim != 1:
        raise ValueError(f'Shape should be 1D instead of {size.ndim}.')
    if size.dtype.kind not in 'iuO' and size.size:
        raise ValueError(f'Shape must be type int32 (was {size.dtype}).')
    try:
        numbers = [operator.index(extent) for extent in size]
    except TypeError:
        raise ValueError(f'Shape must be type int32 (was {size.dtype}).') from None
    for number in numbers:
        if not -MAX_INT32 - 1 <= number <= MAX_INT32:
            raise OverflowError(f'Python integer {number} out of bounds for int32')
    return numbers


def bytes_count(value, name):
    """Returns `value` as a number of bytes; raises ValueError for anything else."""
    if not isinstance(value, (int, np.integer)) or not 0 <= value < 2**64:
        raise ValueError(f'{name}: expected a number of bytes, found {value!r}')
    return int(value)


def without_nul(data, name):
    """Returns the bytes; raises ValueError for a NUL, at which C would end the text."""
    at = data.find(b'\0')
    if at >= 0:
        raise ValueError(f'{name}: expected no NUL character, found one at byte {at} of {data!r}')
    return data


def text(value, name):
    """Returns the text of any object, in UTF-8."""
    return without_nul(str(value).encode(), name)


def path(value, name):
    """Returns a path in the file system's encoding."""
    return without_nul(os.fsencode(value), name)


def threads(number):
    """Returns the number of threads, or None; raises errors as LiteRT does."""
    if number is None:
        return None
    if not isinstance(number, int):
        raise ValueError('type of num_threads should be int')
    if number < 1:
        raise ValueError('num_threads should >= 1')
    return index(number, 'num_threads')


def content(value):
    """Returns the bytes of a model, copied unless they are immutable."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, (bytearray, memoryview)):
        raise TypeError(f'model_content: expected bytes, found {type(value).__name__}')
    return bytes(value)
