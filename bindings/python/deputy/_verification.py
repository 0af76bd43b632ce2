# SPDX-License-Identifier: Apache-2.0
"""Verification of delegates' results against the CPU: see DeputyVerification in deputy/deputy.h."""
import ctypes

from . import _native

_MODES = {'never': 0, 'first': 1, 'every': 2, 'always': 3}
_KEYS = ('mode', 'interval', 'float32_tolerance', 'float16_tolerance', 'quantized_steps')


def settings(given):
    """Returns the struct for a mode, an interval, or a dictionary of _KEYS."""
    if isinstance(given, dict):
        values = dict(given)
    elif isinstance(given, int) and not isinstance(given, bool):
        values = {'mode': 'every', 'interval': given}
    else:
        values = {'mode': given}
    unknown = sorted(set(values) - set(_KEYS))
    if unknown:
        raise ValueError(f"verification: expected {', '.join(_KEYS)}, found {unknown[0]!r}")
    mode = values.get('mode', 'every' if 'interval' in values else 'always')
    if mode not in _MODES:
        raise ValueError("verification: expected 'never', 'first', 'always', a number of runs or a "
                         f'dictionary, found {mode!r}')
    try:
        return _native.Verification(**{**values, 'mode': _MODES[mode]})
    except TypeError as error:
        raise ValueError(f'verification: {error}') from None


def status(lib, interpreter):
    """Returns DeputyVerificationStatus as a dictionary."""
    found = _native.VerificationStatus()
    lib.DeputyInterpreterGetVerificationStatus(interpreter, ctypes.byref(found))
    first = None
    if found.wrong:
        first = {'subgraph': found.subgraph_index, 'node': found.node_index,
                 'tensor': found.tensor_index, 'element': found.element,
                 'expected': found.expected, 'found': found.found}
    return {'verified': found.verified, 'wrong': found.wrong, 'skipped': found.skipped,
            'spent_ns': found.spent_ns, 'first_wrong': first}
