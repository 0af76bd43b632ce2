#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/bench/gpu_transfers.py on the processor's OpenCL: its table, its JSON and its failures.

    tests/tools/gpu_transfers_test.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "bench" / "gpu_transfers.py"
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
BUILD = None  # set from the command line
COLUMNS = ["pageable", "pinned", "tasks", "device", "kernels"]


class GpuTransfersTest(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--build", BUILD, "--device", "cpu", "--tuning", "none", "--secs",
                               "0", "--runs", "2", "--no-peers", *arguments], capture_output=True, text=True, timeout=300)

    def test_a_row_has_all_measurements(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.json"
            result = self.run_script("--batches", "1,3", "--precisions", "fp32,fp16", "--out", out, MODEL)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            rows = [line.strip("| ").split(" | ") for line in result.stdout.splitlines()]
            self.assertEqual([name.split(",")[0] for name in rows[0][3:]], COLUMNS)
            self.assertEqual([row[:3] for row in rows[2:]], [["digits_float", batch, precision] for batch in "13"
                                                             for precision in ("fp32", "fp16")])
            for row in rows[2:]:
                self.assertTrue(all(float(cell) > 0 for cell in row[3:]), row)
            records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
            self.assertEqual(len(records), 4)
            for record, row in zip(records, rows[2:]):
                self.assertEqual([f"{record[name]:.3f}" for name in COLUMNS], row[3:])

    def test_failures_have_a_text(self):
        result = self.run_script("--device", "no such device", "--batches", "1", MODEL)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no such device", result.stderr)
        result = self.run_script("no_such_model")
        self.assertEqual((result.returncode, result.stdout.count("\n")), (1, 2))
        self.assertEqual(result.stderr, "no_such_model: expected a file, or one of mobilenet_v2, resnet50\n")
        self.assertEqual(self.run_script("--tasks", "0", MODEL).returncode, 2)


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    if not (pathlib.Path(BUILD) / "libdeputy_gpu.so").exists():
        print("the GPU delegate is not built: skipped")
        sys.exit(77)
    devices = subprocess.run([pathlib.Path(BUILD) / "deputy", "devices"], capture_output=True, text=True, check=False)
    if "cpu" not in devices.stdout.lower():
        print("OpenCL has no processor here: skipped")
        sys.exit(77)
    unittest.main()
