#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the facts that `explain` and `bench` print for each delegate: device, precision, costs, cache, and
its options: given, default or ignored.

    tests/tools/delegate_facts_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
INT8 = ROOT / "examples" / "digits" / "digits_int8.tflite"
BENCH = ("--runs", "1", "--min-secs", "0", "--warmup", "0")
BUILD = None  # set from the command line


def deputy(*arguments, **environment):
    variables = {**os.environ, "DEPUTY_PLUGIN_PATH": "", **environment}
    return subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, check=False, env=variables)


def plugin(name):
    return BUILD / "tests" / "plugins" / f"lib{name}.so"


class FactsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def both(self, *arguments, model=MODEL, **environment):
        """Returns the facts of the first delegate from `explain` and from `bench`."""
        found = []
        for command in (["explain", model], ["bench", model, *BENCH]):
            result = deputy(*command, *arguments, "--json", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            found.append(json.loads(result.stdout)["delegates"][0]["facts"])
        return found

    def states(self, facts):
        return {option["name"]: option["state"] for option in facts["options"]}

    def option(self, facts, name):
        (option,) = [option for option in facts["options"] if option["name"] == name]
        return option["value"], option["state"], option["text"]

    def test_options_are_set_default_or_ignored(self):
        flags = f"{plugin('described0')},fast=true,threads=4,ops=0"
        for facts in self.both("--delegate", flags, "--max_delegated_partitions", 3):
            self.assertEqual((facts["device"], facts["precision"]), ("fingers", "fp32"))
            self.assertEqual(facts["cache"], {"hits": 2, "misses": 1})
            self.assertIsNone(facts["tune_ms"])
            self.assertEqual(self.states(facts), {
                "ops": "given", "log": "default", "groups": "default", "fast": "ignored",
                "threads": "given", "scale": "default", "max_partitions": "ignored"})
            self.assertEqual(self.option(facts, "threads"), ("2", "given", ""))
            self.assertEqual(self.option(facts, "fast"), ("true", "ignored", "nothing is fast"))
            self.assertEqual(self.option(facts, "max_partitions"),
                             ("3", "ignored", "unknown to the delegate"))

    def test_the_text_has_them_too(self):
        for command in (["explain", MODEL], ["bench", MODEL, *BENCH]):
            result = deputy(*command, "--delegate", f"{plugin('described0')},fast=true,ops=0")
            self.assertEqual(result.returncode, 0, result.stderr)
            for line in result.stdout.splitlines():
                if command[0] == "explain":
                    self.assertLessEqual(len(line), 80)
            # Joins lines that were wrapped.
            self.assertRegex(" ".join(result.stdout.split()),
                             r"device fingers, precision fp32, compile \S+ [mu]s, cache 2 hits, "
                             r"1 miss given: ops=0 ignored: fast=true \(nothing is fast\) "
                             r"default: log=, groups=, threads=2, scale=1.0 ")

    def test_npu_stub_reports_its_cache(self):
        arguments = ["--delegate", f"npu_stub,cache_dir={self.folder},frequency=2"]
        first, second = self.both(*arguments)
        self.assertEqual((first["cache"], second["cache"]),
                         ({"hits": 0, "misses": 1}, {"hits": 1, "misses": 0}))
        self.assertEqual(first["device"], "pretended NPU")
        self.assertGreater(first["compile_ms"], 0)
        self.assertEqual(second["compile_ms"], 0)
        states = self.states(first)
        self.assertEqual({name for name, state in states.items() if state == "given"},
                         {"cache_dir", "frequency"})
        self.assertEqual(states["min_nodes"], "default")
        for facts in self.both("--delegate", "npu_stub", "--max_delegated_partitions", 3):
            self.assertIsNone(facts["cache"])
            self.assertEqual(self.option(facts, "max_partitions"), ("3", "given", ""))

    def test_npu_stub_reports_a_cache_that_cannot_be_written(self):
        place = self.folder / "file"
        place.write_text("no folder")
        facts, _ = self.both("--delegate", f"npu_stub,cache_dir={place}")
        self.assertEqual(self.option(facts, "cache_dir"),
                         (str(place), "ignored", "it cannot be written"))

    def test_gpu_reports_device_precision_and_ignored_options(self):
        if deputy("devices", "gpu").returncode != 0:
            self.skipTest("no OpenCL device here")
        arguments = ["--delegate",
                     f"gpu,precision=fp16,cache_dir={self.folder},force=true"]
        first, _ = self.both(*arguments)
        self.assertNotEqual(first["device"], "")
        self.assertRegex(first["precision"], "^fp16")
        self.assertGreater(first["compile_ms"], 0)
        self.assertEqual(first["tune_ms"], 0)
        # A program is written to the cache after its first run, and `explain` does not run it.
        self.assertEqual(first["cache"], {"hits": 0, "misses": 1})
        for facts in self.both(*arguments):
            self.assertEqual(facts["cache"], {"hits": 1, "misses": 0})
        self.assertEqual(self.option(first, "force"), ("true", "ignored", "requires min_gain_us"))
        facts, _ = self.both("--delegate", "gpu,tuning=fast")
        self.assertGreater(facts["tune_ms"], 0)
        self.assertEqual(self.states(facts)["tuning"], "given")
        facts, _ = self.both("--delegate", "gpu,cache_token=x,preference=sustained_speed,"
                             "tuning=none,cache_dir=/proc/nowhere")
        states = self.states(facts)
        self.assertEqual((states["tuning"], states["cache_dir"], states["precision"]),
                         ("ignored", "ignored", "default"))
        self.assertEqual(facts["precision"], "fp32")
        self.assertIsNone(facts["cache"])
        facts, _ = self.both("--delegate", "gpu,cache_token=x")
        self.assertEqual(self.option(facts, "cache_token"), ("x", "ignored", "requires cache_dir"))

    def test_xnnpack_reports_its_device(self):
        if not (BUILD / "libdeputy_xnnpack.so").exists():
            self.skipTest("built without XNNPACK")
        for facts in self.both("--delegate", "xnnpack,num_threads=2"):
            self.assertEqual(facts["device"], "CPU")
            self.assertEqual(self.option(facts, "num_threads"), ("2", "given", ""))
            self.assertGreater(facts["compile_ms"], 0)

    def test_the_cpu_delegate_compiles_nothing(self):
        for facts in self.both("--delegate", "cpu"):
            self.assertEqual((facts["compile_ms"], facts["tune_ms"]), (0, 0))

    def test_a_mindspore_delegate_reports_its_time_of_compiling(self):
        for facts in self.both("--delegate", BUILD / "examples" / "libmindspore_plugin.so"):
            self.assertGreater(facts["compile_ms"], 0)
            self.assertIsNone(facts["tune_ms"])

    def test_nnapi_reports_options_that_need_a_newer_level(self):
        if not (BUILD / "libdeputy_nnapi.so").exists():
            self.skipTest("built without NNAPI")
        library = BUILD / "tests" / "doubles" / "libneuralnetworks.so"
        for facts in self.both("--delegate", f"nnapi,library={library},allow_fp16=true,model_token=x,"
                               "compilation_timeout_us=5,support_library_path="):
            self.assertEqual(facts["device"], "chosen by NNAPI")
            self.assertEqual(facts["precision"], "as in the model, fp16 allowed")
            self.assertGreater(facts["compile_ms"], 0)
            self.assertEqual({name for name, state in self.states(facts).items()
                              if state == "ignored"},
                             {"model_token", "compilation_timeout_us", "support_library_path"})
            self.assertEqual(self.states(facts)["allow_fp16"], "given")

    def test_hexagon_reports_its_device(self):
        if not (BUILD / "libdeputy_hexagon.so").exists():
            self.skipTest("built without Hexagon")
        library = BUILD / "tests" / "doubles" / "hexagon" / "libhexagon_interface.so"
        for facts in self.both("--delegate", f"hexagon,interface_library={library}",
                               "--min_nodes_per_partition", 3, model=INT8):
            self.assertEqual(facts["device"], "Hexagon DSP")
            self.assertGreater(facts["compile_ms"], 0)
            # The flag sets an option whose name differs from the flag's.
            self.assertEqual(self.option(facts, "min_nodes_per_partition"), ("3", "given", ""))

    def test_delegates_without_facts_have_their_options(self):
        for facts in self.both("--delegate", f"{plugin('elementwise')},ops=0"):
            unknown = ("device", "precision", "compile_ms", "tune_ms", "cache")
            self.assertEqual({key: facts[key] for key in unknown}, dict.fromkeys(unknown))
            self.assertEqual(self.states(facts), {"ops": "given"})

    def test_the_text_omits_unknown_facts(self):
        for command in (["explain", MODEL], ["bench", MODEL, *BENCH]):
            result = deputy(*command, "--delegate", f"{plugin('elementwise')},ops=0")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("given: ops=0", result.stdout)
            for fact in ("device ", "compile ", "tune ", "cache "):
                self.assertNotRegex(result.stdout, rf"(?m)^ +{fact}|, {fact}")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
