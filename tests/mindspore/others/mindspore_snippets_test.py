#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles, links and runs public code for MindSpore Lite 2.x, unchanged, against Deputy's headers.

    DEPUTY_MINDSPORE_SOURCES=FOLDER mindspore_snippets_test.py BUILD_FOLDER [-v]

FOLDER contains the repositories of ORIGINS; without the variable the test is skipped. snippets.txt lists the
files, and lines of files, with their headers and hashes. A snippet of some lines becomes NAME.inc, which a
program in checks/ includes where the source presupposes declarations or a function around it; the program then
checks what the snippet does. Files that need another program's main are in PROGRAMS.
"""
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SOURCES = pathlib.Path(os.environ.get('DEPUTY_MINDSPORE_SOURCES') or '/nowhere').resolve()
PRODUCTS = BUILD / 'tests/mindspore_snippets'
# Folder in FOLDER, repository, commit.
ORIGINS = (('mindspore-lite', 'github.com/mindspore-ai/mindspore-lite', '2b2887057ebe5542c365cb27d4500262e46c945e'),
           ('docs', 'github.com/mindspore-ai/docs', '9e844dc6'))
TREE = SOURCES / 'mindspore-lite/mindspore-lite'
INCLUDE = BUILD / 'include'
FLAGS = ['-std=c++17', '-Wall', '-Wextra', '-Werror', f'-I{HERE}/doubles', f'-I{PRODUCTS}/snippets', f'-I{INCLUDE}',
         f'-I{INCLUDE}/mindspore', '-idirafter', TREE]
LIBRARIES = [BUILD / 'libdeputy_mindspore.so', BUILD / 'libdeputy.so', '-lpthread', f'-Wl,-rpath,{BUILD}']
# The sources of others have unused parameters, in their own text.
OWN_WARNINGS = '-Wno-unused-parameter'
UNIT_TESTS = TREE / 'test/ut/src'
DPICO = TREE / 'tools/converter/adapter/dpico'
EXTEND = TREE / 'examples/runtime_extend'


def dpico_sources():
    return sorted(DPICO.glob('infer/*.cc')) + [DPICO / 'common/infer_util.cc', DPICO / 'common/string_util.cc']


# Name of the program, its sources and flags.
PROGRAMS = {
    'context': ([HERE / 'checks/context.cc'], []),
    'model': ([HERE / 'checks/model.cc'], []),
    'formats': ([HERE / 'checks/formats.cc'], []),
    'delegate': ([HERE / 'checks/delegate.cc'], []),
    'npu_delegate': ([HERE / 'checks/npu_delegate.cc'], []),
    'allocators': ([HERE / 'checks/allocators.cc', TREE / 'src/litert/inner_allocator.cc',
                    TREE / 'providers/dpico/src/custom_allocator.cc', TREE / 'providers/dpico/common/log_util.cc',
                    TREE / 'src/extendrt/dynamic_mem_allocator.cc', TREE / 'src/extendrt/dynamic_mem_manager.cc'],
                   [f'-I{TREE}/providers/dpico']),
    'format_functions': ([HERE / 'checks/format_functions.cc'], []),
    'runner': ([HERE / 'checks/runner.cc'], []),
    'registry_override': ([HERE / 'checks/registry_override.cc'], []),
    'dual_abi_data_helper': ([HERE / 'checks/dual_abi_data_helper.cc'], []),
    'dual_abi_converter': ([HERE / 'checks/dual_abi_converter.cc'], []),
    'registry_kernels': ([HERE / 'checks/registry_kernels.cc'], [OWN_WARNINGS]),
    'registry_interfaces': ([HERE / 'checks/registry_interfaces.cc'], [OWN_WARNINGS, f'-I{DPICO}']),
    'runner_test': ([UNIT_TESTS / 'api/model_parallel_runner_test.cc'], []),
    'model_test': ([UNIT_TESTS / 'runtime/kernel/arm/cxx_api/model_test.cc'], []),
    'serialization_test': ([UNIT_TESTS / 'runtime/kernel/arm/cxx_api/serialization_test.cc'], []),
}
# Tests of MindSpore Lite that must fail, with the reason.
TRAINING = 'trains, which Deputy refuses'
NO_DATA = 'expects that an input has no memory before SetData'
MUST_FAIL = {
    'TestCxxApiLiteModel.test_train_mode_SUCCES': TRAINING,
    'TestCxxApiLiteModel.test_metrics_FAILURE': TRAINING,
    'TestCxxApiLiteModel.test_metrics_SUCCESS': TRAINING,
    'TestCxxApiLiteModel.test_getparams_SUCCESS': TRAINING,
    'TestCxxApiLiteModel.test_getgrads_SUCCESS': TRAINING,
    'TestCxxApiLiteModel.test_fp32_SUCCESS': TRAINING,
    'TestCxxApiLiteModel.test_fp16_SUCCESS': TRAINING,
    'TestCxxApiLiteModel.set_weights_FAILURE': TRAINING,
    'TestCxxApiLiteSerialization.test_export_to_buffer': 'exports a model, which Deputy refuses',
    'ModelParallelRunnerTest.RunnerInitByBuf': 'frees memory that an output tensor has allocated and owns',
    'ModelTest.testBuildByGraphSuccess': TRAINING,
    'ModelTest.testExportWeight': TRAINING,
    'ModelTest.testFeatureMap': TRAINING,
    'ModelTest.testPredictFailed': NO_DATA,
    'ModelTest.testPredictSuccess': NO_DATA,
}


def snippets():
    """Returns the rows of snippets.txt: name, headers, path, lines ('-': all), hash."""
    text = (HERE / 'snippets.txt').read_text(encoding='utf-8')
    return [line.split() for line in text.splitlines() if line and not line.startswith('#')]


def lines_of(path, lines):
    text = (SOURCES / path).read_text(encoding='utf-8')
    if lines == '-':
        return text
    first, last = map(int, lines.split('-'))
    return '\n'.join(text.split('\n')[first - 1:last]) + '\n'


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors='replace',
                          check=False, stdin=subprocess.DEVNULL, **options)


def compiled(source, *options):
    """Returns the object file of a source; raises an error with the compiler's messages."""
    target = PRODUCTS / (re.sub(r'\W', '_', str(source))[-100:] + '.o')
    launcher = ['ccache'] if shutil.which('ccache') else []
    done = run([*launcher, 'g++', *FLAGS, *options, '-c', source, '-o', target])
    if done.returncode:
        raise AssertionError(f'{source} does not compile:\n{done.stderr[:3000]}')
    return target


def linked(name, objects, *options):
    target = PRODUCTS / name
    done = run(['g++', *objects, '-o', target, *options, *LIBRARIES])
    if done.returncode:
        raise AssertionError(f'{name} does not link:\n{done.stderr[:3000]}')
    return target


class Snippets(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if not TREE.is_dir():
            raise unittest.SkipTest(f'DEPUTY_MINDSPORE_SOURCES: {TREE} does not exist')
        for folder in ('snippets', 'run/nets', 'test/ut/src/runtime/kernel/arm/test_data/nets'):
            (PRODUCTS / folder).mkdir(parents=True, exist_ok=True)
        for name, _, path, lines, _ in snippets():
            if lines != '-':
                line = f'#line {lines.split("-")[0]} "{SOURCES / path}"\n'
                (PRODUCTS / f'snippets/{name}.inc').write_text(line + lines_of(path, lines), encoding='utf-8')
        done = run([BUILD / 'tests/mindspore_sample_models', PRODUCTS / 'run'])
        if done.returncode:
            raise AssertionError(done.stderr)
        models = PRODUCTS / 'run'
        shutil.copy(models / 'lenet_train.ms', models / 'nets/conv_train_model.ms')
        (models / 'mobilenetv2.ms.bin').write_bytes(bytes(224 * 224 * 3 * 4))
        for name in ('lenet_train.ms', 'lenet_tod_infer.ms'):
            shutil.copy(models / name, PRODUCTS / 'test/ut/src/runtime/kernel/arm/test_data/nets')

    def test_sources_are_those_of_the_list(self):
        differ = [name for name, _, path, lines, digest in snippets()
                  if hashlib.sha256(lines_of(path, lines).encode()).hexdigest()[:16] != digest]
        self.assertEqual(differ, [])

    def test_programs_for_the_unit_tests(self):
        """Runs every test in a process of its own, since one that must fail may crash."""
        for name, (sources, flags) in PROGRAMS.items():
            with self.subTest(name):
                extra = dpico_sources() if name == 'registry_interfaces' else []
                objects = [compiled(source, *flags) for source in (*sources, *extra)]
                program = linked(name, objects, '-lgtest', '-lgtest_main')
                listed = run([program, '--gtest_list_tests'], cwd=PRODUCTS / 'run').stdout.splitlines()
                suite, failed, count = '', [], 0
                for line in listed[1:]:
                    if not line.startswith(' '):
                        suite = line.strip()
                        continue
                    case = suite + line.split()[0]
                    count += 1
                    done = run([program, f'--gtest_filter={case}'], cwd=PRODUCTS / 'run', timeout=300)
                    if (done.returncode != 0) != (case in MUST_FAIL):
                        failed.append(f'{case}: exit code {done.returncode}\n{done.stdout[-1500:]}')
                self.assertGreater(count, 0)
                self.assertFalse(failed, '\n'.join(failed))

    def test_headers(self):
        """Compiles headers of snippets without the exceptions for their sources."""
        for name, headers, path, lines, _ in snippets():
            if headers == 'registry' and path.endswith('.h') and lines == '-':
                with self.subTest(name):
                    unit = PRODUCTS / f'{name}.cc'
                    unit.write_text(f'#include "{SOURCES / path}"\n', encoding='utf-8')
                    compiled(unit, f'-I{DPICO}')

    def test_examples(self):
        """Runs whole programs of MindSpore Lite's examples in all of their modes."""
        model = PRODUCTS / 'run/mobilenetv2.ms'
        program = linked('runtime_cpp', [compiled(TREE / 'examples/runtime_cpp/main.cc', OWN_WARNINGS,
                                                  '-Wno-sign-compare')])
        for mode in range(6):
            done = run([program, model, mode])
            self.assertEqual(done.returncode, 0, f'mode {mode}\n{done.stdout}{done.stderr}')
            self.assertIn('output data is:', done.stdout)
        sources = [EXTEND / 'main.cc', *sorted(EXTEND.glob('src/*.cc'))]
        program = linked('runtime_extend', [compiled(source, OWN_WARNINGS, f'-I{EXTEND}') for source in sources])
        done = run([program, PRODUCTS / 'run/custom_add.ms'])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('output data is:2 2 2 ', done.stdout)

    def test_java(self):
        """Runs MindSpore Lite's Java API, whose native functions are snippets, with its own tests and ours."""
        javac, java = shutil.which('javac'), shutil.which('java')
        if javac is None or java is None:
            self.skipTest('no Java compiler')
        home = pathlib.Path(javac).resolve().parents[1] / 'include'
        folder = TREE / 'java'
        options = [OWN_WARNINGS, '-fPIC', f'-I{folder}/native', f'-I{home}', f'-I{home}/linux']
        sources = [*sorted(folder.glob('src/main/native/*.cpp')), folder / 'native/common/jni_utils.cpp']
        objects = [compiled(source, *options) for source in sources]
        linked('libmindspore-lite-jni.so', objects, '-shared', '-Wl,-z,defs')
        shutil.copy(PRODUCTS / 'libmindspore-lite-jni.so', PRODUCTS / 'libmindspore-lite-train-jni.so')
        classes = PRODUCTS / 'classes'
        shutil.rmtree(classes, ignore_errors=True)
        java_sources = [*folder.glob('src/*/java/**/*.java'), *(HERE / 'java').glob('*.java')]
        done = run([javac, '-nowarn', '-d', classes, '-sourcepath', HERE / 'java', *java_sources])
        self.assertEqual(done.returncode, 0, done.stderr[:3000])
        done = run([java, f'-Djava.library.path={PRODUCTS}', '-cp', classes, 'Driver', 'com.mindspore.ModelTest',
                    'com.mindspore.MSTensorTest', 'com.mindspore.GraphTest', 'BindingsCheck'],
                   cwd=PRODUCTS / 'run', timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        results = [line for line in done.stdout.splitlines() if re.match('(pass|fail) ', line)]
        self.assertEqual(len(results), 26)
        wrong = [line for line in results
                 if line.startswith('fail') != (re.split('[ :]', line)[1] in MUST_FAIL)]
        self.assertFalse(wrong, '\n'.join(wrong))

    def test_counts(self):
        """Prints the number of snippets per header."""
        counts = collections.Counter()
        for _, headers, *_ in snippets():
            for header in headers.split(','):
                name, _, count = header.partition(':')
                counts[name] += int(count or 1)
        counts.pop('-', None)
        print(', '.join(f'{name} {count}' for name, count in sorted(counts.items())), file=sys.stderr)
        self.assertTrue(counts)


if __name__ == '__main__':
    unittest.main()
