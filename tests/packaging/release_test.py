#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which files a release has, and their checksums, on files with other contents.

    release_test.py BUILD_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = subprocess.run([ROOT / 'tools/version.sh'], check=True, capture_output=True, text=True).stdout.strip()
PACKAGES = ('deputy', 'libdeputy1', 'libdeputy-dev', 'libdeputy-tflite-dropin')
SHIM = f'deputy_tflite_runtime-{VERSION}-py3-none-any.whl'
FOLDERS = {
    'deb': [*(f'{name}_{VERSION}_amd64.deb' for name in PACKAGES), f'python3-deputy_{VERSION}_all.deb',
            f'deputy_{VERSION}.dsc', f'deputy_{VERSION}.tar.gz'],
    'deb-arm64': [*(f'{name}_{VERSION}_arm64.deb' for name in PACKAGES), f'deputy_{VERSION}.dsc', SHIM],
    'wheels': [SHIM, *(f'deputy-{VERSION}-py3-none-manylinux_2_28_{machine}.whl' for machine in ('x86_64', 'aarch64'))],
    'dist': [f'deputy-{VERSION}.tar.gz'],
}
NAMES = {name for names in FOLDERS.values() for name in names}


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix='deputy-release-')
        self.folder = pathlib.Path(self.temporary.name)
        for folder, names in FOLDERS.items():
            (self.folder / folder).mkdir()
            for name in [*names, 'build.log', 'deputy-0.0.9.tar.gz', f'deputy_{VERSION}_amd64.changes']:
                (self.folder / folder / name).write_text(f'{folder} {name}', encoding='utf-8')
        self.output = self.folder / 'release'

    def tearDown(self):
        self.temporary.cleanup()

    def collect(self):
        return subprocess.run([ROOT / 'tools/collect_release.sh', self.output,
                               *(self.folder / folder for folder in FOLDERS)], check=False, capture_output=True, text=True)

    def test_it_has_all_files_of_this_version_with_their_checksums(self):
        self.output.mkdir()
        (self.output / 'of_an_earlier_release.deb').touch()
        result = self.collect()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({path.name for path in self.output.iterdir()}, NAMES | {'SHA256SUMS'})
        self.assertEqual((self.output / f'deputy_{VERSION}.dsc').read_text(), f'deb deputy_{VERSION}.dsc')
        check = ['sha256sum', '--strict', '-c', 'SHA256SUMS']
        shown = subprocess.run(check, cwd=self.output, check=True, capture_output=True, text=True).stdout
        self.assertEqual({line.partition(':')[0] for line in shown.splitlines()}, NAMES)
        (self.output / SHIM).write_text('changed', encoding='utf-8')
        self.assertEqual(subprocess.run(check, cwd=self.output, check=False, capture_output=True).returncode, 1)

    def test_a_missing_file_is_an_error(self):
        for folder, names in FOLDERS.items():
            for name in names:
                copies = [self.folder / other / name for other in FOLDERS if name in FOLDERS[other]]
                for path in copies:
                    path.rename(path.with_suffix('.hidden'))
                result = self.collect()
                self.assertEqual((result.returncode, result.stderr),
                                 (1, f'collect_release: {name} is missing\n'), folder)
                for path in copies:
                    path.with_suffix('.hidden').rename(path)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
