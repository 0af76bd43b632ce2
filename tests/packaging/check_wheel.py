#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the files of a wheel need no more than its tag promises, by readelf.

A wheel for every platform must have no library. Each other one must have the plug-ins and the sandbox's program. Libraries may need the C library up to the version in the
tag, libgcc of the same age, and no libstdc++; a search path is relative to the file.
"""
import argparse
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import zipfile

EXPECTED = {'lib/libdeputy.so.1', 'lib/libLiteRt.so', 'lib/deputy/deputy-delegate-host',
            *(f'lib/deputy/plugins/libdeputy_{name}.so'
              for name in ('cpu', 'gpu', 'layers', 'npu_stub', 'onnxruntime', 'replay', 'sandbox'))}
SYSTEM = re.compile(r'(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|libgcc_s\.so\.1|ld-linux[a-z0-9_-]*\.so\.\d'
                    r'|libdeputy\.so\.1)$')
NEWEST_GCC = (7, 0, 0)  # libgcc of g++ 8, which a system with the C library 2.28 has


def version(text):
    return tuple(map(int, text.split('.')))


def faults_of(path, newest):
    """Yields a text for each requirement of a file that is not allowed."""
    words = subprocess.run(['readelf', '--wide', '--version-info', '--dynamic', path], capture_output=True, text=True,
                           check=True).stdout
    for name, found in set(re.findall(r'Name: (GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)', words)):
        allowed = {'GLIBC': newest, 'GCC': NEWEST_GCC}.get(name)
        if allowed is None or version(found) > allowed:
            highest = 'none' if allowed is None else '.'.join(map(str, allowed))
            yield f'needs {name}_{found}, expected at most {highest}'
    for library in re.findall(r'\(NEEDED\).*\[(.*)\]', words):
        if not SYSTEM.match(library):
            yield f'needs {library}'
    for paths in re.findall(r'\((?:RPATH|RUNPATH)\).*\[(.*)\]', words):
        if any(folder and not folder.startswith('$ORIGIN') for folder in paths.split(':')):
            yield f'searches {paths}'


def check(wheel):
    """Prints the faults of a wheel and the sizes of its libraries; returns True if there are no faults."""
    faults = list(faults_of_python(wheel) if wheel.stem.endswith('-any') else faults_of_libraries(wheel))
    for fault in faults:
        print(f'check_wheel: {wheel.name}: {fault}', file=sys.stderr)
    print(f'check_wheel: {wheel.name}: {wheel.stat().st_size} bytes, {len(faults)} faults')
    return not faults


def faults_of_python(wheel):
    """Yields the faults of a wheel for every platform."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if '.dist-info/' not in name and not name.endswith(('.py', '/py.typed')):
                yield f'{name} is neither a Python file nor py.typed'


def faults_of_libraries(wheel):
    """Yields the faults of a wheel with libraries, and prints their sizes."""
    newest = version(re.search(r'manylinux_(\d+_\d+)_', wheel.name)[1].replace('_', '.'))
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        names = {name.partition('/')[2] for name in archive.namelist()}
        yield from (f'{name} is missing' for name in sorted(EXPECTED - names))
        yield from (f'{name} is not expected' for name in sorted(names - EXPECTED) if name.startswith('lib/'))
        for name in sorted(EXPECTED & names):
            path = archive.extract(f'deputy/{name}', folder)
            mode = archive.getinfo(f'deputy/{name}').external_attr >> 16
            if mode != stat.S_IFREG | 0o755:
                yield f'{name} has the mode {mode:o}, expected 100755'
            yield from (f'{name} {fault}' for fault in faults_of(path, newest))
            print(f'check_wheel: {name}: {pathlib.Path(path).stat().st_size} bytes')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('wheels', nargs='+', type=pathlib.Path, metavar='WHEEL')
    return 0 if all([check(wheel) for wheel in parser.parse_args().wheels]) else 1


if __name__ == '__main__':
    sys.exit(main())
