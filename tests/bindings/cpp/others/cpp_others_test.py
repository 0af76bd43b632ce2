#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs upstream's C++ tests, and programs and delegates of others, against Deputy's C++ headers.

    DEPUTY_CPP_SOURCES=FOLDER cpp_others_test.py BUILD_FOLDER [-v] [Class.test]

FOLDER contains the fetched repositories, see upstream_tests.py and programs.py; without the variable the
test is skipped. Products are in BUILD_FOLDER/tests/cpp_others. A case of upstream's that fails must be
listed in docs/cpp.md, and fewer than 3 % of the cases may be listed.
"""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import builder
import programs
import upstream_tests

ROOT = pathlib.Path(__file__).resolve().parents[4]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SOURCES = pathlib.Path(os.environ.get('DEPUTY_CPP_SOURCES') or '/nowhere').resolve()
PRODUCTS = BUILD / 'tests/cpp_others'


def listed_cases():
    """Returns the rows of docs/cpp.md: the set of pairs of a test's name and a case."""
    document = ROOT / 'docs/cpp.md'
    text = document.read_text(encoding='utf-8') if document.exists() else ''
    return set(re.findall(r'^\| `([\w/]+_test)` \| `([\w./]+)` \|', text, re.MULTILINE))


def copy_support(test):
    """Copies the files that a test needs to a private folder; returns the folder and its sources."""
    folder = PRODUCTS / 'support' / re.sub('/', '_', test.name)
    shutil.rmtree(folder, ignore_errors=True)
    sources = []
    for name in (*upstream_tests.SUPPORT, *test.support):
        target = folder / 'tflite' / name
        if (builder.DOUBLES / 'tflite' / name).exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCES / 'litert/tflite' / name, target)
        if name.endswith('.cc'):
            sources.append(target)
    return folder, sources


class Upstream(unittest.TestCase):
    """One test per file of upstream_tests.TESTS."""
    results = {}  # per test's name: the message of each case, or the compiler's messages as a text

    @classmethod
    def setUpClass(cls):
        if not (SOURCES / 'litert/tflite').is_dir():
            raise unittest.SkipTest(f'{upstream_tests.REPOSITORY}, commit {upstream_tests.COMMIT}, is not in '
                                    f'{SOURCES}/litert')
        PRODUCTS.mkdir(parents=True, exist_ok=True)

    def results_of(self, test):
        """Returns the message of each case, or a text if the test does not compile."""
        if test.name not in self.results:
            folder, sources = copy_support(test)
            products = PRODUCTS / re.sub('/', '_', test.name)
            products.mkdir(exist_ok=True)
            made = builder.Builder(BUILD, products, [folder])
            try:
                program = made.program('program', [SOURCES / 'litert/tflite' / test.source, *sources],
                                       '-lgmock', '-lgtest', '-lgtest_main')
                with tempfile.TemporaryDirectory() as scratch:
                    self.results[test.name] = builder.results_of(
                        program, cwd=SOURCES / 'litert', env=dict(os.environ, TEST_TMPDIR=scratch))
            except builder.BuildError as error:
                self.results[test.name] = str(error)
        return self.results[test.name]

    def check(self, test):
        results = self.results_of(test)
        if isinstance(results, str):
            self.fail(f'{test.source} does not compile:\n{results}')
        listed = {case for name, case in listed_cases() if name == test.name}
        failed = {name: text for name, text in results.items() if text and name not in listed}
        print(f'{test.name}: {len(results)} cases, {sum(map(bool, results.values()))} fail, '
              f'{len(listed)} listed', file=sys.stderr)
        self.assertFalse(failed, '\n'.join(f'{name}: {text}' for name, text in failed.items()))
        self.assertTrue(results)
        self.assertEqual(sorted(name for name in listed if not results.get(name)), [],
                         'listed in docs/cpp.md, but passes or does not exist')

    def test_few_cases_are_listed(self):
        total, listed = 0, 0
        for test in upstream_tests.TESTS:
            results = self.results_of(test)
            if isinstance(results, str):
                count = builder.count_of_cases(SOURCES / 'litert/tflite' / test.source)
                total, listed = total + count, listed + count
            else:
                total += len(results)
                listed += sum(map(bool, results.values()))
        print(f"upstream's tests: {total} cases, {listed} fail ({100 * listed / total:.1f} %)", file=sys.stderr)
        self.assertLess(listed, upstream_tests.MAX_LISTED * total)


class Programs(unittest.TestCase):
    """One test per row of programs.PROGRAMS."""

    def check(self, program):
        for folder in program.folders:
            if not (SOURCES / folder).exists():
                self.skipTest(f'{program.origin} needs {SOURCES / folder}, which is not there')
        products = PRODUCTS / program.name
        products.mkdir(parents=True, exist_ok=True)
        problem = ''
        try:
            program.check(self, programs.Setting(SOURCES, BUILD, ROOT, products))
        except builder.BuildError as error:
            problem = str(error)
        if problem:
            self.fail(f'{program.origin} does not compile:\n{problem}')


def add_tests(case, rows):
    for row in rows:
        def method(self, row=row):
            self.check(row)
        setattr(case, f"test_{re.sub('/', '_', row.name)}", method)


add_tests(Upstream, upstream_tests.TESTS)
add_tests(Programs, programs.PROGRAMS)

if __name__ == '__main__':
    if 'DEPUTY_CPP_SOURCES' not in os.environ:
        print('DEPUTY_CPP_SOURCES is not set: no sources of other projects to compile')
        sys.exit(77)
    unittest.main()
