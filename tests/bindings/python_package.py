#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Support for tests of the Python package: builds the wheels, imports the package from the first, and writes
models.

The first argument of the script that imports this module is the build folder (the default is build/release).
Needs numpy; if this Python has none, the system's is tried.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
DIGITS = ROOT / 'examples/digits'
FLOAT, INT8 = str(DIGITS / 'digits_float.tflite'), str(DIGITS / 'digits_int8.tflite')
TINY = str(ROOT / 'examples/conv_mean.tflite')
STREAMS = ROOT / 'tests/data/streams'
SIGNED = str(STREAMS / 'keras_fused_lstm_f32.tflite')
STATEFUL = str(STREAMS / 'svdf_i8.tflite')

try:
    import numpy as np
except ModuleNotFoundError:
    SYSTEM = '/usr/bin/python3'
    if sys.executable != SYSTEM and not subprocess.run([SYSTEM, '-c', 'import numpy'], check=False,
                                                       capture_output=True).returncode:
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    print('numpy is not installed')
    sys.exit(77)
if 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8'):
    print('a sanitized library needs a sanitized Python')
    sys.exit(77)

FOLDER = tempfile.TemporaryDirectory()
WHEEL, SHIM_WHEEL = map(pathlib.Path, subprocess.run(
    [sys.executable, ROOT / 'tools/make_wheel.py', BUILD, FOLDER.name],
    capture_output=True, text=True, check=True).stdout.split())


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        for entry in archive.infolist():  # executable files stay so, as pip installs them
            os.chmod(f'{folder}/{entry.filename}', entry.external_attr >> 16 & 0o777)


unpack(WHEEL, f'{FOLDER.name}/site')
sys.path.insert(0, f'{FOLDER.name}/site')
for variable in ('DEPUTY_LIBRARY', 'DEPUTY_PLUGIN_PATH'):
    os.environ.pop(variable, None)

from deputy.interpreter import Interpreter  # noqa: E402, the package of the wheel above


def allocated(model, **options):
    interpreter = Interpreter(model, **options)
    interpreter.allocate_tensors()
    return interpreter


def ends(interpreter):
    """Returns the indices of the first input and output."""
    return (interpreter.get_input_details()[0]['index'],
            interpreter.get_output_details()[0]['index'])


def random_input(interpreter, seed=3):
    detail = interpreter.get_input_details()[0]
    values = np.random.default_rng(seed).uniform(0, 1, detail['shape'])
    return (values * 100).astype(np.int8) if detail['dtype'] == np.int8 else values.astype(np.float32)


def run(interpreter, value):
    first, last = ends(interpreter)
    interpreter.set_tensor(first, value)
    interpreter.invoke()
    return interpreter.get_tensor(last)


def _writer():
    """Loads tests/tools/explain_test.py, which has a writer of model files."""
    module = importlib.util.spec_from_file_location('explain_test', ROOT / 'tests/tools/explain_test.py')
    explain_test = importlib.util.module_from_spec(module)
    module.loader.exec_module(explain_test)
    return explain_test


def custom_model(name=b'Double'):
    """Returns a model of one custom operator on four floats."""
    return _writer().build_model([(name, [0])])


FLOAT32, STRING = 0, 5  # Numbers of the model format.


def signed_model(tensor_type=FLOAT32, operators=(59, 59)):
    """Returns a model of two subgraphs: y = operator(x) with the signature 'first', v = operator(u) with
    'second'. The signatures' names differ from those of the tensors. NEG is operator 59."""
    writer = _writer()
    table = writer.Table

    def subgraph(names, code):
        tensors = [table(_0=[1, 4], _1=('b', tensor_type), _3=name) for name in names]
        return table(_0=tensors, _1=[0], _2=[1], _3=[table(_0=('I', code), _1=[0], _2=[1])])

    def signature(key, index):
        return table(_0=[table(_0=key + b'_in', _1=('I', 0))],
                     _1=[table(_0=key + b'_out', _1=('I', 1))], _2=key, _4=('I', index))

    codes = [table(_0=('b', min(code, 127)), _2=('i', 1), _3=('i', code)) for code in operators]
    graphs = [subgraph((b'x', b'y'), 0), subgraph((b'u', b'v'), 1)]
    return bytes(writer.Writer(table(
        _0=('I', 3), _1=codes, _2=graphs, _4=[table()],
        _7=[signature(b'first', 0), signature(b'second', 1)])).data)
