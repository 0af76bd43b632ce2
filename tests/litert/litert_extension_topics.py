# SPDX-License-Identifier: Apache-2.0
"""Topics of litert_behaviour_test.py: custom buffers and operators, profiles, bindings, and shared buffers."""

import ctypes

from litert_calls import (
    CPU,
    DIGITS,
    DIGITS_INT8,
    FLOAT32,
    INT8,
    Layout,
    MASK,
    POINTER,
    SIZE,
    STATUSES,
    compiled,
    cpu_environment,
    fill,
    floats,
    handles,
    managed,
    model_of,
    options_of,
    ranked,
)

CUSTOM = 100  # kLiteRtTensorBufferTypeUserCustomBuffer
NO_TAG = 255


class HwMemory(ctypes.Structure):
    _fields_ = [('memory', POINTER), ('raw', POINTER)]


def callback(result, *parameters):
    return ctypes.CFUNCTYPE(result, *parameters)


def buffer_handlers(calls, address):
    """Callbacks of a custom buffer in the memory at `address`, which record their calls."""
    info = HwMemory(address, 1234)

    def create(device, queue, kind, buffer_type, size, packed, out):
        calls.append(f'create {buffer_type} {size} {packed} device {device} queue {queue}')
        out[0] = ctypes.addressof(info)
        return 0

    def lock(_, mode, out):
        calls.append(f'lock {mode}')
        out[0] = address
        return 0

    def note(name):
        return callback(ctypes.c_int, POINTER)(lambda _: calls.append(name) or 0)

    out = ctypes.POINTER(POINTER)
    return [
        info,
        callback(ctypes.c_int, POINTER, POINTER, POINTER, ctypes.c_int, SIZE, SIZE, out)(create),
        note('destroy'),
        callback(ctypes.c_int, POINTER, ctypes.c_int, out)(lock),
        note('unlock'),
        note('clear'),
        None,
    ]


def measure_custom_buffers(r):
    ref, env, calls, made, address = ctypes.byref, cpu_environment(r), [], POINTER(), POINTER()
    memory, four = ctypes.create_string_buffer(192), ranked(FLOAT32, [4, 4])
    base = (ctypes.addressof(memory) + 63) // 64 * 64
    r.alive = [memory, *buffer_handlers(calls, base)]
    functions = r.alive[2:]
    name, create = 'LiteRtRegisterTensorBufferHandlers', 'LiteRtCreateManagedTensorBuffer'
    r.risky(name, 'environment NULL', None, CUSTOM, *functions, NO_TAG, NO_TAG)
    r.call(name, 'type 100, import NULL', env, CUSTOM, *functions, NO_TAG, NO_TAG)
    r.call(name, 'type 100, the same handlers again', env, CUSTOM, *functions, NO_TAG, NO_TAG)
    r.call(name, 'type 100, another tag', env, CUSTOM, *functions, NO_TAG, 1)
    r.call(name, 'type 101, create NULL', env, CUSTOM + 1, None, *functions[1:], NO_TAG, NO_TAG)
    r.call(name, 'type 1, host memory', cpu_environment(r), 1, *functions, NO_TAG, NO_TAG)
    r.call(create, 'custom, handlers registered', env, CUSTOM, ref(four), 64, ref(made))
    r.add(create, 'calls of the handlers', calls)
    calls.clear()
    r.call('LiteRtGetTensorBufferCustomTensorBufferHandle', 'custom', made, ref(address), shows=lambda: address.value == base)
    r.call('LiteRtGetTensorBufferHostMemory', 'custom', made, ref(address))
    for mode in (0, 1, 2):
        r.call('LiteRtLockTensorBuffer', f'custom, mode {mode}', made, ref(address), mode, shows=lambda: address.value == base)
        r.call('LiteRtUnlockTensorBuffer', f'custom, mode {mode}', made)
    r.call('LiteRtClearTensorBuffer', 'custom', made)
    r.do('LiteRtDestroyTensorBuffer', made)
    r.add('LiteRtDestroyTensorBuffer', 'custom, calls of the handlers since the creation', calls)
    _, _, program = compiled(r, DIGITS)
    calls.clear()
    custom = r.made(create, env, CUSTOM, ref(ranked(FLOAT32, [1, 10])), 40)
    pixels = managed(r, env, FLOAT32, [1, 28, 28, 1], 3136)
    r.call('LiteRtRunCompiledModel', 'a custom buffer as output, on the CPU', program, 0, 1, handles(pixels), 1, handles(custom))
    r.add('LiteRtRunCompiledModel', 'a custom buffer as output: calls of the handlers', calls)


def measure_custom_operators(r):
    """A kernel of the program for the operator of selfie_segmentation, under a name that no delegate supports."""
    if not MASK.exists():
        return
    ref, env, calls, program = ctypes.byref, cpu_environment(r), [], POINTER()
    name, operator = 'selfie_segmentation with a renamed operator', b'Xonvolution2DTransposeBias'
    data = MASK.read_bytes().replace(operator.replace(b'X', b'C', 1), operator)

    def layouts(_, inputs, given, outputs, wanted):
        calls.append(f'layouts: {inputs} inputs, the first {given[0]}, {outputs} output')
        wanted[0] = Layout(4, 0)
        wanted[0].dimensions[:4] = [1, 256, 256, 1]
        return 0

    pointer = ctypes.POINTER(Layout)
    kernel = [
        callback(ctypes.c_int, POINTER, POINTER, SIZE)(
            lambda data, _, size: calls.append(f'init: user data {data}, {size} bytes') or 0
        ),
        callback(ctypes.c_int, POINTER, SIZE, pointer, SIZE, pointer)(layouts),
        callback(ctypes.c_int, POINTER, SIZE, POINTER, SIZE, POINTER)(
            lambda _, inputs, given, outputs, wanted: calls.append(f'run: {inputs} inputs, {outputs} output') or 0
        ),
        callback(ctypes.c_int, POINTER)(lambda _: calls.append('destroy') or 0),
    ]
    r.alive = [kernel, (POINTER * 4)(*[ctypes.cast(function, POINTER).value for function in kernel])]
    model, options, add = (
        r.made('LiteRtCreateModelFromBuffer', env, data, len(data)),
        options_of(r),
        'LiteRtAddCustomOpKernelOption',
    )
    buffers = [handles(managed(r, env, FLOAT32, [1, 256, 256, channels], 65536 * 4 * channels)) for channels in (3, 1)]
    if r.call('LiteRtCreateCompiledModel', f'{name}, no kernel', env, model, options, ref(program)):
        r.call('LiteRtRunCompiledModel', f'{name}, no kernel', program, 0, 1, buffers[0], 1, buffers[1])
    r.call(add, f'{name}: version 1', options, operator, 1, r.alive[1], 7)
    r.call(add, f'{name}: name NULL', options, None, 1, r.alive[1], 7)
    r.call(add, f'{name}: options NULL', None, operator, 1, r.alive[1], 7)
    if not r.call('LiteRtCreateCompiledModel', f'{name}, a kernel', env, model, options, ref(program)):
        return
    r.add('LiteRtCreateCompiledModel', f'{name}: calls of the kernel', calls)
    calls.clear()
    for run in ('first', 'second'):
        r.call('LiteRtRunCompiledModel', f'{name}, {run} run', program, 0, 1, buffers[0], 1, buffers[1])
        r.add('LiteRtRunCompiledModel', f'{name}, {run} run: calls of the kernel', calls)
        calls.clear()
    r.do('LiteRtDestroyCompiledModel', program)
    r.add('LiteRtDestroyCompiledModel', f'{name}: calls of the kernel', calls)


def measure_int8_runs(r):
    env, _, program = compiled(r, DIGITS_INT8)
    pixels, scores = managed(r, env, INT8, [1, 28, 28, 1], 784), managed(r, env, INT8, [1, 10], 10)
    fill(r, pixels, b'\x80' * 784)
    r.call('LiteRtRunCompiledModel', 'digits_int8, -128 everywhere', program, 0, 1, handles(pixels), 1, handles(scores))
    duplicate = POINTER(scores.value)
    r.do('LiteRtDuplicateTensorBuffer', duplicate)
    r.call('LiteRtRunCompiledModel', 'digits_int8, a duplicated output', program, 0, 1, handles(pixels), 1, handles(duplicate))


def measure_bindings(r):
    ref, env = ctypes.byref, cpu_environment(r)
    memory = ctypes.create_string_buffer(3136 + 128)
    base = (ctypes.addressof(memory) + 63) // 64 * 64
    bind, create, program = 'LiteRtAddExternalTensorBinding', 'LiteRtCreateCompiledModel', POINTER()
    for what, tensor, address, size in (
        ('image, 3136 bytes', b'image', base, 3136),
        ('an unknown tensor', b'unknown', base, 3136),
        ('image, 100 bytes', b'image', base, 100),
    ):
        options = options_of(r)
        r.call(bind, what, options, b'<placeholder signature>', tensor, address, size)
        r.call(create, f'an external binding: {what}', env, model_of(r, env, DIGITS), options, ref(program))
    for what, arguments in (
        ('signature NULL', (None, b'image', base, 3136)),
        ('tensor NULL', (b'', None, base, 3136)),
        ('address NULL', (b'', b'image', None, 3136)),
        ('size -1', (b'', b'image', base, -1)),
    ):
        r.risky(bind, what, options_of(r), *arguments)


def measure_profiles(r):
    ref = ctypes.byref
    env, _, program = compiled(r, DIGITS, CPU, (b'runtime_options_string', b'enable_profiling = true\n'))
    profiler, number, summary = r.made('LiteRtCompiledModelGetProfiler', program), ctypes.c_int(), ctypes.c_char_p()
    buffers = handles(managed(r, env, FLOAT32, [1, 28, 28, 1], 3136)), handles(managed(r, env, FLOAT32, [1, 10], 40))
    r.do('LiteRtRunCompiledModel', program, 0, 1, buffers[0], 1, buffers[1])
    r.call('LiteRtGetNumProfilerEvents', 'a run before LiteRtStartProfiler', profiler, ref(number), shows=lambda: number.value)
    r.do('LiteRtStartProfiler', profiler)
    r.do('LiteRtRunCompiledModel', program, 0, 1, buffers[0], 1, buffers[1])
    r.do('LiteRtStopProfiler', profiler)
    r.do('LiteRtGetNumProfilerEvents', profiler, ref(number))
    size = 104  # of ProfiledEventData: tag at 0, event_type at 8, event_source at 96
    events = ctypes.create_string_buffer(size * max(number.value, 1))
    status = r.function('LiteRtGetProfilerEvents')(profiler, number.value, events)
    base = ctypes.addressof(events)
    tags = {ctypes.string_at(POINTER.from_address(base + size * index).value).decode() for index in range(number.value)}
    sources = {ctypes.c_int.from_address(base + size * index + 96).value for index in range(number.value)}
    r.add('LiteRtGetProfilerEvents', 'digits_float on the CPU', f'{STATUSES[status]}, sources {sorted(sources)}')
    r.add(
        'LiteRtGetProfilerEvents',
        'digits_float on the CPU: tags of the runtime',
        sorted(tag for tag in tags if tag.startswith('LiteRT')),
    )
    r.call(
        'LiteRtGetProfilerEvents',
        'more than there are',
        profiler,
        number.value + 1,
        ctypes.create_string_buffer(size * (number.value + 1)),
    )
    r.call('LiteRtGetProfilerEvents', 'events NULL', profiler, 1, None)
    r.call('LiteRtGetProfileSummary', 'digits_float', profiler, program, ref(summary), shows=lambda: len(summary.value) > 100)
    r.call('LiteRtGetProfileSummary', 'profiler NULL', None, program, ref(summary))


def measure_signature_selection(r):
    env, ref, program = cpu_environment(r), ctypes.byref, POINTER()
    key = b'selected_signature_keys = ["<placeholder signature>"]\n'
    options = options_of(r, CPU, (b'runtime_options_string', key))
    if r.call(
        'LiteRtCreateCompiledModel', 'the only signature is selected', env, model_of(r, env, DIGITS), options, ref(program)
    ):
        pixels, scores = managed(r, env, FLOAT32, [1, 28, 28, 1], 3136), managed(r, env, FLOAT32, [1, 10], 40)
        r.call(
            'LiteRtRunCompiledModel',
            'the only signature is selected',
            program,
            0,
            1,
            handles(pixels),
            1,
            handles(scores),
            shows=lambda: f'sum {sum(floats(r, scores, 10)):.3f}',
        )
