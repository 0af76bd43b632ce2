#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the number and duration of `deputy bench`'s measurements, by default and with its options, and that
the times of nodes add up. The clock is a virtual one (tests/plugins/virtual_clock.c), advanced by the nodes
of a recorder (tests/plugins/recorder.c): counts and times are exact on any machine.

    tests/tools/bench_clock_test.py BUILD_FOLDER
"""
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from sanitized import needs_runtime  # noqa: E402  (needs the path above)

MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
NODES = 16
UNITS = NODES * (NODES + 1) // 2  # duration of an inference, in sleeps of the first node
BUILD = None  # set from the command line


class BenchClockTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def deputy(self, sleep_us, *arguments):
        self.log.unlink(missing_ok=True)
        plugins = BUILD / "tests" / "plugins"
        variables = {**os.environ, "LD_PRELOAD": str(plugins / "libvirtual_clock.so"),
                     "RECORDER_LOG": str(self.log), "RECORDER_SLEEP_US": str(sleep_us)}
        command, *rest = map(str, arguments)
        result = subprocess.run([BUILD / "deputy", command, MODEL, "--delegate",
                                 plugins / "librecorder.so", *rest],
                                capture_output=True, text=True, timeout=300, env=variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def bench(self, sleep_us, *arguments):
        return json.loads(self.deputy(sleep_us, "bench", "--json", *arguments))

    def starts(self):
        """Returns the start time of each inference, in seconds."""
        rows = [line.split() for line in self.log.read_text().splitlines()]
        return [int(row[2]) / 1e9 for row in rows if row[:2] == ["invoke", "0"]]

    # An inference takes 136 ms: one is run first, four in half a second of warm-up, 50 in the
    # measurement, and 50 with the profile.
    def test_defaults_with_a_slow_model(self):
        report = self.bench(1000)
        self.assertEqual((report["runs"], report["profiled_runs"]), (50, 50))
        self.assertEqual(len(self.starts()), 1 + 4 + 50 + 50)

    # An inference takes 1.36 ms, which determines the numbers for half a second of warm-up and one
    # second of measurement.
    def test_defaults_with_a_fast_model(self):
        report = self.bench(10)
        inference = report["mean_ms"] / 1e3
        self.assertAlmostEqual(report["runs"] * inference, 1, delta=0.02)
        warmups = len(self.starts()) - 1 - report["runs"] - report["profiled_runs"]
        self.assertAlmostEqual(warmups * inference, 0.5, delta=0.02)

    # An inference takes 13.6 s: one is run for the warm-up, and none begins after 150 s.
    def test_defaults_with_a_very_slow_model(self):
        report = self.bench(100000)
        self.assertEqual((report["runs"], report["profiled_runs"]), (12, 12))
        self.assertEqual(len(self.starts()), 1 + 1 + 12 + 12)

    def test_options(self):
        # Rows: options; numbers of inferences for warm-up, measurement and profile. Each inference
        # takes 136 ms.
        once = ["--runs=1", "--min-secs=0", "--warmup=0"]
        for options, expected in (
                (once, (0, 1, 1)), (["--runs=3", *once[1:]], (0, 3, 3)),
                (["--runs=70", *once[1:]], (0, 70, 50)),
                (["--runs=1", "--min-secs=3", "--warmup=0"], (0, 23, 1)),
                (["--runs=1", "--min-secs=5", "--warmup=0"], (0, 37, 1)),
                (["--runs=50", "--max-secs=1", "--warmup=0"], (0, 8, 8)),
                (["--runs=50", "--max-secs=2", "--warmup=0"], (0, 15, 15)),
                ([*once[:2], "--warmup=2", "--warmup-secs=0"], (2, 1, 1)),
                ([*once[:2], "--warmup=5", "--warmup-secs=0"], (5, 1, 1)),
                ([*once[:2], "--warmup-secs=1"], (8, 1, 1)),
                ([*once[:2], "--warmup-secs=2"], (15, 1, 1)),
                ([*once, "--enable-op-profiling=false"], (0, 1, 0))):
            with self.subTest(options=options):
                report = self.bench(1000, *options)
                warmup, runs, profiled = expected
                self.assertEqual((report["runs"], report.get("profiled_runs", 0)), (runs, profiled))
                self.assertEqual(len(self.starts()), 1 + warmup + runs + profiled)

    def test_pauses_between_inferences(self):
        inference = UNITS / 1e3
        plain = ["--runs=4", "--min-secs=0", "--warmup=0", "--enable-op-profiling=false"]
        for options, gap in ((plain, inference), ([*plain, "--run-delay=0.5"], inference + 0.5),
                             ([*plain, "--run-delay=2"], inference + 2),
                             ([*plain, "--run-frequency=5"], 0.2),
                             ([*plain, "--run-frequency=2"], 0.5)):
            with self.subTest(options=options):
                self.deputy(1000, "bench", *options)
                starts = self.starts()[1:]
                for first, second in zip(starts, starts[1:]):
                    self.assertAlmostEqual(second - first, gap, delta=0.002)

    def test_times_of_nodes_are_correct_and_add_up(self):
        options = ["--runs=5", "--min-secs=0", "--warmup=0"]
        report = self.bench(1000, *options)
        times = {node["node"]: node["ms"] for node in report["nodes"]}
        self.assertEqual(len(times), NODES)
        self.check_times(list(times.values()), report["mean_ms"])
        self.assertAlmostEqual(sum(row["ms"] for row in report["operators"]), report["mean_ms"],
                               delta=0.05 * report["mean_ms"])
        for label in ("min_ms", "median_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms", "mean_ms"):
            self.assertAlmostEqual(report[label], UNITS, delta=0.01 * UNITS)
        path = self.folder / "profile.csv"
        self.bench(1000, *options, f"--op-profiling-output-file={path}")
        rows = list(csv.DictReader(path.read_text().splitlines()))
        column = next(name for name in rows[0] if "ms" in name)
        self.check_times([float(row[column]) for row in rows], report["mean_ms"])
        shares = [float(row["share"]) for row in rows]
        for node, share in enumerate(shares):
            self.assertAlmostEqual(share, (node + 1) / UNITS, delta=0.001)

    def check_times(self, times, total):
        self.assertAlmostEqual(sum(times), total, delta=0.05 * total)
        for at, time in enumerate(sorted(times)):
            self.assertAlmostEqual(time, at + 1, delta=0.05)

    def test_explain_measures_the_requested_inferences(self):
        for count, more in ((10, ["--profile"]), (3, ["--profile=3"])):
            report = json.loads(self.deputy(1000, "explain", "--json", *more))
            times = [row["cost_ns"] / 1e6 for row in report["subgraphs"][0]["partitions"]]
            self.check_times(times, report["delegated_ns"] / 1e6)
            self.assertAlmostEqual(report["delegated_ns"] / 1e6, UNITS, delta=0.05 * UNITS)
            self.assertEqual(len(self.starts()), 1 + count)  # the first is not measured
        self.deputy(1000, "explain", "--json")
        self.assertEqual(self.starts(), [])

    def test_run_profiles_its_inferences(self):
        text = self.deputy(1000, "run", "--random", "--profile")
        self.assertEqual(len(self.starts()), 1)
        self.assertRegex(text, r"(?m)^Recorder +Recorder +16 +136\.0\d+ +100\.0 %$")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    if needs_runtime(BUILD / "libdeputy.so.1"):
        print("a sanitizer's runtime has to be preloaded first: the clock cannot be")
        sys.exit(77)
    unittest.main()
