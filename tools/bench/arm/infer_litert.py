#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a model COUNT times on one thread in LiteRT with XNNPACK and prints the mean magnitude of each
output tensor. Runs in the emulated Python; the inputs are those of infer.c.

    infer_litert.py MODEL COUNT
"""
import argparse


def values(shape, dtype):
    """Returns float32 values in [-1, 1), 8-bit values of the whole range, or zeros of other types."""
    import numpy as np
    indices = np.arange(np.prod(shape, dtype=np.int64), dtype=np.uint64)
    hashes = (indices * np.uint64(2654435761) & np.uint64(0xffffffff)).astype(np.uint32)
    if dtype == np.float32:
        data = (hashes >> 16).astype(np.float32) / np.float32(32768) - np.float32(1)
    elif dtype in (np.int8, np.uint8):
        data = (hashes >> 24).astype(np.uint8).view(dtype)
    else:
        data = np.zeros(len(indices), dtype)
    return data.reshape(shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('model')
    parser.add_argument('count', type=int)
    arguments = parser.parse_args()
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(model_path=arguments.model, num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail['index'], values(detail['shape'], detail['dtype']))
    for _ in range(arguments.count):
        interpreter.invoke()
    for detail in interpreter.get_output_details():
        output = interpreter.get_tensor(detail['index'])
        known = output.dtype in (np.float32, np.int8, np.uint8) and output.size
        print(f'{np.abs(output.astype(np.float64)).mean() if known else 0:.9g}')


if __name__ == '__main__':
    main()
