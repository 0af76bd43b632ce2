#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the bridge to NNAPI with a test double of NNAPI's library (tests/doubles/nnapi), never on a device.
The double computes the CPU's result for the digits. If one of the functions that every NNAPI has is
missing, a message names it.

    tests/bridges/nnapi_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = [ROOT / "examples" / "digits" / f"digits_{kind}.tflite" for kind in ("float", "int8")]
HEADER = (ROOT / "bridges" / "nnapi" / "nnapi.h").read_text(encoding="utf-8")
BUILD = None  # set from the command line


def required():
    """Returns the names of the functions of feature level 1."""
    block = HEADER.split("#define DEPUTY_NNAPI_REQUIRED")[1].split("#define")[0]
    return ["ANeuralNetworks" + name for name in re.findall(r"X\(\w+, (\w+),", block)]


class NnapiTest(unittest.TestCase):
    def run_model(self, model, library, command=("run", "--random")):
        variables = {**os.environ, "DEPUTY_NNAPI_LIBRARY": str(library)}
        return subprocess.run([BUILD / "deputy", command[0], model, *command[1:], "--use_nnapi"],
                              capture_output=True, text=True, timeout=300, env=variables)

    def test_digits_model_runs_on_the_test_double(self):
        for model in MODELS:
            library = BUILD / "tests" / "doubles" / "libneuralnetworks.so"
            result = self.run_model(model, library)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            result = self.run_model(model, library, ("explain", "--json"))
            report = json.loads(result.stdout)
            self.assertGreater(report["delegates"][0]["nodes"], 10, report["delegates"])
            result = self.run_model(model, library, ("compare",))
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_missing_required_functions_are_reported(self):
        contents = (BUILD / "tests" / "doubles" / "libneuralnetworks.so").read_bytes()
        names = required()
        self.assertEqual(len(names), 23)
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                path = pathlib.Path(folder) / f"{name}.so"
                wrong = b"\0B" + name.encode()[1:] + b"\0"
                path.write_bytes(contents.replace(b"\0" + name.encode() + b"\0", wrong))
                result = self.run_model(MODELS[0], path)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"'{path}', which DEPUTY_NNAPI_LIBRARY names, lacks {name})",
                              result.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
