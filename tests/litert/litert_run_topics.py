# SPDX-License-Identifier: Apache-2.0
"""Topics of litert_behaviour_test.py: compiled models, dispatch, and the table of the runtime."""

import ctypes

from litert_calls import (
    CPU,
    DIGITS,
    DISPATCH_FOLDER,
    FLOAT32,
    GPU,
    INT8,
    Layout,
    MASK,
    NPU,
    POINTER,
    ROPE,
    SIZE,
    SchedulingInfo,
    Version,
    compiled,
    cpu_environment,
    environment,
    fill,
    floats,
    handles,
    integer,
    managed,
    model_of,
    options_of,
    rows_of,
    text,
)


def measure_compilation(r):
    ref, env = ctypes.byref, cpu_environment(r)
    model, result, name, flag = model_of(r, env, DIGITS), POINTER(), 'LiteRtCreateCompiledModel', ctypes.c_bool()
    r.call(name, 'CPU', env, model, options_of(r), ref(result))
    r.call(name, 'options NULL', env, model, None, ref(POINTER()))
    for mask, what in (
        (0, 'None'),
        (GPU, 'GPU, no library for it'),
        (NPU, 'NPU, no dispatch folder'),
        (CPU | GPU | NPU, 'CPU, GPU, NPU'),
    ):
        r.call(name, f'accelerators: {what}', env, model, options_of(r, mask), ref(POINTER()))
    r.call(name, 'environment NULL', None, model, options_of(r), ref(POINTER()))
    r.call(name, 'model NULL', env, None, options_of(r), ref(POINTER()))
    r.call(name, 'result NULL', env, model, options_of(r), None)
    folder = ctypes.create_string_buffer(b'/nonexistent')
    with_npu = environment(r, integer(CPU | NPU, 24), text(folder, DISPATCH_FOLDER))
    r.call(name, 'NPU, a dispatch folder that does not exist', with_npu, model, options_of(r, NPU), ref(POINTER()))
    r.call(name, 'CPU, NPU, a dispatch folder that does not exist', with_npu, model, options_of(r, CPU | NPU), ref(POINTER()))
    plugins = ctypes.create_string_buffer(b'/nonexistent')
    with_compiler = environment(r, integer(CPU, 24), text(plugins, 0))
    r.call(name, 'CPU, a compiler plug-in folder that does not exist', with_compiler, model, options_of(r, CPU), ref(POINTER()))
    r.call('LiteRtCompiledModelIsFullyAccelerated', 'CPU', result, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtCompiledModelIsNonCpuFullyAccelerated', 'CPU', result, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtCompiledModelIsFullyAccelerated', 'model NULL', None, ref(flag))
    found = POINTER()
    r.call('LiteRtGetCompiledModelEnvironment', 'compiled model', result, ref(found), shows=lambda: found.value == env.value)
    for toml in (
        (b'xnnpack', b'num_threads = 2\n'),
        (b'xnnpack', b'num_threads = many\n'),
        (b'xnnpack', b'no equals sign'),
        (b'xnnpack', b'kernel_mode = "builtin"\n'),
        (b'xnnpack', b'kernel_mode = "unknown"\n'),
        (b'xnnpack', b'unknown_key = 1\n'),
        (b'cpu_delegate', b'num_threads = many\n'),
        (b'runtime_options_string', b'enable_profiling = maybe\n'),
        (b'runtime_options_string', b'selected_signature_keys = ["absent"]\n'),
        (b'unknown', b'anything'),
    ):
        r.call(
            name,
            f'CPU, options {toml[0].decode()}: {toml[1].decode().strip()}',
            env,
            model,
            options_of(r, CPU, toml),
            ref(POINTER()),
        )
    builtin = r.made(name, env, model, options_of(r, CPU, (b'xnnpack', b'kernel_mode = "builtin"\n')))
    r.call('LiteRtCompiledModelIsFullyAccelerated', 'CPU, kernel_mode = "builtin"', builtin, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtDestroyCompiledModel', 'compiled model', result)
    r.call('LiteRtDestroyCompiledModel', 'NULL', None)
    if MASK.exists():
        r.call(name, 'CPU, selfie_segmentation (a custom operator)', env, model_of(r, env, MASK), options_of(r), ref(result))


def measure_layouts(r):
    ref = ctypes.byref
    _, _, program = compiled(r, DIGITS)
    requirements, number, size, address, layout = POINTER(), ctypes.c_int(), SIZE(), POINTER(), Layout()
    for kind in ('Input', 'Output'):
        name = f'LiteRtGetCompiledModel{kind}BufferRequirements'
        r.call(name, 'signature 0, index 0', program, 0, 0, ref(requirements), shows=lambda: bool(requirements))
        r.call(name, 'index 1 of 1', program, 0, 1, ref(POINTER()))
        r.call(name, 'signature 1 of 1', program, 1, 0, ref(POINTER()))
        r.call(name, 'compiled model NULL', None, 0, 0, ref(POINTER()))
        r.call(
            'LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes',
            f'{kind} of digits_float on the CPU',
            requirements,
            ref(number),
            shows=lambda: number.value,
        )
        prefix = 'LiteRtGetTensorBufferRequirements'
        r.call(
            prefix + 'SupportedTensorBufferType',
            f'{kind} of digits_float, index 0',
            requirements,
            0,
            ref(number),
            shows=lambda: number.value,
        )
        r.call(prefix + 'BufferSize', f'{kind} of digits_float', requirements, ref(size), shows=lambda: size.value)
        r.call(prefix + 'Alignment', f'{kind} of digits_float', requirements, ref(size), shows=lambda: size.value)
        r.call(
            prefix + 'Strides',
            f'{kind} of digits_float',
            requirements,
            ref(number),
            ref(address),
            shows=lambda: f'{number.value} strides',
        )
    name = 'LiteRtGetCompiledModelInputTensorLayout'
    r.call(name, 'index 0', program, 0, 0, ref(layout), shows=lambda: layout)
    r.call(name, 'index 1 of 1', program, 0, 1, ref(layout))
    r.call(name, 'signature 1 of 1', program, 1, 0, ref(layout))
    name, pair = 'LiteRtGetCompiledModelOutputTensorLayouts', (Layout * 2)()
    r.call(name, '1 layout, update_allocation false', program, 0, 1, pair, False, shows=lambda: pair[0])
    r.call(name, '1 layout, update_allocation true', program, 0, 1, pair, True, shows=lambda: pair[0])
    r.call(name, '2 layouts of 1', program, 0, 2, pair, False)
    r.call(name, '0 layouts of 1', program, 0, 0, pair, False)


def measure_runs(r):
    ref = ctypes.byref
    env, model, program = compiled(r, DIGITS)
    pixels, scores = managed(r, env, FLOAT32, [1, 28, 28, 1], 3136), managed(r, env, FLOAT32, [1, 10], 40)
    fill(r, pixels, bytes(3136))
    run, ins, outs = 'LiteRtRunCompiledModel', handles(pixels), handles(scores)
    r.call(
        run,
        'digits_float, zeros',
        program,
        0,
        1,
        ins,
        1,
        outs,
        shows=lambda: f'sum {sum(floats(r, scores, 10)):.3f}, largest at {max(range(10), key=floats(r, scores, 10).__getitem__)}',
    )
    r.call(run, 'again', program, 0, 1, ins, 1, outs)
    r.call(run, 'signature 1 of 1', program, 1, 1, ins, 1, outs)
    r.call(run, '0 inputs of 1', program, 0, 0, ins, 1, outs)
    r.call(run, '2 inputs of 1', program, 0, 2, handles(pixels, pixels), 1, outs)
    r.call(run, '0 outputs of 1', program, 0, 1, ins, 0, outs)
    r.call(run, 'compiled model NULL', None, 0, 1, ins, 1, outs)
    r.risky(run, 'inputs NULL', program, 0, 1, None, 1, outs)
    r.risky(run, 'an input that is NULL', program, 0, 1, handles(None), 1, outs)
    r.risky(run, 'an output that is NULL', program, 0, 1, ins, 1, handles(None))
    other = {
        'of another type': (INT8, [1, 28, 28, 1], 3136),
        'of another shape': (FLOAT32, [1, 28, 28, 2], 6272),
        'of another rank': (FLOAT32, [28, 28], 3136),
        'with more bytes than needed': (FLOAT32, [1, 28, 28, 1], 4096),
    }
    for what, (element_type, dimensions, size) in other.items():
        r.risky(run, f'an input {what}', program, 0, 1, handles(managed(r, env, element_type, dimensions, size)), 1, outs)
    r.risky(run, 'an output of another shape and size', program, 0, 1, ins, 1, handles(managed(r, env, FLOAT32, [1, 5], 20)))
    r.risky(run, 'an output of another shape and equal size', program, 0, 1, ins, 1, handles(managed(r, env, FLOAT32, [10], 40)))
    address = POINTER()
    r.do('LiteRtLockTensorBuffer', pixels, ref(address), 0)
    r.call(run, 'an input that is locked', program, 0, 1, ins, 1, outs)
    r.do('LiteRtUnlockTensorBuffer', pixels)
    r.call(run, 'after the unlock', program, 0, 1, ins, 1, outs)
    event = r.made('LiteRtCreateManagedEvent', env, 5)
    with_event = managed(r, env, FLOAT32, [1, 10], 40)
    r.do('LiteRtSetTensorBufferEvent', with_event, event)
    r.call(run, 'an output with an event', program, 0, 1, ins, 1, handles(with_event))
    asynchronous = ctypes.c_bool(True)
    r.call(
        'LiteRtRunCompiledModelAsync',
        'async true, on the CPU',
        program,
        0,
        1,
        ins,
        1,
        outs,
        ref(asynchronous),
        shows=lambda: f'async {asynchronous.value}',
    )
    r.call('LiteRtRunCompiledModelAsync', 'async NULL', program, 0, 1, ins, 1, outs, None)
    r.call('LiteRtRunCompiledModelWithOptions', 'options NULL', program, 0, 1, ins, 1, outs, None)
    r.call('LiteRtRunCompiledModelWithOptions', 'empty options', program, 0, 1, ins, 1, outs, r.made('LiteRtCreateOptions'))
    r.do('LiteRtDestroyModel', model)
    r.risky(run, 'after LiteRtDestroyModel', program, 0, 1, ins, 1, outs)


def measure_two_inputs(r):
    if not ROPE.exists():
        return
    ref = ctypes.byref
    env, model, program = compiled(r, ROPE)
    name, size, layout = ctypes.c_char_p(), SIZE(), Layout()
    signature = r.made('LiteRtGetModelSignature', model, 0)
    r.call('LiteRtGetSignatureKey', 'litert_rope', signature, ref(name), shows=lambda: name.value.decode())
    r.call('LiteRtGetNumSignatureInputs', 'litert_rope', signature, ref(size), shows=lambda: size.value)
    for index in range(2):
        r.call(
            'LiteRtGetCompiledModelInputTensorLayout',
            f'litert_rope, input {index}',
            program,
            0,
            index,
            ref(layout),
            shows=lambda: layout,
        )
        r.call(
            'LiteRtGetSignatureInputName',
            f'litert_rope, input {index}',
            signature,
            index,
            ref(name),
            shows=lambda: name.value.decode(),
        )
    r.call('LiteRtGetCompiledModelOutputTensorLayouts', 'litert_rope', program, 0, 1, ref(layout), False, shows=lambda: layout)


def measure_resizing(r):
    ref = ctypes.byref
    env, _, program = compiled(r, DIGITS)
    strict, loose = 'LiteRtCompiledModelResizeInputTensor', 'LiteRtCompiledModelResizeInputTensorNonStrict'
    layout, size = Layout(), SIZE()

    def shape(*dimensions):
        return (ctypes.c_int * max(len(dimensions), 1))(*dimensions)

    r.call(strict, 'the same shape', program, 0, 0, shape(1, 28, 28, 1), 4)
    r.call(strict, 'batch 2, signature [1, 28, 28, 1]', program, 0, 0, shape(2, 28, 28, 1), 4)
    for name in (strict, loose):
        r.call(name, 'rank 3', program, 0, 0, shape(28, 28, 1), 3)
        r.call(name, 'a dimension 0', program, 0, 0, shape(0, 28, 28, 1), 4)
        r.call(name, 'a dimension -1', program, 0, 0, shape(-1, 28, 28, 1), 4)
        r.call(name, '0 dimensions', program, 0, 0, shape(), 0)
        r.call(name, 'dimensions NULL', program, 0, 0, None, 4)
        r.call(name, 'index 1 of 1', program, 0, 1, shape(1, 28, 28, 1), 4)
        r.call(name, 'signature 1 of 1', program, 1, 0, shape(1, 28, 28, 1), 4)
        r.call(name, 'compiled model NULL', None, 0, 0, shape(1, 28, 28, 1), 4)
    r.call(loose, 'batch 2', program, 0, 0, shape(2, 28, 28, 1), 4)
    r.call(
        'LiteRtGetCompiledModelInputTensorLayout', 'after a resize to batch 2', program, 0, 0, ref(layout), shows=lambda: layout
    )
    r.call(
        'LiteRtGetCompiledModelOutputTensorLayouts',
        'after a resize, update_allocation false',
        program,
        0,
        1,
        ref(layout),
        False,
        shows=lambda: layout,
    )
    r.call(
        'LiteRtGetCompiledModelOutputTensorLayouts',
        'after a resize, update_allocation true',
        program,
        0,
        1,
        ref(layout),
        True,
        shows=lambda: layout,
    )
    requirements = r.made('LiteRtGetCompiledModelInputBufferRequirements', program, 0, 0)
    r.call(
        'LiteRtGetTensorBufferRequirementsBufferSize',
        'input after a resize to batch 2',
        requirements,
        ref(size),
        shows=lambda: size.value,
    )
    run = 'LiteRtRunCompiledModel'
    small = handles(managed(r, env, FLOAT32, [1, 28, 28, 1], 3136)), handles(managed(r, env, FLOAT32, [1, 10], 40))
    big = handles(managed(r, env, FLOAT32, [2, 28, 28, 1], 6272)), handles(managed(r, env, FLOAT32, [2, 10], 80))
    r.call(run, 'after a resize to batch 2, buffers of batch 2', program, 0, 1, big[0], 1, big[1])
    r.risky(run, 'after a resize to batch 2, buffers of batch 1', program, 0, 1, small[0], 1, small[1])
    _, _, fresh = compiled(r, DIGITS)
    r.risky(run, 'a static model, buffers of batch 2', fresh, 0, 1, big[0], 1, big[1])


def measure_services(r):
    ref = ctypes.byref
    env, _, program = compiled(r, DIGITS)
    message, number, handle = ctypes.c_char_p(), ctypes.c_int(), POINTER()
    buffers = handles(managed(r, env, FLOAT32, [1, 28, 28, 1], 3136)), handles(managed(r, env, FLOAT32, [1, 10], 40))
    get, clear = 'LiteRtCompiledModelGetErrorMessages', 'LiteRtCompiledModelClearErrors'
    r.call('LiteRtCompiledModelReportError', 'no error reporter', program, b'text')
    r.call(get, 'no error reporter', program, ref(message))
    r.call(clear, 'no error reporter', program)
    mode = b'runtime_options_string'
    _, _, stderr = compiled(r, DIGITS, toml=(mode, b'error_reporter_mode = 1\n'))
    r.call(get, 'error_reporter_mode = 1', stderr, ref(message))
    _, _, buffered = compiled(r, DIGITS, toml=(mode, b'error_reporter_mode = 2\n'))
    r.call(get, 'error_reporter_mode = 2', buffered, ref(message), shows=lambda: repr(message.value.decode()))
    r.call('LiteRtCompiledModelReportError', 'error_reporter_mode = 2', buffered, b'a text')
    r.call(
        get, 'after LiteRtCompiledModelReportError("a text")', buffered, ref(message), shows=lambda: repr(message.value.decode())
    )
    r.call(clear, 'error_reporter_mode = 2', buffered)
    r.call(get, 'after LiteRtCompiledModelClearErrors', buffered, ref(message), shows=lambda: repr(message.value.decode()))

    r.call('LiteRtCompiledModelGetProfiler', 'enable_profiling = false', program, ref(handle), shows=lambda: bool(handle))
    _, _, profiled = compiled(r, DIGITS, toml=(mode, b'enable_profiling = true\n'))
    r.call('LiteRtCompiledModelGetProfiler', 'enable_profiling = true', profiled, ref(handle), shows=lambda: bool(handle))
    r.call('LiteRtStartProfiler', 'profiler', handle)
    r.do('LiteRtRunCompiledModel', profiled, 0, 1, buffers[0], 1, buffers[1])
    r.call('LiteRtStopProfiler', 'profiler', handle)
    r.call('LiteRtGetNumProfilerEvents', 'after a run', handle, ref(number), shows=lambda: number.value > 0)
    r.call('LiteRtResetProfiler', 'profiler', handle)
    r.call('LiteRtGetNumProfilerEvents', 'after LiteRtResetProfiler', handle, ref(number), shows=lambda: number.value)
    r.call('LiteRtStartProfiler', 'NULL', None)

    metrics = r.made('LiteRtCreateMetrics')
    r.call('LiteRtCompiledModelStartMetricsCollection', 'level 0, CPU', program, 0)
    r.call('LiteRtCompiledModelStartMetricsCollection', 'level -1', program, -1)
    r.call('LiteRtCompiledModelStopMetricsCollection', 'CPU', program, metrics)
    r.call('LiteRtGetNumMetrics', 'CPU', metrics, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetMetric', 'index 0 of 0', metrics, 0, ref(ctypes.create_string_buffer(24)))

    check = ctypes.CFUNCTYPE(ctypes.c_bool, POINTER)
    always, never = check(lambda _: True), check(lambda _: False)
    r.call('LiteRtSetCompiledModelCancellationFunction', 'function', program, None, always)
    r.call('LiteRtRunCompiledModel', 'the cancellation function returns true', program, 0, 1, buffers[0], 1, buffers[1])
    r.call('LiteRtSetCompiledModelCancellationFunction', 'another function', program, None, never)
    r.call('LiteRtRunCompiledModel', 'the cancellation function returns false', program, 0, 1, buffers[0], 1, buffers[1])
    r.call('LiteRtSetCompiledModelCancellationFunction', 'function NULL', program, None, None)
    r.call('LiteRtSetCompiledModelCancellationFunction', 'compiled model NULL', None, None, never)

    schedule = 'LiteRtCompiledModelSetSchedulingInfo'
    r.call(schedule, 'NULL', program, None)
    r.call(schedule, 'priority 1000', program, ref(SchedulingInfo(4, 0, None, 1000)))
    r.call(schedule, 'priority 1001', program, ref(SchedulingInfo(4, 0, None, 1001)))
    r.call(schedule, 'priority 1001, not in the mask', program, ref(SchedulingInfo(0, 0, None, 1001)))
    r.call(schedule, 'debug_feature_id NULL, in the mask', program, ref(SchedulingInfo(2, 0, None, 0)))

    annotation, value = 'LiteRtCompiledModel{}DispatchAnnotation', ctypes.c_char_p()
    r.call(annotation.format('Get'), 'a key that is absent', program, 0, b'key', ref(value))
    r.call(annotation.format('Set'), 'key, value', program, 0, b'key', b'value')
    r.call(annotation.format('Get'), 'key', program, 0, b'key', ref(value), shows=lambda: value.value.decode())
    r.call(annotation.format('Set'), 'signature 1 of 1', program, 1, b'key', b'value')
    r.call(annotation.format('Remove'), 'key', program, 0, b'key')
    r.call(annotation.format('Remove'), 'a key that is absent', program, 0, b'key')


def measure_dispatch(r):
    """The dispatch functions of the library itself, before a plug-in is loaded."""
    ref, version, name, number, env = ctypes.byref, Version(), ctypes.c_char_p(), ctypes.c_int(), cpu_environment(r)
    r.call('LiteRtDispatchGetApiVersion', 'no plug-in loaded', ref(version), shows=lambda: version)
    r.call('LiteRtDispatchGetVendorId', 'no plug-in loaded', ref(name))
    r.call('LiteRtDispatchGetBuildId', 'no plug-in loaded', ref(name))
    r.call('LiteRtDispatchGetCapabilities', 'no plug-in loaded', ref(number))
    r.call('LiteRtDispatchInitialize', 'no dispatch folder', None, env, None)
    folder = ctypes.create_string_buffer(b'/nonexistent')
    r.call(
        'LiteRtDispatchInitialize',
        'a dispatch folder that does not exist',
        None,
        environment(r, text(folder, DISPATCH_FOLDER)),
        None,
    )
    r.call('LiteRtDispatchInvoke', 'context NULL', None)
    r.call('LiteRtDispatchDeviceContextCreate', 'no plug-in loaded', None, None, ref(POINTER()))


def measure_table(r):
    """Compares kLiteRtRuntimeBuiltin with the exported functions."""
    offsets = {row['field']: int(row['offset']) for row in rows_of('layouts.csv') if row['struct'] == 'LiteRtRuntimeCApiStruct'}
    base = ctypes.addressof(ctypes.c_char.in_dll(r.library, 'kLiteRtRuntimeBuiltin'))
    for row in rows_of('functions.csv'):
        member = row['runtime_c_api']
        if member == 'no':
            continue
        address = POINTER.from_address(base + offsets[member]).value
        if row['exported_by_wheel'] == 'no':
            r.add('kLiteRtRuntimeBuiltin', member, 'set, the function is not exported' if address else 'NULL')
        elif address != ctypes.cast(getattr(r.library, row['function']), POINTER).value:
            r.add('kLiteRtRuntimeBuiltin', member, 'another function than the exported one')
