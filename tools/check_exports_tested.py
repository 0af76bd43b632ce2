#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the exported functions that no test calls.

    check_exports_tested.py              fails if there are any
    check_exports_tested.py --self-test  checks that a function which no test names is found

The functions are the exports that tools/check_symbols.py expects of the built libraries. A call is
the name in the code of tests/ (C, C++), of an example that a test runs, of a script or a module of
the Python package that calls the library, or of the inline C++ layer over MindSpore's C functions,
which tests include. Comments and lists of names do not count.
"""
import argparse
import pathlib
import re
import sys

import check_symbols

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ('tests', 'examples', 'bindings/python')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.DOTALL)
SCRIPT_COMMENT = re.compile(r'#[^\n]*|"""[\s\S]*?"""')


def exported_functions():
    return (check_symbols.tflite_functions() | check_symbols.EXTERNAL_DELEGATE
            | check_symbols.asynchronous_functions() | check_symbols.declared_functions()
            | check_symbols.mindspore_functions() | check_symbols.GPU_ENTRY_POINTS
            | check_symbols.functions_of(ROOT / 'c_api/include/deputy_gpu.h')
            | check_symbols.functions_of(ROOT / 'c_api/include/deputy_cpu.h')
            | check_symbols.functions_of(ROOT / 'c_api/include/deputy_layers.h'))


def named_in(path):
    """Returns the names of functions that a file may call. In C a name may also be passed or looked
    up."""
    text = path.read_text(encoding='utf-8')
    if path.suffix == '.py':
        return set(re.findall(r'\.(\w+)\(', SCRIPT_COMMENT.sub('', text)))
    return set(re.findall(r'\w+', COMMENT.sub('', text)))


def called_functions():
    names = set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob('*'):
            if path.suffix in ('.c', '.cc', '.h', '.py'):
                names |= named_in(path)
    for path in (ROOT / 'mindspore/include').glob('*.h'):
        if not path.stem.endswith('_c'):
            names |= named_in(path)
    return names


def self_test():
    called = called_functions()
    if 'TfLiteInterpreterInvoke' not in called or 'Deputy' + 'NobodyCallsThis' in called:
        print('self-test: a function without a test was not found')
        return 1
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--self-test', action='store_true')
    if parser.parse_args().self_test:
        return self_test()
    exported = exported_functions()
    untested = sorted(exported - called_functions())
    for name in untested:
        print(f'{name} is not called by any test')
    if not untested:
        print(f'exports: each of {len(exported)} is called by a test')
    return 1 if untested else 0


if __name__ == '__main__':
    sys.exit(main())
