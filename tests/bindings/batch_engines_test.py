#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.beam, deputy.ray and deputy.spark with test doubles of the engines, which are not installed here.
tests/engines has the tests with the engines themselves.

    batch_engines_test.py BUILD_FOLDER
"""
import collections
import pickle
import sys
import types
import unittest
import zipfile

from python_package import FLOAT, INT8, WHEEL, allocated, random_input, run

import numpy as np


class Namespace(types.ModuleType):
    """A module whose unknown attributes are empty classes."""

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return type(name, (), {})


PredictionResult = collections.namedtuple('PredictionResult', 'example inference model_id')


class Handler:
    """The part of Beam's ModelHandler that deputy.beam uses."""

    def __init__(self, **settings):
        self.settings = settings

    def __class_getitem__(cls, types_):
        return cls


class Counters:
    values = collections.Counter()

    def __init__(self, namespace, name):
        self.name = (namespace, name)

    def inc(self, number):
        Counters.values[self.name] += number


def install_beam():
    names = ('apache_beam', 'apache_beam.metrics', 'apache_beam.ml', 'apache_beam.ml.inference',
             'apache_beam.ml.inference.base')
    for name in names:
        sys.modules[name] = Namespace(name)
    sys.modules['apache_beam'].pvalue = types.SimpleNamespace(TaggedOutput=collections.namedtuple('Tagged', 'tag value'))
    sys.modules['apache_beam.metrics'].Metrics = types.SimpleNamespace(counter=Counters)
    base = sys.modules['apache_beam.ml.inference.base']
    base.ModelHandler, base.PredictionResult = Handler, PredictionResult
    sys.modules['apache_beam.ml.inference'].base = base


install_beam()
from deputy import beam  # noqa: E402, with the test double above
from deputy.batch import ItemError, Runner  # noqa: E402


def digits(count):
    interpreter = allocated(FLOAT)
    items = [random_input(interpreter, seed) for seed in range(count)]
    return items, [run(interpreter, item) for item in items]


class ExtrasTest(unittest.TestCase):

    def test_the_wheel_installs_an_engine_only_on_request(self):
        with zipfile.ZipFile(WHEEL) as archive:
            name = next(name for name in archive.namelist() if name.endswith('METADATA'))
            lines = archive.read(name).decode().split('\n\n')[0].splitlines()
        required = [line.partition(': ')[2] for line in lines if line.startswith('Requires-Dist: ')]
        self.assertEqual(required, ['numpy', 'apache-beam; extra == "beam"'])
        self.assertEqual([line for line in lines if line.startswith('Provides-Extra')], ['Provides-Extra: beam'])


class BeamTest(unittest.TestCase):

    def setUp(self):
        Counters.values.clear()

    def test_each_element_has_a_prediction_and_errors_are_those_of_the_element(self):
        items, expected = digits(2)
        handler = pickle.loads(pickle.dumps(beam.ModelHandler(FLOAT)))
        batch = [items[0], None, {'image': items[1]}]
        predictions = handler.run_inference(batch, handler.load_model())
        self.assertEqual([prediction.example is element for prediction, element in zip(predictions, batch)], [True] * 3)
        np.testing.assert_array_equal(predictions[0].inference['Identity'], expected[0])
        np.testing.assert_array_equal(predictions[2].inference['Identity'], expected[1])
        self.assertEqual((predictions[0].model_id, predictions[1].inference.stage), (FLOAT, 'input'))

    def test_counters_are_those_of_the_report_once_per_item(self):
        items, _ = digits(1)
        handler = beam.ModelHandler(FLOAT, delegates=[('npu_stub', {'min_nodes': 1})], verification='always')
        runner = handler.load_model()
        for _ in range(2):
            handler.run_inference([items[0], None], runner)
        values = {name: number for (space, name), number in Counters.values.items() if space == 'deputy'}
        times = {name: values.pop(f'{name}_us') for name in ('run', 'open')}
        self.assertTrue(all(number > 0 for number in times.values()), times)
        values.pop('read_us', None)
        self.assertEqual(values, {'items': 4, 'failed': 2, 'verified': 2, 'node_runs_npu_stub': 32})

    def test_with_errors_raise_the_batch_fails_and_is_counted(self):
        items, _ = digits(1)
        handler = beam.ModelHandler(FLOAT, errors='raise')
        with self.assertRaises(ItemError):
            handler.run_inference([items[0], None], handler.load_model())
        self.assertEqual(Counters.values['deputy', 'failed'], 1)
        with self.assertRaisesRegex(ValueError, "errors: expected 'results' or 'raise', found 'drop'"):
            beam.ModelHandler(FLOAT, errors='drop')

    def test_bounds_and_sharing_are_passed_to_beam(self):
        self.assertEqual(beam.ModelHandler(FLOAT).settings, {
            'min_batch_size': 1, 'max_batch_size': 64, 'max_batch_duration_secs': None, 'large_model': False,
            'model_copies': None})
        self.assertEqual(beam.ModelHandler(FLOAT, min_batch_size=2, max_batch_size=3, max_batch_duration_secs=4,
                                           share_model_across_processes=True, model_copies=5).settings, {
            'min_batch_size': 2, 'max_batch_size': 3, 'max_batch_duration_secs': 4, 'large_model': True,
            'model_copies': 5})

    def test_bytes_of_a_batch(self):
        handler = beam.ModelHandler(FLOAT)
        self.assertEqual(handler.get_metrics_namespace(), 'deputy')
        array = np.zeros(3, np.float32)
        self.assertEqual(handler.get_num_bytes([array, {'a': array, 'b': array}, 'path', b'bytes', None]),
                         12 + 24 + 4 + 5)

    def test_a_new_model_path_replaces_the_model_and_keeps_the_settings(self):
        handler = beam.ModelHandler(FLOAT, finish=len)
        handler.update_model_path(None)
        self.assertEqual(handler.load_model().model, FLOAT)
        handler.update_model_path(INT8)
        runner = handler.load_model()
        item = np.zeros((28, 28, 1), np.int8)
        self.assertEqual(handler.run_inference([item], runner)[0][1:], (1, INT8))

    def test_errors_are_split_with_and_without_keys(self):
        good, bad = PredictionResult(1, {}, None), PredictionResult(2, ItemError('read', 'x'), None)
        for element in (good, ('key', good)):
            self.assertEqual(list(beam._Split().process(element)), [element])
        for element in (bad, ('key', bad)):
            self.assertEqual(list(beam._Split().process(element)), [('errors', element)])

    def test_each_load_is_a_runner_of_its_own(self):
        handler = beam.ModelHandler(FLOAT)
        first, second = handler.load_model(), handler.load_model()
        self.assertIsInstance(first, Runner)
        self.assertIsNot(first, second)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
