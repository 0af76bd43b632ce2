# SPDX-License-Identifier: Apache-2.0
"""Texts that the library reports during a call, for the exception that the call becomes.

Operators and delegates of others report in their own words why they fail; the library's report
about the node follows. The exception has all of them, one per line.
"""
import collections

from . import _native

_MOST_TEXTS = 32


class Reports:
    """Collects the newest texts of one interpreter or delegate. The object that gets `function` as
    its error reporter keeps this object alive."""

    def __init__(self):
        texts = collections.deque(maxlen=_MOST_TEXTS)  # append() is atomic: workers report, too.
        # The library passes a format without arguments, in which every % is doubled.
        self.function = _native.Reporter(lambda user_data, format_, args: texts.append(format_))
        self._texts = texts

    def clear(self):
        """Forgets the texts of earlier calls."""
        if self._texts:
            self._texts.clear()

    def failure(self, newest, otherwise):
        """What the exception says. `newest` is the library's own wording of the last text, which
        may say more than the reporter got; `otherwise` is for a failure without a report."""
        texts = [(text or b'').decode(errors='replace').replace('%%', '%').rstrip('\n')
                 for text in list(self._texts)]
        self._texts.clear()
        if not texts:
            return otherwise
        if newest.startswith(texts[-1]):
            texts[-1] = newest
        return '\n'.join(texts)
