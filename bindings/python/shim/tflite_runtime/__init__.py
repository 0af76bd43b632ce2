# SPDX-License-Identifier: Apache-2.0
"""Deputy under the name `tflite_runtime`, with the interface of tflite-runtime 2.14.0."""
import deputy_tflite_runtime as _shim

__version__ = '2.14.0'
__git_version__ = 'deputy'
_shim.prepare(__name__, 'tflite-runtime', __path__[0])
