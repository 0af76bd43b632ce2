#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that every public header compiles alone, without a warning, in every language that its clients use.

    headers_test.py BUILD_FOLDER

The languages are the oldest and the newest supported C and C++ (C99 and C11, C++11 and C++20), the compilers
gcc and, if installed, clang. Copies under the paths of TensorFlow Lite are compiled once as C and once as C++,
because their contents are equal. Each of their trees must compile without the others, because the
builds of other programs copy the headers that they include.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
INCLUDE = BUILD / 'include'


def modes(language, compilers, *standards):
    return [(compiler, ['-x', language, f'-std={standard}'])
            for compiler in compilers if shutil.which(compiler) for standard in standards]


C_MODES = modes('c', ('gcc', 'clang'), 'c99', 'c11')
MODES = C_MODES + modes('c++', ('g++', 'clang++'), 'c++11', 'c++20')
CXX17_MODES = modes('c++', ('g++', 'clang++'), 'c++17', 'c++20')

# Uses each macro as kernels do; the names of local variables must not collide when macros nest.
KERNEL = '''
#include "deputy/c_api_opaque.h"
#include "deputy/common.h"
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node, TfLiteStatus status);
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node, TfLiteStatus status) {
  TF_LITE_KERNEL_LOG(context, "plain");
  TF_LITE_KERNEL_LOG(context, "%d", 1);
  TF_LITE_MAYBE_KERNEL_LOG(context, "%s", "x");
  TF_LITE_ENSURE(context, node != NULL);
  TF_LITE_ENSURE_MSG(context, node != NULL, "no node");
  TF_LITE_ENSURE_MSG(context, node != NULL, "no node %d", 3);
  TF_LITE_ENSURE_STATUS(status);
  TF_LITE_ENSURE_EQ(context, node->inputs->size, 2);
  TF_LITE_ENSURE_TYPES_EQ(context, context->tensors[0].type, kTfLiteFloat32);
  TF_LITE_ENSURE_NEAR(context, 1.0f, context->tensors[0].params.scale, 1e-6);
  TF_LITE_ENSURE_OK(context, status);
  TF_LITE_ENSURE_OK(context, status, "with a message");
  TF_LITE_ENSURE_OK(context, status, "with %d of %s", 1, "them");
  if (node->user_data)
    TF_LITE_ENSURE(context, status == kTfLiteOk);
  else
    TF_LITE_ENSURE_STATUS(kTfLiteOk);
  return kTfLiteOk;
}
TfLiteStatus Opaque(TfLiteOpaqueContext* context, TfLiteOpaqueTensor* tensor);
TfLiteStatus Opaque(TfLiteOpaqueContext* context, TfLiteOpaqueTensor* tensor) {
  TF_LITE_OPAQUE_KERNEL_LOG(context, "plain");
  TF_LITE_OPAQUE_MAYBE_KERNEL_LOG(context, "%d", 1);
  TF_LITE_OPAQUE_ENSURE(context, tensor != NULL);
  TF_LITE_OPAQUE_ENSURE_MSG(context, tensor != NULL, "100% data");
  TF_LITE_OPAQUE_ENSURE_EQ(context, TfLiteOpaqueTensorNumDims(tensor), 4);
  TF_LITE_OPAQUE_ENSURE_TYPES_EQ(context, TfLiteOpaqueTensorType(tensor), kTfLiteInt8);
  TF_LITE_OPAQUE_ENSURE_NEAR(context, 1.0, 1.5, 1.0);
  return kTfLiteOk;
}
'''

# The names used before TensorFlow 2.17 still compile.
OLD_NAMES = '''
#include "deputy/c_api.h"
TfLiteRegistrationExternal* Make(TfLiteInterpreterOptions* options);
TfLiteRegistrationExternal* Make(TfLiteInterpreterOptions* options) {
  TfLiteRegistrationExternal* op =
      TfLiteRegistrationExternalCreate(kTfLiteBuiltinCustom, "name", 1, NULL);
  TfLiteRegistrationExternalSetInit(op, NULL);
  TfLiteRegistrationExternalSetFree(op, NULL);
  TfLiteRegistrationExternalSetPrepare(op, NULL);
  TfLiteRegistrationExternalSetInvoke(op, NULL);
  if (TfLiteRegistrationExternalGetVersion(op) != 1 ||
      TfLiteRegistrationExternalGetBuiltInCode(op) != kTfLiteBuiltinCustom ||
      TfLiteRegistrationExternalGetCustomName(op) == NULL) {
    TfLiteRegistrationExternalDelete(op);
    return NULL;
  }
  TfLiteInterpreterOptionsAddRegistrationExternal(options, op);
  return op;
}
'''

# Includes of upstream's headers, by upstream's paths below tensorflow/lite or tflite (LiteRT 2.1).
# "types" and "data" are the headers that the model converter shares with the runtime.
UPSTREAM_INCLUDES = {
    'c/c_api.h': ['core/c/c_api.h'],
    'c/c_api_experimental.h': ['core/c/c_api_experimental.h'],
    'c/c_api_opaque.h': ['core/c/c_api_opaque.h'],
    'c/c_api_types.h': ['core/c/c_api_types.h'],
    'c/common.h': ['core/c/common.h'],
    'c/builtin_op_data.h': ['core/c/builtin_op_data.h'],
    'core/c/c_api.h': ['builtin_ops.h', 'core/async/c/types.h', 'core/c/c_api_types.h',
                       'core/c/operator.h'],
    'core/c/c_api_experimental.h': ['builtin_ops.h', 'c/c_api_types.h', 'core/c/c_api.h',
                                    'core/c/common.h'],
    'core/c/c_api_opaque.h': ['core/c/c_api.h', 'core/c/c_api_types.h', 'core/c/common.h',
                              'core/c/operator.h'],
    'core/c/c_api_types.h': ['types'],
    'core/c/common.h': ['core/c/c_api_types.h'],
    'core/c/builtin_op_data.h': ['data', 'core/c/common.h'],
    'core/c/operator.h': ['builtin_ops.h', 'core/async/c/types.h', 'core/c/c_api_types.h'],
    'builtin_ops.h': [],
    'core/async/c/types.h': [],
    'core/async/c/async_kernel.h': ['core/async/c/types.h', 'core/async/interop/c/attribute_map.h',
                                    'core/async/interop/c/types.h', 'core/c/c_api_types.h',
                                    'core/c/common.h'],
    'core/async/c/async_signature_runner.h': [
        'core/async/c/types.h', 'core/async/interop/c/attribute_map.h', 'core/async/interop/c/types.h',
        'core/c/c_api.h', 'core/c/c_api_types.h', 'core/c/common.h'],
    'core/async/c/task.h': ['core/async/c/types.h', 'core/async/interop/c/types.h',
                            'core/c/c_api_types.h', 'core/c/common.h'],
    'core/async/interop/c/types.h': [],
    'core/async/interop/c/constants.h': ['core/c/c_api_types.h'],
    'core/async/interop/c/attribute_map.h': ['core/async/interop/c/types.h'],
    'delegates/external/external_delegate.h': ['core/c/common.h'],
    'delegates/external/external_delegate_interface.h': ['c/common.h'],
    'delegates/xnnpack/xnnpack_delegate.h': ['core/c/common.h'],
    'delegates/gpu/delegate.h': ['core/c/common.h', 'delegates/gpu/delegate_options.h'],
    'delegates/gpu/delegate_options.h': ['core/c/common.h'],
    'delegates/nnapi/nnapi_delegate_c_api.h': ['core/c/common.h'],
    'profiling/telemetry/c/profiler.h': ['profiling/telemetry/c/telemetry_setting.h'],
    'profiling/telemetry/c/telemetry_setting.h': ['core/c/common.h'],
    'core/acceleration/configuration/c/delegate_plugin.h': ['core/c/common.h'],
    'core/acceleration/configuration/c/stable_delegate.h': [
        'core/acceleration/configuration/c/delegate_plugin.h'],
    'context.h': ['core/c/common.h'],
    'acceleration/configuration/c/delegate_plugin.h': [
        'core/acceleration/configuration/c/delegate_plugin.h'],
    'acceleration/configuration/c/stable_delegate.h': [
        'core/acceleration/configuration/c/stable_delegate.h'],
    **{path: [f'core/{path}'] for path in (
        'async/c/async_kernel.h', 'async/c/async_signature_runner.h', 'async/c/task.h', 'async/c/types.h',
        'async/interop/c/attribute_map.h', 'async/interop/c/constants.h', 'async/interop/c/types.h')},
    'types': [],
    'data': ['types'],
}
# Headers of the C++ API; tests/bindings/cpp/cpp_headers_test.py compiles them.
CPP_HEADERS = {str(path.relative_to(ROOT / 'bindings/cpp'))
               for path in (ROOT / 'bindings/cpp').rglob('*.h')}
# CMake generates these from the schema.
CPP_HEADERS |= {f'tensorflow/lite/schema/{name}.h' for name in ('schema_generated', 'builtin_operator')}
CPP_HEADERS |= {path.replace('tensorflow/lite/', 'tflite/', 1) for path in CPP_HEADERS}
CPP_HEADERS |= set(re.findall('^([^#\n ]+) > ', (ROOT / 'bindings/cpp/header_paths.txt').read_text(
    encoding='utf-8'), re.MULTILINE))
TREES = {'tensorflow/lite': 'tensorflow/compiler/mlir/lite/core/c', 'tflite': 'tflite/converter/core/c'}

# Files that the build script of the crate tflitec 0.7.0 copies from TFLITEC_HEADER_DIR, without and with
# its feature "xnnpack"; bindgen reads the first file of each list.
TFLITEC = ['tensorflow/lite/c/c_api.h', 'tensorflow/lite/core/c/c_api.h',
           'tensorflow/lite/core/c/c_api_types.h', 'tensorflow/lite/core/c/operator.h',
           'tensorflow/lite/core/async/c/types.h', 'tensorflow/lite/builtin_ops.h',
           'tensorflow/compiler/mlir/lite/core/c/tflite_types.h']
TFLITEC_XNNPACK = ['tensorflow/lite/delegates/xnnpack/xnnpack_delegate.h', *TFLITEC,
                   'tensorflow/lite/core/c/common.h']


def upstream_closure(tree, path):
    """Returns upstream's header and all headers that it includes, also indirectly: paths below include/."""
    shared = {'types': f'{TREES[tree]}/tflite_types.h', 'data': f'{TREES[tree]}/builtin_op_data.h'}
    found, open_paths = set(), [path]
    while open_paths:
        path = open_paths.pop()
        found.add(shared.get(path, f'{tree}/{path}'))
        open_paths += UPSTREAM_INCLUDES[path]
    return found


# Takes the address of every function of a header, so that the object file contains all of them.
HELPER = '''
#include "deputy/%s"
typedef void (*Function)(void);
extern Function functions[];
Function functions[] = {%s};
'''


def complaint(job):
    """Returns the compiler's messages about a text, after the mode; empty if there are none."""
    (compiler, flags), defines, text = job
    done = subprocess.run(
        [compiler, *flags, *defines, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only',
         '-I', INCLUDE, '-'], input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ''
    return f'{compiler} {" ".join([*flags, *defines])}: {text.strip()[:60]}\n{done.stderr[:1500]}'


class HeadersTest(unittest.TestCase):

    def expect_content(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            complaints = [text for text in pool.map(complaint, jobs) if text]
        self.assertFalse(complaints, '\n'.join(complaints[:5]))

    def test_each_header_compiles_alone_in_every_mode(self):
        headers = sorted(path.name for path in (INCLUDE / 'deputy').glob('*.h'))
        self.assertGreater(len(headers), 20)
        self.expect_content([(mode, [], f'#include "deputy/{header}"\n')
                             for header in headers for mode in MODES])

    def test_each_header_of_a_copied_tree_compiles_without_the_others(self):
        for tree in ('tensorflow', 'tflite'):
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(INCLUDE / tree, pathlib.Path(folder) / tree)
                paths = [path for path in sorted((pathlib.Path(folder) / tree).rglob('*.h'))
                         if str(path.relative_to(folder)) not in CPP_HEADERS]
                self.assertGreater(len(paths), 30)
                for path in paths:
                    done = subprocess.run(['gcc', '-x', 'c', '-std=c99', '-Wall', '-Werror',
                                           '-fsyntax-only', path],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr[:1000])

    def check_copied_headers(self, files, reads):
        """Compiles `reads` as C and as C++ in a folder that contains only `files`."""
        with tempfile.TemporaryDirectory() as folder:
            for file in files:
                target = pathlib.Path(folder) / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(INCLUDE / file, target)
            for file in reads:
                for mode in ('c', 'c++'):
                    done = subprocess.run(
                        ['gcc', '-x', mode, '-Wall', '-Werror', '-fsyntax-only', f'-I{folder}',
                         pathlib.Path(folder) / file], capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, f'{file}: {done.stderr[:1000]}')

    def test_the_headers_that_tflitec_copies_compile_without_the_others(self):
        self.check_copied_headers(TFLITEC, TFLITEC[:1])
        self.check_copied_headers(TFLITEC_XNNPACK, TFLITEC_XNNPACK[:2])

    def test_each_header_includes_no_more_than_upstreams(self):
        for tree in TREES:
            for path in UPSTREAM_INCLUDES:
                closure = upstream_closure(tree, path)
                header = (f'{tree}/{path}' if path.endswith('.h') else
                          f"{TREES[tree]}/{'tflite_types.h' if path == 'types' else 'builtin_op_data.h'}")
                with self.subTest(header=header):
                    self.check_copied_headers(closure, [header])

    def test_every_installed_header_of_upstreams_is_in_the_table(self):
        known = {header for tree in TREES for path in UPSTREAM_INCLUDES
                 for header in upstream_closure(tree, path)}
        installed = {str(path.relative_to(INCLUDE)) for tree in ('tensorflow', 'tflite')
                     for path in (INCLUDE / tree).rglob('*.h')}
        # registration_external.h exists only in older releases of upstream.
        self.assertEqual({path for path in installed - known - CPP_HEADERS
                          if 'registration_external' not in path},
                         set())

    def test_one_program_may_include_a_header_by_several_paths(self):
        text = ''.join(f'#include "{path}"\n' for path in (
            'tensorflow/lite/c/c_api.h', 'tflite/core/c/c_api.h', 'deputy/c_api.h',
            'tensorflow/lite/context.h'))
        self.expect_content([(mode, [], text) for mode in MODES])

    def test_every_declared_function_is_exported(self):
        exported = set()
        for name in ('libdeputy.so', 'libdeputy_gpu.so', 'libdeputy_cpu.so', 'libdeputy_layers.so'):
            if (BUILD / name).exists():
                symbols = subprocess.run(['nm', '-D', '--defined-only', BUILD / name],
                                         capture_output=True, text=True, check=True).stdout
                exported |= {line.split()[-1].split('@')[0] for line in symbols.splitlines()}
        declared = {}
        for header in (INCLUDE / 'deputy').glob('*.h'):
            text = header.read_text(encoding='utf-8')
            for name in re.findall(r'^TFL_CAPI_EXPORT[^;(]*?(\w+)\(', text, re.MULTILINE):
                declared[name] = header.name
        self.assertGreater(len(declared), 300)
        missing = {name: header for name, header in declared.items() if name not in exported}
        if not (BUILD / 'libdeputy_gpu.so').exists():
            missing = {name: header for name, header in missing.items() if 'gpu' not in header}
        self.assertFalse(missing)

    def test_each_forwarding_header_compiles(self):
        paths = [line.split()[0] for line in
                 (ROOT / 'c_api/header_paths.txt').read_text(encoding='utf-8').splitlines()
                 if line and not line.startswith('#')]
        self.assertGreater(len(paths), 60)
        self.expect_content([(mode, [], f'#include "{path}"\n')
                             for path in paths for mode in (MODES[0], MODES[-1])])

    def test_mindspores_headers_compile_alone_under_both_names(self):
        headers = sorted(path.name for path in (INCLUDE / 'mindspore').glob('*.h'))
        self.assertGreater(len(headers), 12)
        jobs = []
        for header in headers:
            plain_c = header.endswith('_c.h')
            tree = 'c_api' if plain_c else 'api'
            for mode in MODES if plain_c else CXX17_MODES:
                jobs.append((mode, [], f'#include "mindspore/{header}"\n'))
            jobs.append((MODES[-1], [], f'#include "mindspore/include/{tree}/{header}"\n'))
        self.expect_content(jobs)

    def test_opaque_delegate_type_can_be_chosen(self):
        text = ('#include "deputy/c_api_opaque.h"\n'
                'void Use(TfLiteOpaqueDelegateStruct* d);\n'
                'void Use(TfLiteOpaqueDelegateStruct* d) { TfLiteOpaqueDelegateDelete(d); }\n')
        self.expect_content([(mode, [define], text) for mode in MODES
                             for define in ('-DTFLITE_USE_OPAQUE_DELEGATE=1',
                                            '-DTFLITE_WITH_STABLE_ABI=1')])

    def test_macros_compile_with_and_without_messages(self):
        self.expect_content([(mode, defines, KERNEL) for mode in MODES
                             for defines in ([], ['-DTF_LITE_STRIP_ERROR_STRINGS'])])

    def test_old_names_compile(self):
        self.expect_content([(mode, [], OLD_NAMES) for mode in MODES])

    def test_helpers_for_authors_need_neither_library(self):
        for name, least, used in (('delegate_helper.h', 15, 'qsort'),
                                  ('delegate_pattern.h', 10, 'calloc'), ('delegate_serialization.h', 15, 'rename')):
            with self.subTest(header=name):
                self.check_needs_neither_library(name, least, used)

    def check_needs_neither_library(self, header, least, used):
        text = (INCLUDE / 'deputy' / header).read_text(encoding='utf-8')
        names = re.findall(r'^static inline [^(]*?(Deputy\w+)\(', text, re.MULTILINE)
        self.assertGreater(len(names), least)
        text = HELPER % (header, ', '.join(f'(Function){name}' for name in names))
        with tempfile.TemporaryDirectory() as folder:
            thing = pathlib.Path(folder) / 'helper.o'
            for language in (['-x', 'c', '-std=c99'], ['-x', 'c++', '-std=c++17']):
                done = subprocess.run(['gcc', *language, '-O0', '-Wall', '-Wextra', '-Wpedantic',
                                       '-Werror', '-I', INCLUDE, '-c', '-', '-o', thing],
                                      input=text, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                symbols = subprocess.run(['nm', thing], capture_output=True, text=True,
                                         check=True).stdout
                self.assertEqual(len(re.findall(r' t Deputy', symbols)), len(names))
                foreign = re.findall(r' U (\w+)', symbols)
                self.assertIn(used, foreign)
                self.assertFalse([name for name in foreign if 'TfLite' in name])


if __name__ == '__main__':
    unittest.main()
