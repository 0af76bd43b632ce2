#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/bench/balance.py: the shares of the longest thread, and its table for a model; and the speed-ups of
tools/bench/compare.py.

    tests/tools/bench_balance_test.py BUILD_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "bench" / "balance.py"
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
BUILD = None  # set from the command line
sys.path.insert(0, str(SCRIPT.parent))

import balance  # noqa: E402
import compare  # noqa: E402


class BalanceTest(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--build", BUILD, *arguments], capture_output=True, text=True,
                              timeout=300)

    def test_share_of_the_longest_thread(self):
        self.assertEqual(balance.share([], 4), 1)
        self.assertEqual(balance.share([1], 4), 1)
        self.assertEqual(balance.share([4], 4), 1 / 4)
        self.assertEqual(balance.share([7], 4), 2 / 7)
        self.assertEqual(balance.share([1, 64], 16), 1 / 16)

    def test_prints_speed_ups_and_nodes(self):
        result = self.run_script("--threads", "1,2,16", "--nodes", "3", MODEL)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0].split()[:2], ["ideal", "speed-up"])
        values = lines[1].split()
        self.assertEqual((values[0], values[1], len(values)), ("digits_float", "1.00", 5))
        self.assertTrue(1 <= float(values[2]) <= float(values[3]) <= 16, values)
        self.assertEqual(len(lines), 2 + 3)
        for line in lines[2:]:
            self.assertRegex(line, r"^  node \d+ [A-Z_0-9]+: [\d.]+ us, tasks of its jobs: (none|[\d, ]+)$")

    def test_a_job_of_one_operator_has_the_tasks_of_all_its_workers(self):
        library = balance.load(pathlib.Path(BUILD))
        times, names, jobs = balance.measure(library, MODEL, [1, 16])
        self.assertEqual(set(times), set(names))
        self.assertLessEqual(set(jobs[16]), set(times))
        most = {count: max(max(tasks) for tasks in jobs[count].values()) for count in (1, 16)}
        self.assertGreater(most[16], most[1])

    def test_speed_ups_of_the_comparison(self):
        rows = [{"model": "a", "threads": 4, "ours": (3, 2), "xnnpack": None},
                {"model": "a", "threads": 1, "ours": (7, 6), "xnnpack": (9, 8)},
                {"model": "b", "threads": 1, "ours": (1, 1), "xnnpack": (1, 1)},
                {"model": "a", "threads": 2, "ours": (5, 4), "xnnpack": (6, 5)}]
        self.assertEqual(compare.speed_ups(rows), [("a", 2, [6 / 4, 8 / 5]), ("a", 4, [6 / 2, None])])

    def test_refuses_a_file_that_is_no_model(self):
        result = self.run_script("--threads", "2", __file__)
        self.assertNotEqual(result.returncode, 0)
        self.assertTrue(re.search(r"was not prepared", result.stderr), result.stderr)


if __name__ == "__main__":
    BUILD = sys.argv.pop()
    unittest.main()
