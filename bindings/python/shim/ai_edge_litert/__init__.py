# SPDX-License-Identifier: Apache-2.0
"""Deputy under the name `ai_edge_litert`, with the interface of ai-edge-litert 2.3.0."""
import deputy_tflite_runtime as _shim

__version__ = '2.3.0'
_shim.prepare(__name__, 'ai-edge-litert', __path__[0])
