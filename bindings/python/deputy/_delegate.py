# SPDX-License-Identifier: Apache-2.0
"""Delegates from libraries, see load_delegate()."""
import os

from . import _checks, _native
from ._native import Owned, last_error
from ._reports import Reports


class LibraryError(OSError, ValueError):
    """The library of a delegate does not exist or is not an ELF file. LiteRT raises OSError then."""


def _failure(library, reports):
    text = reports.failure(last_error(), last_error() or 'no reason given')
    return f'Failed to load delegate from {library}\n{text}'


def _is_missing(library, failure):
    """Returns True if there is no file at this path, or if the file is not an ELF library."""
    return not os.path.exists(library) or 'ELF' in failure


class Delegate:
    """A delegate from a library, see load_delegate(). Interpreters that use it keep it alive."""

    def __init__(self, library, options=None):
        lib, reports = _native.library(), Reports()
        name = _checks.path(library, 'library')
        pairs = [(_checks.text(key, 'option'), _checks.text(value, f'option {key}'))
                 for key, value in (options or {}).items()]
        plugin = Owned(lib.DeputyPluginLoadWithErrorReporter(name, reports.function, None),
                       lib.DeputyPluginRelease, reports)
        if not plugin.pointer:
            failure = _failure(library, reports)
            raise (LibraryError if _is_missing(name, failure) else ValueError)(failure)
        keys = (_native.TEXT * len(pairs))(*(key for key, _ in pairs))
        values = (_native.TEXT * len(pairs))(*(value for _, value in pairs))
        self._owned = Owned(lib.DeputyPluginCreateDelegateWithErrorReporter(
            plugin.pointer, keys, values, len(pairs), reports.function, None),
            lib.DeputyPluginDeleteDelegate, plugin, reports)
        if not self._owned.pointer:
            raise ValueError(_failure(library, reports))

    def _get_native_delegate_pointer(self):
        return self._owned.pointer


def load_delegate(library, options=None):
    """Returns a delegate of the library at that path, or of a plug-in by its name ('gpu'), created
    with `options`, a dictionary of keys and values. Raises LibraryError if the file does not exist
    or is not an ELF library, ValueError if the library cannot be loaded for another reason or
    returns no delegate; the texts contain the reason."""
    return Delegate(library, options)
