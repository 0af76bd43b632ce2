# SPDX-License-Identifier: Apache-2.0
"""Forwards to deputy.interpreter."""
from deputy.interpreter import (Delegate, Interpreter, InterpreterWithCustomOps, OpResolverType, SignatureRunner,
                                load_delegate)

from . import metrics_portable as metrics

__all__ = ['Delegate', 'Interpreter', 'InterpreterWithCustomOps', 'OpResolverType', 'SignatureRunner',
           'load_delegate', 'metrics']
