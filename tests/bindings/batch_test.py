#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests deputy.batch, and the options precision and verification of the interpreter.

    batch_test.py BUILD_FOLDER
"""
import json
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock

from python_package import BUILD, FLOAT, FOLDER, INT8, STATEFUL, _writer, allocated, random_input, run

import numpy as np
from deputy import batch
from deputy.batch import ItemError, Report, Result, Runner, TensorInfo, merge_reports
from deputy.interpreter import Interpreter, load_delegate

PLUGINS = BUILD / 'tests/plugins'
WRONG = str(PLUGINS / 'libwrong.so')  # ADD returns 1.1 times the sum.
EXITS = str(PLUGINS / 'libwrong_exit.so')  # ADD exits the process in its second call.
NPU = ('npu_stub', {'min_nodes': 1})
ADD = 0


def add_model(names=(b'a', b'b', b'sum'), shape=(1, 4), signature=None):
    """Returns a model that adds two float32 tensors."""
    writer = _writer()
    table = writer.Table
    more = {} if signature is None else {'_7': list(signature)}
    tensors = [table(_0=list(shape), _1=('b', 0), _3=name, **more) for name in names]
    graph = table(_0=tensors, _1=[0, 1], _2=[2], _3=[table(_0=('I', 0), _1=[0, 1], _2=[2])])
    code = table(_0=('b', ADD), _2=('i', 1), _3=('i', ADD))
    return bytes(writer.Writer(table(_0=('I', 3), _1=[code], _2=[graph], _4=[table()])).data)


def pair(seed=0):
    values = np.random.default_rng(seed).uniform(-1, 1, (2, 4)).astype(np.float32)
    return {'a': values[0], 'b': values[1]}


def digits(count):
    """Returns different inputs of the digits' model, and the outputs of the interpreter."""
    interpreter = allocated(FLOAT)
    items = [random_input(interpreter, seed) for seed in range(count)]
    return items, [run(interpreter, item) for item in items]


def halve(item):
    if item is None:
        raise OSError('cannot read this')
    return item / np.float32(2)


class NoText(Exception):
    def __str__(self):
        raise OSError('no text')


def fail_without_text(item):
    raise NoText()


def best(outputs):
    return int(outputs['Identity'].argmax())


class ItemsTest(unittest.TestCase):

    def assert_equal(self, result, expected, name='Identity'):
        self.assertTrue(result.ok, result.error)
        self.assertEqual(list(result.outputs), [name])
        np.testing.assert_array_equal(result.outputs[name], expected)

    def test_results_equal_a_plain_loop_in_order(self):
        items, expected = digits(20)
        results = list(Runner(FLOAT).run(items))
        self.assertEqual(len({value.tobytes() for value in expected}), 20)
        for result, value in zip(results, expected, strict=True):
            self.assert_equal(result, value)

    def test_an_item_is_an_array_or_a_dictionary_with_or_without_the_first_dimension(self):
        items, expected = digits(1)
        runner = Runner(pathlib.Path(FLOAT))
        for item in (items[0], items[0][0], {'image': items[0]}, {'image': items[0][0]}):
            self.assert_equal(runner.run_one(item), expected[0])

    def test_two_inputs_are_selected_by_name(self):
        item = pair()
        runner = Runner(add_model())
        for given in (item, dict(reversed(item.items())), {name: value[np.newaxis] for name, value in item.items()}):
            self.assert_equal(runner.run_one(given), [item['a'] + item['b']], 'sum')

    def test_a_first_dimension_other_than_1_is_not_optional(self):
        runner = Runner(add_model(shape=(2, 4)))
        two = np.ones((2, 4), np.float32)
        self.assert_equal(runner.run_one({'a': two, 'b': two}), two + two, 'sum')
        error = runner.run_one({'a': two[0], 'b': two}).error
        self.assertIn('Got 1 but expected 2 for dimension 0', error.text)

    def test_a_wrong_item_fails_alone_with_its_reason(self):
        items, expected = digits(1)
        wrong = {'type float64': items[0].astype(np.float64), 'dimension 1': np.zeros((1, 27, 28, 1), np.float32),
                 "expected 'image', found 'photo'": {'photo': items[0]}, 'no input': {},
                 "'image', 'x'": {'image': items[0], 'x': items[0]}, 'value of type object': None,
                 'inhomogeneous': [[1], [2, 3]]}
        runner = Runner(FLOAT)
        for text, item in wrong.items():
            with self.subTest(text):
                before, failed, after = runner.run([items[0], item, items[0]])
                self.assert_equal(before, expected[0])
                self.assert_equal(after, expected[0])
                self.assertEqual((failed.ok, failed.outputs, failed.error.stage), (False, None, 'input'))
                self.assertIn(text, failed.error.text)
                with self.assertRaises(ItemError):
                    failed.get()
        self.assertIn("expected a dictionary with 'a', 'b', found ndarray",
                      Runner(add_model()).run_one(items[0]).error.text)

    def test_read_and_finish_convert_and_their_errors_are_the_items(self):
        items, expected = digits(2)
        runner = Runner(FLOAT, read=halve, finish=best)
        good, bad, last = runner.run([items[0] * 2, None, items[1] * 2])
        self.assertEqual((good.get(), last.get()), (expected[0].argmax(), expected[1].argmax()))
        self.assertEqual((bad.error.stage, bad.error.text), ('read', 'OSError: cannot read this'))
        error = Runner(FLOAT, finish=halve).run_one(items[0]).error
        self.assertEqual((error.stage, error.text[:10]), ('finish', 'TypeError:'))

    def test_an_error_without_a_text_is_the_items(self):
        error = Runner(FLOAT, read=fail_without_text).run_one(None).error
        self.assertEqual((error.stage, error.text), ('read', 'NoText: the error has no text'))
        item = unittest.mock.Mock(__array__=lambda *_, **__: fail_without_text(None))
        self.assertEqual(Runner(FLOAT).run_one(item).error.text, "'image': the error has no text")

    def test_an_output_that_cannot_be_read_is_the_items_error(self):
        items, expected = digits(1)
        runner = Runner(FLOAT)
        runner.open()
        with unittest.mock.patch.object(Interpreter, 'get_tensor', side_effect=RuntimeError('no copy from the device')):
            error = runner.run_one(items[0]).error
        self.assertEqual((error.stage, error.text), ('run', 'no copy from the device'))
        self.assert_equal(runner.run_one(items[0]), expected[0])

    def test_an_error_keeps_no_item_in_memory_and_can_be_pickled(self):
        error = Runner(FLOAT).run_one(np.zeros(3)).error
        self.assertIsNone(error.__traceback__)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.stage, copy.text, str(copy)), (error.stage, error.text, str(error)))
        result = Result(None, error, True)
        self.assertEqual(repr(pickle.loads(pickle.dumps(result))), repr(result))

    def test_items_of_a_model_with_variables_are_independent(self):
        interpreter = allocated(STATEFUL)
        item = random_input(interpreter)
        first, second = run(interpreter, item), run(interpreter, item)
        self.assertTrue((first != second).any())
        for result in Runner(STATEFUL).run([item, item]):
            np.testing.assert_array_equal(next(iter(result.get().values())), first)

    def test_unknown_dimensions_are_set_by_shapes(self):
        model = add_model(shape=(1, 1), signature=(1, -1))
        item = pair()
        runner = Runner(model, shapes={'a': (1, 4), 'b': (1, 4)})
        self.assert_equal(runner.run_one(item), [item['a'] + item['b']], 'sum')
        self.assertIn('Got 4 but expected 1', Runner(model).run_one(item).error.text)
        with self.assertRaisesRegex(ValueError, "shapes: expected 'a', 'b', found 'c'"):
            Runner(model, shapes={'c': (1, 4)}).open()

    def test_an_empty_or_repeated_name_is_replaced_by_a_number(self):
        for names, expected in (((b'x', b'x', b''), ['x', 'input_1']), ((b'', b'x', b''), ['input_0', 'x']),
                                ((b'input_1', b'', b''), ['input_1', 'input_1_'])):
            runner = Runner(add_model(names))
            info = TensorInfo((1, 4), np.float32)
            self.assertEqual(runner.inputs, {name: info for name in expected})
            self.assertEqual(runner.outputs, {'output_0': info})
            first, second = pair().values()
            self.assert_equal(runner.run_one(dict(zip(expected, (first, second)))), [first + second], 'output_0')

    def test_a_model_or_delegate_that_cannot_be_opened_is_an_exception(self):
        for runner in (Runner('/absent.tflite'), Runner(b'TFL3'), Runner(FLOAT, delegates=['/absent.so']),
                       Runner(FLOAT, threads=0), Runner(FLOAT, policy='cold'), Runner(FLOAT, precision='fp8'),
                       Runner(FLOAT, delegates=[NPU], isolate='loose')):
            with self.assertRaises((ValueError, RuntimeError)):
                list(runner.run([np.zeros((28, 28, 1), np.float32)]))
        with self.assertRaisesRegex(TypeError, "delegates: expected a sequence, found the text 'gpu'"):
            Runner(FLOAT, delegates='gpu')


def outputs_of(runner, items):
    """Runs in another process."""
    return os.getpid(), [result.get() for result in runner.run(items)], runner.report()


class ProcessesTest(unittest.TestCase):

    def test_a_runner_is_pickled_without_interpreters_and_opens_where_it_is_used(self):
        items, expected = digits(3)
        for method in ('spawn', 'fork'):
            for is_open in (False, True):
                runner = Runner(FLOAT, delegates=[NPU], threads=2)
                if is_open:
                    self.assertTrue(all(result.ok for result in runner.run(items)))
                with multiprocessing.get_context(method).Pool(1) as pool:
                    process, outputs, report = pool.apply(outputs_of, (runner, items))
                self.assertNotEqual(process, os.getpid())
                self.assertEqual(report.items, 3)
                self.assertEqual([key.rpartition(':')[2] for key in report.workers], [str(process)])
                np.testing.assert_allclose([output['Identity'] for output in outputs], expected, atol=1e-4)

    def test_pickling_opens_nothing(self):
        runner = pickle.loads(pickle.dumps(Runner('/absent.tflite', delegates=['/absent.so'])))
        self.assertEqual(runner.model, '/absent.tflite')
        with self.assertRaises(ValueError):
            runner.open()

    def test_relative_paths_are_those_of_the_process_that_created_the_runner(self):
        folder = os.getcwd()
        try:
            os.chdir(os.path.dirname(FLOAT))
            runner = Runner(os.path.basename(FLOAT), delegates=['./absent.so', 'npu_stub'])
        finally:
            os.chdir(folder)
        self.assertEqual(runner.model, FLOAT)
        self.assertEqual([library for library, _ in runner._settings.delegates],
                         [f'{os.path.dirname(FLOAT)}/absent.so', 'npu_stub'])

    def test_a_forked_child_uses_none_of_the_parents_interpreters(self):
        items, _ = digits(1)
        runner = Runner(FLOAT, delegates=[NPU], isolate=True)
        runner.run_one(items[0]).get()
        mine = runner._idle[0]
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            ok = runner.run_one(items[0]).ok and runner._idle[0] is not mine and runner.report().items == 1
            os.write(writing, b'1' if ok else b'0')
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reading, 1), b'1')
        self.assertEqual((runner._idle, runner.run_one(items[0]).ok), ([mine], True))

    def test_threads_of_a_forked_child_wait_until_the_parents_interpreters_are_dropped(self):
        runner = Runner(FLOAT)
        runner.open()
        mine = runner._idle[0]
        used = []

        def run_in_thread():
            used.append(runner._with_session(lambda session: session))

        threads = [threading.Thread(target=run_in_thread)]

        def lock_in_child():
            """Starts the thread while the child resets the runner."""
            if threads[0].ident is None:
                threads[0].start()
                threads[0].join(0.2)
            return allocate_lock()

        allocate_lock = threading.Lock
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with unittest.mock.patch.object(batch.threading, 'Lock', lock_in_child):
                runner.open()
            threads[0].join()
            os.write(writing, b'1' if len(used) == 1 and mine not in [*used, *runner._idle] else b'0')
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reading, 1), b'1')

    def test_threads_use_interpreters_of_their_own(self):
        items, expected = digits(16)
        runner = Runner(FLOAT)
        wrong = []

        def loop(first):
            for k in range(200):
                i = (first + k) % 16
                result = runner.run_one(items[i])
                if not result.ok or (result.outputs['Identity'] != expected[i]).any():
                    wrong.append(result)

        threads = [threading.Thread(target=loop, args=(4 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((wrong, runner.report().items), ([], 800))
        self.assertLessEqual(len(runner._idle), 4)

    def test_the_number_of_threads_is_the_interpreters(self):
        found = []
        for threads in (1, 3):
            with unittest.mock.patch.object(batch, 'Interpreter', wraps=Interpreter) as interpreter:
                Runner(FLOAT, threads=threads).open()
            found.append(interpreter.call_args.args[3])
        self.assertEqual(found, [1, 3])

    def test_close_deletes_the_interpreters_and_a_later_run_opens_new_ones(self):
        items, expected = digits(1)
        with Runner(FLOAT) as runner:
            self.assertEqual(len(runner._idle), 1)
        self.assertEqual(runner._idle, [])
        # An interpreter that is running is deleted when its call completes.
        runner._with_session(lambda session: runner.close())
        self.assertEqual(runner._idle, [])
        np.testing.assert_array_equal(runner.run_one(items[0]).get()['Identity'], expected[0])

    def test_python_exits_while_a_runner_is_held(self):
        for holder in ('builtins.held = runner', 'import sys; sys.modules["held"] = runner',
                       'batch._inherited.extend(runner._idle)', 'runner.itself = [runner]'):
            program = ('import builtins; from deputy import batch; '
                       f'runner = batch.Runner({FLOAT!r}, delegates=["npu_stub"]); runner.open(); {holder}')
            done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=False,
                                  env={**os.environ, 'PYTHONPATH': f'{FOLDER.name}/site'})
            self.assertEqual((done.returncode, done.stderr), (0, ''), holder)


class ReportsTest(unittest.TestCase):

    def test_it_counts_items_failures_and_the_backend_of_each_node(self):
        items, _ = digits(2)
        nodes = Interpreter(FLOAT).explain()['nodes']
        for delegates, name in (([], 'CPU'), ([NPU], 'npu_stub')):
            runner = Runner(FLOAT, delegates=delegates)
            list(runner.run([items[0], items[1], np.zeros(1, np.float32)]))
            report = runner.report()
            self.assertEqual((report.items, report.failed, report.degraded), (3, 1, 0))
            self.assertEqual(report.node_runs[name], 2 * len(nodes))
            self.assertEqual(list(report.errors.values()), [1])
            self.assertIn('Dimension mismatch', list(report.errors)[0])
            self.assertGreater(report.run_seconds, 0)
            self.assertGreater(report.open_seconds, 0)

    def test_read_seconds_are_those_of_read(self):
        items, _ = digits(1)
        runner = Runner(FLOAT, read=lambda item: time.sleep(.05) or item)
        runner.run_one(items[0])
        self.assertGreaterEqual(runner.report().read_seconds, .05)

    def test_reports_of_workers_add_up(self):
        one = Report(items=3, failed=1, run_seconds=.5, node_runs={'CPU': 6}, workers={'m:1': 3}, errors={'x': 1})
        two = Report(items=4, degraded=2, recomputed_nodes=5, verified=4, wrong=1, read_seconds=.25, open_seconds=1,
                     node_runs={'CPU': 4, 'gpu': 4}, workers={'m:2': 4}, skipped_delegates={'gpu: busy': 1})
        self.assertEqual(merge_reports([one, two, two]), Report(
            items=11, failed=1, degraded=4, recomputed_nodes=10, verified=8, wrong=2, read_seconds=.5,
            run_seconds=.5, open_seconds=2, node_runs={'CPU': 14, 'gpu': 8}, workers={'m:1': 3, 'm:2': 8},
            errors={'x': 1}, skipped_delegates={'gpu: busy': 2}))
        self.assertEqual((one.items, two.items, merge_reports([])), (3, 4, Report()))
        self.assertEqual(Report(**json.loads(json.dumps(two.as_dict()))), two)

    def test_the_number_of_texts_is_bounded(self):
        total = merge_reports(Report(errors={f'text {i % 40}': 1}) for i in range(400))
        self.assertEqual(len(total.errors), batch.MAX_TEXTS + 1)
        self.assertEqual((total.errors['text 0'], sum(total.errors.values())), (10, 400))

    def test_take_report_returns_each_count_once(self):
        items, _ = digits(1)
        runner = Runner(FLOAT)
        list(runner.run(items * 2))
        self.assertEqual((runner.report().items, runner.take_report().items, runner.take_report()), (2, 2, Report()))
        list(runner.run(items))
        self.assertEqual(runner.take_report().items, 1)


class DelegatesTest(unittest.TestCase):

    def test_verification_replaces_wrong_results_under_hot_and_fails_the_item_otherwise(self):
        item = pair(1)
        right = [item['a'] + item['b']]
        for policy in ('hot', 'tflite'):
            runner = Runner(add_model(), delegates=[WRONG], policy=policy)
            np.testing.assert_allclose(runner.run_one(item).get()['sum'], np.multiply(right, 1.1), rtol=1e-6)
            self.assertEqual(runner.report().wrong, 0)

        runner = Runner(add_model(), delegates=[WRONG], policy='hot', verification='always')
        result = runner.run_one(item)
        np.testing.assert_array_equal(result.get()['sum'], right)
        report = runner.report()
        self.assertEqual((result.degraded, report.degraded, report.verified, report.wrong), (True, 1, 1, 1))

        runner = Runner(add_model(), delegates=[WRONG], policy='tflite', verification='always')
        for _ in range(2):
            error = runner.run_one(item).error
            self.assertEqual(error.stage, 'run')
            self.assertRegex(error.text, r"result is wrong; the first one: tensor 2, element \d: expected ")
        self.assertEqual((runner.report().failed, runner.report().wrong), (2, 2))

    def test_a_correct_delegate_is_verified_as_often_as_requested(self):
        items, _ = digits(1)
        for verification, expected in (('never', 0), ('first', 1), (3, 4), ('always', 10),
                                       ({'interval': 5}, 2), ({'mode': 'always', 'float32_tolerance': .5}, 10)):
            runner = Runner(FLOAT, delegates=[NPU], verification=verification)
            self.assertEqual(len([result for result in runner.run(items * 10) if result.ok]), 10)
            self.assertEqual((runner.report().verified, runner.report().wrong), (expected, 0), verification)
        for wrong in ('often', 0, -1, {'mode': 'first', 'interval': -1}, {'tolerance': 1}, True, 1.5,
                      {'float32_tolerance': 'x'}):
            with self.assertRaisesRegex(ValueError, 'verification: '):
                Interpreter(FLOAT, verification=wrong)

    def test_the_tolerance_is_the_librarys(self):
        runner = Runner(add_model(), delegates=[WRONG], policy='tflite',
                        verification={'mode': 'always', 'float32_tolerance': .2})
        self.assertTrue(runner.run_one(pair()).ok)
        self.assertEqual(runner.report().verified, 1)

    def test_verification_status_has_the_position_of_the_first_wrong_element(self):
        interpreter = Interpreter(model_content=add_model(), experimental_delegates=[load_delegate(WRONG)],
                                  verification='first')
        interpreter.allocate_tensors()
        for index, value in enumerate(([1, 2, 0, 0], [0, 0, 0, 0])):
            interpreter.set_tensor(index, np.array([value], np.float32))
        interpreter.invoke()
        status = interpreter.verification_status()
        self.assertEqual((status['verified'], status['wrong'], status['skipped']), (1, 1, 0))
        first = status['first_wrong']
        self.assertEqual((first['subgraph'], first['tensor'], first['element'], first['expected']), (0, 2, 0, 1))
        self.assertAlmostEqual(first['found'], 1.1, 5)
        self.assertIsNone(Interpreter(FLOAT, verification='first').verification_status()['first_wrong'])

    def test_a_delegate_that_ends_its_process_ends_only_that_process_with_isolate(self):
        items = [pair(seed) for seed in range(6)]
        program = (f'import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); '
                   'import batch_test as test; '
                   'runner = test.Runner(test.add_model(), delegates=[test.EXITS]); '
                   '[print(result.ok, flush=True) for result in runner.run(map(test.pair, range(6)))]; print("end")')
        done = subprocess.run([sys.executable, '-c', program, BUILD], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, 'True\n'), done.stderr)

        runner = Runner(add_model(), delegates=[EXITS], isolate=True)
        for item, result in zip(items, runner.run(items)):
            np.testing.assert_array_equal(result.get()['sum'], [item['a'] + item['b']])
        report = runner.report()
        self.assertEqual((report.items, report.failed), (6, 0))
        self.assertGreaterEqual(report.degraded, 1)
        self.assertLess(report.degraded, 6)
        self.assertEqual(report.recomputed_nodes, report.degraded)
        self.assertEqual(report.node_runs, {'sandbox': 6})

    def test_under_tflite_the_item_in_which_a_delegate_dies_fails(self):
        runner = Runner(add_model(), delegates=[EXITS], isolate='none', policy='tflite')
        first, second = runner.run([pair(1), pair(2)])
        self.assertTrue(first.ok)
        self.assertEqual(second.error.stage, 'run')
        self.assertIn('process', second.error.text)
        self.assertEqual(runner.report().failed, 1)

    def test_options_reach_an_isolated_delegate(self):
        items, _ = digits(1)
        for minimum, name in ((1, 'sandbox'), (10000, 'CPU')):
            runner = Runner(FLOAT, delegates=[('npu_stub', {'min_nodes': minimum})], isolate='strict')
            self.assertTrue(runner.run_one(items[0]).ok)
            self.assertEqual(set(runner.report().node_runs), {name})
        self.assertEqual(batch._escaped('a;b\\c'), 'a\\;b\\\\c')

    def test_a_delegate_that_cannot_be_applied_is_skipped_under_hot_and_reported(self):
        crashing = (str(PLUGINS / 'libfaulty.so'), {'fault': 'segv', 'in': 'prepare'})
        item = pair()
        runner = Runner(add_model(), delegates=[crashing], isolate=True)
        result = runner.run_one(item)
        np.testing.assert_array_equal(result.get()['sum'], [item['a'] + item['b']])
        report = runner.report()
        self.assertTrue(result.degraded)
        self.assertEqual((report.degraded, report.node_runs), (1, {'CPU': 1}))
        self.assertEqual(list(report.skipped_delegates.values()), [1])
        self.assertIn('signal 11', list(report.skipped_delegates)[0])
        with self.assertRaisesRegex(RuntimeError, 'signal 11'):
            Runner(add_model(), delegates=[crashing], isolate=True, policy='tflite').open()

    def test_a_delegate_that_fails_degrades_the_item_under_hot_and_fails_it_otherwise(self):
        failing = str(PLUGINS / 'libfailing.so')
        item = pair()
        result = Runner(add_model(), delegates=[failing]).run_one(item)
        np.testing.assert_array_equal(result.get()['sum'], [item['a'] + item['b']])
        self.assertTrue(result.degraded)
        self.assertEqual(Runner(add_model(), delegates=[failing], policy='tflite').run_one(item).error.stage, 'run')

    def test_precision_and_the_weight_cache_reach_the_library(self):
        function = 'DeputyInterpreterOptionsSetPrecision'
        for name, number in (('float32', 0), ('bf16', 1), ('fp16', 2)):
            library = unittest.mock.Mock(wraps=batch.Interpreter(FLOAT)._lib)
            with unittest.mock.patch('deputy.interpreter.library', return_value=library):
                Runner(FLOAT, precision=name).open()
            self.assertEqual(getattr(library, function).call_args.args[1], number)
        cache = pathlib.Path(FOLDER.name) / 'weights'
        items, _ = digits(1)
        self.assertTrue(Runner(INT8, weight_cache=cache).run_one((items[0] * 100).astype(np.int8)).ok)
        self.assertTrue(cache.exists())

    def test_a_precision_plan_belongs_to_its_model(self):
        plan = pathlib.Path(FOLDER.name) / 'plan'
        plan.write_text('deputy precision plan 1, model 0\n')
        with self.assertRaisesRegex(RuntimeError, 'it is for another model') as caught:
            batch.Interpreter(FLOAT, precision_plan=plan)
        fingerprint = re.search('expected ([0-9a-f]{32})', str(caught.exception)).group(1)

        def output(**options):
            interpreter = batch.Interpreter(FLOAT, **options)
            interpreter.allocate_tensors()
            return run(interpreter, digits(1)[0][0]).tobytes()

        exact, lower = output(), output(precision='fp16')
        if exact == lower:
            self.skipTest('this CPU has no products of 16 bits')
        count = len(batch.Interpreter(FLOAT).explain()['nodes'])
        nodes = ''.join(f'0 {node} fp16\n' for node in range(count))
        plan.write_text(f'deputy precision plan 1, model {fingerprint}\n')
        self.assertEqual(output(precision_plan=plan), exact)
        plan.write_text(f'deputy precision plan 1, model {fingerprint}\n{nodes}')
        self.assertEqual(output(precision_plan=plan), lower)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
