# SPDX-License-Identifier: Apache-2.0
"""Lets Python open a library that was built with a sanitizer, whose runtime must be loaded first."""
import os
import pathlib
import re
import subprocess
import sys

RUNTIME = re.compile(r'Shared library: \[(lib[at]san\.so\.\d+)\]')


def start_again_with_runtime(library: pathlib.Path):
    """Starts this script anew where `library` needs a sanitizer's runtime that is not here yet.

    Python itself leaves blocks behind, so leaks are not looked for.
    """
    needed = subprocess.run(['readelf', '-d', library], check=True, capture_output=True, text=True)
    runtime = RUNTIME.search(needed.stdout)
    if runtime is None or runtime[1] in os.environ.get('LD_PRELOAD', ''):
        return
    options = os.environ.get('ASAN_OPTIONS', '')
    os.environ |= {'LD_PRELOAD': runtime[1], 'ASAN_OPTIONS': f'{options}:detect_leaks=0'.lstrip(':')}
    os.execv(sys.executable, [sys.executable, *sys.argv])
