# SPDX-License-Identifier: Apache-2.0
"""Calls functions of a libLiteRt.so through ctypes and records what they return.

DEPUTY_LITERT_LIBRARY names the library; argument types come from docs/litert/functions.csv.
"""

import csv
import ctypes
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / 'docs/litert'
LIBRARY = os.environ.get('DEPUTY_LITERT_LIBRARY')
DIGITS = ROOT / 'examples/digits/digits_float.tflite'
DIGITS_INT8 = ROOT / 'examples/digits/digits_int8.tflite'
ROPE = ROOT.parent / 'shared/models/litert_rope.tflite'  # two inputs, and a signature
MASK = ROOT.parent / 'shared/models/selfie_segmentation.tflite'  # the custom operator Convolution2DTransposeBias
CPU, GPU, NPU = 1, 2, 4
FLOAT32, INT8, INT4, BOOL, STRING = 1, 9, 18, 6, 5
HOST = 1
DISPATCH_FOLDER = 1  # kLiteRtEnvOptionTagDispatchLibraryDir


def rows_of(name):
    with open(TABLES / name, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


STATUSES = {
    int(row['value']): row['name'].removeprefix('kLiteRtStatus') for row in rows_of('enums.csv') if row['enum'] == 'LiteRtStatus'
}
BUFFER_TYPES = {
    int(row['value']): row['name'].removeprefix('kLiteRtTensorBufferType')
    for row in reversed(rows_of('enums.csv'))
    if row['enum'] == 'LiteRtTensorBufferType'
}


class Any(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('value', ctypes.c_uint64)]


class EnvOption(ctypes.Structure):
    _fields_ = [('tag', ctypes.c_int), ('value', Any)]


class Layout(ctypes.Structure):
    _fields_ = [
        ('rank', ctypes.c_uint, 7),
        ('has_strides', ctypes.c_uint, 1),
        ('dimensions', ctypes.c_int32 * 8),
        ('strides', ctypes.c_uint32 * 8),
    ]

    def __str__(self):
        return str(list(self.dimensions[: min(self.rank, 8)])) + (
            f' strides {list(self.strides[:self.rank])}' if self.has_strides else ''
        )


class RankedType(ctypes.Structure):
    _fields_ = [('element_type', ctypes.c_int), ('layout', Layout)]

    def __str__(self):
        return f'type {self.element_type} {self.layout}'


class PerTensor(ctypes.Structure):
    _fields_ = [('scale', ctypes.c_float), ('zero_point', ctypes.c_int64)]

    def __str__(self):
        return f'{self.scale:.6g} {self.zero_point}'


class PerChannel(ctypes.Structure):
    _fields_ = [
        ('dimension', ctypes.c_int32),
        ('channels', ctypes.c_uint64),
        ('scales', ctypes.c_void_p),
        ('zero_points', ctypes.c_void_p),
    ]

    def __str__(self):
        return f'dimension {self.dimension}, {self.channels} channels'


class Version(ctypes.Structure):
    _fields_ = [('major', ctypes.c_int), ('minor', ctypes.c_int), ('patch', ctypes.c_int)]

    def __str__(self):
        return f'{self.major}.{self.minor}.{self.patch}'


class SchedulingInfo(ctypes.Structure):
    _fields_ = [
        ('mask', ctypes.c_uint32),
        ('uid', ctypes.c_int32),
        ('feature', ctypes.c_char_p),
        ('priority', ctypes.c_int32),
        ('group', ctypes.c_uint8 * 16),
    ]


class CustomEvent(ctypes.Structure):
    """LiteRtCustomEventT; the callbacks get its address."""

    _fields_ = [
        (name, ctypes.CFUNCTYPE(result, ctypes.c_void_p, *more))
        for name, result, more in (
            ('retain', None, ()),
            ('release', None, ()),
            ('wait', None, (ctypes.c_int64,)),
            ('is_signaled', ctypes.c_int, ()),
            ('native', ctypes.c_void_p, ()),
        )
    ]


POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
CALLBACK = ctypes.CFUNCTYPE(None, POINTER)


def integer(value, tag):
    return EnvOption(tag, Any(2, value))


def text(value, tag):
    """The option refers to `value`, which must outlive it."""
    return EnvOption(tag, Any(8, ctypes.cast(value, POINTER).value))


def ranked(element_type, dimensions, strides=None):
    layout = Layout(len(dimensions), strides is not None)
    layout.dimensions[: len(dimensions)] = dimensions
    layout.strides[: len(strides or [])] = strides or []
    return RankedType(element_type, layout)


def c_types(signature):
    """Returns the ctypes of a C signature's result and parameters."""
    scalars = {
        'int': ctypes.c_int,
        'int32_t': ctypes.c_int32,
        'uint32_t': ctypes.c_uint32,
        'bool': ctypes.c_bool,
        'int64_t': ctypes.c_int64,
        'uint64_t': ctypes.c_uint64,
        'size_t': SIZE,
        'LiteRtParamIndex': SIZE,
        'LiteRtHwAcceleratorSet': ctypes.c_int,
        'LiteRtModelSerializationOptions': SIZE,
    }
    enums = {row['enum'] for row in rows_of('enums.csv')}

    def of(parameter):
        words = parameter.replace('const ', '').split()
        if '*' in parameter or words[0] not in scalars and words[0] not in enums:
            return POINTER
        return scalars.get(words[0], ctypes.c_int)

    result, rest = signature.split(' ', 1)
    parameters = re.sub(r'\(\*\w*\)\([^()]*\)', '*', rest[rest.index('(') + 1 : rest.rindex(')')])
    return (None if result == 'void' else ctypes.c_int), [
        of(item) for item in parameters.split(',') if item.strip() not in ('', 'void', '...')
    ]


class Recorder:
    """Calls functions of the library and records what they return."""

    def __init__(self, library=LIBRARY):
        self.library = ctypes.CDLL(library)
        self.rows = []
        self.signatures = {row['function']: row['signature'] for row in rows_of('functions.csv')}

    def function(self, name):
        found = getattr(self.library, name)
        found.restype, found.argtypes = c_types(self.signatures[name])
        return found

    def add(self, name, call, observed):
        self.rows.append([name, call, str(observed)])

    def call(self, name, call, *arguments, shows=None):
        """Records the status, and what `shows` returns if the call succeeded. Returns whether it did."""
        if 'DEPUTY_LITERT_LOG' in os.environ:
            print(name, call, file=sys.stderr, flush=True)
        status = self.function(name)(*arguments)
        observed = STATUSES.get(status, f'status {status}') if status is not None else 'returns'
        good = status in (0, None)
        self.add(name, call, f'{observed}: {shows()}' if good and shows else observed)
        return good

    def risky(self, name, call, *arguments):
        """Does what `call` does, in a child process: the call may end the process."""
        rows, signal = in_child(lambda: self.child(name, call, arguments))
        self.rows += rows if rows else [[name, call, f'crash ({signal})']]

    def child(self, name, call, arguments):
        self.rows = []
        self.call(name, call, *arguments)
        return self.rows

    def do(self, name, *arguments):
        """Calls without a record; the call must succeed."""
        status = self.function(name)(*arguments)
        if status not in (0, None):
            raise AssertionError(f'{name}: {STATUSES.get(status, status)}')

    def made(self, name, *arguments):
        """Returns the handle that a function writes to its last argument."""
        handle = POINTER()
        self.do(name, *arguments, ctypes.byref(handle))
        return handle


def in_child(function):
    """Returns (result of the function, None), or (None, what ended the child process)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            if 'DEPUTY_LITERT_LOG' not in os.environ:
                os.dup2(null, 2)
            try:
                answer = function()
            except Exception as error:  # pylint: disable=broad-except, the parent reports it
                answer = {'error': f'{type(error).__name__}: {error}'}
            with os.fdopen(write, 'w', encoding='utf-8') as pipe:
                json.dump(answer, pipe)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding='utf-8') as pipe:
        answer = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code or not answer:
        return None, f'signal {-code}' if code < 0 else f'exit code {code}'
    answer = json.loads(answer)
    if isinstance(answer, dict):
        raise AssertionError(answer['error'])
    return answer, None


def environment(record, *options):
    array = (EnvOption * max(len(options), 1))(*options)
    return record.made('LiteRtCreateEnvironment', len(options), array)


def cpu_environment(record):
    """An environment with the CPU accelerator alone."""
    return environment(record, integer(CPU, 24))


def model_of(record, env, path):
    return record.made('LiteRtCreateModelFromFile', env, str(path).encode())


def options_of(record, accelerators=CPU, toml=None):
    """Options; `toml` is (identifier, text)."""
    options = record.made('LiteRtCreateOptions')
    record.do('LiteRtSetOptionsHardwareAccelerators', options, accelerators)
    if toml:
        payload = ctypes.create_string_buffer(toml[1])
        record.alive = [*getattr(record, 'alive', []), payload]
        record.do(
            'LiteRtAddOpaqueOptions', options, record.made('LiteRtCreateOpaqueOptions', toml[0], payload, record.no_destructor)
        )
    return options


def compiled(record, path, accelerators=CPU, toml=None):
    """Returns environment, model and compiled model."""
    env = cpu_environment(record)
    model = model_of(record, env, path)
    return env, model, record.made('LiteRtCreateCompiledModel', env, model, options_of(record, accelerators, toml))


def managed(record, env, element_type, dimensions, size, kind=HOST):
    return record.made('LiteRtCreateManagedTensorBuffer', env, kind, ctypes.byref(ranked(element_type, dimensions)), size)


def fill(record, buffer, data):
    address = POINTER()
    record.do('LiteRtLockTensorBuffer', buffer, ctypes.byref(address), 1)
    ctypes.memmove(address, data, len(data))
    record.do('LiteRtUnlockTensorBuffer', buffer)


def floats(record, buffer, count):
    address = POINTER()
    record.do('LiteRtLockTensorBuffer', buffer, ctypes.byref(address), 0)
    values = list((ctypes.c_float * count).from_address(address.value))
    record.do('LiteRtUnlockTensorBuffer', buffer)
    return values


def handles(*buffers):
    return (POINTER * max(len(buffers), 1))(*[buffer.value if buffer else None for buffer in buffers])
