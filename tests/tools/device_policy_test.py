#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy devices`, and --device-policy of `run`, `bench` and `explain`. Most devices are those of a
test plug-in, tests/plugins/elementwise.c, which the variable ELEMENTWISE_DEVICES names.

    tests/tools/device_policy_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
QUICK = ("--runs", "1", "--min-secs", "0", "--warmup", "0")
BUILD = None  # set from the command line


def plugin(name):
    return BUILD / "tests" / "plugins" / f"lib{name}.so"


class DevicesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # The command finds Deputy's own plug-ins in the folder of its library: this one has none.
        for name in ("deputy", "libdeputy.so.1"):
            shutil.copy(BUILD / name, self.folder / name)

    def deputy(self, *arguments, plugins=("devices",), **environment):
        variables = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "DEPUTY_OPENCL_LIBRARY": "none",
                     "DEPUTY_PLUGIN_PATH": ":".join(str(plugin(name)) for name in plugins), **environment}
        return subprocess.run([self.folder / "deputy", *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, check=False, env=variables)

    def own(self, *names):
        """Adds plug-ins of Deputy; skips the test if one of them is not built."""
        for name in names:
            if not (BUILD / f"libdeputy_{name}.so").exists():
                self.skipTest(f"built without {name}")
            shutil.copy(BUILD / f"libdeputy_{name}.so", self.folder)

    def device_of(self, name, **environment):
        result = self.deputy("devices", name, "--json", **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        entry, = json.loads(result.stdout)
        device, = entry["devices"]
        return device

    # ---- deputy devices ------------------------------------------------------------------------------

    def test_without_arguments_all_plug_ins_are_listed(self):
        self.own("npu_stub", "cpu", "gpu")
        plugins = ("devices", "described0", "described_first_release", "no_create", "crashing")
        result = self.deputy("devices", "--json", plugins=plugins, ELEMENTWISE_DEVICES="NPU,-CPU")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        entries = json.loads(result.stdout)
        found = {pathlib.Path(entry["path"]).name: [device["name"] for device in entry["devices"]]
                 for entry in entries}
        host = found.pop("libdeputy_cpu.so")
        self.assertEqual(len(host), 1)
        self.assertEqual(found, {"libdevices.so": ["device 0", "device 1"],
                                 "libdescribed0.so": ["abacus", "fingers"],
                                 "libdescribed_first_release.so": [], "libno_create.so": [],
                                 "libcrashing.so": [], "libdeputy_gpu.so": [],
                                 "libdeputy_npu_stub.so": ["pretended NPU"]})
        problems = {pathlib.Path(entry["path"]).name: entry["problem"] for entry in entries
                    if "problem" in entry}
        self.assertEqual(set(problems), {name for name, devices in found.items() if not devices})
        self.assertIn("DEPUTY_OPENCL_LIBRARY=none", problems["libdeputy_gpu.so"])
        self.assertIn("does not export", problems["libno_create.so"])
        text = self.deputy("devices", plugins=plugins, ELEMENTWISE_DEVICES="NPU").stdout
        for entry in entries:
            self.assertIn(f"\n{entry['name']}\n", "\n" + text)
        self.assertEqual(text.count("\n  none: "), 4)

    def test_the_host_is_a_device_of_cpu_delegates(self):
        library = BUILD / "tests" / "doubles" / "libonnxruntime.so"
        for name in ("cpu", "onnxruntime", "xnnpack"):
            with self.subTest(plugin=name):
                self.own(name)
                device = self.device_of(name, DEPUTY_ONNXRUNTIME_LIBRARY=str(library))
                self.assertEqual((device["type"], device["class"], device["power"], device["usable"]),
                                 ("CPU", "cpu", "medium", True))
                self.assertGreater(device["memory_bytes"], 1 << 26)
                self.assertEqual(device["compute_units"], os.sysconf("SC_NPROCESSORS_ONLN"))
                self.assertEqual(device["prefers"],
                                 {"precision": "as in the model", "layout": "NHWC", "batch": 0})

    def test_onnx_runtime_has_no_device_without_its_library(self):
        self.own("onnxruntime")
        result = self.deputy("devices", "onnxruntime", DEPUTY_ONNXRUNTIME_LIBRARY="/nowhere/lib.so")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'/nowhere/lib.so', which DEPUTY_ONNXRUNTIME_LIBRARY names, cannot be opened",
                      " ".join(result.stdout.split()))

    def test_the_npu_stub_is_a_simulation(self):
        self.own("npu_stub")
        device = self.device_of("npu_stub")
        self.assertEqual((device["type"], device["power"], device["prefers"]["layout"]),
                         ("simulated NPU", "medium", "NCHW"))
        result = self.deputy("devices", "npu_stub", DEPUTY_NPU="absent")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no NPU (DEPUTY_NPU=absent)", result.stdout)

    def test_nnapi_lists_its_devices_with_the_option_that_selects_them(self):
        self.own("nnapi")
        library = BUILD / "tests" / "doubles" / "libneuralnetworks.so"
        result = self.deputy("devices", "nnapi", "--json", DEPUTY_NNAPI_LIBRARY=str(library))
        entry, = json.loads(result.stdout)
        self.assertGreater(len(entry["devices"]), 1)
        for number, device in enumerate(entry["devices"]):
            self.assertEqual((device["index"], device["platform"]), (number, "NNAPI"))
            self.assertEqual(device["options"], f"accelerator_name={device['name']}")
            option = device["options"]
            result = self.deputy("run", MODEL, "--random", "--delegate",
                                 f"nnapi,{option}", DEPUTY_NNAPI_LIBRARY=str(library))
            self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("CPU", {device["type"] for device in entry["devices"]})

    def test_hexagon_lists_the_dsp(self):
        self.own("hexagon")
        path = f"{self.folder}:{BUILD / 'tests' / 'doubles' / 'hexagon'}"
        device = self.device_of("hexagon", LD_LIBRARY_PATH=path)
        self.assertEqual((device["name"], device["type"], device["power"], device["prefers"]["precision"]),
                         ("Hexagon DSP", "NPU", "low", "int8"))
        result = self.deputy("devices", "hexagon")
        self.assertIn("cannot open libhexagon_interface.so", result.stdout)

    def test_wrappers_have_the_devices_of_the_wrapped_library(self):
        self.own("layers", "sandbox", "replay")
        for name, reason in (("layers", "of the library that a delegate wraps"),
                             ("sandbox", "of the library that a delegate runs in a process"),
                             ("replay", "a record has no device")):
            path = self.folder / f"libdeputy_{name}.so"
            self.assertIn(reason, self.deputy("devices", path).stdout)
        layers = {"DEPUTY_LAYERS": "deadline=60s", "ELEMENTWISE_DEVICES": "NPU"}
        self.assertEqual(self.device_of(str(plugin("devices")), **layers)["name"], "device 0")
        for variables in ({"DEPUTY_ISOLATE": "1"}, {"DEPUTY_LAYERS": "isolate"}):
            result = self.deputy("devices", plugin("devices"), **variables)
            self.assertRegex(result.stdout, "none: .*devices are those of the library")

    # ---- --device-policy -----------------------------------------------------------------------------

    def explain(self, policy, devices, *more):
        result = self.deputy("explain", MODEL, "--device-policy", policy, "--json", *more,
                             ELEMENTWISE_DEVICES=devices)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_nodes_run_on_the_device_that_the_policy_chooses(self):
        devices = "CPU,integrated GPU,discrete GPU,accelerator,-NPU"
        for policy, chosen, order in (
                ("performance", 2, ["discrete GPU", "accelerator", "integrated GPU", "NPU"]),
                ("efficiency", 3, ["NPU", "accelerator", "integrated GPU"]),
                ("latency", 1, ["NPU", "integrated GPU", "discrete GPU", "accelerator"]),
                ("prefer-npu", 2, ["NPU", "discrete GPU", "accelerator", "integrated GPU"]),
                ("prefer-gpu", 2, ["discrete GPU", "integrated GPU", "accelerator", "NPU"])):
            with self.subTest(policy=policy):
                report = self.explain(policy, devices)
                choice = report["device_choice"]
                self.assertEqual((choice["policy"], choice["order"]), (policy, order))
                self.assertEqual((choice["chosen"]["index"], choice["chosen"]["options"]),
                                 (chosen, f"device={chosen}"))
                reasons = {device["index"]: device["reason"] for device in choice["devices"]}
                self.assertEqual(reasons[chosen], "the best of the usable devices")
                self.assertEqual(reasons[0], "the policy prefers the CPU")
                self.assertRegex(reasons[4], "^not usable$")
                delegate, = report["delegates"]
                self.assertGreater(delegate["nodes"], 0)
                self.assertEqual(delegate["facts"]["device"], f"device {chosen}")

    def test_the_explanation_has_the_choice_and_the_others(self):
        result = self.deputy("explain", MODEL, "--device-policy", "latency", plugins=("devices", "no_create"),
                             ELEMENTWISE_DEVICES="discrete GPU,NPU,-NPU,CPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in ("device     policy latency: elementwise [1] device 1 (NPU)",
                     "           order: NPU, integrated GPU, discrete GPU, accelerator, CPU",
                     "           elementwise [0] device 0 (discrete GPU): ranks lower",
                     "           elementwise [1] device 1 (NPU): the best of the usable devices",
                     "           elementwise [3] device 3 (CPU): the policy prefers the CPU"):
            self.assertIn(f"\n{line}\n", result.stdout)
        self.assertRegex(result.stdout, r"libno_create.so:\s+none:\s+Unable\s+to\s+load")
        result = self.deputy("explain", MODEL, "--check", "--device-policy", "latency")
        self.assertIn("\ndevice     policy latency: elementwise [0] device 0 (NPU)\n", result.stdout)

    def test_run_and_bench_name_the_chosen_device(self):
        line = "deputy: device policy prefer-npu: elementwise [0] device 0 (NPU)\n"
        result = self.deputy("run", MODEL, "--random", "--device-policy", "prefer-npu", "--require")
        self.assertEqual((result.returncode, result.stderr), (0, line))
        result = self.deputy("bench", MODEL, *QUICK, "--device-policy", "prefer-npu", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, line))
        report = json.loads(result.stdout)
        self.assertEqual(report["device_choice"]["chosen"]["name"], "device 0")
        self.assertEqual(report["delegates"][0]["facts"]["device"], "device 0")
        self.assertGreater(report["delegates"][0]["nodes"], 0)

    def test_without_a_device_the_cpu_runs_and_the_report_says_so(self):
        for devices in ("CPU,-NPU", "simulated NPU", "!null,!index,!size", ""):
            report = self.explain("performance", devices)
            self.assertIsNone(report["device_choice"]["chosen"])
            self.assertEqual((report["delegates"], report["delegated"]), ([], 0))
        result = self.deputy("run", MODEL, "--random", "--device-policy", "efficiency",
                             ELEMENTWISE_DEVICES="discrete GPU")
        self.assertEqual((result.returncode, result.stderr),
                         (0, "deputy: device policy efficiency: the CPU, because no usable device is "
                             "preferred to it\n"))

    def test_a_delegate_that_cannot_be_created_leaves_the_model_to_the_cpu(self):
        for command in (("run", MODEL, "--random"), ("bench", MODEL, *QUICK)):
            result = self.deputy(*command, "--device-policy", "efficiency", ELEMENTWISE_BUSY="1")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"\Adeputy: warning: --device-policy: \S*libdevices.so is not "
                                            r"available: .*the device is busy")
        report = json.loads(self.deputy("explain", MODEL, "--device-policy", "efficiency", "--json",
                                        ELEMENTWISE_BUSY="1").stdout)
        self.assertEqual((report["delegates"], report["delegated"], len(report["absent"])), ([], 0, 1))

    def test_it_excludes_other_delegates(self):
        for more in (("--delegate", plugin("elementwise")), ("--use_gpu",)):
            result = self.deputy("run", MODEL, "--random", "--device-policy", "latency", *more)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--device-policy chooses the delegate; it excludes --", result.stderr)
        result = self.deputy("run", MODEL, "--random", "--device-policy", "fast")
        self.assertEqual(result.returncode, 2)
        result = self.deputy("bench", MODEL, "--all-delegates", "--device-policy", "latency")
        self.assertIn("--all-delegates excludes --device-policy", result.stderr)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
