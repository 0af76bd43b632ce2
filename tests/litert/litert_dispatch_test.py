#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the host of dispatch plug-ins with the test double of tests/doubles/litert.

    litert_dispatch_test.py BUILD_FOLDER

Each case runs in a process of its own, because a process loads and initialises a plug-in once.
DEPUTY_LITERT_LIBRARY names another library, for example LiteRT's own, which runs the double with equal outputs.
"""

import ctypes
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from litert_files import dispatch_options, file_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
NPU, CPU = 4, 1
HOST, CUSTOM = 1, 100
DISPATCH_FOLDER = 1  # kLiteRtEnvOptionTagDispatchLibraryDir
POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
OK, FAILURE, COMPILATION = 0, 3, 504
SHAPE = [1, 4]


def program(number, factor=0.0):
    return b'DLRT' + struct.pack('<If', number, factor)


def model_of(nodes, tensors, inputs, outputs, code=b'', shift=0):
    """Returns a model of DISPATCH_OP nodes (byte code or None, inputs, outputs); None is a TANH on the CPU.

    The byte code follows the tables. `code` replaces the options' bytes, `shift` is added to the offsets.
    """
    programs = [node[0] for node in nodes if node[0] is not None]
    offset = 2
    for _ in range(2):  # the second round uses the size of the tables
        position, operators = offset, []
        for byte_code, node_inputs, node_outputs in nodes:
            operator = {'inputs': node_inputs, 'outputs': node_outputs}
            if byte_code is None:
                operator['opcode_index'] = 1
            else:
                options = code or dispatch_options(position + shift, len(byte_code))
                operator |= {'opcode_index': 0, 'custom_options': list(options)}
                position += len(byte_code)
            operators.append(operator)
        tables = file_of({
            'version': 3,
            'operator_codes': [
                {'deprecated_builtin_code': 32, 'builtin_code': 'CUSTOM', 'custom_code': 'DISPATCH_OP', 'version': 1},
                {'deprecated_builtin_code': 28, 'builtin_code': 'TANH', 'version': 1},
            ],
            'subgraphs': [{
                'tensors': [{'shape': SHAPE, 'type': 'FLOAT32', 'buffer': 0, 'name': f't{i}'} for i in range(tensors)],
                'inputs': inputs,
                'outputs': outputs,
                'operators': operators,
            }],
            'buffers': [{}],
        })
        offset = len(tables)
    return tables + b''.join(programs)


DOUBLED = model_of([(program(0, 2.0), [0], [1])], 2, [0], [1])
# t2 = 3 t0, t3 = t2 + t1, t4 = tanh(t3), t5 = 2 t4
CHAIN = model_of(
    [(program(0, 3.0), [0], [2]), (program(1), [2, 1], [3]), (None, [3], [4]), (program(0, 2.0), [4], [5])],
    6, [0, 1], [5])


class Any(ctypes.Structure):
    _fields_ = [('type', ctypes.c_int), ('text', ctypes.c_char_p)]


class EnvOption(ctypes.Structure):
    _fields_ = [('tag', ctypes.c_int), ('value', Any)]


class Layout(ctypes.Structure):
    _fields_ = [('rank', ctypes.c_uint, 7), ('has_strides', ctypes.c_uint, 1),
                ('dimensions', ctypes.c_int32 * 8), ('strides', ctypes.c_uint32 * 8)]


class RankedType(ctypes.Structure):
    _fields_ = [('element_type', ctypes.c_int), ('layout', Layout)]


def run_case(library, folder, model, accelerators, runs, buffer_per_run):
    """Compiles and runs a model; returns what happened. Called in the process of a case."""
    api = ctypes.CDLL(library)
    option = EnvOption(DISPATCH_FOLDER, Any(8, folder.encode()))
    environment, loaded, options, compiled = POINTER(), POINTER(), POINTER(), POINTER()
    assert api.LiteRtCreateEnvironment(1, ctypes.byref(option), ctypes.byref(environment)) == OK
    status = api.LiteRtCreateModelFromBuffer(environment, model, SIZE(len(model)), ctypes.byref(loaded))
    if status != OK:
        api.LiteRtDestroyEnvironment(environment)
        return {'compiled': status}
    assert api.LiteRtCreateOptions(ctypes.byref(options)) == OK
    assert api.LiteRtSetOptionsHardwareAccelerators(options, accelerators) == OK
    result = {'compiled': api.LiteRtCreateCompiledModel(environment, loaded, options, ctypes.byref(compiled))}
    double = next(pathlib.Path(folder).glob('**/libLiteRtDispatch*.so'), None)
    if result['compiled'] == OK:
        full, count = ctypes.c_bool(), SIZE()
        assert api.LiteRtCompiledModelIsNonCpuFullyAccelerated(compiled, ctypes.byref(full)) == OK
        result['full'] = full.value
        signature = POINTER()
        assert api.LiteRtGetModelSignature(loaded, SIZE(0), ctypes.byref(signature)) == OK
        assert api.LiteRtGetNumSignatureInputs(signature, ctypes.byref(count)) == OK
        kind = RankedType(1, Layout(2, 0, (ctypes.c_int32 * 8)(*SHAPE)))

        def buffer_of(values):
            created, memory = POINTER(), POINTER()
            status = api.LiteRtCreateManagedTensorBuffer(environment, HOST, ctypes.byref(kind), SIZE(16), ctypes.byref(created))
            assert status == OK
            assert api.LiteRtLockTensorBuffer(created, ctypes.byref(memory), 2) == OK
            ctypes.memmove(memory.value, struct.pack('4f', *values), 16)
            assert api.LiteRtUnlockTensorBuffer(created) == OK
            return created

        def values_of(buffer):
            memory = POINTER()
            assert api.LiteRtLockTensorBuffer(buffer, ctypes.byref(memory), 0) == OK
            values = list(struct.unpack('4f', ctypes.string_at(memory.value, 16)))
            assert api.LiteRtUnlockTensorBuffer(buffer) == OK
            return values

        result['runs'], result['outputs'] = [], []
        kept = []
        for number in range(runs):
            if number == 0 or buffer_per_run:
                inputs = [buffer_of([0.125 * (number + 1 + i), 1, -2, 0.5 * i]) for i in range(count.value)]
                output = buffer_of([9, 9, 9, 9])
                kept += [*inputs, output]
            result['runs'].append(api.LiteRtRunCompiledModel(
                compiled, SIZE(0), SIZE(len(inputs)), (POINTER * len(inputs))(*[i.value for i in inputs]),
                SIZE(1), (POINTER * 1)(output.value)))
            result['outputs'].append(values_of(output))
        api.LiteRtDestroyCompiledModel(compiled)
        for buffer in kept:
            api.LiteRtDestroyTensorBuffer(buffer)
    if double is not None:
        library = ctypes.CDLL(str(double))
        library.LitertDoubleCalls.restype = ctypes.c_char_p
        numbers = [ctypes.c_int() for _ in range(3)]
        result['calls'] = library.LitertDoubleCalls(*map(ctypes.byref, numbers)).decode().split()
        result['left'] = [number.value for number in numbers]
    api.LiteRtDestroyOptions(options)
    api.LiteRtDestroyModel(loaded)
    api.LiteRtDestroyEnvironment(environment)
    return result


class LitertDispatchTest(unittest.TestCase):

    def case(self, model=DOUBLED, accelerators=NPU, runs=1, setting='', buffer_per_run=True, folder=None):
        with tempfile.NamedTemporaryFile() as file:
            file.write(model)
            file.flush()
            arguments = [LIBRARY, str(folder or DOUBLES), file.name, str(accelerators), str(runs), str(int(buffer_per_run))]
            done = subprocess.run([sys.executable, __file__, str(BUILD), '--case', *arguments], capture_output=True, text=True,
                                  env=os.environ | {'LITERT_DOUBLE': setting}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout.splitlines()[-1])
        result['log'] = done.stderr
        if 'left' in result:
            self.assertEqual(result['left'], [0, 0, 0], 'memories, contexts, registered buffers')
        return result

    def test_byte_code_runs_in_the_plugin(self):
        result = self.case(runs=2)
        self.assertEqual((result['compiled'], result['full'], result['runs']), (OK, True, [OK, OK]))
        self.assertEqual(result['outputs'], [[0.25, 2, -4, 0], [0.5, 2, -4, 0]])
        self.assertEqual(result['calls'].count('invoke'), 2)

    # The plug-in reads and writes the client's buffers; one with other memory replaces them.
    def test_buffers_are_registered_once_and_not_copied(self):
        same = self.case(runs=3, buffer_per_run=False)
        self.assertEqual(same['calls'].count('register_tensor_buffer'), 2)
        self.assertEqual(same['calls'].count('lock_memory'), 0)
        other = self.case(runs=3)
        self.assertEqual(other['calls'].count('register_tensor_buffer'), 6)

    def test_calls_are_those_of_the_original(self):
        self.assertEqual(self.case(buffer_per_run=False)['calls'], [
            'LiteRtDispatchGetApi', 'initialize', 'check_runtime_compatibility', 'device_context_create',
            'invocation_context_create', 'get_input_requirements', 'get_output_requirements',
            'register_tensor_buffer', 'attach_input', 'register_tensor_buffer', 'attach_output', 'invoke',
            'detach_input', 'unregister_tensor_buffer', 'detach_output', 'unregister_tensor_buffer',
            'invocation_context_destroy', 'device_context_destroy'])

    # Nodes of the plug-in before and after one of the CPU, and a tensor that only the plug-in uses.
    def test_partitions_of_plugin_and_cpu(self):
        result = self.case(CHAIN, NPU | CPU, runs=2)
        self.assertEqual((result['compiled'], result['full'], result['runs']), (OK, False, [OK, OK]))
        for number, outputs in enumerate(result['outputs']):
            first = [0.125 * (number + 1), 1, -2, 0]
            second = [0.125 * (number + 2), 1, -2, 0.5]
            for value, a, b in zip(outputs, first, second):
                self.assertAlmostEqual(value, 2 * math.tanh(3 * a + b), places=6)
        self.assertEqual(result['calls'].count('invoke'), 6)

    def test_a_node_of_the_cpu_needs_the_cpu(self):
        self.assertEqual(self.case(CHAIN, NPU)['compiled'], COMPILATION)

    def test_padded_buffers_are_copied(self):
        result = self.case(setting='padding=64')
        self.assertEqual((result['runs'], result['outputs']), ([OK], [[0.25, 2, -4, 0]]))

    def test_buffers_of_the_plugin_are_copied(self):
        for model, accelerators, count in ((DOUBLED, NPU, 2), (CHAIN, NPU | CPU, 6)):
            result = self.case(model, accelerators, setting=f'type={CUSTOM}')
            self.assertEqual(result['runs'], [OK])
            self.assertEqual(result['calls'].count('create_memory'), count)
        self.assertEqual(self.case(setting=f'type={CUSTOM}')['outputs'], [[0.25, 2, -4, 0]])

    def test_a_type_of_buffers_without_functions_is_refused(self):
        result = self.case(setting='type=150')
        self.assertEqual((result['compiled'], result['runs']), (OK, [FAILURE]))
        self.assertIn('no functions are registered for buffers of type 150', result['log'])

    # Failures of each function: an error that names plug-in and function, and no memory is lost.
    def test_failures_of_the_plugin(self):
        creation = ('device_context_create', 'invocation_context_create', 'get_input_requirements', 'get_output_requirements')
        for name in creation:
            with self.subTest(function=name):
                result = self.case(setting=f'fail={name}')
                self.assertEqual(result['compiled'], FAILURE)
                self.assertRegex(result['log'], rf"plug-in 'double' \(.*\): {name} failed: kLiteRtStatusErrorRuntimeFailure")
        for name in ('register_tensor_buffer', 'attach_input', 'attach_output', 'invoke'):
            with self.subTest(function=name):
                result = self.case(runs=2, setting=f'fail={name}')
                self.assertEqual((result['compiled'], result['runs']), (OK, [FAILURE, FAILURE]))
                self.assertEqual(result['outputs'], [[9, 9, 9, 9]] * 2)
                self.assertRegex(result['log'], rf"plug-in 'double' \(.*\): {name} failed: kLiteRtStatusErrorRuntimeFailure")
        for name in ('detach_input', 'detach_output', 'unregister_tensor_buffer', 'invocation_context_destroy',
                     'device_context_destroy'):
            with self.subTest(function=name):
                result = self.case(setting=f'fail={name}')
                self.assertEqual((result['runs'], result['outputs']), ([OK], [[0.25, 2, -4, 0]]))
                self.assertIn(f'{name} failed', result['log'])

    def test_no_requirements(self):
        result = self.case(setting='requirements=0')
        self.assertEqual(result['compiled'], FAILURE)
        self.assertIn("tensor 't0': expected requirements of the plug-in, found NULL", result['log'])

    def test_plugins_that_do_not_fit(self):
        for setting, reason in (
            ('version=2', 'expected version 0.1.0 of the interface, found 0.2.0'),
            ('lacks=invoke', 'it has no function invoke'),
            ('fail=LiteRtDispatchGetApi', 'LiteRtDispatchGetApi failed: kLiteRtStatusErrorRuntimeFailure'),
            ('fail=initialize', 'initialize failed: kLiteRtStatusErrorRuntimeFailure'),
            ('fail=check_runtime_compatibility', 'it refuses version 0.1.0 of the runtime'),
        ):
            with self.subTest(setting=setting):
                result = self.case(setting=setting, accelerators=NPU | CPU)
                self.assertNotEqual(result['compiled'], OK)
                self.assertRegex(result['log'], rf'no dispatch plug-in runs operator DISPATCH_OP: .*{reason}')

    def test_folders_without_a_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            result = self.case(folder=folder, accelerators=NPU | CPU)
            self.assertNotEqual(result['compiled'], OK)
            self.assertIn(f'{folder} has no file libLiteRtDispatch*.so', result['log'])
            (pathlib.Path(folder) / 'libLiteRtDispatch_Text.so').write_text('no library', encoding='utf-8')
            self.assertIn('libLiteRtDispatch_Text.so: ', self.case_of_text(folder))

    def case_of_text(self, folder):
        with tempfile.NamedTemporaryFile() as file:
            file.write(DOUBLED)
            file.flush()
            done = subprocess.run([sys.executable, __file__, str(BUILD), '--case', LIBRARY, folder, file.name, '5', '1', '1'],
                                  capture_output=True, text=True, check=False)
        return done.stderr

    def test_the_npu_was_not_requested(self):
        result = self.case(accelerators=CPU)
        self.assertNotEqual(result['compiled'], OK)
        self.assertIn('no dispatch plug-in runs operator DISPATCH_OP: the NPU was not requested', result['log'])
        self.assertEqual(result['calls'], [])

    def test_damaged_options_and_offsets(self):
        for options in (b'', b'\0', b'text', bytes(range(64))):
            with self.subTest(options=options):
                self.assertNotEqual(self.case(model_of([(program(0), [0], [1])], 2, [0], [1], code=options or b'\1'))['compiled'], OK)
        for shift in (1, 4, 1 << 40, (1 << 63) - 5000):
            with self.subTest(shift=shift):
                self.assertNotEqual(self.case(model_of([(program(0), [0], [1])], 2, [0], [1], shift=shift))['compiled'], OK)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    LIBRARY = os.environ.get('DEPUTY_LITERT_LIBRARY') or str(BUILD / 'drop-in/libLiteRt.so')
    DOUBLES = BUILD / 'tests/doubles/litert'
    if '--case' in sys.argv:
        library_path, plugin_folder, path, wanted, number_of_runs, fresh = sys.argv[3:]
        print(json.dumps(run_case(library_path, plugin_folder, pathlib.Path(path).read_bytes(), int(wanted), int(number_of_runs),
                                  fresh == '1')))
        sys.exit()
    if not pathlib.Path(LIBRARY).exists() or not DOUBLES.exists():
        print('skipped: libLiteRt.so or the test double is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(pathlib.Path(LIBRARY))
    unittest.main(argv=sys.argv[:1])
