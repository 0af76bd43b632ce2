# SPDX-License-Identifier: Apache-2.0
"""Devices of all plug-ins, and policies that choose one of them; see deputy.devices()."""
import ctypes
import os
import re

from . import _native
from ._native import DeviceInfo, Owned

POLICIES = ('performance', 'efficiency', 'latency', 'prefer-npu', 'prefer-gpu')
POWER_CLASSES = ('', 'low', 'medium', 'high')
LAYOUTS = ('', 'NHWC', 'NCHW')
TEXTS = ('platform', 'platform_version', 'name', 'vendor', 'type', 'device_class', 'version',
         'driver_version', 'extensions', 'preferred_precision')
NUMBERS = ('index', 'memory_bytes', 'max_buffer_bytes', 'compute_units', 'preferred_batch')


def _named(names, number):
    return names[number] if 0 <= number < len(names) else ''


def _options(text):
    """Returns the options of KEY=VALUE;KEY=VALUE, in which a backslash precedes ; and \\."""
    pieces = re.findall(r'(?:\\.|[^\\;])+', text, re.DOTALL)
    pairs = [re.sub(r'\\(.)', r'\1', piece, flags=re.DOTALL).partition('=') for piece in pieces]
    return {key: value for key, _, value in pairs}


def _describe(info):
    described = {name: getattr(info, name).decode(errors='replace') for name in TEXTS}
    described.update((name, getattr(info, name)) for name in NUMBERS)
    described.update(usable=bool(info.usable), fp16=bool(info.fp16),
                     power_class=_named(POWER_CLASSES, info.power_class),
                     preferred_layout=_named(LAYOUTS, info.preferred_layout),
                     options=_options(info.options.decode(errors='replace')))
    return described


def list_devices(paths):
    """Returns the entries for deputy.devices()."""
    lib = _native.library()
    found = Owned(lib.DeputyDeviceListCreate(None if paths is None else os.fsencode(paths)),
                  lib.DeputyDeviceListDelete)
    infos = lib.DeputyDeviceListGetDevices(found.pointer)
    entries = []
    for i in range(lib.DeputyDeviceListGetCount(found.pointer)):
        entry = _native.DeviceEntry()
        lib.DeputyDeviceListGetEntry(found.pointer, i, ctypes.byref(entry))
        row = {'plugin': entry.name.decode(errors='replace'), 'path': os.fsdecode(entry.path),
               'problem': entry.problem.decode(errors='replace')}
        if infos[i]:
            row.update(_describe(infos[i].contents))
        entries.append(row)
    return entries


def _info(device):
    """Returns the struct with the fields that policies read."""
    if 'type' not in device:
        return None
    power = device.get('power_class', '')
    return DeviceInfo(
        index=device.get('index', 0), usable=device.get('usable', True),
        type=device['type'].encode(), memory_bytes=device.get('memory_bytes', 0),
        power_class=POWER_CLASSES.index(power) if power in POWER_CLASSES else 0,
        preferred_batch=device.get('preferred_batch', 0))


def choose(policy, devices):
    """Returns the device for deputy.choose_device()."""
    if callable(policy):
        usable = [device for device in devices if device.get('usable', False)]
        chosen = policy(usable)
        if chosen is not None and not any(chosen is device for device in usable):
            raise ValueError(f'the policy returned {chosen!r}, expected one of its devices or None')
        return chosen
    if policy not in POLICIES:
        raise ValueError(f"policy: expected a function or one of {', '.join(POLICIES)}, found {policy!r}")
    infos = [_info(device) for device in devices]
    pointers = (ctypes.POINTER(DeviceInfo) * len(infos))(
        *(info and ctypes.pointer(info) for info in infos))
    index = ctypes.c_int64(-1)
    _native.library().DeputyChooseDevice(POLICIES.index(policy), pointers, len(infos),
                                         ctypes.byref(index))
    return None if index.value < 0 else devices[index.value]
