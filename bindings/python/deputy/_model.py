# SPDX-License-Identifier: Apache-2.0
"""Models of interpreters. Interpreters of one file, or of one bytes object, share the model while
one of them exists, and with it the constants that the library unpacks or packs for its kernels.

A file counts as unchanged if its device, inode, size and times are equal. A file whose times are
younger than _MIN_AGE_NS is not shared, since a later change might leave them equal.
"""
from __future__ import annotations

import os
import time
import weakref
from typing import Any

from . import _checks, _native
from ._native import Owned, last_error

_MIN_AGE_NS = 2_000_000_000
_models: weakref.WeakValueDictionary[Any, Owned] = weakref.WeakValueDictionary()


def _file_key(path):
    """Returns a key of the file's present contents; None if it cannot be read or is too young."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return None
    age = time.time_ns() - max(state.st_mtime_ns, state.st_ctime_ns)
    if age < _MIN_AGE_NS:
        return None
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


def _shared(key, create):
    """Returns a user of the model under `key`, which `create` makes if there is none.

    Python runs a finalizer before it clears weak references: a model that is found may be one that
    another thread deletes."""
    model = _models.get(key)
    user = None if model is None else model.share()
    if user is None:
        created = create()
        _models[key] = created
        user = created.share()
    return user


def _owned(lib, pointer, content):
    if not pointer:
        raise ValueError(last_error())
    return Owned(pointer, lib.TfLiteModelDelete, content)


def _from_file(lib, path):
    def create():
        return _owned(lib, lib.TfLiteModelCreateFromFileWithErrorReporter(
            path, _native.quiet_reporter, None), None)

    key = _file_key(path)
    if key is None:
        return create()
    user = _shared(key, create)
    # The file may have changed while it was read.
    if key != _file_key(path):
        _models.pop(key, None)
    return user


def _from_content(lib, content):
    def create():
        return _owned(lib, lib.TfLiteModelCreateWithErrorReporter(
            content, len(content), _native.quiet_reporter, None), content)

    # The model keeps `content`, so its id is not reused while the entry exists.
    return _shared(id(content), create)


def create_model(lib, path, content):
    """Returns the model of a file or of bytes; ValueError if it cannot be loaded."""
    if path is not None and content is not None:
        raise ValueError("Can't both provide `model_path` and `model_content`")
    if path is None and content is None:
        raise ValueError('`model_path` or `model_content` must be specified.')
    if path is not None:
        return _from_file(lib, _checks.path(path, 'model_path'))
    return _from_content(lib, _checks.content(content))
