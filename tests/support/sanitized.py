# SPDX-License-Identifier: Apache-2.0
"""Lets Python open a library that was built with a sanitizer, whose runtime must be loaded first."""
import os
import pathlib
import re
import subprocess
import sys

RUNTIME = re.compile(r'Shared library: \[(lib[at]san\.so\.\d+)\]')


def needs_runtime(library: pathlib.Path) -> str:
    """Returns the file name of the sanitizer's runtime that `library` needs, or ''."""
    needed = subprocess.run(['readelf', '-d', library], check=True, capture_output=True, text=True)
    runtime = RUNTIME.search(needed.stdout)
    return runtime[1] if runtime else ''


def start_again_with_runtime(library: pathlib.Path):
    """Restarts this script with the sanitizer's runtime that `library` needs, unless it is loaded.

    The leak check is disabled, because Python itself does not free all blocks; refused allocations return NULL."""
    runtime = needs_runtime(library)
    if not runtime or runtime in os.environ.get('LD_PRELOAD', ''):
        return
    options = os.environ.get('ASAN_OPTIONS', '')
    os.environ |= {'LD_PRELOAD': runtime, 'ASAN_OPTIONS': f'{options}:detect_leaks=0:allocator_may_return_null=1'.lstrip(':')}
    os.execv(sys.executable, [sys.executable, *sys.argv])
