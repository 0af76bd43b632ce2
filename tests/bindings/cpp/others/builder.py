# SPDX-License-Identifier: Apache-2.0
"""Compiles, links and runs programs against Deputy's client headers and library."""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
DOUBLES = HERE / 'doubles'
MAX_MESSAGE = 3000
# Seconds after which a program counts as failed.
TIME_LIMIT = 300


class BuildError(Exception):
    """The compiler's or linker's messages."""


@dataclasses.dataclass
class Builder:
    build: pathlib.Path  # build folder of Deputy
    folder: pathlib.Path  # products
    includes: list = dataclasses.field(default_factory=list)  # searched after Deputy's headers
    flags: list = dataclasses.field(default_factory=list)

    def compile(self, source):
        """Returns the object file of a source; BuildError with the compiler's first errors."""
        target = self.folder / (re.sub(r'\W', '_', str(source))[-120:] + '.o')
        includes = [f'-I{path}' for path in (self.build / 'include', *self.includes, DOUBLES)]
        launcher = ['ccache'] if shutil.which('ccache') else []
        language = ['gcc', '-std=gnu11'] if source.suffix == '.c' else ['g++', '-std=c++17']
        done = run([*launcher, *language, '-O0', '-fPIC', '-w', '-fmax-errors=20', *self.flags,
                    *includes, '-c', source, '-o', target])
        if done.returncode:
            raise BuildError(errors_of(done.stderr))
        return target

    def compile_all(self, sources):
        """Returns the object files and, for each source that does not compile, the messages."""
        objects, failures = [], {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for source, job in [(source, pool.submit(self.compile, source)) for source in sources]:
                try:
                    objects.append(job.result())
                except BuildError as error:
                    failures[source] = str(error)
        return objects, failures

    def link(self, name, objects, *options):
        target = self.folder / name
        support = self.build / 'libdeputy_delegate_support.a'
        done = run(['g++', *objects, '-o', target, *options, f'-L{self.build}', '-ldeputy',
                    *([support] if support.exists() else []), '-pthread', '-ldl',
                    f'-Wl,-rpath,{self.build}'])
        if done.returncode:
            raise BuildError(errors_of(done.stderr))
        return target

    def stubs_of(self, objects, pattern):
        """Returns an object file that defines the symbols which the objects name and none defines, if their
        mangled names match the pattern: functions that trap, and tables of zeros."""
        defined, used = set(), set()
        for line in run(['nm', '-P', *objects]).stdout.splitlines():
            name, _, kind = line.partition(' ')
            (used if kind.startswith(('U', 'w')) else defined).add(name)
        source = self.folder / 'stubs.s'
        source.write_text(''.join(
            f'.data\n.globl {name}\n{name}: .zero 512\n' if re.match('_ZT[VIS]', name) else
            f'.text\n.globl {name}\n{name}: ud2\n'
            for name in sorted(used - defined) if re.search(pattern, name))
            + '.section .note.GNU-stack,"",@progbits\n', encoding='utf-8')
        target = source.with_suffix('.o')
        done = run(['g++', '-c', source, '-o', target])
        if done.returncode:
            raise BuildError(done.stderr[:MAX_MESSAGE])
        return target

    def program(self, name, sources, *options):
        """Builds a program; BuildError names the sources that do not compile."""
        objects, failures = self.compile_all(sources)
        if failures:
            raise BuildError('\n'.join(f'{source}:\n{text}' for source, text in failures.items()))
        return self.link(name, objects, *options)


def errors_of(text):
    """Returns the lines with errors, at most MAX_MESSAGE characters, or the end of the text."""
    lines = [line for line in text.splitlines() if re.search('error|undefined|multiple definition', line)]
    return '\n'.join(lines)[:MAX_MESSAGE] or text[-MAX_MESSAGE:]


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors='replace',
                          check=False, stdin=subprocess.DEVNULL, **options)


def run_with_limit(command, **options):
    """Runs a program; a program that exceeds the time limit has the exit code 124."""
    try:
        return run(command, timeout=TIME_LIMIT, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, '', f'no end after {TIME_LIMIT} s')


def cases_of(program, **options):
    """Returns the full names of a googletest program's cases."""
    suite, names = '', []
    for line in run([program, '--gtest_list_tests'], **options).stdout.splitlines():
        line = line.split('#')[0].rstrip()
        if re.fullmatch(r'\S+\.', line):
            suite = line
        elif suite and re.fullmatch(r'  \S+', line):
            names.append(suite + line.strip())
    return names


def results_of(program, **options):
    """Runs a googletest program; returns the message of each case, empty if it passes. If the program
    crashes, each case runs in a process of its own."""
    names = cases_of(program, **options)
    report = program.with_suffix('.json')
    report.unlink(missing_ok=True)
    done = run_with_limit([program, f'--gtest_output=json:{report}'], **options)
    if report.exists() and done.returncode in (0, 1):
        return messages_in(report)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        jobs = {name: pool.submit(run_with_limit, [program, f'--gtest_filter={name}'], **options)
                for name in names}
        for name, job in jobs.items():
            done = job.result()
            ended = f'exit code {done.returncode}\n{done.stdout}{done.stderr}'
            results[name] = '' if done.returncode == 0 else ended[:MAX_MESSAGE]
    return results


def messages_in(report):
    results = {}
    for suite in json.loads(report.read_text(encoding='utf-8'))['testsuites']:
        for case in suite['testsuite']:
            name = f"{suite['name']}.{case['name']}"
            results[name] = '\n'.join(failure['failure'] for failure in case.get('failures', []))
    return results


def count_of_cases(source):
    """Number of cases in a test's source, for a test that does not compile. A typed or parameterized case
    counts once."""
    return len(re.findall(r'^(?:TYPED_)?TEST(?:_[FP])?\(', source.read_text(encoding='utf-8'), re.MULTILINE))
