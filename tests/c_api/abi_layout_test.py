#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the public headers agree with the ABI tables, in C and in C++.

    abi_layout_test.py BUILD_FOLDER

Writes a program of static assertions, one per row of tests/data/abi_layout.csv and abi_enums.csv, and
one redeclaration per function of abi_functions.csv, and compiles it with every compiler found. Rows of
delegates that Deputy does not have are skipped by name; no other row may be absent.

tests/data/deputy_*.csv have what programs compile in from Deputy's own headers, in their first release:
fields, numbers, functions and types of callbacks. A struct that contains its size may grow at its end, and
functions, numbers and structs may be added, with new rows. Everything else breaks programs that were
compiled with older headers, also those in C++: programs import only C functions from the library.
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

HEADERS = ['c_api.h', 'c_api_experimental.h', 'c_api_opaque.h', 'common.h', 'builtin_op_data.h',
           'builtin_ops.h', 'operator.h', 'async_types.h', 'interop_types.h', 'interop_constants.h',
           'interop_attribute_map.h', 'async_kernel.h', 'async_signature_runner.h', 'async_task.h',
           'xnnpack_delegate.h', 'nnapi_delegate_c_api.h', 'gpu_delegate.h', 'external_delegate.h',
           'external_delegate_interface.h', 'telemetry_profiler.h', 'telemetry_setting.h', 'stable_delegate.h']
DEPUTY_HEADERS = ['deputy.h', 'deputy_graph.h', 'deputy_plugin.h', 'deputy_cpu.h', 'deputy_gpu.h',
                  'deputy_layers.h', 'deputy_devices.h', 'deputy_async.h',
                  'deputy_placement.h', 'deputy_precision.h', 'deputy_plugin_async.h',
                  'deputy_compiled.h', 'deputy_state.h', 'deputy_layout.h',
                  'deputy_plugin_layout.h', 'deputy_process.h']


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


def deputy_layout_checks():
    """Yields (C expression, expected value). Structs without their size in them, and those that a function
    returns by value, may not grow."""
    rows = rows_of('deputy_layout.csv')
    may_grow = {row['struct'] for row in rows if row['field'] == 'struct_size'}
    may_grow -= {row['signature'].split()[0] for row in rows_of('deputy_functions.csv')}
    for row in rows:
        struct, field, size = row['struct'], row['field'], row['size']
        if field == '<total>':
            yield (f'sizeof({struct}) >= {size}', 1) if struct in may_grow else (f'sizeof({struct})', size)
            continue
        yield f'offsetof({struct}, {field})', row['offset']
        yield f'sizeof((({struct} *)0)->{field})', size


def deputy_field_types():
    """Yields static assertions in C++."""
    for row in rows_of('deputy_layout.csv'):
        if row['field'] != '<total>':
            yield (f'static_assert(std::is_same<decltype({row["struct"]}::{row["field"]}), {row["c_type"]}>::value, '
                   f'"{row["struct"]}::{row["field"]}");')


def deputy_enum_checks():
    for row in rows_of('deputy_enums.csv'):
        yield f'(long long){row["name"]}', row['value']
        yield f'sizeof({row["enum"]})', row['sizeof_enum']


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
        if ours and not SKIPPED.match(name) and 'old' not in row[
                'exported_by_libtensorflowlite_c'].split():
            yield signature


def program(language, spoil=None):
    """Returns the program; the expected value of the expression `spoil` is made wrong."""
    lines = [f'#include "deputy/{header}"' for header in HEADERS + DEPUTY_HEADERS]
    lines += ['#include <stddef.h>']
    assertion = 'static_assert' if language == 'c++' else '_Static_assert'
    lines.append(f'#define CHECK(a, b) {assertion}((a) == (b), #a " is not " #b)')
    for expression, value in [*layout_checks(), *enum_checks(language), *deputy_layout_checks(),
                              *deputy_enum_checks()]:
        lines.append(f'CHECK({expression}, {value}{" + 1" if expression == spoil else ""});')
    if language == 'c++':
        lines += ['#include <type_traits>', *deputy_field_types()]
    lines += ['#ifdef __cplusplus', 'extern "C" {', '#endif']
    lines += [signature + ';' for signature in signatures()]
    lines += [row['signature'] + ';' for row in rows_of('deputy_functions.csv')]
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


def declarations(header):
    """Returns a header of Deputy without comments."""
    text = (ROOT / 'c_api/include' / header).read_text(encoding='utf-8')
    return re.sub(r'//[^\n]*|/\*.*?\*/', '', text, flags=re.DOTALL)


class AbiLayoutTest(unittest.TestCase):

    def test_tables_are_complete(self):
        self.assertGreater(len(list(layout_checks())), 900)
        self.assertGreater(len(list(enum_checks('c'))), 650)
        self.assertGreater(len(list(signatures())), 220)

    # A declaration without a row could change unnoticed.
    def test_tables_of_deputy_have_every_declaration(self):
        text = ''.join(map(declarations, DEPUTY_HEADERS))
        functions = rows_of('deputy_functions.csv')
        for what, declared, rows in (
                ('structs', re.findall(r'\bstruct (\w+) \{', text),
                 [row['struct'] for row in rows_of('deputy_layout.csv')]),
                ('numbers', re.findall(r'\bkDeputy\w+', text), [row['name'] for row in rows_of('deputy_enums.csv')]),
                ('functions', re.findall(r'\b(Deputy\w+)\s*\((?!\s*\*)', text),
                 [row['function'] for row in functions if not row['signature'].startswith('typedef')]),
                ('callbacks', re.findall(r'typedef\s[^;{}]*?\(\*(Deputy\w+)\)', text),
                 [row['function'] for row in functions if row['signature'].startswith('typedef')])):
            self.assertEqual(sorted(set(declared)), sorted(set(rows)), what)

    # No class of the C++ API crosses the boundary: a program has those that it was compiled with.
    def test_programs_in_cpp_import_only_c_functions(self):
        if 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8'):
            self.skipTest('a sanitized program imports more')
        known = {row['function'] for name in ('abi_functions.csv', 'deputy_functions.csv') for row in rows_of(name)}
        for name in ('examples/classify_cpp', 'tests/cpp_api_tests'):
            if not (BUILD / name).exists():
                self.skipTest(f'{name} is not built')
            imported = subprocess.run(['nm', '-D', '--undefined-only', BUILD / name], capture_output=True,
                                      text=True, check=True).stdout
            names = set(re.findall(r' U (\w+)@(?:DEPUTY|VERS)_1\.0$', imported, re.MULTILINE))
            self.assertGreater(len(names), 10)
            self.assertEqual(names - known, set())
            self.assertNotRegex(imported, r'6tflite|6deputy')

    def test_headers_agree_with_tables(self):
        for language in LANGUAGES:
            for compiler in compilers(language):
                with self.subTest(compiler=compiler):
                    done = compile_program(compiler, language, program(language))
                    self.assertEqual(done.returncode, 0, done.stderr[:4000])

    def test_wrong_numbers_and_signatures_are_detected(self):
        for language in LANGUAGES:
            for expression in ('sizeof(TfLiteTensor)', 'offsetof(TfLiteNode, delegate)',
                               '(unsigned long long)(kTfLiteBuiltinStablehloCase)',
                               'offsetof(DeputyNode, registration)', 'sizeof(DeputyNode)',
                               'sizeof(DeputyLimits) >= 32', '(long long)kDeputyPolicyHot'):
                text = program(language, spoil=expression)
                done = compile_program(compilers(language)[0], language, text)
                self.assertNotEqual(done.returncode, 0, expression)
            for right, wrong in (('int TfLiteSchemaVersion(void)', 'int TfLiteSchemaVersion(int)'),
                                 ('DeputyVersion(void);', 'DeputyVersion(int);'),
                                 ('(*DeputyProfileCallback)(void* user_data,', '(*DeputyProfileCallback)(int,')):
                text = program(language)
                self.assertIn(right, text)
                done = compile_program(compilers(language)[0], language, text.replace(right, wrong))
                self.assertNotEqual(done.returncode, 0, right)


if __name__ == '__main__':
    unittest.main()
