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

from batch_test import add_model, pair
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
from deputy import ray  # noqa: E402, needs no package before report_collector()
from deputy.batch import ItemError, Report, Runner, merge_reports  # noqa: E402


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
        self.assertEqual(required, ['numpy', 'apache-beam; extra == "beam"', 'ray[data]; extra == "ray"'])
        self.assertEqual([line.partition(': ')[2] for line in lines if line.startswith('Provides-Extra')],
                         ['beam', 'ray'])


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


def to_class(outputs):
    return {'digit': int(outputs['Identity'].argmax()), 'name': 'one'}


class Actor:
    """A test double of an actor's handle."""

    def __init__(self):
        self.reports = []
        self.add = types.SimpleNamespace(remote=self.reports.append)


class RayTest(unittest.TestCase):

    def batch(self, count, **columns):
        items, expected = digits(count)
        return {'image': np.concatenate(items), 'id': np.arange(count), **columns}, expected

    def test_outputs_are_columns_without_the_first_dimension(self):
        batch, expected = self.batch(3)
        found = ray.Predictor(FLOAT, columns='image')(batch)
        self.assertEqual(list(found), ['image', 'id', 'Identity', 'error'])
        np.testing.assert_array_equal(found['Identity'], np.concatenate(expected))
        self.assertEqual(found['Identity'].dtype, np.float32)
        self.assertEqual((found['id'].tolist(), found['error'].tolist()), ([0, 1, 2], [''] * 3))

    def test_only_columns_to_keep_are_kept_and_the_error_column_has_the_given_name(self):
        batch, _ = self.batch(2)
        found = ray.Predictor(FLOAT, columns='image', keep=['id'], errors='dead', finish=to_class)(batch)
        self.assertEqual(sorted(found), ['dead', 'digit', 'id', 'name'])
        self.assertEqual(found['digit'].tolist(), [int(value.argmax()) for value in self.batch(2)[1]])

    def test_several_inputs_come_from_their_columns(self):
        pairs = [pair(seed) for seed in range(3)]
        batch = {'left': np.stack([each['a'] for each in pairs]), 'right': np.stack([each['b'] for each in pairs])}
        found = ray.Predictor(add_model(), columns={'b': 'right', 'a': 'left'})(batch)
        np.testing.assert_array_equal(found['sum'], batch['left'] + batch['right'])
        found = ray.Predictor(add_model(), columns={'a': 'left', 'b': 'left'})(batch)
        np.testing.assert_array_equal(found['sum'], 2 * batch['left'])

    def test_a_row_with_an_error_has_its_text_and_the_result_of_zeros(self):
        batch, expected = self.batch(2)
        batch['image'] = np.array([batch['image'][0], None, batch['image'][1]], object)
        batch['id'] = np.arange(3)
        found = ray.Predictor(FLOAT, columns='image')(batch)
        np.testing.assert_array_equal(found['Identity'], [expected[0][0], np.zeros(10), expected[1][0]])
        self.assertEqual([bool(text) for text in found['error']], [False, True, False])
        self.assertIn('input: ', found['error'][1])
        found = ray.Predictor(FLOAT, columns='image', finish=to_class)({'image': [None, None]})
        self.assertEqual((found['digit'].tolist(), found['name'].tolist()), ([0, 0], ['one'] * 2))

    def test_a_result_that_is_no_dictionary_is_the_column_result(self):
        batch, _ = self.batch(2)
        found = ray.Predictor(FLOAT, columns='image', keep=[], finish=len)(batch)
        self.assertEqual({name: values.tolist() for name, values in found.items()}, {'result': [1, 1], 'error': [''] * 2})

    def test_an_existing_column_is_not_replaced(self):
        batch, _ = self.batch(1)
        for wrong in ('Identity', 'error'):
            with self.assertRaisesRegex(ValueError, f"column '{wrong}' exists"):
                ray.Predictor(FLOAT, columns='image')({**batch, wrong: np.zeros(1)})

    def test_an_empty_batch_has_the_same_columns(self):
        found = ray.Predictor(FLOAT, columns='image')({'image': []})
        self.assertEqual(sorted(found), ['Identity', 'error', 'image'])

    def test_a_model_that_cannot_be_opened_fails_the_constructor(self):
        with self.assertRaises(ValueError):
            ray.Predictor('/absent.tflite', columns='image')

    def test_the_collector_receives_each_count_once(self):
        batch, _ = self.batch(2)
        actor = Actor()
        predictor = ray.Predictor(FLOAT, columns='image', reports=actor)
        predictor(batch)
        predictor(batch)
        self.assertEqual([report.items for report in actor.reports], [2, 2])
        collector = ray._Collector()
        for report in actor.reports:
            collector.add(report)
        self.assertEqual(collector.total(), merge_reports([Report(), *actor.reports]))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
