#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the public headers agree with the ABI tables, in C and in C++.

    abi_layout_test.py BUILD_FOLDER

Writes a program of static assertions, one per row of tests/data/abi_layout.csv and abi_enums.csv, and
one redeclaration per function of abi_functions.csv, and compiles it with every compiler found. Rows of
delegates that Deputy does not have are skipped by name; no other row may be absent.
"""
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
LANGUAGES = {'c': ['-x', 'c', '-std=c11'], 'c++': ['-x', 'c++', '-std=c++17']}

# Deputy does not provide the delegates for Hexagon, Core ML, YNNPACK and GL (v1).
SKIPPED = re.compile(r'TfLite(Hexagon|CoreMl|YNNPack|Gl[A-Z]|GpuDelegateOptions$|'
                     r'GpuDelegate(OptionsDefault|Create|Delete|Bind\w+|GetModelMetadata)$)')
# Declarations of the asynchronous API's separate library; not required, because Deputy does not have it.
SEPARATE = re.compile(r'TfLite(Async|ExecutionTask)')

HEADERS = ['c_api.h', 'c_api_experimental.h', 'c_api_opaque.h', 'common.h', 'builtin_op_data.h',
           'builtin_ops.h', 'operator.h', 'async_types.h', 'interop_types.h', 'interop_constants.h',
           'interop_attribute_map.h', 'xnnpack_delegate.h', 'nnapi_delegate_c_api.h',
           'gpu_delegate.h', 'external_delegate.h', 'external_delegate_interface.h',
           'telemetry_profiler.h', 'telemetry_setting.h', 'stable_delegate.h']


def rows_of(name):
    with open(ROOT / 'tests/data' / name, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def layout_checks():
    """Yields (C expression, expected value)."""
    for row in rows_of('abi_layout.csv'):
        struct, field, size = row['struct'], row['field'], row['size']
        if SKIPPED.match(struct):
            continue
        if field == '<total>':
            yield f'sizeof({struct})', size
            continue
        yield f'offsetof({struct}, {field})', row['offset']
        if not row['c_type'].endswith('[]'):
            yield f'sizeof((({struct} *)0)->{field})', size


def enum_checks(language):
    for row in rows_of('abi_enums.csv'):
        enum, name, value = row['enum'], row['name'], row['value']
        if SKIPPED.match(enum):
            continue
        if enum == 'ExecutionPreference':  # nested in its struct
            prefix = 'TfLiteNnapiDelegateOptions::' if language == 'c++' else 'enum '
            enum = prefix + enum
            name = 'TfLiteNnapiDelegateOptions::' + name if language == 'c++' else name
        elif enum.startswith('TfLiteGpu'):  # these have a tag but no typedef
            enum = 'enum ' + enum
        suffix = 'LL' if value.startswith('-') else 'ULL'
        yield f'(unsigned long long)({name})', f'(unsigned long long)({value}{suffix})'
        if enum:
            yield f'sizeof({enum})', row['sizeof_enum']


def signatures():
    for row in rows_of('abi_functions.csv'):
        name, signature = row['function'], row['signature']
        ours = not row['header'].startswith('(') and '&' not in signature
        if ours and not SKIPPED.match(name) and not SEPARATE.match(name) and 'old' not in row[
                'exported_by_libtensorflowlite_c'].split():
            yield signature


def program(language, spoil=None):
    """Returns the program; the expected value of the expression `spoil` is made wrong."""
    lines = [f'#include "deputy/{header}"' for header in HEADERS]
    lines += ['#include <stddef.h>']
    assertion = 'static_assert' if language == 'c++' else '_Static_assert'
    lines.append(f'#define CHECK(a, b) {assertion}((a) == (b), #a " is not " #b)')
    for expression, value in [*layout_checks(), *enum_checks(language)]:
        lines.append(f'CHECK({expression}, {value}{" + 1" if expression == spoil else ""});')
    lines += ['#ifdef __cplusplus', 'extern "C" {', '#endif']
    lines += [signature + ';' for signature in signatures()]
    lines += ['#ifdef __cplusplus', '}', '#endif', 'int main(void) { return 0; }']
    return '\n'.join(lines) + '\n'


def compilers(language):
    names = ('gcc', 'clang') if language == 'c' else ('g++', 'clang++')
    return [name for name in names if shutil.which(name)]


def compile_program(compiler, language, text):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as source:
        source.write(text)
        source.flush()
        return subprocess.run(
            [compiler, *LANGUAGES[language], '-w', '-fsyntax-only', '-I', BUILD / 'include',
             source.name], capture_output=True, text=True, check=False)


class AbiLayoutTest(unittest.TestCase):

    def test_tables_are_complete(self):
        self.assertGreater(len(list(layout_checks())), 900)
        self.assertGreater(len(list(enum_checks('c'))), 650)
        self.assertGreater(len(list(signatures())), 220)

    def test_headers_agree_with_tables(self):
        for language in LANGUAGES:
            for compiler in compilers(language):
                with self.subTest(compiler=compiler):
                    done = compile_program(compiler, language, program(language))
                    self.assertEqual(done.returncode, 0, done.stderr[:4000])

    def test_wrong_numbers_and_signatures_are_detected(self):
        for language in LANGUAGES:
            for expression in ('sizeof(TfLiteTensor)', 'offsetof(TfLiteNode, delegate)',
                               '(unsigned long long)(kTfLiteBuiltinStablehloCase)'):
                text = program(language, spoil=expression)
                done = compile_program(compilers(language)[0], language, text)
                self.assertNotEqual(done.returncode, 0, expression)
            text = program(language).replace('int TfLiteSchemaVersion(void)',
                                             'int TfLiteSchemaVersion(int)')
            done = compile_program(compilers(language)[0], language, text)
            self.assertNotEqual(done.returncode, 0)


if __name__ == '__main__':
    unittest.main()
