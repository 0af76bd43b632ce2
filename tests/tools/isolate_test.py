#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --isolate and DEPUTY_ISOLATE of the command: delegates run in processes of their own.

    tests/tools/isolate_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MODEL = str(ROOT / "examples/digits/digits_float.tflite")


# Under the address sanitizer freed memory would seem to leak, and a crash would end a process with a status.
SANITIZER = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:handle_segv=0"}


def deputy(*arguments, **environment):
    return subprocess.run([str(BUILD / "deputy"), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **SANITIZER, **environment})


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

    def test_threads_reach_a_delegate_that_declares_them(self):
        for isolation in ((), ("--isolate",), ("--layer", "isolate"), ("--layer", "deadline=60s", "--isolate"),
                          ("--layer", "isolate", "--layer", "deadline=60s")):
            command = ("explain", MODEL, "--threads", "2", *isolation, "--delegate")
            self.assertIn("given: num_threads=2\n", self.fine(*command, "cpu"))
            self.assertIn("num_threads=3\n", self.fine(*command, "cpu,num_threads=3"))
            # Options that layers in the process drop are reported as used.
            if isolation[-1:] != ("deadline=60s",):
                self.assertNotIn("num_threads", self.fine(*command, "npu_stub"))

    def test_limits_of_partitions_reach_a_delegate_that_declares_them(self):
        plugins = [str(BUILD / f"tests/plugins/lib{name}.so") for name in ("described0", "faulty")]
        for isolation in ((), ("--isolate",), ("--layer", "isolate", "--layer", "deadline=60s")):
            command = ("explain", MODEL, "--min_nodes_per_partition", "17", *isolation, "--delegate")
            self.assertRegex(self.fine(*command, "npu_stub"), r"given: .*\bmin_nodes=17", isolation)
            self.assertIn("min_nodes=16\n", self.fine(*command, "npu_stub,min_nodes=16"), isolation)
        for plugin in plugins:
            text = self.fine("explain", MODEL, "--max_delegated_partitions", "1", "--isolate", "--delegate", plugin)
            self.assertNotIn("partitions=1", text)

    def test_a_crash_is_computed_on_the_cpu(self):
        plugin = str(BUILD / "tests/plugins/libfaulty.so")
        command = ("explain", MODEL, "--delegate", f"{plugin},fault=segv,in=invoke", "--isolate", "--profile")
        text = self.fine(*command)
        self.assertIn("degraded", text)

    def test_the_suffix_of_a_profile_is_for_delegates_with_dynamic_sizes(self):
        command = ("explain", MODEL, "--delegate", "npu_stub")
        for arguments, environment in ((("--isolate=device+dynamic",), {}), (("--layer", "isolate=none+dynamic"), {}),
                                       ((), {"DEPUTY_ISOLATE": "strict+dynamic"})):
            result = deputy(*command, *arguments, **environment)
            self.assertIn("expected a delegate that allows tensors of dynamic size", result.stdout + result.stderr)

    def test_other_profiles_are_refused(self):
        result = deputy("run", MODEL, "--random", "--isolate=tight")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--isolate", result.stderr)
        result = deputy("run", MODEL, "--random", "--delegate", "npu_stub", DEPUTY_ISOLATE="tight")
        self.assertEqual(result.returncode, 2)
        self.assertIn("DEPUTY_ISOLATE: expected 0, 1, none, device or strict, found 'tight'", result.stderr)

    def test_the_conformance_kit_passes_in_a_process(self):
        for case, arguments, environment, profile in (("operators/ADD", (), {"DEPUTY_ISOLATE": "strict"}, "strict"),
                                                      ("life/ADD", ("--isolate=strict",), {}, "strict"),
                                                      ("operators/ADD", ("--isolate",), {}, "device")):
            text = self.fine("certify", "npu_stub", "--only", case, *arguments, **environment)
            self.assertRegex(text, rf"npu_stub.so: certified: [1-9].*, isolated \({profile}\)")
        self.assertNotIn("isolated", self.fine("certify", "npu_stub", "--only", "operators/ADD"))

    def test_a_crash_of_an_isolated_delegate_is_an_error_of_its_case(self):
        plugin = str(BUILD / "tests/plugins/libfaulty.so")
        command = ("certify", f"{plugin},fault=segv,in=invoke", "--only", "operators/ADD", "--json")
        for arguments, isolation, status, message in (((), "", "crash", "signal 11"),
                                                      (("--isolate",), "device", "fail", "the process ended")):
            report = json.loads(deputy(*command, *arguments).stdout)
            self.assertEqual(report["isolation"], isolation)
            rows = [row for row in report["rows"] if row["name"] == "operators/ADD"]
            self.assertTrue(rows)
            for row in rows:
                self.assertEqual(row["status"], status, row)
                self.assertIn(message, row["text"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
