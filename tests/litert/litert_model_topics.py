# SPDX-License-Identifier: Apache-2.0
"""Topics of litert_behaviour_test.py: environments, accelerators, models and options."""

import ctypes
import itertools
import pathlib
import tempfile

from litert_calls import (
    Any,
    CALLBACK,
    CPU,
    DIGITS,
    DIGITS_INT8,
    DISPATCH_FOLDER,
    EnvOption,
    GPU,
    NPU,
    POINTER,
    PerChannel,
    PerTensor,
    RankedType,
    SIZE,
    STATUSES,
    Version,
    cpu_environment,
    environment,
    integer,
    model_of,
    options_of,
    text,
)


def measure_environment(r):
    env, size, flag, value = POINTER(), SIZE(), ctypes.c_bool(True), Any()
    ref = ctypes.byref
    r.call('LiteRtCreateEnvironment', 'no options', 0, None, ref(env))
    r.call('LiteRtCreateEnvironment', 'result NULL', 0, None, None)
    r.call('LiteRtCreateEnvironment', '-1 options', -1, None, ref(POINTER()))
    r.call('LiteRtCreateEnvironment', '1 option, options NULL', 1, None, ref(POINTER()))
    r.call('LiteRtGetNumAccelerators', 'no options; the wheel finds no GPU library', env, ref(size), shows=lambda: size.value)
    for mask, what in ((0, 'none'), (CPU, 'CPU'), (NPU, 'NPU, without a dispatch folder')):
        one = environment(r, integer(mask, 24))
        r.call('LiteRtGetNumAccelerators', f'AutoRegisterAccelerators = {what}', one, ref(size), shows=lambda: size.value)
    folder = ctypes.create_string_buffer(b'/nonexistent')
    with_npu = environment(r, integer(NPU, 24), text(folder, DISPATCH_FOLDER))
    r.call(
        'LiteRtGetNumAccelerators',
        'AutoRegisterAccelerators = NPU, a dispatch folder that does not exist',
        with_npu,
        ref(size),
        shows=lambda: size.value,
    )
    wrong = environment(r, text(folder, 24))
    r.call('LiteRtGetNumAccelerators', 'AutoRegisterAccelerators = a string', wrong, ref(size), shows=lambda: size.value)
    r.call('LiteRtCreateEnvironment', 'an option with the unknown tag 200', 1, ref(integer(1, 200)), ref(POINTER()))
    r.call('LiteRtCreateEnvironment', 'OpenClContext = NULL', 1, ref(EnvOption(4, Any(9, 0))), ref(POINTER()))

    env = cpu_environment(r)
    options = POINTER()
    r.call('LiteRtGetEnvironmentOptions', 'environment', env, ref(options), shows=lambda: bool(options))
    r.call('LiteRtGetEnvironmentOptions', 'NULL', None, ref(options))
    get = 'LiteRtGetEnvironmentOptionsValue'
    options = r.made('LiteRtGetEnvironmentOptions', env)
    r.call(get, 'a tag that is not set', options, DISPATCH_FOLDER, ref(value))
    r.call(get, 'AutoRegisterAccelerators', options, 24, ref(value), shows=lambda: f'type {value.type}, {value.value}')
    r.call(get, 'options NULL', None, 24, ref(value))
    r.call(get, 'result NULL', options, 24, None)
    add = 'LiteRtAddEnvironmentOptions'
    r.call(add, 'a new string', env, 1, ref(text(folder, DISPATCH_FOLDER)), False)
    r.call(
        get,
        'a string',
        options,
        DISPATCH_FOLDER,
        ref(value),
        shows=lambda: (
            f'type {value.type}, {ctypes.string_at(value.value).decode()}, '
            f'{"copied" if value.value != ctypes.addressof(folder) else "the address given"}'
        ),
    )
    r.call(add, 'a tag that is set, overwrite false', env, 1, ref(integer(1, 24)), False)
    r.call(add, 'a tag that is set, overwrite true', env, 1, ref(integer(3, 24)), True)
    r.call(get, 'an integer that was overwritten', options, 24, ref(value), shows=lambda: value.value)
    r.call(add, '0 options, options NULL', env, 0, None, False)
    r.call(add, '0 options', env, 0, ref(integer(1, 24)), False)
    r.call(add, 'environment NULL', None, 1, ref(integer(1, 24)), False)
    for name in ('SupportsClGlInterop', 'SupportsAhwbClInterop', 'SupportsAhwbGlInterop', 'SupportsFP16'):
        r.call('LiteRtEnvironment' + name, 'no GPU', env, ref(flag), shows=lambda: flag.value)
        r.call('LiteRtEnvironment' + name, 'environment NULL', None, ref(flag))
    r.call('LiteRtEnvironmentHasGpuEnvironment', 'no GPU', env, ref(flag), shows=lambda: flag.value)
    flag.value = True
    r.call('LiteRtEnvironmentHasGpuEnvironment', 'environment NULL', None, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtEnvironmentHasGpuEnvironment', 'result NULL', env, None)
    r.risky('LiteRtGpuEnvironmentCreate', 'no options, environment without a GPU', env, 0, None)
    r.call('LiteRtDestroyEnvironment', 'environment', env)
    r.call('LiteRtDestroyEnvironment', 'NULL', None)


def measure_accelerators(r):
    ref = ctypes.byref
    env, accelerator, size, number, version = cpu_environment(r), POINTER(), SIZE(), ctypes.c_int(), Version()
    name, flag = ctypes.c_char_p(), ctypes.c_bool()
    r.call('LiteRtGetAccelerator', 'index 0', env, 0, ref(accelerator), shows=lambda: bool(accelerator))
    r.call('LiteRtGetAccelerator', 'index 1 of 1', env, 1, ref(POINTER()))
    r.call('LiteRtGetAccelerator', 'environment NULL', None, 0, ref(POINTER()))
    r.call('LiteRtGetNumAccelerators', 'environment NULL', None, ref(size))
    r.call('LiteRtGetAcceleratorName', 'the CPU', accelerator, ref(name), shows=lambda: name.value.decode())
    r.call('LiteRtGetAcceleratorVersion', 'the CPU', accelerator, ref(version), shows=lambda: version)
    r.call('LiteRtGetAcceleratorHardwareSupport', 'the CPU', accelerator, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetAcceleratorId', 'the CPU', accelerator, ref(size), shows=lambda: size.value)
    r.call('LiteRtIsAcceleratorDelegateResponsibleForJitCompilation', 'the CPU', accelerator, ref(flag), shows=lambda: flag.value)
    r.call(
        'LiteRtGetAcceleratorEnvironment', 'the CPU', accelerator, ref(accelerator), shows=lambda: accelerator.value == env.value
    )
    for function in ('Name', 'Version', 'HardwareSupport', 'Id'):
        r.call('LiteRtGetAccelerator' + function, 'accelerator NULL', None, ref(version))

    get_name = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(ctypes.c_char_p))(
        lambda _, out: out.__setitem__(0, b'ours') or 0
    )
    get_version = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(Version))(
        lambda _, out: out.__setitem__(0, Version(1, 2, 3)) or 0
    )
    get_hardware = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(ctypes.c_int))(
        lambda _, out: out.__setitem__(0, NPU) or 0
    )
    released = []
    release = CALLBACK(released.append)
    r.alive = [get_name, get_version, get_hardware, release]
    ours = POINTER()
    r.call('LiteRtCreateAccelerator', 'accelerator', ref(ours))
    r.call('LiteRtCreateAccelerator', 'result NULL', None)
    r.call('LiteRtGetAcceleratorName', 'no function set', ours, ref(name))
    r.call('LiteRtRegisterAccelerator', 'no function set', cpu_environment(r), r.made('LiteRtCreateAccelerator'), None, None)
    r.call('LiteRtSetAcceleratorGetName', 'function', ours, get_name)
    r.call('LiteRtSetAcceleratorGetName', 'accelerator NULL', None, get_name)
    r.call('LiteRtSetAcceleratorGetVersion', 'function', ours, get_version)
    r.call('LiteRtSetAcceleratorGetHardwareSupport', 'function', ours, get_hardware)
    r.call('LiteRtRegisterAccelerator', 'all functions set', env, ours, 42, release)
    r.call('LiteRtGetNumAccelerators', 'after LiteRtRegisterAccelerator', env, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetAcceleratorId', 'the second one', ours, ref(size), shows=lambda: size.value)
    r.call(
        'LiteRtIsAcceleratorDelegateResponsibleForJitCompilation', 'no function set', ours, ref(flag), shows=lambda: flag.value
    )
    r.do('LiteRtDestroyEnvironment', env)
    r.add('LiteRtDestroyEnvironment', 'calls of ReleaseData of its accelerator', released)


def measure_delegates(r):
    """Records for which hardware the delegate of an accelerator is requested."""
    hardware_of = {CPU: 'CPU', GPU: 'GPU', NPU: 'NPU'}
    for hardware, jit, mask in itertools.product(hardware_of, (False, True), (CPU, NPU, CPU | NPU)):
        env, accelerator, created = cpu_environment(r), r.made('LiteRtCreateAccelerator'), []
        functions = {
            'LiteRtSetAcceleratorGetHardwareSupport': (
                lambda _, out, hardware=hardware: out.__setitem__(0, hardware) or 0,
                ctypes.POINTER(ctypes.c_int),
            ),
            'LiteRtSetIsAcceleratorDelegateResponsibleForJitCompilation': (
                lambda _, out, jit=jit: out.__setitem__(0, jit) or 0,
                ctypes.POINTER(ctypes.c_bool),
            ),
            'LiteRtSetDelegateFunction': (lambda *_: created.append(1) or 5, POINTER, POINTER, POINTER, POINTER),
        }
        r.alive = []
        for name, (function, *more) in functions.items():
            r.alive.append(ctypes.CFUNCTYPE(ctypes.c_int, POINTER, *more)(function))
            r.do(name, accelerator, r.alive[-1])
        r.do('LiteRtRegisterAccelerator', env, accelerator, None, None)
        requested = ' and '.join(name for bit, name in hardware_of.items() if mask & bit)
        what = f'{requested} requested; another accelerator, for the {hardware_of[hardware]}, JIT {jit}, returns ErrorUnsupported'
        name, result = 'LiteRtCreateCompiledModel', POINTER()
        status = r.function(name)(env, model_of(r, env, DIGITS), options_of(r, mask), ctypes.byref(result))
        r.add(name, what, f'{STATUSES[status]}, CreateDelegate {"called" if created else "not called"}')


def measure_model(r):
    ref = ctypes.byref
    env, model, size, name = cpu_environment(r), POINTER(), SIZE(), ctypes.c_char_p()
    data = DIGITS.read_bytes()
    of_file, of_buffer = 'LiteRtCreateModelFromFile', 'LiteRtCreateModelFromBuffer'
    r.call(of_file, 'digits_float', env, str(DIGITS).encode(), ref(model))
    r.call(of_file, 'no such file', env, b'/nonexistent.tflite', ref(POINTER()))
    r.call(of_file, 'a folder', env, b'/tmp', ref(POINTER()))
    r.call(of_file, 'name NULL', env, None, ref(POINTER()))
    r.call(of_file, 'environment NULL', None, str(DIGITS).encode(), ref(POINTER()))
    r.call(of_file, 'result NULL', env, str(DIGITS).encode(), None)
    with tempfile.TemporaryDirectory() as folder:
        for what, content in (
            ('an empty file', b''),
            ('a text', b'not a model, but some text'),
            ('the first half of digits_float', data[: len(data) // 2]),
            ('digits_float with 100 more bytes', data + bytes(100)),
        ):
            path = pathlib.Path(folder) / 'model.tflite'
            path.write_bytes(content)
            r.risky(of_file, what, env, str(path).encode(), ref(POINTER()))
    r.call(of_buffer, 'digits_float', env, data, len(data), ref(model))
    r.risky(of_buffer, '16 bytes', env, data, 16, ref(POINTER()))
    r.call(of_buffer, 'size 0', env, data, 0, ref(POINTER()))
    r.call(of_buffer, 'address NULL', env, None, len(data), ref(POINTER()))
    r.call(of_buffer, 'environment NULL', None, data, len(data), ref(POINTER()))
    r.risky(of_buffer, 'zeros', env, bytes(1000), 1000, ref(POINTER()))
    with open(DIGITS, 'rb') as file:
        r.call('LiteRtCreateModelFromFd', 'digits_float, offset 0, its size', env, file.fileno(), 0, len(data), ref(POINTER()))
        r.call('LiteRtCreateModelFromFd', 'size 0', env, file.fileno(), 0, 0, ref(POINTER()))
        r.call('LiteRtCreateModelFromFd', 'size beyond the end', env, file.fileno(), 0, len(data) + 8192, ref(POINTER()))
    r.call('LiteRtCreateModelFromFd', 'descriptor -1', env, -1, 0, len(data), ref(POINTER()))

    model = model_of(r, env, DIGITS)
    r.call('LiteRtGetNumModelSubgraphs', 'digits_float', model, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetMainModelSubgraphIndex', 'digits_float', model, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetModelSubgraph', 'index 1 of 1', model, 1, ref(POINTER()))
    r.call('LiteRtGetNumModelSubgraphs', 'model NULL', None, ref(size))
    r.call('LiteRtGetNumModelSignatures', 'a model without signatures', model, ref(size), shows=lambda: size.value)
    signature = r.made('LiteRtGetModelSignature', model, 0)
    r.call('LiteRtGetSignatureKey', 'a model without signatures', signature, ref(name), shows=lambda: name.value.decode())
    r.call('LiteRtGetModelSignature', 'index 1 of 1', model, 1, ref(POINTER()))
    r.call('LiteRtGetModelSignature', 'model NULL', None, 0, ref(POINTER()))
    measure_signature(r, signature)
    subgraph = r.made('LiteRtGetModelSubgraph', model, 0)
    measure_subgraph(r, subgraph)
    metadata, get = POINTER(), 'LiteRtGetModelMetadata'
    r.call(get, 'a key that is absent', model, b'absent', ref(metadata), ref(size))
    r.call(get, 'min_runtime_version', model, b'min_runtime_version', ref(metadata), ref(size), shows=lambda: size.value)
    r.call('LiteRtAddModelMetadata', '3 bytes', model, b'key', b'abc', 3)
    r.call(
        get,
        'a key that was added',
        model,
        b'key',
        ref(metadata),
        ref(size),
        shows=lambda: ctypes.string_at(metadata, size.value).decode(),
    )
    r.call('LiteRtAddModelMetadata', 'a key that exists', model, b'key', b'xyz', 3)
    r.call(
        get,
        'a key that was added twice',
        model,
        b'key',
        ref(metadata),
        ref(size),
        shows=lambda: ctypes.string_at(metadata, size.value).decode(),
    )
    r.call('LiteRtDestroyModel', 'model', model)
    r.call('LiteRtDestroyModel', 'NULL', None)


def measure_signature(r, signature):
    ref, size, name, tensor = ctypes.byref, SIZE(), ctypes.c_char_p(), POINTER()
    for kind in ('Input', 'Output'):
        r.call(f'LiteRtGetNumSignature{kind}s', 'digits_float', signature, ref(size), shows=lambda: size.value)
        r.call(f'LiteRtGetSignature{kind}Name', 'index 0', signature, 0, ref(name), shows=lambda: name.value.decode())
        r.call(f'LiteRtGetSignature{kind}Name', 'index 1 of 1', signature, 1, ref(name))
        known = r.made(f'LiteRtGetSignature{kind}Name', signature, 0)
        r.call(f'LiteRtGetSignature{kind}Tensor', 'its name', signature, known, ref(tensor), shows=lambda: bool(tensor))
        r.call(f'LiteRtGetSignature{kind}Tensor', 'an unknown name', signature, b'unknown', ref(tensor))
        r.call(f'LiteRtGetSignature{kind}TensorByIndex', 'index 0', signature, 0, ref(tensor), shows=lambda: bool(tensor))
        r.call(f'LiteRtGetSignature{kind}TensorByIndex', 'index 1 of 1', signature, 1, ref(tensor))
    r.call('LiteRtGetSignatureSubgraph', 'digits_float', signature, ref(tensor), shows=lambda: bool(tensor))
    r.call('LiteRtGetSignatureKey', 'signature NULL', None, ref(name))


def measure_subgraph(r, subgraph):
    ref, size, name, handle, number = ctypes.byref, SIZE(), ctypes.c_char_p(), POINTER(), ctypes.c_int()
    for kind in ('Inputs', 'Outputs', 'Ops'):
        r.call(f'LiteRtGetNumSubgraph{kind}', 'digits_float', subgraph, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetSubgraphName', 'digits_float', subgraph, ref(name), shows=lambda: repr((name.value or b'').decode()))
    for kind in ('Input', 'Output'):
        r.call(f'LiteRtGetSubgraph{kind}', 'index 1 of 1', subgraph, 1, ref(handle))
    r.call('LiteRtGetSubgraphOp', 'index out of range', subgraph, 1000, ref(handle))
    tensor = r.made('LiteRtGetSubgraphInput', subgraph, 0)
    layout, index, flag, scale = RankedType(), ctypes.c_uint32(), ctypes.c_bool(), PerTensor()
    r.call('LiteRtGetTensorName', 'input 0', tensor, ref(name), shows=lambda: name.value.decode())
    r.call('LiteRtGetTensorIndex', 'input 0', tensor, ref(index), shows=lambda: index.value)
    r.call('LiteRtGetTensorTypeId', 'input 0', tensor, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetRankedTensorType', 'input 0', tensor, ref(layout), shows=lambda: layout)
    r.call('LiteRtGetUnrankedTensorType', 'input 0, which is ranked', tensor, ref(number))
    r.call('LiteRtGetQuantizationTypeId', 'a float tensor', tensor, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetPerTensorQuantization', 'a float tensor', tensor, ref(scale))
    r.call('LiteRtGetNumTensorUses', 'input 0', tensor, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorUse', 'index 0', tensor, 0, ref(handle), ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorUse', 'index 9', tensor, 9, ref(handle), ref(size))
    pair = (POINTER * 2)()
    r.call('LiteRtGetTensorDefiningOp', 'input 0', tensor, ref(flag), pair, shows=lambda: flag.value)
    weights, address = r.made('LiteRtGetTensorWeights', tensor), POINTER()
    r.call(
        'LiteRtGetWeightsBytes',
        'a tensor without weights',
        weights,
        ref(address),
        ref(size),
        shows=lambda: f'{size.value} bytes, address {"set" if address else "NULL"}',
    )
    op = r.made('LiteRtGetSubgraphOp', subgraph, 0)
    r.call('LiteRtGetOpCode', 'op 0', op, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetNumOpInputs', 'op 0', op, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetNumOpOutputs', 'op 0', op, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetOpInput', 'index 9', op, 9, ref(handle))
    r.call('LiteRtGetCustomCode', 'a builtin operator', op, ref(name))
    for option in ('Conv2dStrideH', 'Conv2dPadding', 'Conv2dFusedActivation'):
        r.call(f'LiteRtGet{option}Option', 'op 0 of digits_float', op, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetConcatenationAxisOption', 'an op of another code', op, ref(number))
    r.call('LiteRtGetOpCode', 'op NULL', None, ref(number))
    constant = r.made('LiteRtGetOpInput', op, 1)
    weights, identifier = r.made('LiteRtGetTensorWeights', constant), ctypes.c_int32()
    r.call('LiteRtGetWeightsBytes', 'input 1 of op 0', weights, ref(address), ref(size), shows=lambda: f'{size.value} bytes')
    r.call('LiteRtGetWeightsBufferId', 'input 1 of op 0', weights, ref(identifier), shows=lambda: identifier.value > 0)


def measure_quantized_model(r):
    ref, env, number = ctypes.byref, cpu_environment(r), ctypes.c_int()
    model = model_of(r, env, DIGITS_INT8)
    subgraph = r.made('LiteRtGetModelSubgraph', model, 0)
    tensor, scale, channels, layout = (r.made('LiteRtGetSubgraphInput', subgraph, 0), PerTensor(), PerChannel(), RankedType())
    r.call('LiteRtGetRankedTensorType', 'input 0 of digits_int8', tensor, ref(layout), shows=lambda: layout)
    r.call('LiteRtGetQuantizationTypeId', 'input 0 of digits_int8', tensor, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetPerTensorQuantization', 'input 0 of digits_int8', tensor, ref(scale), shows=lambda: scale)
    r.call('LiteRtGetPerChannelQuantization', 'a tensor that is quantised per tensor', tensor, ref(channels))
    size, op, constant = SIZE(), POINTER(), POINTER()
    r.do('LiteRtGetNumSubgraphOps', subgraph, ref(size))
    for index in range(size.value):
        op = r.made('LiteRtGetSubgraphOp', subgraph, index)
        r.do('LiteRtGetOpCode', op, ref(number))
        if number.value in (3, 4):  # a convolution
            constant = r.made('LiteRtGetOpInput', op, 1)
            break
    r.call(
        'LiteRtGetQuantizationTypeId',
        'weights of the first convolution of digits_int8',
        constant,
        ref(number),
        shows=lambda: number.value,
    )
    r.call(
        'LiteRtGetPerChannelQuantization',
        'weights of the first convolution of digits_int8',
        constant,
        ref(channels),
        shows=lambda: channels,
    )


def measure_serialization(r):
    ref, env = ctypes.byref, cpu_environment(r)
    model, buffer, size, offset = model_of(r, env, DIGITS), POINTER(), SIZE(), SIZE(77)
    name = 'LiteRtSerializeModel'
    r.call(
        name,
        'digits_float, alignment 1',
        model,
        ref(buffer),
        ref(size),
        ref(offset),
        False,
        1,
        shows=lambda: f'{size.value > 1000}, offset inside the block: {offset.value < size.value}',
    )
    again = POINTER()
    r.call(
        'LiteRtCreateModelFromBuffer',
        'what LiteRtSerializeModel returned',
        env,
        buffer.value + offset.value if buffer else 0,
        size.value - offset.value,
        ref(again),
        shows=lambda: bool(again),
    )
    r.risky(name, 'alignment 0', model_of(r, env, DIGITS), ref(buffer), ref(size), ref(offset), False, 0)
    r.risky(name, 'model NULL', None, ref(buffer), ref(size), ref(offset), False, 1)


def measure_options(r):
    ref, options, number = ctypes.byref, POINTER(), ctypes.c_int(-1)
    r.call('LiteRtCreateOptions', 'result', ref(options))
    r.call('LiteRtCreateOptions', 'result NULL', None)
    get, put = 'LiteRtGetOptionsHardwareAccelerators', 'LiteRtSetOptionsHardwareAccelerators'
    r.call(get, 'new options', options, ref(number), shows=lambda: number.value)
    for mask in (CPU, CPU | GPU | NPU, 0, 8, 16, -1):
        r.call(put, f'{mask}', options, mask)
    r.call(get, 'after them', options, ref(number), shows=lambda: number.value)
    r.call(put, 'options NULL', None, CPU)
    first, second, data, name = POINTER(), POINTER(), POINTER(), ctypes.c_char_p()
    r.call('LiteRtGetOpaqueOptions', 'options without opaque ones', options, ref(first), shows=lambda: bool(first))
    released = []
    release = CALLBACK(released.append)
    create = 'LiteRtCreateOpaqueOptions'
    r.call(create, 'identifier, data, destructor', b'first', 1, release, ref(first))
    r.call(create, 'identifier NULL', None, 1, release, ref(POINTER()))
    r.call(create, 'data NULL', b'x', None, release, ref(POINTER()))
    r.call(create, 'destructor NULL', b'x', 1, None, ref(POINTER()))
    first, second = r.made(create, b'first', 1, release), r.made(create, b'second', 2, release)
    r.call('LiteRtGetOpaqueOptionsIdentifier', 'options', first, ref(name), shows=lambda: name.value.decode())
    r.call('LiteRtGetOpaqueOptionsData', 'options', first, ref(data), shows=lambda: data.value)
    number64 = ctypes.c_uint64()
    r.risky('LiteRtGetOpaqueOptionsHash', 'no function set', first, ref(number64))
    r.call('LiteRtAddOpaqueOptions', 'first', options, first)
    r.call('LiteRtAddOpaqueOptions', 'second', options, second)
    r.call('LiteRtAddOpaqueOptions', 'opaque options NULL', options, None)
    head = r.made('LiteRtGetOpaqueOptions', options)
    r.call(
        'LiteRtGetOpaqueOptionsIdentifier',
        'head after adding first and second',
        head,
        ref(name),
        shows=lambda: name.value.decode(),
    )
    r.call('LiteRtFindOpaqueOptionsData', 'second', head, b'second', ref(data), shows=lambda: data.value)
    r.call('LiteRtFindOpaqueOptionsData', 'an absent identifier', head, b'third', ref(data))
    r.call('LiteRtFindOpaqueOptionsData', 'options NULL', None, b'third', ref(data))
    r.call('LiteRtGetNextOpaqueOptions', 'of the first', ref(head), shows=lambda: bool(head))
    r.call('LiteRtGetNextOpaqueOptions', 'of the last', ref(head))
    r.call('LiteRtAddOpaqueOptions', 'an identifier that is present', options, r.made(create, b'second', 3, release))
    r.call(
        'LiteRtFindOpaqueOptionsData',
        'an identifier that was added twice',
        r.made('LiteRtGetOpaqueOptions', options),
        b'second',
        ref(data),
        shows=lambda: data.value,
    )
    r.add('LiteRtAddOpaqueOptions', 'destructors called so far', released)
    r.call('LiteRtDestroyOptions', 'options', options)
    r.add('LiteRtDestroyOptions', 'destructors called, in order', released)
    r.call('LiteRtDestroyOptions', 'NULL', None)
    r.call('LiteRtAddCustomOpKernelOption', 'kernel NULL', r.made('LiteRtCreateOptions'), b'op', 1, None, None)
    r.call('LiteRtAddExternalTensorBinding', 'size 0', r.made('LiteRtCreateOptions'), b'', b'x', ctypes.addressof(number), 0)
