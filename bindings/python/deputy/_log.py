# SPDX-License-Identifier: Apache-2.0
"""Passes the library's log to the logger 'deputy' of the module logging.

The library discards messages below the logger's effective level, which follow() reads: a program
that calls logging.basicConfig(level=logging.INFO) receives messages of the level info, too. If
DEPUTY_LOG is set and the logger has no level of its own, the variable sets it.
"""
from __future__ import annotations

import atexit
import ctypes
import logging
import os
from typing import Optional

LOGGER = logging.getLogger('deputy')
# Levels of the module logging, by the library's number: verbose, info, warning, error, silent.
LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_NAMES = ('verbose', 'info', 'warning', 'error', 'silent')
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)


@CALLBACK
def _write(_user_data: Optional[int], level: int, message: bytes) -> None:
    LOGGER.log(LEVELS[level], '%s', message.decode(errors='replace').rstrip('\n'))


def install(lib: ctypes.CDLL) -> None:
    """Redirects the library's log until the program ends."""
    name = os.environ.get('DEPUTY_LOG')
    if name in _NAMES and LOGGER.level == logging.NOTSET:
        LOGGER.setLevel(LEVELS[_NAMES.index(name)])
    lib.DeputySetLogCallback(_write, None)
    atexit.register(lib.DeputySetLogCallback, ctypes.cast(ctypes.c_void_p(), CALLBACK), None)
    follow(lib)


def follow(lib: ctypes.CDLL) -> None:
    """Sets the library's level to the first one that the logger does not discard."""
    effective = LOGGER.getEffectiveLevel()
    lib.DeputySetLogLevel(next((number for number, level in enumerate(LEVELS[:-1]) if level >= effective),
                               len(LEVELS) - 1))
