#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the statements of docs/writing-a-delegate.md: its folder builds with one command from public
headers only as C11 with many warnings (STRICT), with gcc and clang, and `deputy` can load the result; and the
commands of `deputy` accept our own NPU stub by its name.

    npu_stub_test.py BUILD_FOLDER
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
DEPUTY = BUILD / 'deputy'
FLOAT = ROOT / 'examples/digits/digits_float.tflite'
IMAGES = ['--image', ROOT / 'examples/digits/images', '--labels',
            ROOT / 'examples/digits/labels.txt', '--expect-from-name']
STRICT = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror']
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, check=False,
                          text=True, stdin=subprocess.DEVNULL,
                          env={'PATH': '/usr/bin:/bin', **environment})


class NpuStubTest(unittest.TestCase):

    def deputy(self, *arguments, **environment):
        done = run(DEPUTY, *arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    @unittest.skipIf(SANITIZED, 'the library would have no sanitizer in it')
    def test_the_folder_builds_alone_and_runs(self):
        for compiler in ('gcc', 'clang'):
            if shutil.which(compiler) is None:
                continue
            with self.subTest(compiler=compiler), tempfile.TemporaryDirectory() as folder:
                copy = pathlib.Path(folder)
                shutil.copytree(ROOT / 'npu_stub', copy / 'npu_stub')
                library = copy / 'libmynpu.so'
                done = run(compiler, *STRICT, '-shared', '-fPIC', '-fvisibility=hidden',
                           '-D_POSIX_C_SOURCE=200809L', f'-I{copy}', f'-I{BUILD}/include',
                           *sorted((copy / 'npu_stub').glob('*.c')), '-o', library, '-lm', '-ldl',
                           '-pthread')
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(self.deputy('explain', FLOAT, '--delegate', library, '--json'))
                self.assertEqual(report['delegated'], 16)
                self.assertEqual(report['delegates'][0]['name'], 'npu_stub')

    def test_it_is_found_by_name(self):
        report = json.loads(self.deputy('explain', FLOAT, '--delegate', 'npu_stub', '--json'))
        self.assertEqual(report['delegates'][0]['nodes'], 16)
        self.assertEqual(report['subgraphs'][0]['partitions'][0]['nodes'], list(range(16)))
        text = self.deputy('bench', FLOAT, '--delegate', 'npu_stub', '--max_secs=0.1',
                           '--num_runs=1', '--warmup_runs=1')
        self.assertIn('16 nodes in npu_stub', text)
        self.assertIn('pretended NPU', self.deputy('devices', 'npu_stub'))

    def test_it_classifies_digits_like_the_cpu(self):
        on_cpu = self.deputy('run', FLOAT, *IMAGES).splitlines()
        on_npu = self.deputy('run', FLOAT, *IMAGES, '--delegate', 'npu_stub').splitlines()
        right = [line for line in on_cpu if 'accuracy' in line or 'right' in line]
        self.assertTrue(right, on_cpu[-5:])
        for line in right:
            self.assertIn(line, on_npu)

    def test_it_prints_its_graphs(self):
        report = json.loads(self.deputy('explain', FLOAT, '--delegate', 'npu_stub', '--ir',
                                        '--json'))
        stages = [text['stage'] for text in report['partition_texts']]
        self.assertEqual(stages, ['imported', 'laid out'])
        imported, laid_out = (text['text'].count(' = TRANSPOSE')
                              for text in report['partition_texts'])
        self.assertEqual(imported, 0)
        self.assertGreaterEqual(laid_out, 1)
        self.assertLessEqual(laid_out, 2)  # one conversion at each end of the nodes that require NCHW

    def test_an_absent_device_is_reported(self):
        report = json.loads(self.deputy('explain', FLOAT, '--delegate', 'npu_stub', '--json',
                                        DEPUTY_NPU='absent'))
        self.assertEqual(report['delegated'], 0)
        texts = [node['support'][0]['text'] for node in report['subgraphs'][0]['nodes']]
        self.assertEqual(set(texts), {'there is no NPU (DEPUTY_NPU=absent)'})
        done = run(DEPUTY, 'devices', 'npu_stub', DEPUTY_NPU='absent')
        self.assertEqual(done.returncode, 1)
        self.assertIn('none: ', done.stdout)

    def test_device_failures_degrade_or_fail_the_run(self):
        for faults, status, sign in (('load', 0, 'degraded'), ('run', 0, 'degraded'),
                                     ('slow,time_limit_ms=5', 0, 'degraded'), ('crash', -6, '')):
            with self.subTest(faults=faults):
                done = run(DEPUTY, 'run', FLOAT, '--random', '--delegate',
                           f'npu_stub,faults={faults}')
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(sign, done.stderr)


if __name__ == '__main__':
    unittest.main()
