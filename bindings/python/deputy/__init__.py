# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow Lite models.

    from deputy.interpreter import Interpreter

Provides the interface of `tflite_runtime.interpreter` and `ai_edge_litert.interpreter`.
"""
from ._native import library as _library

__version__ = _library().DeputyVersion().decode()


def plugins():
    """Returns the delegate libraries in DEPUTY_PLUGIN_PATH and in the library's plug-in directory,
    as dictionaries with `path`, `name`, and `error`, which is '' for usable ones."""
    from ._native import list_plugins
    return list_plugins()
