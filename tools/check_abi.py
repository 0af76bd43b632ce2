#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the ABI of the built libraries with the recorded one, by libabigail.

    check_abi.py BUILD_FOLDER              the libraries of a build
    check_abi.py --self-test BUILD_FOLDER  plants a change of each kind and checks that it is found
    check_abi.py --write BUILD_FOLDER      records the ABI in tests/data/abi (make abi-dump)

A removed function, another prototype and another layout of a public type are faults. New functions are not, nor are
new members at the end of Deputy's structs, whose users pass their size (suppressions.ini).

The libraries have no debug information about types. Their ABI is that of a small library with one variable per
exported function, of the type of a pointer to it, and one per public type, compiled from the public headers.
"""
import argparse
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from check_symbols import exports_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / 'tests/data/abi'
LIBRARIES = {'libdeputy.so.1': 'libdeputy.so.1', 'libtensorflowlite_c.so': 'drop-in/libtensorflowlite_c.so'}
ABIDW = ['abidw', '--drop-private-types', '--no-corpus-path', '--no-comp-dir-path', '--no-show-locs',
         '--no-parameter-names', '--no-elf-needed', '--type-id-style', 'hash']


def source_of(exports, headers):
    """Returns C source of the variables. A function without a prototype, of an older version of TensorFlow Lite,
    has only its name."""
    text = ''.join(path.read_text(encoding='utf-8') for path in headers)
    words = set(re.findall(r'\w+', text))
    lines = [f'#include "deputy/{path.name}"' for path in headers]
    for name, node in sorted(exports.items()):
        kind = f'__typeof__(&{name})' if name in words else 'int'
        lines.append(f"{kind} {name}__{node.replace('.', '_')};")
    lines += [f'{name}* type_{name};' for name in sorted(set(re.findall(r'^\}\s*(\w+);', text, re.MULTILINE)))]
    return '\n'.join(lines) + '\n'


def describe(exports, include, folder):
    """Writes libabigail's description of the functions, as the headers declare them; returns its path."""
    source, library, description = (folder / name for name in ('abi.c', 'abi.so', 'found.abi'))
    source.write_text(source_of(exports, sorted((include / 'deputy').glob('*.h'))), encoding='utf-8')
    subprocess.run(['cc', '-g', '-shared', '-fPIC', '-nostdlib', '-I', include, '-o', library, source], check=True)
    subprocess.run([*ABIDW, '--out-file', description, library], check=True)
    return description


def abidiff(*words):
    """Returns the report; '' if there are no differences but new functions."""
    result = subprocess.run(['abidiff', '--no-added-syms', *words], check=False, capture_output=True, text=True)
    return '' if result.returncode == 0 else result.stdout + result.stderr or f'abidiff: exit code {result.returncode}'


def differences(recorded, found):
    """Returns the report of changes that are not additions; '' without any."""
    report = abidiff('--suppressions', RECORDS / 'suppressions.ini', recorded, found)
    if report:
        return report
    # The suppression applies to every struct with a new member, also if others have moved.
    report = abidiff(recorded, found)
    return report if re.search('data member (change|deletion)', report) else ''


def unpacked(name, folder):
    path = folder / f'{name}.abi'
    path.write_bytes(lzma.decompress((RECORDS / f'{name}.abi.xz').read_bytes()))
    return path


def check(build):
    for name, path in LIBRARIES.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            found = describe(exports_of(build / path), build / 'include', folder)
            report = differences(unpacked(name, folder), found)
            if report:
                yield f'{name} differs from {RECORDS.relative_to(ROOT)}/{name}.abi.xz:\n{report}'


def write(build):
    for name, path in LIBRARIES.items():
        with tempfile.TemporaryDirectory() as folder:
            found = describe(exports_of(build / path), build / 'include', pathlib.Path(folder))
            (RECORDS / f'{name}.abi.xz').write_bytes(lzma.compress(found.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


# Changes of a header: file, text, new text, and a part of the report; '' if the change is compatible.
SEEDS = {
    'a removed member': ('common.h', '  TfLiteQuantizationParams params;', '', 'TfLiteTensor'),
    'a member of another type': ('common.h', '  size_t bytes;', '  int bytes;', 'TfLiteCustomAllocation'),
    'another argument': ('c_api.h', 'TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter)',
                         'TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter, int n)',
                         'TfLiteInterpreterInvoke'),
    'another result': ('deputy.h', 'const char* DeputyVersion(void)', 'int DeputyVersion(void)', 'DeputyVersion'),
    'a new member in the middle': ('deputy.h', '  int32_t max_nodes;', '  int32_t more;\n  int32_t max_nodes;',
                                   'DeputyLimits'),
    'a new member at the end': ('deputy.h', '} DeputyLimits;', '  int64_t more;\n} DeputyLimits;', ''),
    "a new member at the end of TensorFlow Lite's": ('c_api_types.h', '} TfLiteQuantizationParams;',
                                                     '  int more;\n} TfLiteQuantizationParams;', 'TfLiteTensor'),
    'another enumerator': ('c_api_types.h', 'kTfLiteError = 1', 'kTfLiteError = 9', 'TfLiteStatus'),
}


def self_test(build):
    exports = exports_of(build / LIBRARIES['libdeputy.so.1'])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        include, sound = folder / 'include', folder / 'sound.abi'
        shutil.copytree(build / 'include', include)
        describe(exports, include, folder).rename(sound)

        def expect(fault, report, word):
            if (word not in report) if word else report:
                yield f"{fault}: expected {word or 'no report'}, found {report or 'no report'}"

        fewer = {name: node for name, node in exports.items() if name != 'TfLiteModelCreate'}
        yield from expect('a removed function', differences(sound, describe(fewer, include, folder)),
                          'TfLiteModelCreate')
        yield from expect('a new function', differences(describe(fewer, include, folder), sound), '')
        other = {**exports, 'DeputyVersion': 'DEPUTY_1.1'}
        yield from expect('another symbol version', differences(sound, describe(other, include, folder)),
                          'DeputyVersion__DEPUTY_1_0')
        for fault, (name, text, new, word) in SEEDS.items():
            path = include / 'deputy' / name
            before = path.read_text(encoding='utf-8')
            if text not in before:
                yield f'{fault}: {name} lacks {text!r}'
                continue
            path.write_text(before.replace(text, new, 1), encoding='utf-8')
            yield from expect(fault, differences(sound, describe(exports, include, folder)), word)
            path.write_text(before, encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('build', type=pathlib.Path)
    action = parser.add_mutually_exclusive_group()
    action.add_argument('--self-test', action='store_true')
    action.add_argument('--write', action='store_true', help='record the ABI in tests/data/abi')
    arguments = parser.parse_args()
    if not shutil.which('abidw'):
        sys.exit('abidw is missing (Debian: abigail-tools)')
    if arguments.write:
        write(arguments.build)
        return 0
    problems = list((self_test if arguments.self_test else check)(arguments.build))
    print('\n'.join(problems) or 'abi: ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
