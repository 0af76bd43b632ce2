#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that LiteRT's headers in litert/include compile, alone and together, as C11 and C++, without other files.

    litert_headers_test.py BUILD_FOLDER

The programs in tests/litert/programs are compiled only: a client, a dispatch plug-in and a compiler plug-in. The
build folder provides TensorFlow Lite's headers, with which LiteRT's must compile as well.
"""
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
INCLUDE = ROOT / 'litert/include'
PROGRAMS = ROOT / 'tests/litert/programs'
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob('*.h'))
WARNINGS = ['-Wall', '-Wextra', '-Werror', '-pedantic']
C_MODES = [[compiler, '-x', 'c', '-std=c11'] for compiler in ('gcc', 'clang') if shutil.which(compiler)]
CPP_MODES = [[compiler, '-x', 'c++', f'-std={standard}'] for compiler in ('g++', 'clang++')
             if shutil.which(compiler) for standard in ('c++17', 'c++20')]

# Pairs of names that differ in more than their prefix: LiteRT's operator code, TensorFlow Lite's builtin operator.
OTHER_OPERATORS = {'shlogeneral': 'stablehlodotgeneral', 'shlowindow': 'stablehloreducewindow',
                   'tflplaceholderforgreateropcodetfls': 'placeholderforgreateropcodes'}
OTHER_TYPES = {'none': 'notype', 'tfresource': 'resource', 'tfstring': 'string', 'tfvariant': 'variant'}


def includes(headers):
    return ''.join(f'#include "{header}"\n' for header in headers)


def complaint(job):
    """Compiles a text or a file, and returns the compiler's messages; '' if there are none."""
    mode, arguments, text = job
    source = [] if text is None else ['-']
    done = subprocess.run([*mode, *WARNINGS, '-fsyntax-only', '-I', INCLUDE, *arguments, *source], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode == 0 and not done.stderr:
        return ''
    return f'{mode} {arguments} {(text or "")[:60]}\n{done.stderr[:1500]}'


def enum_values(path, pattern):
    """Returns {value: name without the prefix, in lower case} of the matching constants of a header."""
    text = (ROOT / path).read_text(encoding='utf-8')
    return {int(value): name.lower() for name, value in re.findall(rf'\b{pattern}(\w+) = (\d+),', text)}


def member_of(function):
    """Returns the name of a function in a context: LiteRtBuilderBuildConv2dOpOption is build_conv_2d_op_option."""
    words = re.findall(r'[A-Z][a-z0-9]*', re.sub(r'^LiteRt(Builder)?', '', function))
    return re.sub(r'(conv|pool)(\dd)', r'\1_\2', '_'.join(words).lower())


class LiteRtHeadersTest(unittest.TestCase):

    def expect_silence(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            complaints = [text for text in pool.map(complaint, jobs) if text]
        self.assertFalse(complaints, '\n'.join(complaints[:5]))

    def symbols(self, name, mode):
        """Compiles a program and returns its (defined, undefined) global symbols."""
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / 'program.o'
            subprocess.run([*mode, '-O0', '-I', INCLUDE, '-c', PROGRAMS / name, '-o', output], check=True)
            lines = subprocess.run(['nm', '-g', output], capture_output=True, text=True, check=True).stdout
        kinds = [line.split()[-2:] for line in lines.splitlines()]
        return ({name for kind, name in kinds if kind in 'TDBR'}, {name for kind, name in kinds if kind == 'U'})

    def test_every_header_of_litert_is_there(self):
        self.assertEqual([len([name for name in HEADERS if name.startswith(folder)]) for folder in
                          ('litert/c/litert_', 'litert/c/internal/litert_', 'litert/c/options/litert_', 'litert/vendors/c/')],
                         [28, 20, 12, 4])

    def test_each_header_compiles_alone(self):
        self.expect_silence([(mode, [], includes([header]))
                             for header in HEADERS for mode in (C_MODES[0], CPP_MODES[0])])

    def test_all_headers_compile_together_in_every_mode(self):
        self.expect_silence([(mode, defines, includes(headers)) for mode in C_MODES + CPP_MODES
                             for headers, defines in ((HEADERS, []),
                                                      (HEADERS[::-1], ['-DLITERT_ENABLE_FABRIC_INTEGRATION']))])

    def test_headers_compile_before_and_after_those_of_tensorflow_lite(self):
        other = ['tflite/c/common.h', 'tflite/c/c_api.h']
        include = ['-I', BUILD / 'include']
        self.expect_silence([(mode, include + defines, includes(headers)) for mode in (C_MODES[0], CPP_MODES[-1])
                             for headers in (HEADERS + other, other + HEADERS)
                             for defines in ([], ['-DTFLITE_USE_OPAQUE_DELEGATE=1'])])

    def test_declared_types_agree_with_complete_ones(self):
        headers = HEADERS + ['c_api/include/common.h']  # TensorFlow Lite's paths are not in the include path
        self.expect_silence([(mode, ['-I', ROOT] + defines, includes(headers)) for mode in (C_MODES[0], CPP_MODES[0])
                             for defines in ([], ['-DTFLITE_USE_OPAQUE_DELEGATE=1'])])

    def test_members_for_fabric_are_optional(self):
        text = (includes(['litert/vendors/c/litert_dispatch_api.h'])
                + 'int size[sizeof(LiteRtDispatchInterface) + sizeof(LiteRtDispatchGraphInterface) == %d ? 1 : -1];\n')
        for defines, members in (([], 42), (['-DLITERT_ENABLE_FABRIC_INTEGRATION'], 46)):
            self.expect_silence([(C_MODES[0], defines, text % (members * struct.calcsize('P')))])

    def test_contexts_end_with_the_members_of_the_released_library(self):
        with open(ROOT / 'docs/litert/contexts.csv', encoding='utf-8', newline='') as file:
            rows = list(csv.DictReader(file))
        self.assertGreater(len(rows), 30)
        text = includes(['litert/c/internal/litert_compiler_context.h', 'litert/c/internal/litert_runtime_context.h'])
        for row in rows:
            text += f'_Static_assert(offsetof({row["struct"]}, {member_of(row["function"])}) == {row["offset"]}, "");\n'
        self.expect_silence([(mode, [], text) for mode in C_MODES])

    def test_programs_compile(self):
        self.expect_silence([(mode, [PROGRAMS / name], None) for name in ('compiled_model.c', 'dispatch_plugin.c')
                             for mode in C_MODES]
                            + [(mode, [PROGRAMS / 'compiler_plugin.cc'], None) for mode in CPP_MODES])

    def test_a_client_needs_only_functions_marked_as_exported(self):
        exported = {name for header in HEADERS for name in re.findall(
            r'^LITERT_CAPI_EXPORT[^;(]*?(\w+)\(', (INCLUDE / header).read_text(encoding='utf-8'), re.MULTILINE)}
        self.assertGreater(len(exported), 400)
        needed = {name for name in self.symbols('compiled_model.c', C_MODES[0])[1] if name.startswith('LiteRt')}
        self.assertGreater(len(needed), 50)
        self.assertEqual(needed - exported, set())

    def test_plugins_need_no_functions_of_the_host(self):
        defined, needed = self.symbols('dispatch_plugin.c', C_MODES[0])
        self.assertEqual(defined, {'LiteRtDispatchGetApi'})
        self.assertFalse([name for name in needed if 'LiteRt' in name])
        defined, needed = self.symbols('compiler_plugin.cc', CPP_MODES[0])
        self.assertEqual(len([name for name in defined if re.fullmatch(r'LiteRt\w+', name)]), 18)
        self.assertFalse([name for name in needed if 'LiteRt' in name])

    def test_operator_codes_are_those_of_tensorflow_lite(self):
        codes = enum_values('litert/include/litert/c/litert_op_code.h', 'kLiteRtOpCode')
        operators = enum_values('c_api/include/builtin_ops.h', 'kTfLiteBuiltin')
        self.assertEqual(len(codes), 207)
        for value, name in codes.items():
            plain = name.removeprefix('tfl') if name.startswith('tfl') else name.replace('shlo', 'stablehlo', 1)
            self.assertEqual(OTHER_OPERATORS.get(name, plain), operators[value], value)

    def test_element_types_are_those_of_tensorflow_lite(self):
        types = enum_values('litert/include/litert/c/litert_model_types.h', 'kLiteRtElementType')
        expected = enum_values('c_api/include/c_api_types.h', 'kTfLite')
        self.assertEqual(len(types), 24)
        for value, name in types.items():
            self.assertEqual(OTHER_TYPES.get(name, name), expected[value], value)


if __name__ == '__main__':
    unittest.main()
