#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the back end in Triton's server: `make check-serving`.

    check_triton.py BUILD_FOLDER SERVING_FOLDER [--all]

prepare.sh installs the server in SERVING_FOLDER. --all runs the numbers of requests and of loads that
the back end promises, instead of a sample.
"""
import argparse
import importlib.util
import os
import pathlib
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bindings/python'))

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument('build', type=pathlib.Path)
PARSER.add_argument('serving', type=pathlib.Path)
PARSER.add_argument('--all', action='store_true', help='run all requests and loads')
OPTIONS, REST = PARSER.parse_known_args()
BUILD = OPTIONS.build.resolve()
os.environ['DEPUTY_LIBRARY'] = str(BUILD / 'libdeputy.so.1')

try:
    import numpy as np
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is missing: run make check-serving')
from deputy.interpreter import Interpreter
from triton import Client, RequestError, Server

DIGITS = (ROOT / 'examples/digits/digits_int8.tflite').read_bytes()
STATEFUL = (ROOT / 'tests/data/streams/svdf_i8.tflite').read_bytes()
ADD, MUL, STRING = 0, 18, 5
CLIENTS = 16
TWO_INSTANCES = 'instance_group [ { kind: KIND_CPU count: 2 } ]\n'
SERVER = None


def setUpModule():
    global SERVER
    SERVER = Server(OPTIONS.serving / 'triton/pytriton/tritonserver/bin/tritonserver', BUILD / 'triton',
                    {'DEPUTY_PLUGIN_PATH': str(BUILD)})


def tearDownModule():
    SERVER.stop()


def _writer():
    """Loads tests/tools/explain_test.py, which has a writer of model files."""
    spec = importlib.util.spec_from_file_location('explain_test', ROOT / 'tests/tools/explain_test.py')
    module = importlib.util.module_from_spec(spec)
    arguments, sys.argv = sys.argv, [sys.argv[0], str(BUILD)]
    spec.loader.exec_module(module)
    sys.argv = arguments
    return module


def binary_model(operator=ADD, signature=None):
    """Returns a model with c = operator(a, b) in float32, of shape [1,4]."""
    writer = _writer()
    table = writer.Table
    more = {} if signature is None else {'_7': list(signature)}
    tensors = [table(_0=[1, 4], _1=('b', 0), _3=name, **more) for name in (b'a', b'b', b'c')]
    graph = table(_0=tensors, _1=[0, 1], _2=[2], _3=[table(_0=('I', 0), _1=[0, 1], _2=[2])])
    code = table(_0=('b', operator), _2=('i', 1), _3=('i', operator))
    return bytes(writer.Writer(table(_0=('I', 3), _1=[code], _2=[graph], _4=[table()])).data)


def string_model():
    """Returns a model whose output y, of shape [3,1], has the strings of its input x, of shape [3]."""
    writer = _writer()
    table = writer.Table
    tensors = [table(_0=[3], _1=('b', STRING), _3=b'x'), table(_0=[3, 1], _1=('b', STRING), _3=b'y'),
               table(_0=[], _1=('b', 2), _2=('I', 1), _3=b'axis')]
    expand_dims = 70
    graph = table(_0=tensors, _1=[0], _2=[1], _3=[table(_0=('I', 0), _1=[0, 2], _2=[1])])
    code = table(_0=('b', expand_dims), _2=('i', 1), _3=('i', expand_dims))
    buffers = [table(), table(_0=(1).to_bytes(4, 'little'))]
    return bytes(writer.Writer(table(_0=('I', 3), _1=[code], _2=[graph], _4=buffers)).data)


def parameters(**values):
    return ''.join(f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}\n'
                   for key, value in values.items())


def pair(value):
    """Inputs of binary_model."""
    return {'a': np.full((1, 4), value, np.float32), 'b': np.arange(4, dtype=np.float32).reshape(1, 4)}


class Direct:
    """A model in an interpreter of this process."""

    def __init__(self, model):
        self.interpreter = Interpreter(model_content=model, num_threads=1)
        self.interpreter.allocate_tensors()
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()

    def run(self, inputs):
        for detail in self.inputs:
            self.interpreter.set_tensor(detail['index'], inputs[detail['name']])
        self.interpreter.invoke()
        return {detail['name']: self.interpreter.get_tensor(detail['index']) for detail in self.outputs}

    def items(self, count):
        """Returns random inputs, and the outputs for them."""
        random = np.random.default_rng(1)
        inputs = [{detail['name']: random.integers(-128, 128, detail['shape']).astype(detail['dtype'])
                   for detail in self.inputs} for _ in range(count)]
        return inputs, [self.run(each) for each in inputs]


def in_threads(count, function):
    """Calls function(number) in threads, and raises the first exception of one."""
    problems = []

    def call(number):
        try:
            function(number)
        except Exception as problem:  # pylint: disable=broad-exception-caught
            problems.append(problem)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


class Serving(unittest.TestCase):
    def setUp(self):
        self.client = Client(SERVER)
        self.loaded = []

    def tearDown(self):
        self.assertIsNone(SERVER.process.poll(), 'the server has ended')
        for name in self.loaded:
            self.client.unload(name)
        self.client.connection.close()

    def load(self, name, model, config=''):
        SERVER.write(name, model, config)
        self.client.load(name)
        self.loaded.append(name)

    def expect_equal(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)
            self.assertEqual(found[name].dtype, values.dtype)

    def expect_refusal(self, text, function, *arguments):
        with self.assertRaises(RequestError) as raised:
            function(*arguments)
        self.assertEqual(raised.exception.status, 400)
        self.assertIn(text, raised.exception.text)

    # ---- Protocols ------------------------------------------------------------------------------

    def test_metadata_is_that_of_the_model(self):
        self.load('digits', DIGITS)
        self.assertEqual(self.client.json('GET', '/v2/models/digits'), {
            'name': 'digits', 'versions': ['1'], 'platform': 'deputy',
            'inputs': [{'name': 'image', 'datatype': 'INT8', 'shape': [1, 28, 28, 1]}],
            'outputs': [{'name': 'Identity', 'datatype': 'INT8', 'shape': [1, 10]}]})
        self.load('open', binary_model(signature=(-1, 4)), 'max_batch_size: 0\n')
        self.assertEqual(self.client.json('GET', '/v2/models/open')['inputs'][0],
                         {'name': 'a', 'datatype': 'FP32', 'shape': [-1, 4]})

    def test_json_binary_and_grpc_equal_direct_calls(self):
        self.load('digits', DIGITS)
        inputs, outputs = Direct(DIGITS).items(8)
        for item, expected in zip(inputs, outputs):
            self.expect_equal(self.client.infer_json('digits', item), expected)
            self.expect_equal(self.client.infer('digits', item), expected)
        import tritonclient.grpc as grpc
        with grpc.InferenceServerClient(f'127.0.0.1:{SERVER.grpc}') as client:
            for item, expected in zip(inputs, outputs):
                tensor = grpc.InferInput('image', item['image'].shape, 'INT8')
                tensor.set_data_from_numpy(item['image'])
                result = client.infer('digits', [tensor])
                self.expect_equal({'Identity': result.as_numpy('Identity')}, expected)

    def test_strings(self):
        self.load('strings', string_model())
        reply = self.client.json('POST', '/v2/models/strings/infer', {'inputs': [
            {'name': 'x', 'shape': [3], 'datatype': 'BYTES', 'data': ['one', '', 'three']}]})
        self.assertEqual(reply['outputs'], [
            {'name': 'y', 'datatype': 'BYTES', 'shape': [3, 1], 'data': ['one', '', 'three']}])

    # ---- Refusals -------------------------------------------------------------------------------

    def test_wrong_requests_are_refused(self):
        self.load('open', binary_model(signature=(-1, 4)))
        wrong = {'a': np.zeros((2, 4), np.float32), 'b': np.zeros((3, 4), np.float32)}
        for infer in (self.client.infer, self.client.infer_json):
            self.expect_refusal("input 'a': expected [-1,4], found [2,4]; input 'b': expected [-1,4], found "
                                '[3,4], which the model does not accept: ', infer, 'open', wrong)
            self.expect_refusal("data-type is 'INT32', but model 'open' expects 'FP32'", infer, 'open',
                                {**pair(1), 'a': np.zeros((1, 4), np.int32)})
            self.expect_refusal("unexpected shape for input 'a'", infer, 'open',
                                {**pair(1), 'a': np.zeros((1, 5), np.float32)})
        self.expect_equal(self.client.infer('open', pair(1)), {'c': pair(1)['a'] + pair(1)['b']})

    def test_other_shapes_resize_the_model(self):
        self.load('open', binary_model(signature=(-1, 4)))
        for rows in (2, 1, 5, 2):
            values = np.random.default_rng(rows).uniform(size=(2, rows, 4)).astype(np.float32)
            self.expect_equal(self.client.infer('open', {'a': values[0], 'b': values[1]}),
                              {'c': values[0] + values[1]})

    def test_wrong_configurations_are_refused(self):
        model = binary_model()
        for config, text in (
                ('input [ { name: "a" data_type: TYPE_FP32 dims: [ 1, 5 ] } ]',
                 "input 'a': the configuration has the shape [1,5], the model [1,4]"),
                ('input [ { name: "z" data_type: TYPE_FP32 dims: [ 1, 4 ] } ]',
                 "the model has no input 'z'; it has 'a', 'b'"),
                (parameters(thread='2'), "unknown parameter 'thread'; there are delegate, isolate, policy"),
                (parameters(delegate='gpuu'), "parameter 'delegate': 'gpuu': ")):
            SERVER.write('wrong', model, config)
            self.expect_refusal(text, self.client.load, 'wrong')

    def test_damaged_models_are_refused(self):
        self.load('digits', DIGITS)
        inputs, outputs = Direct(DIGITS).items(1)
        step = 97 if OPTIONS.all else 1499
        for size in range(0, len(DIGITS) - 1000, step):
            SERVER.write('damaged', DIGITS[:size])
            self.expect_refusal('model.tflite: ', self.client.load, 'damaged')
        random = np.random.default_rng(3)
        for _ in range(200 if OPTIONS.all else 20):  # a damaged model may be valid
            damaged = bytearray(DIGITS)
            for position in random.integers(0, len(damaged), 20):
                damaged[position] = random.integers(0, 256)
            SERVER.write('damaged', bytes(damaged))
            try:
                self.client.load('damaged')
                self.client.infer('damaged', inputs[0])
            except RequestError:
                pass
        self.expect_equal(self.client.infer('digits', inputs[0]), outputs[0])

    # ---- Many requests --------------------------------------------------------------------------

    def test_many_clients_get_the_results_of_direct_calls(self):
        self.load('digits', DIGITS, TWO_INSTANCES)
        inputs, outputs = Direct(DIGITS).items(64)
        each = 10000 if OPTIONS.all else 200

        def run(number):
            client = Client(SERVER)
            for i in range(each):
                item = (number * each + i) % len(inputs)
                found = client.infer('digits', inputs[item])
                if not np.array_equal(found['Identity'], outputs[item]['Identity']):
                    raise AssertionError(f'request {i} of client {number}: expected '
                                         f'{outputs[item]}, found {found}')
            client.connection.close()

        in_threads(CLIENTS, run)
        stats = self.client.json('GET', '/v2/models/digits/stats')['model_stats'][0]
        self.assertEqual(stats['inference_count'], CLIENTS * each)
        self.assertEqual(stats['inference_stats']['success']['count'], CLIENTS * each)
        self.assertGreater(stats['inference_stats']['compute_infer']['ns'], 0)
        self.assertEqual(SERVER.metric('deputy_runs_total', model='digits'), CLIENTS * each)

    def test_batches_run_image_by_image(self):
        self.load('digits', DIGITS, 'max_batch_size: 8\ndynamic_batching { }\n' + TWO_INSTANCES)
        self.assertEqual(self.client.json('GET', '/v2/models/digits')['inputs'][0]['shape'], [-1, 28, 28, 1])
        inputs, outputs = Direct(DIGITS).items(24)

        def run(number):
            client = Client(SERVER)
            for size in (1, 3, 8):
                batch = {'image': np.concatenate([item['image'] for item in inputs[number:number + size]])}
                expected = np.concatenate([item['Identity'] for item in outputs[number:number + size]])
                np.testing.assert_array_equal(client.infer('digits', batch)['Identity'], expected)
            client.connection.close()

        in_threads(CLIENTS, run)

    def test_memory_is_flat_while_models_come_and_go(self):
        SERVER.write('digits', DIGITS, TWO_INSTANCES)
        inputs, _ = Direct(DIGITS).items(1)
        rounds = 200 if OPTIONS.all else 30
        sizes = []
        for _ in range(rounds):
            self.client.load('digits')
            self.client.infer('digits', inputs[0])
            self.client.unload('digits')
            sizes.append(SERVER.resident_bytes())
        growth = sizes[-1] - sizes[rounds // 3]
        print(f'{rounds} loads: {sizes[rounds // 3] >> 10} KiB after a third, {sizes[-1] >> 10} KiB at the end')
        self.assertLess(growth, (rounds - rounds // 3) * len(DIGITS) // 4)  # a leaked model is its file at least

    def test_model_is_replaced_without_a_failed_request(self):
        if not OPTIONS.all:
            # Triton 2.51 can crash while it ends an instance that has just run a request (docs/serving.md).
            self.skipTest('only with --all')
        self.load('replaced', binary_model(ADD), TWO_INSTANCES)
        expected = {ADD: pair(3)['a'] + pair(3)['b'], MUL: pair(3)['a'] * pair(3)['b']}
        seen, is_done = set(), threading.Event()

        def run(number):
            client = Client(SERVER)
            if number == 0:
                for i in range(50 if OPTIONS.all else 10):
                    SERVER.write('replaced', binary_model((MUL, ADD)[i % 2]), TWO_INSTANCES)
                    client.load('replaced')
                    found = client.infer('replaced', pair(3))['c']
                    np.testing.assert_array_equal(found, expected[(MUL, ADD)[i % 2]])
                is_done.set()
            while not is_done.is_set():
                found = client.infer('replaced', pair(3))['c']
                matches = [code for code, values in expected.items() if np.array_equal(found, values)]
                if not matches:
                    is_done.set()
                    raise AssertionError(f'found {found}')
                seen.update(matches)
            client.connection.close()

        try:
            in_threads(5, run)
        finally:
            is_done.set()
        self.assertEqual(seen, {ADD, MUL})

    # ---- Delegates and state --------------------------------------------------------------------

    def test_delegate_runs_nodes(self):
        self.load('delegated', binary_model(), parameters(delegate='npu_stub,min_nodes=1'))
        self.assertEqual(SERVER.metric('deputy_nodes', model='delegated', runner='npu_stub'), 1)
        self.assertEqual(SERVER.metric('deputy_nodes', model='delegated', runner='CPU'), 0)
        self.expect_equal(self.client.infer('delegated', pair(2)), {'c': pair(2)['a'] + pair(2)['b']})
        self.assertEqual(SERVER.metric('deputy_degraded_runs_total', model='delegated'), 0)

    def test_crashing_delegate_ends_only_its_own_process(self):
        delegate = f'{BUILD}/tests/plugins/libfaulty.so,fault=segv,in=invoke,call=3'
        self.load('crashing', binary_model(), parameters(delegate=delegate, isolate='none'))
        self.assertEqual(SERVER.metric('deputy_nodes', model='crashing', runner='CPU'), 0)
        for value in range(10):
            self.expect_equal(self.client.infer('crashing', pair(value)),
                              {'c': pair(value)['a'] + pair(value)['b']})
        self.assertGreater(SERVER.metric('deputy_degraded_runs_total', model='crashing'), 0)

    def test_sequences_have_state_of_their_own(self):
        self.load('stateful', STATEFUL, 'sequence_batching { direct { } }\n' + TWO_INSTANCES)
        inputs, _ = Direct(STATEFUL).items(6)
        sequences = {7: inputs, 8: inputs[::-1]}
        direct = {key: Direct(STATEFUL) for key in sequences}
        for i in range(6):
            for key, items in sequences.items():
                options = {'sequence_id': key, 'sequence_start': i == 0, 'sequence_end': i == 5}
                self.expect_equal(self.client.infer_json('stateful', items[i], options),
                                  direct[key].run(items[i]))
        first = Direct(STATEFUL).run(inputs[3])
        options = {'sequence_id': 7, 'sequence_start': True, 'sequence_end': True}
        self.expect_equal(self.client.infer_json('stateful', inputs[3], options), first)

    def test_requests_without_sequences_have_no_state(self):
        self.load('stateful', STATEFUL)
        inputs, _ = Direct(STATEFUL).items(2)
        for item in inputs:
            self.expect_equal(self.client.infer('stateful', item), Direct(STATEFUL).run(item))


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *REST], verbosity=2)
