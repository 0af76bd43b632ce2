# SPDX-License-Identifier: Apache-2.0
"""Deputy runs TensorFlow Lite models.

    from deputy.interpreter import Interpreter

is what `tflite_runtime.interpreter` and `ai_edge_litert.interpreter` are in other packages.
"""
from ._native import library as _library

__version__ = _library().DeputyVersion().decode()


def plugins():
    """The delegate libraries in DEPUTY_PLUGIN_PATH and beside the library, as dictionaries with
    `path`, `name`, and `error`, which is '' for those that can be loaded."""
    from ._native import list_plugins
    return list_plugins()
