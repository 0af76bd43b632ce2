#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy compile`: a compiled model runs without compilation and packing, and --check reports
whether a file can be used.

    tests/tools/compile_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
BUILD = None  # set from the command line


class CompileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "compiled"

    def deputy(self, *arguments, code=0, **environment):
        environment = {**os.environ, "TMPDIR": str(self.folder), **environment}
        result = subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True, text=True,
                                timeout=600, check=False, env=environment)
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    def facts(self, model, *delegate):
        report = json.loads(self.deputy("explain", model, "--json", *delegate).stdout)
        return report, report["delegates"][0]["facts"] if delegate else None

    def test_the_cpu_packs_nothing(self):
        text = self.deputy("compile", MODEL, "-o", self.out).stdout
        self.assertRegex(text, r"compiled: \d+ bytes, 1 file after the model")
        plain, compiled = (self.deputy("run", model, "--random").stdout for model in (MODEL, self.out))
        self.assertEqual(plain, compiled)
        text = self.deputy("compile", self.out, "--check").stdout
        self.assertEqual(text, "constants  usable\n")
        text = self.deputy("compile", self.out, "--check", code=1, DEPUTY_CPU="generic").stdout
        self.assertIn("constants  recompile: its constants were packed by another build", text)

    def test_delegates_compile_nothing(self):
        for name in ("npu_stub", "gpu", "xnnpack"):
            with self.subTest(name):
                if not (BUILD / f"libdeputy_{name}.so").exists():
                    continue
                delegate = ("--delegate", name)
                text = self.deputy("compile", MODEL, *delegate, "-o", self.out).stderr
                # Debian 12's XNNPACK cannot store packed weights.
                if name == "xnnpack" and "xnnpack stores nothing: it has no option cache_dir" in text:
                    continue
                report, facts = self.facts(self.out, *delegate)
                self.assertGreater(report["delegated"], 0)
                self.assertGreater(facts["cache"]["hits"], 0)
                self.assertEqual(facts["cache"]["misses"], 0)
                plain, compiled = (self.deputy("run", model, "--random", *delegate).stdout
                                   for model in (MODEL, self.out))
                self.assertEqual(plain, compiled)
                text = self.deputy("compile", self.out, "--check", *delegate).stdout
                self.assertRegex(text, rf"(?m)^{name} +usable$")
                self.assertEqual(sorted(self.folder.iterdir()), [self.out])  # no temporary file is left

    def test_other_delegates_and_damage_have_reasons(self):
        self.deputy("compile", MODEL, "--delegate", "npu_stub", "-o", self.out)
        other = BUILD / "tests/plugins/libelementwise.so"
        text = self.deputy("compile", self.out, "--check", "--delegate", other, code=1).stdout
        self.assertIn("elementwise recompile: it was not compiled for elementwise\n", text)
        plain = self.deputy("compile", MODEL, "--check", code=1).stdout
        self.assertEqual(plain, "constants  recompile: it is a model that was not compiled\n")
        data = self.out.read_bytes()
        at = data.rindex(b"DPTYSER1") + 100
        self.out.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
        text = self.deputy("compile", self.out, "--check", "--delegate", "npu_stub", code=1).stdout
        self.assertRegex(text, r"npu_stub +recompile: its section '.*' is damaged\n")
        result = self.deputy("run", self.out, "--random", "--delegate", "npu_stub")
        self.assertRegex(result.stderr, "warning: .*section '.*' is damaged")
        self.assertEqual(result.stdout, self.deputy("run", MODEL, "--random", "--delegate", "npu_stub").stdout)
        self.out.write_bytes(data[:-20] + bytes(20))
        self.assertEqual(self.deputy("run", self.out, "--random").stdout,
                         self.deputy("run", MODEL, "--random").stdout)

    def test_a_compiled_model_is_compiled_again(self):
        again = self.folder / "again"
        self.deputy("compile", MODEL, "--delegate", "npu_stub", "-o", self.out)
        self.deputy("compile", self.out, "-o", again)
        self.assertLess(again.stat().st_size, self.out.stat().st_size)
        self.assertEqual(self.deputy("compile", again, "--check").stdout, "constants  usable\n")

    def test_usage_and_failures(self):
        self.assertIn("--output FILE or --check", self.deputy("compile", MODEL, code=2).stderr)
        absent = self.folder / "absent" / "out"
        self.assertIn("cannot be written", self.deputy("compile", MODEL, "-o", absent, code=2).stderr)
        self.assertIn("expected a .tflite file",
                      self.deputy("compile", __file__, "-o", self.out, code=1).stderr)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
