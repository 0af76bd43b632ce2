#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests options for delegates on the command line: `deputy run --require`, and the limits of partitions in
each subcommand that applies delegates.

    tests/tools/cli_delegates_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"  # has 16 nodes
BUILD = None  # set from the command line


def deputy(*arguments, **environment):
    variables = {**os.environ, "DEPUTY_PLUGIN_PATH": "", "DEPUTY_OPENCL_LIBRARY": "none",
                 **environment}
    return subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, check=False, env=variables)


def plugin(name):
    return BUILD / "tests" / "plugins" / f"lib{name}.so"


class UnknownTest(unittest.TestCase):
    def test_an_unknown_name_lists_the_names_that_exist(self):
        result = deputy("run", MODEL, "--random", "--delegate", "nonesuch",
                        DEPUTY_PLUGIN_PATH=f"{plugin('relay')}:{BUILD}/examples")
        self.assertEqual(result.returncode, 2)
        names = result.stderr.split("; delegates with a name: ")[1].strip().split(", ")
        self.assertLessEqual({"cpu", "npu_stub", "relay", "softmax_delegate"}, set(names))
        self.assertEqual(names, sorted(names))

    def test_an_absent_file_lists_nothing(self):
        for path in ("./nonesuch", "nonesuch.so", "/tmp/nonesuch.so"):
            result = deputy("run", MODEL, "--random", "--delegate", path)
            self.assertEqual(result.returncode, 2)
            self.assertNotIn("delegates with a name", result.stderr)


class RequireTest(unittest.TestCase):
    def run_model(self, *arguments, **environment):
        return deputy("run", MODEL, "--random", "--require", *arguments, **environment)

    def refused(self, pattern, *arguments):
        result = self.run_model(*arguments)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr.splitlines()[-1], r"\Adeputy: --require: .*" + pattern)
        return result

    def test_working_delegates_are_accepted(self):
        for arguments in (["--delegate", "npu_stub"], ["--delegate", plugin("elementwise")],
                          ["--delegate", plugin("elementwise"), "--delegate", "npu_stub"]):
            result = self.run_model(*arguments)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("output 0 'Identity'", result.stdout)

    def test_absent_delegates_fail_before_the_model_runs(self):
        result = self.refused("--use_gpu is not available: .*OpenCL", "--use-gpu", "--delegate",
                              "npu_stub")
        self.assertEqual(result.stdout, "")
        self.assertEqual(deputy("run", MODEL, "--random", "--use-gpu").returncode, 0)

    def test_delegates_that_cannot_be_applied_fail_before_the_model_runs(self):
        result = self.refused("npu_stub is not applied: .*compile", "--delegate",
                              "npu_stub,faults=compile")
        self.assertEqual(result.stdout, "")

    def test_delegates_without_a_node_fail_before_the_model_runs(self):
        result = self.refused("npu_stub claimed no node", "--delegate", plugin("elementwise"),
                              "--delegate", "npu_stub,min_nodes=99")
        self.assertEqual(result.stdout, "")

    def test_delegates_that_fail_in_invoke_fail_after_the_outputs(self):
        result = self.refused("the CPU computed a failed node 1 time", "--delegate",
                              "npu_stub,faults=run")
        self.assertIn("output 0 'Identity'", result.stdout)
        self.assertIn("deputy: degraded: ", result.stderr)
        without = deputy("run", MODEL, "--random", "--delegate", "npu_stub,faults=run")
        self.assertEqual((without.returncode, without.stdout), (0, result.stdout))

    def test_all_reasons_are_reported(self):
        result = self.refused("--use_gpu is not available: .*; npu_stub claimed no node", "--use-gpu",
                              "--delegate", plugin("elementwise"), "--delegate",
                              "npu_stub,min_nodes=99")
        self.assertEqual(result.stdout, "")

    def test_it_needs_delegates_and_an_inference(self):
        result = self.run_model()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--require needs a delegate", result.stderr)
        result = self.run_model("--image", MODEL, "--expect-from-name", "--compare", "npu_stub")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("--require excludes --compare", result.stderr)


class LimitsTest(unittest.TestCase):
    def arguments(self):
        # The first delegate claims nodes 6 and 11, which leaves partitions of 6, 4 and 4 nodes.
        return ["--delegate", plugin("elementwise"), "--delegate", "npu_stub"]

    def partitions(self, *limits):
        """Returns the sizes of npu_stub's partitions according to `explain` and to `run --profile`."""
        result = deputy("explain", MODEL, *self.arguments(), "--json", *limits)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads(result.stdout)
        sizes = [len(partition["nodes"]) for partition in report["subgraphs"][0]["partitions"]
                 if partition["delegate"] == 1]
        ran = deputy("run", MODEL, "--random", "--profile", *self.arguments(), *limits)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout.count("\nNpuGraph"), len(sizes), ran.stdout)
        return sorted(sizes)

    def test_partitions_are_limited_in_run_and_explain(self):
        self.assertEqual(self.partitions(), [4, 4, 6])
        self.assertEqual(self.partitions("--max_delegated_partitions", 2), [4, 6])
        self.assertEqual(self.partitions("--max-delegated-partitions=1"), [6])
        self.assertEqual(self.partitions("--max_delegated_partitions", 0), [4, 4, 6])
        self.assertEqual(self.partitions("--min_nodes_per_partition", 5), [6])
        self.assertEqual(self.partitions("--min-nodes-per-partition=4"), [4, 4, 6])

    def test_an_option_of_the_delegate_has_priority(self):
        result = deputy("explain", MODEL, "--delegate", plugin("elementwise"), "--delegate",
                        "npu_stub,max_partitions=3", "--json", "--max_delegated_partitions", 1)
        partitions = json.loads(result.stdout)["subgraphs"][0]["partitions"]
        self.assertEqual(sum(partition["delegate"] == 1 for partition in partitions), 3)

    def test_limits_unknown_to_the_delegate_are_warnings(self):
        for command in (["run", MODEL, "--random"], ["explain", MODEL], ["compare", MODEL]):
            result = deputy(*command, "--delegate", plugin("elementwise"),
                            "--max_delegated_partitions", 1, "--min_nodes_per_partition", 2)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.splitlines(), [
                "deputy: warning: --max_delegated_partitions is ignored: no delegate has the "
                "option max_partitions",
                "deputy: warning: --min_nodes_per_partition is ignored: no delegate has the "
                "option min_nodes"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
