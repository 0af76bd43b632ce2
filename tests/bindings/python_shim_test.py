#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests Deputy under the names tflite_runtime and ai_edge_litert against the original packages.

    python_shim_test.py BUILD_FOLDER

tests/data/python has what describe_package.py found in the original packages. If DEPUTY_PEERS_PYTHON, or else
build/peers/bin/python, has one of them, the recorded description is compared with it.
"""
import builtins
import importlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

from python_package import FLOAT, FOLDER, ROOT, SHIM_WHEEL, WHEEL, unpack

SITE = f'{FOLDER.name}/shim'
unpack(SHIM_WHEEL, SITE)
sys.path.insert(0, SITE)

import deputy  # noqa: E402
from describe_package import (MODULES, PACKAGES, described_by, module_names, program_outputs,  # noqa: E402
                              wrong_calls)

RECORDED = {package: json.loads((ROOT / f'tests/data/python/{package}.json').read_text(encoding='utf-8'))
            for package in PACKAGES}
ENVIRONMENT = {**os.environ, 'PYTHONPATH': f'{SITE}:{FOLDER.name}/site'}


def each_module():
    for package in PACKAGES:
        for name in MODULES:
            yield (f'{package}.{name}', importlib.import_module(f'{package}.{name}'),
                   RECORDED[package]['modules'][name])


def differences(expected, found, path):
    """Yields a text for each recorded fact that `found` lacks; additional names and arguments are allowed."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key in found:
                yield from differences(value, found[key], f'{path}.{key}')
            else:
                yield f'{path}.{key} is missing'
    elif path.endswith('.arguments'):
        more = [argument for argument in found[len(expected):] if '=' not in argument]
        if found[:len(expected)] != expected or more:
            yield f'{path}: expected {expected}, found {found}'
    elif path.endswith('.bases'):
        yield from (f'{path}: {base} is missing' for base in expected if base not in found)
    elif found != expected:
        yield f'{path}: expected {expected}, found {found}'


def python(text, *paths):
    """Runs a program with these folders before the shim's."""
    return subprocess.run([sys.executable, '-c', text], check=False, capture_output=True, text=True,
                          env={**ENVIRONMENT, 'PYTHONPATH': ':'.join([*paths, ENVIRONMENT['PYTHONPATH']])})


class InterfaceTest(unittest.TestCase):
    def test_names_arguments_and_members_are_those_of_the_original_packages(self):
        found = [line for path, module, expected in each_module()
                 for line in differences(expected, module_names(module), path)]
        self.assertEqual(found, [])

    def test_the_record_covers_the_interpreter(self):
        interpreter = RECORDED['ai_edge_litert']['modules']['interpreter']
        self.assertEqual(set(interpreter), {'Delegate', 'Interpreter', 'InterpreterWithCustomOps', 'OpResolverType',
                                            'SignatureRunner', 'load_delegate'})
        members = interpreter['Interpreter']['members']
        self.assertEqual(members['__init__']['arguments'][-1], 'experimental_force_delegate_node_profiling=False')
        self.assertEqual(members['get_tensor']['arguments'], ['self', 'tensor_index', 'subgraph_index=0'])
        self.assertEqual(interpreter['OpResolverType']['members']['BUILTIN_REF'], {'kind': 'enumerator', 'value': 2})

    def test_differences_of_each_kind_are_found(self):
        expected = {'f': {'kind': 'function', 'arguments': ['a', 'b=1']}, 'C': {'bases': ['B'], 'members': {}}}
        sound = {'f': {'kind': 'function', 'arguments': ['a', 'b=1', 'c=2']}, 'C': {'bases': ['B', 'A'], 'members': {}}}
        self.assertEqual(list(differences(expected, sound, 'm')), [])
        for found in ({**sound, 'f': {'kind': 'class', 'arguments': ['a', 'b=1']}},
                      {**sound, 'f': {'kind': 'function', 'arguments': ['a', 'b=2']}},
                      {**sound, 'f': {'kind': 'function', 'arguments': ['b=1', 'a']}},
                      {**sound, 'f': {'kind': 'function', 'arguments': ['a', 'b=1', 'c']}},
                      {**sound, 'C': {'bases': [], 'members': {}}}, {'C': sound['C']}):
            self.assertEqual(len(list(differences(expected, found, 'm'))), 1, found)

    def test_versions_are_those_of_the_original_packages(self):
        for package in PACKAGES:
            self.assertEqual(importlib.import_module(package).__version__, RECORDED[package]['version'])

    def test_wrong_calls_raise_the_exceptions_of_the_original_packages(self):
        for package in PACKAGES:
            calls = wrong_calls(importlib.import_module(f'{package}.interpreter'), FLOAT)
            self.assertEqual(set(calls), set(RECORDED[package]['exceptions']))
            for text, name in RECORDED[package]['exceptions'].items():
                with self.subTest(package=package, call=text):
                    if name:
                        self.assertRaises(getattr(builtins, name), calls[text])

    def test_recorders_of_metrics_ignore_every_call(self):
        for package in PACKAGES:
            metrics = importlib.import_module(f'{package}.metrics_portable')
            recorder = metrics.TFLiteConverterMetrics('hash', 'model')
            self.assertIsInstance(recorder, importlib.import_module(f'{package}.metrics_interface').TFLiteMetricsInterface)
            recorder.increase_counter_interpreter_creation()
            recorder.set_converter_param('name', 1)
            recorder.export_metrics()


class ProgramsTest(unittest.TestCase):
    def test_outputs_are_those_of_the_original_packages(self):
        for package in PACKAGES:
            self.assertEqual(program_outputs(sys.executable, package, ENVIRONMENT), RECORDED[package]['programs'])

    def test_the_programs_run_on_deputy(self):
        for package in PACKAGES:
            result = python(f'import {package}.interpreter as i; print(i.Interpreter.__module__, i.__file__)')
            self.assertEqual(result.stdout.split(), ['deputy.interpreter', f'{SITE}/{package}/interpreter.py'])


class OtherModulesTest(unittest.TestCase):
    def test_an_absent_module_is_an_error_that_names_those_that_exist(self):
        for name in ('ai_edge_litert.aot.aot_compile', 'ai_edge_litert.format_converter', 'tflite_runtime.metrics'):
            with self.assertRaisesRegex(ModuleNotFoundError, 'deputy-tflite-runtime replaces .*interpreter, '
                                                             'metrics_interface, metrics_portable.* of') as caught:
                importlib.import_module(name)
            self.assertTrue(name.startswith(caught.exception.name))
        with self.assertRaisesRegex(ImportError, "cannot import name 'CompiledModel'.*shim/ai_edge_litert"):
            from ai_edge_litert.interpreter import CompiledModel  # noqa: F401
        with self.assertRaisesRegex(ModuleNotFoundError, "No module named 'absent_package'$"):
            importlib.import_module('absent_package')

    def test_files_of_an_original_package_are_reported(self):
        for package, distribution in (('tflite_runtime', 'tflite-runtime'), ('ai_edge_litert', 'ai-edge-litert')):
            self.assertEqual(python(f'import {package}').stderr, '')
            mixed = pathlib.Path(FOLDER.name) / f'mixed_{package}'
            unpack(SHIM_WHEEL, mixed)
            (mixed / package / '_pywrap_wrapper.so').touch()
            result = python(f'import {package}', str(mixed))
            self.assertEqual(result.returncode, 0)
            self.assertIn(f'RuntimeWarning: {mixed}/{package} has files of {distribution} and of', result.stderr)
            self.assertIn(f'pip uninstall {distribution} deputy-tflite-runtime', result.stderr)


class InstallationTest(unittest.TestCase):
    def test_pip_installs_both_from_a_folder_and_removes_both(self):
        venv = pathlib.Path(FOLDER.name) / 'venv'
        subprocess.run([sys.executable, '-m', 'venv', '--system-site-packages', venv], check=True)
        pip = [venv / 'bin/python', '-m', 'pip', '-q', '--disable-pip-version-check']
        subprocess.run([*pip, 'install', '--no-index', '--find-links', FOLDER.name, 'deputy-tflite-runtime'],
                       check=True)
        environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        shown = subprocess.run(
            [venv / 'bin/python', '-c', 'import ai_edge_litert.interpreter as i, deputy;'
             'print(i.Interpreter.__module__, deputy.__file__, deputy.__version__)'],
            check=True, capture_output=True, text=True, env=environment, cwd=FOLDER.name).stdout.split()
        self.assertEqual((shown[0], shown[2]), ('deputy.interpreter', deputy.__version__))
        self.assertTrue(shown[1].startswith(str(venv)), shown)
        installed = venv.glob('lib/python*/site-packages/*')
        self.assertIn('deputy_tflite_runtime', {path.name for path in installed})
        subprocess.run([*pip, 'uninstall', '-y', 'deputy', 'deputy-tflite-runtime'], check=True)
        left = {path.name for path in venv.glob('lib/python*/site-packages/*')
                if path.name.startswith(('deputy', 'tflite', 'ai_edge'))}
        self.assertEqual(left, set())

    def test_both_wheels_have_one_version(self):
        self.assertEqual(WHEEL.name.split('-')[1], deputy.__version__)
        self.assertEqual(SHIM_WHEEL.name, f'deputy_tflite_runtime-{deputy.__version__}-py3-none-any.whl')


class RecordTest(unittest.TestCase):
    def test_the_record_is_that_of_an_installed_original_package(self):
        peers = os.environ.get('DEPUTY_PEERS_PYTHON', str(ROOT / 'build/peers/bin/python'))
        if not os.path.exists(peers):
            self.skipTest(f'{peers} does not exist (DEPUTY_PEERS_PYTHON names a Python with ai_edge_litert)')
        found = {package: described_by(peers, package) for package in PACKAGES}
        found = {package: facts for package, facts in found.items()
                 if facts and facts['version'] == RECORDED[package]['version']}
        if not found:
            self.skipTest(f'{peers} has no package of a recorded version')
        for package, facts in found.items():
            self.assertEqual(facts, RECORDED[package])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
