#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.compiled_model under the name ai_edge_litert.compiled_model.

    python_compiled_model_test.py BUILD_FOLDER

Expected values and exceptions are those of ai-edge-litert 2.3.0 with the same calls, except where it ends the process.
"""
import gc
import importlib
import inspect
import sys
import unittest

from python_package import FLOAT, FOLDER, INT8, SHIM_WHEEL, unpack

SITE = f'{FOLDER.name}/shim'
unpack(SHIM_WHEEL, SITE)
sys.path.insert(0, SITE)

import numpy as np  # noqa: E402
from ai_edge_litert.compiled_model import (CompiledModel, CpuKernelMode, CpuOptions, Environment,  # noqa: E402
                                           EnvironmentOptions, HardwareAccelerator, Options, TensorBuffer)

KEY = '<placeholder signature>'
FLOAT_INPUT = ((np.arange(784) % 97).astype(np.float32) / 97).reshape(1, 28, 28, 1)
INT8_INPUT = (np.arange(784) % 97).astype(np.int8).reshape(1, 28, 28, 1)
FLOAT_SCORES = [3.56430107628405e-17, 2.626534012506454e-08, 0.009408057667315006, 1.0975368169852118e-08,
                0.9572103023529053, 2.1182354481563692e-11, 1.006895521821205e-11, 1.0513021209135331e-07,
                0.033381637185811996, 1.1251839981659198e-14]
INT8_SCORES = [-127, -86, -125, -119, 37, -128, -128, -92, -128, -128]
# Modules of ai_edge_litert and names that programs import from them.
MODULES = {
    'compiled_model': 'CompiledModel CpuKernelMode CpuOptions Environment EnvironmentOptions GpuOptions '
                      'HardwareAccelerator IntelOpenVinoOptions Options QualcommOptions TensorBuffer',
    'tensor_buffer': 'TensorBuffer', 'environment': 'Environment EnvironmentOptions',
    'hardware_accelerator': 'HardwareAccelerator', 'cpu_kernel_mode': 'CpuKernelMode',
    'cpu_options': 'CpuOptions CpuKernelMode', 'gpu_options': 'GpuOptions',
    'options': 'Options CpuOptions GpuOptions QualcommOptions IntelOpenVinoOptions QualcommBackend',
    'qualcomm_options': 'QualcommOptions QualcommHtpPerformanceMode', 'intel_openvino_options': 'IntelOpenVinoOptions',
}
ARGUMENTS = {
    'from_file': ['model_path', 'hardware_accel', 'environment', 'options'],
    'from_buffer': ['model_data', 'hardware_accel', 'environment', 'options'],
    'resize_input_tensor': ['self', 'input_index', 'dims', 'signature_index', 'strict'],
    'run_by_name': ['self', 'signature_key', 'input_map', 'output_map'],
    'run_by_index': ['self', 'signature_index', 'input_buffers', 'output_buffers'],
    'get_output_buffer_requirements': ['self', 'output_index', 'signature_index'],
}


class CompiledModelTest(unittest.TestCase):

    def setUp(self):
        self.model = CompiledModel.from_file(FLOAT)
        self.inputs, self.outputs = self.model.create_input_buffers(0), self.model.create_output_buffers(0)

    def scores(self, count=10):
        return self.outputs[0].read(count, np.float32)

    def fails(self, code, call, *arguments, **options):
        with self.assertRaisesRegex(RuntimeError, f'^CompiledModel error: code={code}, message='):
            call(*arguments, **options)

    def test_names(self):
        for module, names in MODULES.items():
            for name in names.split():
                with self.subTest(module=module, name=name):
                    self.assertTrue(inspect.isclass(getattr(importlib.import_module(f'ai_edge_litert.{module}'), name)))
        for name, expected in ARGUMENTS.items():
            with self.subTest(name):
                self.assertEqual(list(inspect.signature(getattr(CompiledModel, name)).parameters), expected)

    def test_description(self):
        names = {'inputs': ['image'], 'outputs': ['Identity']}
        self.assertEqual(self.model.get_signature_list(), {KEY: names})
        self.assertEqual(self.model.get_signature_by_index(0), {'key': KEY, **names})
        self.assertEqual(self.model.get_num_signatures(), 1)
        self.assertEqual((self.model.get_signature_index(KEY), self.model.get_signature_index('no')), (0, -1))
        self.assertEqual(self.model.get_input_tensor_details(KEY),
                         {'image': {'name': 'image', 'index': 0, 'dtype': 'float32', 'shape': [1, 28, 28, 1]}})
        self.assertEqual(self.model.get_output_tensor_details(KEY),
                         {'Identity': {'name': 'Identity', 'index': 38, 'dtype': 'float32', 'shape': [1, 10]}})
        self.assertEqual(self.model.get_input_buffer_requirements(0), {'buffer_size': 3136, 'supported_types': [1]})
        self.assertEqual(self.model.get_output_buffer_requirements(0), {'buffer_size': 40, 'supported_types': [1]})
        self.assertIs(self.model.is_fully_accelerated(), True)

    def test_runs(self):
        self.inputs[0].write(FLOAT_INPUT)
        self.model.run_by_index(0, self.inputs, self.outputs)
        np.testing.assert_allclose(self.scores(), FLOAT_SCORES, rtol=1e-4, atol=1e-6)
        self.outputs = [self.model.create_output_buffer_by_name(KEY, 'Identity')]
        self.model.run_by_name(KEY, {'image': self.inputs[0]}, {'Identity': self.outputs[0]})
        np.testing.assert_allclose(self.scores(), FLOAT_SCORES, rtol=1e-4, atol=1e-6)
        with open(INT8, 'rb') as file, CompiledModel.from_buffer(file.read()) as model:
            self.inputs, self.outputs = model.create_input_buffers(0), model.create_output_buffers(0)
            self.assertEqual(self.inputs[0].get_tensor_details(), {'dtype': 'int8', 'shape': [1, 28, 28, 1]})
            self.inputs[0].write(INT8_INPUT)
            model.run_by_index(0, self.inputs, self.outputs)
        np.testing.assert_allclose(self.outputs[0].read(10, np.int8), INT8_SCORES, atol=1)

    def test_a_resize_changes_requirements_and_buffers(self):
        self.fails(1, self.model.resize_input_tensor, 0, [2, 28, 28, 1])
        self.fails(1, self.model.resize_input_tensor, 0, [-1, 28, 28, 1], strict=False)
        self.fails(1000, self.model.resize_input_tensor, 5, [1])
        self.model.resize_input_tensor_by_name(KEY, 'image', [2, 28, 28, 1], strict=False)
        self.assertEqual(self.model.get_input_buffer_requirements(0)['buffer_size'], 6272)
        self.assertEqual(self.model.get_output_buffer_requirements(0)['buffer_size'], 80)
        self.inputs, self.outputs = self.model.create_input_buffers(0), self.model.create_output_buffers(0)
        self.assertEqual(self.outputs[0].get_tensor_details(), {'dtype': 'float32', 'shape': [2, 10]})
        self.inputs[0].write(np.concatenate([FLOAT_INPUT, FLOAT_INPUT]))
        self.model.run_by_index(0, self.inputs, self.outputs)
        np.testing.assert_allclose(self.scores(20), FLOAT_SCORES * 2, rtol=1e-4, atol=1e-6)
        for key, name, text in (('no', 'image', 'Unknown signature: no'),
                                (KEY, 'zz', f"Unknown input 'zz' for signature '{KEY}'")):
            with self.assertRaisesRegex(ValueError, f'^{text}$'):
                self.model.resize_input_tensor_by_name(key, name, [1, 28, 28, 1])

    def test_host_memory_is_not_copied(self):
        aligned = np.zeros(1024, np.float32)
        begin = -aligned.ctypes.data % 64 // 4
        memory = aligned[begin:begin + 10]
        buffer = TensorBuffer.create_from_host_memory(memory)
        self.assertEqual(buffer.get_tensor_details(), {'dtype': 'float32', 'shape': [10]})
        buffer.write(np.arange(10, dtype=np.float32))
        self.assertEqual(memory.tolist(), list(range(10)))
        copy = TensorBuffer.create_from_host_memory(aligned[begin + 1:begin + 11])  # not aligned
        copy.write(np.full(10, 70, np.float32))
        self.assertNotIn(70, memory)
        del memory, aligned
        gc.collect()
        self.assertEqual(buffer.read(10, np.float32).tolist(), list(range(10)))
        self.fails(3, self.model.run_by_index, 0, [buffer], self.outputs)  # another shape

    def test_wrong_buffers(self):
        buffer = self.inputs[0]
        for array, text in ((np.zeros(784), 'Unsupported dtype: float64'), ([1, 2], 'data_array must be a NumPy array')):
            with self.assertRaisesRegex(ValueError, f'^{text}$'):
                buffer.write(array)
            with self.assertRaisesRegex(ValueError, f'^{text}$'):
                TensorBuffer.create_from_host_memory(array)
        with self.assertRaisesRegex(ValueError, '^data_array must be C-contiguous'):
            TensorBuffer.create_from_host_memory(np.zeros((4, 4), np.float32).T)
        with self.assertRaisesRegex(RuntimeError, '^WriteTensorBuffer: source buffer is larger than the tensor buffer$'):
            buffer.write(np.zeros(785, np.float32))
        with self.assertRaisesRegex(RuntimeError, '^ReadTensorToBuffer: destination buffer is larger'):
            buffer.read(785, np.float32)
        for dtype in (np.int64, 'nonsense'):
            with self.assertRaisesRegex(ValueError, '^Unsupported dtype: '):
                buffer.read(1, dtype)
        buffer.write(np.zeros((1, 28, 28, 2), np.float32)[..., 0])  # strides
        self.fails(1000, self.model.run_by_index, 9, self.inputs, self.outputs)
        self.fails(3, self.model.run_by_index, 0, [], self.outputs)
        self.fails(3, self.model.run_by_index, 0, self.inputs, [])
        self.fails(3, self.model.run_by_index, 0, self.outputs, self.inputs)
        self.fails(6, self.model.run_by_name, 'no', {'image': buffer}, {'Identity': self.outputs[0]})
        self.fails(6, self.model.run_by_name, KEY, {'image': buffer}, {})
        buffer.destroy()
        buffer.destroy()
        with self.assertRaisesRegex(ValueError, '^TensorBuffer has been destroyed$'):
            self.model.run_by_index(0, self.inputs, self.outputs)
        with self.assertRaisesRegex(RuntimeError, '^ReadTensorToBuffer: invalid capsule$'):
            buffer.read(1, np.float32)

    def test_wrong_names_and_indices(self):
        self.fails(6, self.model.get_input_tensor_details, 'no')
        self.fails(6, self.model.create_input_buffer_by_name, KEY, 'no')
        self.fails(6, self.model.create_output_buffer_by_name, 'no', 'Identity')
        for index in (9, -1):  # ai-edge-litert ends the process for the first call
            self.fails(1000, self.model.get_signature_by_index, index)
            self.fails(1000, self.model.create_input_buffers, index)
            self.fails(1000, self.model.get_input_buffer_requirements, index)
            self.fails(1000, self.model.get_output_buffer_requirements, 0, index)

    def test_models_that_cannot_be_created(self):
        for create, argument, text in ((CompiledModel.from_file, '/absent.tflite', 'Failed to load model from file'),
                                       (CompiledModel.from_buffer, b'abcd' * 10, 'Failed to load model from buffer'),
                                       (CompiledModel.from_buffer, b'', 'Failed to load model from buffer')):
            with self.assertRaisesRegex(RuntimeError, text):
                create(argument)
        for create, argument in ((CompiledModel.from_file, 3), (CompiledModel.from_buffer, 'x')):
            self.assertRaises(TypeError, create, argument)
        with self.assertRaisesRegex(ValueError, '^Pass either options or hardware_accel, not both.$'):
            CompiledModel.from_file(FLOAT, HardwareAccelerator.CPU, options=Options())
        with self.assertRaises(RuntimeError):
            CompiledModel.from_file(FLOAT, options=Options(HardwareAccelerator(0)))

    def test_options_reach_the_library(self):
        for mode, full in ((CpuKernelMode.DELEGATE, True), (CpuKernelMode.BUILTIN, False)):
            options = Options(HardwareAccelerator.CPU, CpuOptions(num_threads=2, kernel_mode=mode))
            with CompiledModel.from_file(FLOAT, options=options) as model:
                self.assertIs(model.is_fully_accelerated(), full)
        with self.assertRaises(RuntimeError):
            CompiledModel.from_file(FLOAT, options=Options(cpu_options=CpuOptions(kernel_mode=99)))

    def test_environments(self):
        environment = Environment.create(runtime_path='/tmp')
        self.assertEqual(environment.options, EnvironmentOptions('/tmp', '', ''))
        models = [CompiledModel.from_file(path, environment=environment) for path in (FLOAT, INT8)]
        self.assertIs(models[0].environment, models[1].environment)
        environment.close()
        with self.assertRaisesRegex(ValueError, '^Environment is no longer valid$'):
            CompiledModel.from_file(FLOAT, environment=environment)
        with self.assertRaisesRegex(ValueError, '^Pass either options or environment path shortcuts.$'):
            Environment.create(options=EnvironmentOptions(), runtime_path='b')
        self.assertEqual(models[0].create_input_buffers(0)[0].get_tensor_details()['shape'], [1, 28, 28, 1])
        self.inputs[0].write(FLOAT_INPUT)
        models[0].run_by_index(0, self.inputs, self.outputs)
        np.testing.assert_allclose(self.scores(), FLOAT_SCORES, rtol=1e-4, atol=1e-6)

    def test_objects_live_as_long_as_they_are_used(self):
        inputs = CompiledModel.from_file(FLOAT).create_input_buffers(0)
        gc.collect()
        inputs[0].write(FLOAT_INPUT)
        np.testing.assert_array_equal(inputs[0].read(784, np.float32), FLOAT_INPUT.ravel())
        self.model.close()
        self.assertRaises(AttributeError, self.model.get_signature_list)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
