#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.mlserver with a double of MLServer, which is not installed here. tests/serving has the test with
MLServer itself.

    mlserver_test.py BUILD_FOLDER
"""
import asyncio
import collections
import sys
import types
import unittest

from batch_test import WRONG, add_model, pair
from python_package import INT8, allocated, random_input, run

import numpy as np

Tensor = collections.namedtuple('Tensor', 'name datatype array')


class Record(types.SimpleNamespace):
    """An object with the attributes that its constructor received."""


class MLModel:
    """The part of MLServer's class that deputy.mlserver uses."""

    def __init__(self, uri, extra=None):
        self._settings = Record(uri=uri, parameters=Record(extra=extra))
        self.name, self.version, self.inputs, self.outputs = 'm', '1', [], []


class RefusalError(Exception):
    pass


class ServerError(Exception):
    pass


async def uri_of(settings, wellknown_filenames):
    assert wellknown_filenames == ['model.tflite']
    return settings.uri


def install():
    codec = Record(decode_input=lambda tensor: tensor.array,
                   encode_output=lambda name, array: Tensor(name, str(array.dtype), array))
    modules = {'mlserver': {'MLModel': MLModel}, 'mlserver.codecs': {'NumpyCodec': codec},
               'mlserver.errors': {'InferenceError': RefusalError, 'MLServerError': ServerError},
               'mlserver.types': {'InferenceRequest': Record, 'InferenceResponse': Record, 'MetadataTensor': Record},
               'mlserver.utils': {'get_model_uri': uri_of}}
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)


install()
from deputy.mlserver import DeputyModel  # pylint: disable=wrong-import-position


class MLServerTest(unittest.TestCase):
    def load(self, uri, extra=None):
        model = DeputyModel(uri, extra)
        self.assertTrue(asyncio.run(model.load()))
        self.addCleanup(lambda: asyncio.run(model.unload()))
        return model

    def predict(self, model, inputs):
        request = Record(inputs=[Tensor(name, str(array.dtype), array) for name, array in inputs.items()])
        response = asyncio.run(model.predict(request))
        self.assertEqual((response.model_name, response.model_version), ('m', '1'))
        return {tensor.name: tensor.array for tensor in response.outputs}

    def expect_equal(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)

    def test_metadata_is_that_of_the_model(self):
        model = self.load(add_model())
        self.assertEqual([(each.name, each.datatype, each.shape) for each in model.inputs],
                         [('a', 'float32', [1, 4]), ('b', 'float32', [1, 4])])
        self.assertEqual([each.name for each in model.outputs], ['sum'])

    def test_result_equals_a_direct_call(self):
        model = self.load(INT8)
        interpreter = allocated(INT8)
        detail = interpreter.get_input_details()[0]
        for seed in range(3):
            item = random_input(interpreter, seed)
            expected = {interpreter.get_output_details()[0]['name']: run(interpreter, item)}
            self.expect_equal(self.predict(model, {detail['name']: item}), expected)

    def test_rows_run_one_by_one(self):
        model = self.load(add_model(), {'instances': 2})
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        self.expect_equal(self.predict(model, {'a': a, 'b': a * a}), {'sum': a + a * a})

    def test_model_without_rows_runs_whole_requests(self):
        model = self.load(add_model(shape=(2, 4)))
        a = np.arange(8, dtype=np.float32).reshape(2, 4)
        self.expect_equal(self.predict(model, {'a': a, 'b': a}), {'sum': 2 * a})

    def test_wrong_inputs_are_refusals(self):
        model = self.load(add_model())
        good = pair()['a'].reshape(1, 4)
        for inputs, text in (({'a': good}, 'input: expected'),
                             ({'a': good[:, :3], 'b': good}, "input: 'a'"),
                             ({'a': good.astype(np.int32), 'b': good}, "input: 'a'"),
                             ({'a': np.concatenate([good, good]), 'b': good}, 'expected one number of items'),
                             ({'a': good[:0], 'b': good[:0]}, 'expected one number of items')):
            with self.assertRaisesRegex(RefusalError, text):
                self.predict(model, inputs)
        self.expect_equal(self.predict(model, {'a': good, 'b': good}), {'sum': 2 * good})

    def test_options_are_those_of_the_runner(self):
        with self.assertRaises(TypeError):
            self.load(add_model(), {'thread': 2})
        good = pair()['a'].reshape(1, 4)
        delegates = [WRONG, ['npu_stub', {'min_nodes': 1}]]
        model = self.load(add_model(), {'delegates': delegates})
        found = self.predict(model, {'a': good, 'b': good})['sum']  # the first delegate's sum is 1.1 times too large
        np.testing.assert_allclose(found, 2.2 * good, rtol=1e-5)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
