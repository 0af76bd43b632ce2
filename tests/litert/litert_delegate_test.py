#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests LiteRT's plug-ins as a delegate of the command: layers, reports, and several kinds of delegates in one plan.

    litert_delegate_test.py BUILD_FOLDER
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from litert_compiler_test import model_of

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
NPU_STUB = BUILD / 'litert/npu_stub'
DISPATCH, COMPILER = BUILD / 'tests/doubles/litert', BUILD / 'tests/doubles/litert_compiler'
SHAPE = [1, 4]
# 2 (tanh(3 x + x)), of which the double runs MUL and ADD
MODEL = model_of([('MUL', [0, 1], [2]), ('ADD', [2, 0], [3]), ('COS', [3], [4]), ('MUL', [4, 5], [6])],
                 [SHAPE] * 7, [0], [6], {1: [3, 3, 3, 3], 5: [2, 2, 2, 2]})
# The double multiplies by the first element only.
UNEQUAL = model_of([('MUL', [0, 1], [2])], [SHAPE] * 3, [0], [2], {1: [1, 2, 3, 4]})
FOUR = model_of([('MUL', [0, 1], [2]), ('ADD', [2, 0], [3]), ('NEG', [3], [4]), ('RELU', [4], [5]), ('COS', [5], [6])],
                [SHAPE] * 7, [0], [6], {1: [3, 3, 3, 3]})


class DelegateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.model = self.write('model.tflite', MODEL)
        self.litert = ['--use_litert', f'--dispatch_library_dir={DISPATCH}', f'--compiler_plugin_library_dir={COMPILER}']

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def deputy(self, *arguments, **environment):
        return subprocess.run([BUILD / 'deputy', *map(str, arguments)], capture_output=True, text=True, check=False,
                              timeout=120, env=os.environ | environment)

    def fine(self, *arguments, **environment):
        result = self.deputy(*arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def explain(self, *arguments):
        """Returns the text of `explain` with line breaks as spaces."""
        return re.sub(r'\s+', ' ', self.fine('explain', self.model, *arguments))

    def run_model(self, *arguments, model=None, **environment):
        """Returns the printed output of an inference on random numbers, and the messages."""
        result = self.deputy('run', model or self.model, '--random', *arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, result.stderr

    def owners(self, model, *arguments):
        """Returns the name of the delegate that runs each node; None: the CPU."""
        report = json.loads(self.fine('explain', model, '--json', *arguments))
        names = [delegate['name'] for delegate in report['delegates']]
        owners = [node['owner'] for node in report['subgraphs'][0]['nodes']]
        return [None if owner in (None, -1) else names[owner] for owner in owners]

    # ---- Reports ---------------------------------------------------------------------------------

    def test_operators_that_are_selected_run_in_the_plugin(self):
        self.assertEqual(self.owners(self.model, *self.litert), ['litert', 'litert', None, 'litert'])
        self.assertEqual(self.run_model(*self.litert)[0], self.run_model()[0])
        text = self.explain(*self.litert)
        self.assertIn("compiler plug-in 'Double' does not select it", text)
        self.assertIn('device double', text)

    def test_compiled_files_run_without_the_compiler(self):
        compiled = self.folder / 'compiled.tflite'
        self.fine('compile', self.model, '--plugin', COMPILER, '-o', compiled)
        litert = self.litert[:2]
        self.assertEqual(self.owners(compiled, *litert), ['litert', 'litert', None, 'litert'])
        output, errors = self.run_model(*litert, model=compiled)
        self.assertEqual(output, self.run_model()[0])
        self.assertNotIn('warning', errors)
        self.assertIn("'compiler_plugin_library_dir' is empty", self.explain(*litert))

    def test_the_device_is_passed_to_the_compiler(self):
        result = self.deputy('explain', self.model, *self.litert, '--soc_model=unknown')
        self.assertIn('double: SoC model unknown', result.stderr)

    def test_other_shapes_are_left_to_the_cpu(self):
        text = self.explain(*self.litert, '--shape', 't0=2,4')
        self.assertIn('runs 0 of 4 nodes', text)
        self.assertRegex(text, r"the shape of compiled programs is \[1, 4\], found \[2, 4\]")

    def test_bench_runs_the_plugin(self):
        report = json.loads(self.fine('bench', self.model, *self.litert, '--runs', 2, '--min-secs', 0, '--warmup', 0, '--json'))
        self.assertIn('litert', json.dumps(report))

    # ---- Layers ----------------------------------------------------------------------------------

    def test_verification_finds_wrong_results(self):
        model = self.write('unequal.tflite', UNEQUAL)
        expected, _ = self.run_model(model=model)
        wrong, _ = self.run_model(*self.litert, model=model)
        self.assertNotEqual(wrong, expected)
        result = self.deputy('run', model, '--random', *self.litert, '--verify', 'always')
        self.assertEqual((result.returncode, result.stdout), (1, expected))
        self.assertIn('the CPU replaced a failed node', result.stderr)

    def test_a_failure_is_computed_on_the_cpu(self):
        expected, _ = self.run_model()
        output, errors = self.run_model(*self.litert, LITERT_DOUBLE='fail=invoke')
        self.assertEqual(output, expected)
        self.assertIn('the CPU replaced a failed node', errors)
        result = self.deputy('run', self.model, '--random', *self.litert, '--policy', 'tflite', LITERT_DOUBLE='fail=invoke')
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"plug-in 'double' \(.*libLiteRtDispatch_Double.so\): invoke failed")

    def test_a_process_of_its_own_survives_crashes_and_hangs(self):
        expected, _ = self.run_model()
        for layers, fault in ((['--isolate'], 'crash=invoke'), (['--layer', 'deadline=invoke:300ms', '--layer', 'isolate'],
                                                                'hang=invoke')):
            output, errors = self.run_model(*self.litert, *layers, LITERT_DOUBLE=fault)
            self.assertEqual(output, expected, fault)
            self.assertIn('the CPU replaced a failed node', errors, fault)

    def test_calls_are_recorded_and_replayed(self):
        record = self.folder / 'calls.rec'
        expected, _ = self.run_model()
        output, _ = self.run_model(*self.litert, '--layer', f'record={record}')
        self.assertEqual(output, expected)
        self.assertIn('libLiteRt.so', self.fine('replay', record, '--inspect'))

    def test_validation_has_no_findings(self):
        self.fine('explain', self.model, *self.litert, '--validate')

    # ---- Other commands --------------------------------------------------------------------------

    def test_the_example_is_certified(self):
        result = self.deputy('certify', f'litert,dispatch_library_dir={NPU_STUB},compiler_plugin_library_dir={NPU_STUB}',
                             '--only', 'ADD')
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r'libLiteRt.so: certified: (\d+) of \1 cases')

    def test_invalid_options_are_refused(self):
        for options, pattern in ((f'dispatch_library_dir={self.folder}', 'has no file libLiteRtDispatch'),
                                 ('', "option 'dispatch_library_dir': expected a folder, found nothing"),
                                 (f'dispatch_library_dir={DISPATCH},colour=blue', "option 'colour': expected one of")):
            result = self.deputy('explain', self.model, '--delegate', f'litert,{options}'.rstrip(','))
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, pattern)
        compiler = f'litert,dispatch_library_dir={DISPATCH},compiler_plugin_library_dir={self.folder}'
        self.assertIn('no compiler plug-in below', self.explain('--delegate', compiler))

    # ---- Several kinds of delegates --------------------------------------------------------------

    def test_four_kinds_of_delegates_share_a_plan(self):
        model = self.write('four.tflite', FOUR)
        delegates = ['--delegate', f'{BUILD}/tests/plugins/libelementwise.so,ops=59',
                     '--delegate', f'{BUILD}/tests/plugins/libopaque.so',
                     '--delegate', f'{BUILD}/examples/libmindspore_plugin.so', *self.litert]
        names = self.owners(model, *delegates)
        self.assertEqual(len(set(names)), 5, names)
        self.assertEqual([names[0], names[4]], ['litert', None])
        self.assertEqual(self.run_model(*delegates, model=model)[0], self.run_model(model=model)[0])


if __name__ == '__main__':
    unittest.main()
