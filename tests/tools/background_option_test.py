#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --background of `run`, `bench` and `explain`, with a delegate (tests/plugins/elementwise.c) whose
compilation waits for a file that the test creates.

    tests/tools/background_option_test.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
QUICK = ("--runs", "3", "--min-secs", "0", "--warmup", "0", "--max-secs", "60")
BUILD = None  # set from the command line


class BackgroundTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.gate = self.folder / "gate"
        self.delegate = f"{BUILD}/tests/plugins/libelementwise.so,gate={self.gate}"

    def command(self, *arguments):
        return [BUILD / "deputy", *map(str, arguments), "--background", "--delegate", self.delegate]

    def deputy(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=300,
                              check=False)

    def test_the_output_is_written_while_the_delegate_compiles(self):
        output = self.folder / "out"
        with subprocess.Popen(self.command("run", MODEL, "--random", "-o", output), text=True,
                              stderr=subprocess.PIPE) as process:
            # The compilation waits for the gate, which does not exist.
            while not list(output.glob("*.npy")):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            self.gate.touch()
            _, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, errors)
        self.assertRegex(errors, r"deputy: background: ready after [\d.]+ ms, delegates ran 0 of 1 inference\n")
        cpu = self.folder / "cpu"
        subprocess.run([BUILD / "deputy", "run", MODEL, "--random", "-o", cpu], check=True)
        for file in cpu.glob("*.npy"):
            self.assertEqual(file.read_bytes(), (output / file.name).read_bytes())

    def test_explain_waits_and_shows_the_delegate(self):
        self.gate.touch()
        report = json.loads(self.deputy("explain", MODEL, "--json", "--profile", 2).stdout)
        delegate, = report["delegates"]
        self.assertGreater(delegate["nodes"], 0)
        self.assertEqual(report["delegated"], delegate["nodes"])
        background = report["background"]
        self.assertEqual((background["active"], background["failure"], background["preparations"],
                          background["cpu_inferences"], background["delegate_inferences"]),
                         (True, "", 1, 0, 3))
        text = self.deputy("explain", MODEL).stdout
        self.assertRegex(text, r"background ready after [\d.]+ ms, delegates ran 0 of 0 inferences")

    def test_bench_measures_the_first_inference_on_the_cpu(self):
        self.gate.touch()
        result = self.deputy("bench", MODEL, "--json", *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        delegate, = json.loads(result.stdout)["delegates"]
        self.assertGreater(delegate["nodes"], 0)
        self.assertRegex(result.stderr, r"background: ready after [\d.]+ ms, delegates ran \d+ of \d+ inferences")

    def test_a_failure_has_its_reason_and_an_exit_code(self):
        self.delegate = "npu_stub,faults=compile"
        result = self.deputy("run", MODEL, "--random", "--max-values", 0)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("deputy: background: failed, the CPU runs the model: ", result.stderr)
        result = self.deputy("run", MODEL, "--random", "--max-values", 0, "--require")
        self.assertEqual(result.returncode, 1)
        self.assertIn("deputy: --require: background: failed", result.stderr)
        text = self.deputy("explain", MODEL).stdout
        self.assertIn("background failed, the CPU runs the model: ", text)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
