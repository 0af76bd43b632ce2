#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each provider of the command loads its own library, and each of its flags is passed to the
library as the corresponding option, for both values. The libraries are a recorder
(tests/plugins/recorder.c) under the names of the real ones.

    tests/tools/provider_flags_test.py BUILD_FOLDER
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "digits" / "digits_float.tflite"
BUILD = None  # set from the command line
COMMANDS = {"run": [MODEL, "--random"], "explain": [MODEL], "inspect": [MODEL], "ops": [MODEL],
            "compare": [MODEL, "--tolerance", "1e9"],
            "bench": [MODEL, "--runs", "1", "--min-secs", "0", "--warmup", "0", "--nodes", "0"]}

# Display names of the providers whose library is found by --use_<key>.
LOADED = {"gpu": "GPU", "npu_stub": "NPU stub", "xnnpack": "XNNPACK", "cpu": "CPU delegate", "litert": "LiteRT",
          "nnapi": "NNAPI", "hexagon": "Hexagon"}
# Providers that name their library on the command line, and providers of other operating systems.
NAMED = ("external", "mindspore", "stable")
FOREIGN = ("coreml", "ynnpack")

# Flags by provider: a flag as typed, and the option that the library receives (None: no option).
FLAGS = {
    "gpu": [("--gpu_precision_loss_allowed", "precision=auto"),
            ("--gpu_precision_loss_allowed=false", "precision=fp32"),
            ("--gpu_experimental_enable_quant", "quantized=true"),
            ("--gpu_experimental_enable_quant=false", "quantized=false"),
            ("--gpu_inference_for_sustained_speed", "preference=sustained_speed"),
            ("--gpu_inference_for_sustained_speed=false", "preference=single_answer"),
            ("--delegate_serialize_dir=/a", "cache_dir=/a"),
            ("--delegate_serialize_dir=/b", "cache_dir=/b"),
            ("--delegate_serialize_token=a", "cache_token=a"),
            ("--delegate_serialize_token=b", "cache_token=b"),
            ("--gpu_backend=cl", None)],
    "litert": [("--dispatch_library_dir=/a", "dispatch_library_dir=/a"),
               ("--dispatch_library_dir=/b", "dispatch_library_dir=/b"),
               ("--compiler_plugin_library_dir=/a", "compiler_plugin_library_dir=/a"),
               ("--compiler_plugin_library_dir=/b", "compiler_plugin_library_dir=/b"),
               ("--soc_model=a", "soc_model=a"),
               ("--soc_model=b", "soc_model=b")],
    "nnapi": [("--nnapi_execution_preference=low_power", "execution_preference=low_power"),
              ("--nnapi_execution_preference=x", "execution_preference=x"),
              ("--nnapi_execution_priority=high", "execution_priority=high"),
              ("--nnapi_execution_priority=low", "execution_priority=low"),
              ("--nnapi_accelerator_name=a", "accelerator_name=a"),
              ("--nnapi_accelerator_name=b", "accelerator_name=b"),
              ("--disable_nnapi_cpu", "disable_cpu=true"),
              ("--disable_nnapi_cpu=false", "disable_cpu=false"),
              ("--nnapi_allow_fp16", "allow_fp16=true"),
              ("--nnapi_allow_fp16=false", "allow_fp16=false"),
              ("--nnapi_allow_dynamic_dimensions", "allow_dynamic_dimensions=true"),
              ("--nnapi_allow_dynamic_dimensions=false", "allow_dynamic_dimensions=false"),
              ("--nnapi_use_burst_mode", "use_burst_mode=true"),
              ("--nnapi_use_burst_mode=false", "use_burst_mode=false"),
              ("--nnapi_support_library_path=/a.so", "support_library_path=/a.so"),
              ("--nnapi_support_library_path=/b.so", "support_library_path=/b.so")],
    "hexagon": [("--hexagon_lib_path=/a", "library_folder=/a"),
                ("--hexagon_lib_path=/b", "library_folder=/b"),
                ("--hexagon_profiling", "profiling=true"),
                ("--hexagon_profiling=false", "profiling=false")],
}
# Flags of providers that no library on this system receives, and of libraries named on the command line.
OTHER_FLAGS = {"--coreml_version", "--external_delegate_options"}


def library_of(key):
    """Returns the path of a provider's library, relative to the folder of libdeputy."""
    return "drop-in/libLiteRt.so" if key == "litert" else f"libdeputy_{key}.so"


def name_of(key):
    return pathlib.Path(library_of(key)).name


class ProviderFlagsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        library = BUILD / "libdeputy.so.1"
        (self.folder / library.name).symlink_to(library)
        # The loader identifies a library by its file, so each provider needs a copy instead of a
        # link.
        recorder = (BUILD / "tests" / "plugins" / "librecorder.so").read_bytes()
        (self.folder / "drop-in").mkdir()
        for key in (*LOADED, "named"):
            (self.folder / library_of(key)).write_bytes(recorder)

    def deputy(self, *arguments):
        variables = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "RECORDER_LOG": str(self.log)}
        return subprocess.run([BUILD / "deputy", *map(str, arguments)], capture_output=True,
                              text=True, timeout=300, env=variables)

    def created(self, *arguments):
        """Returns the delegates that a command created, each as [library, option, ...]."""
        self.log.unlink(missing_ok=True)
        result = self.deputy(*arguments)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split()[1:] for line in lines if line.startswith("create ")]

    def test_each_flag_is_an_option_of_its_library(self):
        for key, rows in FLAGS.items():
            for flag, option in rows:
                name, equals, value = flag.partition("=")
                for spelling in (name, "--" + name[2:].replace("_", "-")):
                    with self.subTest(flag=spelling + equals + value):
                        found = self.created("inspect", MODEL, f"--use_{key}",
                                             spelling + equals + value)
                        expected = [name_of(key)] + ([option] if option else [])
                        self.assertEqual(found, [expected])

    def test_flags_are_combined_and_passed_only_to_their_provider(self):
        flags = [row[0] for rows in FLAGS.values() for row in rows[::2]]
        found = self.created("inspect", MODEL, *(f"--use_{key}" for key in FLAGS), *flags)
        self.assertEqual([row[0] for row in found], [name_of(key) for key in FLAGS])
        for row, rows in zip(found, FLAGS.values()):
            self.assertEqual(sorted(row[1:]), sorted(option for _, option in rows[::2] if option))

    def test_each_command_passes_flags_on(self):
        for command, rest in COMMANDS.items():
            found = self.created(command, *rest, "--use_gpu", "--gpu_precision_loss_allowed=false")
            self.assertIn(["libdeputy_gpu.so", "precision=fp32"], found, command)

    def test_each_provider_loads_its_library_under_its_name(self):
        for key, name in LOADED.items():
            with self.subTest(provider=key):
                self.assertEqual(self.created("inspect", MODEL, f"--use_{key}=false"), [])
                self.assertEqual(self.created("inspect", MODEL, f"--use-{key.replace('_', '-')}"),
                                 [[name_of(key)]])
                report = json.loads(self.deputy("bench", *COMMANDS["bench"], "--json",
                                                f"--use_{key}").stdout)
                for delegate in report["delegates"]:
                    delegate.pop("facts")  # compared by delegate_facts_test
                self.assertEqual(report["delegates"], [{"name": name, "flag": f"--use_{key}",
                                                        "available": True, "nodes": 16,
                                                        "partitions": 16}])
        for key in FOREIGN:
            self.assertEqual(self.created("inspect", MODEL, f"--use_{key}"), [])

    def test_libraries_named_on_the_command_line(self):
        path = self.folder / "libdeputy_named.so"
        for flags, options in (
                ([f"--external_delegate_path={path}"], []),
                ([f"--external_delegate_path={path}", "--external_delegate_options=a:1;b:x=y"],
                 ["a=1", "b=x=y"]),
                ([f"--external_delegate_path={path}", "--external-delegate-options=a:2"], ["a=2"]),
                ([f"--mindspore_delegate_path={path}"], []),
                (["--delegate", f"{path},a=1,b=2"], ["a=1", "b=2"])):
            self.assertEqual(self.created("inspect", MODEL, *flags), [["libdeputy_named.so", *options]])
        settings = self.folder / "settings.json"
        settings.write_text(json.dumps({"stable_delegate_loader_settings": {
            "delegate_path": str(BUILD / "tests" / "plugins" / "libstable_1.0.0.so"),
            "delegate_name": "mine"}}))
        log = self.folder / "stable"
        os.environ["OPAQUE_LOG"] = str(log)
        self.addCleanup(os.environ.pop, "OPAQUE_LOG")
        report = json.loads(self.deputy("bench", *COMMANDS["bench"], "--json",
                                        f"--stable_delegate_settings_file={settings}").stdout)
        self.assertEqual([(row["name"], row["available"]) for row in report["delegates"]],
                         [("settings.json", True)])
        self.assertIn("libstable_1.0.0.so", log.read_text())

    def test_the_tables_contain_every_provider_and_flag_of_the_help(self):
        text = self.deputy("bench", "--help").stdout
        providers = set(re.findall(r"--use-([a-z-]+)", text))
        self.assertEqual({key.replace("-", "_") for key in providers}, {*LOADED, *FOREIGN})
        self.assertEqual(set(re.findall(r"--(\w+)-delegate-(?:path|settings-file)", text)), set(NAMED))
        sections = re.findall(r"For --\S+:\n((?: .*\n)+)", text)
        shown = {"--" + name.replace("-", "_") for section in sections
                 for name in re.findall(r"^  --([a-z0-9-]+)", section, re.MULTILINE)}
        listed = {flag.partition("=")[0] for rows in FLAGS.values() for flag, _ in rows}
        self.assertEqual(shown, listed | OTHER_FLAGS - {"--external_delegate_options"})


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
