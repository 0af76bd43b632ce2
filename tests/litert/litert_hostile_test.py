#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host of dispatch plug-ins with a plug-in whose functions fail, return nothing or garbage, hang or crash.

    litert_hostile_test.py BUILD_FOLDER

Each case runs in a process of its own. The double of tests/doubles/litert has one fault per case.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

import litert_compiler_test
from litert_calls import rows_of
from litert_dispatch_test import CUSTOM, DOUBLED, NPU
from litert_session import COMPILER_FOLDER, DISPATCH_FOLDER, run_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
OK = 0
HERE = pathlib.Path(__file__).resolve().parent
RIGHT = [0.25, 2, -4, 0]

# Functions that are called before the vendor's name is known.
EARLY = ['LiteRtDispatchGetApi', 'initialize', 'check_runtime_compatibility']
CREATION = ['device_context_create', 'invocation_context_create', 'get_input_requirements', 'get_output_requirements']
RUN = ['register_tensor_buffer', 'attach_input', 'attach_output', 'invoke']
# Their failures do not change a result.
END = ['detach_input', 'detach_output', 'unregister_tensor_buffer', 'invocation_context_destroy', 'device_context_destroy']
BUFFERS = ['create_memory', 'lock_memory', 'unlock_memory', 'destroy_memory']
ALL = [*EARLY, 'get_vendor_id', *CREATION, *RUN, *END, *BUFFERS]


def statuses():
    """Returns {number: name} of all statuses but that of success, and an unknown one."""
    found = {int(row['value']): row['name'] for row in rows_of('enums.csv') if row['enum'] == 'LiteRtStatus'}
    return {number: name for number, name in found.items() if number != OK} | {1999: 'unknown status'}


class HostileTest(unittest.TestCase):

    def start(self, setting):
        """Starts the process of a case, which compiles a model and runs it. Buffers of the plug-in's type are copied."""
        # Sanitizers would end the process with another code.
        options = {name: f"{os.environ.get(name, '')}:handle_segv=0".lstrip(':') for name in ('ASAN_OPTIONS', 'TSAN_OPTIONS')}
        environment = os.environ | options | {'LITERT_DOUBLE': setting}
        return subprocess.Popen([sys.executable, HERE / 'litert_dispatch_test.py', BUILD, '--case', LIBRARY, FOLDER, MODEL, str(NPU),
                                 '1', '1'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def case(self, setting):
        with self.start(setting) as process:
            output, log = process.communicate()
        self.assertEqual(process.returncode, 0, f'{setting}: {log}')
        return json.loads(output.splitlines()[-1]) | {'log': log}

    def check_error(self, result, name, has_vendor=True):
        """An error names function, vendor and file."""
        self.assertTrue(result['compiled'] != OK or result['runs'] != [OK], result)
        self.assertIn(name, result['log'])
        self.assertIn('libLiteRtDispatch_Double.so', result['log'])
        if has_vendor:
            self.assertIn("plug-in 'double'", result['log'])

    def setting(self, fault, name):
        return f'type={CUSTOM},{fault}={name}' if name in BUFFERS else f'{fault}={name}'

    def test_each_status(self):
        for name in ('initialize', 'get_input_requirements', 'invoke'):
            for number, text in statuses().items():
                with self.subTest(function=name, status=text):
                    result = self.case(f'fail={name}:{number}')
                    self.check_error(result, f'{name} failed: {text}', name != 'initialize')

    def test_failures_of_each_function(self):
        for name in EARLY + CREATION + RUN + ['create_memory', 'lock_memory']:
            with self.subTest(function=name):
                # A message names the object that a function for buffers should provide.
                text = {'create_memory': 'cannot be created', 'lock_memory': 'cannot be locked',
                        'check_runtime_compatibility': 'refuses version'}.get(name, f'{name} failed')
                self.check_error(self.case(self.setting('fail', name)), text, name not in EARLY)
        for name in [*END, 'get_vendor_id', 'destroy_memory']:
            with self.subTest(function=name):
                result = self.case(self.setting('fail', name))
                self.assertEqual((result['runs'], result['outputs']), ([OK], [RIGHT]))
        self.assertNotEqual(self.case(self.setting('fail', 'unlock_memory'))['runs'], [OK])

    def test_functions_without_a_result(self):
        for name in ['LiteRtDispatchGetApi', *CREATION, 'create_memory', 'lock_memory']:
            with self.subTest(function=name):
                text = {'LiteRtDispatchGetApi': 'expected version', 'create_memory': 'cannot be created',
                        'lock_memory': 'cannot be locked'}.get(name, name)
                self.check_error(self.case(self.setting('untouched', name)), text, name not in EARLY)
        # The double needs the handle.
        self.check_error(self.case('untouched=register_tensor_buffer'), 'invoke')
        result = self.case('untouched=get_vendor_id')
        self.assertEqual(result['outputs'], [RIGHT])
        self.assertIn('get_vendor_id returned no readable name', result['log'])

    def test_results_that_do_not_exist(self):
        for name, text in (
            ('LiteRtDispatchGetApi', 'its interface is not readable'),
            ('function', 'its function invoke is not a function'),
            ('handlers', 'its functions for buffers are not readable'),
            ('code', 'its functions for buffers are not functions'),
        ):
            with self.subTest(name=name):
                self.check_error(self.case(f'garbage={name}'), text, False)
        for name, text in (
            ('device_context_create', 'invocation_context_create failed'),
            ('invocation_context_create', 'attach_input failed'),
            ('get_input_requirements', "tensor 't0': expected requirements of the plug-in, found an object that the host has not created"),
            ('get_output_requirements', "tensor 't1': expected requirements of the plug-in, found an object that the host has not created"),
            ('register_tensor_buffer', 'invoke failed'),
            ('size', 'a buffer of type 1 and 18446744073709551612 bytes cannot be created'),
            ('create_memory', 'cannot be created'),
            ('lock_memory', 'cannot be locked'),
        ):
            with self.subTest(name=name):
                self.check_error(self.case(self.setting('garbage', name)), text)
        for name, text in (('get_vendor_id', 'get_vendor_id returned no readable name'), ('get_capabilities', ''),
                           ('types', 'buffers of the unknown type 2139062143')):
            with self.subTest(name=name):
                result = self.case(f'garbage={name}')
                self.assertEqual((result['runs'], result['outputs']), ([OK], [RIGHT]))
                self.assertIn(text, result['log'])

    # The plug-in returns an object that belongs to the host already.
    def test_requirements_that_are_returned_twice(self):
        for name in ('get_input_requirements', 'get_output_requirements'):
            with self.subTest(function=name):
                result = self.case(f'repeated={name}')
                if name == 'get_output_requirements':  # the first object is that of the input
                    self.check_error(result, f"{name}: tensor 't1': expected requirements of the plug-in")
                else:
                    self.assertEqual(result['outputs'], [RIGHT])

    # The CPU computes a model that compiler plug-ins have compiled.
    def test_the_cpu_replaces_the_plugin(self):
        folders = {COMPILER_FOLDER: f'{BUILD}/tests/doubles/litert_compiler', DISPATCH_FOLDER: FOLDER}
        with tempfile.NamedTemporaryFile(suffix='.tflite') as file:
            file.write(litert_compiler_test.SCALED)
            file.flush()
            for fault, names in (('fail', ALL), ('untouched', [*EARLY, *CREATION, *BUFFERS[:2], 'register_tensor_buffer']),
                                 ('garbage', [*CREATION, *BUFFERS[:2], 'register_tensor_buffer', 'function', 'code', 'size'])):
                for name in names:
                    with self.subTest(fault=fault, function=name):
                        result = run_model(LIBRARY, file.name, [litert_compiler_test.X], options=folders,
                                           accelerators=NPU | 1, env={'LITERT_DOUBLE': self.setting(fault, name)})
                        self.assertEqual((result['created'], result['run']), ('Ok', 'Ok'))
                        self.assertEqual(result['outputs'], [[litert_compiler_test.SCALED_RESULT]])

    # The library leaves signals to the program.
    def test_a_function_that_crashes_ends_the_process(self):
        for name in ALL:
            with self.subTest(function=name), self.start(self.setting('crash', name)) as process:
                _, log = process.communicate()
                self.assertEqual(process.returncode, -signal.SIGSEGV)
                self.assertIn(f'double: {name}', log)

    def test_a_process_in_which_a_function_hangs_can_be_ended(self):
        for name in ALL:
            with self.subTest(function=name), self.start(self.setting('hang', name)) as process:
                lines = iter(process.stderr.readline, '')
                self.assertTrue(any(line == f'double: {name}\n' for line in lines))
                process.terminate()
                self.assertEqual(process.wait(), -signal.SIGTERM)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    LIBRARY = os.environ.get('DEPUTY_LITERT_LIBRARY') or str(BUILD / 'drop-in/libLiteRt.so')
    FOLDER = str(BUILD / 'tests/doubles/litert')
    if not pathlib.Path(LIBRARY).exists() or not pathlib.Path(FOLDER).exists():
        print('skipped: libLiteRt.so or the test double is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(pathlib.Path(LIBRARY))
    with tempfile.NamedTemporaryFile() as model:
        model.write(DOUBLED)
        model.flush()
        MODEL = model.name
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
