#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the table of the architecture, enforced by reading #include lines.

    c_api/*.cc -> core, kernels        the only place where core and kernels meet
    kernels    -> a few headers of core -> c_api/*.h
    gpu_cl, npu_stub, tools -> c_api/*.h only
    tools/certify*          -> tests/cases

Beside it: the generated schema stays in two source files, intrinsics stay in kernels/simd_*, stb's
code in one tools file, every source opens with the licence line, every header has the guard its
path asks for. Prints one line per violation and exits 1 if there is any.

    check_includes.py [ROOT]       check the tree (default: where this script lives)
    check_includes.py --self-test  check that each rule catches what it is there for
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ('c_api', 'core', 'kernels', 'gpu_cl', 'npu_stub', 'tools', 'tests', 'examples')
SUFFIXES = ('.c', '.cc', '.h')
LICENCE = '// SPDX-License-Identifier: Apache-2.0'
LICENCE_LINES = (LICENCE, '/* SPDX-License-Identifier: Apache-2.0')

# What kernels may know of the core.
CORE_FOR_KERNELS = ('error', 'memory', 'op_def', 'op_options', 'runtime', 'thread_pool')

# Folder -> what a quoted include may name there. A public header is also read where it is
# installed, so that it may only name its neighbours.
ALLOWED = {
    'public header': r'(c_api/)?[a-z0-9_]+\.h',
    'c_api': r'(c_api|core|kernels)/[a-z0-9_/]+\.h',
    'core': r'(c_api|core)/[a-z0-9_]+\.h|flatbuffers/\w+\.h|schema_generated\.h',
    'kernels': r'(c_api|kernels)/[a-z0-9_]+\.h|core/(%s)\.h' % '|'.join(CORE_FOR_KERNELS),
    'gpu_cl': r'(c_api|gpu_cl)/[a-z0-9_]+\.h',
    'npu_stub': r'(c_api|npu_stub)/[a-z0-9_]+\.h',
    'tools': r'(c_api|tools)/[a-z0-9_]+\.h',
    'tools/certify': r'(c_api|tools|tests/cases)/[a-z0-9_]+\.h',
    'examples': r'(deputy|tflite|tensorflow/lite)/[a-z0-9_/]+\.h',
}
SCHEMA_FILES = 2
INTRINSICS = re.compile(r'^(imm|x86|[eptsn]mm|[bw]mm|avx\w*|arm_\w+)intrin\.h$|^arm_neon\.h$|^x86gprintrin\.h$')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
STB = re.compile(r'^[ \t]*#[ \t]*define[ \t]+STB_\w*IMPLEMENTATION', re.MULTILINE)


def public_headers(root):
    """Which headers of c_api/ clients see: those of header_paths.txt, and our own deputy*.h."""
    lines = (root / 'c_api/header_paths.txt').read_text(encoding='utf-8').splitlines()
    names = {line.split()[1] for line in lines if line.strip() and not line.startswith('#')}
    return names | {header.name for header in (root / 'c_api').glob('deputy*.h')}


def rule_of(path, public):
    """The name of the row of ALLOWED for a file, None where anything goes (tests)."""
    folder = path.parts[0]
    if folder == 'tests':
        return None
    if folder == 'c_api' and path.name in public:
        return 'public header'
    if folder == 'tools' and path.name.startswith('certify'):
        return 'tools/certify'
    return folder


def check_text(path, text, public):
    """Violations inside one file, as text."""
    rule = rule_of(path, public)
    for bracket, name in INCLUDE.findall(text):
        if bracket == '"' and rule and not re.fullmatch(ALLOWED[rule], name):
            yield f'{path}: may not include "{name}" (rule for {rule}: {ALLOWED[rule]})'
        if INTRINSICS.match(name) and not (path.parts[0] == 'kernels' and
                                           path.name.startswith('simd_')):
            if rule:
                yield f'{path}: intrinsics ({name}) belong in kernels/simd_*'
    if not text.startswith(LICENCE_LINES):
        yield f'{path}: the first line must be {LICENCE}'
    if path.suffix == '.h':
        guard = 'DEPUTY_' + re.sub(r'\W', '_', str(path)).upper() + '_'
        if f'#ifndef {guard}\n#define {guard}\n' not in text:
            yield f'{path}: wants the include guard {guard}'


def check_tree(root):
    """All violations under root, sorted by file."""
    problems, schema, stb = [], [], []
    public = public_headers(root)
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob('*')):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root)
            text = file.read_text(encoding='utf-8')
            problems += check_text(path, text, public)
            if folder == 'tests':
                continue
            if any(name == 'schema_generated.h' for _, name in INCLUDE.findall(text)):
                schema.append(path)
            if folder == 'tools' and STB.search(text):
                stb.append(path)
    problems += [f'{path}: the schema (530 kB) is for .cc files only'
                 for path in schema if path.suffix == '.h']
    if len(schema) > SCHEMA_FILES:
        problems.append(f'schema_generated.h is included by {len(schema)} files, '
                        f'{SCHEMA_FILES} may: {", ".join(map(str, schema))}')
    if len(stb) > 1:
        problems.append(f'stb is implemented {len(stb)} times: {", ".join(map(str, stb))}')
    return problems


def self_test():
    """Writes one file per rule that breaks it, and files that break none."""
    def header(path, body):
        guard = 'DEPUTY_' + re.sub(r'\W', '_', path).upper() + '_'
        return f'{LICENCE}\n#ifndef {guard}\n#define {guard}\n{body}\n#endif  // {guard}\n'

    good = {
        'c_api/c_api.h': header('c_api/c_api.h', '#include <stdint.h>\n#include "common.h"'),
        'c_api/objects.h': header('c_api/objects.h', '#include "core/interpreter.h"'),
        'c_api/c_api.cc': f'{LICENCE}\n#include "core/model.h"\n#include "kernels/registry.h"\n',
        'core/model.cc': f'{LICENCE}\n#include "c_api/common.h"\n#include "schema_generated.h"\n',
        'kernels/add.cc': f'{LICENCE}\n#include "core/runtime.h"\n#include "kernels/simd.h"\n',
        'kernels/simd_avx2.cc': f'{LICENCE}\n#include <immintrin.h>\n',
        'tools/certify.cc': f'{LICENCE}\n#include "tests/cases/add.h"\n',
        'tests/add_test.cc': f'{LICENCE}\n#include "core/model.h"\n',
    }
    bad = {
        'c_api/common.h': header('c_api/common.h', '#include "core/error.h"'),
        'core/plan.cc': f'{LICENCE}\n  # include "kernels/registry.h"\n',
        'core/view.h': header('core/view.h', '#include "schema_generated.h"'),
        'kernels/mul.cc': f'{LICENCE}\n#include "core/subgraph.h"\n',
        'kernels/sub.cc': f'{LICENCE}\n#include <immintrin.h>\n',
        'gpu_cl/a.cc': f'{LICENCE}\n#include "core/error.h"\n',
        'npu_stub/a.c': f'{LICENCE}\n#include "kernels/registry.h"\n',
        'tools/run.cc': f'{LICENCE}\n#include "tests/cases/add.h"\n',
        'core/no_licence.cc': 'int x;\n',
        'core/no_guard.h': f'{LICENCE}\n#pragma once\n',
        'tools/certify_core.cc': f'{LICENCE}\n#include "core/error.h"\n',
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for files in (good, bad):
            for name, text in files.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text, encoding='utf-8')
        (root / 'c_api/header_paths.txt').write_text(
            '# comment\n\ntflite/c/c_api.h c_api.h\ntflite/c/common.h common.h\n', encoding='utf-8')
        for name in ('a', 'b'):
            (root / f'tools/{name}.cc').write_text(
                f'{LICENCE}\n#define STB_IMAGE_IMPLEMENTATION\n', encoding='utf-8')
        problems = check_tree(root)
    named = {problem.split(':')[0] for problem in problems}
    missed = [name for name in bad if name not in named]
    wronged = [name for name in good if name in named]
    if not any(problem.startswith('stb is implemented 2 times') for problem in problems):
        missed.append('two copies of stb')
    for name in missed:
        print(f'self-test: nobody noticed {name}')
    for name in wronged:
        print(f'self-test: {name} is fine but was refused')
    return not missed and not wronged


def main(arguments):
    if arguments == ['--self-test']:
        return 0 if self_test() else 1
    here = pathlib.Path(__file__).resolve().parent.parent
    problems = check_tree(pathlib.Path(arguments[0]) if arguments else here)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
