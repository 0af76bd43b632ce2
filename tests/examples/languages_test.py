#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the programs of examples/languages print the same bytes; each is built and run with the
commands in its first lines, against an installation. A program whose compiler or package is missing is
skipped, by name.

    languages_test.py BUILD_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SOURCES = ROOT / 'examples/languages'
MODEL = ROOT / 'examples/digits/digits_float.tflite'
IMAGES = sorted((ROOT / 'examples/digits/images').glob('*.png'))
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
JNA = pathlib.Path('/usr/share/java/jna.jar')

sys.path.insert(0, str(ROOT / 'examples'))
sys.dont_write_bytecode = True
from classify import read_png  # noqa: E402


@unittest.skipIf(SANITIZED, 'a sanitized library wants sanitized programs')
class LanguagesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='deputy-languages-'))
        prefix = cls.folder / 'installed'
        subprocess.run(['cmake', '--install', BUILD, '--prefix', prefix], check=True,
                       capture_output=True)
        cls.prefix = prefix
        cls.libraries = next(prefix.rglob('pkgconfig')).parent
        cls.images = cls.folder / 'images.raw'
        cls.images.write_bytes(b''.join(read_png(path)[2] for path in IMAGES))
        cls.environment = dict(
            os.environ, PKG_CONFIG_PATH=str(cls.libraries / 'pkgconfig'),
            LD_LIBRARY_PATH=str(cls.libraries), GOCACHE=str(cls.folder / 'go'),
            PYTHONPATH=str(ROOT / 'bindings/python'), PYTHONDONTWRITEBYTECODE='1')
        cls.environment.pop('DEPUTY_LIBRARY', None)
        words = cls.done('pkg-config', '--cflags', '--libs', 'deputy').split()
        cls.done('cc', SOURCES / 'digits.c', '-o', cls.folder / 'digits_c', *words)
        cls.expected = cls.done(cls.folder / 'digits_c', MODEL, cls.images)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def done(cls, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL, cwd=cls.folder,
                              env=cls.environment)
        if done.returncode:
            raise AssertionError(f'{command}: {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout

    def expect_same(self, *program):
        self.assertEqual(self.done(*program, MODEL, self.images), self.expected)

    def need(self, program, package):
        if shutil.which(program) is None:
            self.skipTest(f'{program} is not here (Debian: {package})')

    def test_c(self):
        lines = self.expected.splitlines()
        self.assertEqual(len(lines), len(IMAGES))
        right = sum(path.stem.endswith(f'_{line[0]}') for path, line in zip(IMAGES, lines))
        self.assertGreaterEqual(right, 0.96 * len(IMAGES))

    def test_cplusplus(self):
        (self.folder / 'CMakeLists.txt').write_text(f'''
cmake_minimum_required(VERSION 3.21)
project(digits LANGUAGES CXX)
find_package(Deputy REQUIRED)
add_executable(digits {SOURCES}/digits.cc)
target_link_libraries(digits PRIVATE Deputy::deputy)
''', encoding='utf-8')
        self.done('cmake', '-S', '.', '-B', 'cpp', '-G', 'Ninja', f'-DCMAKE_PREFIX_PATH={self.prefix}')
        self.done('cmake', '--build', 'cpp')
        self.expect_same(self.folder / 'cpp/digits')

    def test_python(self):
        for python in (sys.executable, '/usr/bin/python3'):
            if not subprocess.run([python, '-c', 'import numpy'], check=False,
                                  capture_output=True).returncode:
                return self.expect_same(python, SOURCES / 'digits.py')
        return self.skipTest('numpy is not here (Debian: python3-numpy)')

    def test_rust(self):
        self.need('rustc', 'rustc')
        words = self.done('pkg-config', '--libs', 'deputy').split()
        self.done('rustc', '-O', SOURCES / 'digits.rs', '-o', self.folder / 'digits_rust', *words)
        self.expect_same(self.folder / 'digits_rust')

    def test_go(self):
        self.need('go', 'golang-go')
        self.done('go', 'build', '-o', self.folder / 'digits_go', SOURCES / 'digits.go')
        self.expect_same(self.folder / 'digits_go')

    def test_java(self):
        self.need('javac', 'openjdk-17-jdk-headless')
        if not JNA.exists():
            self.skipTest(f'{JNA} is not here (Debian: libjna-java)')
        self.expect_same('java', '-cp', JNA, SOURCES / 'Digits.java')

    def test_javascript_add_on(self):
        self.need('node', 'nodejs')
        include = pathlib.Path('/usr/include/node')
        if not (include / 'node_api.h').exists():
            self.skipTest('node_api.h is not here (Debian: libnode-dev)')
        for name in ('digits_node.c', 'digits_node.mjs'):
            shutil.copy(SOURCES / name, self.folder / name)
        words = self.done('pkg-config', '--cflags', '--libs', 'deputy').split()
        self.done('cc', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', 'digits_node.c', f'-I{include}',
                  '-o', 'digits_node.node', *words)
        self.expect_same('node', self.folder / 'digits_node.mjs')
        failed = subprocess.run(['node', self.folder / 'digits_node.mjs', '/dev/null', self.images],
                                capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual(failed.returncode, 1)
        self.assertIn('Error: ', failed.stderr)

    def test_javascript(self):
        self.need('node', 'nodejs')
        program = self.folder / 'digits.mjs'
        shutil.copy(SOURCES / 'digits.mjs', program)
        found = subprocess.run(['node', '-e', 'require("koffi")'], check=False, capture_output=True)
        if found.returncode:
            self.skipTest('koffi is not here (npm install koffi; Debian has no such package)')
        self.expect_same('node', program)

    def test_lua(self):
        self.need('luajit', 'luajit')
        self.expect_same('luajit', SOURCES / 'digits.lua')


if __name__ == '__main__':
    unittest.main(verbosity=2)
