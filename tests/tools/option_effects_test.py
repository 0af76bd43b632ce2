#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each option of each subcommand with two values: results, calls or outputs must differ.

A row names an option of a subcommand, two command lines, and the part of the output to compare; an echo
of the value does not count. ELSEWHERE lists options whose effect another script tests, with that script's
test. Every option in a help text must be in one of the two; provider_flags_test.py covers the flags of
providers.

    tests/tools/option_effects_test.py BUILD_FOLDER
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
DIGITS = ROOT / "examples" / "digits"
FLOAT, INT8 = DIGITS / "digits_float.tflite", DIGITS / "digits_int8.tflite"
IMAGES = DIGITS / "images"
BUILD = None  # set from the command line

QUICK = ["--runs", "1", "--min-secs", "0", "--warmup", "0"]
RUN, BENCH = ["run", FLOAT, "--random"], ["bench", FLOAT, *QUICK]
EXPLAIN, INSPECT, OPS = ["explain", FLOAT], ["inspect", FLOAT], ["ops", FLOAT]
COMPARE = ["compare", FLOAT, "--against", INT8, "--tolerance", "1e9"]
COMMANDS = {"run": RUN, "bench": BENCH, "explain": EXPLAIN, "compare": COMPARE,
            "inspect": INSPECT, "ops": OPS}
STATE = [*BENCH[1:], "--print-preinvoke-state"]
RECORDER = "tests/plugins/librecorder.so"
FAILING = "tests/plugins/libfailing.so"
ELEMENTWISE = "tests/plugins/libelementwise.so"


# ---- Outputs to compare --------------------------------------------------------------------------

def printed(result, _):
    return result.stdout


def status(result, _):
    return result.returncode


def files(_, folder):
    return sorted((path.name, path.read_bytes()) for path in folder.rglob("*")
                  if path.is_file() and path.name != "log" and path.parent.name != "given")


def applied(_, folder):
    """Returns the numbers of threads recommended to delegates."""
    return [line for line in (folder / "log").read_text().splitlines() if line.startswith("apply ")]


def calls(_, folder):
    """Returns the calls that a recorder received, without times."""
    return [line.split()[:2] for line in (folder / "log").read_text().splitlines()]



def tensors(result, _):
    """Returns the lines of the table of tensors, whose columns are cut at their widths."""
    return re.findall(r"(?m)^ +\d+  \S.* \[[\d, ]*\]$", result.stdout)


# ---- The table -----------------------------------------------------------------------------------
# Columns of the following table: subcommand, option, two lists of arguments, output to compare.
# "{folder}" is an empty folder of each run, "{build}" the build.

def with_recorder(*more):
    return ["--delegate", "{build}/" + RECORDER, *more]


ROWS = [
    ("run", "--random", [FLOAT, "--random"], [FLOAT], printed),
    ("run", "--seed", [FLOAT, "--random", "--seed", 1], [FLOAT, "--random", "--seed", 2], printed),
    ("run", "--top-k", [FLOAT, "--random", "-k", 1], [FLOAT, "--random", "-k", 2], printed),
    ("run", "--max-values", [FLOAT, "--random", "--max-values", 1],
     [FLOAT, "--random", "--max-values", 2], printed),
    ("run", "--require", [FLOAT, "--random", "--delegate", "{build}/" + FAILING, "--policy", "hot"],
     [FLOAT, "--random", "--delegate", "{build}/" + FAILING, "--policy", "hot", "--require"], status),
    ("run", "--output-dir", [FLOAT, "--random"], [FLOAT, "--random", "-o", "{folder}/out"], files),
    ("run", "--profile", [FLOAT, "--random"], [FLOAT, "--random", "--profile"], printed),
    ("run", "--trace", [FLOAT, "--random"], [FLOAT, "--random", "--trace", "{folder}/t"], files),
    ("run", "--labels", [FLOAT, "--random", "-k", 1],
     [FLOAT, "--random", "-k", 1, "--labels", "{folder}/given/labels"], printed),
    ("run", "--image-input", [FLOAT, "--image", IMAGES, "--image-input", "image"],
     [FLOAT, "--image", IMAGES, "--image-input", "another"], status),
    ("run", "--rows-input", [FLOAT, "--rows", "{folder}/given/rows.csv", "--rows-input", "image"],
     [FLOAT, "--rows", "{folder}/given/rows.csv", "--rows-input", "another"], status),
    ("run", "--reference", [INT8, "--image", IMAGES, "-o", "{folder}"],
     [INT8, "--image", IMAGES, "-o", "{folder}", "--reference"], files),
    ("bench", "--seed", [*BENCH[1:], "--output-filepath={folder}/o", "--seed", 1],
     [*BENCH[1:], "--output-filepath={folder}/o", "--seed", 2], files),
    ("bench", "--output-filepath", BENCH[1:], [*BENCH[1:], "--output-filepath={folder}/o"], files),
    ("bench", "--trace", BENCH[1:], [*BENCH[1:], "--trace", "{folder}/t"], files),
    ("bench", "--op-profiling-output-file", BENCH[1:],
     [*BENCH[1:], "--op-profiling-output-file={folder}/p"], files),
    ("bench", "--dry-run", [*BENCH[1:], *with_recorder()],
     [*BENCH[1:], *with_recorder("--dry-run")], calls),
    ("bench", "--print-postinvoke-state", BENCH[1:], [*BENCH[1:], "--print-postinvoke-state"],
     lambda result, _: result.stdout.count("kTfLiteArenaRw")),
    ("bench", "--tensor-name-display-length", [*STATE, "--tensor-name-display-length", 4],
     [*STATE, "--tensor-name-display-length", 40], tensors),
    ("bench", "--tensor-type-display-length", [*STATE, "--tensor-type-display-length", 4],
     [*STATE, "--tensor-type-display-length", 40], tensors),
    ("bench", "--alloc-type-display-length", [*STATE, "--alloc-type-display-length", 4],
     [*STATE, "--alloc-type-display-length", 40], tensors),
    ("bench", "--graph", [*BENCH[1:], "--output-filepath={folder}/o"],
     ["--graph", INT8, *QUICK, "--output-filepath={folder}/o"], files),
    ("compare", "--tolerance", [FLOAT, "--against", INT8, "--tolerance", 1e9],
     [FLOAT, "--against", INT8, "--tolerance", 0], status),
    ("compare", "--against", [FLOAT, "--delegate", "{build}/" + ELEMENTWISE],
     [FLOAT, "--against", INT8, "--tolerance", 0], printed),
    ("compare", "--seed", [FLOAT, "--against", INT8, "--tolerance", 1, "--json", "--seed", 1],
     [FLOAT, "--against", INT8, "--tolerance", 1, "--json", "--seed", 2], printed),
    ("compare", "--reference", [INT8, "--against", INT8], [INT8, "--against", FLOAT, "--reference"],
     printed),
    ("explain", "--html", [FLOAT], [FLOAT, "--html", "{folder}/h"], files),
    ("explain", "--svg", [FLOAT], [FLOAT, "--svg", "{folder}/s"], files),
    ("explain", "--dot", [FLOAT], [FLOAT, "--dot", "{folder}/d"], files),
    ("explain", "--require", [FLOAT], [FLOAT, "--require", "full"], status),
    ("explain", "--exclude", [FLOAT, *with_recorder()],
     [FLOAT, *with_recorder("--exclude", "op:CONV_2D")], printed),
    ("explain", "--pin", [FLOAT, *with_recorder()],
     [FLOAT, *with_recorder("--delegate", "{build}/" + ELEMENTWISE, "--pin", "op:ADD=1")], printed),
    ("explain", "--check", [FLOAT, *with_recorder()], [FLOAT, *with_recorder("--check")], calls),
    ("inspect", "--operators", [FLOAT], [FLOAT, "--operators"], printed),
    ("inspect", "--tensors", [FLOAT], [FLOAT, "--tensors"], printed),
    ("inspect", "--memory", [FLOAT], [FLOAT, "--memory"], printed),
    ("ops", "--markdown", [], ["--markdown"], printed),
]
for _command, _line in COMMANDS.items():
    ROWS += [
        (_command, "--delegate", [*_line[1:], "--delegate", "{build}/" + ELEMENTWISE],
         [*_line[1:], *with_recorder()], lambda _, folder: (folder / "log").exists()),
        (_command, "--threads", [*_line[1:], *with_recorder("--threads", 1)],
         [*_line[1:], *with_recorder("--threads", 3)], applied),
    ]
    if _command in ("run", "bench", "compare"):
        _fails = [*_line[1:], "--delegate", "{build}/" + FAILING, "--policy"]
        ROWS.append((_command, "--policy", [*_fails, "hot"], [*_fails, "tflite"], status))
    if _command != "run":
        ROWS.append((_command, "--json", _line[1:], [*_line[1:], "--json"],
                     lambda result, _: result.stdout[:1]))
    if _command not in ("ops",):
        ROWS.append((_command, "--shape", [*_line[1:], *with_recorder()],
                     [*_line[1:], *with_recorder("--shape", "image=2,28,28,1")], printed))
for _command in ("plugins", "devices"):
    ROWS.append((_command, "--json", [], ["--json"], lambda result, _: result.stdout[:1]))

# Columns: environment variable, two values, a command line, output to compare.
VARIABLES = [
    ("DEPUTY_ARITHMETIC", "default", "reference",
     ["run", INT8, "--image", IMAGES, "-o", "{folder}"], files),
    ("DEPUTY_DELEGATE_POLICY", "hot", "tflite", [*RUN, "--delegate", "{build}/" + FAILING], status),
    ("DEPUTY_PLUGIN_PATH", "{build}/examples", "{folder}", ["plugins"], printed),
]

# Options whose effect a test of another script checks.
ELSEWHERE = {
    "litert_compiled_files_test": {
        "test_files_run_with_the_dispatch_plugin": ["--plugin"],
        "test_the_device_is_passed": ["--soc"],
        "test_the_cpu_runs_the_original_model_after_a_failed_run": ["--keep-original"],
        "test_plugins_in_a_process_of_their_own": ["--timeout"],
    },
    "cli_test": {
        "test_findings_of_the_validation_layer_make_the_exit_code_1": ["--validate"],
        "test_bench_marks_nodes_that_multiply_in_lower_precision": ["--precision", "--allow-fp16"],
        "test_a_signature_can_be_run": ["--signature"],
        "test_raw_npy_and_image_inputs_give_the_same_output": ["--input", "--image"],
        "test_range_mean_and_scale_map_pixel_values": ["--range", "--mean", "--scale"],
        "test_rows_of_a_table_or_of_a_folder_are_an_inference_each": ["--rows"],
        "test_checks_results_against_file_names": ["--expect-from-name"],
        "test_compares_the_cpu_with_delegates_in_one_table": ["--compare"],
        "test_the_progress_bar_is_for_terminals_or_on_demand": ["--progress"],
        "test_bench_reads_the_given_inputs": ["--input-layer", "--input-layer-shape",
                                              "--input-layer-value-range", "--input-layer-value-files"],
        "test_bench_passes_nodes_and_partition_limits_to_delegates": [
            "--max-delegated-partitions", "--min-nodes-per-partition",
            "--first-delegate-node-index", "--last-delegate-node-index"],
        "test_bench_reports_the_nodes_of_each_delegate": ["--require-delegate", "--require-full-delegation",
                                                          "--show-cpu-nodes"],
        "test_bench_runs_nothing_with_dry_run": ["--print-preinvoke-state",
                                                 "--report-peak-memory-footprint", "--list-signatures"],
        "test_bench_shows_every_option_with_verbose": ["--verbose"],
        "test_bench_limits_the_rows_of_the_profile": ["--nodes", "--enable-op-profiling"],
        "test_bench_writes_the_profile_as_csv": ["--op-profiling-output-mode"],
        # Options that are accepted and have no effect, as their help says.
        "test_bench_accepts_the_flags_of_benchmark_model": [
            "--max-profiling-buffer-entries", "--allow-dynamic-profiling-buffer-increase"]},
    "run_items_test": {"test_each_image_has_a_line_with_its_outputs": ["--output"],
                       "test_a_run_that_is_killed_twice_loses_nothing": ["--resume"],
                       "test_results_do_not_depend_on_the_number_of_interpreters": ["--workers"]},
    "background_option_test": {"test_explain_waits_and_shows_the_delegate": ["--background"]},
    "compile_test": {"test_the_cpu_packs_nothing": ["--output", "--check"]},
    "weight_cache_option_test": {"test_later_processes_pack_nothing": ["--weight-cache"]},
    "place_option_test": {"test_nodes_of_a_slow_delegate_run_on_the_cpu": ["--place"],
                          "test_the_budget_limits_the_measurements": ["--place-budget"],
                          "test_the_plan_is_stored_for_the_same_circumstances": ["--place-cache"]},
    "device_policy_test": {"test_nodes_run_on_the_device_that_the_policy_chooses": ["--device-policy"]},
    "verification_test": {"": ["--verify"]},
    "layer_option_test": {"test_faults_of_a_layer_are_computed_on_the_cpu": ["--layer"]},
    "replay_test": {"test_a_report_has_all_facts_in_one_file": ["--output", "--include-model"],
                    "test_other_delegates_and_models_are_noticed": ["--delegate"],
                    "test_a_record_is_shown_as_text_and_json": ["--inspect"],
                    "test_other_engines_differ_within_a_tolerance": ["--tolerance"]},
    "isolate_test": {"test_explain_shows_the_process_and_its_profile": ["--isolate"]},
    "explain_test": {"test_delegates_show_their_partitions_if_they_can": ["--ir"]},
    "bench_clock_test": {"test_options": ["--runs", "--min-secs", "--max-secs", "--warmup",
                                          "--warmup-secs"],
                         "test_pauses_between_inferences": ["--run-delay", "--run-frequency"],
                         "test_explain_measures_the_requested_inferences": ["--profile"]},
    "precision_command_test": {
        "test_inputs_are_random_or_given": ["--inputs", "--seed", "--rows-input", "--image-input"],
        "test_the_bound_limits_the_error": ["--bound"], "test_times_are_measured": ["--measure", "--json"],
        "test_a_plan_selects_the_precision_of_nodes": ["--precision-plan"]},
    "bench_all_test": {"": ["--all-delegates"]},
    "certify_test": {"": ["--model", "--only", "--jobs", "--timeout", "--max-slowdown", "--all",
                          "--list", "--progress", "--json", "--html", "--junit", "--badge"]},
}
# Flags of one provider only, and flags that select providers.
PROVIDERS = re.compile(r"--soc-model|--(use|gpu|nnapi|disable-nnapi|hexagon|coreml|delegate-serialize|external|"
                       r"stable|mindspore|dispatch|compiler-plugin)-.*")


class OptionEffectsTest(unittest.TestCase):
    def observe(self, command, arguments, look, **environment):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "given").mkdir()
            (folder / "given" / "labels").write_text("\n".join("abcdefghij") + "\n")
            (folder / "given" / "rows.csv").write_text(",".join(["0.5"] * 784) + "\n")
            line = [str(part).format(folder=folder, build=BUILD) for part in arguments]
            variables = {**os.environ, "RECORDER_LOG": str(folder / "log")}
            for key, value in environment.items():
                variables[key] = value.format(folder=folder, build=BUILD)
            result = subprocess.run([BUILD / "deputy", command, *line], capture_output=True, text=True,
                                    errors="replace", timeout=300, env=variables)
            self.assertIn(result.returncode, (0, 1, 2), f"{line}: {result.stderr}")
            return look(result, folder)

    def test_two_values_differ(self):
        for command, option, one, other, look in ROWS:
            with self.subTest(command=command, option=option):
                first, second = self.observe(command, one, look), self.observe(command, other, look)
                self.assertNotEqual(first, second)

    def test_two_values_of_variables_differ(self):
        for name, one, other, (command, *arguments), look in VARIABLES:
            with self.subTest(variable=name):
                self.assertNotEqual(self.observe(command, arguments, look, **{name: one}),
                                    self.observe(command, arguments, look, **{name: other}))

    def test_policies_by_their_names(self):
        fails = [FLOAT, "--random", "--delegate", "{build}/" + FAILING]
        for policy, expected in (("hot", 0), ("tflite", 1)):
            self.assertEqual(self.observe("run", [*fails, "--policy", policy], status), expected)
            self.assertEqual(self.observe("run", fails, status, DEPUTY_DELEGATE_POLICY=policy),
                             expected)

    def test_referenced_tests_exist(self):
        for script, tests in ELSEWHERE.items():
            path = next((ROOT / "tests").rglob(f"{script}.py"))
            text = path.read_text(encoding="utf-8")
            for name, options in tests.items():
                self.assertIn(f"def {name or 'test_'}", text)
                for option in options:
                    spellings = (option, option[2:], option.replace("-", "_").replace("__", "--"))
                    self.assertTrue(any(each in text for each in spellings), f"{script}: {option}")

    def test_every_variable_of_the_environment_is_set_by_a_test(self):
        source = (ROOT / "core" / "base" / "environment.cc").read_text(encoding="utf-8")
        table = re.search(r"kKnown\[\] = \{(.*?)\};", source, re.DOTALL).group(1)
        known = re.findall(r'"([A-Z_]+)",', table)
        self.assertGreater(len(known), 10)
        tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*")
                        if path.suffix in (".c", ".cc", ".py"))
        for name in known:
            self.assertRegex(tests, rf"DEPUTY_{name}\b(?!\*)", name)

    def test_every_option_of_the_help_has_a_row(self):
        elsewhere = {option for tests in ELSEWHERE.values() for options in tests.values()
                     for option in options}
        rows = {(command, option) for command, option, *_ in ROWS}
        overview = subprocess.run([BUILD / "deputy", "--help"], capture_output=True, text=True,
                                  check=True).stdout
        commands = re.findall(r"(?m)^  ([a-z]+) {2,}\S", overview)
        self.assertIn("certify", commands)
        for command in commands:
            text = subprocess.run([BUILD / "deputy", command, "--help"], capture_output=True, text=True,
                                  check=True).stdout
            for option in re.findall(r"(?m)^  (?:-\w, )?(--[a-z0-9-]+)", text):
                if option != "--help" and not PROVIDERS.fullmatch(option):
                    self.assertTrue((command, option) in rows or option in elsewhere
                                    or (any((other, option) in rows for other in COMMANDS)
                                        and option in ("--reference", "--shape", "--policy", "--threads")),
                                    f"{command} {option} has no row")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop()).resolve()
    unittest.main()
