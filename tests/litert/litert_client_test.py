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

HEADERS = {
    *(f'litert/c/options/litert_{name}_options.h' for name in ('compiler', 'cpu', 'runtime')),
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


class LitertClientTest(unittest.TestCase):

    maxDiff = None

    @unittest.skipIf(SANITIZED, 'a sanitized library wants sanitized programs')
    def test_functions_return_what_those_of_litert_return(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / 'client'
            subprocess.run(
                ['c++', '-std=c++20', '-I', ROOT / 'litert/include', ROOT / 'tests/litert/programs/client.cc', ARCHIVE, LIBRARY]
                + [f'-Wl,-rpath,{LIBRARY.parent}', f'-Wl,-rpath-link,{BUILD}', '-o', program],
                check=True,
            )
            result = subprocess.run(
                [program, ROOT / 'examples/digits/digits_float.tflite'], capture_output=True, text=True, check=True
            )
        self.assertEqual(result.stdout.replace('kLiteRtStatus', '').splitlines(), EXPECTED.splitlines())
        # The library read all settings without a warning; one message is of the program.
        self.assertEqual(result.stderr, 'ERROR: printed 1\n')

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
