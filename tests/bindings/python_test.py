#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package: TensorFlow Lite's interface, and the methods that Deputy adds.

    python_test.py BUILD_FOLDER
"""
import ctypes
import gc
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import zipfile

from python_package import (BUILD, DIGITS, FLOAT, FOLDER, INT8, ROOT, SIGNED, STATEFUL, TINY, WHEEL,
                            allocated, run, custom_model, ends, random_input, signed_model)

import deputy
import numpy as np
from deputy import _model
from deputy._native import Owned
from deputy.interpreter import (Delegate, Interpreter, InterpreterWithCustomOps, OpResolverType,
                                load_delegate)

ENVIRONMENT = {**os.environ, 'PYTHONPATH': f'{FOLDER.name}/site'}
HAS_XNNPACK = (BUILD / 'libdeputy_xnnpack.so').exists()
USES = [ROOT / 'tests/packaging/check_wheel_use.py', '--more', *(['xnnpack'] if HAS_XNNPACK else [])]


def unpacked(data):
    """Decodes the rows of a golden file, which are packed as in tests/golden/container.py."""
    at, rows = 16, bytearray()

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        count, is_copy = divmod(number(), 2)
        if is_copy:
            distance = number()
            for _ in range(count):
                rows.append(rows[-distance])
        else:
            rows += data[at:at + count]
            at += count
    return bytes(rows)


def golden_models(family):
    """Yields the models of a file of golden rows, which have their sizes in front; random constants are missing."""
    rows = unpacked((ROOT / f'tests/data/golden/{family}.golden').read_bytes())
    at = rows.find(b'TFL3')
    while at >= 0:
        size = int.from_bytes(rows[at - 8:at - 4], 'little')
        yield rows[at - 4:at - 4 + size]
        at = rows.find(b'TFL3', at + 4)


class WheelTest(unittest.TestCase):

    def test_it_supports_every_python_3_and_is_complete(self):
        self.assertRegex(WHEEL.name, r'^deputy-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$')
        with zipfile.ZipFile(WHEEL) as archive:
            names = set(archive.namelist())
            record = archive.read(next(name for name in names if name.endswith('RECORD'))).decode()
        self.assertEqual({line.split(',')[0] for line in record.splitlines()}, names)
        self.assertIn('deputy/lib/libdeputy.so.1', names)

    def test_its_version_equals_the_librarys_and_its_plugins_load(self):
        self.assertIn(f'deputy-{deputy.__version__}-', WHEEL.name)
        plugins = {plugin['name']: plugin['error'] for plugin in deputy.plugins()}
        self.assertEqual(plugins['npu_stub'], '')

    def test_delegates_run_in_the_process_and_in_one_of_their_own(self):
        subprocess.run([sys.executable, *USES], check=True, cwd=DIGITS, env=ENVIRONMENT)


@unittest.skipUnless(HAS_XNNPACK, 'the delegate for XNNPACK is not built')
class XnnpackTest(unittest.TestCase):
    def test_the_wheel_has_its_libraries_and_their_licences(self):
        with zipfile.ZipFile(WHEEL) as archive:
            names = archive.namelist()
            texts = {name.rpartition('/')[2]: archive.read(name).decode() for name in names if '/licenses/' in name}
            metadata = archive.read(next(name for name in names if name.endswith('/METADATA'))).decode()
        bundled = [name.rpartition('/')[2] for name in names if '/bundled/' in name]
        self.assertEqual({name.partition('.so.')[0] for name in bundled},
                         {f'libdeputy_bundled_{name}' for name in ('XNNPACK', 'cpuinfo', 'pthreadpool')})
        self.assertEqual(len(texts), 1 + len(bundled))
        self.assertTrue(all('license' in text.lower() for text in texts.values()))
        for name in texts:
            self.assertIn(f'\nLicense-File: {name}\n', metadata)
        self.assertIn('\nLicense-Expression: Apache-2.0 AND BSD-3-Clause AND BSD-2-Clause\n', metadata)

    def test_wheels_for_a_given_c_library_lack_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / 'tools/make_wheel.py', '--glibc', '2.99', BUILD, folder], check=True,
                           capture_output=True)
            wheel, = pathlib.Path(folder).glob('deputy-*-manylinux_2_99_*.whl')
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
        self.assertIn('deputy/lib/deputy/plugins/libdeputy_cpu.so', names)
        self.assertEqual([name for name in names if re.search('xnnpack|mindspore|bundled', name)], [])

    def test_libraries_of_other_packages_with_the_same_names_are_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(WHEEL) as archive:
                names = [name.rpartition('bundled_')[2] for name in archive.namelist() if '/bundled/' in name]
            for name in names:
                subprocess.run(['cc', '-shared', '-x', 'c', os.devnull, f'-Wl,-soname,lib{name}', '-o',
                                f'{folder}/lib{name}'], check=True)
            program = (f'import ctypes, runpy, sys\nfor name in {names}:\n'
                       f'    ctypes.CDLL(f"{folder}/lib{{name}}")\n'
                       f'sys.argv = {[str(word) for word in USES]}\nrunpy.run_path(sys.argv[0], run_name="__main__")')
            subprocess.run([sys.executable, '-c', program], check=True, cwd=DIGITS, env=ENVIRONMENT)

    def test_it_runs_in_a_process_of_its_own(self):
        program = ('import deputy.interpreter as d; i = d.Interpreter("digits_float.tflite", experimental_delegates='
                   '[d.load_delegate("xnnpack")]); i.allocate_tensors(); i.invoke();'
                   'maps = open("/proc/self/maps").read();'
                   'print({node["run_by"] for node in i.explain()["nodes"]}, "XNNPACK" in maps)')
        result = subprocess.run([sys.executable, '-c', program], check=True, cwd=DIGITS, capture_output=True, text=True,
                                env={**ENVIRONMENT, 'DEPUTY_ISOLATE': '1'})
        self.assertEqual(result.stdout, "{'sandbox'} False\n")


class BackgroundTest(unittest.TestCase):
    LIBRARY = str(BUILD / 'tests/plugins/libelementwise.so')

    def test_the_cpu_runs_until_the_delegate_is_ready(self):
        gate = pathlib.Path(FOLDER.name) / 'gate'
        interpreter = Interpreter(FLOAT, experimental_delegates=[load_delegate(self.LIBRARY, {'gate': str(gate)})],
                                  background=2)
        self.assertEqual(interpreter.background_status()['state'], 'waiting')
        interpreter.allocate_tensors()
        index, output = (details()[0]['index']
                         for details in (interpreter.get_input_details, interpreter.get_output_details))
        interpreter.set_tensor(index, random_input(interpreter))
        interpreter.invoke()  # the compilation waits for the gate
        expected = interpreter.get_tensor(output)
        self.assertFalse(interpreter.wait_for_background(0.001))
        status = interpreter.background_status()
        self.assertEqual((status['state'], status['cpu_inferences'], status['failure']), ('preparing', 1, ''))
        gate.touch()
        self.assertTrue(interpreter.wait_for_background())
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(output), expected)
        status = interpreter.background_status()
        self.assertEqual((status['state'], status['delegate_inferences'], status['first_inference']),
                         ('active', 1, 2))
        self.assertNotEqual({node['run_by'] for node in interpreter.explain()['nodes']}, {'CPU'})

    def test_without_delegates_there_is_nothing_to_wait_for(self):
        interpreter = Interpreter(FLOAT, background=True)
        self.assertEqual(interpreter.background_status()['state'], 'none')
        self.assertTrue(interpreter.wait_for_background())

    def test_a_refusal_is_an_error_with_its_reason(self):
        delegate = load_delegate(self.LIBRARY)
        with self.assertRaisesRegex(RuntimeError, 'expected no validation'):
            Interpreter(FLOAT, experimental_delegates=[delegate], background=True, validation=True)


class LogTest(unittest.TestCase):
    """The library's log, in the module logging."""

    def messages(self, level):
        """Returns the messages about an interpreter with a delegate."""
        logger = logging.getLogger('deputy')
        logger.setLevel(level)
        try:
            with self.assertLogs() as log:  # the root logger, at the level info
                logging.info('first')
                allocated(FLOAT, experimental_delegates=[load_delegate('npu_stub')])
        finally:
            logger.setLevel(logging.NOTSET)
        return [(record.levelno, record.getMessage()) for record in log.records if record.name == 'deputy']

    def test_the_loggers_level_selects_messages(self):
        self.assertEqual(self.messages(logging.WARNING), [])
        messages = self.messages(logging.INFO)
        self.assertEqual({level for level, _ in messages}, {logging.INFO})
        self.assertRegex('\n'.join(text for _, text in messages),
                         r"interpreter: 1 subgraphs.*\n.*delegate 'npu_stub' runs \d+ of 16 nodes")

    def test_programs_get_warnings_and_end_without_the_callback(self):
        program = ('import logging, sys; logging.basicConfig(format="%(levelname)s|%(name)s|%(message)s");'
                   'from deputy.interpreter import Interpreter; Interpreter(sys.argv[1])')
        for level, expected in (('', 'WARNING|deputy|DEPUTY_CPU'), ('info', 'INFO|deputy|interpreter: '),
                                ('error', '')):
            environment = dict(os.environ, DEPUTY_LOG=level, DEPUTY_CPU='mmx', PYTHONPATH=f'{FOLDER.name}/site')
            done = subprocess.run([sys.executable, '-c', program, FLOAT], env=environment, check=True,
                                  capture_output=True, text=True)
            self.assertEqual(done.stdout, '')
            if expected:
                self.assertIn(expected, done.stderr)
            else:
                self.assertEqual(done.stderr, '')

    def test_processors_are_counted(self):
        self.assertEqual(deputy.processor_count(), deputy._native.library().DeputyGetProcessorCount())
        self.assertLessEqual(deputy.processor_count(), len(os.sched_getaffinity(0)))


class PlacementTest(unittest.TestCase):
    def test_nodes_run_where_the_plan_places_them(self):
        delegate = load_delegate(str(BUILD / 'tests/plugins/libelementwise.so'))
        interpreter = Interpreter(FLOAT, experimental_delegates=[delegate], placement={'runs': 2})
        plan = interpreter.placement_plan()
        self.assertGreater(plan['measurements'], 1)
        self.assertFalse(plan['from_cache'])
        chosen, *others = plan['alternatives']
        self.assertIn('delegate 0', [each['name'] for each in (chosen, *others)])
        self.assertEqual(chosen['nodes'], sum(owner is not None for owner in plan['owners']))
        for other in others:
            self.assertGreaterEqual(other['measured_ns'], chosen['measured_ns'])
        interpreter.allocate_tensors()
        nodes = interpreter.explain()['nodes']
        for owner, node in zip(plan['owners'], nodes):
            self.assertEqual(node['run_by'] == 'CPU', owner is None)

    def test_the_budget_and_the_directory_have_effects(self):
        library = str(BUILD / 'libdeputy_npu_stub.so')
        with tempfile.TemporaryDirectory() as folder:
            settings = {'cache_directory': folder, 'budget_ms': 60000}
            plans = [Interpreter(FLOAT, experimental_delegates=[load_delegate(library)],
                                 placement=settings).placement_plan() for _ in range(2)]
        self.assertEqual([plan['from_cache'] for plan in plans], [False, True])
        self.assertEqual(plans[0]['owners'], plans[1]['owners'])
        self.assertEqual(plans[1]['measurements'], 0)

    def test_wrong_settings_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected budget_ms, runs, cache_directory, found 'budget'"):
            Interpreter(FLOAT, placement={'budget': 1})
        with self.assertRaisesRegex(ValueError, 'expected no background'):
            Interpreter(FLOAT, placement=True, background=True)
        with self.assertRaisesRegex(RuntimeError, 'expected settings'):
            Interpreter(FLOAT, placement={'runs': -1})
        self.assertIsNone(Interpreter(FLOAT).placement_plan())


class WeightCacheTest(unittest.TestCase):
    def test_a_second_interpreter_packs_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            uses = []
            for _ in range(2):
                interpreter = Interpreter(FLOAT, weight_cache=os.path.join(folder, 'weights'))
                interpreter.allocate_tensors()
                uses.append(interpreter.weight_cache_use())
                del interpreter
        self.assertEqual([use['state'] for use in uses], ['absent', 'usable'])
        self.assertEqual(uses[0]['reused'], 0)
        self.assertGreater(uses[0]['packed'], 0)
        self.assertEqual(uses[1]['reused'], uses[0]['packed'])
        self.assertEqual(uses[1]['packed'], 0)
        self.assertEqual(uses[1]['mapped_bytes'], uses[0]['mapped_bytes'])


class DevicesTest(unittest.TestCase):
    PLUGIN = str(BUILD / 'tests/plugins/libdevices.so')

    def devices(self, names, more=''):
        with unittest.mock.patch.dict(os.environ, ELEMENTWISE_DEVICES=names):
            return deputy.devices(self.PLUGIN + more)

    def test_devices_of_libraries_are_listed_with_the_reasons_of_others(self):
        first, second, absent, described, _ = self.devices(
            'NPU,-CPU', f":absent.so:{BUILD / 'tests/plugins/libdescribed0.so'}")
        self.assertEqual((first['plugin'], first['path'], first['name'], first['type'], first['usable']),
                         ('elementwise', self.PLUGIN, 'device 0', 'NPU', True))
        self.assertEqual((first['options'], first['problem']), ({'device': '0'}, ''))
        self.assertEqual((second['options'], second['usable']), ({'device': '1'}, False))
        self.assertEqual(set(absent), {'plugin', 'path', 'problem'})
        self.assertIn('No such file', absent['problem'])
        self.assertEqual([described[key] for key in ('options', 'power_class', 'preferred_layout',
                                                     'preferred_batch', 'preferred_precision', 'fp16')],
                         [{'ops': '0'}, 'low', 'NCHW', 4, 'int8', False])
        self.assertIn('pretended NPU', [device.get('name') for device in deputy.devices()])

    def test_policies_choose_as_in_c(self):
        devices = self.devices('CPU,integrated GPU,discrete GPU,accelerator,-NPU')
        for policy, expected in (('performance', 2), ('efficiency', 3), ('latency', 1), ('prefer-npu', 2),
                                 ('prefer-gpu', 2)):
            self.assertIs(deputy.choose_device(policy, devices), devices[expected])
        self.assertIsNone(deputy.choose_device('performance', self.devices('CPU,-NPU', ':absent.so')))
        self.assertIsNone(deputy.choose_device('performance', []))
        with self.assertRaisesRegex(ValueError, "policy: expected a function or one of .*, found 'fast'"):
            deputy.choose_device('fast', devices)

    def test_a_function_chooses_from_the_usable_devices(self):
        devices = self.devices('CPU,NPU,-NPU')
        self.assertIs(deputy.choose_device(lambda found: found[0], devices), devices[0])
        self.assertIsNone(deputy.choose_device(lambda found: None, devices))
        self.assertEqual(deputy.choose_device(lambda found: len(found) == 2 and found[1], devices)['index'], 1)
        with self.assertRaisesRegex(ValueError, 'expected one of its devices or None'):
            deputy.choose_device(lambda found: devices[2], devices)
        with self.assertRaisesRegex(ZeroDivisionError, 'division'):
            deputy.choose_device(lambda found: 1 // 0, devices)

    def test_nodes_run_on_the_chosen_device(self):
        device = deputy.choose_device('prefer-npu', self.devices('CPU,NPU'))
        delegate = load_delegate(device['path'], device['options'])
        interpreter = Interpreter(FLOAT, experimental_delegates=[delegate])
        interpreter.allocate_tensors()
        owners = [node['run_by'] for node in interpreter.explain()['nodes']]
        self.assertEqual(sum('elementwise' in owner for owner in owners), 2, owners)

    def test_options_with_separators_are_unescaped(self):
        from deputy._devices import _options
        self.assertEqual(_options(r'name=a\;b\\;x=1=2'), {'name': 'a;b\\', 'x': '1=2'})
        self.assertEqual(_options(''), {})


class CreationTest(unittest.TestCase):

    def test_a_file_and_its_bytes_are_the_same_model(self):
        content = pathlib.Path(INT8).read_bytes()
        value = random_input(allocated(INT8))
        self.assertTrue(np.array_equal(run(allocated(INT8), value),
                                       run(allocated(None, model_content=content), value)))
        self.assertTrue(allocated(pathlib.Path(INT8)))

    def test_invalid_models_are_value_errors_with_a_reason(self):
        with self.assertRaisesRegex(ValueError, "Could not open 'absent'.*No such file"):
            Interpreter('absent')
        with self.assertRaisesRegex(ValueError, 'TFL3'):
            Interpreter(model_content=b'this is no model, in 28 bytes')
        with self.assertRaisesRegex(ValueError, 'must be specified'):
            Interpreter()
        with self.assertRaisesRegex(ValueError, "Can't both provide"):
            Interpreter(TINY, b'x')

    def test_threads_and_kernels_are_checked(self):
        for wrong, text in ((0, '>= 1'), (-1, '>= 1'), ('two', 'type of num_threads')):
            with self.assertRaisesRegex(ValueError, text):
                Interpreter(TINY, num_threads=wrong)
        with self.assertRaisesRegex(ValueError, 'Unrecognized passed in op resolver type'):
            Interpreter(TINY, experimental_op_resolver_type='BUILTIN')
        value = random_input(allocated(INT8))
        for resolver in OpResolverType:
            interpreter = allocated(INT8, num_threads=2, experimental_op_resolver_type=resolver)
            self.assertEqual(run(interpreter, value).shape, (1, 10))

    def test_arguments_of_other_packages_are_accepted(self):
        interpreter = Interpreter(
            model_path=TINY, experimental_delegates=None, num_threads=None,
            experimental_preserve_all_tensors=False, experimental_disable_delegate_clustering=True,
            experimental_default_delegate_latest_features=True)
        interpreter.allocate_tensors()


class DetailsTest(unittest.TestCase):

    def test_a_float_input(self):
        detail = allocated(FLOAT).get_input_details()[0]
        self.assertEqual((detail['name'], detail['dtype'], detail['quantization']),
                         ('image', np.float32, (0.0, 0)))
        self.assertEqual(detail['shape'].tolist(), [1, 28, 28, 1])
        self.assertEqual(detail['shape'].dtype, np.int32)
        self.assertEqual(len(detail['quantization_parameters']['scales']), 0)
        self.assertEqual(detail['sparsity_parameters'], {})

    def test_a_quantised_output(self):
        detail = allocated(INT8).get_output_details()[0]
        scale, zero_point = detail['quantization']
        self.assertEqual((detail['dtype'], scale, zero_point), (np.int8, 1 / 256, -128))
        parameters = detail['quantization_parameters']
        self.assertEqual(parameters['scales'].tolist(), [scale])
        self.assertEqual(parameters['zero_points'].tolist(), [zero_point])

    def test_scales_of_channels(self):
        details = allocated(INT8).get_tensor_details()
        filters = [detail for detail in details
                   if len(detail['quantization_parameters']['scales']) > 1]
        self.assertTrue(filters)
        for detail in filters:
            parameters = detail['quantization_parameters']
            dimension = parameters['quantized_dimension']
            self.assertEqual(len(parameters['scales']), detail['shape'][dimension])
            self.assertEqual(detail['quantization'], (0.0, 0))

    def test_sparse_weights(self):
        found = []
        for model in golden_models('densify'):
            interpreter = Interpreter(model_content=model)
            found += [detail['sparsity_parameters'] for detail in interpreter.get_tensor_details()
                      if detail['sparsity_parameters']]
        self.assertTrue(found)
        for sparsity in found:
            self.assertEqual(set(sparsity), {'traversal_order', 'block_map', 'dim_metadata'})
            kinds = [set(dim) for dim in sparsity['dim_metadata']]
            self.assertTrue(all(kind in ({'format', 'dense_size'},
                                         {'format', 'array_segments', 'array_indices'})
                                for kind in kinds))

    def test_nodes_are_listed(self):
        operators = [node['op_name'] for node in allocated(FLOAT)._get_ops_details()]
        self.assertEqual((len(operators), operators[0], operators[-1]), (16, 'CONV_2D', 'SOFTMAX'))


class TensorTest(unittest.TestCase):

    def test_wrong_values_are_refused(self):
        interpreter = allocated(FLOAT)
        first = ends(interpreter)[0]
        for value, text in ((np.zeros((1, 28, 28, 1), np.int8), 'Got value of type int8'),
                            (np.zeros((28, 28), np.float32), 'Got 2 but expected 4'),
                            (np.zeros((1, 28, 27, 1), np.float32), 'Got 27 but expected 28')):
            with self.assertRaisesRegex(ValueError, text):
                interpreter.set_tensor(first, value)
        for wrong in (-1, 1000):
            for call in (interpreter.get_tensor, interpreter.tensor,
                         lambda index: interpreter.set_tensor(index, 0)):
                with self.assertRaisesRegex(ValueError, 'Invalid tensor index'):
                    call(wrong)

    def test_nothing_works_before_allocation(self):
        interpreter = Interpreter(FLOAT)
        with self.assertRaisesRegex(RuntimeError, 'Invoke called on model that is not ready'):
            interpreter.invoke()
        with self.assertRaisesRegex(ValueError, 'Run allocate_tensors'):
            interpreter.get_tensor(ends(interpreter)[1])
        with self.assertRaisesRegex(ValueError, 'allocate_tensors'):
            interpreter.set_tensor(ends(interpreter)[0], random_input(interpreter))

    def test_views_share_the_tensors_memory(self):
        interpreter = allocated(FLOAT)
        first, last = ends(interpreter)
        value = random_input(interpreter)
        expected = run(interpreter, value)
        interpreter.set_tensor(first, np.zeros_like(value))
        interpreter.tensor(first)()[:] = value
        interpreter.invoke()
        self.assertTrue(np.array_equal(interpreter.tensor(last)(), expected))
        copy = interpreter.get_tensor(last)
        copy[:] = 7
        self.assertTrue(np.array_equal(interpreter.get_tensor(last), expected))

    def test_calls_fail_while_a_view_exists(self):
        interpreter = allocated(FLOAT)
        function = interpreter.tensor(ends(interpreter)[0])
        part = function()[0, 3:5]  # a view of a view counts as well
        for call in (interpreter.invoke, interpreter.allocate_tensors,
                     lambda: interpreter.resize_tensor_input(ends(interpreter)[0], [2, 28, 28, 1])):
            with self.assertRaisesRegex(RuntimeError, 'at least 1 reference to internal data'):
                call()
        del part
        interpreter.invoke()

    def test_a_view_keeps_the_memory(self):
        interpreter = allocated(FLOAT)
        first = ends(interpreter)[0]
        value = random_input(interpreter)
        interpreter.set_tensor(first, value)
        view = interpreter.tensor(first)()
        del interpreter
        gc.collect()
        self.assertTrue(np.array_equal(view, value))

    def test_constants_cannot_be_written(self):
        interpreter = allocated(FLOAT)
        names = {detail['name']: detail for detail in interpreter.get_tensor_details()}
        operands = interpreter._get_ops_details()[0]['inputs']
        constant = interpreter.tensor(int(operands[1]))()
        self.assertTrue(names)
        with self.assertRaisesRegex(ValueError, 'read-only'):
            constant[:] = 0

    def test_strings_round_trip(self):
        done = 0
        for model in golden_models('skip_gram'):
            interpreter = Interpreter(model_content=model)
            if [detail['dtype'] for detail in interpreter.get_input_details()] != [np.bytes_]:
                continue
            detail = interpreter.get_input_details()[0]
            if 0 in detail['shape']:
                continue
            try:
                interpreter.allocate_tensors()
            except RuntimeError:
                continue  # the row expects a refusal
            text = np.full(detail['shape'], b'The quick\xc3\xa9 brown fox', dtype=object)
            interpreter.set_tensor(detail['index'], text)
            self.assertEqual(interpreter.get_tensor(detail['index']).tolist(), text.tolist())
            interpreter.invoke()
            words = interpreter.get_tensor(ends(interpreter)[1]).ravel().tolist()
            self.assertTrue(all(isinstance(word, bytes) for word in words))
            done += bool(words)
            with self.assertRaisesRegex(ValueError, 'expected type STRING'):
                interpreter.set_tensor(detail['index'], np.zeros(detail['shape'], np.float32))
        self.assertGreater(done, 0)

    def test_intermediate_tensors_can_be_preserved(self):
        value = random_input(allocated(FLOAT))
        kept = allocated(FLOAT, experimental_preserve_all_tensors=True)
        plain = run(allocated(FLOAT), value)
        self.assertTrue(np.array_equal(run(kept, value), plain))
        self.assertTrue(np.array_equal(kept.get_tensor(ends(kept)[0]), value))
        convolved = kept.get_tensor(int(kept._get_ops_details()[0]['outputs'][0]))
        kept.resize_tensor_input(ends(kept)[0], [2, 28, 28, 1])
        kept.allocate_tensors()
        run(kept, np.concatenate([value, value]))
        again = kept.get_tensor(int(kept._get_ops_details()[0]['outputs'][0]))
        self.assertEqual(again.shape[0], 2)
        self.assertTrue(np.array_equal(again[1], convolved[0]))

    def test_variables_are_reset(self):
        interpreter = allocated(STATEFUL)
        value = random_input(interpreter)
        first = run(interpreter, value)
        later = [run(interpreter, value) for _ in range(4)]
        self.assertFalse(all(np.array_equal(first, other) for other in later))
        interpreter.reset_all_variables()
        self.assertTrue(np.array_equal(run(interpreter, value), first))


class ResizeTest(unittest.TestCase):

    def test_an_input_is_resized(self):
        interpreter = Interpreter(FLOAT)
        first, last = ends(interpreter)
        interpreter.resize_tensor_input(first, (3, 28, 28, 1))
        interpreter.allocate_tensors()
        self.assertEqual(interpreter.get_input_details()[0]['shape'].tolist(), [3, 28, 28, 1])
        interpreter.invoke()
        self.assertEqual(interpreter.get_tensor(last).shape, (3, 10))
        interpreter.resize_tensor_input(first, np.array([1, 28, 28, 1], np.int32))
        interpreter.allocate_tensors()

    def test_strict_resize_keeps_known_dimensions(self):
        interpreter = Interpreter(FLOAT)
        first, _ = ends(interpreter)
        interpreter.resize_tensor_input(first, [1, 28, 28, 1], strict=True)
        with self.assertRaisesRegex(RuntimeError, 'only allows mutating unknown dimensions'):
            interpreter.resize_tensor_input(first, [2, 28, 28, 1], strict=True)

    def test_invalid_shapes_are_refused(self):
        interpreter = Interpreter(FLOAT)
        first, last = ends(interpreter)
        for shape, text in (([[1, 2]], 'Shape should be 1D instead of 2'), ([1.5], 'must be type')):
            with self.assertRaisesRegex(ValueError, text):
                interpreter.resize_tensor_input(first, shape)
        with self.assertRaisesRegex(ValueError, 'is no input'):
            interpreter.resize_tensor_input(last, [1, 10])


class CustomOpsTest(unittest.TestCase):

    def test_functions_of_a_library_add_operators(self):
        library = ctypes.CDLL(str(BUILD / 'tests/plugins/libcustom_ops.so'), ctypes.RTLD_GLOBAL)
        address = ctypes.cast(library.RegisterDouble, ctypes.c_void_p).value
        value = np.array([[1, 2, 3, -4]], np.float32)
        for registerer in ('RegisterDouble', address, library.RegisterDouble):
            interpreter = InterpreterWithCustomOps(custom_op_registerers=[registerer],
                                                   model_content=custom_model())
            interpreter.allocate_tensors()
            self.assertEqual(run(interpreter, value).tolist(), [[2, 4, 6, -8]])

    def test_invalid_registerers_are_reported(self):
        with self.assertRaisesRegex(ValueError, "Looking up symbol 'unknown' failed with error '"):
            InterpreterWithCustomOps(custom_op_registerers=['unknown'], model_path=FLOAT)
        with self.assertRaisesRegex(ValueError, 'registerer is NULL'):
            InterpreterWithCustomOps(custom_op_registerers=[0], model_path=FLOAT)
        with self.assertRaisesRegex(RuntimeError, 'unresolved custom op: Double'):
            InterpreterWithCustomOps(model_content=custom_model()).allocate_tensors()
        self.assertIsInstance(InterpreterWithCustomOps(model_path=FLOAT), Interpreter)


class SignatureTest(unittest.TestCase):

    def test_a_model_lists_its_signatures(self):
        self.assertEqual(Interpreter(SIGNED).get_signature_list(),
                         {'serving_default': {'inputs': ['args_0'], 'outputs': ['output_0']}})
        self.assertEqual(Interpreter(TINY).get_signature_list(), {})

    def test_a_runner_computes_by_name(self):
        interpreter = allocated(SIGNED)
        value = random_input(interpreter)
        expected = run(interpreter, value)
        for key in (None, 'serving_default'):
            runner = Interpreter(SIGNED).get_signature_runner(key)
            self.assertTrue(np.array_equal(runner(args_0=value)['output_0'], expected))
        detail = runner.get_input_details()['args_0']
        self.assertEqual((detail['shape'].tolist(), detail['dtype']), ([1, 5, 32], np.float32))
        self.assertEqual(list(runner.get_output_details()), ['output_0'])

    def test_a_state_stays_between_runs(self):
        interpreter = Interpreter(model_content=signed_model())
        interpreter.share_state('first_in', 'first_out')
        runner = interpreter.get_signature_runner('first')
        value = np.array([[1, 2, 3, 4]], np.float32)
        self.assertEqual(runner(first_in=value), {})
        self.assertTrue(np.array_equal(interpreter.shared_state('first_in'), -value))
        self.assertEqual(runner(), {})
        self.assertTrue(np.array_equal(interpreter.shared_state('first_in'), value))
        interpreter.reset_shared_states()
        self.assertFalse(interpreter.shared_state('first_in').any())
        other = interpreter.get_signature_runner('second')
        with self.assertRaisesRegex(ValueError, 'expected 1 vs provided 0'):
            other()
        self.assertTrue(np.array_equal(other(second_in=value)['second_out'], -value))
        with self.assertRaisesRegex(RuntimeError, "state 'absent': expected a signature"):
            interpreter.share_state('absent', 'first_out')
        with self.assertRaisesRegex(ValueError, "found 'second_in'"):
            interpreter.shared_state('second_in')

    def test_a_runner_outlives_its_interpreter_and_reports_errors(self):
        runner = Interpreter(SIGNED).get_signature_runner()
        gc.collect()
        value = np.zeros((1, 5, 32), np.float32)
        self.assertEqual(list(runner(args_0=value)), ['output_0'])
        with self.assertRaisesRegex(ValueError, 'expected 1 vs provided 0'):
            runner()
        with self.assertRaisesRegex(ValueError, r'Invalid Input name \(other\)'):
            runner(other=value)
        with self.assertRaisesRegex(ValueError, 'Invalid signature_key'):
            Interpreter(SIGNED).get_signature_runner('absent')
        with self.assertRaisesRegex(ValueError, 'model has 0 Signatures'):
            Interpreter(TINY).get_signature_runner()


class DelegateTest(unittest.TestCase):

    def test_a_plugin_by_name_and_by_path_runs_nodes(self):
        value = random_input(allocated(FLOAT))
        plain = run(allocated(FLOAT), value)
        for library in ('npu_stub', f'{FOLDER.name}/site/deputy/lib/deputy/plugins/libdeputy_npu_stub.so'):
            delegate = load_delegate(library, {'min_nodes': 1})
            self.assertIsInstance(delegate, Delegate)
            interpreter = allocated(FLOAT, experimental_delegates=[delegate])
            del delegate
            self.assertTrue(np.allclose(run(interpreter, value), plain, atol=1e-4))
            report = interpreter.explain()
            self.assertEqual([entry['nodes'] for entry in report['delegates']], [16])
            self.assertEqual({node['run_by'] for node in report['nodes']}, {'npu_stub'})

    def test_reasons_for_unclaimed_nodes(self):
        interpreter = allocated(INT8, experimental_delegates=[load_delegate('npu_stub')])
        node = interpreter.explain()['nodes'][0]
        self.assertEqual((node['run_by'], node['reasons'][0]['reason']), ('CPU', 'QUANTIZATION'))

    def test_plugins_that_cannot_be_loaded_are_value_errors(self):
        with self.assertRaisesRegex(ValueError, 'Failed to load delegate from absent'):
            load_delegate('absent')
        with self.assertRaisesRegex(ValueError, '; delegates with a name: .*npu_stub'):
            load_delegate('absent')
        with self.assertRaises(ValueError) as raised:
            load_delegate('./absent.so')
        self.assertNotIn('delegates with a name', str(raised.exception))
        with self.assertRaisesRegex(ValueError, "unknown option 'nonsense'"):
            load_delegate('npu_stub', {'nonsense': 'x'})

    def test_options_of_an_applied_delegate_change(self):
        delegate = load_delegate('npu_stub', {'min_nodes': 1})
        interpreter = allocated(FLOAT, experimental_delegates=[delegate])
        value = random_input(interpreter)
        before = run(interpreter, value)
        self.assertEqual(delegate.get_option('time_limit_ms'), '1000')
        delegate.set_options({'time_limit_ms': 500})
        self.assertEqual(delegate.get_option('time_limit_ms'), '500')
        self.assertTrue(np.array_equal(run(interpreter, value), before))
        for options, text in (({'nonsense': 1}, "unknown option 'nonsense': expected one of"),
                              ({'min_nodes': 2}, "'min_nodes' is fixed when the delegate is created"),
                              ({'time_limit_ms': 0}, 'expected a whole number from 1 to 3600000')):
            with self.assertRaisesRegex(ValueError, text):
                delegate.set_options(options)
        with self.assertRaisesRegex(ValueError, "found 'nonsense'"):
            delegate.get_option('nonsense')
        self.assertEqual(delegate.get_option('time_limit_ms'), '500')

    def test_a_delegate_that_fails_is_an_exception_or_replaced_by_policy(self):
        value = random_input(allocated(FLOAT))
        plugin = str(BUILD / 'tests/plugins/libfailing.so')
        if not pathlib.Path(plugin).exists():
            self.skipTest('the delegates for tests are not built')
        self.assertIn(Interpreter(FLOAT).delegation_status()['policy'], ('tflite', 'hot'))
        hot = allocated(FLOAT, experimental_delegates=[load_delegate('npu_stub')],
                        delegate_policy='hot', validation=True)
        run(hot, value)
        status = hot.delegation_status()
        self.assertEqual((status['policy'], status['degraded']), ('hot', False))
        self.assertEqual(hot.findings(), [])
        with self.assertRaisesRegex(ValueError, 'delegate_policy'):
            Interpreter(FLOAT, delegate_policy='cold')

    def test_in_a_cycle_the_delegate_is_deleted_last(self):
        deleted = []
        delegate = Owned('delegate', deleted.append)
        interpreter = Owned('interpreter', deleted.append, delegate)
        cycle = [delegate, interpreter]
        cycle.append(cycle)
        del delegate, interpreter, cycle
        gc.collect()
        self.assertEqual(deleted, ['interpreter', 'delegate'])


class RunningTest(unittest.TestCase):

    def test_released_memory_comes_back_with_equal_results(self):
        for path in (FLOAT, INT8, STATEFUL):
            interpreter, other = allocated(path), allocated(path)
            value = random_input(interpreter)
            for _ in range(3):
                self.assertTrue(np.array_equal(run(interpreter, value), run(other, value)), path)
                interpreter.release_memory()

    def test_a_memory_budget_bounds_an_interpreter(self):
        run(allocated(FLOAT, memory_budget=1 << 30), random_input(allocated(FLOAT)))
        with self.assertRaisesRegex(RuntimeError, 'expected at most 1000 bytes'):
            allocated(FLOAT, memory_budget=1000)
        for budget in (-1, 0.5, 'all', 1 << 70):
            with self.assertRaisesRegex(ValueError, 'memory_budget: expected'):
                Interpreter(FLOAT, memory_budget=budget)

    def test_interpreters_of_one_model_share_it(self):
        def shared(first, second):
            return first._model.pointer == second._model.pointer

        path = str(pathlib.Path(FOLDER.name) / 'shared.tflite')
        pathlib.Path(path).write_bytes(pathlib.Path(FLOAT).read_bytes())
        os.utime(path, (1e9, 1e9))
        self.assertFalse(shared(Interpreter(path), Interpreter(path)), 'the file is too new to be shared')
        with unittest.mock.patch('deputy._model._MIN_AGE_NS', -1):
            first, second = Interpreter(path), Interpreter(path)
            self.assertTrue(shared(first, second))
            # Another file with the same size and modification time under the same path.
            other = pathlib.Path(path + '.new')
            other.write_bytes(pathlib.Path(FLOAT).read_bytes())
            os.utime(other, (1e9, 1e9))
            other.replace(path)
            self.assertFalse(shared(Interpreter(path), first))
        content = pathlib.Path(FLOAT).read_bytes()
        self.assertTrue(shared(Interpreter(model_content=content), Interpreter(model_content=content)))

    # Python clears weak references after the finalizer has run, so another thread can find a model
    # that is being deleted. Here the finalizer itself searches for it.
    def test_a_model_that_is_being_deleted_is_not_shared(self):
        found = []

        def delete(pointer):
            found.append(pointer)
            found.append(_model._shared('key', lambda: Owned('second', lambda pointer: None)))

        user = _model._shared('key', lambda: Owned('first', delete))
        self.assertIs(_model._shared('key', None)._pointer, user._pointer)
        del user
        gc.collect()
        self.assertEqual([found[0], found[1].pointer], ['first', 'second'])

    def test_a_hundred_thousand_inferences_do_not_grow_memory(self):
        interpreter = allocated(TINY)
        first, last = ends(interpreter)
        value = random_input(interpreter)

        def pages():
            return int(pathlib.Path('/proc/self/statm').read_text(encoding='ascii').split()[1])

        for i in range(100_000):
            interpreter.invoke()
            if i % 10 == 0:
                interpreter.set_tensor(first, value)
                interpreter.get_tensor(last)
            if i == 10_000:
                before = pages()
        self.assertLess(pages() - before, 256)

    def test_other_threads_run_during_invoke(self):
        interpreter = allocated(FLOAT)
        interval, seen, stop = sys.getswitchinterval(), [0], threading.Event()

        def count():
            while not stop.wait(0.0001):
                seen[0] += 1

        # With this switch interval, in seconds, the interpreter does not switch threads by itself:
        # the other thread runs only if invoke releases the global lock.
        sys.setswitchinterval(1000)
        thread = threading.Thread(target=count)
        try:
            thread.start()
            for _ in range(20_000):
                interpreter.invoke()
                if seen[0] >= 5:
                    break
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            thread.join()
        self.assertGreaterEqual(seen[0], 5)

    def test_threads_with_separate_interpreters_agree(self):
        value = random_input(allocated(FLOAT))
        results = [None] * 4

        def work(i):
            interpreter = allocated(FLOAT)
            for _ in range(50):
                results[i] = run(interpreter, value)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results[1:]:
            self.assertTrue(np.array_equal(result, results[0]))

    def test_a_program_for_tflite_runtime_runs_with_a_changed_import(self):
        program = '''
import sys
import numpy as np
import tflite_runtime.interpreter as tflite

interpreter = tflite.Interpreter(model_path=sys.argv[1], experimental_delegates=None, num_threads=1)
interpreter.allocate_tensors()
input_details, output_details = interpreter.get_input_details(), interpreter.get_output_details()
floating_model = input_details[0]['dtype'] == np.float32
height, width = input_details[0]['shape'][1], input_details[0]['shape'][2]
input_data = np.zeros((1, height, width, 1), np.float32 if floating_model else np.int8)
interpreter.set_tensor(input_details[0]['index'], input_data)
interpreter.invoke()
results = np.squeeze(interpreter.get_tensor(output_details[0]['index']))
print(results.argsort()[-5:][::-1], floating_model)
'''
        program = program.replace('tflite_runtime.interpreter', 'deputy.interpreter')
        for model, kind in ((FLOAT, 'True'), (INT8, 'False')):
            done = subprocess.run([sys.executable, '-c', program, model], capture_output=True,
                                  text=True, check=False,
                                  env=dict(os.environ, PYTHONPATH=f'{FOLDER.name}/site'))
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertRegex(done.stdout, rf'^\[\d( \d){{4}}\] {kind}$')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
