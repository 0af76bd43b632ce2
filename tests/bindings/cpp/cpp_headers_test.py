#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the headers of TensorFlow Lite's C++ API compile without a warning, in C++17 and C++20.

    cpp_headers_test.py BUILD_FOLDER

Each header compiles alone. All of them compile together, in both orders and with each compiler that is
installed, and two files that include all of them can be linked: every function is inline.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
INCLUDE = BUILD / 'include'
SOURCES = ROOT / 'bindings/cpp'
COMPILERS = [name for name in ('g++', 'clang++') if shutil.which(name)]
FLAGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-I', str(INCLUDE)]


# Headers that CMake generates from the schema.
GENERATED = [f'tensorflow/lite/schema/{name}.h' for name in ('builtin_operator', 'schema_generated')]


def headers():
    return sorted([str(path.relative_to(SOURCES)) for path in SOURCES.rglob('*.h')] + GENERATED)


def forwarding_headers():
    """Returns the additional paths: those of header_paths.txt, and a path below tflite/ for each header."""
    lines = (SOURCES / 'header_paths.txt').read_text(encoding='utf-8').splitlines()
    return ([line.split(' > ')[0] for line in lines if line and not line.startswith('#')]
            + [re.sub('^tensorflow/lite/', 'tflite/', path) for path in headers()])


def including(paths):
    return ''.join(f'#include "{path}"\n' for path in paths)


def compile_text(compiler, standard, text, *options):
    """Returns the compiler's messages, after the command; empty if there are none."""
    command = [compiler, f'-std={standard}', *FLAGS, *(options or ['-fsyntax-only']), '-x', 'c++', '-']
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0 and not done.stderr:
        return ''
    return f'{compiler} -std={standard}: {text.strip()[:80]}\n{done.stderr[:1500]}'


class CppHeadersTest(unittest.TestCase):

    def expect_silence(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            messages = [text for text in pool.map(lambda job: compile_text(*job), jobs) if text]
        self.assertFalse(messages, '\n'.join(messages[:5]))

    def test_each_header_compiles_alone(self):
        paths = headers()
        self.assertTrue(paths)
        self.expect_silence([(COMPILERS[-1], 'c++17', including([path])) for path in paths])

    def test_all_headers_compile_together_in_both_orders(self):
        paths = headers()
        jobs = []
        for i, compiler in enumerate(COMPILERS):
            jobs += [(compiler, 'c++17', including(paths if i else paths[::-1])),
                     (compiler, 'c++20', including(paths[::-1] if i else paths))]
        self.expect_silence(jobs)

    def test_forwarding_headers_are_installed_and_compile_together(self):
        self.expect_silence([(COMPILERS[0], 'c++17', including(forwarding_headers()))])

    def test_schema_accepts_newer_flatbuffers_and_rejects_older_ones(self):
        for version, accepted in ((99, True), (1, False)):
            text = ('#include "flatbuffers/flatbuffers.h"\n#undef FLATBUFFERS_VERSION_MAJOR\n'
                    f'#define FLATBUFFERS_VERSION_MAJOR {version}\n#include "tensorflow/lite/model.h"\n')
            messages = compile_text(COMPILERS[0], 'c++17', text)
            self.assertEqual(messages == '', accepted, messages)
            self.assertEqual('or newer are required' in messages, not accepted, messages)

    def test_two_files_that_include_all_headers_link(self):
        with tempfile.TemporaryDirectory() as folder:
            objects = [f'{folder}/{name}.o' for name in ('first', 'second')]
            self.assertEqual(compile_text('g++', 'c++17', including(headers()), '-c', '-o', objects[0]), '')
            shutil.copy(*objects)
            done = subprocess.run(['ld', '-r', '-o', f'{folder}/both.o', *objects], capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == '__main__':
    unittest.main()
