#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests delegates that are missing: a delegate that is requested but absent never breaks an inference, and
the message names the library, the searched places, and the missing function or code. The cases are all
combinations of the command's providers and causes of absence. Each case runs a copy of the library's folder
(links) in which one file is wrong.

    tests/tools/providers_test.py BUILD_FOLDER
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
QUICK = ("--runs", "1", "--min-secs", "0", "--warmup", "0", "--nodes", "0")
OWN = ("gpu", "npu_stub", "xnnpack", "cpu", "litert")
BRIDGES = {"nnapi": ("libneuralnetworks.so", "ANeuralNetworksModel_create"),
           "hexagon": ("libhexagon_interface.so", "hexagon_nn_init")}
FOREIGN = {"coreml": "Core ML is part of Apple's systems; it supports partitions of two nodes or "
                     "more of float models: ADD, ",
           "ynnpack": "Deputy has no YNNPACK delegate"}
PATHS = ("external", "mindspore")
# Libraries that cannot be used in place of the right one, and the expected message.
UNUSABLE = {"no_create": "does not export 'tflite_plugin_create_delegate'",
            "no_destroy": "does not export 'tflite_plugin_destroy_delegate'",
            "described_wrong_major": "'deputy_plugin': expected major ABI version 1",
            "needs_absent": "libabsent.so: cannot open shared object file",
            "null_result": "the plug-in returned NULL and gave no reason"}
BUILD = None  # set from the command line


def plugin(name):
    return BUILD / "tests" / "plugins" / f"lib{name}.so"


class ProvidersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        library = BUILD / "libdeputy.so.1"
        (self.folder / library.name).symlink_to(library)
        self.expected = self.deputy("run", MODEL, "--random").stdout

    def deputy(self, *arguments, **environment):
        """Runs the command with the library of this folder."""
        variables = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), **environment}
        return subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True,
                              text=True, timeout=300, env=variables)

    def check_absence(self, flag, *parts, **environment):
        """Checks that the model runs on the CPU; all `parts` occur in the only warning."""
        result = self.deputy("run", MODEL, "--random", flag, **environment)
        self.assertEqual((result.returncode, result.stdout), (0, self.expected), result.stderr)
        warning, summary = result.stderr.splitlines()
        self.assertTrue(warning.startswith(f"deputy: warning: {flag} is not available: "), warning)
        for part in parts:
            self.assertIn(part, warning)
        self.assertEqual(summary, "deputy: summary: 16 nodes on the CPU, no delegate used")
        return warning

    def put(self, name, contents):
        path = self.folder / name
        path.unlink(missing_ok=True)
        if isinstance(contents, str):
            path.write_text(contents)
        else:
            path.symlink_to(contents)

    def test_included_libraries(self):
        for key in (*OWN, *BRIDGES):
            flag, file, installed = f"--use_{key}", f"libdeputy_{key}.so", "plugins"
            if key == "litert":
                file, installed = "drop-in/libLiteRt.so", ""
                (self.folder / "drop-in").mkdir()
            missing = pathlib.Path(self.folder, "deputy", installed, file)
            with self.subTest(provider=key, absence="missing"):
                self.check_absence(flag, f"{key}: there is no {missing}; ")
            with self.subTest(provider=key, absence="damaged"):
                self.put(file, "no library\n")
                self.check_absence(flag, f"{self.folder}/{file}", "ELF")
            for name, text in UNUSABLE.items():
                with self.subTest(provider=key, absence=name):
                    self.put(file, plugin(name))
                    self.check_absence(flag, f"{self.folder}/{file}", text)

    def test_libraries_named_by_an_option(self):
        for key in PATHS:
            path = self.folder / "libmine.so"
            flag = f"--{key}_delegate_path={path}"
            with self.subTest(provider=key, absence="missing"):
                path.unlink(missing_ok=True)
                self.check_absence(flag, "No such file")
            with self.subTest(provider=key, absence="damaged"):
                self.put(path.name, "no library\n")
                self.check_absence(flag, "ELF")
            for name, text in UNUSABLE.items():
                with self.subTest(provider=key, absence=name):
                    self.put(path.name, plugin(name))
                    self.check_absence(flag, text)
        self.put("libmine.so", plugin("stable_2.0.0"))
        self.check_absence(f"--mindspore_delegate_path={self.folder}/libmine.so",
                           "'TFL_TheStableDelegate': expected ABI version 1.0.0 or later")

    def test_libraries_of_the_system(self):
        for key, (library, function) in BRIDGES.items():
            flag = f"--use_{key}"
            with self.subTest(provider=key, absence="missing"):
                self.check_absence(flag, f"{library} was not found: ", "No such file")
            with self.subTest(provider=key, absence="damaged"):
                self.put(library, "no library\n")
                self.check_absence(flag, f"{library} was not found: {self.folder}/{library}: ")
            with self.subTest(provider=key, absence="symbol"):
                self.put(library, plugin("no_create"))
                self.check_absence(flag, f"{library} was found, but has no function {function}")

    def test_a_library_that_the_bridge_cannot_open_is_reported_once(self):
        for key, (library, _) in BRIDGES.items():
            file = f"libdeputy_{key}.so"
            self.put(file, BUILD / file)
            with self.subTest(provider=key, absence="missing"):
                warning = self.check_absence(f"--use_{key}", library)
                self.assertEqual(warning.count("No such file"), 1, warning)
            with self.subTest(provider=key, absence="symbol"):
                self.put(library, plugin("no_create"))
                warning = self.check_absence(f"--use_{key}", library)
                self.assertEqual(warning.count(library), 1, warning)

    def test_other_systems(self):
        for key, text in FOREIGN.items():
            with self.subTest(provider=key):
                self.check_absence(f"--use_{key}", text)

    def test_devices(self):
        gpu = BUILD / "libdeputy_gpu.so"
        if not gpu.exists():
            self.skipTest("the GPU delegate is not built")
        self.put(gpu.name, gpu)
        empty = self.folder / "vendors"
        empty.mkdir()
        self.check_absence("--use_gpu", "OpenCL", OCL_ICD_VENDORS=str(empty), OCL_ICD_FILENAMES="")
        self.check_absence("--use_gpu", "disabled by DEPUTY_OPENCL_LIBRARY=none",
                           DEPUTY_OPENCL_LIBRARY="none")

    def test_other_providers_still_run(self):
        stub = BUILD / "libdeputy_npu_stub.so"
        self.put(stub.name, stub)
        arguments = ["--use_hexagon", "--use_npu_stub", f"--external_delegate_path={self.folder}/a.so"]
        result = self.deputy("run", MODEL, "--random", *arguments)
        self.assertEqual(result.returncode, 0)
        lines = result.stderr.splitlines()
        self.assertEqual([line.split(" is ")[0] for line in lines[:2]],
                         [f"deputy: warning: {arguments[0]}", f"deputy: warning: {arguments[2]}"])
        self.assertEqual(lines[2:], ["deputy: summary: 16 nodes in npu_stub, 0 on the CPU"])
        report = json.loads(self.deputy("bench", MODEL, *QUICK, "--json", *arguments).stdout)
        self.assertEqual([(row["flag"], row["available"]) for row in report["delegates"]],
                         [(arguments[0], False), ("--use_npu_stub", True), (arguments[2], False)])
        self.assertEqual(report["summary"], "16 nodes in NPU stub, 0 on the CPU")
        report = json.loads(self.deputy("explain", MODEL, "--json", *arguments).stdout)
        self.assertEqual([row["name"] for row in report["delegates"]], ["npu_stub"])
        self.assertEqual([row["flag"] for row in report["absent"]], arguments[::2])
        text = self.deputy("explain", MODEL, "--use_ynnpack").stdout
        self.assertIn("delegate   not available, --use_ynnpack: Deputy has no YNNPACK delegate\n", text)

    def test_command_line_order_ranks_all_providers(self):
        stub = BUILD / "libdeputy_npu_stub.so"
        self.put(stub.name, stub)
        adds = f"--external_delegate_path={plugin('elementwise')}"
        for first, second, nodes in ((adds, "--use_npu_stub", [2, 14]),
                                     ("--use_npu_stub", adds, [16, 0])):
            report = json.loads(self.deputy("explain", MODEL, "--json", first, second).stdout)
            self.assertEqual([row["nodes"] for row in report["delegates"]], nodes)

    def test_every_command_uses_the_list(self):
        for command in (["run", MODEL, "--random"], ["bench", MODEL, *QUICK], ["explain", MODEL],
                        ["inspect", MODEL], ["ops"], ["compare", MODEL]):
            text = self.deputy(command[0], "--help").stdout
            for key in (*OWN, *BRIDGES, *FOREIGN):
                self.assertIn(f"--use-{key.replace('_', '-')} ", text)
            result = self.deputy(*command, "--use_hexagon")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("warning: --use_hexagon is not available: ", result.stderr)
        result = self.deputy("certify", "hexagon")
        self.assertEqual(result.returncode, 2)
        self.assertIn("certify: hexagon: there is no ", result.stderr)
        # Only the help of `bench` lists the flags of each provider, but all subcommands accept the
        # flags.
        self.assertIn("--hexagon-lib-path DIR", self.deputy("bench", "--help").stdout)
        self.assertNotIn("--hexagon-lib-path", self.deputy("run", "--help").stdout)
        result = self.deputy("run", MODEL, "--random", "--hexagon_lib_path=/x")
        self.assertEqual(result.stderr, "deputy: warning: --hexagon_lib_path is ignored: Hexagon is "
                                        "not requested by --use_hexagon\n")

    def test_libraries_named_on_the_command_line_must_exist(self):
        result = self.deputy("run", MODEL, "--random", "--delegate", "/nowhere/libmine.so")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        result = self.deputy("explain", MODEL, "--use_hexagon", "--pin", "op:ADD=0")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--pin selects delegates by number, but --use_hexagon", result.stderr)
        result = self.deputy("bench", MODEL, *QUICK, "--use_hexagon", "--require_delegate")
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
