#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the plug-in of examples/cpp_delegate in the real TensorFlow Lite: the nodes that it runs, and results.

    cpp_delegate_in_tflite_test.py BUILD_FOLDER

tests/bindings/cpp/cpp_delegate_test.cc has the same values for Deputy. Needs Python's `ai_edge_litert` and
`numpy` (tools/requirements-golden.txt) in the Python named by DEPUTY_PEERS_PYTHON, or else in
build/peers/bin/python; skipped without them.
"""
import importlib.util
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build/release').resolve()
SKIPPED = 77


def find_python():
    """Runs this script again in a Python that has TensorFlow Lite, or skips it."""
    if importlib.util.find_spec('ai_edge_litert') and importlib.util.find_spec('numpy'):
        return
    python = os.environ.get('DEPUTY_PEERS_PYTHON', str(ROOT / 'build/peers/bin/python'))
    if os.path.exists(python) and 'DEPUTY_TEST_AGAIN' not in os.environ:
        os.execve(python, [python, *sys.argv], {**os.environ, 'DEPUTY_TEST_AGAIN': '1'})
    print(f'skipped: no ai_edge_litert in {sys.executable} and none at {python} '
          '(tools/requirements-golden.txt; DEPUTY_PEERS_PYTHON names another Python)')
    sys.exit(SKIPPED)


if 'DEPUTY_SANITIZE:STRING=\n' not in (BUILD / 'CMakeCache.txt').read_text(encoding='utf-8'):
    print('skipped: Python cannot open a library that is built with a sanitizer')
    sys.exit(SKIPPED)
find_python()
import numpy as np  # noqa: E402, the Python above has it
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate  # noqa: E402

LIBRARY = str(BUILD / 'examples/libmultiply_add_delegate.so')
MODEL = str(ROOT / 'examples/cpp_delegate/multiply_add.tflite')
X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
Y = np.array([[2, 2, 2], [-1, -1, -1]], np.float32)
RESULT = [[-1.5, -2.5, -3.5], [4, 5, 6]]


class CppDelegateInTfliteTest(unittest.TestCase):

    def run_model(self, options):
        """Returns the names of all nodes, with those that the delegate added, and the result."""
        made = Interpreter(MODEL, experimental_delegates=[load_delegate(LIBRARY, options)],
                           experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        made.allocate_tensors()
        for detail, value in zip(made.get_input_details(), (X, Y)):
            made.set_tensor(detail['index'], value)
        for _ in range(2):
            made.invoke()
        names = [op['op_name'] for op in made._get_ops_details()]
        return names, made.get_tensor(made.get_output_details()[0]['index']).tolist()

    def test_two_partitions_run_in_the_delegate(self):
        names, result = self.run_model({})
        self.assertEqual(names.count('DELEGATE'), 2, names)
        self.assertEqual(result, RESULT)

    def test_small_partitions_stay_with_tflite(self):
        names, result = self.run_model({'min_nodes': '2'})
        self.assertEqual(names.count('DELEGATE'), 1, names)
        self.assertEqual(result, RESULT)

    def test_invalid_options_are_rejected(self):
        with self.assertRaises(ValueError):
            load_delegate(LIBRARY, {'speed': '1'})


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
