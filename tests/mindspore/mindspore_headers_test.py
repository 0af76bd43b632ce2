#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the headers of MindSpore's API compile without a warning, alone and under all of their paths.

    mindspore_headers_test.py BUILD_FOLDER

C++ headers compile as C++17 and C++20 and without RTTI; headers of the C API also compile as C. Two files
that include all of them can be linked: every function is inline.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
INCLUDE = BUILD / 'include'
SOURCES = ROOT / 'mindspore/include'
COMPILERS = [name for name in ('g++', 'clang++') if shutil.which(name)]
FLAGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror', '-I', str(INCLUDE), '-I',
         str(INCLUDE / 'mindspore')]
# Folders of the headers in #include lines: those of MindSpore's source tree, and 'mindspore' for Deputy's own.
TREES = ('mindspore', 'mindspore/include/{api}', 'include/{api}', '{api}')


def headers():
    return sorted(str(path.relative_to(SOURCES)) for path in SOURCES.rglob('*.h'))


def paths_of(header):
    api = 'c_api' if header.endswith('_c.h') else 'api'
    return [f'{tree.format(api=api)}/{header}' for tree in TREES]


def including(paths):
    return ''.join(f'#include "{path}"\n' for path in paths)


def compile_text(compiler, standard, text, *options):
    """Returns the compiler's messages, after the command; empty if there are none."""
    language = 'c' if standard.startswith('c1') else 'c++'
    if language == 'c':
        compiler = {'g++': 'gcc', 'clang++': 'clang'}[compiler]
    command = [compiler, f'-std={standard}', *FLAGS, *(options or ['-fsyntax-only']), '-x', language, '-']
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0 and not done.stderr:
        return ''
    return f'{compiler} -std={standard}: {text.strip()[:80]}\n{done.stderr[:1500]}'


class MindSporeHeadersTest(unittest.TestCase):

    def expect_silence(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            messages = [text for text in pool.map(lambda job: compile_text(*job), jobs) if text]
        self.assertFalse(messages, '\n'.join(messages[:5]))

    def test_each_header_compiles_alone(self):
        names = [name for name in headers() if '/' not in name]
        self.assertTrue(names)
        self.expect_silence([(COMPILERS[-1], 'c++17', including([f'mindspore/{name}'])) for name in names])

    def test_headers_of_the_c_api_compile_as_c(self):
        names = [name for name in headers() if name.endswith('_c.h')]
        self.assertTrue(names)
        self.expect_silence([(compiler, 'c11', including([f'mindspore/{name}']))
                             for name in names for compiler in COMPILERS])

    def test_all_headers_compile_together_under_all_paths(self):
        names = [name for name in headers() if '/' not in name]
        paths = [path for name in names for path in paths_of(name)]
        paths += ['include/errorcode.h', 'include/kernel_interface.h', 'include/lite_types.h', 'mindspore/include/errorcode.h']
        for path in paths:
            self.assertTrue((INCLUDE / path).exists() or (INCLUDE / 'mindspore' / path).exists(), path)
        jobs = []
        for compiler in COMPILERS:
            jobs += [(compiler, 'c++17', including(paths), '-fsyntax-only', '-fno-rtti'),
                     (compiler, 'c++20', including(paths[::-1]))]
        self.expect_silence(jobs)

    def test_two_files_with_all_headers_link(self):
        names = [f'mindspore/{name}' for name in headers() if '/' not in name]
        library = BUILD / 'libdeputy_mindspore.so'
        if not library.exists():
            self.skipTest(f'{library} is not built')
        with tempfile.TemporaryDirectory() as folder:
            for name, body in (('a', 'int main() { mindspore::Model model; }'), ('b', '')):
                text = including(names) + body
                message = compile_text(COMPILERS[0], 'c++17', text, '-c', '-o', f'{folder}/{name}.o')
                self.assertEqual(message, '')
            subprocess.run([COMPILERS[0], f'{folder}/a.o', f'{folder}/b.o', library, BUILD / 'libdeputy.so',
                            '-o', f'{folder}/program'], check=True)


if __name__ == '__main__':
    unittest.main()
