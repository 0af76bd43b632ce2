#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles code of others for MindSpore Lite 2.x, unchanged, against Deputy's headers.

    DEPUTY_MINDSPORE_SOURCES=FOLDER mindspore_others_test.py BUILD_FOLDER [-v]

FOLDER contains fetched files; without the variable the test is skipped. A file with the suffix .cc or .cpp
compiles with -std=c++17 -Wall -Wextra -Werror; its own directory is in the include path. The file NAME.source
in the same directory, or a first line "// source: TEXT", states the origin. Files named *_main.cc are also linked.
The file NAME.run, or a line "// run: ARGUMENTS", has arguments with which they must return 0; the
word MODEL is replaced by the path of a model.

Warnings about the text of a file itself (its unused parameters, for example) do not fail the test, and their
files are counted, because the files are used as they are. Every warning in a header of Deputy fails it.
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
SOURCES = pathlib.Path(os.environ.get('DEPUTY_MINDSPORE_SOURCES') or '/nowhere').resolve()
INCLUDE = BUILD / 'include'
MODEL = ROOT / 'examples/conv_mean.tflite'
COMPILER = shutil.which('g++') or 'c++'
FLAGS = ['-std=c++17', '-Wall', '-Wextra', '-I', str(INCLUDE), '-I', str(INCLUDE / 'mindspore')]
LIBRARIES = [str(BUILD / 'libdeputy_mindspore.so'), str(BUILD / 'libdeputy.so'), '-lpthread',
             f'-Wl,-rpath,{BUILD}']


def files():
    return sorted(path for path in SOURCES.rglob('*') if path.suffix in ('.cc', '.cpp'))


def compile_file(path, *options):
    command = [COMPILER, *FLAGS, '-I', str(path.parent), *(options or ['-fsyntax-only']), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def judge(path):
    """Returns the file, whether it compiles without a warning, and the reason of a failure."""
    strict = compile_file(path, '-fsyntax-only', '-Werror')
    if strict.returncode == 0:
        return path, True, ''
    plain = compile_file(path)
    if plain.returncode != 0:
        return path, False, plain.stderr[:1500]
    own = [line for line in strict.stderr.splitlines() if re.match(rf'{re.escape(str(INCLUDE))}\S*: error', line)]
    return path, False, '\n'.join(own)


class MindSporeOthersTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not files():
            raise unittest.SkipTest(f'DEPUTY_MINDSPORE_SOURCES: no source files in {SOURCES}')

    def test_every_file_names_its_source(self):
        missing = [str(path) for path in files()
                   if not path.with_suffix('.source').exists()
                   and not path.read_text(encoding='utf-8').startswith('// source: ')]
        self.assertEqual(missing, [])

    def test_files_compile_unchanged(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            results = list(pool.map(judge, files()))
        failures = [f'{path.relative_to(SOURCES)}:\n{reason}' for path, _, reason in results if reason]
        silent = sum(clean for _, clean, _ in results)
        print(f'{len(results)} files, {silent} without a warning, {len(failures)} fail', file=sys.stderr)
        self.assertFalse(failures, '\n'.join(failures[:10]))

    def test_programs_link_and_run(self):
        for path in files():
            if not path.stem.endswith('_main'):
                continue
            text = path.read_text(encoding='utf-8')
            arguments = re.search(r'^// run: (.*)$', text, re.MULTILINE)
            sidecar = path.with_suffix('.run')
            line = sidecar.read_text(encoding='utf-8') if sidecar.exists() else arguments and arguments.group(1)
            with self.subTest(path=path), tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder) / 'program'
                built = compile_file(path, '-o', str(program), '-Wl,--no-as-needed', *LIBRARIES)
                self.assertEqual(built.returncode, 0, built.stderr[:1500])
                if line:
                    words = [str(MODEL) if word == 'MODEL' else word for word in line.split()]
                    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == '__main__':
    unittest.main()
