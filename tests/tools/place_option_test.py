#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests --place, --place-budget and --place-cache of `run`, `explain` and `bench` with the delegate for NPUs, whose
calls a layer delays.

    tests/tools/place_option_test.py BUILD_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
BUILD = None  # set from the command line


class PlaceTest(unittest.TestCase):
    def deputy(self, command, *arguments, options=""):
        delegate = f"{BUILD}/libdeputy_npu_stub.so{options}"
        return subprocess.run([BUILD / "deputy", command, MODEL, "--delegate", delegate,
                               "--layer", "fault=invoke:*:delay:5ms", *map(str, arguments)],
                              capture_output=True, text=True, timeout=300, check=False)

    def explain(self, *arguments, **options):
        result = self.deputy("explain", "--json", *arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_nodes_of_a_slow_delegate_run_on_the_cpu(self):
        self.assertGreater(self.explain()["delegated"], 0)
        report = self.explain("--place")
        self.assertEqual(report["delegated"], 0)
        placement = report["placement"]
        self.assertEqual(placement["used"], [False])
        self.assertFalse(placement["from_cache"])
        names = [each["name"] for each in placement["alternatives"]]
        self.assertEqual(names[0], "CPU")
        self.assertIn("delegate 0", names)
        times = [each["measured_ns"] for each in placement["alternatives"]]
        self.assertEqual(times, sorted(times))
        delegate, = report["delegates"]
        self.assertEqual(delegate["failure"], "the placement does not use it")
        text = self.deputy("explain", "--place").stdout
        self.assertRegex(text, r"placement  CPU: [\d.]+ ms measured, [\d.]+ ms predicted; 0 delegated nodes")
        self.assertRegex(text, r"delegate 0: [\d.]+ ms measured")

    def test_run_places_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, arguments in (("placed", ["--place"]), ("in_order", [])):
                result = self.deputy("run", "--random", "-o", f"{folder}/{name}", *arguments)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(list(pathlib.Path(folder, name).glob("*.npy")))
            # The profile names the delegate's kernel only if a node runs in it.
            profiles = [self.deputy("run", "--random", "--profile", *arguments).stdout
                        for arguments in (["--place"], [])]
        self.assertNotIn("NpuGraph0", profiles[0])
        self.assertIn("NpuGraph0", profiles[1])

    def test_bench_places_nodes(self):
        few = ("--num_runs", 3, "--warmup_runs", 1)
        result = self.deputy("bench", "--json", "--place", *few)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["placement"]["used"], [False])
        self.assertEqual(report["summary"], "16 nodes on the CPU, no delegate used")
        self.assertNotIn("placement", json.loads(self.deputy("bench", "--json", *few).stdout))
        text = self.deputy("bench", "--place", *few).stdout
        self.assertRegex(text, r"(?m)^placement  CPU: [\d.]+ ms measured")
        # A delegate without delay gets nodes, also if another one is not available.
        command = [BUILD / "deputy", "bench", MODEL, "--json", "--place", "--num_runs=3", "--use_hexagon=true",
                   "--delegate", BUILD / "libdeputy_xnnpack.so"]
        if (BUILD / "libdeputy_xnnpack.so").exists():
            report = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=300,
                                               check=True).stdout)
            self.assertFalse(report["placement"]["used"][0])
            self.assertIn("delegate 0", [each["name"] for each in report["placement"]["alternatives"]])

    def test_the_budget_limits_the_measurements(self):
        few = self.explain("--place", "--place-budget", 1)["placement"]["measurements"]
        self.assertLessEqual(few, 2)
        self.assertGreater(self.explain("--place")["placement"]["measurements"], 2)
        result = self.deputy("run", "--place", "--place-budget", 0)
        self.assertEqual(result.returncode, 2)

    def test_the_plan_is_stored_for_the_same_circumstances(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--place", "--place-cache", pathlib.Path(folder) / "new"]
            first, second = self.explain(*arguments), self.explain(*arguments)
            self.assertFalse(first["placement"]["from_cache"])
            self.assertTrue(second["placement"]["from_cache"])
            self.assertEqual(second["placement"]["measurements"], 0)
            self.assertEqual(second["placement"]["used"], first["placement"]["used"])
            self.assertFalse(self.explain(*arguments, options=",frequency=1")["placement"]["from_cache"])
            self.assertFalse(self.explain(*arguments, "--threads", 2)["placement"]["from_cache"])
            file, *others = pathlib.Path(folder, "new").glob("placement_*.bin")
            self.assertEqual(len(others), 2)
            for stored in (file, *others):
                stored.write_bytes(stored.read_bytes()[:-1])
            self.assertFalse(self.explain(*arguments)["placement"]["from_cache"])
            self.assertTrue(self.explain(*arguments)["placement"]["from_cache"])

    def test_other_restrictions_are_refused(self):
        for other in (["--pin", "#0=0"], ["--exclude", "#0"], ["--background"], ["--shape", "image=2,28,28,1"]):
            result = self.deputy("explain", "--place", *other)
            self.assertEqual(result.returncode, 2, other)
            self.assertIn("--place excludes --pin", result.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
