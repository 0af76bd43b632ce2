#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""digits.c in Python: digits.py MODEL IMAGES. Needs the wheel of `make wheel`, and numpy; it also
runs on TensorFlow Lite with `from tflite_runtime.interpreter import Interpreter`.
"""
import sys

try:
    import numpy as np
    from deputy.interpreter import Interpreter
except ModuleNotFoundError as error:
    sys.exit(f'{error.name} is missing: pip install the wheel of `make wheel`')


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    interpreter = Interpreter(model_path=arguments[0])
    interpreter.allocate_tensors()
    first = interpreter.get_input_details()[0]
    last = interpreter.get_output_details()[0]
    images = np.fromfile(arguments[1], np.uint8).reshape(-1, *first['shape'])
    for image in images:
        interpreter.set_tensor(first['index'], image.astype(np.float32) / np.float32(255))
        interpreter.invoke()
        scores = interpreter.get_tensor(last['index'])[0]
        print(f'{scores.argmax()} {scores.max():.4f}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
