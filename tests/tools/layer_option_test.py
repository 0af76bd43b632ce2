#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --layer and DEPUTY_LAYERS of the command: calls of delegates pass through layers.

    tests/tools/layer_option_test.py BUILD_FOLDER
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
MODEL = str(ROOT / "examples/digits/digits_float.tflite")
RUN = ("run", MODEL, "--random", "--delegate", "npu_stub")


def deputy(*arguments, **environment):
    return subprocess.run([str(BUILD / "deputy"), *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def layers(*texts):
    return [part for text in texts for part in ("--layer", text)]


class Layers(unittest.TestCase):
    def fine(self, *arguments, **environment):
        result = deputy(*arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_any_order_of_layers_gives_the_same_results(self):
        plain = self.fine(*RUN)
        five = ("deadline=60s", "fault=invoke:1000:fail", "isolate", "verify=always", "validate")
        for order in itertools.permutations(five):
            self.assertEqual(self.fine(*RUN, *layers(*order)), plain, order)

    def test_layers_leave_the_partitions_and_the_name(self):
        for texts in (("deadline=60s",), ("deadline=60s", "fault=invoke:1000:fail")):
            text = self.fine("explain", MODEL, "--delegate", "npu_stub", *layers(*texts))
            self.assertIn("runs 16 of 16 nodes in 1 partition", text)
            self.assertIn("npu_stub", text)
        text = self.fine("explain", MODEL, "--delegate", "npu_stub", *layers("deadline=60s", "isolate=strict"))
        self.assertIn("own process; profile strict", text)

    def test_faults_of_a_layer_are_computed_on_the_cpu(self):
        cpu = self.fine("run", MODEL, "--random")
        for texts in (("fault=invoke:1:fail",), ("isolate", "fault=invoke:1:crash"),
                      ("deadline=invoke:300ms", "isolate", "fault=invoke:1:hang")):
            result = deputy(*RUN, *layers(*texts))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the CPU replaced a failed node 1 time", result.stderr)
            self.assertEqual(result.stdout, cpu, texts)

    def test_validation_has_no_finding_for_a_wrapped_delegate(self):
        # The stub resizes its outputs in prepare.
        self.fine(*RUN, *layers("deadline=60s", "validate"))

    def test_verification_finds_a_corrupt_result(self):
        result = deputy(*RUN, *layers("fault=invoke:1:corrupt", "verify=always"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 wrong of 1 run", result.stderr)
        self.assertEqual(deputy(*RUN, *layers("fault=invoke:1:corrupt")).returncode, 0)

    def test_a_deadline_is_reported_while_the_call_runs(self):
        result = deputy(*RUN, *layers("deadline=invoke:20ms", "fault=invoke:1:delay:200ms"))
        self.assertEqual(result.returncode, 0)
        self.assertIn("layer deadline: invoke of kernel 0 has not returned within 20 ms", result.stderr)
        # The delay is outside of the deadline.
        result = deputy(*RUN, *layers("fault=invoke:1:delay:200ms", "deadline=invoke:60s"))
        self.assertNotIn("deadline", result.stderr)

    def test_a_record_of_the_process_is_replayed_in_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            record = str(pathlib.Path(folder, "a.rec"))
            plain = self.fine(*RUN, *layers("isolate", f"record={record}"))
            self.assertEqual(self.fine("run", MODEL, "--random", "--policy", "tflite",
                                       "--delegate", f"replay,record={record}"), plain)
            self.fine("replay", record, MODEL, "--delegate", "npu_stub")

    def test_the_environment_adds_layers(self):
        result = deputy(*RUN, DEPUTY_LAYERS="fault=invoke:1:fail")
        self.assertIn("the CPU replaced a failed node 1 time", result.stderr)
        text = self.fine("explain", MODEL, "--delegate", "npu_stub", DEPUTY_LAYERS="deadline=60s",
                         DEPUTY_ISOLATE="strict")
        self.assertIn("own process; profile strict", text)
        text = self.fine("explain", MODEL, "--delegate", "npu_stub", DEPUTY_LAYERS="isolate=device;deadline=60s",
                         DEPUTY_ISOLATE="strict")
        self.assertIn("own process; profile device", text)

    def test_other_layers_are_refused(self):
        for text, problem in (("deadlin=1s", "unknown layer 'deadlin'"),
                              ("deadline=1", "layer 'deadline': expected TIME"),
                              ("fault=invoke:0:fail", "layer 'fault': expected CALL:NUMBER"),
                              ("fault=invoke:1:delay", "layer 'fault': expected CALL:NUMBER"),
                              ("validate=x", "layer 'validate': expected no value, found 'x'"),
                              ("isolate=tight", "layer 'isolate': expected none, device or strict, perhaps with +dynamic, "
                                                "found 'tight'"),
                              ("isolate=none+static", "perhaps with +dynamic, found 'none+static'")):
            result = deputy(*RUN, *layers(text))
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(problem, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
