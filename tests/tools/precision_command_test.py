#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the options of `deputy precision`, and --precision-plan, with a model of one layer.

    tests/tools/precision_command_test.py BUILD_FOLDER

tests/c_api/precision_plan_test.cc tests which nodes are chosen.
"""
import array
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = ROOT / "examples" / "digits" / "images"
BUILD = None  # set from the command line
ROWS, DEPTH = 64, 256
FULLY_CONNECTED, FULLY_CONNECTED_OPTIONS = 9, 8


def explain_test():
    """Loads the script with the writer of model files."""
    spec = importlib.util.spec_from_file_location("explain_test", ROOT / "tests/tools/explain_test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def layer():
    """Returns a model with one FULLY_CONNECTED layer."""
    writer = explain_test()
    table, numbers = writer.Table, random.Random(1)
    weights = array.array("f", (numbers.uniform(-1, 1) for _ in range(DEPTH * DEPTH)))
    tensors = [table(_0=[ROWS, DEPTH], _1=("b", 0), _3=b"x"),
               table(_0=[DEPTH, DEPTH], _1=("b", 0), _2=("I", 1), _3=b"w"),
               table(_0=[ROWS, DEPTH], _1=("b", 0), _3=b"y")]
    node = table(_0=("I", 0), _1=[0, 1, -1], _2=[2], _3=("b", FULLY_CONNECTED_OPTIONS), _4=table())
    code = table(_0=("b", FULLY_CONNECTED), _2=("i", 1), _3=("i", FULLY_CONNECTED))
    graph = table(_0=tensors, _1=[0], _2=[2], _3=[node])
    return bytes(writer.Writer(table(_0=("I", 3), _1=[code], _2=[graph],
                                     _4=[table(), table(_0=weights.tobytes())])).data)


class PrecisionCommandTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        self.model, self.plan = self.folder / "layer.tflite", self.folder / "plan"
        self.model.write_bytes(layer())
        if "implementation" not in self.bench("--precision", "fp16"):
            self.skipTest("this CPU has no products of 16 bits")

    def deputy(self, command, *arguments):
        return subprocess.run([BUILD / "deputy", command, self.model, *map(str, arguments)],
                              capture_output=True, text=True, timeout=300, check=False)

    def bench(self, *arguments):
        """Returns "implementation" and its name, or "", from the report of bench."""
        result = self.deputy("bench", "--json", "--runs", "1", "--max-secs", "0.1", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = json.loads(result.stdout)["precision"]
        return "implementation " + text[:4] if text.endswith("in 1 node") else ""

    def choose(self, *arguments, code=0):
        options = {"--bound": "0.1", "--inputs": "6", "--measure": "50",
                   **dict(zip(arguments[::2], arguments[1::2]))}
        line = [word for option in options.items() for word in option]
        result = self.deputy("precision", "-o", self.plan, "--json", *line)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout) if code == 0 else result.stderr

    def test_inputs_are_random_or_given(self):
        report = self.choose()
        self.assertEqual([report["calibration_inputs"], report["held_out_inputs"]], [3, 3])
        other = self.choose("--seed", "7")
        self.assertNotEqual(other["held_out_error"], report["held_out_error"])
        self.assertEqual(self.choose("--inputs", "3")["calibration_inputs"], 2)
        rows, numbers = self.folder / "rows", random.Random(2)
        rows.mkdir()
        for name in "abcde":
            values = array.array("f", (numbers.uniform(0, 1) for _ in range(ROWS * DEPTH)))
            (rows / f"{name}.raw").write_bytes(values.tobytes())
        given = self.choose("--rows", rows, "--rows-input", "x")
        self.assertEqual([given["calibration_inputs"], given["held_out_inputs"]], [3, 2])
        self.assertIn("'z'", self.choose("--rows", rows, "--rows-input", "z", code=2))
        self.assertIn("'z'", self.choose("--image", IMAGES, "--image-input", "z", code=2))
        (rows / "a.raw").write_bytes(b"1234")
        self.choose("--rows", rows, code=2)

    def test_the_model_is_not_replaced(self):
        link = self.folder / "link"
        link.symlink_to(self.model)
        for output in self.model, link:
            result = self.deputy("precision", "-o", output)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("would replace the model", result.stderr)
            self.assertEqual(self.model.read_bytes(), layer())

    def test_the_bound_limits_the_error(self):
        report = self.choose()
        self.assertEqual([each["node"] for each in report["nodes"]], [0])
        self.assertTrue(0 < report["held_out_error"] <= 0.1)
        self.plan.unlink()
        self.assertIn("all nodes stay in float32", self.choose("--bound", "1e-7", code=1))
        self.assertFalse(self.plan.exists())

    def test_times_are_measured(self):
        self.assertEqual(self.choose("--measure", "0")["rounds"], 4)
        self.assertGreater(self.choose("--measure", "500")["rounds"], 4)
        text = self.deputy("precision", "-o", self.plan, "--bound", "0.1", "--inputs", "2")
        self.assertRegex(text.stdout, r"time     [\d.]+ ms in float32, [\d.]+ ms with the plan")

    def test_a_plan_selects_the_precision_of_nodes(self):
        self.choose()
        self.assertEqual(self.bench(), "")
        self.assertRegex(self.bench("--precision-plan", self.plan), "implementation (bf16|fp16)")
        self.plan.write_text(self.plan.read_text().splitlines()[0] + "\n0 1 fp16\n")
        refused = self.deputy("run", "--random", "--precision-plan", self.plan)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("line 2: the model has no node '0 1 fp16'", refused.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
