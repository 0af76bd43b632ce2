#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package: conversion of numbers, texts and arrays, signatures, and the texts of
exceptions. Expected texts and types are those of ai_edge_litert 2.3 unless the test states otherwise.

    python_values_test.py BUILD_FOLDER
"""
import ctypes
import pathlib
import sys
import tempfile
import unittest

from python_package import (BUILD, FLOAT, STRING, TINY, allocated, run, custom_model, ends,
                            random_input, signed_model)

import numpy as np
from deputy import _tensors
from deputy._native import IntArrayPointer, Tensor
from deputy.interpreter import (Interpreter, InterpreterWithCustomOps, SignatureRunner,
                                load_delegate)

OPERATORS = ctypes.CDLL(str(BUILD / 'tests/plugins/libcustom_ops.so'))
FOLDER = tempfile.TemporaryDirectory()


def resident_kilobytes():
    return int(pathlib.Path('/proc/self/statm').read_text(encoding='ascii').split()[1]) * 4


class NumberTest(unittest.TestCase):

    def test_an_index_beyond_32_bits_is_a_type_error(self):
        interpreter = allocated(FLOAT)
        first = ends(interpreter)[0]
        value = random_input(interpreter)
        for beyond in (2**32, 2**32 + first, -2**31 - 1, 1.0, '0', None, np.float32(0)):
            for call in (lambda i: interpreter.get_tensor(i),
                         lambda i: interpreter.get_tensor(first, i),
                         lambda i: interpreter.set_tensor(i, value),
                         lambda i: interpreter.tensor(i),
                         lambda i: interpreter.resize_tensor_input(i, [1, 28, 28, 1]),
                         lambda i: interpreter.get_tensor_details(i),
                         lambda i: interpreter._get_tensor_details(i, 0),
                         lambda i: interpreter._get_tensor_details(0, i),
                         lambda i: interpreter._get_op_details(i)):
                with self.assertRaises(TypeError):
                    call(beyond)
        for good in (first, np.int64(first), np.uint8(first)):
            self.assertEqual(interpreter.get_tensor(good).shape, (1, 28, 28, 1))

    def test_an_index_out_of_range_is_a_value_error(self):
        interpreter = allocated(FLOAT)
        count = len(interpreter.get_tensor_details())
        for call, text in (
                (lambda: interpreter.get_tensor(-1), 'Invalid tensor index -1 exceeds max tensor index'),
                (lambda: interpreter.get_tensor(0, 1),
                 'Invalid subgraph index 1 exceeds max subgraph index 1'),
                (lambda: interpreter.get_tensor_details(1),
                 'subgraph_index is out of range: 1 for the model, which has 1 subgraphs.'),
                (lambda: interpreter.get_tensor_details(-1),
                 'subgraph_index is out of range: -1 for the model, which has 1 subgraphs.'),
                (lambda: interpreter._get_op_details(10**6), 'Invalid node index')):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertTrue(str(caught.exception).startswith(text), caught.exception)
        self.assertGreater(count, 0)

    def test_an_extent_beyond_32_bits_is_an_overflow_error(self):
        interpreter = Interpreter(FLOAT)
        first = ends(interpreter)[0]
        for shape in ([2**32 + 2, 28, 28, 1], np.array([2**32 - 1, 28, 28, 1], np.uint32),
                      [2**63, 28, 28, 1], [2**64 + 1, 28, 28, 1], [-2**31 - 1, 28, 28, 1]):
            with self.assertRaises(OverflowError):
                interpreter.resize_tensor_input(first, shape)
        for shape in (3, [[1, 28, 28, 1]], ['1', '28', '28', '1'], [1, None]):
            with self.assertRaises(ValueError):
                interpreter.resize_tensor_input(first, shape)
        for shape in ([-1, 28, 28, 1], [2**31 - 1] * 4, [1] * 100_000):
            with self.assertRaises(RuntimeError):
                interpreter.resize_tensor_input(first, shape)
                interpreter.allocate_tensors()
        self.assertEqual(interpreter.get_input_details()[0]['index'], first)

    def test_a_signature_checks_the_shapes_of_its_values(self):
        runner = Interpreter(model_content=signed_model()).get_signature_runner('first')
        with self.assertRaises(OverflowError):
            runner(first_in=np.broadcast_to(np.float32(1), (2**32 + 1, 4)))
        with self.assertRaises(ValueError):
            runner(first_in=np.zeros((1, 4), np.int32))
        self.assertEqual(runner(first_in=np.ones((1, 4), np.float32))['first_out'].tolist(),
                         [[-1] * 4])

    def test_a_number_of_threads_beyond_32_bits_is_a_type_error(self):
        for beyond in (2**31, 2**32 + 1, 2**64):
            with self.assertRaises(TypeError):
                Interpreter(FLOAT, num_threads=beyond)
        Interpreter(FLOAT, num_threads=2**31 - 1)


class TextTest(unittest.TestCase):

    def test_texts_with_nul_are_value_errors(self):
        for call in (lambda: Interpreter(FLOAT + '\0zz'),
                     lambda: Interpreter((FLOAT + '\0zz').encode()),
                     lambda: Interpreter(pathlib.Path(FLOAT + '\0zz')),
                     lambda: load_delegate('npu_stub\0zz'),
                     lambda: load_delegate('npu_stub', {'min_nodes': '1\0zz'}),
                     lambda: load_delegate('npu_stub', {'min_nodes\0zz': '1'}),
                     lambda: Interpreter(model_content=signed_model()).get_signature_runner('first\0'),
                     lambda: InterpreterWithCustomOps(['RegisterDouble\0zz'], model_path=FLOAT)):
            with self.assertRaises(ValueError):
                call()

    def test_a_model_is_bytes(self):
        content = pathlib.Path(TINY).read_bytes()
        for good in (content, bytearray(content), memoryview(content)):
            self.assertTrue(allocated(None, model_content=good))
        for wrong in (5, 2**40, TINY, [1, 2]):
            with self.assertRaises(TypeError):
                Interpreter(model_content=wrong)

    def test_a_missing_library_is_an_os_error_with_its_name(self):
        wrong = pathlib.Path(FOLDER.name) / 'text.so'
        wrong.write_text('this is no library')
        for library in ('absent', './absent.so', str(wrong)):
            with self.assertRaisesRegex(OSError, library):
                load_delegate(library)

    def test_exceptions_contain_reports_of_operators_and_delegates(self):
        def fails(name):
            interpreter = InterpreterWithCustomOps(
                custom_op_registerers=[OPERATORS.RegisterFailing], model_content=custom_model(name))
            with self.assertRaises(RuntimeError) as caught:
                interpreter.allocate_tensors()
                for _ in range(3):  # The texts of an earlier call are not repeated.
                    try:
                        interpreter.invoke()
                    except RuntimeError as error:
                        last = error
                raise last
            return str(caught.exception)

        self.assertEqual(fails(b'NoLicence'), 'the licence is 100% missing: a.lic\n'
                         'Node number 0 (NoLicence) failed to prepare.')
        self.assertEqual(fails(b'Unplugged'), 'camera 3 is unplugged\nno other camera\n'
                         'Node number 0 (Unplugged) failed to invoke.')

        class Busy:
            @staticmethod
            def _get_native_delegate_pointer():
                OPERATORS.BusyDelegate.restype = ctypes.c_void_p
                return OPERATORS.BusyDelegate()

        with self.assertRaisesRegex(RuntimeError, '^device 7 is busy'):
            Interpreter(FLOAT, experimental_delegates=[Busy()])


class ContentsTest(unittest.TestCase):

    def test_constants_cannot_be_set(self):
        interpreter = allocated(FLOAT)
        value = random_input(interpreter)
        expected = run(interpreter, value)
        produced = {int(index) for node in interpreter._get_ops_details() for index in node['outputs']}
        first = ends(interpreter)[0]
        constants = [detail for detail in interpreter.get_tensor_details()
                     if detail['index'] not in produced | {first} and detail['name']]
        self.assertGreater(len(constants), 10)
        for detail in constants:
            with self.assertRaisesRegex(ValueError, 'Cannot set tensor: .*read-only'):
                interpreter.set_tensor(detail['index'], np.zeros(detail['shape'], detail['dtype']))
        self.assertTrue(np.array_equal(run(interpreter, value), expected))

    def test_strings_keep_trailing_zero_bytes_and_use_minimal_memory(self):
        interpreter = Interpreter(model_content=signed_model(STRING))
        texts = np.array([[b'a\0b', b'c\0', b'', 'd\u00e9\0\0']], object)
        expected = [[b'a\0b', b'c\0', b'', b'd\xc3\xa9\0\0']]
        interpreter.set_tensor(0, texts)
        found = interpreter.get_tensor(0)
        self.assertEqual((found.tolist(), found.dtype), (expected, np.dtype(object)))
        long = np.array([[b'x' * 50_000_000, b'', b'', b'']], object)
        interpreter.set_tensor(0, long)
        before = resident_kilobytes()
        found = interpreter.get_tensor(0)
        self.assertLess(resident_kilobytes() - before, 150_000)
        self.assertEqual(found[0, 0], long[0, 0])
        with self.assertRaisesRegex(ValueError, 'expected bytes or str, found int'):
            interpreter.set_tensor(0, np.array([[1, b'', b'', b'']], object))

    def test_two_gibibytes_and_more_are_read(self):
        size = 2**31 + 4096
        with open(FOLDER.name + '/large', 'wb+') as file:
            file.truncate(size)
            file.seek(size - 1)
            file.write(b'\x07')
            file.flush()
            mapped = np.memmap(file, np.uint8, 'r')
            dims = (ctypes.c_int * 3)(2, size // 4096, 4096)
            tensor = Tensor(type=9, data=mapped.ctypes.data, bytes=size, allocation_type=1,
                            dims=ctypes.cast(dims, IntArrayPointer))
            array, _ = _tensors._array(tensor, True)
            self.assertEqual((array.shape, array.dtype, array[-1, -1]), ((524289, 4096), np.int8, 7))

    def test_preserved_tensors_do_not_grow_with_each_allocation(self):
        interpreter = Interpreter(FLOAT, experimental_preserve_all_tensors=True)
        first, last = ends(interpreter)

        def allocate():
            for batch in (1, 3):
                interpreter.resize_tensor_input(first, [batch, 28, 28, 1])
                interpreter.allocate_tensors()
                interpreter.invoke()

        for _ in range(3):
            allocate()
        before = resident_kilobytes()
        for _ in range(20):
            allocate()
        self.assertLess(resident_kilobytes() - before, 4000)
        self.assertEqual(interpreter.get_tensor(last).shape, (3, 10))


class SignatureTest(unittest.TestCase):

    def setUp(self):
        self.interpreter = Interpreter(model_content=signed_model())

    def test_any_shape_is_accepted(self):
        for key in ('first', 'second'):
            runner = self.interpreter.get_signature_runner(key)
            for shape in ((1, 4), (3, 4), (5,), (2, 1, 3), (), (0, 4), (1, 4)):
                value = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
                result = runner(**{f'{key}_in': value})[f'{key}_out']
                self.assertEqual(result.shape, shape)
                self.assertTrue(np.array_equal(result, -value))

    def test_a_resize_by_the_interpreter_is_detected(self):
        runner = self.interpreter.get_signature_runner('first')
        value = np.ones((1, 4), np.float32)
        runner(first_in=value)
        self.interpreter.resize_tensor_input(0, [2, 4])
        self.assertEqual(runner(first_in=value)['first_out'].tolist(), [[-1] * 4])
        self.interpreter.resize_tensor_input(0, [2, 4])
        self.assertEqual(runner(first_in=np.ones((2, 4), np.float32))['first_out'].tolist(),
                         [[-1] * 4] * 2)

    def test_details_have_the_names_and_indices_of_tensors(self):
        for key, names in (('first', ('x', 'y')), ('second', ('u', 'v'))):
            runner = self.interpreter.get_signature_runner(key)
            entries = (runner.get_input_details()[f'{key}_in'],
                       runner.get_output_details()[f'{key}_out'])
            self.assertEqual([(entry['name'], entry['index']) for entry in entries],
                             list(zip(names, (0, 1))))
        self.assertEqual(self.interpreter._get_full_signature_list(), {
            key: {'inputs': {f'{key}_in': 0}, 'outputs': {f'{key}_out': 1}}
            for key in ('first', 'second')})
        self.assertEqual(self.interpreter.get_signature_list(), {
            key: {'inputs': [f'{key}_in'], 'outputs': [f'{key}_out']} for key in ('first', 'second')})

    def test_texts_of_errors(self):
        runner = self.interpreter.get_signature_runner('first')
        value = np.ones((1, 4), np.float32)
        for call, text in (
                (lambda: runner(), 'Invalid number of inputs provided for running a SignatureDef, '
                                   'expected 1 vs provided 0'),
                (lambda: runner(first_in=value, more=value),
                 'Invalid number of inputs provided for running a SignatureDef, '
                 'expected 1 vs provided 2'),
                (lambda: runner(second_in=value), 'Invalid Input name (second_in) for SignatureDef'),
                (lambda: self.interpreter.get_signature_runner('third'),
                 'Invalid signature_key provided: "third".'),
                (lambda: self.interpreter.get_signature_runner(),
                 'SignatureDef signature_key is None and model has 2 Signatures. None is only '
                 'allowed when the model has 1 SignatureDef'),
                (lambda: SignatureRunner(None, 'first'), 'None interpreter provided.'),
                (lambda: SignatureRunner(self.interpreter), 'None signature_key provided.')):
            with self.assertRaises(ValueError) as caught:
                call()
            self.assertEqual(str(caught.exception), text)


class UpstreamTextsTest(unittest.TestCase):
    """Texts that interpreter_test.py of TensorFlow Lite expects; each row names its test. Those of its C
    and C++ tests are in upstream_texts_test.cc."""

    def test_texts_of_exceptions(self):
        interpreter, fresh = allocated(TINY), Interpreter(TINY)
        count = len(interpreter.get_tensor_details())
        held = interpreter.tensor(0)
        view = held()
        rows = (
            ('testRegistererFailure', ValueError,
             "Looking up symbol 'CompletelyBogusRegistererName' failed",
             lambda: InterpreterWithCustomOps(['CompletelyBogusRegistererName'], model_path=TINY)),
            ('testThreads_NegativeValue', ValueError, 'num_threads should >= 1',
             lambda: Interpreter(TINY, num_threads=-1)),
            ('testThreads_WrongType', ValueError, 'type of num_threads should be int',
             lambda: Interpreter(TINY, num_threads=4.2)),
            ('testNotSupportedOpResolverTypes', ValueError,
             'Unrecognized passed in op resolver type: test',
             lambda: Interpreter(TINY, experimental_op_resolver_type='test')),
            ('testTooShortModelContent', ValueError, 'The model is not a valid Flatbuffer buffer',
             lambda: Interpreter(model_content=b'short')),
            ('testInvalidModelContent', ValueError, 'The model is not a valid Flatbuffer buffer',
             lambda: Interpreter(model_content=b'wrong_identifier')),
            ('testInvalidModelFile', ValueError, "Could not open 'totally_invalid_file_name'",
             lambda: Interpreter(model_path='totally_invalid_file_name')),
            ('testInvokeBeforeReady', RuntimeError, 'Invoke called on model that is not ready',
             fresh.invoke),
            ('testInvalidModelFileContent', ValueError,
             '`model_path` or `model_content` must be specified.',
             lambda: Interpreter(model_path=None, model_content=None)),
            ('testInvalidIndex', ValueError,
             f'Invalid tensor index {count} exceeds max tensor index {count}',
             lambda: interpreter._get_tensor_details(count, 0)),
            ('testInvalidIndex, node', ValueError, 'Invalid node index',
             lambda: interpreter._get_op_details(len(interpreter._get_ops_details()))),
            ('testBaseProtectsFunctions', RuntimeError, 'There is at least 1 reference',
             interpreter.allocate_tensors),
            ('testBaseProtectsFunctions, invoke', RuntimeError, 'There is at least 1 reference',
             interpreter.invoke),
            ('InterpreterDelegateTest.testFail', ValueError, 'Failed to load delegate from',
             lambda: load_delegate('npu_stub', {'fail': 'fail'})),
            ('testGetTensorDetailsSingleSignature', ValueError, 'subgraph_index is out of range',
             lambda: interpreter.get_tensor_details(subgraph_index=1)),
            ('testGetTensorDetailsSingleSignature, -1', ValueError, 'subgraph_index is out of range',
             lambda: interpreter.get_tensor_details(subgraph_index=-1)),
        )
        for test, kind, text, call in rows:
            with self.subTest(test=test):
                with self.assertRaises(kind) as caught:
                    call()
                self.assertIn(text, str(caught.exception))
        self.assertIsNotNone(view)


class PrivateMethodsTest(unittest.TestCase):
    """Programs call these methods of LiteRT, although their names begin with an underscore."""

    def test_details_of_tensors_and_nodes(self):
        interpreter = allocated(FLOAT)
        self.assertEqual(interpreter._get_tensor_details(0, 0)['name'], 'image')
        self.assertEqual(set(interpreter._get_tensor_details(0, 0)), {
            'name', 'index', 'shape', 'shape_signature', 'dtype', 'quantization',
            'quantization_parameters', 'sparsity_parameters'})
        self.assertEqual(set(interpreter._get_tensor_details(0, 0)['quantization_parameters']), {
            'scales', 'zero_points', 'quantized_dimension', 'block_size'})
        node = interpreter._get_op_details(0)
        self.assertEqual((node['index'], node['op_name'], node['operand_types'],
                          node['result_types']),
                         (0, 'CONV_2D', [np.float32] * 3, [np.float32]))
        self.assertEqual(len(interpreter._get_ops_details()), 16)
        self.assertTrue(interpreter._safe_to_run())
        view = interpreter.tensor(0)()
        self.assertFalse(interpreter._safe_to_run())
        self.assertEqual(view.shape, (1, 28, 28, 1))

    def test_the_newest_arguments_are_accepted(self):
        interpreter = Interpreter(FLOAT, experimental_compress_quantization_zero_points=True,
                                  experimental_disable_delegate_node_fusion=True,
                                  experimental_force_delegate_node_profiling=True)
        self.assertTrue(interpreter.experimental_compress_quantization_zero_points)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
