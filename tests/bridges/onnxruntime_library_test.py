#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the bridge to ONNX Runtime with the real library, which DEPUTY_ONNXRUNTIME_LIBRARY names; skipped
without it. Single operators are tested by the target "onnxruntime" of conformance_test.

    tests/bridges/onnxruntime_library_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = [ROOT / "examples" / "digits" / f"digits_{kind}.tflite" for kind in ("float", "int8")]
SHARED = ROOT.parent / "shared" / "models"
# Models with the tolerance of `deputy compare`; one step of the int8 model's SOFTMAX is a third of its output.
MODELS = {"face_detection_short_range": "1e-5", "hand_landmark_lite": "1e-5", "hand_recrop": "1e-5",
          "litert_torchaudio_conformer": "1e-5", "mobilenet_v2_like_int8": "0.34", "palm_detection_lite": "1e-5"}
BUILD = None  # set from the command line


class LibraryTest(unittest.TestCase):
    def deputy(self, *arguments, **environment):
        return subprocess.run([BUILD / "deputy", *arguments], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **environment})

    def nodes(self, model, delegate="onnxruntime"):
        """Returns the numbers of delegated nodes and of partitions."""
        result = self.deputy("explain", model, "--json", "--delegate", delegate)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)["delegates"][0]
        return report["nodes"], report["partitions"]

    def test_the_digits_models_run_completely_in_the_library(self):
        for model in DIGITS:
            with self.subTest(model=model.name):
                nodes, partitions = self.nodes(model)
                self.assertGreaterEqual(nodes, 16)
                self.assertEqual(partitions, 1)
                result = self.deputy("compare", model, "--delegate", "onnxruntime")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_larger_models_agree_with_the_cpu(self):
        if not SHARED.is_dir():
            self.skipTest("no models")
        for name, tolerance in MODELS.items():
            with self.subTest(model=name):
                model = SHARED / f"{name}.tflite"
                nodes, _ = self.nodes(model)
                self.assertGreaterEqual(nodes, 40 if "hand_landmark" not in name else 14)
                result = self.deputy("compare", model, "--delegate", "onnxruntime", "--tolerance", tolerance)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_options_of_sessions_are_accepted(self):
        for options in ("num_threads=2", "optimization=none", "optimization=basic", "optimization=extended"):
            result = self.deputy("compare", DIGITS[0], "--delegate", f"onnxruntime,{options}")
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_variable_names_the_library(self):
        result = self.deputy("run", DIGITS[0], "--random", "--delegate", "onnxruntime",
                             DEPUTY_ONNXRUNTIME_LIBRARY="/nowhere/libonnxruntime.so")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = self.deputy("explain", DIGITS[0], "--delegate", "onnxruntime",
                             DEPUTY_ONNXRUNTIME_LIBRARY="/nowhere/libonnxruntime.so")
        self.assertIn("which DEPUTY_ONNXRUNTIME_LIBRARY names", " ".join(result.stdout.split()))


if __name__ == "__main__":
    if not os.environ.get("DEPUTY_ONNXRUNTIME_LIBRARY"):
        sys.exit(77)
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
