#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles LiteRT's own tests of its C API against Deputy's headers and runs them on a libLiteRt.so.

    run.py CHECKOUT BUILD_FOLDER [--library FILE] [--work FOLDER] [--write]

CHECKOUT is a work tree of google-ai-edge/LiteRT. Headers of litert/c come from litert/include, others from CHECKOUT.
Needs the Debian packages libgmock-dev, libabsl-dev, libtomlplusplus-dev and flatbuffers-compiler. Prints one line per file
and each case that did not pass; --write writes all cases to docs/litert/upstream_tests.csv. Cases that use C++ classes of
LiteRT's sources, which no library exports, are counted and not compiled.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
from litert_files import file_of  # noqa: E402  (needs the path above)
from mlir import composite, model_of  # noqa: E402

TABLE = ROOT / 'docs/litert/upstream_tests.csv'
# Classes of LiteRT's sources and functions on them.
INTERNAL = re.compile(r'\bLiteRt(?!EnvironmentOptions|Accelerator)\w+T\b|litert::internal|SetWeightsFrom|litert_subgraph->|ml_drift')
INTERNAL_HEADERS = re.compile(
    r'#include "(litert/core/(?:model/|version)|litert/runtime/event|litert/runtime/litert_runtime|'
    r'tflite/stderr|tflite/converter/schema)[^\n]*\n|'
    r'using ::litert::internal::\w+;\n'
)
CASE = re.compile(r'(?m)^(?=TEST(?:_F)?\()')
END = re.compile(r'(?:\n|\A[^\n]*)}\n?')  # of a case, which may have one line
# Cases that do not test the library, or need functions that it does not have, whatever their result.
INTEL = ('CreationWorks', 'SetAndGetGraphBackend', 'SetAndGetPerformanceMode', 'TomlSerializationWithConfigsMap')
LISTED = {'LiteRtModelTest.CreateFromAllocation': 'LiteRtCreateModelFromAllocation is absent: its parameter is a C++ object',
          **{f'IntelOpenVinoOptions.{case}': 'libLiteRt_client.a has no options of Intel' for case in INTEL}}


def split(text):
    """Returns the cases of a file as {suite.name: text}, and the text before, between and after them."""
    head, *parts = CASE.split(text)
    cases, others = {}, [head]
    for part in parts:
        end = END.search(part).end()
        cases['.'.join(re.match(r'TEST\w*\(\s*(\w+),\s*(\w+)', part).groups())] = part[:end]
        others.append(part[end:])
    return cases, others


def write_models(checkout, folder):
    """Writes the model files of the tests: copies of those in the checkout, and those of its .mlir files."""
    data = checkout / 'litert/test/testdata'
    names = set()
    for file in (checkout / 'litert/c').rglob('*_test.cc'):
        names.update(re.findall(r'"(\w+)\.tflite"', file.read_text()))
    for name in sorted(names | {'simple_model', 'simple_model_custom_op', 'dynamic_add_model'}):
        if (data / f'{name}.tflite').exists():
            content = (data / f'{name}.tflite').read_bytes()
        else:
            content = file_of(composite() if name == 'simple_shlo_composite' else model_of((data / f'{name}.mlir').read_text()))
        (folder / f'{name}.tflite').write_bytes(content)


class Upstream:
    """The tests of a checkout, compiled in a work folder."""

    def __init__(self, checkout, build, library, work):
        self.checkout, self.build, self.library, self.work = checkout, build, library, work
        for name in ('include/litert/test', 'source', 'models'):
            (work / name).mkdir(parents=True, exist_ok=True)
        links = ['cc', 'core', 'runtime', 'build_common', 'test/matchers.h', 'test/testdata']
        for name in links:
            link = work / 'include/litert' / name
            if not link.is_symlink():
                link.symlink_to(checkout / 'litert' / name)
        write_models(checkout, work / 'models')

    def run(self, path):
        """Returns {case: (state, reason)} of a file."""
        cases, others = split(path.read_text())
        internal = {name for name, text in cases.items() if INTERNAL.search(text)}
        states = {name: ('internal', 'uses C++ classes of the sources') for name in internal}
        if len(internal) < len(cases):
            source = self.work / 'source' / path.name
            bodies = ['' if name in internal else text for name, text in cases.items()]
            source.write_text(INTERNAL_HEADERS.sub('', others[0]) + ''.join(map(''.join, zip(bodies, others[1:]))))
            states.update(self.execute(source, [name for name in cases if name not in internal]))
        return {name: states[name] for name in cases}

    def execute(self, source, names):
        program, report = source.with_suffix('.out'), source.with_suffix('.json')
        include = [HERE / 'adapters', ROOT / 'litert/include', self.work / 'include', ROOT]
        absl = sorted(pathlib.Path('/usr/lib/x86_64-linux-gnu').glob('libabsl_*.so'))
        built = subprocess.run(
            ['g++', '-std=c++20', '-O0', '-w', '-fpermissive', '-DLITERT_DISABLE_OPENCL_SUPPORT', '-DFLATBUFFERS_LOCALE_INDEPENDENT=0', *(f'-I{folder}' for folder in include), str(source), '-o', str(program)]
            + [str(self.library), str(self.build / 'libLiteRt_client.a'), '-lgmock', '-lgtest', '-lgtest_main', '-lpthread']
            + ['-Wl,--as-needed', *map(str, absl), f'-Wl,-rpath,{self.library.parent}:{self.build}'],
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode:
            lines = [line for line in built.stderr.splitlines() if re.search(r'error|undefined reference', line)]
            return {name: ('not built', lines[0] if lines else built.stderr[-300:]) for name in names}
        states = {}
        for name in names:  # each in a process of its own: one that ends the process leaves the others
            report.unlink(missing_ok=True)
            done = subprocess.run(
                [str(program), f'--gtest_filter={name}', f'--gtest_output=json:{report}'],
                env=dict(os.environ, MODELS=str(self.work / 'models')),
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            states[name] = self.state_of(done, report)
        return states

    @staticmethod
    def state_of(done, report):
        if not report.exists():
            return 'ends the process', f'code {done.returncode}: {done.stderr[-200:].strip()}'
        suites = json.loads(report.read_text()).get('testsuites')
        if not suites:
            return 'absent', 'the preprocessor removes it: no such buffers in this build'
        case = suites[0]['testsuite'][0]
        if case['result'] == 'SKIPPED':
            skipped = re.search(r'Skipped\n(.*)', done.stdout)
            return 'skips itself', skipped.group(1).strip() if skipped else ''
        if 'failures' in case:
            return 'fails', ' '.join(case['failures'][0]['failure'].split())
        return 'passes', ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('checkout', type=pathlib.Path)
    parser.add_argument('build', type=pathlib.Path)
    parser.add_argument('--library', type=pathlib.Path, help='another libLiteRt.so than that of the build')
    parser.add_argument('--work', type=pathlib.Path, help='folder for models and programs')
    parser.add_argument('--write', action='store_true', help=f'write {TABLE.name}')
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    work = (arguments.work or build / 'litert/upstream').resolve()
    library = (arguments.library or build / 'drop-in/libLiteRt.so').resolve()
    upstream = Upstream(arguments.checkout.resolve(), build, library, work)
    files = sorted((arguments.checkout / 'litert/c').rglob('*_test.cc'))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = dict(zip(files, pool.map(upstream.run, files)))
    rows, counts = [], {}
    for file, states in results.items():
        name = str(file.relative_to(arguments.checkout))
        print(name, ', '.join(f'{sum(s == state for s, _ in states.values())} {state}' for state in sorted({s for s, _ in states.values()})))
        for case, (state, reason) in states.items():
            state, reason = ('listed', LISTED[case]) if case in LISTED else (state, reason)
            counts[state] = counts.get(state, 0) + 1
            rows.append((name, case, state, reason))
            if state not in ('passes', 'internal'):
                print(f'  {case}: {state}: {reason[:300]}')
    print(counts)
    if arguments.write:
        with open(TABLE, 'w', encoding='utf-8', newline='') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerows([('file', 'case', 'state', 'reason'), *rows])
    return 0


if __name__ == '__main__':
    sys.exit(main())
