#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a library is no larger than a limit.

    check_size.py LIBRARY MAX_BYTES

Measures the file as installed, stripped. Prints its size; exit code 1 if it exceeds the limit.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile


def stripped_size(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, 'stripped')
        subprocess.run(['strip', '-o', copy, library], check=True)
        return copy.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library', type=pathlib.Path)
    parser.add_argument('max_bytes', type=int)
    arguments = parser.parse_args()
    size = stripped_size(arguments.library)
    print(f'{arguments.library}: {size} bytes stripped, of at most {arguments.max_bytes}')
    if size > arguments.max_bytes:
        print(f'check_size: {arguments.library} has grown by {size - arguments.max_bytes} bytes'
              ' too many', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
