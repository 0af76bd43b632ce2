#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow Lite's results for the models of this repository, for tests/agreement/models_golden_test.cc.

    venv/bin/python tests/golden/whole.py

tests/data/whole/index.json lists the cases: model, set of inputs, and for each output its greatest
magnitude and the differences of the optimised kernels and XNNPACK from the reference kernels. The files
<model>/<set>/in<i>.npy and out<i>.npy hold the inputs and the reference kernels' outputs.
"""
import json
import pathlib
import sys

try:
    import numpy
    from ai_edge_litert import interpreter as litert
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is missing: see tools/requirements-golden.txt')

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / 'tests' / 'data' / 'whole'
MODELS = ('examples/digits/digits_float.tflite', 'examples/digits/digits_int8.tflite')
KINDS = {'reference': litert.OpResolverType.BUILTIN_REF,
         'optimised': litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
         'xnnpack': litert.OpResolverType.AUTO}


def interpreter_of(path, kind):
    made = litert.Interpreter(model_path=str(path), experimental_op_resolver_type=KINDS[kind])
    made.allocate_tensors()
    return made


def inputs_of(details, draws):
    """Returns floats in [-1, 1], the whole range of int8."""
    for detail in details:
        shape, dtype = detail['shape'], detail['dtype']
        if dtype == numpy.int8:
            yield draws.integers(-128, 128, shape).astype(dtype)
        else:
            yield draws.uniform(-1, 1, shape).astype(dtype)


def outputs_of(path, kind, inputs):
    made = interpreter_of(path, kind)
    for detail, values in zip(made.get_input_details(), inputs):
        made.set_tensor(detail['index'], values)
    made.invoke()
    return [made.get_tensor(detail['index']) for detail in made.get_output_details()]


def spread(one, other):
    return float(numpy.max(numpy.abs(one.astype(numpy.float64) - other.astype(numpy.float64))))


def case(model, name, seed):
    path = ROOT / model
    made = interpreter_of(path, 'reference')
    inputs = list(inputs_of(made.get_input_details(), numpy.random.default_rng(seed)))
    results = {kind: outputs_of(path, kind, inputs) for kind in KINDS}
    folder = FOLDER / path.stem / name
    folder.mkdir(parents=True, exist_ok=True)
    for i, values in enumerate(inputs):
        numpy.save(folder / f'in{i}.npy', values)
    for i, values in enumerate(results['reference']):
        numpy.save(folder / f'out{i}.npy', values)
    rows = [{'max_abs': float(numpy.max(numpy.abs(right.astype(numpy.float64)))),
             'optimised_minus_reference': spread(right, results['optimised'][i]),
             'xnnpack_minus_reference': spread(right, results['xnnpack'][i])}
            for i, right in enumerate(results['reference'])]
    return {'model': model, 'set': name, 'inputs': len(inputs), 'outputs': rows}


def main():
    cases = [case(model, f'random{seed}', seed) for model in MODELS for seed in (1, 2)]
    (FOLDER / 'index.json').write_text(json.dumps(cases, indent=1) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
