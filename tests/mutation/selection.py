# SPDX-License-Identifier: Apache-2.0
"""Selects the tests that should detect a change of a file, the likeliest and fastest first.

A test is a name: of a program below <build>/tests, which is built from one or several files, or of a script
tests/**/<name>.py. After a colon follows a filter of googletest, or a test of the script.
"""
import functools
import os
import pathlib
import re

CASES = 'conformance_test:*every_operator_case_agrees/'
ROWS = 'conformance_test:*every_golden_row_agrees/'
LEVELS = ('reference', 'generic', 'avx2', 'avx512')
ALL_LEVELS = [CASES + level for level in LEVELS] + [ROWS + level for level in ('generic', 'avx512')]
# Tests that cannot detect a mutation (of the build, of other programs), or take minutes.
NEVER = re.compile(r'^(bench_all_test|headers_test|install_test|languages_test|large_graph_test|'
                   r'allocation_failure_test|cpu_in_tflite_test|gpu_every_fault_test)$')

# Rows of a folder, a pattern of the names of tests that may detect a change of its files, and further
# tests with their filters. likeness() ranks those that match the pattern.
FOLDERS = (
    ('compiler/', r'compiler_.*|gpu_(delegate|graphs|plan|program)_test|quantized_accuracy_test', [CASES + 'compiled*']),
    ('gpu_cl/', r'gpu_.*', [CASES + 'gpu_?of4', CASES + 'gpu_desktop', CASES + 'gpu_mobile']),
    ('npu_stub/', r'npu_.*', [CASES + 'npu_stub']),
    ('mindspore/', r'mindspore_.*|ms_.*', []),
    ('bridges/cpu/', r'cpu_delegate_test', [CASES + 'cpu']),
    ('bridges/nnapi/', r'nnapi_.*', [CASES + 'nnapi']),
    ('bridges/onnxruntime/', r'onnxruntime_.*', []),
    ('bridges/hexagon/', r'hexagon_.*', []),
    ('bridges/xnnpack/', r'xnnpack_.*', [CASES + 'xnnpack', ROWS + 'xnnpack']),
    ('tools/certify/', r'certify_test', []),
    ('tools/', r'(difference|text)_test|(cli\w*|explain|providers?|provider_flags|bench_clock|'
               r'delegate_facts|option_effects|examples|verification|model_errors|certify)_test', []),
    ('kernels/', r'(?!gpu_|npu_|mindspore_|compiler_|ms_|hexagon_|nnapi_|xnnpack_|certify).*',
     ALL_LEVELS),
    ('', r'(?!gpu_|npu_|compiler_|hexagon_|certify).*', ALL_LEVELS[:2]),
)


@functools.lru_cache(maxsize=None)
def all_tests(root):
    """Returns the names of all test files, and the headers that each includes."""
    tests = {}
    for path in sorted(pathlib.Path(root, 'tests').rglob('*_test.*')):
        if path.suffix in ('.cc', '.c', '.py') and not NEVER.match(path.stem):
            text = path.read_text(encoding='utf-8')
            tests[path.stem] = set(re.findall(r'#include "([^"]+)"', text))
    return tests


def likeness(path, name, included):
    """Rates the likelihood that a test detects a change of a file: by its name, then by its includes."""
    folder, stem = os.path.split(os.path.splitext(path)[0])
    subject = name.removesuffix('_test').replace('_run', '')
    if subject == stem or subject.endswith('_' + stem):
        return 4
    if f'{folder}/{stem}.h' in included:
        return 3
    words = {word for word in stem.split('_') if len(word) > 3}
    if words & set(subject.split('_')):
        return 2
    return 1 if any(header.startswith(folder + '/') for header in included) else 0


def tests_for(root, path, seconds):
    """Returns the names of tests for a change of `path`; `seconds` maps some of them to their duration."""
    prefix, pattern, more = next(row for row in FOLDERS if path.startswith(row[0]))
    tests = {name: likeness(path, name, included) for name, included in all_tests(root).items()
             if re.fullmatch(pattern, name) and name != 'conformance_test'}
    tests |= {name: 2 if prefix else 0 for name in more}
    return sorted(tests, key=lambda name: (-tests[name], seconds.get(name, 1.0), name))
