#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests asynchronous runs of compiled models: with the double of tests/doubles/litert, which runs tasks when the test calls
a function, and with the plug-in pair of npu_stub/litert.

    litert_async_test.py BUILD_FOLDER

Each case runs in a process of its own. DEPUTY_LITERT_LIBRARY names another library, for example LiteRT's own; the tests of
the class PairTest hold for it, too.
"""

import ctypes
import os
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

import litert_compiler_test
from litert_calls import CPU, FLOAT32, HOST, NPU, POINTER, STATUSES, Recorder, SchedulingInfo
from litert_calls import environment, fill, floats, handles, managed, options_of, text
from litert_dispatch_test import CHAIN, CUSTOM, DOUBLED, SHAPE, model_of, program
from litert_session import COMPILER_FOLDER, DISPATCH_FOLDER

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'support'))
from sanitized import start_again_with_runtime  # noqa: E402  (needs the path above)

SKIPPED = 77
FENCE = 1  # LiteRtEventTypeSyncFenceFd
X, DOUBLED_X = [0.5, -1, 2, -4], [1, -2, 4, -8]
UNSET = [9] * 4
# t1 = 2 t0, t2 = 3 t1
TWO_NODES = model_of([(program(0, 2.0), [0], [1]), (program(0, 3.0), [1], [2])], 3, [0], [2])
# t1 = 2 t0 in the plug-in, t2 = tanh(t0) on the CPU
TWO_OUTPUTS = model_of([(program(0, 2.0), [0], [1]), (None, [0], [2])], 3, [0], [1, 2])


class Session:
    """A compiled model, and the double if it runs the model."""

    def __init__(self, model, accelerators=NPU, folders=None):
        self.record = Recorder(LIBRARY)
        folders = folders or {DISPATCH_FOLDER: DOUBLES}
        texts = {tag: ctypes.create_string_buffer(str(folder).encode()) for tag, folder in folders.items()}
        self.env = environment(self.record, *[text(value, tag) for tag, value in texts.items()])
        self.alive = [model, texts]
        self.model = self.record.made('LiteRtCreateModelFromBuffer', self.env, ctypes.cast(ctypes.c_char_p(model), POINTER),
                                      len(model))
        self.options = options_of(self.record, accelerators)
        self.compiled = self.record.made('LiteRtCreateCompiledModel', self.env, self.model, self.options)
        self.double = ctypes.CDLL(f'{DOUBLES}/libLiteRtDispatch_Double.so') if DOUBLES in folders.values() else None

    def buffer(self, values=None, kind=HOST):
        buffer = managed(self.record, self.env, FLOAT32, SHAPE, 16, kind)
        fill(self.record, buffer, bytes((ctypes.c_float * 4)(*(values or UNSET))))
        return buffer

    def start(self, inputs, outputs, name='LiteRtRunCompiledModelAsync', more=()):
        """Returns the status, and whether the run is asynchronous."""
        is_async = ctypes.c_bool(True)
        status = self.record.function(name)(self.compiled, 0, len(inputs), handles(*inputs), len(outputs), handles(*outputs),
                                            ctypes.byref(is_async), *more)
        return STATUSES[status], is_async.value

    def run(self, inputs, outputs):
        return STATUSES[self.record.function('LiteRtRunCompiledModel')(
            self.compiled, 0, len(inputs), handles(*inputs), len(outputs), handles(*outputs))]

    def has_event(self, buffer):
        result = ctypes.c_bool()
        self.record.do('LiteRtHasTensorBufferEvent', buffer, ctypes.byref(result))
        return result.value

    def is_signaled(self, buffer):
        event, result = self.record.made('LiteRtGetTensorBufferEvent', buffer), ctypes.c_bool()
        self.record.do('LiteRtIsEventSignaled', event, ctypes.byref(result))
        return result.value

    def wait(self, buffer):
        event = self.record.made('LiteRtGetTensorBufferEvent', buffer)
        return STATUSES[self.record.function('LiteRtWaitEvent')(event, -1)]

    def memory(self, buffer):
        """Returns the contents without waiting for an event."""
        address = POINTER()
        self.record.do('LiteRtGetTensorBufferHostMemory', buffer, ctypes.byref(address))
        return list((ctypes.c_float * 4).from_address(address.value))

    def tasks(self, count=1):
        return self.double.LitertDoubleRunTasks(count)

    def calls(self):
        """Returns the plug-in's calls, and the numbers of memories, programs and registered buffers."""
        self.double.LitertDoubleCalls.restype = ctypes.c_char_p
        numbers = [ctypes.c_int() for _ in range(3)]
        names = self.double.LitertDoubleCalls(*map(ctypes.byref, numbers)).decode().split()
        return names, [number.value for number in numbers]

    def in_thread(self, function):
        """Calls a function that blocks until tasks end, and runs the tasks in another thread while it is blocked."""
        is_over, caller = threading.Event(), threading.get_native_id()

        def run_tasks():
            while not is_over.is_set():
                state = pathlib.Path(f'/proc/self/task/{caller}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()[0]
                if state == 'S':
                    self.tasks()

        thread = threading.Thread(target=run_tasks)
        thread.start()
        try:
            return function()
        finally:
            is_over.set()
            thread.join()

    def destroy(self):
        if self.compiled:
            self.record.function('LiteRtDestroyCompiledModel')(self.compiled)
        self.compiled = None

    def destroy_buffers(self, *buffers):
        for buffer in buffers:
            self.record.function('LiteRtDestroyTensorBuffer')(buffer)


def expect(found, expected):
    assert found == expected, f'expected {expected}, found {found}'


# ---- Cases with the double ----------------------------------------------------------------------

def outputs_have_events():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    expect((session.has_event(y), session.is_signaled(y), session.memory(y)), (True, False, UNSET))
    expect(session.tasks(), 1)
    expect((session.is_signaled(y), session.wait(y)), (True, 'Ok'))
    expect(floats(session.record, y, 4), DOUBLED_X)
    # The next run needs a buffer without an event.
    expect(session.start([x], [y]), ('ErrorInvalidArgument', False))
    session.record.do('LiteRtClearTensorBufferEvent', y)
    expect(session.run([x], [y]), 'Ok')
    session.destroy()
    names, left = session.calls()
    expect((names.count('invoke_async'), names.count('invoke'), names.count('lock_memory')), (1, 1, 0))
    expect(names.count('register_tensor_buffer'), 2)
    expect(left, [0, 0, 0])


def tasks_wait_for_events_of_inputs():
    session = Session(DOUBLED)
    x, y, z = session.buffer(X), session.buffer(), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    expect(session.start([y], [z]), ('Ok', True))  # the event of y goes to the plug-in
    expect(session.calls()[0].count('attach_input_event'), 1)
    expect((session.memory(y), session.memory(z)), (UNSET, UNSET))
    expect(session.tasks(2), 2)
    expect(floats(session.record, z, 4), [2 * value for value in DOUBLED_X])
    # A fence of the client.
    fence = os.eventfd(0)
    session.record.do('LiteRtSetTensorBufferEvent', x, session.record.made(
        'LiteRtCreateEventFromSyncFenceFd', session.env, fence, False))
    session.record.do('LiteRtClearTensorBufferEvent', z)
    expect(session.start([x], [z]), ('Ok', True))
    expect(session.tasks(), -1)
    os.eventfd_write(fence, 1)
    expect(session.tasks(), 1)
    expect(floats(session.record, z, 4), DOUBLED_X)
    session.destroy()


def synchronous_runs_wait_for_events_of_inputs():
    session = Session(DOUBLED)
    x, y, z = session.buffer(X), session.buffer(), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    expect(session.in_thread(lambda: session.run([y], [z])), 'Ok')
    expect((session.has_event(z), session.memory(z)), (False, [2 * value for value in DOUBLED_X]))
    session.destroy()


def nodes_wait_for_each_other():
    session = Session(TWO_NODES)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    names, _ = session.calls()
    expect((names.count('invoke_async'), names.count('attach_input_event')), (2, 1))
    expect(session.tasks(), 1)
    expect(session.is_signaled(y), False)
    expect(session.tasks(), 1)
    expect(floats(session.record, y, 4), [3 * value for value in DOUBLED_X])
    session.destroy()


def nodes_of_the_cpu_wait_for_tasks():
    session = Session(CHAIN, NPU | CPU)
    x, y, z = session.buffer([0.25] * 4), session.buffer([0.0] * 4), session.buffer()
    expect(session.in_thread(lambda: session.start([x, y], [z])), ('Ok', False))
    expect((session.has_event(z), session.calls()[0].count('invoke_async')), (False, 3))
    expect([round(value, 5) for value in session.memory(z)], [1.2703] * 4)  # 2 tanh(0.75)
    session.destroy()


def an_output_of_the_cpu_is_complete():
    session = Session(TWO_OUTPUTS, NPU | CPU)
    x, y, z = session.buffer(X), session.buffer(), session.buffer()
    # The CPU reads x in host memory, which the task may read, too, but not after the run.
    status, is_async = session.in_thread(lambda: session.start([x], [y, z]))
    expect((status, is_async, session.has_event(z)), ('Ok', False, False))
    expect([round(value, 4) for value in session.memory(z)], [0.4621, -0.7616, 0.964, -0.9993])
    expect(session.memory(y), DOUBLED_X)
    session.destroy()


def a_task_fails():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    expect(session.tasks(), 1)
    expect(session.wait(y), 'ErrorRuntimeFailure')
    address = POINTER()
    expect(STATUSES[session.record.function('LiteRtLockTensorBuffer')(y, ctypes.byref(address), 0)], 'ErrorRuntimeFailure')
    expect(session.memory(y), UNSET)
    # The failure of a task between nodes is that of the run.
    session.destroy()
    session = Session(CHAIN, NPU | CPU)
    z = session.buffer()
    expect(session.in_thread(lambda: session.start([x, x], [z])), ('ErrorRuntimeFailure', False))
    expect(session.has_event(z), False)
    session.destroy()
    expect(session.calls()[1], [0, 0, 0])


def a_start_fails():
    session = Session(TWO_NODES)
    x, y = session.buffer(X), session.buffer()
    status, is_async = session.in_thread(lambda: session.start([x], [y]))
    expect((status != 'Ok', is_async, session.has_event(y)), (True, False, False))
    session.destroy()
    expect(session.calls()[1], [0, 0, 0])


def there_is_no_event():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', False))
    session.destroy()


def a_cancelled_run_has_no_tasks():
    # The callback is called before each node: at the second one, the task of the first one has been started.
    session = Session(model_of([(program(0, 2.0), [0], [2]), (None, [1], [3])], 4, [0, 1], [2, 3]), NPU | CPU)
    answers = []
    callback = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER)(lambda _: answers.append(0) or len(session.calls()[0]) > started)
    started = 1 << 20
    session.record.do('LiteRtSetCompiledModelCancellationFunction', session.compiled, None, ctypes.cast(callback, POINTER))
    a, b, y, z = session.buffer(X), session.buffer(X), session.buffer(), session.buffer()
    expect(session.start([a, b], [y, z]), ('Ok', True))
    expect(session.tasks(), 1)
    session.record.do('LiteRtClearTensorBufferEvent', y)
    started = len(session.calls()[0])
    expect(session.in_thread(lambda: session.start([a, b], [y, z])), ('ErrorRuntimeFailure', False))
    expect((session.has_event(y), session.tasks(), session.calls()[0].count('invoke_async')), (False, 0, 2))
    assert answers
    session.destroy()


def a_model_is_destroyed_during_a_task():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    session.in_thread(session.destroy)
    names, _ = session.calls()
    assert names.index('task') < names.index('unregister_tensor_buffer')
    expect((session.wait(y), floats(session.record, y, 4)), ('Ok', DOUBLED_X))
    expect(session.calls()[1], [0, 0, 0])


def buffers_are_destroyed_during_a_task():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    expect(session.start([x], [y]), ('Ok', True))
    session.destroy_buffers(x, y)
    expect(session.tasks(), 1)
    session.destroy()
    expect(session.calls()[1], [0, 0, 0])


def other_buffers_are_used_during_a_task():
    session = Session(DOUBLED)
    pairs = [(session.buffer([number] * 4), session.buffer()) for number in range(1, 4)]
    for x, y in pairs[:2]:
        expect(session.start([x], [y]), ('Ok', True))
    expect((session.calls()[0].count('unregister_tensor_buffer'), session.calls()[1][2]), (0, 4))
    expect(session.tasks(2), 2)
    expect(session.start(*[[buffer] for buffer in pairs[2]]), ('Ok', True))
    expect(session.calls()[1][2], 2)  # no task uses the others
    expect(session.tasks(), 1)
    for number, (_, y) in enumerate(pairs):
        expect(floats(session.record, y, 4), [2 * (number + 1)] * 4)
    session.destroy()
    expect(session.calls()[1], [0, 0, 0])


def buffers_of_the_plugin_are_not_copied():
    session = Session(DOUBLED)
    for name in ('Input', 'Output'):
        wanted = session.record.made(f'LiteRtGetCompiledModel{name}BufferRequirements', session.compiled, 0, 0)
        kind = ctypes.c_int()
        session.record.do('LiteRtGetTensorBufferRequirementsSupportedTensorBufferType', wanted, 0, ctypes.byref(kind))
        expect(kind.value, CUSTOM)
    x, y = session.buffer(X, CUSTOM), session.buffer(UNSET, CUSTOM)
    locks = session.calls()[0].count('lock_memory')
    expect(session.start([x], [y]), ('Ok', True))
    expect(session.tasks(), 1)
    expect(session.wait(y), 'Ok')
    session.record.do('LiteRtClearTensorBufferEvent', y)
    names, left = session.calls()
    expect((names.count('create_memory'), names.count('lock_memory') - locks, left[2]), (2, 0, 2))
    expect(floats(session.record, y, 4), DOUBLED_X)
    # Buffers in host memory are copied.
    x, z = session.buffer(X), session.buffer()
    expect(session.run([x], [z]), 'Ok')
    expect((session.memory(z), session.calls()[0].count('create_memory')), (DOUBLED_X, 4))
    session.destroy()


def settings_and_measurements():
    session = Session(DOUBLED)
    x, y = session.buffer(X), session.buffer()
    record = session.record
    info = SchedulingInfo(mask=4, priority=1)
    settings = [name for name in session.calls()[0] if name.startswith('set_')]
    expect(settings, [])
    expect(session.run([x], [y]), 'Ok')
    record.do('LiteRtRunCompiledModelWithSchedulingInfo', session.compiled, 0, 1, handles(x), 1, handles(y), ctypes.byref(info))
    record.do('LiteRtRunCompiledModelWithOptions', session.compiled, 0, 1, handles(x), 1, handles(y), session.options)
    expect(session.run([x], [y]), 'Ok')
    expect([name for name in session.calls()[0] if name.startswith('set_')],
           ['set_scheduling_info', 'set_scheduling_info(NULL)', 'set_options', 'set_options(NULL)'])
    metrics, count = record.made('LiteRtCreateMetrics'), ctypes.c_int()
    record.do('LiteRtCompiledModelStartMetricsCollection', session.compiled, 1)
    status = STATUSES[record.function('LiteRtCompiledModelStopMetricsCollection')(session.compiled, metrics)]
    record.do('LiteRtGetNumMetrics', metrics, ctypes.byref(count))
    expect((status, count.value), ('Ok', 2) if 'garbage' not in os.environ['LITERT_DOUBLE'] else ('ErrorRuntimeFailure', 0))
    expect(session.calls()[0].count('destroy_metrics'), 1)
    session.destroy()


# ---- Cases with the pair ------------------------------------------------------------------------

def the_pair_runs():
    """Runs follow each other: the output of one is the input of the next."""
    session = Session(litert_compiler_test.SCALED, NPU, {COMPILER_FOLDER: PAIR, DISPATCH_FOLDER: PAIR})
    values, x = X, session.buffer(X)
    outputs = []
    for _ in range(10):
        y = session.buffer()
        expect(session.start([x], [y]), ('Ok', True))
        values = [3 * value for value in values]
        outputs.append((y, values))
        x = y
    for y, values in outputs:
        expect((session.wait(y), floats(session.record, y, 4)), ('Ok', values))
    y = session.buffer()
    session.record.do('LiteRtClearTensorBufferEvent', outputs[0][0])
    expect((session.run([outputs[0][0]], [y]), floats(session.record, y, 4)), ('Ok', outputs[1][1]))
    if IS_OURS:  # LiteRT waits for no task
        z = session.buffer()
        expect(session.start([y], [z]), ('Ok', True))
    session.destroy()


def an_event_of_the_pair_fails():
    session = Session(litert_compiler_test.SCALED, NPU, {COMPILER_FOLDER: PAIR, DISPATCH_FOLDER: PAIR})
    x, y = session.buffer(X), session.buffer()
    fences = [end.detach() for end in socket.socketpair()]
    os.write(fences[0], b'x')
    os.close(fences[1])  # with unread data
    session.record.do('LiteRtSetTensorBufferEvent', x, session.record.made(
        'LiteRtCreateEventFromSyncFenceFd', session.env, fences[0], True))
    expect(session.start([x], [y]), ('Ok', True))
    expect((session.wait(y), session.memory(y)), ('ErrorRuntimeFailure' if IS_OURS else 'Ok', UNSET))
    session.destroy()


def threads_create_run_and_destroy():
    """Two threads share environment and model; each has compiled models and buffers of its own."""
    session = Session(litert_compiler_test.SCALED, NPU | CPU, {COMPILER_FOLDER: PAIR, DISPATCH_FOLDER: PAIR})
    failures = []

    def work(number):
        own = object.__new__(Session)
        own.record, own.env = session.record, session.env
        for step in range(10):
            accelerators = NPU if (number + step) % 3 else CPU
            options = options_of(session.record, accelerators)
            own.compiled = session.record.made('LiteRtCreateCompiledModel', session.env, session.model, options)
            x, y, z = own.buffer([number + step] * 4), own.buffer(), own.buffer()
            found = own.run([x], [y]), own.start([x], [z])
            if own.has_event(z):
                found += (own.wait(z),)
            values = floats(own.record, y, 4) + floats(own.record, z, 4)
            if set(found) - {'Ok', ('Ok', accelerators == NPU)} or values != [3.0 * (number + step)] * 8:
                failures.append((number, step, found, values))
            own.destroy_buffers(x, y)
            own.destroy()
            own.destroy_buffers(z)
            session.record.function('LiteRtDestroyOptions')(options)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(failures, [])
    session.destroy()


class Case(unittest.TestCase):

    def run_case(self, function, setting='async=1'):
        done = subprocess.run([sys.executable, __file__, str(BUILD), '--case', function.__name__], capture_output=True, text=True,
                              env=os.environ | {'LITERT_DOUBLE': setting}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr


class DoubleTest(Case):

    def test_cases(self):
        for function in (
            outputs_have_events, tasks_wait_for_events_of_inputs, synchronous_runs_wait_for_events_of_inputs,
            nodes_wait_for_each_other, nodes_of_the_cpu_wait_for_tasks, an_output_of_the_cpu_is_complete,
            a_cancelled_run_has_no_tasks, a_model_is_destroyed_during_a_task, buffers_are_destroyed_during_a_task,
            other_buffers_are_used_during_a_task,
        ):
            with self.subTest(case=function.__name__):
                self.run_case(function)

    def test_failures_of_tasks(self):
        log = self.run_case(a_task_fails, 'async=1,fail=task')
        self.assertRegex(log, r"plug-in 'double' \(.*\): an asynchronous run failed")

    def test_failures_of_the_start(self):
        for setting, text_of_error in (
            ('fail=invoke_async', 'invoke_async failed: kLiteRtStatusErrorRuntimeFailure'),
            ('fail=attach_input_event', 'attach_input_event failed: kLiteRtStatusErrorRuntimeFailure'),
            ('garbage=invoke_async', 'invoke_async returned an event that does not exist'),
        ):
            with self.subTest(setting=setting):
                log = self.run_case(a_start_fails, f'async=1,{setting}')
                self.assertRegex(log, rf"plug-in 'double' \(.*\): {text_of_error}")

    def test_outputs_without_an_event(self):
        self.run_case(there_is_no_event, 'async=1,untouched=invoke_async')
        self.run_case(there_is_no_event, '')
        log = self.run_case(there_is_no_event, 'garbage=get_capabilities')
        self.assertIn('it claims asynchronous runs, for which it has no functions', log)
        log = self.run_case(there_is_no_event, 'async=1,garbage=async_interface')
        self.assertIn('it claims asynchronous runs, for which it has no functions', log)

    def test_buffers_of_the_plugin(self):
        self.run_case(buffers_of_the_plugin_are_not_copied, f'async=1,type={CUSTOM}')

    def test_settings_and_measurements(self):
        self.run_case(settings_and_measurements, 'metrics=1')
        self.run_case(settings_and_measurements, 'metrics=1,garbage=get_num_metrics')
        log = self.run_case(settings_and_measurements, 'metrics=1,garbage=get_metric')
        self.assertIn('get_metric returned no readable text', log)


class PairTest(Case):

    def test_runs_follow_each_other(self):
        self.run_case(the_pair_runs)

    def test_failures_of_events(self):
        self.run_case(an_event_of_the_pair_fails)

    def test_threads(self):
        self.run_case(threads_create_run_and_destroy)


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BUILD = pathlib.Path(sys.argv[1]).resolve()
    IS_OURS = 'DEPUTY_LITERT_LIBRARY' not in os.environ
    LIBRARY = os.environ.get('DEPUTY_LITERT_LIBRARY') or str(BUILD / 'drop-in/libLiteRt.so')
    DOUBLES, PAIR = str(BUILD / 'tests/doubles/litert'), str(BUILD / 'litert/npu_stub')
    if '--case' in sys.argv:
        globals()[sys.argv[-1]]()
        sys.exit()
    if not pathlib.Path(LIBRARY).exists() or not pathlib.Path(DOUBLES).exists():
        print('skipped: libLiteRt.so or the test double is not built')
        sys.exit(SKIPPED)
    start_again_with_runtime(pathlib.Path(LIBRARY))
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], defaultTest=None if IS_OURS else 'PairTest')
