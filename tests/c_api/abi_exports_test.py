#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that both libraries export exactly the intended symbols, with the right version.

    abi_exports_test.py BUILD_FOLDER

The rule itself is in tools/check_symbols.py, which `make check` runs, too.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))
import check_symbols  # noqa: E402  (needs the path above)

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build/release').resolve()

if __name__ == '__main__':
    if 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8'):
        print('skipped: a sanitized library needs and exports more')
        sys.exit(77)
    sys.exit(check_symbols.main([str(BUILD)]))
