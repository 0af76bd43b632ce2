#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls all members of the function tables of libLiteRt.so: kLiteRtRuntimeBuiltin and LiteRtRuntimeContext.

    litert_function_tables_test.py BUILD_FOLDER
"""

import ctypes
import os
import pathlib
import sys
import unittest

from litert_calls import text as folder_option
from litert_calls import (Any, CPU, DIGITS, POINTER, Recorder, c_types, cpu_environment, environment, in_child, model_of,
                          options_of, rows_of)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build/release').resolve()
LIBRARY = BUILD / 'drop-in/libLiteRt.so'
DOUBLE = BUILD / 'tests/doubles/litert_compiler/libLiteRtCompilerPlugin_Double.so'

SKIPPED = 77
INVALID, RUNTIME_FAILURE, UNSUPPORTED = 1, 3, 5
ERRORS = (INVALID, RUNTIME_FAILURE, UNSUPPORTED)


class Metric(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('value', Any)]


class Header(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint16) for name in ('size', 'major', 'minor', 'reserved')]


def members_of(struct, column, base):
    """Returns {member: (function, signature, address)} of a table in memory."""
    offsets = {row['field']: int(row['offset']) for row in rows_of('layouts.csv') if row['struct'] == struct}
    result = {}
    for row in rows_of('functions.csv'):
        if row[column] != 'no':
            address = POINTER.from_address(base + offsets[row[column]]).value
            result[row[column]] = (row['function'], row['signature'], address)
    return result


def call_with_nulls(signature, address):
    """Calls a function with zeros and NULL pointers, in another process. Returns its status and what it logs."""
    result, parameters = c_types(signature)

    def run():
        read, write = os.pipe()
        os.dup2(write, 2)
        os.close(write)
        status = ctypes.CFUNCTYPE(result, *parameters)(address)(*[None if kind is POINTER else 0 for kind in parameters])
        os.dup2(1, 2)  # the write end of the pipe is closed now
        return [status, os.read(read, 4096).decode()]

    found, signal = in_child(run)
    return found or (signal, '')


class LitertFunctionTablesTest(unittest.TestCase):

    def setUp(self):
        self.record = Recorder(LIBRARY)
        self.library = self.record.library
        builtin = ctypes.addressof(ctypes.c_char.in_dll(self.library, 'kLiteRtRuntimeBuiltin'))
        self.context = self.captured_context()
        self.tables = {
            'LiteRtRuntimeCApiStruct': members_of('LiteRtRuntimeCApiStruct', 'runtime_c_api', builtin),
            'LiteRtRuntimeContext': members_of('LiteRtRuntimeContext', 'runtime_context', self.context),
        }

    def captured_context(self):
        """Returns the address of the context that the library gives to accelerators."""
        captured = []
        create = ctypes.CFUNCTYPE(ctypes.c_int, *[POINTER] * 5)(lambda context, *_: captured.append(context) or UNSUPPORTED)
        hardware = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(ctypes.c_int))(
            lambda _, out: out.__setitem__(0, CPU) or 0
        )
        env, accelerator, result = cpu_environment(self.record), self.record.made('LiteRtCreateAccelerator'), POINTER()
        self.record.do('LiteRtSetAcceleratorGetHardwareSupport', accelerator, hardware)
        self.record.do('LiteRtSetDelegateFunction', accelerator, create)
        self.record.do('LiteRtRegisterAccelerator', env, accelerator, None, None)
        arguments = env, model_of(self.record, env, DIGITS), options_of(self.record), ctypes.byref(result)
        self.assertEqual(self.record.function('LiteRtCreateCompiledModel')(*arguments), UNSUPPORTED)
        return captured[0]

    def test_tables_have_all_members(self):
        self.assertEqual({struct: len(members) for struct, members in self.tables.items()},
                         {'LiteRtRuntimeCApiStruct': 169, 'LiteRtRuntimeContext': 50})
        for struct, members in self.tables.items():
            for member, (function, _, address) in members.items():
                with self.subTest(struct=struct, member=member):
                    self.assertTrue(address)
                    exported = getattr(self.library, function, None)
                    if exported is not None:
                        self.assertEqual(address, ctypes.cast(exported, POINTER).value)

    def test_header_of_the_context(self):
        header = Header.from_address(self.context)
        self.assertEqual((header.size, header.major, header.minor, header.reserved), (416, 1, 2, 0))

    # The table of compiler plug-ins, which the double receives.
    def test_the_compiler_context_has_all_functions(self):
        if not DOUBLE.exists():
            self.skipTest('the test double is not built')
        folder = ctypes.create_string_buffer(str(DOUBLE.parent).encode())
        env = environment(self.record, folder_option(folder, 0))
        model, options = model_of(self.record, env, DIGITS), options_of(self.record)
        self.record.made('LiteRtCreateCompiledModel', env, model, options)
        double = ctypes.CDLL(str(DOUBLE))
        double.LitertDoubleContext.restype = POINTER
        context = double.LitertDoubleContext()
        header = Header.from_address(context)
        self.assertEqual((header.size, header.major, header.minor, header.reserved), (1408, 1, 3, 0))
        functions = {member: (row[0], row[2]) for member, row in
                     members_of('LiteRtCompilerContext', 'compiler_context', context).items()}
        for row in rows_of('contexts.csv'):
            if row['struct'] == 'LiteRtCompilerContext':
                functions[row['offset']] = (row['function'], POINTER.from_address(context + int(row['offset'])).value)
        self.assertEqual(len(functions), (1408 - 8) // 8)
        for member, (function, address) in functions.items():
            with self.subTest(member=member, function=function):
                self.assertEqual(address, ctypes.cast(getattr(self.library, function), POINTER).value)

    def test_members_refuse_arguments_that_are_null(self):
        for struct, members in self.tables.items():
            for member, (_, signature, address) in members.items():
                with self.subTest(struct=struct, member=member):
                    status, _ = call_with_nulls(signature, address)
                    self.assertIn(status, ERRORS if signature.startswith('LiteRtStatus') else [None])

    def test_appended_metrics_are_copied(self):
        offset = next(int(row['offset']) for row in rows_of('contexts.csv') if row['function'] == 'LiteRtAppendMetric')
        address = POINTER.from_address(self.context + offset).value
        self.assertEqual(address, ctypes.cast(self.library.LiteRtAppendMetric, POINTER).value)
        append = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(Metric))(address)
        metrics, count = self.record.made('LiteRtCreateMetrics'), ctypes.c_int()
        name, value = ctypes.create_string_buffer(b'stage'), ctypes.create_string_buffer(b'prefill')
        text = Metric(value=Any(8, ctypes.addressof(value)))
        POINTER.from_buffer(text).value = ctypes.addressof(name)
        self.assertEqual(append(metrics, ctypes.byref(text)), 0)
        name.value, value.value = b'xxxxx', b'yyyyyyy'
        self.assertEqual(append(metrics, ctypes.byref(Metric(b'cycles', Any(2, 12)))), 0)
        self.assertEqual(append(metrics, ctypes.byref(Metric(b'nothing', Any(8, 0)))), 0)
        self.assertEqual(append(metrics, ctypes.byref(Metric(None, Any(2, 12)))), INVALID)
        self.assertEqual(append(None, ctypes.byref(text)), INVALID)
        self.assertEqual(append(metrics, None), INVALID)
        self.record.do('LiteRtGetNumMetrics', metrics, ctypes.byref(count))
        found = []
        for index in range(count.value):
            metric = Metric()
            self.record.do('LiteRtGetMetric', metrics, index, ctypes.byref(metric))
            content = metric.value.value
            if metric.value.type == 8:
                content = ctypes.cast(content, ctypes.c_char_p).value
            found.append((metric.name, content))
        self.assertEqual(found, [(b'stage', b'prefill'), (b'cycles', 12), (b'nothing', None)])


if __name__ == '__main__':
    if not LIBRARY.exists():
        print('skipped: libLiteRt.so is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(LIBRARY)
    unittest.main(argv=sys.argv[:1])
