#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy replay`, `deputy diverge`, the layer `record` and the delegate `replay` of the command.

    tests/tools/replay_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from sanitized import needs_runtime  # noqa: E402  (needs the path above)

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
# AddressSanitizer reports a crash and exits with a status of its own.
SANITIZED = bool(needs_runtime(BUILD / "libdeputy.so"))
CRASH = 1 if SANITIZED else -11
CRASH_TEXT = "process ended|exit" if SANITIZED else "signal 11"
MODEL = str(ROOT / "examples/digits/digits_float.tflite")
INT8 = str(ROOT / "examples/digits/digits_int8.tflite")


def deputy(*arguments):
    return subprocess.run([str(BUILD / "deputy"), *arguments], capture_output=True, text=True, check=False)


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fine(self, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def refused(self, code, pattern, *arguments):
        result = deputy(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertRegex(result.stderr, pattern)
        return result.stdout

    def record(self, name, *arguments, flags="", model=MODEL):
        """Runs a model with npu_stub; returns the path of the record and the printed outputs."""
        path = str(self.folder / name)
        output = self.fine("run", model, "--random", "--delegate", "npu_stub", "--layer",
                           f"record={path}{flags}", *arguments)
        return path, output

    def crash(self, flags=""):
        path = str(self.folder / "crash.rec")
        result = deputy("run", MODEL, "--random", "--delegate", "npu_stub", "--layer", f"record={path}{flags}",
                        "--layer", "fault=invoke:1:crash")
        self.assertEqual(result.returncode, CRASH)
        return path

    # ---- deputy replay --inspect -----------------------------------------------------------------

    def test_a_record_is_shown_as_text_and_json(self):
        path, _ = self.record("a.rec")
        text = self.fine("replay", path, "--inspect")
        self.assertIn(f"record {path}: 7 calls\n", text)
        self.assertIn("libdeputy_npu_stub.so\n", text)
        self.assertRegex(text, r"model 118452 bytes, digest [0-9a-f]{16}, not included\n")
        self.assertRegex(text, r"\n +6  invoke +0 +0 +\d+\.\d{3}  0:data")
        document = json.loads(self.fine("replay", path, "--inspect", "--json"))
        self.assertEqual([call["function"] for call in document["calls"]],
                         ["delegate prepare", "replace", "init", "prepare", "resize tensor", "invoke", "free"])
        self.assertEqual(document["calls"][2]["nodes"], list(range(16)))
        invoke = document["calls"][5]
        self.assertEqual(invoke["tensors"][0]["name"], "image")
        self.assertEqual(invoke["tensors"][0]["shape"], [1, 28, 28, 1])
        self.assertEqual(invoke["tensors"][0]["contents"], "data")
        self.assertEqual(invoke["end"]["tensors"][0]["bytes"], 40)
        self.assertEqual(invoke["end"]["status"], 0)

    def test_the_model_and_the_data_are_optional(self):
        path, _ = self.record("a.rec", flags=",digests,model")
        document = json.loads(self.fine("replay", path, "--inspect", "--json"))
        self.assertTrue(document["model"]["included"])
        self.assertEqual(document["calls"][5]["tensors"][0]["contents"], "digest")

    def test_a_record_with_a_limit_says_so(self):
        path, _ = self.record("a.rec", flags=",model,max_mb=1")
        self.assertNotIn("limit", self.fine("replay", path, "--inspect"))
        result = deputy("run", MODEL, "--rows", self.rows(400), "--delegate", "npu_stub", "--layer",
                        f"record={path},max_mb=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the record has reached its limit of 1048576 bytes; later calls are not recorded",
                      result.stderr)
        self.assertIn("the limit of the file's size was reached", self.fine("replay", path, "--inspect"))
        self.assertLessEqual(pathlib.Path(path).stat().st_size, 1 << 20)

    def rows(self, count):
        path = self.folder / "rows.csv"
        path.write_text((",".join(["0.5"] * 784) + "\n") * count)
        return str(path)

    def test_damaged_records_are_refused_with_a_reason(self):
        path, _ = self.record("a.rec")
        data = pathlib.Path(path).read_bytes()
        cut = self.folder / "cut.rec"
        cut.write_bytes(data[:-5])
        self.assertRegex(self.fine("replay", str(cut), "--inspect"),
                         r"the file is cut: chunk \d+ at offset \d+ is cut: expected \d+ bytes, found \d+")
        cut.write_bytes(data[:-1] + b"x")
        self.refused(2, r"chunk \d+ at offset \d+ has a wrong checksum", "replay", str(cut), "--inspect")
        self.refused(2, "this is no record", "replay", MODEL, "--inspect")
        self.refused(2, "No such file", "replay", "/nowhere", "--inspect")
        self.refused(2, "expected --inspect or --delegate", "replay", path)

    # ---- The fake host ---------------------------------------------------------------------------

    def test_the_recorded_delegate_makes_the_recorded_calls(self):
        path, _ = self.record("a.rec")
        self.assertEqual(self.fine("replay", path, MODEL, "--delegate", "npu_stub"),
                         "7 calls made, 0 differences\n")
        path, _ = self.record("b.rec", flags=",model")
        document = json.loads(self.fine("replay", path, "--delegate", "npu_stub", "--json"))
        self.assertEqual(document, {"calls": 7, "differences": []})

    def test_quantised_models_and_several_inferences_are_repeated(self):
        for model, delegate in ((MODEL, "npu_stub"), (INT8, "cpu")):
            path = str(self.folder / f"{delegate}.rec")
            self.fine("run", model, "--rows", self.rows(3), "--delegate", delegate, "--layer", f"record={path}")
            self.assertEqual(self.fine("replay", path, model, "--delegate", delegate),
                             "9 calls made, 0 differences\n")

    def test_other_delegates_and_models_are_noticed(self):
        path, _ = self.record("a.rec")
        text = self.refused(1, "calls differ from the record", "replay", path, MODEL, "--delegate", "cpu")
        self.assertIn("name of the kernel: expected 'NpuGraph0' of the record, found 'DeputyCpu'", text)
        self.refused(2, "is not the model of the record: expected 118452 bytes", "replay", path, INT8,
                     "--delegate", "npu_stub")
        self.refused(2, "the record has no model", "replay", path, "--delegate", "npu_stub")

    def test_inputs_are_needed_to_repeat_a_record(self):
        path, _ = self.record("a.rec", flags=",digests")
        text = self.refused(1, "calls differ", "replay", path, MODEL, "--delegate", "npu_stub")
        self.assertIn("the record has digests only", text)

    # ---- The delegate ----------------------------------------------------------------------------

    def test_the_delegate_replays_the_results(self):
        path, output = self.record("a.rec")
        command = ("run", MODEL, "--random", "--delegate", f"replay,record={path}", "--policy", "tflite")
        self.assertEqual(self.fine(*command), output)
        self.refused(1, r"replay: call 6 \(invoke of kernel 0\): tensor 0 'image': its data differ from the record",
                     *command, "--seed", "7")
        self.refused(2, "expected the path of a file", "run", MODEL, "--random", "--delegate", "replay",
                     "--policy", "tflite")

    def test_a_recorded_crash_is_replayed(self):
        path = self.crash()
        self.assertIn("call 6 has not returned", self.fine("replay", path, "--inspect"))
        command = ("run", MODEL, "--random", "--policy", "tflite", "--delegate")
        self.refused(1, r"call 6 \(invoke of kernel 0\) has not returned in the record", *command,
                     f"replay,record={path}")
        self.assertEqual(deputy(*command, f"replay,record={path},crash=1").returncode, CRASH)
        self.assertEqual(deputy(*command, f"replay,record={path},crash=true").returncode, CRASH)
        self.assertEqual(deputy(*command, f"replay,record={path},crash=false").returncode, 1)
        self.refused(2, "option 'crash'", *command, f"replay,record={path},crash=yes")

    def test_a_crash_in_a_process_of_its_own_is_recorded(self):
        path = str(self.folder / "own.rec")
        result = deputy("run", MODEL, "--random", "--delegate", "npu_stub", "--layer", f"record={path}",
                        "--layer", "isolate", "--layer", "fault=invoke:1:crash")
        self.assertEqual(result.returncode, 0, result.stderr)
        document = json.loads(self.fine("replay", path, "--inspect", "--json"))
        failed = [call for call in document["calls"] if call["end"]["status"] != 0]
        self.assertEqual([call["function"] for call in failed], ["invoke"])
        self.assertRegex(failed[0]["end"]["errors"], CRASH_TEXT)

    @unittest.skipIf(os.geteuid() != 0 or SANITIZED, "needs the right to chroot")
    def test_a_crash_is_replayed_in_a_bare_folder(self):
        path = self.crash()
        root = self.folder / "root"
        files = [str(BUILD / "deputy"), str(BUILD / "libdeputy_replay.so")]
        needed = subprocess.run(["ldd", *files], capture_output=True, text=True, check=True).stdout
        files += re.findall(r"(?:=> )?(/\S+) \(0x", needed)
        for file in set(files):
            target = root / file.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        shutil.copy(MODEL, root / "m.tflite")
        shutil.copy(path, root / "crash.rec")
        for option, code in (("", 1), (",crash=1", -11)):
            result = subprocess.run(
                [str(BUILD / "deputy"), "run", "/m.tflite", "--random", "--policy", "tflite", "--delegate",
                 f"{BUILD}/libdeputy_replay.so,record=/crash.rec{option}"],
                capture_output=True, text=True, check=False, cwd="/", preexec_fn=lambda: os.chroot(root))
            self.assertEqual(result.returncode, code, result.stderr)

    # ---- deputy report ---------------------------------------------------------------------------

    def report(self, *arguments):
        path = str(self.folder / "report.rec")
        text = self.fine("report", MODEL, "-o", path, *arguments)
        document = json.loads(self.fine("replay", path, "--inspect", "--json"))
        return text, document, {note["title"]: note["text"] for note in document["notes"]}

    def test_a_report_replaces_a_file(self):
        path = self.folder / "notes.txt"
        path.write_text("notes of a user")
        result = deputy("report", "no.tflite", "-o", str(path), "--delegate", "npu_stub")
        self.assertIn("no.tflite", result.stdout + result.stderr)
        document = json.loads(self.fine("replay", str(path), "--inspect", "--json"))
        self.assertEqual(document["calls"], [])

    def test_a_report_has_all_facts_in_one_file(self):
        text, document, notes = self.report("--delegate", "npu_stub")
        self.assertRegex(text, r"report \S+report.rec: 7 calls; outcome: completed\n")
        self.assertFalse(document["model"]["included"])
        self.assertEqual(document["model"]["bytes"], 118452)
        self.assertEqual(len(document["calls"]), 7)
        self.assertEqual(notes["outcome"], "completed")
        self.assertEqual(json.loads(notes["explain"])["delegated"], 16)
        _, document, _ = self.report("--delegate", "npu_stub", "--include-model")
        self.assertTrue(document["model"]["included"])
        path = str(self.folder / "report.rec")
        self.assertIn("0 differences", self.fine("replay", path, "--delegate", "npu_stub"))

    def test_a_report_of_a_crash_ends_with_the_call(self):
        text, document, notes = self.report("--delegate", "npu_stub", "--layer", "fault=invoke:1:crash")
        self.assertRegex(text, CRASH_TEXT)
        self.assertRegex(notes["outcome"], CRASH_TEXT)
        self.assertIsNone(document["calls"][-1]["end"])
        self.assertIn("fault=invoke:1:crash", notes["environment"])

    def test_a_report_needs_one_delegate(self):
        self.refused(2, "report: expected one delegate, found 0", "report", MODEL, "-o", "/dev/null")

    # ---- deputy diverge --------------------------------------------------------------------------

    def test_the_first_difference_of_two_records_is_found(self):
        a, _ = self.record("a.rec")
        b, _ = self.record("b.rec")
        self.assertEqual(self.fine("diverge", a, b), "no difference in 2 values\n")
        c, _ = self.record("c.rec", "--seed", "3")
        text = self.refused(1, "the records differ", "diverge", a, c)
        self.assertIn("first difference: input tensor 0 'image', value 0", text)
        self.assertIn("computed outside of the delegate", text)

    def test_a_wrong_result_names_the_nodes_and_the_difference(self):
        a, _ = self.record("a.rec")
        path = str(self.folder / "wrong.rec")
        self.fine("run", MODEL, "--random", "--delegate", "npu_stub", "--layer", f"record={path}", "--layer",
                  "fault=invoke:1:corrupt")
        text = self.refused(1, "the records differ", "diverge", a, path)
        self.assertIn("first difference: output tensor 38 'Identity', value 0, after 1 value", text)
        self.assertRegex(text, r"computed in A by nodes \[0,1,2,.*15\] in call 6 \(invoke of kernel 0\)")
        found = json.loads(self.refused(1, "differ", "diverge", a, path, "--json"))["divergence"]
        self.assertEqual(found["nodes"], list(range(16)))
        self.assertGreater(found["difference"]["absolute"], 0)
        # The bits of the probabilities 0.00085 and 0.99915 are inverted: the values change sign.
        self.assertLess(found["difference"]["a"] * found["difference"]["b"], 0)

    def test_other_engines_differ_within_a_tolerance(self):
        a, _ = self.record("a.rec")
        b = str(self.folder / "cpu.rec")
        self.fine("run", MODEL, "--random", "--delegate", "cpu", "--layer", f"record={b}")
        self.refused(1, "differ", "diverge", a, b)
        self.assertEqual(self.fine("diverge", a, b, "--tolerance", "0.01"), "no difference in 2 values\n")

    def test_records_without_data_are_compared_by_digest(self):
        a, _ = self.record("a.rec", flags=",digests")
        b, _ = self.record("b.rec", "--seed", "3")
        self.assertIn("the digests differ; without data in both records",
                      self.refused(1, "differ", "diverge", a, b))

    def test_tensors_of_other_types_differ(self):
        records = []
        for model in (MODEL, INT8):
            records.append(str(self.folder / f"{len(records)}.rec"))
            self.fine("run", model, "--random", "--delegate", "cpu", "--layer", f"record={records[-1]}")
        text = self.refused(1, "differ", "diverge", *records)
        self.assertIn("FLOAT32 [1, 28, 28, 1] in A, INT8 [1, 28, 28, 1] in B", text)


if __name__ == "__main__":
    unittest.main(verbosity=1)
