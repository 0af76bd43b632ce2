#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests libdeputy_cpu.so in the real TensorFlow Lite: it runs whole models, agrees with TensorFlow Lite's
own kernels, also after a resize and together with another interpreter.

    tests/bridges/cpu_in_tflite_test.py BUILD_FOLDER [MODEL.tflite...]

Needs Python's `ai_edge_litert` and `numpy` (tools/requirements-golden.txt) in this Python, in the one
named by DEPUTY_PEERS_PYTHON, or else in build/peers/bin/python; skipped without them. Models are the two
of the examples and, if present, those of ../shared/models. Results are compared with TensorFlow Lite's
reference kernels: floats within four times the difference of its optimised kernels and XNNPACK from
these, plus 2e-6 of the greatest magnitude; integers, quantised or not, within 2. For a model that
the reference kernels cannot run, the results are compared with XNNPACK's, and floats must be within 1e-4
of the greatest magnitude plus 1e-6.
"""
import concurrent.futures
import importlib.util
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
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


find_python()
import numpy as np  # noqa: E402, the Python above has it
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate  # noqa: E402

LIBRARY = pathlib.Path(sys.argv[1]).resolve() / 'libdeputy_cpu.so'
MODELS = [pathlib.Path(name) for name in sys.argv[2:]] or [
    *sorted((ROOT / 'examples/digits').glob('*.tflite')),
    *sorted((ROOT.parent / 'shared/models').glob('*.tflite'))]
DIGITS = ROOT / 'examples/digits/digits_float.tflite'


def interpreter(model, options=None, resolver=None, shape=None):
    """Returns an allocated interpreter with the delegate, or without it for a resolver of TensorFlow
    Lite. OpResolverType.AUTO is XNNPACK."""
    delegates = [load_delegate(str(LIBRARY), options or {})] if resolver is None else []
    made = Interpreter(str(model), num_threads=1, experimental_delegates=delegates,
                       experimental_op_resolver_type=resolver or OpResolverType.AUTO)
    if shape:
        made.resize_tensor_input(made.get_input_details()[0]['index'], shape)
    made.allocate_tensors()
    return made


def random_inputs(made, seed):
    random = np.random.default_rng(seed)
    for detail in made.get_input_details():
        dtype, shape = np.dtype(detail['dtype']), tuple(detail['shape'])
        if dtype.kind == 'f':
            yield random.uniform(-1, 1, shape).astype(dtype)
        elif dtype.itemsize == 1:
            yield random.integers(-128, 128, shape).astype(dtype)
        else:
            yield random.integers(0, 8, shape).astype(dtype)


def run(made, seed=7):
    for detail, value in zip(made.get_input_details(), random_inputs(made, seed)):
        made.set_tensor(detail['index'], value)
    made.invoke()
    return [made.get_tensor(detail['index']) for detail in made.get_output_details()]


def count_delegated_nodes(made):
    """Returns the numbers of nodes in a delegate and in the model. Tensors inside a partition have no
    memory."""
    details = made._get_ops_details()  # pylint: disable=protected-access
    delegated = [detail for detail in details if detail['op_name'] == 'DELEGATE']
    written = {int(index) for detail in delegated for index in detail['outputs']}
    nodes = [detail for detail in details if detail['op_name'] != 'DELEGATE']

    def is_within(index):
        if index in written:
            return True
        try:
            made.get_tensor(index)
        except ValueError:
            return True
        return False

    return sum(all(is_within(int(index)) for index in node['outputs']) for node in nodes), len(nodes)


def max_difference(a, b):
    """Returns the largest difference of two arrays; infinite if shapes or types differ, or if only one of
    two elements is NaN."""
    if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(np.isnan(a), np.isnan(b)):
        return float('inf')
    return float(np.max(np.abs(np.nan_to_num(a).astype(np.float64) -
                               np.nan_to_num(b).astype(np.float64)), initial=0))


class InTfLite(unittest.TestCase):

    def expect_agreement(self, found, results):
        reference = results['reference'] or results['xnnpack']
        for i, (ours, plain) in enumerate(zip(found, reference)):
            if ours.dtype.kind != 'f':
                self.assertLessEqual(max_difference(ours, plain), 2)
                continue
            others = [max_difference(result[i], plain) for result in results.values() if result]
            greatest = float(np.max(np.abs(plain), initial=0))
            alone = results['reference'] is None
            self.assertLessEqual(max_difference(ours, plain),
                                 1e-4 * greatest + 1e-6 if alone else 4 * max(others) + 2e-6 * greatest)

    def tflite_results(self, model, shape=None):
        """Returns TensorFlow Lite's results by the name of the resolver; None if it cannot run the model."""
        results = {}
        for name, resolver in (('reference', OpResolverType.BUILTIN_REF),
                               ('optimised', OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES),
                               ('xnnpack', OpResolverType.AUTO)):
            try:
                results[name] = run(interpreter(model, resolver=resolver, shape=shape))
            except (RuntimeError, ValueError) as error:
                print(f'{model.name}: {name} refuses: {str(error).splitlines()[0]}')
                results[name] = None
        return results

    def test_models_agree_with_tflite(self):
        ran = 0
        for model in MODELS:
            with self.subTest(model.name):
                results = self.tflite_results(model)
                if not any(results.values()):
                    continue
                made = interpreter(model)
                delegated, nodes = count_delegated_nodes(made)
                print(f'{model.name}: {delegated} of {nodes} nodes')
                self.assertEqual(delegated, nodes)
                self.expect_agreement(run(made), results)
                ran += 1
        self.assertGreater(ran, 1)

    def test_resizes_to_a_new_shape_and_back(self):
        made = interpreter(DIGITS)
        first = run(made)
        shape = [int(extent) for extent in made.get_input_details()[0]['shape']]
        for batch in (4, 1):
            made.resize_tensor_input(made.get_input_details()[0]['index'], [batch, *shape[1:]])
            made.allocate_tensors()
            self.expect_agreement(run(made), self.tflite_results(DIGITS, [batch, *shape[1:]]))
        self.assertEqual(max_difference(run(made)[0], first[0]), 0)

    def test_interpreters_share_a_delegate_on_separate_threads(self):
        delegate = load_delegate(str(LIBRARY), {'num_threads': '2'})
        expected = run(interpreter(DIGITS))[0]

        def life(_):
            made = Interpreter(str(DIGITS), experimental_delegates=[delegate])
            made.allocate_tensors()
            return max(max_difference(run(made)[0], expected) for _ in range(10))

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual(max(pool.map(life, range(8))), 0)

    def test_invalid_options_are_reported_by_name(self):
        with self.assertRaisesRegex(ValueError, "option 'num_threads': expected a whole number"):
            load_delegate(str(LIBRARY), {'num_threads': 'many'})

    def test_quantised_results_equal_the_reference_kernels(self):
        for model in MODELS:
            if 'int8' in model.name:
                with self.subTest(model.name):
                    found = run(interpreter(model, {'reference': 'true'}))
                    for ours, plain in zip(found, self.tflite_results(model)['reference']):
                        self.assertEqual(max_difference(ours, plain), 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
