#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An installation is complete and usable: `cmake --install` into an empty folder, then a client is
built from there with nothing but pkg-config's words, for each of the two libraries, and run.

    install_test.py BUILD_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
CACHE = (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in CACHE
MODEL = ROOT / 'examples/digits/digits_int8.tflite'


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)


@unittest.skipIf(SANITIZED, 'a sanitized library wants a sanitized client')
class InstallTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix='deputy-install-'))
        done = run('cmake', '--install', BUILD, '--prefix', cls.prefix)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.package_folder = next(cls.prefix.rglob('pkgconfig'))
        cls.libraries = cls.package_folder.parent

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.prefix)

    def expect_success(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_part_is_in_its_place(self):
        for path in ('bin/deputy', 'include/deputy/deputy.h', 'include/deputy/c_api.h',
                     'include/tensorflow/lite/c/c_api.h', 'include/tflite/c/c_api.h',
                     'include/tflite/converter/core/c/tflite_types.h',
                     'include/tensorflow/compiler/mlir/lite/core/c/builtin_op_data.h',
                     'include/mindspore/model_c.h', 'include/mindspore/include/api/delegate.h'):
            self.assertTrue((self.prefix / path).is_file(), path)
        for path in ('libdeputy.so', 'libdeputy.so.1', 'deputy/drop-in/libtensorflowlite_c.so',
                     'libdeputy_mindspore.so', 'libdeputy_mindspore.so.1', 'pkgconfig/deputy.pc',
                     'pkgconfig/deputy_mindspore.pc', 'pkgconfig/tensorflowlite_c.pc'):
            self.assertTrue((self.libraries / path).is_file(), path)

    def test_installed_command_finds_xnnpack(self):
        if not (BUILD / 'libdeputy_xnnpack.so').exists():
            self.skipTest('Deputy is built without XNNPACK')
        environment = {key: value for key, value in os.environ.items() if key != 'LD_LIBRARY_PATH'}
        told = self.expect_success(run(self.prefix / 'bin/deputy', 'explain', MODEL, '--use_xnnpack',
                                       env=environment))
        self.assertIn('runs 12 of 16 nodes', told)

    def test_installed_command_finds_its_library(self):
        environment = {key: value for key, value in os.environ.items() if key != 'LD_LIBRARY_PATH'}
        self.expect_success(run(self.prefix / 'bin/deputy', 'inspect', MODEL, env=environment))

    def test_client_builds_with_pkg_config_and_runs(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.package_folder))
        outputs = []
        for package in ('tensorflowlite_c', 'deputy'):
            words = self.expect_success(
                run('pkg-config', '--cflags', '--libs', package, env=environment)).split()
            client = self.prefix / f'client_{package}'
            self.expect_success(run('cc', '-Wall', '-Werror', ROOT / 'examples/link_client.c',
                                    '-o', client, *words))
            outputs.append(self.expect_success(
                run(client, MODEL, env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries)))))
        self.assertEqual(outputs[0], outputs[1])
        self.assertIn('TensorFlow Lite 2.19.0', outputs[0])

    def test_delegate_for_mindspore_builds_outside_the_tree_and_runs(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.package_folder))
        words = self.expect_success(
            run('pkg-config', '--cflags', '--libs', 'deputy_mindspore', env=environment)).split()
        client = self.prefix / 'mindspore_delegate'
        self.expect_success(run('c++', '-std=c++17', '-Wall', '-Werror',
                                ROOT / 'examples/mindspore_delegate.cc', '-o', client, *words))
        printed = self.expect_success(run(
            client, ROOT / 'examples/conv_mean.tflite',
            env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))))
        self.assertIn('NpuGraph1', printed)


if __name__ == '__main__':
    unittest.main(verbosity=2)
