#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts that run the tests: tools/run_tests.py and .ci/run.

    ci_test.py BUILD_FOLDER
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUN_TESTS = SOURCE / 'tools' / 'run_tests.py'

# A replacement for `make`: the target `asan`, if CUT_LINE is set, waits for SIGTERM and then prints
# it; `check` exits with CHECK_STATUS.
FAKE_MAKE = '''#!/bin/bash
case $1 in
  asan)
    [ -n "${CUT_LINE+x}" ] || exit 0
    trap 'echo "$CUT_LINE"; exit 143' TERM
    sleep 60 & wait $! ;;
  check) exit "${CHECK_STATUS:-0}" ;;
esac
'''


class RunTests(unittest.TestCase):
    """Tests of tools/run_tests.py with a folder of small tests."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write_tests(self, **commands):
        """Writes a CTestTestfile.cmake with one test per shell command."""
        lines = [f'add_test({name} "/bin/sh" "-c" "{command}")\n' for name, command in commands.items()]
        pathlib.Path(self.folder, 'CTestTestfile.cmake').write_text(''.join(lines), encoding='utf-8')

    def start(self, *arguments):
        return subprocess.Popen([sys.executable, RUN_TESTS, *arguments], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_tests(self, *arguments):
        process = self.start(*arguments)
        output = process.communicate(timeout=60)[0]
        return process.returncode, output

    def test_no_recorded_test_takes_more_than_two_minutes(self):
        rows = (SOURCE / 'tests' / 'durations.txt').read_text(encoding='utf-8').splitlines()
        rows = [row.split() for row in rows if not row.startswith('#')]
        self.assertGreater(len(rows), 200)
        self.assertEqual([row for row in rows if int(row[1]) > 120], [])

    def test_prints_the_time_left_from_the_recorded_durations(self):
        self.write_tests(first='true', second='true')
        durations = pathlib.Path(self.folder, 'durations.txt')
        durations.write_text('# seconds\nfirst 0.001\nsecond 600\n', encoding='utf-8')
        status, output = self.run_tests('--durations', str(durations), '--', '-j', '2')
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r'1/2 Test +#1: first .* sec, about 5 min left|second .* sec, about 0 s left')
        self.assertIn('100% tests passed, 0 tests failed out of 2', output)

    def test_returns_the_status_of_ctest(self):
        self.write_tests(good='true', bad='exit 3')
        status, output = self.run_tests('--')
        self.assertNotEqual(status, 0)
        self.assertIn('50% tests passed, 1 tests failed out of 2', output)

    def test_selects_tests_as_ctest_does(self):
        self.write_tests(good='true', bad='exit 3')
        status, output = self.run_tests('--', '-R', 'good')
        self.assertEqual(status, 0, output)
        self.assertNotIn('bad', output)

    def test_records_durations(self):
        self.write_tests(quick='true', slow='sleep 1')
        record = pathlib.Path(self.folder, 'record.txt')
        self.run_tests('--record', str(record), '--')
        rows = dict(line.split() for line in record.read_text(encoding='utf-8').splitlines())
        self.assertEqual(set(rows), {'quick', 'slow'})
        self.assertGreaterEqual(float(rows['slow']), 1.0)

    def test_reports_the_number_of_tests_when_terminated(self):
        self.write_tests(quick='true', slow='sleep 30')
        process = self.start('--')
        for line in process.stdout:
            if re.search(r'1/2 Test', line):
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=30)[0]
        self.assertEqual(output.splitlines()[-1], 'run_tests: interrupted: 1 of 2 tests ran')
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)


class CiRun(unittest.TestCase):
    """Tests of .ci/run with FAKE_MAKE in place of `make`."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / '.ci').mkdir()
        (self.folder / 'bin').mkdir()
        self.script = self.folder / '.ci' / 'run'
        shutil.copy(SOURCE / '.ci' / 'run', self.script)
        make = self.folder / 'bin' / 'make'
        make.write_text(FAKE_MAKE, encoding='utf-8')
        make.chmod(0o755)

    def run_ci(self, **variables):
        environment = dict(os.environ, PATH=f'{self.folder}/bin:{os.environ["PATH"]}', **variables)
        done = subprocess.run(['bash', str(self.script)], env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def later_budgets(self):
        """Returns the sum of the budgets of the steps after `make asan`."""
        rows = re.findall(r'^ *(\d+) +(?:whole|cut) +(make \S+)$', self.script.read_text(encoding='utf-8'), re.M)
        after = [name for _, name in rows].index('make asan') + 1
        return sum(int(budget) for budget, _ in rows[after:])

    def cut_after(self, seconds):
        """Returns the time limit of .ci/run, in seconds, that leaves `seconds` to `make asan`."""
        return str(self.later_budgets() + seconds)

    def test_runs_the_two_commands_of_the_readme_first(self):
        status, output = self.run_ci()
        self.assertEqual(status, 0, output)
        steps = re.findall(r'^ci: ==== (.*) \(budget', output, re.M)
        self.assertEqual(steps[:2], ['make run', 'make test'])
        self.assertEqual(output.splitlines()[-1], 'ci: passed')

    def test_stops_at_a_step_that_fails(self):
        status, output = self.run_ci(CHECK_STATUS='7')
        self.assertEqual(status, 1)
        self.assertIn('ci: FAILED: make check (exit status', output)
        self.assertNotIn('==== make asan', output)

    def test_accepts_a_cut_step_that_ran_half_of_its_tests(self):
        status, output = self.run_ci(CI_SECONDS=self.cut_after(2),
                                     CUT_LINE='run_tests: interrupted: 50 of 100 tests ran')
        self.assertEqual(status, 0, output)
        self.assertIn('CUT after 50 of 100 tests', output)
        self.assertEqual(output.splitlines()[-1], 'ci: passed, cut short')

    def test_refuses_a_cut_step_that_ran_less_than_half_of_its_tests(self):
        status, output = self.run_ci(CI_SECONDS=self.cut_after(2),
                                     CUT_LINE='run_tests: interrupted: 49 of 100 tests ran')
        self.assertEqual(status, 1)
        self.assertIn('cut after 49 of 100 tests, less than half', output)

    def test_refuses_a_cut_step_that_ran_no_test(self):
        status, output = self.run_ci(CI_SECONDS=self.cut_after(2), CUT_LINE='')
        self.assertEqual(status, 1)
        self.assertIn('cut before its first test', output)

    def test_refuses_budgets_that_exceed_the_limit(self):
        text = self.script.read_text(encoding='utf-8')
        self.script.write_text(text.replace("budgets='\n", "budgets='\n 4000  whole  make more\n"),
                               encoding='utf-8')
        status, output = self.run_ci()
        self.assertEqual(status, 1)
        self.assertIn('the budgets add up to', output)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
