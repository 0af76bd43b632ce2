#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the installed package: models on the CPU, and the NPU stub in the process and in one of its own.

The models digits_float.tflite and digits_int8.tflite are in the current directory.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

MODELS = ('digits_float.tflite', 'digits_int8.tflite')


def outputs(delegate=None):
    """Returns the outputs for one random input per model, and the names of what ran the nodes."""
    import numpy as np
    from deputy.interpreter import Interpreter, load_delegate
    values, runners = [], set()
    for model in MODELS:
        delegates = [load_delegate(delegate)] if delegate else None
        interpreter = Interpreter(model, experimental_delegates=delegates)
        interpreter.allocate_tensors()
        detail = interpreter.get_input_details()[0]
        values_in = np.random.default_rng(3).uniform(0, 1, detail['shape'])
        if detail['dtype'] == np.int8:
            values_in = values_in * 100
        interpreter.set_tensor(detail['index'], values_in.astype(detail['dtype']))
        interpreter.invoke()
        values.append(interpreter.get_tensor(interpreter.get_output_details()[0]['index']).tolist())
        runners.update(str(node['run_by']) for node in interpreter.explain()['nodes'])
    return values, sorted(runners)


def isolated():
    """Returns the outputs of a new Python with DEPUTY_ISOLATE, in which a process runs the NPU stub."""
    result = subprocess.run([sys.executable, __file__, '--delegate', 'npu_stub'], check=True, stdout=subprocess.PIPE,
                            env={**os.environ, 'DEPUTY_ISOLATE': '1'})
    return json.loads(result.stdout)


def check(condition, text):
    if not condition:
        sys.exit(f'check_wheel_use: {text}')


def check_package(more):
    import deputy
    errors = {plugin['name']: plugin['error'] for plugin in deputy.plugins()}
    names = {'cpu', 'gpu', 'layers', 'npu_stub', 'onnxruntime', 'replay', 'sandbox', *more}
    check(set(errors) == names, f'expected the plug-ins {sorted(names)}, found {errors}')
    check(not any(errors.values()), f'a plug-in does not load: {errors}')
    expected, _ = outputs()
    inside, runners = outputs('npu_stub')
    check('npu_stub' in runners, f'npu_stub runs no node: {runners}')
    values, runners, mapped = isolated()
    check(not mapped, f'the isolated plug-in is loaded: {mapped}')
    check('sandbox' in runners, f'no process runs a node: {runners}')
    check(values == inside, 'the NPU stub computes other values in a process of its own')
    difference = max(abs(a - b) for a, b in zip(expected[0][0], inside[0][0]))
    check(difference < 1e-4, f'outputs of the NPU stub differ by {difference}')


def check_xnnpack():
    """Checks that XNNPACK's delegate uses the libraries in the package."""
    expected, _ = outputs()
    values, runners = outputs('xnnpack')
    check('xnnpack' in runners, f'xnnpack runs no node: {runners}')
    difference = max(abs(a - b) for a, b in zip(expected[0][0], values[0][0]))
    check(difference < 1e-4, f'outputs of XNNPACK differ by {difference}')
    maps = pathlib.Path('/proc/self/maps').read_text(encoding='utf-8')
    for library in ('XNNPACK', 'pthreadpool', 'cpuinfo'):
        check(f'/deputy/lib/deputy/bundled/libdeputy_bundled_{library}.so.' in maps, f'another {library} is loaded')


def check_names():
    """Checks the packages with the names of the original ones, if their wheel is installed."""
    try:
        from ai_edge_litert.interpreter import Interpreter
        from tflite_runtime.interpreter import Interpreter as Other
    except ModuleNotFoundError:
        return
    import deputy.interpreter
    check(Interpreter is Other is deputy.interpreter.Interpreter, 'another package is installed')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--delegate', help='only print the outputs with this delegate, what ran the nodes, and '
                                           "the mapped files with the delegate's name, as JSON")
    parser.add_argument('--more', nargs='*', default=[], metavar='PLUG-IN', help='plug-ins that only some wheels have')
    arguments = parser.parse_args()
    name = arguments.delegate
    if name:
        maps = pathlib.Path('/proc/self/maps')
        values, runners = outputs(name)
        print(json.dumps([values, runners, [line for line in maps.read_text(encoding='utf-8').splitlines()
                                            if name in line]]))
    else:
        check_package(arguments.more)
        check_names()
        if 'xnnpack' in arguments.more:
            check_xnnpack()


if __name__ == '__main__':
    main()
