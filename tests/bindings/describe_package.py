#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes the interface of tflite_runtime or ai_edge_litert, or of Deputy's package of that name, as JSON.

    describe_package.py PACKAGE MODEL              the installed package
    describe_package.py --write FOLDER PYTHON...   writes FOLDER/PACKAGE.json for each package that one of these
                                                   Pythons has

The JSON has the public names of each module, the arguments of functions, the members of classes, and the exceptions
of wrong calls on MODEL, which is examples/digits/digits_float.tflite. tests/data/python has those of the original
packages.
"""
import argparse
import enum
import importlib
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'examples'))
from classify import read_png  # noqa: E402

DIGITS = ROOT / 'examples/digits'
MODEL = DIGITS / 'digits_float.tflite'
IMAGES = ('0000_8', '0004_2', '0007_1')
PACKAGES = ('tflite_runtime', 'ai_edge_litert')
MODULES = ('interpreter', 'metrics_interface', 'metrics_portable')


def arguments_of(function):
    """Returns the arguments as texts: name, name=default, *name or **name."""
    stars = {inspect.Parameter.VAR_POSITIONAL: '*', inspect.Parameter.VAR_KEYWORD: '**'}
    return [stars.get(parameter.kind, '') + parameter.name +
            ('' if parameter.default is parameter.empty else f'={parameter.default}')
            for parameter in inspect.signature(function).parameters.values()]


def members_of(cls):
    """Returns the public methods and properties of a class, and the special methods that programs use."""
    found = {}
    for name, value in inspect.getmembers(cls):
        if name.startswith('_') and name not in ('__init__', '__call__') or name in dir(enum.Enum):
            continue
        if isinstance(value, property):
            found[name] = {'kind': 'property', 'can be set': value.fset is not None}
        elif isinstance(value, enum.Enum):
            found[name] = {'kind': 'enumerator', 'value': value.value}
        elif inspect.isfunction(value):
            found[name] = {'kind': 'method', 'arguments': arguments_of(value)}
    return found


def describe(value):
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__mro__[1:-1]]
        return {'kind': 'class', 'bases': bases, 'members': members_of(value)}
    return {'kind': 'function', 'arguments': arguments_of(value)}


def module_names(module):
    return {name: describe(value) for name, value in vars(module).items()
            if not name.startswith('_') and not isinstance(value, types.ModuleType) and
            getattr(value, '__module__', 'typing') not in ('builtins', 'typing')}


def wrong_calls(api, model):
    """Returns functions that must fail, by description."""
    import numpy as np
    content = pathlib.Path(model).read_bytes()

    def created(**options):
        return api.Interpreter(model_content=content, **options)

    def allocated():
        interpreter = created()
        interpreter.allocate_tensors()
        return interpreter

    def viewed(call):
        interpreter = allocated()
        view = interpreter.tensor(interpreter.get_input_details()[0]['index'])()
        call(interpreter)
        return view

    source = created().get_input_details()[0]['index']
    return {
        'a model that does not exist': lambda: api.Interpreter('absent.tflite'),
        'a model of arbitrary bytes': lambda: api.Interpreter(model_content=bytes(64)),
        'no model': api.Interpreter,
        'a path and a content': lambda: api.Interpreter(model, content),
        'zero threads': lambda: created(num_threads=0),
        'a text as number of threads': lambda: created(num_threads='two'),
        'a text as kind of kernels': lambda: created(experimental_op_resolver_type='BUILTIN'),
        'an unknown argument': lambda: created(delegate='gpu', num_thread=1),
        'a delegate that does not exist': lambda: api.load_delegate('absent.so'),
        'invoke before allocate_tensors': lambda: created().invoke(),
        'get_tensor before allocate_tensors': lambda: created().get_tensor(source),
        'set_tensor before allocate_tensors':
            lambda: created().set_tensor(source, np.zeros((1, 28, 28, 1), np.float32)),
        'a tensor beyond the last': lambda: allocated().get_tensor(1000),
        'a negative tensor': lambda: allocated().get_tensor(-1),
        'a text as tensor': lambda: allocated().get_tensor('image'),
        'values of another type': lambda: allocated().set_tensor(source, np.zeros((1, 28, 28, 1), np.int8)),
        'values of another shape': lambda: allocated().set_tensor(source, np.zeros((1, 28, 27, 1), np.float32)),
        'values of another rank': lambda: allocated().set_tensor(source, np.zeros(784, np.float32)),
        'a shape of rank two': lambda: allocated().resize_tensor_input(source, [[1, 28, 28, 1]]),
        'a strict resize of a fixed shape':
            lambda: allocated().resize_tensor_input(source, [2, 28, 28, 1], strict=True),
        'a signature that does not exist': lambda: allocated().get_signature_runner('absent'),
        'the only signature of none': lambda: allocated().get_signature_runner(),
        'invoke while a view exists': lambda: viewed(lambda interpreter: interpreter.invoke()),
        'allocate_tensors while a view exists': lambda: viewed(lambda interpreter: interpreter.allocate_tensors()),
        'a runner without an interpreter': api.SignatureRunner,
        'an assignment to a property':
            lambda: setattr(created(), 'experimental_compress_quantization_zero_points', True),
        'a custom operator that does not exist':
            lambda: api.InterpreterWithCustomOps(['absent_symbol'], model_content=content),
    }


def exceptions(api, model):
    """Returns the name of the exception's class for each wrong call, '' without an exception."""
    raised = {}
    for text, call in wrong_calls(api, model).items():
        try:
            call()
            raised[text] = ''
        except Exception as error:  # pylint: disable=broad-except
            raised[text] = type(error).__name__
    return raised


def program_outputs(python, package, environment):
    """Returns the output lines of the programs in tests/bindings/programs for a package."""
    with tempfile.TemporaryDirectory() as folder:
        def output(program, *words):
            words = [python, ROOT / 'tests/bindings/programs' / program, *words]
            return subprocess.run(words, env=environment, cwd=folder, check=True, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()

        if package == 'ai_edge_litert':
            return {name: output('signatures.py', ROOT / f'tests/data/streams/{name}.tflite')
                    for name in ('keras_fused_lstm_f32', 'keras_fused_lstm_dynamic')}
        found = {}
        for image in IMAGES:
            pathlib.Path(folder, image).write_bytes(read_png(DIGITS / f'images/{image}.png')[2])
            for model in ('digits_float', 'digits_int8'):
                found[f'{model} {image}'] = output('label_image.py', '-m', DIGITS / f'{model}.tflite', '-i', image,
                                                   '-l', DIGITS / 'labels.txt', '--num_threads', '2')
        return found


def description(package, model):
    top = importlib.import_module(package)
    modules = {name: importlib.import_module(f'{package}.{name}') for name in MODULES}
    return {'version': top.__version__,
            'modules': {name: module_names(module) for name, module in modules.items()},
            'exceptions': exceptions(modules['interpreter'], model)}


def described_by(python, package):
    """Returns the description by another Python; None if it lacks the package."""
    environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    result = subprocess.run([python, __file__, package, MODEL], env=environment, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if result.returncode:
        return None
    return {**json.loads(result.stdout), 'programs': program_outputs(python, package, environment)}


def write(folder, pythons):
    for package in PACKAGES:
        found = next(filter(None, (described_by(python, package) for python in pythons)), None)
        if found is None:
            sys.exit(f'describe_package: {package} is missing in {pythons}')
        text = json.dumps(found, indent=1, sort_keys=True)
        (pathlib.Path(folder) / f'{package}.json').write_text(text + '\n', encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--write', metavar='FOLDER', help='write the descriptions by the given Pythons')
    parser.add_argument('words', nargs='+', metavar='WORD', help='PACKAGE MODEL, or Pythons')
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.write, arguments.words)
    else:
        print(json.dumps(description(*arguments.words)))


if __name__ == '__main__':
    main()
