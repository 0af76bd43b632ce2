#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the layers of DEPUTY_LAYERS around dispatch plug-ins in programs that use CompiledModel.

    litert_layers_test.py BUILD_FOLDER
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import litert_compiler_test
from litert_compiler_test import CHAIN, CHAIN_RESULT, CPU, MIXED, NPU, PRODUCT, PRODUCT_INPUT, SHAPE, SUM, SUM_RESULT, X, Y, model_of
from litert_session import COMPILER_FOLDER, DISPATCH_FOLDER, run_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77


class LayersTest(litert_compiler_test.Case):

    def pair(self, layers, file=SUM, inputs=(X,), **job):
        """Compiles and runs a model with the plug-ins of npu_stub/litert."""
        options = {COMPILER_FOLDER: str(PAIR), DISPATCH_FOLDER: str(PAIR)}
        env = {'DEPUTY_LAYERS': layers} | job.pop('env', {})
        return self.run_file(file, inputs, options=options, env=env, **job)

    def test_a_call_fails(self):
        layers = 'fault=invoke:2:fail'
        result = self.pair(layers, accelerators=NPU | CPU, runs=3)
        self.assertEqual((result['full'], result['full at the end']), (True, False), result['log'])
        self.assertEqual(result['outputs'], [[SUM_RESULT]] * 3)
        alone = self.pair(layers, runs=2)
        self.assertEqual((alone['created'], alone['run'], alone['outputs']), ('Ok', 'ErrorRuntimeFailure', [[SUM_RESULT]]))

    def test_results_are_changed(self):
        result = self.pair('fault=invoke:2:corrupt', runs=3)
        self.assertEqual((result['full'], result['run']), (True, 'Ok'), result['log'])
        self.assertEqual([output == [SUM_RESULT] for output in result['outputs']], [True, False, True])

    def test_slow_calls_are_reported(self):
        result = self.pair('deadline=invoke:1ms;fault=invoke:2:delay:300ms', runs=3)
        self.assertEqual(result['outputs'], [[SUM_RESULT]] * 3)
        self.assertIn('layer deadline: invoke of kernel 0 has not returned within 1 ms', result['log'])
        self.assertNotIn('layer deadline', self.pair('deadline=invoke:1h')['log'])

    def test_calls_are_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / 'calls.rec'
            result = self.pair(f'record={record}', CHAIN, (X, Y), runs=2)
            self.assertEqual(result['outputs'], [[CHAIN_RESULT]] * 2, result['log'])
            done = subprocess.run([BUILD / 'deputy', 'replay', record, '--inspect', '--json'], capture_output=True, text=True, check=True)
            calls = [call['function'] for call in json.loads(done.stdout)['calls']]
        self.assertEqual(calls, ['delegate prepare', 'replace', 'init', 'prepare', 'invoke', 'invoke', 'free'])

    # The layers apply to the plug-in's delegate, not to nodes of the CPU.
    def test_the_cpu_has_no_layers(self):
        result = self.pair('fault=invoke:*:fail', accelerators=CPU)
        self.assertEqual((result['run'], result['outputs']), ('Ok', [[SUM_RESULT]]), result['log'])

    def test_layers_that_cannot_be_applied(self):
        for layers, reason in (('isolate', "layer 'isolate': expected the library of the delegate"),
                               ('other', "unknown layer 'other'")):
            with self.subTest(layers=layers):
                result = self.pair(layers)
                self.assertNotEqual(result['created'], 'Ok')
                self.assertIn(f'DEPUTY_LAYERS: {reason}', result['log'])
                result = self.pair(layers, accelerators=NPU | CPU)
                self.assertEqual((result['full'], result['outputs']), (False, [[SUM_RESULT]]), result['log'])

    def test_wrong_results_are_found(self):
        wrong = {'DEPUTY_NPU_FAULTS': 'wrong'}
        unverified = self.pair('', accelerators=NPU | CPU, env=wrong)
        self.assertNotEqual(unverified['outputs'], [[SUM_RESULT]])
        for layers in ('verify', 'verify=always', 'verify=3'):
            with self.subTest(layers=layers):
                result = self.pair(layers, accelerators=NPU | CPU, runs=3, env=wrong)
                self.assertEqual(result['outputs'], [[SUM_RESULT]] * 3)
                self.assertEqual((result['full'], result['full at the end']), (True, False))
                self.assertIn(f"output 't3' of compiler plug-ins is wrong: element 0: expected {SUM_RESULT[0]}, found", result['log'])
        with tempfile.TemporaryDirectory() as folder:  # a compiled file
            paths = [pathlib.Path(folder) / name for name in ('model.tflite', 'compiled.tflite')]
            paths[0].write_bytes(SUM)
            subprocess.run([BUILD / 'deputy', 'compile', paths[0], '--plugin', PAIR, '--keep-original', '-o', paths[1]], check=True,
                           capture_output=True)
            result = run_model(LIBRARY, paths[1], [X], accelerators=NPU | CPU, options={DISPATCH_FOLDER: str(PAIR)},
                               env=wrong | {'DEPUTY_LAYERS': 'verify'})
            self.assertEqual((result['outputs'], result['full at the end']), ([[SUM_RESULT]], False), result['log'])

    # The fault of the layer is in one run, and is found if that run is verified.
    def test_runs_that_are_verified(self):
        for layers, run, is_found in (('verify', 1, True), ('verify', 2, False), ('verify=always', 3, True), ('verify=2', 3, True),
                                      ('verify=2', 2, False)):
            with self.subTest(layers=layers, run=run):
                result = self.pair(f'{layers};fault=invoke:{run}:corrupt', accelerators=NPU | CPU, runs=4)
                expected = [number != run or is_found for number in range(1, 5)]
                self.assertEqual([output == [SUM_RESULT] for output in result['outputs']], expected, result['log'])
                self.assertEqual(result['full at the end'], not is_found)

    def test_right_results_stay(self):
        for file, inputs in ((SUM, (X,)), (MIXED, (X,)), (PRODUCT, (PRODUCT_INPUT,))):
            plain = self.pair('', file, inputs, accelerators=NPU | CPU, runs=2)
            result = self.pair('verify=always', file, inputs, accelerators=NPU | CPU, runs=2)
            self.assertEqual((result['full'], result['full at the end']), (plain['full'],) * 2, result['log'])
            self.assertEqual(result['outputs'], plain['outputs'])

    # The device adds 1 to the first element of x + c. A change of the last bit of 1e8 changes it by 8.
    def test_rounding_explains_differences(self):
        for large, is_wrong in ((1e8, False), (1, True)):
            file = model_of([('ADD', [0, 1], [2])], [SHAPE] * 3, [0], [2], {1: [-large, 0, 0, 0]})
            result = self.pair('verify', file, ([large, 1000, 0, 0],), accelerators=NPU | CPU, env={'DEPUTY_NPU_FAULTS': 'wrong'})
            self.assertEqual(result['outputs'], [[[0 if is_wrong else 1, 1000, 0, 0]]], result['log'])
            self.assertEqual(result['full at the end'], not is_wrong)

    # The CPU's variables would need the values that the variables of the compiled model had.
    def test_models_with_variables_are_not_verified(self):
        file = model_of([('ADD', [0, 1], [2]), ('MUL', [2, 0], [3])], [SHAPE] * 4, [0], [3], variables=(1,))
        result = self.pair('verify=always', file, accelerators=NPU | CPU, env={'DEPUTY_NPU_FAULTS': 'wrong'})
        self.assertIn('its runs cannot be verified', result['log'])
        self.assertEqual(result['full at the end'], result['full'])

    def test_inputs_that_are_not_available_after_the_run(self):
        for job in ({'in_place': True}, {'binding': ['t0', [1, 1, 1, 1]]}):
            with self.subTest(**job):
                wrong = {'accelerators': NPU | CPU, 'env': {'DEPUTY_NPU_FAULTS': 'wrong'}} | job
                result = self.pair('verify', **wrong)
                self.assertIn('its runs cannot be verified', result['log'])
                self.assertEqual(result['outputs'], self.pair('', **wrong)['outputs'])

    def test_layers_of_the_interpreter(self):
        result = self.pair('validate;fault=invoke:1:corrupt', runs=2)
        self.assertEqual([output == [SUM_RESULT] for output in result['outputs']], [False, True], result['log'])
        self.assertEqual(self.pair('validate')['outputs'], [[SUM_RESULT]])


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    LIBRARY = BUILD / 'drop-in/libLiteRt.so'
    PAIR = BUILD / 'litert/npu_stub'
    litert_compiler_test.LIBRARY = LIBRARY
    if not LIBRARY.exists() or not PAIR.exists() or not (BUILD / 'libdeputy_layers.so').exists():
        print('skipped: libLiteRt.so, the plug-ins or the layers are not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(LIBRARY)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
