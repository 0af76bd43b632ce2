# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow Lite models.

    from deputy.interpreter import Interpreter

Provides the interface of `tflite_runtime.interpreter` and `ai_edge_litert.interpreter`.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from ._native import library as _library

Device = Dict[str, Any]
Policy = Union[str, Callable[[List[Device]], Optional[Device]]]

__version__: str = _library().DeputyVersion().decode()


def processor_count() -> int:
    """Returns the number of threads that can run at the same time: the processors of the calling
    thread's affinity, without slow ones, and at most the quota of the control groups."""
    return _library().DeputyGetProcessorCount()


def plugins() -> List[Dict[str, str]]:
    """Returns the delegate libraries in DEPUTY_PLUGIN_PATH and in the library's plug-in directory,
    as dictionaries with `path`, `name`, and `error`, which is '' for usable ones."""
    from ._native import list_plugins
    return list_plugins()


def devices(paths: Optional[str] = None) -> List[Device]:
    """Returns the devices of the delegate libraries in `paths`, separated by colons, by default those of
    plugins(), as dictionaries. load_delegate(device['path'], device['options']) creates a delegate on
    a device. A library without devices has an entry with `plugin`, `path` and `problem` only, the
    reason; `problem` of a device is ''."""
    from ._devices import list_devices
    return list_devices(paths)


def choose_device(policy: Policy, candidates: Optional[Sequence[Device]] = None) -> Optional[Device]:
    """Returns the device that a policy chooses from those of devices(), or None for the CPU. The
    policy is 'performance', 'efficiency', 'latency', 'prefer-npu', 'prefer-gpu', or a function that
    receives the usable devices and returns one of them or None."""
    from ._devices import choose
    return choose(policy, devices() if candidates is None else candidates)
