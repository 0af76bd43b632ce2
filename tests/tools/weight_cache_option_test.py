#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --weight-cache of `run`, `bench` and `explain`: the first process packs the constants, later ones
map them and print the same values.

    tests/tools/weight_cache_option_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
QUICK = ("--runs", "1", "--min-secs", "0", "--warmup", "0")
BUILD = None  # set from the command line


class WeightCacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name) / "weights"

    def deputy(self, *arguments, **environment):
        result = subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True, text=True,
                                timeout=300, check=False, env={**os.environ, **environment})
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_later_processes_pack_nothing(self):
        for model in ("digits_float.tflite", "digits_int8.tflite"):
            self.cache.unlink(missing_ok=True)
            plain = self.deputy("run", DIGITS / model, "--random")
            first, second = (self.deputy("run", DIGITS / model, "--random", "--weight-cache", self.cache)
                             for _ in range(2))
            self.assertEqual(first.stdout, plain.stdout)
            self.assertEqual(second.stdout, plain.stdout)
            report = json.loads(self.deputy("explain", DIGITS / model, "--weight-cache", self.cache,
                                            "--json").stdout)
            self.assertRegex(report["weight_cache"], r"\Ausable: [1-9]\d* values reused, 0 packed, .* mapped\Z")
            text = self.deputy("bench", DIGITS / model, *QUICK, "--weight-cache", self.cache).stdout
            self.assertRegex(text, r"(?m)^weights    usable: [1-9]\d* values reused, 0 packed")

    def test_other_files_are_replaced(self):
        model = DIGITS / "digits_float.tflite"
        explain = ("explain", model, "--weight-cache", self.cache)
        self.assertRegex(self.deputy(*explain).stdout, r"weights    absent: 0 values reused, [1-9]\d* packed")
        other = self.deputy("explain", DIGITS / "digits_int8.tflite", *explain[2:]).stdout
        self.assertRegex(other, "weights    of another model: 0 values reused")
        self.assertRegex(self.deputy(*explain, DEPUTY_CPU="generic").stdout,
                         "weights    of another build or CPU: 0 values reused")
        self.assertRegex(self.deputy(*explain, DEPUTY_CPU="generic").stdout, "weights    usable: ")
        self.cache.write_bytes(b"something else")
        self.assertRegex(self.deputy(*explain).stdout, "weights    damaged: 0 values reused")
        self.assertRegex(self.deputy(*explain).stdout, "weights    usable: ")

    def test_a_file_that_cannot_be_written_is_reported(self):
        result = subprocess.run(
            [BUILD / "deputy", "bench", DIGITS / "digits_float.tflite", *QUICK, "--json",
             "--weight-cache", self.cache / "absent"], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "deputy: warning: weight cache .*: cannot be written: No such file")
        self.assertIn("absent: 0 values reused", json.loads(result.stdout)["weight_cache"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
