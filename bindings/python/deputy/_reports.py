# SPDX-License-Identifier: Apache-2.0
"""Collects the texts that the library reports during a call, for the exception of that call.

Foreign operators and delegates report the reason of a failure in their own words; the library's
report about the node follows. The exception contains all of them, one per line.
"""
from __future__ import annotations

import collections
from typing import Any

from . import _native

_MAX_TEXTS = 32


class Reports:
    """Collects the newest texts of one interpreter or delegate. The object that uses `function` as
    its error reporter keeps this object alive."""

    def __init__(self):
        # Worker threads report, too; append() is atomic.
        texts: collections.deque[Any] = collections.deque(maxlen=_MAX_TEXTS)
        # The library passes a format without arguments, in which every % is doubled.
        self.function = _native.Reporter(lambda user_data, format_, args: texts.append(format_))
        self._texts = texts

    def clear(self):
        """Removes the texts of earlier calls."""
        if self._texts:
            self._texts.clear()

    def failure(self, newest, otherwise):
        """Returns the exception's text. `newest` is the library's last error text, which may extend
        the reported one; `otherwise` is used for a failure without a report."""
        texts = [(text or b'').decode(errors='replace').replace('%%', '%').rstrip('\n')
                 for text in list(self._texts)]
        self._texts.clear()
        if not texts:
            return otherwise
        if newest.startswith(texts[-1]):
            texts[-1] = newest
        return '\n'.join(texts)
