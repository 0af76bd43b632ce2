#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the source archive of `make dist`: its bytes are reproducible, and it can be configured without git.

    dist_test.py BUILD_FOLDER
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, **options)


def make(root, folder, environment=None):
    return pathlib.Path(run(root / 'tools/make_dist.sh', folder, env=environment).stdout.strip())


class DistTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix='deputy-dist-')
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.archive = make(ROOT, cls.folder)
        cls.name = cls.archive.name.removesuffix('.tar.gz')
        with tarfile.open(cls.archive, 'r:gz') as archive:
            cls.entries = archive.getmembers()
            archive.extractall(cls.folder)
        # A git that fails has the effect of none.
        (cls.folder / 'bin').mkdir()
        (cls.folder / 'bin/git').write_text('#!/bin/sh\nexit 127\n', encoding='utf-8')
        (cls.folder / 'bin/git').chmod(0o755)
        cls.environment = {**os.environ, 'PATH': f"{cls.folder / 'bin'}:{os.environ['PATH']}"}

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_equal_sources_give_equal_bytes_also_without_git(self):
        self.assertEqual(self.archive.name, f"deputy-{run(ROOT / 'tools/version.sh').stdout.strip()}.tar.gz")
        again = make(self.folder / self.name, self.folder / 'again', self.environment)
        self.assertEqual(again.read_bytes(), self.archive.read_bytes())

    def test_it_has_the_sources_and_nothing_else(self):
        names = {entry.name for entry in self.entries}
        for name in ('CMakeLists.txt', 'Makefile', 'LICENSE', '.ci/run', 'core/model/schema.fbs', 'tools/setup.sh'):
            self.assertIn(f'{self.name}/{name}', names)
        top = {name.split('/')[1] for name in names}
        self.assertTrue(top.isdisjoint({'.git', 'build', '.cache'}), top)
        self.assertEqual({name.split('/')[0] for name in names}, {self.name})
        self.assertEqual([name for name in names if '__pycache__' in name], [])

    def test_entries_do_not_depend_on_the_user(self):
        self.assertEqual({(entry.uid, entry.gid, entry.uname) for entry in self.entries}, {(0, 0, '')})
        self.assertEqual({entry.mode for entry in self.entries if entry.isfile()}, {0o644, 0o755})
        self.assertEqual(len({entry.mtime for entry in self.entries}), 1)

    def test_it_is_configured_without_git(self):
        source = self.folder / self.name
        run('cmake', '-S', source, '-B', source / 'build/release', '-G', 'Ninja', '-DDEPUTY_BUILD_TESTS=OFF',
            env=self.environment)
        commands = run('ninja', '-C', source / 'build/release', '-t', 'commands', 'command', env=self.environment).stdout
        self.assertIn('libdeputy.so', commands)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
