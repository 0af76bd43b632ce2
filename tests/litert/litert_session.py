# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs a float32 model in a libLiteRt.so, in a process of its own.

A process loads a plug-in once, and a plug-in may end it; tests call run_model, which starts this file as a program.
"""

import ctypes
import json
import os
import subprocess
import sys
import threading

from litert_calls import FLOAT32, NPU, CALLBACK, POINTER, SIZE, STATUSES, RankedType, Recorder
from litert_calls import environment, fill, floats, handles, integer, managed, options_of, text

COMPILER_FOLDER, DISPATCH_FOLDER, CACHE_FOLDER, MAX_CONFIGS, MAX_BYTES = 0, 1, 18, 26, 27


def run_model(library, model, inputs, env=None, **job):
    """Returns {'created': status, 'full' and 'full at the end': whether no node is on the CPU, 'outputs': lists by run, 'log': stderr}.

    `inputs` has a list of numbers per input. Items of `job`: 'options' of the environment ({tag: text or number}),
    'accelerators', 'runs', 'compiler' (text of the compiler options), 'opaque' ({identifier: text}), 'in_place' (outputs are in the
    buffers of inputs), 'binding' ((name of an input, numbers) in memory that is bound), and 'parallel' (number of threads that
    compile, instead of runs).
    """
    job |= {'library': str(library), 'model': str(model), 'inputs': inputs}
    done = subprocess.run([sys.executable, __file__], input=json.dumps(job), capture_output=True, text=True,
                          env=os.environ | (env or {}), check=False)
    if done.returncode:
        raise AssertionError(f'exit code {done.returncode}: {done.stderr[-4000:]}')
    return json.loads(done.stdout.splitlines()[-1]) | {'log': done.stderr}


def tensor_type(record, signature, kind, index):
    tensor, ranked = record.made(f'LiteRtGetSignature{kind}TensorByIndex', signature, index), RankedType()
    record.do('LiteRtGetRankedTensorType', tensor, ctypes.byref(ranked))
    return list(ranked.layout.dimensions[: ranked.layout.rank])


def count_of(record, name, handle):
    count = SIZE()
    record.do(name, handle, ctypes.byref(count))
    return count.value


def session(job):
    record = Recorder(job['library'])
    record.no_destructor = CALLBACK(lambda _: None)
    texts = {int(tag): ctypes.create_string_buffer(str(value).encode()) for tag, value in job.get('options', {}).items()}
    options = [
        integer(value, int(tag)) if isinstance(value, int) else text(texts[int(tag)], int(tag))
        for tag, value in job.get('options', {}).items()
    ]
    env = environment(record, *options)
    model = record.made('LiteRtCreateModelFromFile', env, job['model'].encode())
    signature = record.made('LiteRtGetModelSignature', model, 0)
    # LiteRT's own library takes the contents of the model when it compiles.
    shapes = {
        kind: [tensor_type(record, signature, kind, i) for i in range(count_of(record, f'LiteRtGetNumSignature{kind}s', signature))]
        for kind in ('Input', 'Output')
    }
    compilation = options_of(record, job.get('accelerators', NPU))
    opaque = job.get('opaque', {}) | ({'compiler_options_string': job['compiler']} if 'compiler' in job else {})
    payloads = {identifier: ctypes.create_string_buffer(lines.encode()) for identifier, lines in opaque.items()}
    for identifier, payload in payloads.items():
        made = record.made('LiteRtCreateOpaqueOptions', identifier.encode(), payload, record.no_destructor)
        record.do('LiteRtAddOpaqueOptions', compilation, made)
    if 'binding' in job:
        name, values = job['binding']
        memory = (ctypes.c_float * len(values))(*values)
        record.do('LiteRtAddExternalTensorBinding', compilation, b'<placeholder signature>', name.encode(), memory, 4 * len(values))
    compiled, full = POINTER(), ctypes.c_bool()
    status = record.function('LiteRtCreateCompiledModel')(env, model, compilation, ctypes.byref(compiled))
    result = {'created': STATUSES[status], 'outputs': []}
    if status == 0:
        record.do('LiteRtCompiledModelIsNonCpuFullyAccelerated', compiled, ctypes.byref(full))
        result['full'] = full.value
    for _ in range(job.get('runs', 1) if status == 0 else 0):
        buffers = {}
        for kind, all_shapes in shapes.items():
            sizes = [4 * max(1, product(shape)) for shape in all_shapes]
            buffers[kind] = [managed(record, env, FLOAT32, shape, size) for shape, size in zip(all_shapes, sizes)]
        if job.get('in_place'):
            buffers['Output'] = buffers['Input']
        for buffer, values in zip(buffers['Input'], job['inputs']):
            fill(record, buffer, bytes((ctypes.c_float * len(values))(*values)))
        status = record.function('LiteRtRunCompiledModel')(
            compiled, 0, len(buffers['Input']), handles(*buffers['Input']), len(buffers['Output']), handles(*buffers['Output']))
        result['run'] = STATUSES[status]
        if status == 0:
            result['outputs'].append([floats(record, buffer, product(shape))
                                      for buffer, shape in zip(buffers['Output'], shapes['Output'])])
        for buffer in buffers['Input'] + ([] if job.get('in_place') else buffers['Output']):
            record.function('LiteRtDestroyTensorBuffer')(buffer)
    if status == 0:
        record.do('LiteRtCompiledModelIsNonCpuFullyAccelerated', compiled, ctypes.byref(full))
        result['full at the end'] = full.value
    for name, handle in (('CompiledModel', compiled), ('Options', compilation), ('Model', model), ('Environment', env)):
        if handle:
            record.function(f'LiteRtDestroy{name}')(handle)
    return result


def compile_in_parallel(job):
    """Compiles a model in several threads at once; returns whether each is without nodes of the CPU."""
    record = Recorder(job['library'])
    folders = {int(tag): ctypes.create_string_buffer(folder.encode()) for tag, folder in job['options'].items()}
    env = environment(record, *[text(folder, tag) for tag, folder in folders.items()])
    results = [None] * job['parallel']

    def compile_one(number):
        model = record.made('LiteRtCreateModelFromFile', env, job['model'].encode())
        compiled, full = POINTER(), ctypes.c_bool()
        record.do('LiteRtCreateCompiledModel', env, model, options_of(record, job['accelerators']), ctypes.byref(compiled))
        record.do('LiteRtCompiledModelIsNonCpuFullyAccelerated', compiled, ctypes.byref(full))
        record.function('LiteRtDestroyCompiledModel')(compiled)
        results[number] = full.value

    threads = [threading.Thread(target=compile_one, args=(number,)) for number in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {'full': results}


def product(shape):
    result = 1
    for extent in shape:
        result *= extent
    return result


if __name__ == '__main__':
    if '--help' in sys.argv:
        print('usage: litert_session.py < JOB')
        sys.exit()
    task = json.load(sys.stdin)
    print(json.dumps(compile_in_parallel(task) if 'parallel' in task else session(task)))
