#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that an installation is complete and usable: after `cmake --install` into an empty folder, clients
are built with nothing but the output of pkg-config, or find_package, for each of the two libraries, and
run; and it can be removed.

    install_test.py BUILD_FOLDER
"""
import ctypes
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
CACHE = (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8')
SANITIZED = 'DEPUTY_SANITIZE:STRING=\n' not in CACHE
CPP_CLIENT = ROOT / 'examples/classify.cc'
MODEL = ROOT / 'examples/digits/digits_int8.tflite'


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **options)


@unittest.skipIf(SANITIZED, 'a sanitized library wants a sanitized client')
class InstallTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.prefix = pathlib.Path(tempfile.mkdtemp(prefix='deputy-install-'))
        done = run('cmake', '--install', BUILD, '--prefix', cls.prefix)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        cls.manifest = cls.prefix.with_suffix('.files')
        shutil.copy(BUILD / 'install_manifest.txt', cls.manifest)
        cls.output = done.stdout
        cls.clients = cls.prefix.with_suffix('.clients')
        cls.clients.mkdir()
        cls.package_folder = next(cls.prefix.rglob('pkgconfig'))
        cls.libraries = cls.package_folder.parent

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.prefix)
        shutil.rmtree(cls.clients)
        cls.manifest.unlink()

    # Programs must find the library without a search path, unless the packager has disabled the rpath.
    def environment(self):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ('LD_LIBRARY_PATH', 'DEPUTY_PLUGIN_PATH')}
        if re.search('^CMAKE_SKIP_INSTALL_RPATH:.*=(ON|1|TRUE)$', CACHE, re.M):
            environment['LD_LIBRARY_PATH'] = str(self.libraries)
        return environment

    def expect_success(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_every_file_is_installed(self):
        for path in ('bin/deputy', 'include/deputy/deputy.h', 'include/deputy/c_api.h',
                     'include/tensorflow/lite/c/c_api.h', 'include/tflite/c/c_api.h',
                     'include/tflite/converter/core/c/tflite_types.h',
                     'include/tensorflow/compiler/mlir/lite/core/c/builtin_op_data.h',
                     'include/mindspore/model_c.h', 'include/litert/c/litert_compiled_model.h',
                     'include/mindspore/include/api/delegate.h'):
            self.assertTrue((self.prefix / path).is_file(), path)
        for path in ('libdeputy.so', 'libdeputy.so.1', 'deputy/drop-in/libtensorflowlite_c.so',
                     'deputy/drop-in/libLiteRt.so', 'deputy/drop-in/libLiteRt_client.a',
                     'libdeputy_mindspore.so', 'libdeputy_mindspore.so.1', 'pkgconfig/deputy.pc',
                     'pkgconfig/deputy_mindspore.pc', 'pkgconfig/tensorflowlite_c.pc',
                     'deputy/plugins/libdeputy_npu_stub.so', 'deputy/plugins/libdeputy_cpu.so',
                     'deputy/plugins/libdeputy_nnapi.so', 'libdeputy_delegate_support.a',
                     'deputy/plugins/libdeputy_onnxruntime.so',
                     'deputy/plugins/libdeputy_sandbox.so', 'deputy/deputy-delegate-host',
                     'deputy/triton/deputy/libtriton_deputy.so', 'deputy/plugins/libdeputy_layers.so', 'deputy/plugins/libdeputy_replay.so',
                     'cmake/Deputy/DeputyConfig.cmake', 'cmake/tensorflow-lite/tensorflow-lite-config.cmake',
                     'cmake/tensorflowlite/tensorflowlite-config.cmake', 'pkgconfig/tensorflow-lite.pc',
                     'pkgconfig/tensorflowlite.pc', 'pkgconfig/tensorflow2-lite.pc'):
            self.assertTrue((self.libraries / path).is_file(), path)

    def test_documents_and_examples_are_installed_with_working_links(self):
        folder = self.prefix / 'share/doc/deputy'
        for path in ('README.md', 'LICENSE', 'docs/delegates.md', 'docs/design/memory.md', 'examples/classify.c',
                     'examples/digits/digits_int8.tflite', 'examples/container/Containerfile'):
            self.assertTrue((folder / path).is_file(), path)
        self.assertFalse((folder / 'examples/CMakeLists.txt').exists())
        for page in (folder / 'docs').rglob('*.md'):
            for link in re.findall(r'\]\(([^)#:]+)[#)]', page.read_text(encoding='utf-8')):
                target = (page.parent / link).resolve()
                if target.is_relative_to(folder / 'docs') or target.is_relative_to(folder / 'examples'):
                    with self.subTest(page=page.name, link=link):
                        self.assertTrue(target.exists())

    def test_headers_of_the_gpu_delegate_are_installed_with_it(self):
        def installed(include):
            return [path for path in include.rglob('*')
                    if re.search('gpu', str(path.relative_to(include))) and 'litert' not in path.parts]

        has_gpu = (BUILD / 'libdeputy_gpu.so').exists()
        self.assertEqual(len(installed(self.prefix / 'include')), 9 if has_gpu else 0)
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder) / 'build'
            self.expect_success(run('cmake', '-S', ROOT, '-B', build, '-DDEPUTY_OPENCL_INCLUDE=OFF',
                                    '-DDEPUTY_BUILD_TESTS=OFF'))
            self.expect_success(run('cmake', '--install', build, '--prefix', pathlib.Path(folder) / 'to',
                                    '--component', 'headers'))
            include = pathlib.Path(folder) / 'to/include'
            self.assertTrue((include / 'deputy/deputy.h').exists())
            self.assertEqual(installed(include), [])

    def test_installed_command_finds_xnnpack(self):
        if not (BUILD / 'libdeputy_xnnpack.so').exists():
            self.skipTest('Deputy is built without XNNPACK')
        output = self.expect_success(run(self.prefix / 'bin/deputy', 'explain', MODEL, '--use_xnnpack',
                                       env=self.environment()))
        self.assertIn('runs 12 of 16 nodes', output)

    def test_installed_command_starts_the_process_of_a_delegate(self):
        output = self.expect_success(run(self.prefix / 'bin/deputy', 'explain', MODEL, '--isolate', '--delegate',
                                         'cpu', env=self.environment()))
        self.assertIn('runs 16 of 16 nodes', output)
        self.assertIn('own process; profile device', output)

    def test_installed_command_finds_its_library(self):
        self.expect_success(run(self.prefix / 'bin/deputy', 'inspect', MODEL,
                                env=self.environment()))

    def test_a_build_for_usr_installs_programs_that_find_the_library(self):
        if self.environment().get('LD_LIBRARY_PATH'):
            self.skipTest('built with CMAKE_SKIP_INSTALL_RPATH')
        with tempfile.TemporaryDirectory() as folder:
            self.expect_success(run('cmake', '-S', ROOT, '-B', folder, '-G', 'Ninja',
                                    '-DCMAKE_INSTALL_PREFIX=/usr', '-DDEPUTY_BUILD_TESTS=OFF'))
            script = (pathlib.Path(folder) / 'cmake_install.cmake').read_text(encoding='utf-8')
        paths = re.findall(r'NEW_RPATH "([^"]*)"', script)
        self.assertGreaterEqual(len(paths), 2, script)
        self.assertFalse([path for path in paths if '$ORIGIN' not in path], paths)
        self.assertTrue(any(path.startswith('\\$ORIGIN/../lib') for path in paths), paths)

    def test_libraries_are_stripped_and_their_debug_files_fit(self):
        if 'DEPUTY_SPLIT_DEBUG:BOOL=ON' not in CACHE:
            self.skipTest('built with DEPUTY_SPLIT_DEBUG=OFF')
        for path in (self.libraries / 'libdeputy.so.1', self.prefix / 'bin/deputy',
                     self.prefix / 'bin/deputy-certify',
                     self.libraries / 'deputy/drop-in/libtensorflowlite_c.so',
                     self.libraries / 'deputy/plugins/libdeputy_npu_stub.so'):
            debug = path.parent / '.debug' / (path.name + '.debug')
            sections = self.expect_success(run('readelf', '-SW', path))
            self.assertNotIn('.debug_info', sections)
            self.assertIn('.gnu_debuglink', sections)
            self.assertIn('.debug_info', self.expect_success(run('readelf', '-SW', debug)))
            ids = {re.search('Build ID: (.*)', self.expect_success(run('readelf', '-n', file)))[1]
                   for file in (path, debug)}
            self.assertEqual(len(ids), 1, path)

    def test_installed_plugins_are_found_by_name(self):
        output = self.expect_success(run(self.prefix / 'bin/deputy', 'plugins',
                                       env=self.environment()))
        self.assertIn(f'{self.libraries}/deputy/plugins/libdeputy_npu_stub.so', output)
        self.assertIn('libsoftmax_delegate.so', output)
        output = self.expect_success(run(self.prefix / 'bin/deputy', 'explain', MODEL, '--delegate',
                                       'npu_stub', env=self.environment()))
        self.assertIn('[0] npu_stub', output)
        opened = ctypes.CDLL(str(self.libraries / 'libdeputy.so.1'))
        opened.DeputyPluginLoad.restype = ctypes.c_void_p
        self.assertTrue(opened.DeputyPluginLoad(b'softmax_delegate'))
        self.assertFalse(opened.DeputyPluginLoad(b'nobodys'))
        self.assertTrue(self.external_delegate(opened, b'softmax_delegate'))

    @staticmethod
    def external_delegate(library, name):
        class Options(ctypes.Structure):
            _fields_ = [('lib_path', ctypes.c_char_p), ('count', ctypes.c_int),
                        ('keys', ctypes.c_char_p * 256), ('values', ctypes.c_char_p * 256),
                        ('insert', ctypes.c_void_p)]
        library.TfLiteExternalDelegateOptionsDefault.restype = Options
        library.TfLiteExternalDelegateCreate.restype = ctypes.c_void_p
        return library.TfLiteExternalDelegateCreate(
            ctypes.byref(library.TfLiteExternalDelegateOptionsDefault(name)))

    def test_client_builds_with_find_package_after_relocation(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            shutil.copytree(self.prefix, folder / 'moved', symlinks=True)
            (folder / 'CMakeLists.txt').write_text(f'''
cmake_minimum_required(VERSION 3.21)
project(client LANGUAGES C)
find_package(Deputy 0.1 REQUIRED)
foreach(name deputy tensorflowlite_c)
  add_executable(client_${{name}} {ROOT}/examples/link_client.c)
  target_link_libraries(client_${{name}} PRIVATE Deputy::${{name}})
endforeach()
find_package(Deputy 99 QUIET CONFIG)
if(Deputy_FOUND)
  message(FATAL_ERROR "version 99 was found")
endif()
''', encoding='utf-8')
            self.expect_success(run('cmake', '-S', folder, '-B', folder / 'build', '-G', 'Ninja',
                                    f'-DCMAKE_PREFIX_PATH={folder}/moved'))
            self.expect_success(run('cmake', '--build', folder / 'build'))
            outputs = [self.expect_success(run(folder / f'build/client_{name}', MODEL))
                       for name in ('deputy', 'tensorflowlite_c')]
        self.assertEqual(outputs[0], outputs[1])
        self.assertIn('TensorFlow Lite 2.19.0', outputs[0])

    # Programs that link upstream's library of the GPU delegate find it in the drop-in folder.
    def test_gpu_delegate_links_under_upstreams_name(self):
        if not (BUILD / 'libdeputy_gpu.so').exists():
            self.skipTest('Deputy is built without the OpenCL delegate')
        folder = self.libraries / 'deputy/drop-in'
        client = self.clients / 'gpu_client'
        source = client.with_suffix('.c')
        source.write_text('''
#include "tensorflow/lite/delegates/gpu/delegate.h"
int main(void) {
  TfLiteGpuDelegateOptionsV2 options = TfLiteGpuDelegateOptionsV2Default();
  TfLiteDelegate* delegate = TfLiteGpuDelegateV2Create(&options);
  TfLiteGpuDelegateV2Delete(delegate);  // NULL on machines without OpenCL
  return 0;
}
''', encoding='utf-8')
        self.expect_success(run('cc', '-Wall', '-Werror', source, '-o', client, f'-I{self.prefix}/include',
                                f'-L{folder}', '-ltensorflowlite_gpu_delegate'))
        needed = self.expect_success(run('readelf', '-d', client))
        self.assertIn('[libtensorflowlite_gpu_delegate.so]', needed)
        self.expect_success(run(client, env=dict(os.environ, LD_LIBRARY_PATH=str(folder))))

    def test_litert_client_builds_and_runs(self):
        folder = self.libraries / 'deputy/drop-in'
        client = self.clients / 'litert_client'
        image = self.clients / 'image.raw'
        image.write_bytes(bytes(28 * 28 * 4))
        self.expect_success(run('cc', '-Wall', '-Werror', ROOT / 'examples/litert_client.c', '-o', client,
                                f'-I{self.prefix}/include', f'-L{folder}', '-lLiteRt'))
        output = self.expect_success(run(client, ROOT / 'examples/digits/digits_float.tflite', image,
                                         env=dict(os.environ, LD_LIBRARY_PATH=str(folder))))
        self.assertRegex(output, r'^\d 0\.\d{6}\n$')

    def test_drop_in_finds_xnnpack(self):
        if not (BUILD / 'libdeputy_xnnpack.so').exists():
            self.skipTest('Deputy is built without XNNPACK')
        # The plug-in's delegate has no flags, the one that claims no node has QS8 and QU8.
        script = ('import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); '
                  'create = library.TfLiteXNNPackDelegateCreate; create.restype = ctypes.c_void_p; '
                  'print(library.TfLiteXNNPackDelegateGetFlags(ctypes.c_void_p(create(None))))')
        for choice, flags in (('none', '3'), ('bridge', '0')):
            environment = dict(self.environment(), DEPUTY_XNNPACK=choice)
            output = self.expect_success(run(sys.executable, '-c', script, self.libraries /
                                             'deputy/drop-in/libtensorflowlite_c.so', env=environment))
            self.assertEqual(output.strip(), flags)

    # A delegate for another runtime links the functions of common.h, and does not export them.
    def test_delegate_with_support_library_needs_no_runtime(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / 'delegate.c').write_text('''
#include "tensorflow/lite/core/c/common.h"
int Equal(void);
int Equal(void) {
  TfLiteIntArray* a = TfLiteIntArrayCreate(2);
  a->data[0] = a->data[1] = 3;
  TfLiteIntArray* b = TfLiteIntArrayCopy(a);
  const int equal = TfLiteIntArrayEqual(a, b);
  TfLiteIntArrayFree(a);
  TfLiteIntArrayFree(b);
  return equal;
}
''', encoding='utf-8')
            (folder / 'CMakeLists.txt').write_text('''
cmake_minimum_required(VERSION 3.21)
project(delegate LANGUAGES C CXX)
find_package(Deputy REQUIRED)
add_library(delegate MODULE delegate.c)
target_link_libraries(delegate PRIVATE Deputy::delegate_support)
target_link_options(delegate PRIVATE -Wl,-z,defs)
''', encoding='utf-8')
            self.expect_success(run('cmake', '-S', folder, '-B', folder / 'build', '-G', 'Ninja',
                                    f'-DCMAKE_PREFIX_PATH={self.prefix}'))
            self.expect_success(run('cmake', '--build', folder / 'build'))
            library = folder / 'build/libdelegate.so'
            self.assertEqual(ctypes.CDLL(str(library)).Equal(), 1)
            exported = self.expect_success(run('nm', '-D', '--defined-only', library))
            self.assertRegex(exported, r' T Equal\b')
            self.assertNotIn('TfLite', exported)
            self.assertNotIn('libdeputy', self.expect_success(run('readelf', '-d', library)))

    # Every name under which packages of TensorFlow Lite are searched; the five lines of docs/cpp.md.
    def test_cpp_client_builds_under_tensorflow_lites_package_names(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for package, target, client in (
                    ('TensorFlowLite', 'tensorflow-lite::tensorflow-lite', CPP_CLIENT),
                    ('tensorflow-lite', 'tensorflow-lite::tensorflowlite', ROOT / 'examples/link_client.c'),
                    ('TensorFlow-Lite', 'tensorflow-lite', ROOT / 'examples/link_client.c'),
                    ('tensorflowlite', 'tensorflowlite', ROOT / 'examples/link_client.c')):
                (folder / 'CMakeLists.txt').write_text(f'''
cmake_minimum_required(VERSION 3.21)
project(client LANGUAGES C CXX)
find_package({package} 2.12 REQUIRED)
add_executable(client {client})
target_link_libraries(client PRIVATE {target})
''', encoding='utf-8')
                build = folder / package
                self.expect_success(run('cmake', '-S', folder, '-B', build, '-G', 'Ninja',
                                        f'-DCMAKE_PREFIX_PATH={self.prefix}'))
                self.expect_success(run('cmake', '--build', build))
                if client == CPP_CLIENT:
                    self.check_cpp_client(build / 'client')
                else:
                    self.expect_success(run(build / 'client', MODEL))

    # The program and the delegate of docs/cpp.md: each block begins with the name of its file.
    def test_page_of_the_cpp_api_builds_from_an_empty_folder(self):
        page = (ROOT / 'docs/cpp.md').read_text(encoding='utf-8')
        blocks = dict(re.findall(r'^```(?:cpp|cmake)\n(?://|#) ([^\n]*)\n(.*?)^```', page, re.M | re.S))
        model = ROOT / 'examples/conv_mean.tflite'
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ('main.cc', 'logistic.cc', 'apply.cc'):
                (folder / name).write_text(blocks[name], encoding='utf-8')
            (folder / 'CMakeLists.txt').write_text(
                blocks['CMakeLists.txt'] + blocks['added to CMakeLists.txt']
                + 'add_executable(apply apply.cc)\ntarget_link_libraries(apply PRIVATE tensorflowlite)\n',
                encoding='utf-8')
            build = folder / 'build'
            self.expect_success(run('cmake', '-S', folder, '-B', build, f'-DCMAKE_PREFIX_PATH={self.prefix}',
                                    '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror'))
            self.expect_success(run('cmake', '--build', build))
            environment = dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))
            printed = self.expect_success(run(build / 'first', model, env=environment))
            self.assertRegex(printed, r'^\S+: [0-9]+ bytes\n$')
            delegate = build / 'liblogistic.so'
            self.expect_success(run(build / 'apply', model, delegate, env=environment))
            self.assertEqual(run(build / 'apply', model, 'no_plugin', env=environment).returncode, 1)
            self.assertNotIn('libdeputy', self.expect_success(run('readelf', '-d', delegate)))
            explained = self.expect_success(run(self.prefix / 'bin/deputy', 'explain', model, '--delegate',
                                                delegate, env=environment))
            self.assertIn('runs 1 of 5 nodes', explained)
            self.expect_success(run(self.prefix / 'bin/deputy', 'compare', model, '--delegate', delegate,
                                    env=environment))
            certified = self.expect_success(run(self.prefix / 'bin/deputy', 'certify', delegate, '--model', model,
                                                env=environment))
            self.assertIn('liblogistic.so: certified', certified)

    def test_cpp_client_builds_with_pkg_config(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.package_folder))
        words = [self.expect_success(run('pkg-config', '--cflags', '--libs', f'{package} >= 2.12',
                                         env=environment)).split()
                 for package in ('tensorflow-lite', 'tensorflowlite', 'tensorflow2-lite')]
        self.assertEqual(words, [words[0]] * 3)
        client = self.clients / 'cpp_client'
        self.expect_success(run('c++', '-std=c++17', CPP_CLIENT, '-o', client, *words[0]))
        self.check_cpp_client(client)

    def check_cpp_client(self, client):
        images = sorted((ROOT / 'examples/digits/images').glob('*.png'))[:5]
        printed = self.expect_success(run(client, MODEL, MODEL.parent / 'labels.txt', *images,
                                          env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))))
        self.assertEqual([line.split()[0] for line in printed.splitlines()], [path.name for path in images])

    def test_manual_pages_match_the_help(self):
        if shutil.which('help2man') is None:
            self.skipTest('help2man is not installed')
        folder = self.prefix / 'share/man/man1'
        general = self.expect_success(run(self.prefix / 'bin/deputy', '--help'))
        words = re.findall('^  (?!deputy )([a-z]+) ', general.partition('Subcommands:')[2], re.M)
        pages = {'deputy': '--version'} | {f'deputy-{word}': '--help' for word in words}
        self.assertEqual({path.stem for path in folder.iterdir()}, set(pages))
        for page, option in pages.items():
            text = (folder / f'{page}.1').read_text(encoding='utf-8').replace('\\', '')
            self.assertRegex(text, rf'\n{page} - \w')
            self.assertIn(option, text)
            self.assertIn('.SH "SEE ALSO"', text)
            examples = re.findall('^deputy .*', text.partition('.SH EXAMPLES')[2], re.M)
            self.assertTrue(examples and all(line.startswith('deputy ' + page[7:]) or page == 'deputy' or
                                             line.startswith('deputy run ') for line in examples), page)

    def test_completion_offers_commands_options_and_plugins(self):
        def complete(*words):
            script = (f'source {self.prefix}/share/bash-completion/completions/deputy\n'
                      'COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _deputy\n'
                      'printf "%s\\n" "${COMPREPLY[@]}"')
            return self.expect_success(run('bash', '-c', script, 'bash', self.prefix / 'bin/deputy',
                                           *words, env=self.environment())).split()
        self.assertEqual(complete('in'), ['inspect'])
        self.assertIn('plugins', complete(''))
        self.assertIn('--delegate', complete('run', '--d'))
        self.assertIn('npu_stub', complete('run', '--delegate', ''))
        self.assertEqual(complete('run', str(MODEL)[:-4]), [str(MODEL)])

    def test_uninstall_removes_every_file(self):
        with tempfile.TemporaryDirectory() as folder:
            stage = pathlib.Path(folder) / 'stage'
            shutil.copytree(self.prefix, f'{stage}{self.prefix}', symlinks=True)
            mine = pathlib.Path(f'{stage}{self.prefix}/include/mine.h')
            mine.write_text('', encoding='utf-8')
            refused = run(ROOT / 'tools/uninstall.sh', self.manifest, '/elsewhere', stage)
            self.assertEqual(refused.returncode, 2)
            self.assertIn('expected an installation under PREFIX=/elsewhere', refused.stderr)
            self.expect_success(run(ROOT / 'tools/uninstall.sh', self.manifest, self.prefix, stage))
            left = [path for path in stage.rglob('*') if not path.is_dir() or not any(path.iterdir())]
            self.assertEqual(left, [mine])

    def test_uninstall_reads_the_prefix_as_a_plain_text(self):
        with tempfile.TemporaryDirectory() as folder:
            stage, files = pathlib.Path(folder) / 'a stage', pathlib.Path(folder) / 'files'
            file = stage / 'opt/my [c] 1.0/bin/deputy'
            file.parent.mkdir(parents=True)
            file.touch()
            files.write_text('/opt/my [c] 1.0/bin/deputy', encoding='utf-8')
            refused = run(ROOT / 'tools/uninstall.sh', files, '/opt/my .c. 1.0', stage)
            self.assertEqual((refused.returncode, file.exists()), (2, True))
            self.expect_success(run(ROOT / 'tools/uninstall.sh', files, '/opt/my [c] 1.0', stage))
            self.assertFalse(file.exists())

    def test_make_passes_folders_with_spaces(self):
        commands = run('make', '-C', ROOT, '-n', 'install', 'DESTDIR=/a stage', 'PREFIX=/my prefix').stdout
        self.assertRegex(commands, r'cmake .*-B .*\'-DCMAKE_INSTALL_PREFIX=/my prefix\'')
        self.assertIn('DESTDIR="/a stage" cmake --install', commands)
        self.assertRegex(commands, r'record_install.sh .* "/my prefix" "/a stage"')

    # An older state has files that this one lacks. `make install` and `make uninstall` call these scripts.
    def test_an_installation_over_an_older_state_is_removed_completely(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            stage, build = folder / 'stage', folder / 'build'
            build.mkdir()
            files = self.manifest.read_text().split('\n')
            older = [f'{self.prefix}/lib/deputy/plugins/older/libolder.so', f'{self.prefix}/bin/deputy-older']
            mine = f'{self.prefix}/lib/deputy/plugins/libmine.so'
            kept = pathlib.Path(f'{stage}{mine}')

            def install(names, destdir):
                for name in names:
                    path = pathlib.Path(f'{destdir}{name}')
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                (build / 'install_manifest.txt').write_text('\n'.join(names), encoding='utf-8')
                self.expect_success(run(ROOT / 'tools/record_install.sh', build, self.prefix, destdir))

            elsewhere = folder / 'elsewhere'
            kept.parent.mkdir(parents=True)
            kept.touch()
            install([*older, mine], elsewhere)
            install([*older, *files], stage)
            install(files, stage)
            for name in older:
                self.assertFalse(os.path.exists(f'{stage}{name}'), name)
                self.assertTrue(os.path.exists(f'{elsewhere}{name}'), name)
            self.assertFalse(os.path.exists(f'{stage}{self.prefix}/lib/deputy/plugins/older'))
            self.assertTrue(all(os.path.exists(f'{stage}{name}') for name in files))
            self.expect_success(run(ROOT / 'tools/uninstall.sh', build / 'installed_files.txt', self.prefix, stage))
            left = [path for path in stage.rglob('*') if not path.is_dir()]
            self.assertEqual(left, [kept])

    # Runs `make install DESTDIR=stage PREFIX=/usr` and `make uninstall` with the same arguments.
    def test_uninstall_from_usr(self):
        with tempfile.TemporaryDirectory() as folder:
            stage = pathlib.Path(folder) / 'stage'
            shutil.copytree(self.prefix, stage / 'usr', symlinks=True)
            manifest = pathlib.Path(folder) / 'files'
            manifest.write_text(self.manifest.read_text().replace(f'{self.prefix}/', '/usr/'))
            self.expect_success(run(ROOT / 'tools/uninstall.sh', manifest, '/usr', stage))
            left = {str(path.relative_to(stage / 'usr')) for path in stage.glob('usr/**/*')}
            self.assertFalse([path for path in left if (stage / 'usr' / path).is_file()])
            self.assertFalse([path for path in left if 'deputy' in path or 'tensorflow' in path], left)
            self.assertTrue({'bin', 'include', 'lib', 'share/man/man1'} <= left, left)

    def test_a_prefix_outside_the_loaders_path_is_reported(self):
        if shutil.which('ldconfig', path=os.environ.get('PATH', '') + ':/sbin') is None:
            self.skipTest('no ldconfig')
        self.assertIn(f'The loader does not search {self.libraries}', self.output)

    def test_client_builds_with_pkg_config_and_runs(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.package_folder))
        outputs = []
        for package in ('tensorflowlite_c', 'deputy'):
            words = self.expect_success(
                run('pkg-config', '--cflags', '--libs', package, env=environment)).split()
            client = self.clients / f'client_{package}'
            self.expect_success(run('cc', '-Wall', '-Werror', ROOT / 'examples/link_client.c',
                                    '-o', client, *words))
            outputs.append(self.expect_success(
                run(client, MODEL, env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries)))))
        self.assertEqual(outputs[0], outputs[1])
        self.assertIn('TensorFlow Lite 2.19.0', outputs[0])

    def test_delegate_for_mindspore_builds_outside_the_tree_and_runs(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.package_folder))
        words = self.expect_success(
            run('pkg-config', '--cflags', '--libs', 'deputy_mindspore', env=environment)).split()
        client = self.clients / 'mindspore_delegate'
        self.expect_success(run('c++', '-std=c++17', '-Wall', '-Werror',
                                ROOT / 'examples/mindspore_delegate.cc', '-o', client, *words))
        printed = self.expect_success(run(
            client, ROOT / 'examples/conv_mean.tflite',
            env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))))
        self.assertIn('NpuGraph1', printed)

    def test_mindspore_2x_example_builds_with_the_package_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.expect_success(run('cmake', '-S', ROOT / 'examples/mindspore_2x', '-B', folder, '-G',
                                    'Ninja', f'-DCMAKE_PREFIX_PATH={self.prefix}',
                                    '-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror'))
            self.expect_success(run('cmake', '--build', folder))
            printed = self.expect_success(run(pathlib.Path(folder) / 'mindspore_2x',
                                              ROOT / 'examples/conv_mean.tflite'))
        self.assertIn('kernels of the delegate: 1', printed)


if __name__ == '__main__':
    unittest.main(verbosity=2)
