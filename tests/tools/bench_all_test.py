#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy bench --all-delegates`: the rows and columns of the table, and that a delegate that is
absent, wrong, failing or crashing has a row, too. Times are not compared, except for their order.

    tests/tools/bench_all_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
QUICK = ("--runs", "2", "--min-secs", "0", "--warmup", "0")
BUILD = None  # set from the command line


def bench(*arguments, **environment):
    variables = {**os.environ, "DEPUTY_PLUGIN_PATH": "", "DEPUTY_OPENCL_LIBRARY": "none",
                 **environment}
    return subprocess.run([BUILD / "deputy", "bench", MODEL, "--all-delegates", *QUICK,
                           *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env=variables)


def plugin(name):
    return BUILD / "tests" / "plugins" / f"lib{name}.so"


class BenchAllTest(unittest.TestCase):
    def rows(self, *arguments, **environment):
        """Returns the rows of the ranking by name; checks that it is sorted, and that nothing else is
        printed."""
        result = bench("--json", *arguments, **environment)
        # QEMU reports the crash of a process that it emulates.
        errors = re.sub(r"qemu: uncaught target signal .*\n", "", result.stderr)
        self.assertEqual((result.returncode, errors), (0, ""))
        report = json.loads(result.stdout)
        self.assertEqual(report["node_count"], 16)
        rows = report["ranking"]
        medians = [row["median_ms"] for row in rows if row["available"]]
        self.assertEqual(medians, sorted(medians))
        self.assertEqual([row["available"] for row in rows],
                         sorted((row["available"] for row in rows), reverse=True))
        by_name = {row["name"]: row for row in rows}
        self.assertEqual(len(by_name), len(rows), "a delegate has two rows")
        return by_name

    def test_compares_the_cpu_with_every_included_delegate(self):
        rows = self.rows()
        self.assertLessEqual({"CPU", "gpu", "xnnpack", "npu_stub"}, set(rows))
        cpu, npu = rows["CPU"], rows["npu_stub"]
        self.assertEqual((cpu["nodes"], cpu["partitions"], cpu["runs"]), (0, 0, 2))
        self.assertNotIn("largest_difference", cpu)
        self.assertEqual((npu["nodes"], npu["partitions"], npu["nan"], npu["degraded"]),
                         (16, 1, 0, False))
        self.assertLess(npu["largest_difference"], 1e-5)
        for row in (cpu, npu):
            for name in ("init_ms", "first_ms", "median_ms", "p99_ms", "added_bytes"):
                self.assertGreater(row[name], 0, name)
            self.assertGreaterEqual(row["resident_peak_bytes"], row["added_bytes"])
            self.assertLessEqual(row["median_ms"], row["p99_ms"])

    def test_reports_why_a_delegate_is_unavailable(self):
        rows = self.rows("--external_delegate_path=/nowhere/libx.so", "--use_hexagon",
                         "--delegate", "npu_stub,nonsense=1")
        self.assertIn("disabled by DEPUTY_OPENCL_LIBRARY=none" if (BUILD / "libdeputy_gpu.so").exists()
                      else "opencl-headers", rows["gpu"]["problem"])
        self.assertIn("/nowhere/libx.so", rows["libx.so"]["problem"])
        self.assertIn("libhexagon_interface.so", rows["hexagon"]["problem"])
        self.assertIn("nonsense", rows["npu_stub,nonsense=1"]["problem"])
        for name in ("gpu", "libx.so", "hexagon"):
            self.assertFalse(rows[name]["available"])
            self.assertNotIn("median_ms", rows[name])

    def test_runs_plug_ins_of_folders_and_arguments(self):
        folder = f"{plugin('wrong')}:{plugin('elementwise')}:{plugin('crashing')}:{MODEL}"
        rows = self.rows("--delegate", f"{plugin('wrong')},how=nan", "--delegate",
                         f"{plugin('elementwise')},ops=18", DEPUTY_PLUGIN_PATH=folder)
        # Delegates given on the command line are not listed again by the search.
        nan, none = rows["libwrong.so,how=nan"], rows["libelementwise.so,ops=18"]
        self.assertEqual((nan["nan"], nan["nodes"]), (10, 2))
        self.assertEqual((none["nodes"], none["largest_difference"]), (0, 0))
        self.assertIn("signal", rows["libcrashing.so"]["problem"])
        self.assertIn("ELF", rows["digits_float.tflite"]["problem"])
        rows = self.rows(DEPUTY_PLUGIN_PATH=folder)
        wrong, = (row for name, row in rows.items() if "rong" in name)
        self.assertGreater(wrong["largest_difference"], 1e-6)
        self.assertEqual(wrong["nan"], 0)

    def test_failing_and_crashing_delegates_are_rows(self):
        # Without handle_segv=0 a sanitizer would report the crash.
        options = f"{os.environ.get('ASAN_OPTIONS', '')}:handle_segv=0".lstrip(":")
        rows = self.rows("--delegate", "npu_stub,faults=run", "--delegate", plugin("crashing"),
                         ASAN_OPTIONS=options)
        self.assertTrue(rows["npu_stub,faults=run"]["degraded"])
        self.assertIn("ended by signal 11", rows["libcrashing.so"]["problem"])

    def test_prints_a_table(self):
        result = bench("--delegate", "npu_stub,faults=run", "--delegate", f"{plugin('wrong')},how=nan")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], f"model      {MODEL}")
        table = [re.split(r" {2,}", line.strip()) for line in lines[3:]]
        self.assertEqual(table[0], ["init ms", "first ms", "median ms", "p99 ms", "speed-up",
                                    "memory", "nodes claimed", "difference", "run by"])
        cells = {row[7 if row[6] == "0 of 16" else 8]: row for row in table[1:]}
        self.assertEqual((cells["CPU"][4], len(cells["CPU"])), ("1.00", 8))
        self.assertEqual(cells["npu_stub,faults=run"][6], "16 of 16")
        self.assertRegex(cells["npu_stub,faults=run"][-1], "^degraded: ")
        self.assertEqual(cells["libwrong.so,how=nan"][6:8], ["2 of 16", "10 NaN"])
        self.assertRegex(cells["gpu"][-1], "^not available: ")

    def test_refuses_options_that_a_ranking_cannot_show(self):
        for flag in ("--dry_run", "--require_delegate", "--trace=x.json", "--verify=first"):
            result = bench(flag)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, rf"\Adeputy: --all-delegates excludes {flag.split('=')[0]}\n")
        result = bench("--shape", "image=28,28")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("shapes in the model: 'image' [1, 28, 28, 1]", result.stderr)
        result = bench("--shape", "unknown=1")
        self.assertEqual((result.returncode, result.stdout), (2, ""))

    def test_findings_of_the_validation_layer_count(self):
        result = bench("--validate", "--json", "--delegate", f"{plugin('throwing')},in=prepare")
        self.assertEqual(result.returncode, 1, result.stderr)
        row, = (row for row in json.loads(result.stdout)["ranking"] if "throwing" in row["name"])
        self.assertIn("it cannot be applied: ", row["problem"])


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
