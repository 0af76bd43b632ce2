# SPDX-License-Identifier: Apache-2.0
"""Delegates from libraries, see load_delegate()."""
from __future__ import annotations

import os
from typing import Any, List, Mapping, Optional, Union

from . import _checks, _native
from ._native import Owned, last_error
from ._reports import Reports


Path = Union[str, 'os.PathLike[str]']
Options = Mapping[Any, Any]  # Keys and values are converted to texts.


class LibraryError(OSError, ValueError):
    """The library of a delegate does not exist or is not an ELF file. LiteRT raises OSError then."""


def _failure(library: Path, reports: Reports) -> str:
    text = reports.failure(last_error(), last_error() or 'no reason given')
    return f'Failed to load delegate from {library}\n{text}'


def _names_text(library: Path) -> str:
    """Returns the names of the delegates that exist for a name without a library; '' for a path."""
    text = os.fsdecode(library)
    if os.sep in text or '.so' in text:
        return ''
    names = sorted({entry['name'] for entry in _native.list_plugins() if not entry['error']})
    return '; delegates with a name: ' + (', '.join(names) or 'none')


def _is_missing(library: Path, failure: str) -> bool:
    """Returns True if there is no file at this path, or if the file is not an ELF library."""
    return not os.path.exists(library) or 'ELF' in failure


def _option_arrays(options: Options) -> tuple[Any, Any, int]:
    """Returns arrays of the keys and values, and their length."""
    pairs = [(_checks.text(key, 'option'), _checks.text(value, f'option {key}'))
             for key, value in options.items()]
    return ((_native.TEXT * len(pairs))(*(key for key, _ in pairs)),
            (_native.TEXT * len(pairs))(*(value for _, value in pairs)), len(pairs))


class Delegate:
    """A delegate from a library, see load_delegate(). Interpreters that use it keep it alive."""

    def __init__(self, library: Path, options: Optional[Options] = None) -> None:
        lib, reports = _native.library(), Reports()
        name, arrays = _checks.path(library, 'library'), _option_arrays(options or {})
        plugin = Owned(lib.DeputyPluginLoadWithErrorReporter(name, reports.function, None),
                       lib.DeputyPluginRelease, reports)
        if not plugin.pointer:
            failure = _failure(library, reports) + _names_text(library)
            raise (LibraryError if _is_missing(name, failure) else ValueError)(failure)
        self._owned = Owned(lib.DeputyPluginCreateDelegateWithErrorReporter(
            plugin.pointer, *arrays, reports.function, None),
            lib.DeputyPluginDeleteDelegate, plugin, reports)
        if not self._owned.pointer:
            raise ValueError(_failure(library, reports))

    def set_options(self, options: Options) -> None:
        """Changes options, a dictionary of keys and values, also if the delegate is applied: the
        next invoke() uses the new values. Raises ValueError, and changes nothing, for an unknown
        option, one that is fixed at creation, and an invalid value. No interpreter may run the
        delegate meanwhile."""
        if _native.library().DeputyPluginSetDelegateOptions(self._owned.pointer,
                                                            *_option_arrays(options)):
            raise ValueError(last_error())

    def get_option(self, key: str) -> str:
        """Returns the value of an option as a text. Raises ValueError for an unknown option."""
        found: List[str] = []
        note = _native.OptionUseCallback(lambda _, use: found.append(use.contents.value.decode()))
        if _native.library().DeputyPluginGetDelegateOption(
                self._owned.pointer, _checks.text(key, 'option'), note, None):
            raise ValueError(last_error())
        return found[0]

    def _get_native_delegate_pointer(self) -> int:
        return self._owned.pointer


def load_delegate(library: Path, options: Optional[Options] = None) -> Delegate:
    """Returns a delegate of the library at that path, or of a plug-in by its name ('gpu'), created
    with `options`, a dictionary of keys and values. Raises LibraryError if the file does not exist
    or is not an ELF library, ValueError if the library cannot be loaded for another reason or
    returns no delegate; the texts contain the reason."""
    return Delegate(library, options)
