#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy run` with many inputs: --output, --resume and --workers.

    tests/tools/run_items_test.py BUILD_FOLDER
"""
import fcntl
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits"
MODEL, INT8, IMAGES = DIGITS / "digits_float.tflite", DIGITS / "digits_int8.tflite", DIGITS / "images"
BOXES = ROOT / "tests" / "data" / "streams" / "keras_boxes_i8.tflite"
TWO_INPUTS = ROOT / "examples" / "cpp_delegate" / "multiply_add.tflite"
STATEFUL = ROOT / "tests" / "data" / "streams" / "svdf_i8.tflite"
BUILD = None  # set from the command line


def command(*arguments):
    return [BUILD / "deputy", "run", *map(str, arguments)]


def deputy(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=300, check=False)


class ItemsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "out.jsonl"
        self.job = self.folder / "out.jsonl.job"

    def some_images(self, count, copies=1):
        """Returns a folder with links to the first images, each under several names."""
        folder = self.folder / "images"
        folder.mkdir()
        for copy in range(copies):
            for image in sorted(IMAGES.iterdir())[:count]:
                (folder / f"{copy:03}_{image.name}").symlink_to(image)
        return folder

    def fine(self, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, text, *arguments, status=2):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, status, result.stdout)
        self.assertIn(text, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)

    def lines(self):
        return [json.loads(line) for line in self.output.read_text().splitlines()]


class OutputTest(ItemsTest):
    def test_each_image_has_a_line_with_its_outputs(self):
        folder = self.some_images(20)
        printed = self.fine(MODEL, "--image", folder, "--output", self.output)
        self.assertEqual(printed, f"{self.output}: 20 lines in {min(2, os.cpu_count())} interpreters, "
                                  "0 from an earlier run, 0 failed\n")
        self.assertEqual([line["input"] for line in self.lines()], sorted(os.listdir(folder)))
        for line in self.lines()[::5]:
            alone = self.fine(MODEL, "--image", folder / line["input"])
            for value, expected in zip(line["outputs"]["Identity"], alone.splitlines()[1].split(), strict=True):
                self.assertAlmostEqual(value, float(expected), delta=1e-6 * float(expected))
        self.assertFalse(self.job.exists())

    def test_outputs_with_one_name_have_different_ones(self):
        model = self.folder / "model.tflite"
        content = BOXES.read_bytes()
        self.assertEqual(content.count(b"\x0a\0\0\0Identity_1\0"), 1)
        model.write_bytes(content.replace(b"\x0a\0\0\0Identity_1\0", b"\x08\0\0\0Identity\0\0\0"))
        folder, values = self.some_images(2), []
        for path in (BOXES, model):
            self.fine(path, "--image", folder, "--output", self.output)
            values.append(self.lines())
            self.output.unlink()
        self.assertEqual([list(line["outputs"]) for line in values[0] + values[1]],
                         2 * [["Identity", "Identity_1"]] + 2 * [["Identity", "output_1"]])
        self.assertEqual(values[1][0]["outputs"]["output_1"], values[0][0]["outputs"]["Identity_1"])

    def test_classes_have_labels_and_scores(self):
        self.fine(INT8, "--image", self.some_images(5), "--labels", DIGITS / "labels.txt", "-k", 2,
                  "--output", self.output)
        for line in self.lines():
            first, second = line["classes"]
            self.assertEqual(first["label"], line["input"].split("_")[2][0])
            self.assertGreaterEqual(first["score"], second["score"])

    def test_rows_have_lines(self):
        rows = self.folder / "rows.csv"
        rows.write_text("".join(",".join([str(k / 10)] * 784) + "\n" for k in range(6)))
        self.fine(MODEL, "--rows", rows, "--output", self.output)
        self.assertEqual([line["input"] for line in self.lines()], [f"rows.csv:{k}" for k in range(1, 7)])
        expected = self.fine(MODEL, "--rows", rows)
        self.assertEqual("".join(",".join(f"{value:.9g}" for value in line["outputs"]["Identity"]) + "\n"
                                 for line in self.lines()), expected)

    def test_an_input_that_cannot_be_read_has_a_line_with_the_reason(self):
        folder = self.some_images(6)
        (folder / "001_damaged.png").write_bytes(b"no image")
        (folder / "000_name\n\xff".encode("latin-1").decode("utf-8", "surrogateescape")).with_suffix(".png").write_bytes(b"")
        result = deputy(MODEL, "--image", folder, "--output", self.output)
        self.assertEqual((result.returncode, result.stderr), (1, f"deputy: {self.output}: 2 inputs failed\n"))
        self.assertIn("8 lines", result.stdout)
        errors = [line for line in self.lines() if "error" in line]
        self.assertEqual(len(errors), 2)
        self.assertRegex(errors[1]["error"], "001_damaged.png: cannot be read as a PNG or JPEG image")
        self.assertEqual(sum("outputs" in line for line in self.lines()), 6)
        # The failed inputs count in a later run, too.
        self.refused("2 inputs failed", MODEL, "--image", folder, "--output", self.output, "--resume", status=1)

    def test_without_a_file_the_first_invalid_input_ends_the_command(self):
        folder = self.some_images(6)
        (folder / "000_0003.png").write_bytes(b"no image")
        result = deputy(MODEL, "--image", folder, "--workers", 3)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(len(result.stdout.splitlines()), sorted(os.listdir(folder)).index("000_0003.png"))

    def test_combinations_without_a_meaning_are_refused(self):
        self.refused("--output needs --image or --rows", MODEL, "--random", "--output", self.output)
        self.refused("--resume needs --output", MODEL, "--image", IMAGES, "--resume")
        self.refused("--output excludes --output-dir", MODEL, "--image", IMAGES, "--output", self.output,
                     "--output-dir", self.folder)
        self.refused("--output excludes --expect-from-name", MODEL, "--image", IMAGES, "--output", self.output,
                     "--expect-from-name")
        self.assertFalse(self.output.exists())

    def test_the_progress_has_a_rate_and_the_time_left(self):
        progress = deputy(MODEL, "--image", self.some_images(100, 5), "--output", self.output, "--progress").stderr
        self.assertRegex(progress, r"500/500, \d+(\.\d)?/s, 0:00 left")


class WorkersTest(ItemsTest):
    def test_results_do_not_depend_on_the_number_of_interpreters(self):
        folder = self.some_images(60)
        texts, files = set(), set()
        for workers in (1, 2, 5):
            texts.add(self.fine(MODEL, "--image", folder, "--workers", workers, "-k", 3))
            out = self.folder / f"out{workers}"
            self.fine(MODEL, "--image", folder, "--workers", workers, "-o", out)
            files.add(tuple((path.name, path.read_bytes()) for path in sorted(out.iterdir())))
            printed = self.fine(MODEL, "--image", folder, "--workers", workers, "--output", self.output)
            self.assertIn(f"in {workers} interpreter", printed)
            texts.add(self.output.read_text())
            self.output.unlink()
        self.assertEqual((len(texts), len(files)), (2, 1))

    def test_one_interpreter_is_the_default_with_delegates_and_threads(self):
        folder = self.some_images(10)
        for arguments in (["--delegate", "npu_stub"], ["--threads", os.cpu_count()]):
            printed = self.fine(MODEL, "--image", folder, "--output", self.output, *arguments)
            self.assertIn("in 1 interpreter,", printed)
            self.output.unlink()

    def test_each_interpreter_has_its_own_delegate(self):
        log = self.folder / "log"
        os.environ["RECORDER_LOG"] = str(log)
        self.addCleanup(os.environ.pop, "RECORDER_LOG")
        self.fine(MODEL, "--image", self.some_images(10), "--output", self.output, "--workers", 2,
                  "--delegate", f"{BUILD}/tests/plugins/librecorder.so")
        self.assertEqual(sum(line.startswith("apply ") for line in log.read_text().splitlines()), 2)

    def test_a_model_with_a_state_is_run_in_order_by_one_interpreter(self):
        rows = self.folder / "rows.csv"
        rows.write_text("".join(",".join([str(k % 3)] * 10) + "\n" for k in range(20)))
        self.assertIn("in 1 interpreter,", self.fine(STATEFUL, "--rows", rows, "--output", self.output))
        self.refused("keeps a state between inferences", STATEFUL, "--rows", rows, "--workers", 2)

    def test_a_delegate_that_fails_is_reported_by_each_interpreter(self):
        result = deputy(MODEL, "--image", self.some_images(20), "--output", self.output, "--workers", 2,
                        "--delegate", "npu_stub,faults=run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.lines()), 20)
        counts = [int(count) for count in re.findall(r"replaced a failed node (\d+) time", result.stderr)]
        self.assertEqual(sum(counts), 20, result.stderr)

    def test_the_validation_layer_of_the_environment_has_one_interpreter(self):
        os.environ["DEPUTY_VALIDATION"] = "1"
        self.addCleanup(os.environ.pop, "DEPUTY_VALIDATION")
        printed = self.fine(MODEL, "--image", self.some_images(10), "--output", self.output)
        self.assertIn("in 1 interpreter,", printed)

    def test_options_of_one_interpreter_are_refused(self):
        self.refused("--workers excludes --profile", MODEL, "--image", IMAGES, "--workers", 2, "--profile",
                     "--output", self.output)
        self.assertEqual(list(self.folder.iterdir()), [])
        for option in ("--profile", "--validate", "--trace=t", "--verify=first"):
            self.refused(f"--workers excludes {option.split('=')[0]}", MODEL, "--image", IMAGES, "--workers", 2,
                         *option.split("="))
        self.refused("--workers needs --image or --rows", MODEL, "--random", "--workers", 2)


class ResumeTest(ItemsTest):
    def test_a_run_that_is_killed_twice_loses_nothing(self):
        folder = self.some_images(400, 10)
        expected = self.folder / "expected.jsonl"
        self.fine(MODEL, "--image", folder, "--output", expected)
        arguments = command(MODEL, "--image", folder, "--output", self.output, "--resume")
        for part in (1, 2):
            with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while not self.output.exists() or self.output.stat().st_size < part * expected.stat().st_size / 3:
                    self.assertIsNone(process.poll())
                    time.sleep(0.0005)
                process.send_signal(signal.SIGKILL)
            self.assertEqual(process.returncode, -signal.SIGKILL)
            self.assertLess(self.output.stat().st_size, expected.stat().st_size)
            self.assertTrue(self.job.exists())
        before = self.output.read_bytes().count(b"\n")
        self.assertIn(f" {before} from an earlier run", self.fine(*arguments[2:]))
        self.assertEqual(self.output.read_bytes(), expected.read_bytes())
        self.assertEqual(len({line["input"] for line in self.lines()}), 4000)
        self.assertFalse(self.job.exists())

    def cut(self, folder, size):
        """Writes the file of a run and removes its end, as if the run had been killed."""
        process = subprocess.Popen(command(MODEL, "--image", folder, "--output", self.output),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        job = ""
        while not job.endswith("}") and process.poll() is None:
            job = self.job.read_text() if self.job.exists() else ""
        self.assertEqual(process.wait(), 0)
        self.job.write_text(job)
        whole = self.output.read_bytes()
        os.truncate(self.output, size)
        return whole

    def test_an_incomplete_line_is_written_again(self):
        folder = self.some_images(400, 4)
        whole = self.cut(folder, 0)
        job = self.job.read_text()
        first = whole.index(b"\n") + 1
        for size in (0, 1, 5, 20, first - 1, first, first + 1, first + 30, len(whole) - 1, len(whole)):
            self.output.write_bytes(whole[:size])
            self.job.write_text(job)
            self.fine(MODEL, "--image", folder, "--output", self.output, "--resume")
            self.assertEqual(self.output.read_bytes(), whole)

    def test_other_settings_inputs_and_files_are_refused(self):
        folder = self.some_images(400, 4)
        whole = self.cut(folder, 30000)
        start = [MODEL, "--image", folder, "--output", self.output]
        resume = [*start, "--resume"]
        self.refused("exists already; --resume continues it", *start)
        self.refused("--resume: expected the settings in", *resume, "--range", "0,255")
        self.refused("--resume: expected the settings in", INT8, *resume[1:])
        for option, value in (("--policy", "tflite"), ("--max-delegated-partitions", 1),
                              ("--min-nodes-per-partition", 2)):
            self.refused("--resume: expected the settings in", *resume, option, value)
        extra = folder / "000_0000.png"
        extra.symlink_to(IMAGES / "0000_8.png")
        self.refused("the file belongs to other inputs", *resume)
        extra.unlink()
        text = self.job.read_text()
        self.job.unlink()
        self.refused("which has the settings of the run, is missing", *resume)
        self.job.write_text(text)
        with open(self.output, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.refused("another process writes it", *resume)
        for contents in (b"a text without a newline", b"a text\n", b"\0" * 100, whole + b"{}\n", whole + b"{"):
            self.output.write_bytes(contents)
            self.refused("the file belongs to other inputs", *resume)
            self.assertEqual(self.output.read_bytes(), contents)
        self.refused("expected a regular file", MODEL, "--image", folder, "--output", "/dev/null", "--resume")
        self.refused("No such file or directory", MODEL, "--image", folder, "--output", self.folder / "a" / "b")

    def test_other_files_are_not_replaced_by_the_settings(self):
        arguments = [MODEL, "--image", self.some_images(3), "--output", self.output]
        other = self.folder / "other"
        other.write_text('{"version":"of another program"}')
        for create, remove in ((lambda: self.job.write_text("a text"), self.job.unlink),
                               (lambda: self.job.symlink_to(other), self.job.unlink),
                               (self.job.mkdir, self.job.rmdir)):
            create()
            for extra in ([], ["--resume"]):
                self.refused("out.jsonl.job: expected the settings of a run, found another file", *arguments, *extra)
                self.assertFalse(self.output.exists())
            if self.job.is_file():
                self.assertIn(self.job.read_text(), ("a text", other.read_text()))
            remove()
        self.assertEqual(other.read_text(), '{"version":"of another program"}')
        long = self.folder / ("a" * 252)  # FILE.job exceeds the limit of 255 bytes.
        self.refused("File name too long", *arguments[:-1], long)
        self.assertFalse(long.exists())

    def test_refused_files_are_unchanged(self):
        folder = self.some_images(400, 4)
        whole = self.cut(folder, 30000)
        resume = [MODEL, "--image", folder, "--output", self.output, "--resume"]
        self.assertNotEqual(whole[29999:30000], b"\n")
        self.refused("--resume: expected the settings in", *resume, "--range", "0,255")
        self.assertEqual(self.output.read_bytes(), whole[:30000])
        # The lines are complete, but the run was killed before it removed the settings.
        self.output.write_bytes(whole)
        self.refused("--resume: expected the settings in", *resume, "--range", "0,255")
        self.fine(*resume)
        self.assertEqual(self.output.read_bytes(), whole)
        self.assertFalse(self.job.exists())

    def test_a_line_that_exceeds_the_memory_is_an_error(self):
        folder = self.some_images(400, 4)
        whole = self.cut(folder, 0)
        self.output.write_bytes(whole[:30000])
        os.truncate(self.output, 2**30)
        limited = ["sh", "-c", 'ulimit -v 400000; exec "$@"', "sh"]
        if subprocess.run([*limited, BUILD / "deputy", "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("the build needs more address space")
        arguments = command(MODEL, "--image", folder, "--output", self.output, "--resume", "--workers", 1)
        result = subprocess.run([*limited, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (1, f"deputy: {self.output}: Cannot allocate memory\n"))
        self.assertEqual(self.output.stat().st_size, 2**30)

    def test_a_file_that_is_removed_or_replaced_during_the_run_is_an_error(self):
        folder = self.some_images(400, 10)
        for replace, text in ((self.output.unlink, "No such file or directory"),
                              (lambda: other.rename(self.output), "another file has replaced it during the run")):
            other = self.folder / "other"
            other.write_text("a text")
            with subprocess.Popen(command(MODEL, "--image", folder, "--output", self.output), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True) as process:
                while not self.output.exists() or self.output.stat().st_size == 0:
                    self.assertIsNone(process.poll())
                    time.sleep(0.0005)
                replace()
                self.assertEqual(process.stderr.read(), f"deputy: {self.output}: {text}\n")
            self.assertEqual(process.returncode, 1)
        self.assertEqual(self.output.read_text(), "a text")

    def run_on_full_disk(self, *arguments):
        limited = subprocess.run(["sh", "-c", 'ulimit -f 20; trap "" XFSZ; exec "$@"', "sh", *command(*arguments)],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(limited.returncode, 1)
        self.assertRegex(limited.stderr, r"deputy: .*out.jsonl: File too large\n")

    def test_other_contents_of_input_files_are_refused(self):
        rows, fixed = self.folder / "rows.csv", self.folder / "fixed.npy"
        rows.write_text("1,2,3,4,5,6\n" * 1000)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + b"\n"
        contents = [b"\x93NUMPY\x01\x00" + struct.pack("<H6f", len(header), *[value] * 6) for value in (1, 2)]
        contents = [content[:10] + header + content[10:] for content in contents]
        arguments = [TWO_INPUTS, "--rows", rows, "--rows-input", "x", "--input", f"y={fixed}", "--output", self.output]
        fixed.write_bytes(contents[0])
        self.run_on_full_disk(*arguments)
        fixed.write_bytes(contents[1])
        self.refused("--resume: expected the settings in", *arguments, "--resume")
        fixed.write_bytes(contents[0])
        self.fine(*arguments, "--resume")
        self.assertEqual(len({json.dumps(line["outputs"]) for line in self.lines()}), 1)

    def test_a_full_disk_is_an_error(self):
        folder = self.some_images(400)
        self.run_on_full_disk(MODEL, "--image", folder, "--output", self.output)
        self.fine(MODEL, "--image", folder, "--output", self.output, "--resume")
        self.assertEqual(len(self.lines()), 400)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
