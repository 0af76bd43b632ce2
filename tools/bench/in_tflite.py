#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares libdeputy_cpu.so with XNNPACK, both inside the real TensorFlow Lite.

    in_tflite.py [--build FOLDER] [--rounds N] [--block-ms MS] MODEL.tflite...

Runs in one process with one thread and equal inputs; blocks of inferences alternate. Compares the
CPU time of the process, which other processes on a shared machine disturb least; the minimum of
each engine counts. Prints a Markdown table with the ratio per model, and the geometric mean. Needs
Python's `ai_edge_litert` and `numpy` (tools/requirements-bench.txt).
"""
import argparse
import math
import pathlib
import sys
import time

try:
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, load_delegate
except ModuleNotFoundError as error:
    sys.exit(f'{error.name} is missing: see tools/requirements-bench.txt')

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def make(model, delegates):
    """Returns an interpreter with random inputs of a fixed seed that has run once."""
    made = Interpreter(str(model), num_threads=1, experimental_delegates=delegates)
    made.allocate_tensors()
    random = np.random.default_rng(7)
    for detail in made.get_input_details():
        dtype, shape = np.dtype(detail['dtype']), tuple(detail['shape'])
        value = random.uniform(-1, 1, shape) if dtype.kind == 'f' else random.integers(0, 8, shape)
        made.set_tensor(detail['index'], value.astype(dtype))
    made.invoke()
    return made


def min_of_block(made, seconds):
    """Returns the CPU seconds of the shortest inference in a block of `seconds`."""
    minimum, end = math.inf, time.process_time() + seconds
    while True:
        begin = time.process_time()
        made.invoke()
        now = time.process_time()
        minimum = min(minimum, now - begin)
        if now >= end:
            return minimum


def compare(model, library, rounds, seconds):
    """Returns the minimum milliseconds of our library and of XNNPACK."""
    engines = [make(model, [load_delegate(str(library), {'num_threads': '1'})]), make(model, None)]
    minimum = [math.inf, math.inf]
    for turn in range(rounds):
        for place in ((0, 1) if turn % 2 == 0 else (1, 0)):
            minimum[place] = min(minimum[place], min_of_block(engines[place], seconds))
    return [1000 * value for value in minimum]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--build', type=pathlib.Path, default=ROOT / 'build/release')
    parser.add_argument('--rounds', type=int, default=12, help='blocks of each engine')
    parser.add_argument('--block-ms', type=float, default=60, help='minimum length of a block')
    parser.add_argument('models', nargs='+', type=pathlib.Path)
    arguments = parser.parse_args()
    print('| model | libdeputy_cpu | XNNPACK | ratio |\n|---|---|---|---|')
    ratios = []
    for model in arguments.models:
        try:
            ours, theirs = compare(model, arguments.build / 'libdeputy_cpu.so', arguments.rounds,
                                   arguments.block_ms / 1000)
        except (RuntimeError, ValueError) as error:
            print(f'{model.name}: {str(error).splitlines()[0]}', file=sys.stderr)
            continue
        ratios.append(ours / theirs)
        print(f'| {model.stem} | {ours:.3f} | {theirs:.3f} | {ratios[-1]:.2f} |', flush=True)
    if not ratios:
        return 1
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f'| geometric mean | | | {mean:.2f} |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
