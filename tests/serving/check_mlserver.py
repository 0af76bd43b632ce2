#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.mlserver in MLServer: `make check-serving-all`.

    check_mlserver.py BUILD_FOLDER
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument('build', type=pathlib.Path)
OPTIONS, REST = PARSER.parse_known_args()
ROOT = pathlib.Path(__file__).resolve().parents[2]
BINDINGS = ROOT / 'bindings/python'
sys.path.insert(0, str(BINDINGS))
os.environ['DEPUTY_LIBRARY'] = str(OPTIONS.build.resolve() / 'libdeputy.so.1')

try:
    import numpy as np
    import mlserver
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is missing: run make check-serving-all')
from deputy.batch import Runner
from triton import Client, RequestError, free_ports

MODEL = ROOT / 'examples/digits/digits_int8.tflite'
STREAM = ROOT / 'tests/data/streams/svdf_i8.tflite'


class MLServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='deputy-mlserver-'))
        cls.http, grpc, metrics = free_ports(3)
        (cls.folder / 'settings.json').write_text(json.dumps({
            'host': '127.0.0.1', 'http_port': cls.http, 'grpc_port': grpc, 'metrics_port': metrics,
            'parallel_workers': 0}))
        cls.add('digits', MODEL, {'instances': 2})
        cls.add('batched', MODEL, {'delegates': [['npu_stub', {'min_nodes': 1}]]}, max_batch_size=8,
                max_batch_time=0.01)
        cls.add('stream', STREAM, {})
        program = pathlib.Path(sys.executable).parent / 'mlserver'
        environment = {**os.environ, 'PYTHONPATH': str(BINDINGS), 'DEPUTY_PLUGIN_PATH': str(OPTIONS.build.resolve())}
        cls.log = (cls.folder / 'log').open('w')
        # pylint: disable-next=consider-using-with
        cls.process = subprocess.Popen([program, 'start', cls.folder], stdout=cls.log, stderr=subprocess.STDOUT,
                                       env=environment)
        deadline = time.monotonic() + 60
        while not cls.is_ready() and time.monotonic() < deadline and cls.process.poll() is None:
            time.sleep(0.2)

    @classmethod
    def add(cls, name, model, extra, **settings):
        folder = cls.folder / name
        folder.mkdir()
        (folder / 'model-settings.json').write_text(json.dumps({
            'name': name, 'implementation': 'deputy.mlserver.DeputyModel',
            'parameters': {'uri': str(model), 'extra': extra}, **settings}))

    @classmethod
    def is_ready(cls):
        client = Client(cls)
        try:
            client.call('GET', '/v2/health/ready')
            return True
        except (OSError, RequestError):
            return False
        finally:
            client.connection.close()

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(30)
        cls.log.close()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.client = Client(self)
        self.assertIsNone(self.process.poll(), (self.folder / 'log').read_text()[-2000:])

    def tearDown(self):
        self.client.connection.close()

    def expect_equal(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)

    def items(self, count):
        random = np.random.default_rng(0)
        return [{'image': random.integers(-128, 128, (1, 28, 28, 1)).astype(np.int8)} for _ in range(count)]

    def test_metadata_is_that_of_the_model(self):
        found = self.client.json('GET', '/v2/models/digits')
        self.assertEqual([(each['name'], each['datatype'], each['shape']) for each in found['inputs'] + found['outputs']],
                         [('image', 'INT8', [1, 28, 28, 1]), ('Identity', 'INT8', [1, 10])])

    def test_results_equal_direct_calls(self):
        runner = Runner(MODEL)
        for item in self.items(8):
            self.expect_equal(self.client.infer_json('digits', item), runner.run_one(item).get())

    def test_rows_of_a_request_run_one_by_one(self):
        items = self.items(3)
        expected = [Runner(MODEL).run_one(item).get()['Identity'] for item in items]
        found = self.client.infer_json('digits', {'image': np.concatenate([item['image'] for item in items])})
        self.expect_equal(found, {'Identity': np.concatenate(expected)})

    def test_requests_that_the_server_joins_are_separated(self):
        items = self.items(16)
        expected = [result.get() for result in Runner(MODEL).run(items)]
        problems = []

        def call(number):
            client = Client(self)
            try:
                self.expect_equal(client.infer_json('batched', items[number]), expected[number])
            except Exception as problem:  # pylint: disable=broad-exception-caught
                problems.append(problem)
            client.connection.close()

        threads = [threading.Thread(target=call, args=(number,)) for number in range(len(items))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(problems, [])

    def test_state_does_not_last(self):
        runner = Runner(STREAM)
        name, info = next(iter(runner.inputs.items()))
        item = {name: np.ones(info.shape, info.dtype)}
        for _ in range(2):
            self.expect_equal(self.client.infer_json('stream', item), runner.run_one(item).get())

    def test_wrong_requests_are_refused(self):
        for shape, kind in (((1, 28, 27, 1), np.int8), ((1, 28, 28, 1), np.int32)):
            with self.assertRaises(RequestError) as raised:
                self.client.infer_json('digits', {'image': np.zeros(shape, kind)})
            self.assertEqual(raised.exception.status, 400)
            self.assertIn("input: 'image'", raised.exception.text)
        with self.assertRaises(RequestError) as raised:
            self.client.infer_json('digits', {'photo': np.zeros((1, 28, 28, 1), np.int8)})
        self.assertEqual(raised.exception.status, 400)


if __name__ == '__main__':
    print(f'MLServer {mlserver.__version__}')
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
