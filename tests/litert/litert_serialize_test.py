#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the files that LiteRtSerializeModel writes.

    litert_serialize_test.py BUILD_FOLDER

DEPUTY_LITERT_LIBRARY names another library than that of the build folder. With the package ai_edge_litert, outputs
are also compared in its interpreter.
"""

import copy
import ctypes
import importlib.util
import os
import pathlib
import sys
import unittest

BUILD = pathlib.Path(sys.argv[1])
os.environ.setdefault('DEPUTY_LITERT_LIBRARY', str(BUILD / 'drop-in/libLiteRt.so'))  # litert_calls reads it

from litert_calls import DIGITS, DIGITS_INT8, POINTER, ROOT, SIZE, STATUSES, Recorder, cpu_environment  # noqa: E402
from litert_files import Runner, dispatch_options, file_of, file_with_appended, meaning_of, tables_of  # noqa: E402

os.environ.pop('DEPUTY_LITERT_LIBRARY')
STREAMS = sorted((ROOT / 'tests/data/streams').glob('*.tflite'))
LARGE = [
    path
    for name in ('face_detection_full_range_sparse', 'litert_rope', 'selfie_segmentation')
    if (path := ROOT.parent / f'shared/models/{name}.tflite').exists()
]
PLACEHOLDER = '<placeholder signature>'


def tensor(name, shape, buffer=0, **more):
    return {'name': name, 'shape': shape, 'buffer': buffer, **more}


# Two constants, an absent optional input, a custom operator, and properties that no object has.
TABLES = {
    'version': 3,
    'description': 'made by hand',
    'operator_codes': [
        {'deprecated_builtin_code': 9, 'builtin_code': 'FULLY_CONNECTED', 'version': 5},
        {'deprecated_builtin_code': 32, 'builtin_code': 'CUSTOM', 'custom_code': 'Mine', 'version': 4},
        {'deprecated_builtin_code': 127, 'builtin_code': 'GELU', 'version': 2},
    ],
    'subgraphs': [
        {
            'name': 'main',
            'tensors': [
                tensor('x', [1, 2], shape_signature=[-1, 2], has_rank=True),
                tensor('w', [2, 2], 1, quantization={'min': [-4.0], 'max': [5.0]}),
                tensor('y', [1, 2]),
                tensor('z', [1, 2]),
                tensor('state', [3], is_variable=True),
                tensor('w again', [4], 1),
                tensor('v', [1], 2),
                tensor('q', [2], type='INT8', quantization={'scale': [0.5, 2.0], 'zero_point': [3, 4], 'quantized_dimension': 0}),
            ],
            'inputs': [0],
            'outputs': [3],
            'operators': [
                {
                    'opcode_index': 0,
                    'inputs': [0, 1, -1],
                    'outputs': [2],
                    'builtin_options_type': 'FullyConnectedOptions',
                    'builtin_options': {'fused_activation_function': 'RELU6', 'keep_num_dims': True},
                },
                {
                    'opcode_index': 1,
                    'inputs': [-1, 2],
                    'outputs': [3],
                    'intermediates': [4],
                    'custom_options': [5, 6, 7],
                    'mutating_variable_inputs': [False, True],
                },
                {
                    'opcode_index': 2,
                    'inputs': [2],
                    'outputs': [7],
                    'builtin_options_type': 'GeluOptions',
                    'builtin_options': {'approximate': True},
                },
            ],
        },
        {'name': 'second', 'tensors': [tensor('only', [1])], 'inputs': [0], 'outputs': [0], 'operators': []},
    ],
    'buffers': [{}, {'data': list(range(16))}, {'data': [1, 2, 3, 4]}, {'data': [9, 8]}],
    'metadata': [{'name': 'notes', 'buffer': 3}],
    'signature_defs': [
        {
            'signature_key': 'serve',
            'subgraph_index': 0,
            'inputs': [{'name': 'in', 'tensor_index': 0}],
            'outputs': [{'name': 'out', 'tensor_index': 3}],
        }
    ],
}


def compiled_file(locations, appended):
    """Returns a file whose operators run byte code, at [(offset, size)] in `appended`, which follows the FlatBuffer."""

    def tables(start):
        return {
            'version': 3,
            'operator_codes': [{'deprecated_builtin_code': 32, 'builtin_code': 'CUSTOM', 'custom_code': 'DISPATCH_OP'}],
            'subgraphs': [
                {
                    'tensors': [tensor(f't{i}', [2]) for i in range(len(locations) + 1)],
                    'inputs': [0],
                    'outputs': [len(locations)],
                    'operators': [
                        {
                            'inputs': [i],
                            'outputs': [i + 1],
                            'custom_options': list(dispatch_options(start + offset, size, b'part%d' % i)),
                        }
                        for i, (offset, size) in enumerate(locations)
                    ],
                }
            ],
            'buffers': [{}],
        }

    return file_of(tables(len(file_of(tables(0))))) + appended


def byte_codes_of(file):
    """Returns [(entry point, offset, byte code)] of a file's operators."""
    found = []
    for op in tables_of(file)['subgraphs'][0]['operators']:
        options = bytes(op['custom_options'])
        offset, size = (int.from_bytes(options[at : at + 8], 'little') for at in (-30, -22))
        expected = dispatch_options(offset, size, options[36:41])
        if options != expected:
            raise AssertionError(f'{options} != {expected}')
        found.append((options[36:41].decode(), offset, file[offset : offset + size]))
    return found


class LitertSerializeTest(unittest.TestCase):

    maxDiff = 4000

    def setUp(self):
        self.record = Recorder()
        self.environment = cpu_environment(self.record)

    def model(self, file):
        """Returns a model. The file is kept."""
        self.record.alive = [*getattr(self.record, 'alive', []), file]
        return self.record.made('LiteRtCreateModelFromBuffer', self.environment, file, len(file))

    def call(self, model, alignment=1, destroy=False, keys=None):
        """Returns (status, file)."""
        block, size, offset = POINTER(), SIZE(), SIZE()
        results = (ctypes.byref(block), ctypes.byref(size), ctypes.byref(offset), destroy)
        if keys is None:
            status = self.record.function('LiteRtSerializeModel')(model, *results, alignment)
        else:
            array = (ctypes.c_char_p * max(len(keys), 1))(*keys)
            name = 'LiteRtSerializeModelWithSignatures'
            status = self.record.function(name)(model, *results, array, len(keys), alignment)
        if status:
            return STATUSES[status], b''
        file = ctypes.string_at(block.value + offset.value, size.value - offset.value)
        release = ctypes.CDLL(None).free
        release.argtypes = [POINTER]
        release(block)
        return 'Ok', file

    def serialized(self, file, **more):
        status, result = self.call(self.model(file), **more)
        self.assertEqual(status, 'Ok')
        return result

    def expect_equal(self, file, result):
        """Compares two files; a default signature may have been added."""
        expected, found = meaning_of(file), meaning_of(result)
        if 'signature_defs' not in expected:
            self.assertEqual([item['signature_key'] for item in found.pop('signature_defs')], [PLACEHOLDER])
        for part in sorted({*expected, *found}):
            self.assertEqual(found.get(part), expected.get(part), part)

    def test_everything_in_a_file_is_kept(self):
        self.expect_equal(file_of(TABLES), self.serialized(file_of(TABLES)))

    def test_models_are_kept(self):
        for path in (DIGITS, DIGITS_INT8, *STREAMS, *LARGE):
            with self.subTest(path.name):
                self.expect_equal(path.read_bytes(), self.serialized(path.read_bytes()))

    def test_outputs_are_equal(self):
        runner = Runner(BUILD / 'libdeputy.so')
        for path in (DIGITS, DIGITS_INT8, *STREAMS):
            with self.subTest(path.name):
                self.assertEqual(runner.run(self.serialized(path.read_bytes())), runner.run(path.read_bytes()))

    @unittest.skipUnless(importlib.util.find_spec('ai_edge_litert'), 'ai_edge_litert is not installed')
    def test_outputs_are_equal_in_litert(self):
        import numpy  # pylint: disable=import-outside-toplevel
        from ai_edge_litert.interpreter import Interpreter  # pylint: disable=import-outside-toplevel

        def run(file):
            interpreter = Interpreter(model_content=file)
            interpreter.allocate_tensors()
            for item in interpreter.get_input_details():
                values = numpy.arange(int(numpy.prod(item['shape']))) % 23
                scale = 1 / 16 if item['dtype'] == numpy.float32 else 1
                interpreter.set_tensor(item['index'], (values * scale).astype(item['dtype']).reshape(item['shape']))
            interpreter.invoke()
            return [interpreter.get_tensor(item['index']).tobytes() for item in interpreter.get_output_details()]

        for path in (DIGITS, DIGITS_INT8, *STREAMS, *(path for path in LARGE if path.stem != 'selfie_segmentation')):
            with self.subTest(path.name):
                self.assertEqual(run(self.serialized(path.read_bytes())), run(path.read_bytes()))

    def test_constants_after_the_flatbuffer_stay_there(self):
        parts = {1: bytes(range(16)), 2: b'abcd'}
        file = file_with_appended(copy.deepcopy(TABLES), parts)
        result = self.serialized(file)
        self.expect_equal(file, result)
        buffers = tables_of(result)['buffers']
        appended = [buffer for buffer in buffers if buffer.get('offset', 0) > 1]
        self.assertEqual([buffer['size'] for buffer in appended], [16, 4])
        self.assertEqual([buffer['offset'] % 16 for buffer in appended], [0, 0])
        self.assertEqual(result[-20:-4] + result[-4:], parts[1] + parts[2])

    def test_shared_constants_are_written_once(self):
        result = tables_of(self.serialized(file_of(TABLES)))
        tensors = {item['name']: item.get('buffer', 0) for item in result['subgraphs'][0]['tensors']}
        self.assertEqual(tensors['w'], tensors['w again'])
        self.assertEqual(tensors['x'], 0)
        self.assertEqual(len(result['buffers']), 4)

    def test_signatures_are_added(self):
        model = self.model(file_of(TABLES))
        status, result = self.call(model, keys=[b'first', None])
        self.assertEqual(status, 'Ok')
        added = meaning_of(result)['signature_defs'][1:]
        self.assertEqual(
            added,
            [{'signature_key': 'first', 'inputs': [{'name': 'x'}], 'outputs': [{'name': 'z', 'tensor_index': 3}]}],
        )
        status, result = self.call(model, keys=[None, b'other'])
        keys = [(item['signature_key'], item.get('subgraph_index', 0)) for item in meaning_of(result)['signature_defs']]
        self.assertEqual(keys, [('serve', 0), ('other', 1)])

    def test_number_of_signatures_must_be_that_of_subgraphs(self):
        for keys in ([], [b'one'], [b'one', b'two', b'three']):
            self.assertEqual(self.call(self.model(file_of(TABLES)), keys=keys)[0], 'ErrorInvalidArgument')

    def test_model_can_be_serialised_twice_and_destroyed(self):
        model = self.model(file_of(TABLES))
        first = self.call(model)
        self.assertEqual(self.call(model, destroy=True), first)

    def test_byte_code_is_kept_at_aligned_offsets(self):
        file = compiled_file([(0, 8), (8, 5), (0, 8)], b'FIRSTONEOTHER')
        for alignment in (0, 1, 8, 24, 64, 4096):
            result = self.serialized(file, alignment=alignment)
            (one, first, code), (two, second, other), (three, third, again) = byte_codes_of(result)
            self.assertEqual((one, two, three), ('part0', 'part1', 'part2'))
            self.assertEqual((code, other, again), (b'FIRSTONE', b'OTHER', b'FIRSTONE'))
            self.assertEqual(first, third)
            self.assertEqual([first % max(alignment, 1), second % max(alignment, 1)], [0, 0])
            self.assertEqual(len(result), second + 5)
            self.assertLess(second - first, 8 + max(alignment, 1))

    def test_alignment_that_is_too_large_is_refused(self):
        model = self.model(compiled_file([(0, 4)], b'code'))
        for alignment in ((1 << 64) - 1, 1 << 63):
            self.assertEqual(self.call(model, alignment=alignment)[0], 'ErrorInvalidArgument')
        self.assertEqual(self.call(model, alignment=16)[0], 'Ok')

    def test_byte_code_outside_of_the_file_is_refused(self):
        for location in ((0, 5), (5, 0), (4, 1), (1 << 63, 1), (1, (1 << 64) - 1)):
            file = compiled_file([location], b'code')
            create = self.record.function('LiteRtCreateModelFromBuffer')
            status = create(self.environment, file, len(file), ctypes.byref(POINTER()))
            self.assertEqual(STATUSES[status], 'ErrorInvalidFlatbuffer', location)

    def test_overlapping_byte_code_does_not_multiply_the_file(self):
        file = compiled_file([(0, size) for size in range(9000, 8990, -1)], bytes(9000))
        self.assertEqual(self.call(self.model(file))[0], 'ErrorInvalidGraphInvariant')

    def test_options_without_a_location_are_kept(self):
        for options in (b'', b'other', dispatch_options(0, 4)):
            tables = tables_of(compiled_file([(0, 4)], b'code'))
            tables['subgraphs'][0]['operators'][0]['custom_options'] = list(options)
            self.expect_equal(file_of(tables), self.serialized(file_of(tables)))

    def test_null_is_refused(self):
        model, block, size = self.model(file_of(TABLES)), POINTER(), SIZE()
        one = ctypes.byref(size)
        for arguments in (
            (None, ctypes.byref(block), one, one),
            (model, None, one, one),
            (model, ctypes.byref(block), None, one),
            (model, ctypes.byref(block), one, None),
        ):
            status = self.record.function('LiteRtSerializeModel')(*arguments, False, 1)
            self.assertEqual(STATUSES[status], 'ErrorInvalidArgument')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
