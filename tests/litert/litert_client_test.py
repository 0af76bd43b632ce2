#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a program that links libLiteRt_client.a, and compares what it prints.

    litert_client_test.py BUILD_FOLDER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from litert_calls import rows_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build/release').resolve()
ARCHIVE = BUILD / 'libLiteRt_client.a'
LIBRARY = BUILD / 'drop-in/libLiteRt.so'
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
SKIPPED = 77

OPTIONS = ('google_tensor', 'qualcomm', 'arm', 'compiler', 'cpu', 'gpu', 'mediatek', 'runtime', 'samsung', 'webnn')
HEADERS = {
    *(f'litert/c/options/litert_{name}_options.h' for name in OPTIONS),
    'litert/c/internal/litert_logging.h',
    'litert/c/internal/litert_logging_helper.h',
    'litert/c/internal/litert_logging_helper_with_compiler_context.h',
    'litert/c/internal/litert_logging_helper_with_runtime_context.h',
    'litert/c/internal/litert_runtime_builtin.h',
    'litert/c/litert_common.h',
    'litert/c/litert_layout.h',
}

# Output of the program with the functions of LiteRT; the prefix kLiteRtStatus is removed.
EXPECTED = """\
model: Ok
create NULL: ErrorInvalidArgument
create: Ok
text: Ok
[xnnpack]
no threads: ErrorNotFound
threads: Ok
threads: 2
threads NULL: ErrorInvalidArgument
options NULL: ErrorInvalidArgument
mode 3: ErrorInvalidArgument
mode: Ok
mode: 2
ynnpack: Ok
flags: Ok
hint: Ok
path NULL: ErrorInvalidArgument
fd: Ok
path and fd: ErrorInvalidArgument
text: Ok
[xnnpack]
kernel_mode = "builtin"
enable_ynnpack = true
num_threads = 2
flags = 4294967295
hint_fully_delegated_to_single_delegate = false
weight_cache_file_descriptor = 7
create: Ok
threads: Ok
path: Ok
fd and path: ErrorInvalidArgument
path: Ok
/nonexistent/weights
mode: Ok
ynnpack: Ok
hint: Ok
text: Ok
[xnnpack]
kernel_mode = "reference"
enable_ynnpack = false
num_threads = 2
hint_fully_delegated_to_single_delegate = true
weight_cache_file_path = "/nonexistent/weights"
create: Ok
add: Ok
create: Ok
no profiles: ErrorNotFound
profiles: Ok
profiles: 1
reporter: Ok
zero points: Ok
clustering: Ok
no signature: ErrorInvalidArgument
empty signature: ErrorInvalidArgument
repeated signature: ErrorInvalidArgument
signatures: Ok
text: Ok
[runtime_options_string]
enable_profiling = true
error_reporter_mode = 2
compress_quantization_zero_points = false
disable_delegate_clustering = true
selected_signature_keys = ["<placeholder signature>", "other one"]
signature: Ok
text: Ok
[runtime_options_string]
enable_profiling = true
error_reporter_mode = 2
compress_quantization_zero_points = false
disable_delegate_clustering = true
selected_signature_keys = ["<placeholder signature>"]
create: Ok
add: Ok
create: Ok
no partitions: ErrorNotFound
strategy: Ok
dummy: Ok
partitions: Ok
partitions: 5000000000
text: Ok
[compiler_options_string]
partition_strategy = 1
dummy_option = true
max_partitions = 5000000000
compiled: Ok
profiler: Ok
accelerated: 0
sink: Ok
printer: Ok
identifier: Ok
LiteRtSinkLogger
severity: 1
identifier: Ok
LiteRtDefaultLogger
severity: 1
log: Ok
log: Ok
format NULL: ErrorInvalidArgument
size: 2
DEBUG: count 42
ERROR: plain
message: ErrorNotFound
clear: Ok
size: 0
size of a printer: ErrorInvalidArgument
severity: Ok
severity of another printer: 3
severity of the sink: 1
options: Ok
propagate: Ok
severity: 2
context NULL: ErrorInvalidArgument
with a context: Ok
severity: 2
default NULL: ErrorInvalidArgument
default sink: Ok
size: 1
default printer: Ok
default is a printer: 1
elements: 15
version: 1
table: 1
"""

# Per option: its default, the text after it was set, and the value that was read from the text; then texts that are
# not of the archive.
EXPECTED_OPTIONS = """\
gpu_options: 0 -> backend = 1; 1
gpu_options: 0 -> priority = 1; 1
gpu_options: "" -> preferred_device_substr = "text 2"; "text 2"
gpu_options: 0 -> precision = 1; 1
gpu_options: 0 -> enable_infinite_float_capping = true; 1
gpu_options: 0 -> allow_src_quantized_fc_conv_ops = true; 1
gpu_options: 0 -> buffer_storage_type = 1; 1
gpu_options: 0 -> prefer_texture_weights = true; 1
gpu_options: 0 -> enable_constant_tensors_sharing = true; 1
gpu_options: 0 -> madvise_original_shared_tensors = true; 1
gpu_options: 0 -> shared_tensor_maps = 4096; 4096
gpu_options: 0 -> external_tensors_mode = true; 1
gpu_options: NULL -> serialization_dir = "text 12"; "text 12"
gpu_options: NULL -> model_cache_key = "text 13"; "text 13"
gpu_options: -1 -> program_cache_fd = 24; 24
gpu_options: -1 -> weight_cache_fd = 25; 25
gpu_options: 1 -> serialize_program_cache = false; 0
gpu_options: 0 -> cache_only_compiled_programs = true; 1
gpu_options: 0 -> serialize_external_tensors = true; 1
gpu_options: 0 -> num_threads_to_upload = 29; 29
gpu_options: 0 -> num_threads_to_compile = 30; 30
gpu_options: 0 -> convert_weights_on_gpu = true; 1
gpu_options: 0 -> wait_for_weights_conversion_complete = true; 1
gpu_options: 0 -> disable_shader_optimization = true; 1
gpu_options: 0 -> num_steps_of_command_buffer_preparations = 34; 34
gpu_options: 0 -> wait_type = 1; 1
gpu_options: 0 -> hint_waiting_for_completion = true; 1
gpu_options: -1 -> kernel_batch_size = 37; 37
gpu_options: 0 -> benchmark_mode = true; 1
gpu_options: 0 -> hint_fully_delegated_to_single_delegate = true; 1
gpu_options: 0 -> use_metal_argument_buffers = true; 1
gpu_options: 0 -> enable_metal_residency_set = true; 1
0
3 1
1000 none
0 a,b
0 c
0 d
1000 none
benchmark_mode = true
external_tensor_patterns = ["a,b", "c", "d"]
buffer_storage_tensor_patterns = ["e"]
allow_src_quantized_fc_conv_ops = false
hint_waiting_for_completion = true
kernel_batch_size = 3
precision = 2
serialization_dir = "d"
backend = 1
weight_cache_fd = 1
1 1
1 1
1 1
1 1
1 1
1 1 0
webnn_options_string: 0 -> device_type = 2;power_preference = 0;precision = 0; 2
webnn_options_string: 0 -> device_type = 0;power_preference = 2;precision = 0; 2
webnn_options_string: 0 -> device_type = 0;power_preference = 0;precision = 1; 1
Arm: 0 -> enable_just_in_time = true; 1
samsung: 0 -> enable_large_model_support = true; 1
samsung: "" -> samsung_soc_model = "E9955"; "E9955"
mediatek: 1 -> neron_sdk_version = 0; 0
mediatek: 0 -> gemma_compiler_optimizations = true; 1
mediatek: 0 -> l1_cache_optimizations = true; 1
mediatek: 0 -> optimization_hint = 2; 2
mediatek: 2 -> performance_mode = 1; 1
mediatek: 0 -> disable_dla_dir_removal = true; 1
mediatek: "" -> mediatek_dla_dir = "/dla"; "/dla"
mediatek: "" ->  ""
qualcomm: 1 -> use_fold_relu = false; 0
qualcomm: 1 -> lpai_fps = 30; 30
qualcomm: "" -> dlc_dir = "/dlc"; "/dlc"
qualcomm: 0 ->  0
2 7 -1 'n:1' '' 'HTP'
1 1
google_tensor: 0 -> dump_op_timings = true; 1
google_tensor: "" -> op_filters_proto = "YQ=="; "a"
google_tensor: "" -> op_filters_proto = "YSI="; "a""
google_tensor: "" -> op_filters_proto = "YSJc"; "a"\\"
0 s x 1
0 s y 0
1000   0
"""


class LitertClientTest(unittest.TestCase):

    maxDiff = None

    def run_program(self, name, *arguments):
        """Compiles a program with the archive and returns its output and messages."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / name
            subprocess.run(
                ['c++', '-std=c++20', '-I', ROOT / 'litert/include', ROOT / f'tests/litert/programs/{name}.cc', ARCHIVE, LIBRARY]
                + [f'-Wl,-rpath,{LIBRARY.parent}', f'-Wl,-rpath-link,{BUILD}', '-o', program],
                check=True,
            )
            result = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
        return result.stdout.splitlines(), result.stderr

    @unittest.skipIf(SANITIZED, 'a sanitized library wants sanitized programs')
    def test_functions_return_what_those_of_litert_return(self):
        output, messages = self.run_program('client', ROOT / 'examples/digits/digits_float.tflite')
        self.assertEqual([line.replace('kLiteRtStatus', '') for line in output], EXPECTED.splitlines())
        # The library read all settings without a warning; one message is of the program.
        self.assertEqual(messages, 'ERROR: printed 1\n')

    @unittest.skipIf(SANITIZED, 'a sanitized library wants sanitized programs')
    def test_options_of_gpus_and_vendors_are_written_and_read(self):
        output, messages = self.run_program('client_options')
        self.assertEqual(output, EXPECTED_OPTIONS.splitlines())
        self.assertEqual(messages, '')

    def test_archive_has_the_functions_of_its_headers(self):
        symbols = subprocess.run(['nm', '-g', ARCHIVE], capture_output=True, text=True, check=True).stdout
        defined = {line.split()[2] for line in symbols.splitlines() if ' T ' in line}
        declared = {row['function'] for row in rows_of('functions.csv') if row['header'] in HEADERS and row['kind'] == 'function'}
        self.assertLessEqual(declared, defined)


if __name__ == '__main__':
    if not LIBRARY.exists() or not ARCHIVE.exists():
        print('skipped: libLiteRt.so and libLiteRt_client.a are not built')
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
