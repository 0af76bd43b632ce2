#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `deputy devices`. Some devices are those of a test plug-in, tests/plugins/elementwise.c, which the
variable ELEMENTWISE_DEVICES names.

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
        for name in ("cpu", "xnnpack"):
            with self.subTest(plugin=name):
                self.own(name)
                device = self.device_of(name)
                self.assertEqual((device["type"], device["class"], device["power"], device["usable"]),
                                 ("CPU", "cpu", "medium", True))
                self.assertGreater(device["memory_bytes"], 1 << 26)
                self.assertEqual(device["compute_units"], os.sysconf("SC_NPROCESSORS_ONLN"))
                self.assertEqual(device["prefers"],
                                 {"precision": "as in the model", "layout": "NHWC", "batch": 0})

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


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
