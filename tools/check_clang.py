#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints clang's diagnostics of each file of a build without compiling it, in half of the time.

    check_clang.py BUILD_FOLDER [-j N]

BUILD_FOLDER is configured with clang, DEPUTY_WERROR=ON and DEPUTY_UNITY=OFF, so that each file has
to compile on its own; generated files (headers, precompiled headers) are built first.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands_of(build):
    """Returns {path below ROOT: compile command}, one entry per file even if several targets use
    it."""
    commands = {}
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        path = pathlib.Path(entry['directory'], entry['file'])
        if build not in path.parents:
            commands.setdefault(path.relative_to(ROOT), shlex.split(entry['command']))
    return commands


def generate(build, jobs):
    """Builds the generated headers that sources include, and the precompiled headers."""
    listed = subprocess.run(['ninja', '-C', build, '-t', 'targets', 'all'], check=True,
                            capture_output=True, text=True).stdout
    names = {line.split(':')[0] for line in listed.splitlines()}
    wanted = sorted(name for name in names
                    if name.endswith(('.hxx.pch', '_generated.h')) and not os.path.isabs(name))
    subprocess.run(['ninja', '-C', build, f'-j{jobs}', *wanted], check=True)


def check(build, command):
    """Returns clang's diagnostics of one file, '' if there are none."""
    output = command.index('-o')
    result = subprocess.run([*command[:output], '-fsyntax-only', *command[output + 2:]], cwd=build,
                            capture_output=True, text=True, check=False)
    return result.stderr or ('it failed without a word' if result.returncode else '')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('-j', '--jobs', type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    commands = commands_of(build)
    if not commands:
        sys.exit(f'check_clang: {build}/compile_commands.json contains none of our files')
    generate(build, arguments.jobs)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda path: (path, check(build, commands[path])), sorted(commands))
        for path, said in results:
            if said:
                failed += 1
                print(f'{path}:\n{said}', flush=True)
    print(f'check_clang: {len(commands)} files, {failed} with findings')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
