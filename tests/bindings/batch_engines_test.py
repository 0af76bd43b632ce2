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
    tagged = collections.namedtuple('Tagged', 'tag value')
    sys.modules['apache_beam'].pvalue = types.SimpleNamespace(TaggedOutput=tagged)
    sys.modules['apache_beam.metrics'].Metrics = types.SimpleNamespace(counter=Counters)
    base = sys.modules['apache_beam.ml.inference.base']
    base.ModelHandler, base.PredictionResult = Handler, PredictionResult
    sys.modules['apache_beam.ml.inference'].base = base


install_beam()
from deputy import beam  # noqa: E402, with the test double above
from deputy import ray, spark  # noqa: E402, need no package of the engines
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
        fields = [line.partition(': ')[::2] for line in lines]
        required = {value for name, value in fields if name == 'Requires-Dist'}
        self.assertEqual([value for value in required if '; extra == ' not in value], ['numpy'])
        for extra, package in (('beam', 'apache-beam'), ('ray', 'ray[data]'), ('spark', 'pyspark[sql]')):
            self.assertIn(f'{package}; extra == "{extra}"', required)
            self.assertIn(('Provides-Extra', extra), fields)


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
        keys = iter('ab')
        changing = ray.Predictor(FLOAT, columns='image', keep=[], finish=lambda outputs: {next(keys): 1})
        with self.assertRaisesRegex(ValueError, r"finish: expected the keys \['a'\] of the first row, found \['b'\]"):
            changing({'image': [batch['image'][0]] * 2})
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


class Frame:
    """A test double of a DataFrame of pandas: columns by name, whose cells are compared with ==."""

    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, name):
        return self.columns[name]


class Accumulator:
    """A test double of an accumulator of Spark."""

    def __init__(self, value, parameter):
        self.value, self._parameter = parameter.zero(value), parameter

    def add(self, term):
        self.value = self._parameter.addInPlace(self.value, term)


def to_many_types(outputs):
    scores = outputs['Identity'][0]
    return {'digit': scores.argmax(), 'sum': float(scores.sum()), 'text': 'x', 'flag': True, 'number': 7,
            'scores': scores, 'matrix': scores.reshape(2, 5), 'bytes': b'b'}


class SparkTest(unittest.TestCase):

    def setUp(self):
        spark._opened.clear()
        items, self.expected = digits(4)
        self.frames = [Frame({'image': items[:3], 'id': [0, 1, 2]}), Frame({'image': [None, items[3]], 'id': [3, 4]})]

    def run_mapper(self, model):
        return [frame.columns for frame in pickle.loads(pickle.dumps(model))(iter(self.frames))]

    def test_frames_have_the_kept_columns_outputs_as_lists_and_errors(self):
        first, second = self.run_mapper(spark.mapper(FLOAT, columns='image', keep=['id']))
        self.assertEqual(list(first), ['id', 'Identity', 'error'])
        self.assertEqual((first['id'], first['error'], second['id']), ([0, 1, 2], [''] * 3, [3, 4]))
        self.assertEqual(first['Identity'], [value[0].tolist() for value in self.expected[:3]])
        self.assertEqual(second['Identity'], [[0.0] * 10, self.expected[3][0].tolist()])
        self.assertEqual((second['error'][0][:7], second['error'][1]), ('input: ', ''))

    def test_values_and_schema_have_types_of_spark(self):
        model = spark.mapper(FLOAT, columns='image', keep=['id'], finish=to_many_types, errors='dead')
        columns = self.run_mapper(model)[0]
        self.assertEqual({name: type(values[0]) for name, values in columns.items()}, {
            'id': int, 'digit': int, 'sum': float, 'text': str, 'flag': bool, 'number': int, 'scores': list, 'matrix': list,
            'bytes': bytes, 'dead': str})
        self.assertEqual(columns['matrix'], columns['scores'])
        field = types.SimpleNamespace(dataType=types.SimpleNamespace(simpleString=lambda: 'decimal(10,2)'))
        self.assertEqual(model.schema(types.SimpleNamespace(schema={'id': field})),
                         '`id` decimal(10,2), `digit` bigint, `sum` double, `text` string, `flag` boolean, '
                         '`number` bigint, `scores` array<float>, `matrix` array<float>, `bytes` binary, `dead` string')
        self.assertEqual(spark.mapper(INT8, columns='image').schema(None), '`Identity` array<tinyint>, `error` string')

    def test_a_type_without_a_column_or_an_existing_column_is_an_error(self):
        with self.assertRaisesRegex(ValueError, 'expected a number, a text'):
            spark.mapper(FLOAT, columns='image', finish=lambda outputs: 1j).schema(None)
        field = types.SimpleNamespace(dataType=types.SimpleNamespace(simpleString=lambda: 'int'))
        table = types.SimpleNamespace(schema={'Identity': field})
        with self.assertRaisesRegex(ValueError, "column 'Identity' exists"):
            spark.mapper(FLOAT, columns='image', keep=['Identity']).schema(table)
        with self.assertRaisesRegex(ValueError, "column 'Identity' exists"):
            self.run_mapper(spark.mapper(FLOAT, columns='image', errors='Identity'))

    def test_tasks_of_a_process_share_one_runner(self):
        model = spark.mapper(FLOAT, columns='image')
        self.run_mapper(model)
        opened = dict(spark._opened)
        self.run_mapper(model)
        self.assertEqual((list(opened.values()), len(opened)), (list(spark._opened.values()), 1))
        self.run_mapper(spark.mapper(FLOAT, columns='image'))
        self.assertEqual(len(spark._opened), 1)
        self.assertNotEqual(list(opened), list(spark._opened))

    def test_the_accumulator_receives_each_count_once(self):
        context = types.SimpleNamespace(accumulator=Accumulator)
        total = spark.report_accumulator(context)
        model = spark.mapper(FLOAT, columns='image', reports=total)
        for _ in range(2):
            list(model(iter(self.frames)))
        self.assertEqual((total.value.items, total.value.failed), (10, 2))
        self.assertEqual(spark._ReportParam().zero(total.value), Report())  # the zero for workers of a later action


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
