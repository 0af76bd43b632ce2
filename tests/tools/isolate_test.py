#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --isolate and DEPUTY_ISOLATE of the command: delegates run in processes of their own.

    tests/tools/isolate_test.py BUILD_FOLDER
"""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MODEL = str(ROOT / "examples/digits/digits_float.tflite")


def deputy(*arguments, **environment):
    return subprocess.run([str(BUILD / "deputy"), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


class Isolate(unittest.TestCase):
    def fine(self, *arguments, **environment):
        result = deputy(*arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_results_are_those_of_the_same_process(self):
        command = ("run", MODEL, "--random", "--delegate", "npu_stub")
        plain = self.fine(*command)
        for profile in ("none", "device", "strict"):
            self.assertEqual(self.fine(*command, f"--isolate={profile}"), plain)
        self.assertEqual(self.fine(*command, "--isolate"), plain)

    def test_explain_shows_the_process_and_its_profile(self):
        for arguments, profile in ((("--isolate",), "device"), (("--isolate=strict",), "strict"),
                                   (("--isolate", "none"), "none")):
            text = self.fine("explain", MODEL, "--delegate", "npu_stub", *arguments)
            self.assertIn("runs 16 of 16 nodes in 1 partition", text)
            self.assertIn(f"own process; profile {profile}", text)
        text = self.fine("explain", MODEL, "--delegate", "npu_stub", DEPUTY_ISOLATE="strict")
        self.assertIn("own process; profile strict", text)
        text = self.fine("explain", MODEL, "--delegate", "npu_stub")
        self.assertNotIn("own process", text)

    def test_a_crash_is_computed_on_the_cpu(self):
        plugin = str(BUILD / "tests/plugins/libfaulty.so")
        command = ("explain", MODEL, "--delegate", f"{plugin},fault=segv,in=invoke", "--isolate", "--profile")
        text = self.fine(*command)
        self.assertIn("degraded", text)

    def test_other_profiles_are_refused(self):
        result = deputy("run", MODEL, "--random", "--isolate=tight")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--isolate", result.stderr)
        result = deputy("run", MODEL, "--random", "--delegate", "npu_stub", DEPUTY_ISOLATE="tight")
        self.assertEqual(result.returncode, 2)
        self.assertIn("DEPUTY_ISOLATE: expected 0, 1, none, device or strict, found 'tight'", result.stderr)

    def test_the_conformance_kit_passes_in_a_process(self):
        for case in ("operators/ADD", "life/ADD"):
            text = self.fine("certify", "npu_stub", "--only", case, DEPUTY_ISOLATE="strict")
            self.assertRegex(text, r"certified: [1-9]")
            self.assertNotIn("not certified", text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
