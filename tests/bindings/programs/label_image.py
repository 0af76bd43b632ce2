# SPDX-License-Identifier: Apache-2.0
"""Classifies an image, as programs for tflite_runtime do: label_image.py -m MODEL -i IMAGE -l LABELS.

IMAGE has one byte per pixel. The test runs this program on Deputy and on tflite_runtime.
"""
import argparse

import numpy as np
import tflite_runtime.interpreter as tflite


def quantized(values, detail):
    scale, zero_point = detail['quantization']
    return np.clip(np.round(values / scale + zero_point), -128, 127).astype(detail['dtype'])


parser = argparse.ArgumentParser()
parser.add_argument('-i', '--image', required=True)
parser.add_argument('-m', '--model_file', required=True)
parser.add_argument('-l', '--label_file', required=True)
parser.add_argument('--input_std', default=255.0, type=float)
parser.add_argument('--num_threads', default=None, type=int)
parser.add_argument('-e', '--ext_delegate')
arguments = parser.parse_args()

delegates = [tflite.load_delegate(arguments.ext_delegate, {})] if arguments.ext_delegate else None
interpreter = tflite.Interpreter(model_path=arguments.model_file, experimental_delegates=delegates,
                                 num_threads=arguments.num_threads)
interpreter.allocate_tensors()
source = interpreter.get_input_details()[0]
result = interpreter.get_output_details()[0]

_, height, width, _ = source['shape']
pixels = np.fromfile(arguments.image, np.uint8).reshape(1, height, width, 1)
values = np.float32(pixels) / np.float32(arguments.input_std)
interpreter.set_tensor(source['index'], values if source['dtype'] == np.float32 else quantized(values, source))
interpreter.invoke()

scores = np.squeeze(interpreter.get_tensor(result['index']))
if scores.dtype != np.float32:
    scale, zero_point = result['quantization']
    scores = scale * (np.float32(scores) - zero_point)
with open(arguments.label_file, encoding='utf-8') as file:
    labels = [line.strip() for line in file]
for i in scores.argsort(kind='stable')[-3:][::-1]:
    print(f'{scores[i]:.2f}: {labels[i]}')
