#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the headers in litert/include agree with the tables of docs/litert, in C and in C++.

    litert_layout_test.py BUILD_FOLDER

Writes a program of static assertions, one per field, type, enumerator and number of the tables, and one redeclaration
per function, and compiles it with every compiler found. The build folder provides TensorFlow Lite's headers. A table
of functions may be longer than in the headers of LiteRT: its version says what it has (docs/litert-abi.md).
"""

import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
INCLUDE = ROOT / 'litert/include'
LANGUAGES = {'c': ['-x', 'c', '-std=c11'], 'c++': ['-x', 'c++', '-std=c++17']}
MAY_GROW = ('LiteRtRuntimeContext', 'LiteRtCompilerContext')
# In C++ LiteRT's header defines it by a class of TensorFlow Lite.
OTHER_TYPE = ('LiteRtAllocation', 'LiteRtAllocationConst')
# Types that C knows by their tag alone.
STRUCT_TAGS = ('HwMemoryInfo', 'LiteRtCustomEventT', 'LiteRtCompilerPluginApi')
ENUM_TAGS = ('LiteRtMediatekOptionsNeronSDKVersionType',)
WITHOUT_C_LINKAGE = ('LiteRtCreateDispatchDelegate', 'LiteRtDestroyDispatchDelegate')
# Declared for Emscripten, and with LITERT_ENABLE_FABRIC_INTEGRATION.
OTHER_BUILDS = re.compile(
    r'kLiteRtHwAcceleratorWebNn|kLiteRtDispatchCapabilities(EdgeBufferBinding|Scratchpad)|'
    r'LiteRtDispatch(Attach|Detach)EdgeBuffer'
)
SKIPPED = 77


def rows_of(name):
    with open(ROOT / 'docs/litert' / name, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def layout_checks():
    """Yields (C expression, expected value)."""
    for row in rows_of('layouts.csv'):
        struct, field, offset, size = row['struct'], row['field'], row['offset'], row['size']
        struct = f'struct {struct}' if struct in STRUCT_TAGS else struct
        if field == '<total>' and struct in MAY_GROW:
            yield f'sizeof({struct}) >= {size}', 1
        elif field.startswith('<'):
            yield f'sizeof({struct})', size
        elif ':' not in offset:  # no bit field
            yield f'offsetof({struct}, {field})', offset
            if not row['c_type'].endswith('[]'):
                yield f'sizeof((({struct} *)0)->{field})', size


def enum_checks():
    for row in rows_of('enums.csv'):
        yield f'(long long)({row["name"]})', f'{row["value"]}LL'
        if row['enum']:
            tag = 'enum ' if row['enum'] in ENUM_TAGS else ''
            yield f'sizeof({tag}{row["enum"]})', row['sizeof_enum']


def constant_checks():
    """Macros with a number. Those of other files than headers of the C API are names in models."""
    for row in rows_of('constants.csv'):
        if not row['value'].startswith('"') and row['header'].startswith('litert/c/'):
            yield f'({row["constant"]})', row['value']


def all_checks():
    return [*layout_checks(), *enum_checks(), *constant_checks()]


def cpp_checks():
    """Yields static assertions on types and strings."""
    for row in rows_of('layouts.csv'):
        name = f'{row["struct"]}::{row["field"]}'
        if row['field'].startswith('<'):
            name = row['struct']
            if row['field'] != '<total>' and name not in OTHER_TYPE:
                yield f'static_assert(std::is_same<{name}, {row["c_type"]}>::value, "{name}");'
        elif ':' not in row['offset']:
            yield f'static_assert(std::is_same<decltype({name}), {row["c_type"]}>::value, "{name}");'
    for row in rows_of('constants.csv'):
        if row['value'].startswith('"') and row['header'].startswith('litert/c/'):
            yield f'static_assert(std::string_view({row["constant"]}) == {row["value"]}, "{row["constant"]}");'


def functions():
    """Rows of functions and variables that a header declares, also for C."""
    return [row for row in rows_of('functions.csv') if row['header'] and row['kind'] in ('function', 'data')]


def program(language, spoil=None):
    """Returns the program; the expected value of the expression `spoil` is made wrong."""
    assertion = 'static_assert' if language == 'c++' else '_Static_assert'
    lines = [f'#include "{path.relative_to(INCLUDE)}"' for path in sorted(INCLUDE.rglob('*.h'))]
    lines += ['#include <stddef.h>', f'#define CHECK(a, b) {assertion}((a) == (b), #a " is not " #b)']
    for expression, value in all_checks():
        lines.append(f'CHECK({expression}, {value}{" + 1" if expression == spoil else ""});')
    if language == 'c++':
        lines += ['#include <string_view>', '#include <type_traits>', *cpp_checks()]
    for row in functions():
        c_linkage = language == 'c++' and row['function'] not in WITHOUT_C_LINKAGE
        lines.append(f'CHECK(sizeof(&{row["function"]}), 8);')  # an error if it is not declared
        lines.append(f'extern "C" {{ extern {row["signature"]}; }}' if c_linkage else f'extern {row["signature"]};')
    return '\n'.join(lines) + '\n'


# Bit fields have no constant offset in C.
BIT_FIELDS = """
#include "litert/c/litert_layout.h"
int main(void) {
  union { unsigned char bytes[sizeof(LiteRtLayout)]; LiteRtLayout layout; } u = {{0}};
  u.layout.rank = 5;
  u.layout.has_strides = 1;
  return u.bytes[0] == (5 | 1 << 7) && u.bytes[1] == 0 ? 0 : 1;
}
"""


def compilers(language):
    names = ('gcc', 'clang') if language == 'c' else ('g++', 'clang++')
    return [name for name in names if shutil.which(name)]


def compile_program(compiler, language, text, output=None):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as source:
        source.write(text)
        source.flush()
        mode = ['-o', output] if output else ['-fsyntax-only']
        return subprocess.run(
            [compiler, *LANGUAGES[language], '-w', *mode, '-I', INCLUDE, '-I', BUILD / 'include', source.name],
            capture_output=True,
            text=True,
            check=False,
        )


def declared_names():
    """Returns the names that begin with LiteRt, Lrt or kLiteRt in declarations of our headers."""
    text = '\n'.join(path.read_text(encoding='utf-8') for path in INCLUDE.rglob('*.h'))
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"[^"]*"', '', text, flags=re.DOTALL)
    return (
        set(re.findall(r'\b(k(?:LiteRt|Lrt)\w+)\s*(?:=|,)', text)),
        set(re.findall(r'^\w[\w *]*?\b((?:LiteRt|Lrt)\w+)\(', text, re.MULTILINE)),
    )


class LitertLayoutTest(unittest.TestCase):

    def test_tables_are_complete(self):
        self.assertGreater(len(list(layout_checks())), 1000)
        self.assertGreater(len(list(enum_checks())), 1000)
        self.assertGreater(len(functions()), 700)

    def test_headers_agree_with_tables(self):
        for language in LANGUAGES:
            for compiler in compilers(language):
                with self.subTest(compiler=compiler):
                    done = compile_program(compiler, language, program(language))
                    self.assertEqual(done.returncode, 0, done.stderr[:4000])

    def test_rank_and_has_strides_are_in_the_first_byte(self):
        for language in LANGUAGES:
            for compiler in compilers(language):
                with self.subTest(compiler=compiler), tempfile.TemporaryDirectory() as folder:
                    done = compile_program(compiler, language, BIT_FIELDS, os.path.join(folder, 'program'))
                    self.assertEqual(done.returncode, 0, done.stderr[:4000])
                    self.assertEqual(subprocess.run([os.path.join(folder, 'program')], check=False).returncode, 0)

    # A name without a row could change unnoticed.
    def test_headers_declare_only_names_of_the_tables(self):
        enumerators, found = declared_names()
        rows = {row['name'] for row in rows_of('enums.csv')} | {row['constant'] for row in rows_of('constants.csv')}
        rows |= {row['function'] for row in rows_of('functions.csv')}
        self.assertEqual({name for name in (enumerators | found) - rows if not OTHER_BUILDS.fullmatch(name)}, set())

    def test_wrong_numbers_and_signatures_are_detected(self):
        for language in LANGUAGES:
            compiler = compilers(language)[0]
            for expression in (
                'sizeof(LiteRtLayout)',
                'offsetof(LiteRtDispatchInterface, attach_input)',
                'sizeof(LiteRtCompilerContext) >= 1104',
                '(long long)(kLiteRtStatusErrorWrongVersion)',
                '(LITERT_TENSOR_MAX_RANK)',
            ):
                self.assertNotEqual(
                    compile_program(compiler, language, program(language, spoil=expression)).returncode, 0, expression
                )
            for right, wrong in (
                ('LiteRtDestroyModel(LiteRtModel model)', 'LiteRtDestroyModel(int model)'),
                ('sizeof(&LiteRtDestroyModel)', 'sizeof(&LiteRtDestroyModell)'),
            ):
                text = program(language)
                self.assertIn(right, text)
                self.assertNotEqual(compile_program(compiler, language, text.replace(right, wrong)).returncode, 0, right)


if __name__ == '__main__':
    if not INCLUDE.exists():
        print(f'skipped: no headers in {INCLUDE}')
        sys.exit(SKIPPED)
    unittest.main()
