#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the memory of tensors in runs of libLiteRt.so: signatures that share a subgraph, failed runs, other shapes,
bindings, and metadata that share a buffer.

    litert_memory_test.py BUILD_FOLDER
"""

import ctypes
import os
import pathlib
import struct
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else 'build/release').resolve()
os.environ['DEPUTY_LITERT_LIBRARY'] = str(BUILD / 'drop-in/libLiteRt.so')

# The modules read the variable.
from litert_calls import FLOAT32, HOST, LIBRARY, POINTER, STATUSES, RankedType, Recorder, cpu_environment  # noqa: E402
from litert_files import file_of  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
NEG, IF = 59, 118


def tensor(name, shape, kind='FLOAT32', **more):
    return {'buffer': 0} | {'name': name, 'shape': shape, 'type': kind, **more}


def signature(key, subgraph, inputs, outputs):
    return {'signature_key': key, 'subgraph_index': subgraph,
            'inputs': [{'name': name, 'tensor_index': index} for name, index in inputs],
            'outputs': [{'name': name, 'tensor_index': index} for name, index in outputs]}


def negation(shape, signatures, **more):
    """Returns a model with the node y = -x."""
    return file_of({
        'version': 3,
        'operator_codes': [{'deprecated_builtin_code': NEG, 'builtin_code': NEG, 'version': 1}],
        'subgraphs': [{'tensors': [tensor('x', shape, **more), tensor('y', shape, **more)], 'inputs': [0], 'outputs': [1],
                       'operators': [{'opcode_index': 0, 'inputs': [0], 'outputs': [1]}]}],
        'buffers': [{}],
        'signature_defs': signatures,
    })


class LitertMemoryTest(unittest.TestCase):

    def setUp(self):
        self.record = Recorder()
        self.environment = cpu_environment(self.record)
        self.kept = []

    def status(self, name, *arguments):
        return STATUSES[self.record.function(name)(*arguments)]

    def load(self, file):
        self.kept.append(ctypes.create_string_buffer(file, len(file)))
        model = POINTER()
        status = self.status('LiteRtCreateModelFromBuffer', self.environment, self.kept[-1], len(file), ctypes.byref(model))
        return status, model

    def compiled(self, file, binding=None):
        status, model = self.load(file)
        self.assertEqual(status, 'Ok')
        options, result = POINTER(), POINTER()
        self.assertEqual(self.status('LiteRtCreateOptions', ctypes.byref(options)), 'Ok')
        self.assertEqual(self.status('LiteRtSetOptionsHardwareAccelerators', options, 1), 'Ok')
        if binding is not None:
            self.assertEqual(self.status('LiteRtAddExternalTensorBinding', options, b'a', b'x', *binding), 'Ok')
        self.assertEqual(self.status('LiteRtCreateCompiledModel', self.environment, model, options, ctypes.byref(result)), 'Ok')
        return result

    def buffer(self, values, shape=None):
        kind = RankedType(FLOAT32)
        kind.layout.rank = len(shape or [1, len(values)])
        kind.layout.dimensions[: kind.layout.rank] = shape or [1, len(values)]
        self.kept.append(kind)
        result = POINTER()
        self.assertEqual(self.status('LiteRtCreateManagedTensorBuffer', self.environment, HOST, ctypes.byref(kind),
                                     4 * len(values), ctypes.byref(result)), 'Ok')
        self.write(result, values)
        return result

    def write(self, buffer, values):
        address = POINTER()
        self.assertEqual(self.status('LiteRtLockTensorBuffer', buffer, ctypes.byref(address), 1), 'Ok')
        ctypes.memmove(address.value, struct.pack(f'{len(values)}f', *values), 4 * len(values))
        self.assertEqual(self.status('LiteRtUnlockTensorBuffer', buffer), 'Ok')

    def read(self, buffer, count=4):
        address = POINTER()
        self.assertEqual(self.status('LiteRtLockTensorBuffer', buffer, ctypes.byref(address), 0), 'Ok')
        values = list(struct.unpack(f'{count}f', ctypes.string_at(address.value, 4 * count)))
        self.assertEqual(self.status('LiteRtUnlockTensorBuffer', buffer), 'Ok')
        return values

    def run_model(self, compiled, inputs, output, number=0):
        handles = (POINTER * len(inputs))(*[None if handle is None else handle.value for handle in inputs])
        return self.status('LiteRtRunCompiledModel', compiled, number, len(inputs), handles, 1, (POINTER * 1)(output.value))

    def test_signatures_of_one_subgraph(self):
        tensors = [('x', 0)], [('y', 1)]
        compiled = self.compiled(negation([1, 4], [signature('a', 0, *tensors), signature('b', 0, *tensors)]))
        first, first_output = self.buffer([1] * 4), self.buffer([0] * 4)
        second, second_output = self.buffer([2] * 4), self.buffer([0] * 4)
        self.assertEqual(self.run_model(compiled, [first], first_output), 'Ok')
        self.assertEqual(self.run_model(compiled, [second], second_output, 1), 'Ok')
        self.write(second_output, [9] * 4)
        self.assertEqual(self.run_model(compiled, [first], first_output), 'Ok')
        self.assertEqual(self.read(first_output), [-1] * 4)
        self.assertEqual(self.read(second_output), [9] * 4)

    # The constants are in the model's own memory, which is large enough to be unmapped when it is freed.
    def test_a_model_that_is_destroyed_before_its_compiled_model(self):
        count = 1 << 16
        file = file_of({
            'version': 3,
            'operator_codes': [{'deprecated_builtin_code': 0, 'builtin_code': 'ADD', 'version': 1}],
            'subgraphs': [{
                'tensors': [tensor('x', [1, count]), tensor('two', [1, count], buffer=1), tensor('y', [1, count])],
                'inputs': [0], 'outputs': [2],
                'operators': [{'opcode_index': 0, 'inputs': [0, 1], 'outputs': [2], 'builtin_options_type': 'AddOptions',
                               'builtin_options': {}}],
            }],
            'buffers': [{}, {'data': list(struct.pack('f', 2)) * count}],
        })
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'model.tflite'
            path.write_bytes(file)
            model, options, compiled = POINTER(), POINTER(), POINTER()
            self.assertEqual(self.status('LiteRtCreateModelFromFile', self.environment, str(path).encode(), ctypes.byref(model)), 'Ok')
        self.assertEqual(self.status('LiteRtCreateOptions', ctypes.byref(options)), 'Ok')
        self.assertEqual(self.status('LiteRtSetOptionsHardwareAccelerators', options, 1), 'Ok')
        self.assertEqual(self.status('LiteRtCreateCompiledModel', self.environment, model, options, ctypes.byref(compiled)), 'Ok')
        self.record.function('LiteRtDestroyModel')(model)
        output = self.buffer([0] * count)
        self.assertEqual(self.run_model(compiled, [self.buffer([1] * count)], output), 'Ok')
        self.assertEqual(self.read(output, count), [3] * count)
        self.record.function('LiteRtDestroyCompiledModel')(compiled)

    # The operator IF runs a subgraph that is a signature, too; its buffers are not those of the operator.
    def test_a_signature_that_an_operator_runs(self):
        branch = {'tensors': [tensor('x', [1, 4]), tensor('y', [1, 4])], 'inputs': [0], 'outputs': [1],
                  'operators': [{'opcode_index': 1, 'inputs': [0], 'outputs': [1]}]}
        file = file_of({
            'version': 3,
            'operator_codes': [{'deprecated_builtin_code': code, 'builtin_code': code, 'version': 1} for code in (IF, NEG)],
            'subgraphs': [
                {'tensors': [tensor('c', [], 'BOOL', buffer=1), tensor('x', [1, 4]), tensor('y', [1, 4])],
                 'inputs': [1], 'outputs': [2],
                 'operators': [{'opcode_index': 0, 'inputs': [0, 1], 'outputs': [2], 'builtin_options_type': 'IfOptions',
                                'builtin_options': {'then_subgraph_index': 1, 'else_subgraph_index': 1}}]},
                branch,
            ],
            'buffers': [{}, {'data': [1]}],
            'signature_defs': [signature('main', 0, [('x', 1)], [('y', 2)]), signature('part', 1, [('x', 0)], [('y', 1)])],
        })
        compiled = self.compiled(file)
        inner, inner_output = self.buffer([2] * 4), self.buffer([0] * 4)
        self.assertEqual(self.run_model(compiled, [inner], inner_output, 1), 'Ok')
        self.write(inner_output, [9] * 4)
        outer, outer_output = self.buffer([1] * 4), self.buffer([0] * 4)
        self.assertEqual(self.run_model(compiled, [outer], outer_output), 'Ok')
        self.assertEqual(self.read(outer_output), [-1] * 4)
        self.assertEqual((self.read(inner), self.read(inner_output)), ([2] * 4, [9] * 4))

    def test_shapes_that_grow(self):
        compiled = self.compiled(negation([1, 4], [signature('a', 0, [('x', 0)], [('y', 1)])], shape_signature=[-1, 4]))
        for rows in (1, 4, 2, 8, 1):
            output = self.buffer([0] * 4 * rows, [rows, 4])
            self.assertEqual(self.run_model(compiled, [self.buffer([rows] * 4 * rows, [rows, 4])], output), 'Ok')
            self.assertEqual(self.read(output, 4 * rows), [-rows] * 4 * rows)

    def test_a_run_after_a_failed_one(self):
        compiled = self.compiled(negation([1, 4], [signature('a', 0, [('x', 0)], [('y', 1)])]))
        source, output = self.buffer([3] * 4), self.buffer([0] * 4)
        self.assertEqual(self.run_model(compiled, [source], self.buffer([0], [1, 1])), 'ErrorRuntimeFailure')
        self.assertEqual(self.run_model(compiled, [source], output), 'Ok')
        self.assertEqual(self.read(output), [-3] * 4)

    def test_bindings_last(self):
        memory = ctypes.create_string_buffer(16 + 64)
        address = (ctypes.addressof(memory) + 63) // 64 * 64
        ctypes.memmove(address, struct.pack('4f', 7, 7, 7, 7), 16)
        compiled = self.compiled(negation([1, 4], [signature('a', 0, [('x', 0)], [('y', 1)])]), (address, 16))
        output = self.buffer([0] * 4)
        for source, expected in ((None, -7), (self.buffer([3] * 4), -3), (None, -7)):
            self.assertEqual(self.run_model(compiled, [source], output), 'Ok')
            self.assertEqual(self.read(output), [expected] * 4)

    def test_an_input_without_buffer_and_binding(self):
        compiled = self.compiled(negation([1, 4], [signature('a', 0, [('x', 0)], [('y', 1)])]))
        self.assertEqual(self.run_model(compiled, [None], self.buffer([0] * 4)), 'ErrorInvalidArgument')

    # Metadata that share a buffer of the file are not copied without limit.
    def test_metadata_with_one_buffer(self):
        tables = {
            'version': 3,
            'operator_codes': [{'deprecated_builtin_code': NEG, 'builtin_code': NEG, 'version': 1}],
            'subgraphs': [{'tensors': [tensor('x', [1]), tensor('y', [1])], 'inputs': [0], 'outputs': [1],
                           'operators': [{'opcode_index': 0, 'inputs': [0], 'outputs': [1]}]}],
            'buffers': [{}, {'data': [1] * 30000}],
        }
        self.assertEqual(self.load(file_of(tables | {'metadata': [{'name': f'm{i}', 'buffer': 1} for i in range(2)]}))[0], 'Ok')
        many = file_of(tables | {'metadata': [{'name': f'm{i}', 'buffer': 1} for i in range(20)]})
        self.assertEqual(self.load(many)[0], 'ErrorInvalidFlatbuffer')


if __name__ == '__main__':
    if not pathlib.Path(LIBRARY).exists():
        print('skipped: libLiteRt.so is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(pathlib.Path(LIBRARY))
    unittest.main(argv=sys.argv[:1])
