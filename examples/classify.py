#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Classifies images through ctypes, with only Python's standard library.

    classify.py LIBRARY MODEL LABELS IMAGE.png...

LIBRARY is any library with TensorFlow Lite's C API: the drop-in, libdeputy.so.1 or the original.
Prints one line per image, "name label probability", the same bytes as classify.c in this directory.
Images: 8-bit greyscale PNG, not interlaced. Models: float32 or int8 inputs and outputs.
"""
import ctypes
import math
import os
import struct
import sys
import zlib

OK, FLOAT32, INT8 = 0, 1, 9  # kTfLiteOk, kTfLiteFloat32, kTfLiteInt8


class QuantizationParams(ctypes.Structure):
    _fields_ = [('scale', ctypes.c_float), ('zero_point', ctypes.c_int32)]


def open_library(path):
    """Returns the library with the types of the functions used here; opaque pointers are void*."""
    pointer, integer, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    library = ctypes.CDLL(path)
    for name, result, arguments in (
            ('ModelCreateFromFile', pointer, [ctypes.c_char_p]),
            ('ModelDelete', None, [pointer]),
            ('InterpreterCreate', pointer, [pointer, pointer]),
            ('InterpreterDelete', None, [pointer]),
            ('InterpreterAllocateTensors', integer, [pointer]),
            ('InterpreterInvoke', integer, [pointer]),
            ('InterpreterGetInputTensor', pointer, [pointer, ctypes.c_int32]),
            ('InterpreterGetOutputTensor', pointer, [pointer, ctypes.c_int32]),
            ('TensorType', integer, [pointer]),
            ('TensorDim', ctypes.c_int32, [pointer, ctypes.c_int32]),
            ('TensorByteSize', size, [pointer]),
            ('TensorQuantizationParams', QuantizationParams, [pointer]),
            ('TensorCopyFromBuffer', integer, [pointer, ctypes.c_char_p, size]),
            ('TensorCopyToBuffer', integer, [pointer, ctypes.c_char_p, size])):
        function = getattr(library, 'TfLite' + name)
        function.restype, function.argtypes = result, arguments
    return library


def check(status, what):
    if status != OK:
        sys.exit(f'{what} failed with status {status}')


def paeth(left, above, corner):
    """PNG's predictor: returns the neighbour that is closest to left + above - corner."""
    estimate = left + above - corner
    nearest = min((abs(estimate - left), 0, left), (abs(estimate - above), 1, above),
                  (abs(estimate - corner), 2, corner))
    return nearest[2]


def unfilter(kind, line, previous):
    """Decodes one row of a PNG with one byte per pixel, given the row above."""
    row = bytearray()
    for x, value in enumerate(line):
        left = row[x - 1] if x else 0
        above = previous[x]
        corner = previous[x - 1] if x else 0
        prediction = (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind]
        row.append((value + prediction) & 255)
    return row


def read_png(path):
    """Returns width, height and pixels of an 8-bit greyscale PNG."""
    with open(path, 'rb') as file:
        data = file.read()
    if data[:8] != b'\x89PNG\r\n\x1a\n':
        sys.exit(f'{path}: not a PNG')
    at, compressed, header = 8, b'', None
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        at += length + 12
        if kind == b'IHDR':
            header = struct.unpack('>IIBBBBB', body)
        elif kind == b'IDAT':
            compressed += body
    width, height, depth, colour, _, _, interlace = header
    if (depth, colour, interlace) != (8, 0, 0):
        sys.exit(f'{path}: expected 8-bit greyscale without interlacing')
    packed = zlib.decompress(compressed)
    pixels, row = bytearray(), bytes(width)
    for y in range(height):
        start = y * (width + 1)
        row = unfilter(packed[start], packed[start + 1:start + 1 + width], row)
        pixels += row
    return width, height, bytes(pixels)


def input_bytes(library, tensor, pixels):
    """Returns pixels scaled to 0..1 and, for an int8 input, quantised like the tensor."""
    if library.TfLiteTensorType(tensor) == FLOAT32:
        return struct.pack(f'={len(pixels)}f', *(pixel / 255 for pixel in pixels))
    parameters = library.TfLiteTensorQuantizationParams(tensor)
    values = (math.floor(pixel / 255 / parameters.scale + 0.5) + parameters.zero_point
              for pixel in pixels)
    return struct.pack(f'={len(pixels)}b', *(max(-128, min(127, value)) for value in values))


def probabilities(library, tensor):
    size = library.TfLiteTensorByteSize(tensor)
    buffer = ctypes.create_string_buffer(size)
    check(library.TfLiteTensorCopyToBuffer(tensor, buffer, size), 'TfLiteTensorCopyToBuffer')
    if library.TfLiteTensorType(tensor) == FLOAT32:
        return struct.unpack(f'={size // 4}f', buffer.raw)
    parameters = library.TfLiteTensorQuantizationParams(tensor)
    return [(value - parameters.zero_point) * parameters.scale
            for value in struct.unpack(f'={size}b', buffer.raw)]


def classify(library, interpreter, labels, path):
    tensor = library.TfLiteInterpreterGetInputTensor(interpreter, 0)
    expected = library.TfLiteTensorDim(tensor, 2), library.TfLiteTensorDim(tensor, 1)
    width, height, pixels = read_png(path)
    if (width, height) != expected:
        sys.exit(f'{path}: expected {expected[0]}x{expected[1]}, found {width}x{height}')
    data = input_bytes(library, tensor, pixels)
    check(library.TfLiteTensorCopyFromBuffer(tensor, data, len(data)), 'TfLiteTensorCopyFromBuffer')
    check(library.TfLiteInterpreterInvoke(interpreter), 'TfLiteInterpreterInvoke')
    values = probabilities(library, library.TfLiteInterpreterGetOutputTensor(interpreter, 0))
    best = max(range(len(values)), key=lambda i: values[i])
    print(f'{os.path.basename(path)} {labels[best]} {values[best]:.4f}')


def main(arguments):
    if len(arguments) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    library = open_library(arguments[0])
    with open(arguments[2], encoding='utf-8') as file:
        labels = file.read().splitlines()
    model = library.TfLiteModelCreateFromFile(os.fsencode(arguments[1]))
    if not model:
        sys.exit(f'{arguments[1]}: not a usable model')
    interpreter = library.TfLiteInterpreterCreate(model, None)
    if not interpreter:
        sys.exit(f'{arguments[1]}: no interpreter')
    check(library.TfLiteInterpreterAllocateTensors(interpreter), 'TfLiteInterpreterAllocateTensors')
    for path in arguments[3:]:
        classify(library, interpreter, labels, path)
    library.TfLiteInterpreterDelete(interpreter)
    library.TfLiteModelDelete(model)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
