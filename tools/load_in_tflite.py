#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that TensorFlow Lite and Deputy pass the same nodes to one delegate library.

    load_in_tflite.py [--build FOLDER] [--golden FOLDER] MODEL.tflite...

Needs Python's `ai_edge_litert` and `numpy`, and a build directory with its tests. The library is
tests/plugins/elementwise.c, which logs to a file: claimed nodes, partitions with their tensors in
order, each invocation. The two files must be equal line by line, and the outputs must agree: floats
within four times the spread that golden/models/index.json records plus 2e-6 of the largest
magnitude (1e-4 of it if nothing is recorded), integers exactly, because both compute in reference
arithmetic. Prints a line per model and set of operators; exits with 1 if any differs or none is
equal.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate
except ModuleNotFoundError as error:
    sys.exit(f'{error.name} is missing: see tools/requirements-golden.txt')

# Sets of operators for the option "ops" of the library: all that it supports; ADD; MUL and MINIMUM;
# activations; RESHAPE.
OPERATORS = {'all': '', 'add': '0', 'mul': '18,57', 'activations': '19,21,117', 'reshape': '22'}


class Refused(Exception):
    """A runtime does not run the model."""


def make_inputs(details, folder):
    """Returns the golden inputs if there are any, otherwise random ones from a fixed seed."""
    random, inputs = np.random.default_rng(7), []
    for i, detail in enumerate(details):
        shape, dtype = tuple(detail['shape']), np.dtype(detail['dtype'])
        file = folder / f'in{i}.npy'
        if folder.name and file.exists():
            inputs.append(np.load(file).astype(dtype).reshape(shape))
        elif dtype.kind == 'f':
            inputs.append(random.uniform(-1, 1, shape).astype(dtype))
        elif dtype.kind in 'iu':
            inputs.append(random.integers(0, 8, shape).astype(dtype))
        else:
            raise Refused(f'inputs of type {dtype} are not supported')
    return inputs


def run_in_tflite(library, options, model, golden):
    """Returns inputs and outputs of one inference in TensorFlow Lite with its reference kernels."""
    try:
        interpreter = Interpreter(
            str(model), num_threads=1,
            experimental_delegates=[load_delegate(str(library), options)],
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        interpreter.allocate_tensors()
        inputs = make_inputs(interpreter.get_input_details(), golden)
        for detail, value in zip(interpreter.get_input_details(), inputs):
            interpreter.set_tensor(detail['index'], value)
        interpreter.invoke()
        outputs = [interpreter.get_tensor(detail['index'])
                   for detail in interpreter.get_output_details()]
    except (RuntimeError, ValueError) as error:
        raise Refused(str(error).strip().split('\n')[0]) from None
    return inputs, outputs


def run_in_deputy(command, library, options, model, inputs, folder):
    """Returns the outputs of one inference in Deputy."""
    arguments = [command, 'run', model, '--reference', '--output-dir', folder / 'out', '--delegate',
                 ','.join([str(library), *(f'{key}={value}' for key, value in options.items())])]
    for i, value in enumerate(inputs):
        np.save(folder / f'in{i}.npy', value)
        arguments += ['--input', f'{i}={folder}/in{i}.npy']
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(done.stderr.strip())
    files = sorted((folder / 'out').iterdir(), key=lambda path: int(path.name.split('_')[0]))
    return [np.load(file) for file in files]


def differences(expected, ours, spreads):
    """Yields the differences as texts."""
    if len(expected) != len(ours):
        yield f'{len(expected)} outputs, ours {len(ours)}'
    for i, (a, b) in enumerate(zip(expected, ours)):
        if a.shape != b.shape or a.dtype != b.dtype:
            yield f'output {i}: {a.dtype}{a.shape}, ours {b.dtype}{b.shape}'
        elif a.dtype.kind == 'f':
            largest = float(np.max(np.abs(a), initial=0))
            limit = 4 * spreads[i] + 2e-6 * largest if i < len(spreads) else 1e-4 * largest
            apart = float(np.max(np.abs(a - b), initial=0))
            if not apart <= limit or not np.array_equal(np.isnan(a), np.isnan(b)):
                yield f'output {i}: difference {apart:g}, allowed {limit:g}'
        else:
            apart = int(np.max(np.abs(a.astype(np.int64) - b.astype(np.int64)), initial=0))
            if apart > 0:
                yield f'output {i}: difference {apart}, allowed 0'


def compare(build, model, operators, golden, spreads):
    """Returns the number of nodes that ran in the library; true if nothing differs, None if
    TensorFlow Lite rejects the model; and a text for the report."""
    library = build / 'tests/plugins/libelementwise.so'
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = [{'log': str(folder / runtime)} for runtime in ('expected', 'ours')]
        for option in options:
            option.update({'ops': operators} if operators else {})
        try:
            inputs, expected = run_in_tflite(library, options[0], model, golden)
        except Refused as refusal:
            return 0, None, f'TensorFlow Lite refuses: {refusal}'
        try:
            ours = run_in_deputy(build / 'deputy', library, options[1], model, inputs, folder)
        except Refused as refusal:
            return 0, False, f'Deputy refuses: {refusal}'
        logs = [(folder / runtime).read_text().splitlines() for runtime in ('expected', 'ours')]
    wrong = list(differences(expected, ours, spreads))
    if logs[0] != logs[1]:
        at = next((i for i, (a, b) in enumerate(zip(*logs)) if a != b), min(map(len, logs)))
        wrong.append(f'line {at + 1} of what it was given: '
                     f'{logs[0][at:at + 1]}, ours {logs[1][at:at + 1]}')
    partitions = [line.split()[1:] for line in logs[1] if line.startswith('partition ')]
    ran = sum(line == 'invoke' for line in logs[1])
    if ran != len(partitions):
        wrong.append(f'{ran} of {len(partitions)} partitions ran')
    nodes = sum(map(len, partitions))
    return nodes, not wrong, f'{nodes} nodes in {len(partitions)} partitions' + ''.join(
        f'; {text}' for text in wrong)


def recorded(golden, model):
    """Returns the directory with inputs of a model, and per output the larger of the recorded
    spreads."""
    index = golden / 'models/index.json'
    if not golden.name or not index.exists():
        return pathlib.Path(), []
    for case in json.loads(index.read_text()):
        if case['model'] == model.name:
            spreads = [max(output.get('optimised_minus_reference') or 0,
                           output.get('xnnpack_minus_reference') or 0)
                       for output in case['outputs']]
            return golden / 'models' / model.stem / case['set'], spreads
    return pathlib.Path(), []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--golden', type=pathlib.Path, default=pathlib.Path())
    parser.add_argument('models', nargs='+', type=pathlib.Path)
    arguments = parser.parse_args()
    counts, total = {True: 0, False: 0, None: 0}, 0
    for model in arguments.models:
        inputs, spreads = recorded(arguments.golden, model)
        for name, operators in OPERATORS.items():
            nodes, same, text = compare(arguments.build, model, operators, inputs, spreads)
            counts[same] += 1
            total += nodes
            verdict = {True: 'same', False: 'DIFFERENT', None: 'skipped'}[same]
            print(f'{verdict:9} {model.name} {name}: {text}', flush=True)
    print(f'{counts[True]} equal, {counts[False]} different, {counts[None]} skipped; {total} nodes')
    return 1 if counts[False] or not counts[True] else 0


if __name__ == '__main__':
    sys.exit(main())
