#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `make run` and `make test` print one line per step on a machine without packages. Replacements
of dpkg-query, apt-get, cmake and ctest print as much as the real ones and install and build nothing.

    tests/tools/make_run_test.py BUILD_FOLDER
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOISE = "for i in $(seq 300); do echo \"$0 line $i\"; done\n"
TOOLS = {
    "dpkg-query": "exit 1\n",  # no package is installed
    "sudo": 'while [ "$1" = -n ]; do shift; done\nexec "$@"\n',
    "apt-get": NOISE,
    "cmake": NOISE + '[ -z "$FAIL" ] || { echo "error: $FAIL"; exit 3; }\n',
    "ctest": "echo tests ran\n",
}


class MakeRunTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        source = self.folder / "source"
        (source / "tools").mkdir(parents=True)
        (source / "tests").mkdir()
        for name in ("Makefile", "tools/setup.sh", "tools/step.sh", "tools/packages.txt",
                     "tools/run_tests.py", "tests/durations.txt"):
            shutil.copy(ROOT / name, source / name)
        for name, text in TOOLS.items():
            self.script(self.folder / "bin" / name, text)
        self.script(source / "build" / "release" / "deputy", "echo accuracy 99 %\n")

    def script(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def make(self, *arguments, **environment):
        # make exports the variables of its command line, for example those of `make asan`.
        variables = {key: value for key, value in os.environ.items()
                     if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "V", "FAIL", "BUILD", "JOBS",
                                    "SANITIZE", "TARGET", "CMAKE_ARGS", "CTEST_ARGS")}
        variables.update(environment, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        return subprocess.run(["make", *arguments], cwd=self.folder / "source", env=variables,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False)

    def log(self, name):
        return (self.folder / "source" / "build" / name).read_text().splitlines()

    def test_run_prints_a_line_per_step_and_keeps_the_output_in_logs(self):
        result = self.make("run")
        self.assertEqual(result.returncode, 0, result.stdout)
        lines = result.stdout.splitlines()
        # The output has four steps, then the three runs of the command, each with the line that
        # make prints.
        self.assertEqual(len(lines), 4 + 3 * 2, result.stdout)
        for line, log in zip(lines, ("setup-lists.log", "setup.log", "release/configure.log",
                                     "release/build.log")):
            self.assertRegex(line, rf"^[^(]+ \(log: build/{log}\): \d+ s$")
            self.assertEqual(len(self.log(log)), 300)
        self.assertEqual(lines[-1], "accuracy 99 %")

    def test_test_prints_a_line_per_step_before_the_tests(self):
        result = self.make("test")
        self.assertEqual(result.returncode, 0, result.stdout)
        lines = result.stdout.splitlines()
        self.assertLess(len(lines), 10, result.stdout)
        self.assertEqual(lines[-1], "tests ran")

    def test_a_failure_shows_the_end_of_the_log(self):
        result = self.make("run", FAIL="no compiler")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("(log: build/release/configure.log): failed with 3; the end of the log:\n",
                      result.stdout)
        self.assertIn("error: no compiler\n", result.stdout)
        self.assertIn("line 300\n", result.stdout)
        self.assertNotIn("line 200\n", result.stdout)
        self.assertNotIn("accuracy", result.stdout)

    def test_v_shows_the_output(self):
        result = self.make("run", "V=1")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertGreater(len(result.stdout.splitlines()), 1200)


if __name__ == "__main__":
    if not shutil.which("make"):
        print("make_run_test: there is no make here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
