#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package: threads that share an interpreter, callbacks, and the order in which objects
are deleted. Misuse raises an exception and never crashes the process.

    python_threads_test.py BUILD_FOLDER
"""
import collections
import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest

from python_package import (BUILD, FLOAT, FOLDER, allocated, custom_model, ends, random_input,
                            signed_model)

import numpy as np
from deputy._native import Owned
from deputy.interpreter import (Interpreter, InterpreterWithCustomOps, load_delegate)

OPERATORS = ctypes.CDLL(str(BUILD / 'tests/plugins/libcustom_ops.so'))
CALLBACK = ctypes.CFUNCTYPE(None)
BUSY = 'is running on this interpreter'


def during_invoke(function):
    """Makes the operator "Callback" call the function; the result keeps the callback alive."""
    callback = CALLBACK(function)
    OPERATORS.SetDuringInvoke(callback)
    return callback


def with_callback():
    interpreter = InterpreterWithCustomOps(custom_op_registerers=[OPERATORS.RegisterCallback],
                                           model_content=custom_model(b'Callback'))
    interpreter.allocate_tensors()
    return interpreter


def refused_calls(interpreter):
    """Returns calls that must not run during invoke(), by name."""
    first, last = ends(interpreter)
    value = np.ones((1, 4), np.float32)
    view = interpreter.tensor(first)
    return {'invoke': interpreter.invoke,
            'allocate_tensors': interpreter.allocate_tensors,
            'resize_tensor_input': lambda: interpreter.resize_tensor_input(first, [1, 4]),
            'set_tensor': lambda: interpreter.set_tensor(first, value),
            'get_tensor': lambda: interpreter.get_tensor(last),
            'tensor': view,
            'reset_all_variables': interpreter.reset_all_variables}


def outcome(call):
    """Returns the text of the RuntimeError, or '' if there was none."""
    try:
        call()
        return ''
    except RuntimeError as error:
        return str(error)


class Blocked:
    """An interpreter in whose invoke() a thread waits until `leave` is called."""

    def __init__(self):
        self.interpreter = with_callback()
        self.inside, self.go, self.error = threading.Event(), threading.Event(), None
        self.calls = refused_calls(self.interpreter)
        self.callback = during_invoke(self.wait)
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        assert self.inside.wait(60)

    def wait(self):
        self.inside.set()
        self.go.wait(60)

    def work(self):
        try:
            self.interpreter.invoke()
        except RuntimeError as error:
            self.error = error

    def leave(self):
        self.go.set()
        self.thread.join(60)


class SharedInterpreterTest(unittest.TestCase):

    def tearDown(self):
        OPERATORS.SetDuringInvoke(None)

    def test_calls_during_invoke_are_runtime_errors(self):
        blocked = Blocked()
        outcomes = {name: outcome(call) for name, call in blocked.calls.items()}
        blocked.leave()
        for name, text in outcomes.items():
            self.assertIn(f'{name}: invoke {BUSY}', text)
        self.assertIsNone(blocked.error)
        for name, call in blocked.calls.items():
            OPERATORS.SetDuringInvoke(None)
            if name == 'resize_tensor_input':
                blocked.interpreter.allocate_tensors()
            self.assertEqual(outcome(call), '', name)

    def test_calls_during_a_signature_run_are_runtime_errors(self):
        interpreter = Interpreter(model_content=signed_model())
        runner, other = (interpreter.get_signature_runner(key) for key in ('first', 'second'))
        value = np.ones((1, 4), np.float32)
        with interpreter._changing('SignatureRunner'):
            texts = [outcome(call) for call in (
                interpreter.invoke, lambda: runner(first_in=value), lambda: other(second_in=value))]
        self.assertTrue(all(f'SignatureRunner {BUSY}' in text for text in texts), texts)
        self.assertEqual(runner(first_in=value)['first_out'].tolist(), [[-1] * 4])

    def test_details_wait_for_invoke(self):
        blocked, found = Blocked(), []
        reader = threading.Thread(target=lambda: found.append(
            blocked.interpreter.get_input_details()[0]['name']))
        reader.start()
        reader.join(0.05)
        before = list(found)
        blocked.leave()
        reader.join(60)
        self.assertEqual((before, found), ([], ['t0']))

    def test_calls_from_a_callback_are_runtime_errors_and_details_are_not(self):
        interpreter = with_callback()
        calls, texts, names = refused_calls(interpreter), {}, []

        def inside():
            texts.update({name: outcome(call) for name, call in calls.items()})
            names.append(interpreter.get_output_details()[0]['name'])

        callback = during_invoke(inside)
        interpreter.invoke()
        self.assertTrue(callback)
        self.assertEqual(names, ['t1'])
        for name, text in texts.items():
            self.assertIn(f'{name}: invoke {BUSY}', text)

    def test_four_threads_make_any_call(self):
        interpreter = allocated(FLOAT, num_threads=2)
        first, last = ends(interpreter)
        value, counts = random_input(interpreter), collections.Counter()

        def view():
            interpreter.tensor(first)()[0, 0] = 0.5

        def resize(n):
            interpreter.resize_tensor_input(first, [n, 28, 28, 1])

        def work(seed):
            calls = [interpreter.invoke, lambda: interpreter.set_tensor(first, value),
                     lambda: interpreter.get_tensor(last), view, interpreter.get_tensor_details,
                     interpreter.allocate_tensors, lambda: resize(1), lambda: resize(3),
                     interpreter.reset_all_variables, interpreter.explain, gc.collect]
            order = np.random.default_rng(seed)
            for _ in range(400):
                try:
                    calls[order.integers(len(calls))]()
                    counts['done'] += 1
                except (RuntimeError, ValueError) as error:
                    counts[type(error).__name__] += 1

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(counts.values()), 1600)
        self.assertGreater(counts['done'], 400)
        resize(1)
        interpreter.allocate_tensors()
        interpreter.set_tensor(first, value)
        interpreter.invoke()
        unshared = allocated(FLOAT)
        unshared.set_tensor(first, value)
        unshared.invoke()
        self.assertTrue(np.allclose(interpreter.get_tensor(last), unshared.get_tensor(last), atol=1e-5))

    def test_a_lock_of_the_program_is_sufficient(self):
        interpreter, lock, wrong = allocated(FLOAT), threading.Lock(), []
        first, last = ends(interpreter)
        inputs = [np.full((1, 28, 28, 1), value, np.float32) for value in (0, 0.3, 0.6, 1)]

        def run(value):
            interpreter.set_tensor(first, value)
            interpreter.invoke()
            return interpreter.get_tensor(last)

        expected = [run(value) for value in inputs]

        def work(i):
            for _ in range(50):
                interpreter.get_input_details()
                with lock:
                    if not np.array_equal(run(inputs[i]), expected[i]):
                        wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class LifetimeTest(unittest.TestCase):

    def test_users_of_one_object_are_counted_by_all_threads(self):
        deleted = []
        shared = Owned('shared', deleted.append)

        def work():
            for _ in range(2000):
                Owned(None, deleted.append, shared)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
        self.assertEqual(deleted, [])
        del shared
        gc.collect()
        self.assertEqual(deleted, ['shared'])

    def test_deleted_objects_are_runtime_errors(self):
        deleted = []
        owned = Owned('pointer', deleted.append)
        self.assertEqual(owned.pointer, 'pointer')
        owned._drop()
        owned._drop()
        self.assertEqual(deleted, ['pointer'])
        with self.assertRaisesRegex(RuntimeError, 'has been deleted'):
            owned.pointer  # noqa: B018

    def test_an_interpreter_of_a_collected_cycle_is_a_runtime_error(self):
        texts = []

        class Late:
            def __del__(self):
                texts.append(outcome(self.interpreter.invoke))

        late = Late()
        late.interpreter, late.itself = allocated(FLOAT), late
        late.interpreter._owned._drop()
        del late
        gc.collect()
        self.assertEqual(texts, ['the object has been deleted'])

    def test_objects_of_the_library_are_not_copied(self):
        interpreter = allocated(FLOAT)
        for call in (copy.deepcopy, pickle.dumps):
            with self.assertRaises((TypeError, ValueError, AttributeError)):
                call(interpreter)
            with self.assertRaisesRegex(TypeError, 'cannot be copied or pickled'):
                call(interpreter._owned)
        copy.copy(interpreter).invoke()

    def test_delegates_and_interpreters_are_deleted_in_any_order(self):
        for order in range(6):
            delegate = load_delegate('npu_stub', {'min_nodes': 1})
            one = allocated(FLOAT, experimental_delegates=[delegate])
            two = allocated(FLOAT, experimental_delegates=[delegate])
            runnable = {'delegate': delegate, 'one': one, 'two': two}
            del delegate, one, two
            names = [list(runnable)[(order + i * (1 + order // 3)) % 3] for i in range(3)]
            for name in names:
                del runnable[name]
                gc.collect()
                for left in runnable.values():
                    if isinstance(left, Interpreter):
                        left.invoke()

    def test_python_exits_while_objects_exist(self):
        programs = ('i = Interpreter(M); i.allocate_tensors()',
                    'i = Interpreter(M); i.allocate_tensors(); v = i.tensor(0)()',
                    'i = Interpreter(S); r = i.get_signature_runner("first"); del i',
                    'd = load_delegate("npu_stub"); i = Interpreter(M, experimental_delegates=[d])',
                    'i = Interpreter(M); i.itself = i; i.allocate_tensors(); holder = [i]; '
                    'holder.append(holder); import builtins; builtins.kept = holder',
                    'import threading, time; i = Interpreter(M); i.allocate_tensors(); '
                    'threading.Thread(target=lambda: [i.invoke() for _ in iter(int, 1)], '
                    'daemon=True).start(); time.sleep(.05)',
                    'import sys; i = Interpreter(M); sys.modules["kept"] = i; o = i._owned')
        signed = FOLDER.name + '/signed.tflite'
        with open(signed, 'wb') as file:
            file.write(signed_model())
        head = ('import sys; from deputy.interpreter import Interpreter, load_delegate; '
                f'M, S = {FLOAT!r}, {signed!r}; ')
        for program in programs:
            done = subprocess.run([sys.executable, '-c', head + program], capture_output=True,
                                  text=True, check=False,
                                  env=dict(os.environ, PYTHONPATH=f'{FOLDER.name}/site'))
            self.assertEqual((done.returncode, done.stderr), (0, ''), program)

    def test_finalizers_use_no_global_of_their_module(self):
        names = Owned._drop.__code__.co_names + Owned.__del__.__code__.co_names
        module = set(vars(sys.modules[Owned.__module__]))
        self.assertEqual(set(names) & module, set())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
