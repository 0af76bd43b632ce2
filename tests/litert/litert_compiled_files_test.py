#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests files that LiteRT's compiler plug-ins compile: `deputy compile --plugin` and deputy_compiler.h.

    litert_compiled_files_test.py BUILD_FOLDER

DEPUTY_LITERT_LIBRARY names another library, for example LiteRT's own, which runs the files of the command.
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from litert_calls import CPU, NPU, POINTER, SIZE, Recorder, environment, options_of, text
from litert_compiler_test import SCALED, SCALED_RESULT, SHAPE, SUM, SUM_RESULT, X, model_of
from litert_files import tables_of
from litert_session import COMPILER_FOLDER, DISPATCH_FOLDER, run_model

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
OK, INVALID, NOT_FOUND, FAILURE, UNSUPPORTED_COMPILER = 0, 1, 6, 3, 4001
COSINE = model_of([('COS', [0], [1])], [SHAPE] * 2, [0], [1])


class Case(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with, the test ends it
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / 'compiled.tflite'

    def write(self, file, name='model.tflite'):
        (self.folder / name).write_bytes(file)
        return self.folder / name


class CommandTest(Case):

    def compile(self, *arguments, code=0, setting='', sdk='1'):
        sanitizers = {name: f"{os.environ.get(name, '')}:handle_segv=0".lstrip(':') for name in ('ASAN_OPTIONS', 'TSAN_OPTIONS')}
        environ = {**os.environ, **sanitizers, 'LITERT_COMPILER': setting, 'LITERT_COMPILER_SDK': sdk}
        done = subprocess.run([BUILD / 'deputy', 'compile', *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=environ)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def run_compiled(self, path, dispatch):
        result = run_model(LIBRARY, path, [X], options={DISPATCH_FOLDER: str(dispatch)})
        self.assertEqual((result['created'], result['full'], result['run']), ('Ok', True, 'Ok'), result['log'])
        return result['outputs'][0][0]

    def test_files_run_with_the_dispatch_plugin(self):
        for file, plugin, dispatch, result in ((SUM, PAIR, PAIR, SUM_RESULT),
                                               (SCALED, COMPILER, DOUBLES / 'litert', SCALED_RESULT)):
            with self.subTest(plugin=plugin):
                text_of_command = self.compile(self.write(file), '--plugin', plugin, '-o', self.out)
                self.assertRegex(text_of_command, r'compiled.tflite: \d+ bytes, with byte code')
                codes = [code.get('custom_code') for code in tables_of(self.out.read_bytes())['operator_codes']]
                self.assertEqual(codes, ['DISPATCH_OP'])
                self.assertEqual(self.run_compiled(self.out, dispatch), result)

    # The time is over at once, or later than the test.
    def test_plugins_in_a_process_of_their_own(self):
        model = self.write(SCALED)
        arguments = model, '--plugin', COMPILER, '-o', self.out, '--timeout'
        for name in ('CreateCompilerPlugin', 'CompilerPluginPartition', 'CompilerPluginCompile'):
            with self.subTest(function=name):
                log = self.compile(*arguments, 0.1, code=1, setting=f'hang={name}')
                self.assertIn(f'the compiler plug-ins below {COMPILER} have not ended after 0.1 seconds', log)
                log = self.compile(*arguments, 3600, code=1, setting=f'crash={name}')
                self.assertIn(f'a compiler plug-in below {COMPILER} has ended its process: Segmentation fault', log)
                self.assertFalse(self.out.exists())
        log = self.compile(model, '--plugin', COMPILER, '--check', '--timeout', 0.1, code=1, setting='hang=CreateCompilerPlugin')
        self.assertIn('have not ended after 0.1 seconds', log)
        self.assertIn('with byte code', self.compile(*arguments, 3600))
        self.assertEqual(self.run_compiled(self.out, DOUBLES / 'litert'), SCALED_RESULT)
        self.assertIn('it cannot be compiled by the plug-ins', self.compile(*arguments, 3600, code=1, setting='fail=CompilerPluginCompile'))

    def test_the_description_is_checked(self):
        model = self.write(SCALED)
        self.compile(model, '--plugin', COMPILER, '-o', self.out)
        self.assertEqual(self.check(self.out), 'litertcompilerplugin_double usable')
        self.assertIn('recompile: it was not compiled by this plug-in', self.check(model, code=1))
        self.assertIn("recompile: it was compiled by 'Double 1' for 'D0,D1', found 'Double 2' for 'D0,D1'",
                      self.check(self.out, code=1, sdk='2'))
        self.assertIn("found 'Double 1' for 'D0,D1,D2'", self.check(self.out, code=1, setting='models=3'))
        self.assertIn('not compiled by this plug-in', self.check(self.out, code=1, plugin=PAIR))
        good = self.out.read_bytes()
        position = good.index(b'DLRT') + 8
        changed = self.write(good[:position] + b'!' + good[position + 1:], 'changed.tflite')
        self.assertIn('recompile: the model was changed after the compilation', self.check(changed, code=1))
        damaged = self.write(good[:-40] + b'!' + good[-39:], 'damaged.tflite')
        self.assertIn('unusable: its description is damaged', self.check(damaged, code=1))
        if IS_OURS:
            for path in (changed, damaged):
                with self.assertRaisesRegex(AssertionError, 'it was changed after its byte code was compiled; compile it again'):
                    run_model(LIBRARY, path, [X], options={DISPATCH_FOLDER: str(DOUBLES / 'litert')})

    def check(self, path, plugin=None, **expected):
        lines = self.compile(path, '--plugin', plugin or COMPILER, '--check', **expected).splitlines()
        return ' '.join(line for line in lines if line.startswith('litertcompilerplugin'))

    def test_the_device_is_passed(self):
        self.assertIn('double: SoC model NULL', self.compile(self.write(SCALED), '--plugin', COMPILER, '-o', self.out))
        self.assertIn('double: SoC model D1', self.compile(self.write(SCALED), '--plugin', COMPILER, '--soc', 'D1', '-o', self.out))
        self.assertIn(b'Double'.ljust(125, b'\0') + b'D1'.ljust(125, b'\0'), self.out.read_bytes())
        refused = self.compile(self.write(SUM), '--plugin', PAIR, '--soc', 'Other', '-o', self.out, code=1)
        self.assertIn('LiteRtCompilerPluginCheckCompilerCompatibility failed: kLiteRtStatusErrorUnsupportedCompilerVersion', refused)

    def test_files_have_byte_code_in_place_of_handles(self):
        self.compile(self.write(SCALED), '--plugin', COMPILER, '-o', self.out, setting='handles=1')
        self.assertEqual(self.run_compiled(self.out, DOUBLES / 'litert'), SCALED_RESULT)

    def run_original(self, path, failing=False, folder=None, accelerators=NPU | CPU):
        """Runs a file of the pair three times; `failing`: every run of the device fails."""
        return run_model(LIBRARY, path, [X], accelerators=accelerators, runs=3, options={DISPATCH_FOLDER: str(folder or PAIR)},
                         env={'DEPUTY_NPU_FAULTS': 'run'} if failing else {})

    def test_the_cpu_runs_the_original_model_after_a_failed_run(self):
        if not IS_OURS:
            self.skipTest('LiteRT does not read the original model')
        plain = self.folder / 'plain.tflite'
        self.compile(self.write(SUM), '--plugin', PAIR, '-o', plain)
        self.assertIn('and the original model', self.compile(self.write(SUM), '--plugin', PAIR, '--keep-original', '-o', self.out))
        self.assertIn(SUM, self.out.read_bytes())
        result = self.run_original(self.out, failing=True)
        self.assertEqual((result['full'], result['full at the end']), (True, False), result['log'])
        self.assertEqual(result['outputs'], [[SUM_RESULT]] * 3)
        self.assertEqual(result['log'].count('the CPU runs the model from now on'), 1, result['log'])
        for refused in (self.run_original(plain, failing=True), self.run_original(self.out, failing=True, accelerators=NPU)):
            self.assertEqual((refused['run'], refused['outputs']), ('ErrorRuntimeFailure', []))

    def test_the_original_model_is_not_used_without_a_failure(self):
        self.compile(self.write(SUM), '--plugin', PAIR, '--keep-original', '-o', self.out)
        result = self.run_original(self.out)
        self.assertEqual((result['full'], result['full at the end'], result['outputs']), (True, True, [[SUM_RESULT]] * 3))

    def test_the_cpu_runs_the_original_model_without_a_dispatch_plugin(self):
        if not IS_OURS:
            self.skipTest('LiteRT does not read the original model')
        # The input file is a compiled model for the CPU.
        packed = self.folder / 'packed'
        self.compile(self.write(SUM), '-o', packed)
        self.compile(packed, '--plugin', PAIR, '--keep-original', '-o', self.out)
        for folder, accelerators in ((self.folder, NPU | CPU), (PAIR, CPU)):
            result = self.run_original(self.out, folder=folder, accelerators=accelerators)
            self.assertEqual((result['created'], result['full'], result['outputs']), ('Ok', False, [[SUM_RESULT]] * 3), result['log'])
        self.assertNotEqual(self.run_original(self.out, folder=self.folder, accelerators=NPU)['created'], 'Ok')

    def test_a_damaged_original_model_is_not_used(self):
        if not IS_OURS:
            self.skipTest('LiteRT does not read the original model')
        self.compile(self.write(SUM), '--plugin', PAIR, '--keep-original', '-o', self.out)
        good = self.out.read_bytes()
        damaged = self.write(good.replace(SUM, SUM[:-1] + bytes([SUM[-1] ^ 1])), 'damaged.tflite')
        self.assertEqual(self.run_original(damaged)['outputs'], [[SUM_RESULT]] * 3)
        result = self.run_original(damaged, failing=True)
        self.assertEqual((result['created'], result['run'], result['outputs']), ('Ok', 'ErrorRuntimeFailure', []))
        self.assertIn('the original model in the file is damaged', result['log'])

    def test_failures(self):
        model = self.write(SCALED)
        output = ('-o', self.folder / 'other')
        self.assertIn(f'no compiler plug-in below {self.folder} fits', self.compile(model, '--plugin', self.folder, *output, code=2))
        self.assertIn('kLiteRtStatusErrorNotFound', self.compile(self.write(COSINE, 'cosine'), '--plugin', PAIR, *output, code=1))
        failed = self.compile(model, '--plugin', COMPILER, *output, code=1, setting='fail=CompilerPluginCompile')
        self.assertIn('LiteRtCompilerPluginCompile failed: kLiteRtStatusErrorRuntimeFailure', failed)
        self.assertIn('cannot be compiled by the plug-ins below', failed)
        self.assertIn('--plugin: delegates do not run byte code',
                      self.compile(model, '--plugin', COMPILER, '--delegate', 'npu_stub', *output, code=2))
        self.compile(self.write(b'text', 'text'), '--plugin', COMPILER, *output, code=1)
        self.assertFalse(output[1].exists())
        self.compile(model, '--plugin', COMPILER, '-o', self.out)
        again = self.compile(self.out, '--plugin', COMPILER, *output, code=1)
        self.assertIn('the model is compiled already', again)


class FunctionsTest(Case):
    """The functions of deputy_compiler.h."""

    def setUp(self):
        super().setUp()
        self.record = Recorder(LIBRARY)
        self.library = self.record.library
        self.folder_text = ctypes.create_string_buffer(str(COMPILER).encode())
        os.environ['LITERT_COMPILER_SDK'] = '3'

    def environment(self):
        return environment(self.record, text(self.folder_text, COMPILER_FOLDER))

    def load(self, env, file):
        return self.record.made('LiteRtCreateModelFromFile', env, str(self.write(file)).encode())

    def compile(self, env, options, model, soc=None):
        compiled = POINTER()
        return self.library.DeputyLiteRtCompileModel(env, options, model, soc, ctypes.byref(compiled)), compiled

    def test_a_compiled_model_is_serialised(self):
        env = self.environment()
        options = options_of(self.record, NPU)
        status, compiled = self.compile(env, options, self.load(env, SCALED))
        self.assertEqual(status, OK)
        for name in ('Options', 'Environment'):
            self.record.function(f'LiteRtDestroy{name}')(options if name == 'Options' else env)
        block, size, offset = POINTER(), SIZE(), SIZE()
        self.record.do('LiteRtSerializeModel', compiled, ctypes.byref(block), ctypes.byref(size), ctypes.byref(offset), True, 16)
        path = self.write(ctypes.string_at(block.value + offset.value, size.value), 'compiled')
        result = run_model(LIBRARY, path, [X], options={DISPATCH_FOLDER: str(DOUBLES / 'litert')})
        self.assertEqual(result['outputs'], [[SCALED_RESULT]], result['log'])

    def test_models_that_are_not_compiled(self):
        env = self.environment()
        for file, accelerators, soc, expected in ((COSINE, NPU, None, NOT_FOUND), (SCALED, CPU, None, NOT_FOUND)):
            status, _ = self.compile(env, options_of(self.record, accelerators), self.load(env, file), soc)
            self.assertEqual(status, expected)
        os.environ['LITERT_COMPILER'] = 'fail=CompilerPluginPartition'
        self.addCleanup(os.environ.pop, 'LITERT_COMPILER')
        status, _ = self.compile(env, options_of(self.record, NPU), self.load(env, SCALED))
        self.assertEqual(status, FAILURE)

    def test_arguments_are_checked(self):
        env, options = self.environment(), options_of(self.record, NPU)
        model, result = self.load(env, SCALED), POINTER()
        call = self.library.DeputyLiteRtCompileModel
        for missing in range(5):
            if missing == 3:
                continue  # the device may be NULL
            arguments = [env, options, model, None, ctypes.byref(result)]
            arguments[missing] = None
            self.assertEqual(call(*arguments), INVALID)
        self.assertEqual(self.compile(environment(self.record), options, model)[0], INVALID)
        listing, callback = self.library.DeputyLiteRtListCompilerPlugins, CALLBACK(lambda *_: None)
        for arguments in ((None, options, callback), (env, None, callback), (env, options, None),
                          (environment(self.record), options, callback)):
            self.assertEqual(listing(*arguments, None), INVALID)

    def test_plugins_are_listed(self):
        found = []
        callback = CALLBACK(lambda data, *texts: found.append((data, *[each.decode() for each in texts])))
        env = self.environment()
        status = self.library.DeputyLiteRtListCompilerPlugins(env, options_of(self.record, NPU), callback, POINTER(7))
        self.assertEqual(status, OK)
        self.assertEqual(found, [(7, str(COMPILER / 'libLiteRtCompilerPlugin_Double.so'), 'Double', '3', 'D0,D1')])


CALLBACK = ctypes.CFUNCTYPE(None, POINTER, *[ctypes.c_char_p] * 4)

if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    IS_OURS = 'DEPUTY_LITERT_LIBRARY' not in os.environ
    LIBRARY = pathlib.Path(os.environ.get('DEPUTY_LITERT_LIBRARY') or BUILD / 'drop-in/libLiteRt.so')
    PAIR, DOUBLES = BUILD / 'litert/npu_stub', BUILD / 'tests/doubles'
    COMPILER = DOUBLES / 'litert_compiler'
    if not LIBRARY.exists() or not PAIR.exists() or not (BUILD / 'deputy').exists():
        print('skipped: libLiteRt.so, the plug-ins or the command are not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(LIBRARY)
    unittest.main(argv=[sys.argv[0], *(sys.argv[2:] or ([] if IS_OURS else ['CommandTest']))])
