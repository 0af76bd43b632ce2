# SPDX-License-Identifier: Apache-2.0
"""Applies a mutation to a checkout, builds the affected targets, runs tests until one fails, and undoes the
mutation."""
import json
import os
import pathlib
import signal
import subprocess
import time

from . import selection

LAUNCHER = '''#!/bin/sh
# Warnings in a mutant (an unused variable) are no errors. The command line is otherwise that of a
# release build, so that ccache finds unchanged files.
for argument; do
  shift
  [ "$argument" = -Werror ] && [ -n "$DEPUTY_MUTANT" ] || set -- "$@" "$argument"
done
if command -v ccache > /dev/null; then
  CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 exec ccache "$@"
fi
exec "$@"
'''
# Build targets that every test script needs, in addition to those that command() adds by the script's name.
SCRIPT_TARGETS = ['deputy_tool', 'test_plugins', 'tensorflowlite_c', 'command']
# Build targets whose outputs test programs open by path.
EXAMPLES = ['conv_mean_delegate', 'mindspore_delegate', 'mindspore_plugin', 'softmax_delegate']
BUILD_SECONDS = 1800


class Refused(Exception):
    """Raised if the checkout cannot be used."""


class Engine:
    """A checkout with its build folder, build/mutate."""

    def __init__(self, root, jobs, test_seconds, mutant_seconds):
        self.root = pathlib.Path(root).resolve()
        self.build = self.root / 'build' / 'mutate'
        self.jobs, self.test_seconds, self.mutant_seconds = jobs, test_seconds, mutant_seconds
        self.times_path = self.build / 'times.json'
        self.marker = self.build / 'mutated'

    def prepare(self):
        """Configures the build. The checkout must be clean, because its files are changed."""
        if self.marker.exists():  # a previous run was killed
            self.git('checkout', '--', self.marker.read_text(encoding='utf-8'))
            self.marker.unlink()
        changed = self.git('status', '--porcelain')
        if changed:
            raise Refused(f'{self.root} has changes; a copy is made by `git worktree add FOLDER`:\n'
                          + changed)
        self.build.mkdir(parents=True, exist_ok=True)
        launcher = self.build / 'launch.sh'
        if not launcher.exists() or launcher.read_text(encoding='utf-8') != LAUNCHER:
            launcher.write_text(LAUNCHER, encoding='utf-8')
            launcher.chmod(0o755)
        linker = next((['-fuse-ld=' + name] for name in ('mold', 'lld', 'gold')
                       if any(pathlib.Path(folder, f'ld.{name}').exists()
                              for folder in os.environ['PATH'].split(':'))), [])
        arguments = [f'-DCMAKE_{kind}_LINKER_FLAGS={flag}' for flag in linker
                     for kind in ('EXE', 'SHARED', 'MODULE')]
        subprocess.run(['cmake', '-S', self.root, '-B', self.build, '-G', 'Ninja', '-DDEPUTY_WERROR=ON',
                        '-DDEPUTY_UNITY=tests', f'-DCMAKE_C_COMPILER_LAUNCHER={launcher}',
                        f'-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}', *arguments],
                       check=True, stdout=subprocess.DEVNULL)

    def git(self, *arguments):
        return subprocess.run(['git', '-C', self.root, *arguments], check=True, capture_output=True,
                              text=True).stdout

    def make(self, targets, mutant=False):
        """Returns True if the targets could be built; the compiler's output is in build.log."""
        environment = {**os.environ, **({'DEPUTY_MUTANT': '1'} if mutant else {})}
        with open(self.build / 'build.log', 'w', encoding='utf-8') as log:
            return run(['ninja', '-C', self.build, f'-j{self.jobs}', *targets], BUILD_SECONDS,
                       environment, log) == 0

    def command(self, test):
        """Returns the command line of a test, and the targets that it needs."""
        name, _, wanted = test.partition(':')
        script = next((self.root / 'tests').rglob(f'{name}.py'), None)
        if script:
            own = {'certify_test': ['deputy-certify'], 'providers_test': ['deputy_gpu', 'deputy_nnapi'],
                   'python_test': ['deputy_gpu']}.get(name, [])
            arguments = [self.build, wanted] if wanted else [self.build]
            if 'argv.pop()' in script.read_text(encoding='utf-8'):  # the folder is the last argument
                arguments.reverse()
            return ['python3', script, *arguments], SCRIPT_TARGETS + own
        arguments = [f'--gtest_filter={wanted}'] if wanted else []
        if name.startswith('mindspore_') and name.rsplit('_', 2)[1] in ('c', 'plugin'):
            arguments.append(self.root / 'examples' / 'conv_mean.tflite')
        return [self.build / 'tests' / name, *arguments], [name, *EXAMPLES]

    def passes(self, test):
        command, _ = self.command(test)
        begin = time.monotonic()
        with open(self.build / 'test.log', 'w', encoding='utf-8') as log:
            code = run(command, self.test_seconds, dict(os.environ), log)
        return code in (0, 77), time.monotonic() - begin

    def times(self):
        """Returns the seconds that each test takes on the unchanged code; -1: it fails or takes too long."""
        if not self.times_path.exists():
            return {}
        return json.loads(self.times_path.read_text(encoding='utf-8'))

    def note(self, test, seconds):
        times = self.times()
        times[test] = round(seconds, 1)
        self.times_path.write_text(json.dumps(times, indent=1, sort_keys=True), encoding='utf-8')

    def passes_unchanged(self, test):
        """Returns True if a test passes on the unchanged code; a test that does not is skipped from then on."""
        if not self.make(self.command(test)[1]):
            raise Refused(f'the code does not compile: see {self.build}/build.log')
        passed, seconds = self.passes(test)
        self.note(test, seconds if passed else -1)
        return passed

    def judge(self, mutation, tests):
        """Applies a mutation and returns ('killed', test), ('survived', ''), ('not compiled', '') or, if each
        of the tests fails on the unchanged code, ('untested', '')."""
        while True:
            verdict, by = self.apply_and_test(mutation, tests)
            if verdict != 'killed' or by in self.times() or self.passes_unchanged(by):
                return verdict, by

    def apply_and_test(self, mutation, tests):
        path = self.root / mutation.path
        original = path.read_text(encoding='utf-8')
        self.marker.write_text(mutation.path, encoding='utf-8')
        try:
            path.write_text(applied(original, mutation), encoding='utf-8')
            return self.outcome(tests)
        finally:
            path.write_text(original, encoding='utf-8')
            self.marker.unlink()

    def outcome(self, tests):
        times = self.times()
        tests = [test for test in tests if times.get(test, 0) >= 0]
        if not tests:
            return 'untested', ''
        begin, built = time.monotonic(), set()
        for test in tests:
            if time.monotonic() - begin > self.mutant_seconds:
                break
            targets = set(self.command(test)[1]) - built
            if targets and not self.make(sorted(targets), mutant=True):
                return 'not compiled', ''
            built |= targets
            passed, seconds = self.passes(test)
            if passed:
                self.note(test, seconds)
            elif not self.passes(test)[0]:  # run once more: a test may fail on a busy machine
                return 'killed', test
        return 'survived', ''


def applied(text, mutation):
    """Returns the text of the file with the mutation."""
    if mutation.line == 0:  # anchored by its text
        if text.count(mutation.before) != 1:
            raise Refused(f'{mutation.path}: expected once, found {text.count(mutation.before)} '
                          f'times: {mutation.before}')
        return text.replace(mutation.before, mutation.after)
    lines = text.split('\n')
    if lines[mutation.line - 1] != mutation.before:
        raise Refused(f'{mutation.path}:{mutation.line}: expected {mutation.before}')
    lines[mutation.line - 1] = mutation.after
    return '\n'.join(lines)


def run(command, seconds, environment, log):
    """Returns the exit status; on a timeout the command and its children are killed, and the status is 124."""
    with subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment,
                          start_new_session=True) as process:
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return 124


def tests_of(engine, path):
    return selection.tests_for(engine.root, path, engine.times())
