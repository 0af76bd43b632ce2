#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the version is in CMakeLists.txt only, and that everything else has it from there.

    version_test.py BUILD_FOLDER
"""
import ctypes
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
CACHE = (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
VERSION = re.search(r'^CMAKE_PROJECT_VERSION:STATIC=(.+)$', CACHE, re.MULTILINE)[1]
SUFFIXES = {'.c', '.cc', '.h', '.inc', '.py', '.sh', '.cmake', '.in', '.md', '.txt', '.toml', '.json', '.install', ''}


def texts(root):
    """Yields the paths of text files that are not generated."""
    for folder in sorted(path for path in root.iterdir() if path.name not in ('.git', 'build', '.cache')):
        for path in sorted(folder.rglob('*')) if folder.is_dir() else [folder]:
            if path.is_file() and path.suffix in SUFFIXES and 'tests/data' not in str(path):
                yield path


def occurrences(root):
    """Returns the places that have the version as a word of its own."""
    word = re.compile(rf'(?<![\w.]){re.escape(VERSION)}(?![\w]|\.\d)')
    found = []
    for path in texts(root):
        try:
            lines = path.read_text(encoding='utf-8').splitlines()
        except UnicodeDecodeError:
            continue
        found += [f'{path.relative_to(root)}: {line.strip()}' for line in lines if word.search(line)]
    return found


class VersionTest(unittest.TestCase):
    # LiteRT's plug-in interface has the same version.
    def test_no_other_file_repeats_it(self):
        others = ('CHANGELOG.md: ## [', 'docs/litert-abi.md: ', 'tests/litert/litert_dispatch_test.py: ',
                  'tests/litert/litert_compiler_test.py: ')
        self.assertEqual([line for line in occurrences(ROOT) if not line.startswith(others)],
                         [f'CMakeLists.txt: project(deputy VERSION {VERSION} LANGUAGES C CXX'])

    def test_the_changelog_begins_with_it(self):
        headings = re.findall(r'^## \[(.+?)\]', (ROOT / 'CHANGELOG.md').read_text(encoding='utf-8'), re.MULTILINE)
        self.assertEqual(headings[0], VERSION)

    def test_the_script_prints_it(self):
        found = subprocess.run([ROOT / 'tools/version.sh'], check=True, capture_output=True, text=True).stdout
        self.assertEqual(found, f'{VERSION}\n')

    @unittest.skipIf('DEPUTY_SANITIZE:STRING=\n' not in CACHE, 'a sanitized library needs a sanitized Python')
    def test_the_library_and_the_command_have_it(self):
        library = ctypes.CDLL(str(BUILD / 'libdeputy.so.1'))
        library.DeputyVersion.restype = ctypes.c_char_p
        self.assertEqual(library.DeputyVersion().decode(), VERSION)
        shown = subprocess.run([BUILD / 'deputy', '--version'], check=True, capture_output=True, text=True).stdout
        self.assertIn(f'deputy {VERSION} (', shown)

    def test_files_for_pkg_config_have_it(self):
        for name in ('deputy', 'deputy_mindspore'):
            self.assertIn(f'\nVersion: {VERSION}\n', (BUILD / f'pkgconfig/{name}.pc').read_text(encoding='utf-8'))


if __name__ == '__main__':
    unittest.main()
