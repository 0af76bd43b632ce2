# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments before ctypes, which cuts numbers to 32 bits and texts at their first NUL."""
import operator
import os

import numpy as np

MAX_INT32 = 2**31 - 1


def index(value, name):
    """`value` as a number of 32 bits; otherwise a TypeError, as in LiteRT."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{name}: expected an integer, found {type(value).__name__}') from None
    if not -MAX_INT32 - 1 <= number <= MAX_INT32:
        raise TypeError(f'{name}: expected an integer of 32 bits, found {number}')
    return number


def extents(shape):
    """A shape as a list of numbers of 32 bits; OverflowError for one that is larger."""
    # numpy turns large integers of a list into floats; an array of objects keeps them.
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


def without_nul(data, name):
    """Bytes for C; ValueError where C would read a shorter text."""
    at = data.find(b'\0')
    if at >= 0:
        raise ValueError(f'{name}: expected no NUL character, found one at byte {at} of {data!r}')
    return data


def text(value, name):
    """The text of any object, in UTF-8."""
    return without_nul(str(value).encode(), name)


def path(value, name):
    """A path in the file system's encoding."""
    return without_nul(os.fsencode(value), name)


def threads(number):
    """`number` of threads, or None; errors as in LiteRT."""
    if number is None:
        return None
    if not isinstance(number, int):
        raise ValueError('type of num_threads should be int')
    if number < 1:
        raise ValueError('num_threads should >= 1')
    return index(number, 'num_threads')


def content(value):
    """The bytes of a model, copied unless they cannot change."""
    if isinstance(value, bytes):
        return value
    if not isinstance(value, (bytearray, memoryview)):
        raise TypeError(f'model_content: expected bytes, found {type(value).__name__}')
    return bytes(value)
