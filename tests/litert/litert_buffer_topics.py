# SPDX-License-Identifier: Apache-2.0
"""Topics of litert_behaviour_test.py: requirements, tensor buffers and events."""

import ctypes
import os

from litert_calls import (
    BUFFER_TYPES,
    CALLBACK,
    CustomEvent,
    FLOAT32,
    HOST,
    INT4,
    POINTER,
    RankedType,
    SIZE,
    cpu_environment,
    managed,
    ranked,
)


def measure_requirements(r):
    ref, made, number, size = ctypes.byref, POINTER(), ctypes.c_int(), SIZE()
    create, aligned = 'LiteRtCreateTensorBufferRequirements', 'LiteRtCreateTensorBufferRequirementsWithAlignment'
    types = (ctypes.c_int * 2)(HOST, 10)
    strides = (ctypes.c_uint32 * 2)(1, 8)
    prefix = 'LiteRtGetTensorBufferRequirements'
    r.call(create, '2 types, 100 bytes, no strides', 2, types, 100, 0, None, ref(made))
    r.call(create, '0 types', 0, types, 100, 0, None, ref(POINTER()))
    r.call(create, 'types NULL', 1, None, 100, 0, None, ref(POINTER()))
    r.call(create, '2 strides, strides NULL', 1, types, 100, 2, None, ref(POINTER()))
    r.call(create, 'size 0', 1, types, 0, 0, None, ref(POINTER()))
    for alignment in (0, 1, 3, 4096):
        r.call(aligned, f'alignment {alignment}', 1, types, 100, 0, None, alignment, ref(POINTER()))
    r.call(prefix + 'Alignment', 'made without alignment', made, ref(size), shows=lambda: size.value)
    r.call(prefix + 'BufferSize', 'made with 100', made, ref(size), shows=lambda: size.value)
    address = POINTER()
    r.call(
        prefix + 'Strides',
        'made without strides',
        made,
        ref(number),
        ref(address),
        shows=lambda: f'{number.value} strides, address {"set" if address else "NULL"}',
    )
    r.call(
        'LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes', 'made with 2', made, ref(number), shows=lambda: number.value
    )
    r.call(prefix + 'SupportedTensorBufferType', 'index 1', made, 1, ref(number), shows=lambda: number.value)
    r.call(prefix + 'SupportedTensorBufferType', 'index 2 of 2', made, 2, ref(number))
    r.call(prefix + 'SupportedTensorBufferType', 'index -1', made, -1, ref(number))
    r.call(prefix + 'BufferSize', 'requirements NULL', None, ref(size))
    join, joined = 'LiteRtJoinTensorBufferRequirements', POINTER()
    other = r.made(aligned, 2, (ctypes.c_int * 2)(10, HOST), 200, 0, None, 256)
    if r.call(join, 'equal types in another order, 100 and 200 bytes, alignment 64 and 256', made, other, ref(joined)):
        r.call(prefix + 'BufferSize', 'joined', joined, ref(size), shows=lambda: size.value)
        r.call(prefix + 'Alignment', 'joined', joined, ref(size), shows=lambda: size.value)
        r.call(prefix + 'SupportedTensorBufferType', 'joined, index 0', joined, 0, ref(number), shows=lambda: number.value)
    r.call(
        join,
        'no common type',
        r.made(create, 1, types, 9, 0, None),
        r.made(create, 1, (ctypes.c_int * 1)(20), 9, 0, None),
        ref(joined),
    )
    r.call(join, 'strides and none', made, r.made(create, 1, types, 9, 2, strides), ref(joined))
    r.call(join, 'NULL', None, made, ref(joined))


def measure_buffers(r):
    ref, env, made, address = ctypes.byref, cpu_environment(r), POINTER(), POINTER()
    create, size, kind = 'LiteRtCreateManagedTensorBuffer', SIZE(), ctypes.c_int()
    four = ranked(FLOAT32, [4, 4])
    r.call(create, 'host, float32 4x4, 64 bytes', env, HOST, ref(four), 64, ref(made))
    r.call(create, 'environment NULL', None, HOST, ref(four), 64, ref(POINTER()))
    r.call(create, '63 bytes', env, HOST, ref(four), 63, ref(POINTER()))
    r.call(create, '0 bytes', env, HOST, ref(four), 0, ref(POINTER()))
    r.call(create, '1000 bytes', env, HOST, ref(four), 1000, ref(POINTER()))
    r.risky(create, '2^60 bytes', env, HOST, ref(four), 1 << 60, ref(POINTER()))
    r.call(create, 'type NULL', env, HOST, None, 64, ref(POINTER()))
    r.call(create, 'result NULL', env, HOST, ref(four), 64, None)
    for dimensions, bytes_ in (([-1, 4], 64), ([0, 4], 64), ([0], 64), ([0], 0), ([], 4), ([], 0), ([1] * 8, 4)):
        r.call(
            create,
            f'dimensions {dimensions}, {bytes_} bytes',
            env,
            HOST,
            ref(ranked(FLOAT32, dimensions)),
            bytes_,
            ref(POINTER()),
        )
    for element_type in (0, 5, 14, 18, 20, 21, 999):
        r.call(
            create,
            f'element type {element_type}, dimensions [8], 64 bytes',
            env,
            HOST,
            ref(ranked(element_type, [8])),
            64,
            ref(POINTER()),
        )
    for number in (0, 2, 3, 4, 5, 6, 7, 10, 20, 30, 40, 100, 199, 200, -1):
        r.risky(
            create, f'buffer type {number} ({BUFFER_TYPES.get(number, "unknown")})', env, number, ref(four), 64, ref(POINTER())
        )
    r.call('LiteRtGetTensorBufferSize', '64 bytes', made, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorBufferPackedSize', 'float32 4x4', made, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorBufferPackedSize', 'int4 [5]', managed(r, env, INT4, [5], 64), ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorBufferOffset', 'host', made, ref(size), shows=lambda: size.value)
    r.call('LiteRtGetTensorBufferType', 'host', made, ref(kind), shows=lambda: kind.value)
    shown = RankedType()
    r.call('LiteRtGetTensorBufferTensorType', 'float32 4x4', made, ref(shown), shows=lambda: shown)
    strided = r.made(create, env, HOST, ref(ranked(FLOAT32, [2, 2], [4, 1])), 64)
    r.call('LiteRtGetTensorBufferTensorType', 'float32 2x2 with strides', strided, ref(shown), shows=lambda: shown)
    r.call('LiteRtGetTensorBufferPackedSize', 'float32 2x2 with strides', strided, ref(size), shows=lambda: size.value)
    r.call(
        'LiteRtGetTensorBufferHostMemory', 'host', made, ref(address), shows=lambda: f'aligned to 64: {address.value % 64 == 0}'
    )
    lock, unlock = 'LiteRtLockTensorBuffer', 'LiteRtUnlockTensorBuffer'
    host = address.value
    for mode in (0, 1, 2, 7):
        r.call(lock, f'mode {mode}', made, ref(address), mode, shows=lambda: f'host memory: {address.value == host}')
        r.call(lock, f'again while it is locked with mode {mode}', made, ref(address), 0)
        r.call(unlock, f'locked with mode {mode}', made)
    r.call(unlock, 'not locked', made)
    r.call(lock, 'buffer NULL', None, ref(address), 0)
    r.call(lock, 'result NULL', made, None, 0)
    r.call(unlock, 'buffer NULL', None)
    ctypes.memset(host, 7, 64)
    r.call('LiteRtClearTensorBuffer', 'host', made, shows=lambda: f'zeros: {ctypes.string_at(host, 64) == bytes(64)}')
    r.call('LiteRtGetTensorBufferSize', 'buffer NULL', None, ref(size))
    r.call('LiteRtDuplicateTensorBuffer', 'host', made)
    r.call('LiteRtDuplicateTensorBuffer', 'NULL', None)
    for name in ('Ahwb', 'OpenClMemory', 'CustomTensorBufferHandle', 'MetalMemory', 'VulkanMemory', 'WebGpuBuffer'):
        r.risky('LiteRtGetTensorBuffer' + name, 'a host buffer', made, ref(address))
    for name in ('IonBuffer', 'DmaBufBuffer', 'FastRpcBuffer'):
        r.call('LiteRtGetTensorBuffer' + name, 'a host buffer', made, ref(address), ref(kind))
    r.call('LiteRtDestroyTensorBuffer', 'one of two references', made)
    r.call(
        'LiteRtGetTensorBufferSize',
        'after LiteRtDestroyTensorBuffer of one of two references',
        made,
        ref(size),
        shows=lambda: size.value,
    )
    r.call('LiteRtDestroyTensorBuffer', 'the last reference', made)
    r.call('LiteRtDestroyTensorBuffer', 'NULL', None)
    requirements = r.made('LiteRtCreateTensorBufferRequirementsWithAlignment', 1, (ctypes.c_int * 1)(HOST), 80, 0, None, 4096)
    wide = r.made('LiteRtCreateManagedTensorBufferFromRequirements', env, ref(four), requirements)
    r.call('LiteRtGetTensorBufferSize', 'made from requirements of 80 bytes', wide, ref(size), shows=lambda: size.value)
    r.call(
        'LiteRtGetTensorBufferHostMemory',
        'made from requirements with alignment 4096',
        wide,
        ref(address),
        shows=lambda: address.value % 4096 == 0,
    )


def measure_client_memory(r):
    ref, made, address, size = ctypes.byref, POINTER(), POINTER(), SIZE()
    create, four = 'LiteRtCreateTensorBufferFromHostMemory', ranked(FLOAT32, [4, 4])
    memory = ctypes.create_string_buffer(1024)
    base = (ctypes.addressof(memory) + 63) // 64 * 64
    released = []
    release = CALLBACK(lambda at: released.append(at - base))
    r.call(create, 'aligned to 64', ref(four), base, 64, release, ref(made))
    r.call(create, 'aligned to 32', ref(four), base + 32, 64, None, ref(POINTER()))
    r.call(create, 'destructor NULL', ref(four), base, 64, None, ref(POINTER()))
    r.call(create, '63 bytes', ref(four), base, 63, release, ref(POINTER()))
    r.add(create, 'destructor called for a refused buffer of 63 bytes', released)
    released.clear()
    r.call(create, 'address NULL', ref(four), None, 64, None, ref(POINTER()))
    r.call(create, 'size 0', ref(four), base, 0, None, ref(POINTER()))
    r.call(create, 'type NULL', None, base, 64, None, ref(POINTER()))
    r.call('LiteRtLockTensorBuffer', "a program's memory", made, ref(address), 2, shows=lambda: address.value == base)
    r.call('LiteRtGetTensorBufferSize', "a program's memory", made, ref(size), shows=lambda: size.value)
    r.do('LiteRtUnlockTensorBuffer', made)
    r.do('LiteRtDuplicateTensorBuffer', made)
    r.do('LiteRtDestroyTensorBuffer', made)
    r.add('LiteRtDestroyTensorBuffer', 'destructor called after one of two references', released)
    r.do('LiteRtDestroyTensorBuffer', made)
    r.add('LiteRtDestroyTensorBuffer', 'destructor called after the last reference', released)


def measure_events(r):
    ref, env, event, number, flag = ctypes.byref, cpu_environment(r), POINTER(), ctypes.c_int(), ctypes.c_bool()
    create, custom = 'LiteRtCreateManagedEvent', 5
    for kind in (0, 1, 2, 3, 4, 9):
        r.risky(create, f'type {kind}', env, kind, ref(POINTER()))
    r.call(create, 'type 5 (custom)', env, custom, ref(event))
    r.call(create, 'result NULL', env, custom, None)
    r.call('LiteRtGetEventEventType', 'custom', event, ref(number), shows=lambda: number.value)
    r.call('LiteRtGetEventEventType', 'event NULL', None, ref(number))
    r.call('LiteRtWaitEvent', 'custom, without callbacks', event, 0)
    r.call('LiteRtIsEventSignaled', 'custom, without callbacks', event, ref(flag))
    r.call('LiteRtSignalEvent', 'custom', event)
    r.call('LiteRtDupFdEvent', 'custom', event, ref(number))
    r.call('LiteRtGetEventSyncFenceFd', 'custom', event, ref(number))
    calls = []
    kinds = dict(CustomEvent._fields_)
    ours = CustomEvent(
        kinds['retain'](lambda _: calls.append('retain')),
        kinds['release'](lambda _: calls.append('release')),
        kinds['wait'](lambda _, ms: calls.append(f'wait {ms}')),
        kinds['is_signaled'](lambda _: 1),
        kinds['native'](lambda _: 1234),
    )
    r.call('LiteRtSetCustomEvent', 'custom', event, ref(ours))
    r.add('LiteRtSetCustomEvent', 'callbacks called', calls)
    found = POINTER()
    r.call('LiteRtGetCustomEvent', 'custom', event, ref(found), shows=lambda: found.value == ctypes.addressof(ours))
    r.call('LiteRtGetEventCustomNativeEvent', 'custom', event, ref(found), shows=lambda: found.value)
    r.call('LiteRtIsEventSignaled', 'custom, with callbacks', event, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtWaitEvent', 'custom, 5 ms', event, 5)
    r.add('LiteRtWaitEvent', 'callbacks called', calls)
    r.call('LiteRtSetCustomEvent', 'callbacks NULL', event, None)
    r.add('LiteRtSetCustomEvent', 'callbacks called after NULL was set', calls)
    r.call('LiteRtDestroyEvent', 'custom', event)
    r.add('LiteRtDestroyEvent', 'callbacks called', calls)
    r.call('LiteRtDestroyEvent', 'NULL', None)
    measure_fences(r, env)
    measure_buffer_events(r, env)


def measure_fences(r, env):
    ref, event, number, flag = ctypes.byref, POINTER(), ctypes.c_int(), ctypes.c_bool()
    read, write = os.pipe()
    r.call('LiteRtCreateEventFromSyncFenceFd', 'a pipe', env, read, True, ref(event))
    r.call('LiteRtCreateEventFromSyncFenceFd', 'descriptor -1', env, -1, False, ref(POINTER()))
    r.call('LiteRtGetEventSyncFenceFd', 'a pipe', event, ref(number), shows=lambda: number.value == read)
    r.call('LiteRtGetEventEventType', 'a pipe', event, ref(number), shows=lambda: number.value)
    r.call('LiteRtIsEventSignaled', 'an empty pipe', event, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtWaitEvent', 'an empty pipe, 0 ms', event, 0)
    r.call('LiteRtWaitEvent', 'an empty pipe, 10 ms', event, 10)
    r.call('LiteRtDupFdEvent', 'a pipe', event, ref(number), shows=lambda: number.value != read)
    r.call('LiteRtSignalEvent', 'a pipe', event)
    r.call('LiteRtSetCustomEvent', 'a pipe', event, ref(CustomEvent()))
    os.write(write, b'x')
    r.call('LiteRtIsEventSignaled', 'a pipe with a byte', event, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtWaitEvent', 'a pipe with a byte, -1 ms', event, -1)
    r.do('LiteRtDestroyEvent', event)
    r.add(
        'LiteRtDestroyEvent',
        'descriptor that the event owns',
        'closed' if not os.path.exists(f'/proc/self/fd/{read}') else 'open',
    )


def measure_buffer_events(r, env):
    ref, event, flag = ctypes.byref, r.made('LiteRtCreateManagedEvent', env, 5), ctypes.c_bool()
    buffer, found = managed(r, env, FLOAT32, [4], 16), POINTER()
    r.call('LiteRtHasTensorBufferEvent', 'new buffer', buffer, ref(flag), shows=lambda: flag.value)
    r.call('LiteRtGetTensorBufferEvent', 'new buffer', buffer, ref(found))
    r.call('LiteRtSetTensorBufferEvent', 'event', buffer, event)
    r.call('LiteRtSetTensorBufferEvent', 'event NULL', buffer, None)
    r.call('LiteRtHasTensorBufferEvent', 'after LiteRtSetTensorBufferEvent', buffer, ref(flag), shows=lambda: flag.value)
    r.call(
        'LiteRtGetTensorBufferEvent',
        'after LiteRtSetTensorBufferEvent',
        buffer,
        ref(found),
        shows=lambda: found.value == event.value,
    )
    r.call('LiteRtLockTensorBuffer', 'its event has no callbacks', buffer, ref(found), 0)
    r.call('LiteRtUnlockTensorBuffer', 'after the lock that failed', buffer)
    r.call('LiteRtClearTensorBufferEvent', 'buffer', buffer)
    r.call('LiteRtHasTensorBufferEvent', 'after LiteRtClearTensorBufferEvent', buffer, ref(flag), shows=lambda: flag.value)
