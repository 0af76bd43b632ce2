# SPDX-License-Identifier: Apache-2.0
"""Runs the signature of a model, as programs for ai_edge_litert do: signatures.py MODEL.

The test runs this program on Deputy and on ai_edge_litert.
"""
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

try:
    load_delegate('libabsent_delegate.so')
except (ValueError, OSError):
    print('no delegate, so the CPU is used')

interpreter = Interpreter(sys.argv[1], num_threads=2, experimental_op_resolver_type=OpResolverType.BUILTIN)
for key, names in interpreter.get_signature_list().items():
    print(key, names)
runner = interpreter.get_signature_runner()
details = runner.get_input_details()
random = np.random.default_rng(1)
inputs = {name: random.uniform(-1, 1, detail['shape']).astype(detail['dtype'])
          for name, detail in sorted(details.items())}
for name, detail in sorted(details.items()):
    print(name, detail['name'], detail['shape'].tolist(), detail['dtype'].__name__)
for name, values in runner(**inputs).items():
    print(name, values.dtype, values.shape, ' '.join(f'{value:.3f}' for value in values.ravel()[:8]))

interpreter = Interpreter(sys.argv[1])
interpreter.allocate_tensors()
first = interpreter.get_input_details()[0]
read = interpreter.tensor(interpreter.get_output_details()[0]['index'])
interpreter.tensor(first['index'])().fill(0.5)
interpreter.invoke()
print(' '.join(f'{value:.3f}' for value in read().ravel()[:8]))
interpreter.resize_tensor_input(first['index'], first['shape'])
interpreter.allocate_tensors()
interpreter.reset_all_variables()
