#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy certify` as a command: delegates that each break one rule, with the expected verdict, and
Deputy's delegates, which must be certified. Reports are parsed by Python's own parsers.

    tests/tools/certify_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = None  # set from the command line
BAD = ("fail", "crash", "timeout")


def run(library, *options):
    """Returns the exit code, and standard output followed by standard error."""
    result = subprocess.run([BUILD / "deputy", "certify", str(library), "--jobs", "2", *options],
                            capture_output=True, text=True, timeout=600, check=False)
    return result.returncode, result.stdout + result.stderr


def certify(library, *options):
    """Returns the exit code, and the report with its rows by name."""
    code, text = run(library, "--json", *options)
    report = json.loads(text)
    return code, report, {row["name"]: row for row in report["rows"]}


def wrong(name):
    return BUILD / "tests" / "plugins" / f"libwrong_{name}.so"


class MisbehavingTest(unittest.TestCase):
    def bad_rows(self, name, *options):
        code, report, rows = certify(wrong(name), "--only", "ADD float32", *options)
        bad = {row: found for row, found in rows.items() if found["status"] in BAD}
        self.assertEqual((code, report["verdict"]), (1, "not certified") if bad else
                         (0, report["verdict"]), report["summary"])
        return bad

    def test_nan_and_infinity_are_found(self):
        for name, text in (("nan", "is nan"), ("infinity", "is inf")):
            _, report, rows = certify(wrong(name), "--only", "ADD")
            self.assertEqual(report["verdict"], "not certified")
            for row in ("life/ADD float32/agrees", "life/ADD float32/loop", "operators/ADD"):
                self.assertEqual(rows[row]["status"], "fail")
                self.assertIn(text, rows[row]["text"])

    def test_writing_past_an_output_is_found(self):
        bad = self.bad_rows("overwrite")
        self.assertIn("V31 writes-outside-output", bad["life/ADD float32/agrees"]["text"])
        self.assertEqual(bad["life/ADD float32/client-memory"]["status"], "crash")

    def test_leaks_are_found(self):
        found = self.bad_rows("leak")
        self.assertIn("an inference leaks", found["life/ADD float32/growth-inferences"]["text"])
        self.assertEqual({name.split("/")[2].split("-")[0] for name in found}, {"growth"})
        found = self.bad_rows("leakkernel")
        self.assertEqual(set(found), {"life/ADD float32/growth-interpreters",
                                      "life/ADD float32/growth-resizes"})

    def test_a_hanging_delegate_is_killed(self):
        code, _, rows = certify(wrong("hang"), "--only", "/agrees", "--timeout", "1")
        self.assertEqual((code, rows["life/ADD float32/agrees"]["status"]), (1, "timeout"))
        self.assertIn("inference 3", rows["life/ADD float32/agrees"]["text"])

    def test_a_crash_is_a_row_with_its_position(self):
        code, _, rows = certify(wrong("crashresize"), "--only", "resize")
        self.assertEqual((code, rows["life/ADD float32/resize"]["status"]), (1, "crash"))
        self.assertIn("resize 7 of 12", rows["life/ADD float32/resize"]["text"])
        self.assertEqual(rows["life/ADD float32/resize-first"]["status"], "pass")

    def test_ending_the_process_is_a_crash(self):
        found = self.bad_rows("exit")
        self.assertEqual(found["life/ADD float32/agrees"]["status"], "crash")
        self.assertIn("the process exited", found["life/ADD float32/agrees"]["text"])

    def test_a_correct_but_slow_delegate_is_certified_with_a_remark(self):
        code, report, rows = certify(wrong("slow"), "--only", "ADD float32")
        self.assertEqual((code, report["verdict"]), (0, "certified, but slow"))
        self.assertEqual(rows["speed/ADD float32/speed"]["status"], "remark")
        code, report, _ = certify(wrong("slow"), "--only", "speed", "--max-slowdown", "5")
        self.assertEqual((code, report["verdict"]), (1, "not certified"))

    def test_a_library_without_a_delegate_is_not_certified(self):
        for library in (wrong("emptyhanded"), BUILD / "no_such_library.so"):
            code, report, rows = certify(library)
            self.assertEqual((code, report["verdict"]), (1, "not certified"))
            self.assertEqual(rows["library/takes"]["status"], "fail")
            self.assertLess(len(rows), 20)


class ProgressTest(unittest.TestCase):
    """Tests of a running command. Most cases of libwrong_hang take ten minutes before they are killed,
    so the command does not end by itself during a test."""

    def start(self, *options):
        return subprocess.Popen([BUILD / "deputy", "certify", wrong("hang"), "--jobs", "2",
                                 "--timeout", "600", *options],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_rows_are_printed_as_they_are_found(self):
        with self.start("--all") as command:
            first = command.stdout.readline()
            self.assertRegex(first, r"^pass +library/")
            command.send_signal(signal.SIGTERM)
            text, errors = command.communicate(timeout=300)
        self.assertEqual((command.returncode, errors), (1, ""), text)
        self.assertNotIn(first, text)
        self.assertRegex(text, r"libwrong_hang.so: not certified: .*, interrupted: [1-9]\d* cases "
                               r"not run\n$")

    def test_an_interrupted_run_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            junit = pathlib.Path(folder) / "junit"
            with self.start("--json", "--progress", "--junit", str(junit)) as command:
                line = command.stderr.readline()
                command.send_signal(signal.SIGINT)
                text, _ = command.communicate(timeout=300)
            suite = xml.etree.ElementTree.parse(junit).getroot()
        report = json.loads(text)
        self.assertEqual((command.returncode, report["verdict"]), (1, "not certified"))
        self.assertRegex(line, r"^1/\d+ pass library/takes, ")
        done = [row["name"] for row in report["rows"] if row["status"] != "not run"]
        self.assertIn("library/takes", done)
        left = report["counts"]["not run"]
        self.assertEqual(len(done) + left, len(report["rows"]))
        self.assertIn(f", interrupted: {left} cases not run", report["summary"])
        self.assertGreaterEqual(int(suite.get("errors")), left)

    def test_a_line_for_each_case(self):
        result = subprocess.run([BUILD / "deputy", "certify", wrong("nothing"), "--only",
                                 "life/ADD float32/resize", "--progress", "--all"],
                                capture_output=True, text=True, timeout=300, check=True)
        lines = result.stderr.splitlines()
        for number, line in enumerate(lines, 1):
            self.assertRegex(line, rf"^{number}/{len(lines)} pass life/ADD float32/resize.*, "
                                   r"\d+\.\d s$")
        self.assertEqual(len(lines), result.stdout.count("pass "))
        self.assertGreater(len(lines), 1)

    def test_the_line_of_a_failed_case_has_the_reason(self):
        result = subprocess.run([BUILD / "deputy", "certify", wrong("crashresize"), "--only",
                                 "life/ADD float32/resize", "--progress", "--json"],
                                capture_output=True, text=True, timeout=300, check=False)
        self.assertRegex(result.stderr, r"(?m)^\d/\d crash life/ADD float32/resize, \d+\.\d s: "
                                        r"signal .*, at: resize 7 of 12")

    def test_a_terminal_has_one_line(self):
        master, terminal = pty.openpty()
        text = b""
        with subprocess.Popen([BUILD / "deputy", "certify", wrong("crashresize"), "--only",
                               "life/ADD float32/resize"],
                              stdout=subprocess.PIPE, stderr=terminal) as command:
            os.close(terminal)
            try:
                while block := os.read(master, 4096):
                    text += block
            except OSError:  # the other end is closed
                pass
            command.communicate(timeout=300)
        os.close(master)
        self.assertEqual(command.returncode, 1)
        self.assertNotIn(b"\n", text)
        drawn = [line.removesuffix(b"\033[K").decode() for line in text.split(b"\r")]
        self.assertTrue(any(line.startswith("library/takes") for line in drawn), drawn)
        self.assertTrue(any(re.match(r"\d/\d life/ADD float32/resize: resize 1 of 12", line)
                            for line in drawn), drawn)
        self.assertEqual(drawn[-1], "")
        self.assertLess(max(map(len, drawn)), 80)


class CorrectTest(unittest.TestCase):
    def test_a_correct_counterpart_is_certified(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {name: pathlib.Path(folder) / name for name in ("html", "junit", "badge")}
            options = [f"--{name}={path}" for name, path in files.items()]
            code, report, rows = certify(wrong("nothing"), *options)
            # It is a program in plain C, several times slower than the CPU's kernels.
            self.assertEqual(code, 0, report["summary"])
            self.assertIn(report["verdict"], ("certified", "certified, but slow"))
            self.assertGreater(len(rows), 190)
            library = {name.removeprefix("library/") for name in rows if name.startswith("library/")}
            self.assertLessEqual({"loads", "creates", "no-options", "defaults", "unknown-option",
                                  "empty-option", "long-option", "wrong-values", "create-threads",
                                  "growth-delegates", "process", "ends", "takes"}, library)
            self.assertIn("ADD", report["operators"])
            suite = xml.etree.ElementTree.parse(files["junit"]).getroot()
            self.assertEqual(len(suite.findall("testcase")), len(rows))
            self.assertEqual((suite.get("failures"), suite.get("errors")), ("0", "0"))
            badge = xml.etree.ElementTree.parse(files["badge"]).getroot()
            self.assertIn(report["summary"], "".join(badge.itertext()))
            page = files["html"].read_text(encoding="utf-8")
            self.assertIn("operators/<wbr>ADD", page)
            self.assertIn("prefers-color-scheme: dark", page)

    def ours(self):
        doubles = BUILD / "tests" / "doubles"
        xnnpack = ["xnnpack"] if (BUILD / "libdeputy_xnnpack.so").exists() else []
        onnxruntime = ["onnxruntime"] if os.environ.get("DEPUTY_ONNXRUNTIME_LIBRARY") else []
        return [str(BUILD / "examples" / "libsoftmax_delegate.so"),
                str(BUILD / "examples" / "libmindspore_plugin.so"), "npu_stub",
                "cpu", f"nnapi,library={doubles}/libneuralnetworks.so",
                f"hexagon,interface_library={doubles}/hexagon/libhexagon_interface.so", *xnnpack, *onnxruntime]

    def test_included_delegates_are_certified(self):
        for library in self.ours():
            code, text = run(library)
            self.assertEqual(code, 0, text)

    def growth_of_included_delegates(self):
        """Used with sanitizers, where the complete suite takes minutes for each delegate."""
        for library in self.ours():
            code, text = run(library, "--only", "growth")
            self.assertEqual(code, 0, text)

    def test_the_gpu_passes_the_lifecycle_tests(self):
        if not (BUILD / "libdeputy_gpu.so").exists():
            self.skipTest("built without OpenCL")
        if subprocess.run([BUILD / "deputy", "devices", "gpu"], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("no OpenCL device")
        # Only one case runs, because the GPU's operators take minutes to compile; conformance_test
        # covers them.
        code, text = run("gpu,device=cpu,optimize=false", "--only", "life/ADD float32")
        self.assertEqual(code, 0, text)

    def test_operators_count_only_if_the_delegate_runs_them(self):
        for name, is_counted in (("operators/IF", False), ("operators/ADD", True)):
            code, report, rows = certify("npu_stub", "--only", name)
            self.assertEqual((code, rows[name]["status"]), (0, "pass"))
            self.assertEqual(name.partition("/")[2] in report["operators"], is_counted)

    def test_a_model_of_the_vendor(self):
        model = ROOT / "examples" / "digits" / "digits_float.tflite"
        code, report, rows = certify(BUILD / "examples" / "libsoftmax_delegate.so", "--model",
                                     str(model), "--only", "life")
        self.assertEqual((code, report["verdict"]), (0, "certified"), report)
        self.assertEqual(rows["life/digits_float.tflite/agrees"]["status"], "pass")
        self.assertEqual(rows["life/digits_float.tflite/resize"]["status"], "skipped")


class UsageTest(unittest.TestCase):
    def test_invalid_arguments(self):
        self.assertEqual(run(wrong("nothing"), "--only", "no such case")[0], 2)
        self.assertEqual(run(wrong("nothing"), "--model", "no_such_file")[0], 2)
        self.assertEqual(run(wrong("nothing"), "--no-such-option")[0], 2)

    def test_cases_are_listed(self):
        code, text = run(wrong("nothing"), "--list")
        self.assertEqual(code, 0)
        self.assertIn("life/ADD float32/growth-inferences", text)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    if not (BUILD / "deputy-certify").exists():
        sys.exit(77)
    if "DEPUTY_SANITIZE:STRING=\n" in (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"):
        unittest.main()
    # A sanitizer aborts some of the misbehaving delegates with its own report, before certify can
    # classify the error. Freed memory that it keeps in quarantine would count as growth.
    os.environ["ASAN_OPTIONS"] = (os.environ.get("ASAN_OPTIONS", "") +
                                  ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0")
    unittest.main(defaultTest="CorrectTest.growth_of_included_delegates")
