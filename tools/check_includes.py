#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Enforces the layers of the project; docs/architecture.md describes the directories.

LAYERS lists for each directory the directories that its files may include. Includes with quotes and
with angle brackets are resolved from the root, those with quotes also from the directory of the
file. A file that is not named by its path from the root belongs to the layer of its directory. In
addition:

- inside a folder, modules (a header with its source) include each other without cycles;
- object files call only functions of directories that LAYERS allows them to include (--objects, by
  nm): a function that is declared in a lower directory but defined in a higher one is an upward
  dependency. For files that are compiled together the first one is reported;
- delegates, tools and examples name public headers as clients do, as deputy/x.h; bridges/cpu, which
  is the engine as a delegate, may include the engine's headers;
- in core, the generated schema stays in a few source files; intrinsics in the folders of kernels/cpu,
  stb in one file, CLI11, which takes seconds to compile, in the files of the command line;
- every source begins with the licence line, every header has the include guard of its path.

    check_includes.py [ROOT]           check the sources (default: where this script lives)
    check_includes.py --objects BUILD  check the object files of a build
    check_includes.py --self-test      check that each rule finds a violation
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ABI = ('c_api/include', 'c_api/abi')
# Directories that core/base may include. core/support has no dependencies except public headers;
# delegates and tools may use it, too.
BELOW_BASE = ('core/support', *ABI)
CORE = ('core/support', 'core/base', 'core/model', 'core/graph', 'core/kernel_api', 'core/fusion',
        'core/exec', 'core/async', 'core/plugin', 'core/delegation', 'core/validation')
KERNEL_API = ('core/kernel_api', 'core/base', *BELOW_BASE)
KERNELS = ('kernels/common', 'kernels/vector', 'kernels/cpu', 'kernels/linalg', 'kernels/conv',
           'kernels/rnn')

# Directory -> the directories that its files may include, in addition to itself. A row also applies
# to subdirectories, unless these have rows of their own. 'public' are the clients' headers:
# deputy/x.h, litert/c/x.h, tflite/x.h and tensorflow/lite/x.h.
LAYERS = {
    'c_api/include': (),
    'c_api/abi': ('c_api/include',),
    'core/support': ('c_api/include',),
    'core/base': BELOW_BASE,
    'core/model': ('core/base', *BELOW_BASE),
    'core/kernel_api': ('core/model', 'core/base', *BELOW_BASE),
    'core/graph': ('core/model', 'core/base', *BELOW_BASE),
    'core/plugin': ('core/base', *BELOW_BASE),
    'core/fusion': ('core/graph', 'core/kernel_api', 'core/base', *BELOW_BASE),
    'core/exec': ('core/fusion', 'core/graph', 'core/kernel_api', 'core/model', 'core/base',
                  *BELOW_BASE),
    'core/async': ('core/exec', 'core/fusion', 'core/graph', 'core/kernel_api', 'core/model', 'core/base',
                   *BELOW_BASE),
    'core/delegation': ('core/exec', 'core/plugin', 'core/fusion', 'core/graph', 'core/kernel_api',
                        'core/model', 'core/base', *BELOW_BASE),
    'core/validation': ('core/delegation', 'core/exec', 'core/plugin', 'core/fusion', 'core/graph',
                        'core/kernel_api', 'core/model', 'core/base', *BELOW_BASE),
    'kernels/common': KERNEL_API,
    'kernels/vector': ('kernels/common', *KERNEL_API),
    'kernels/cpu': ('kernels/vector', 'kernels/common', *KERNEL_API),
    'kernels/linalg': ('kernels/cpu', 'kernels/vector', 'kernels/common', *KERNEL_API),
    'kernels/conv': ('kernels/linalg', 'kernels/cpu', 'kernels/vector', 'kernels/common', *KERNEL_API),
    'kernels/rnn': ('kernels/linalg', 'kernels/cpu', 'kernels/vector', 'kernels/common', *KERNEL_API),
    'kernels': (*KERNELS, *KERNEL_API),
    'c_api/src': (*CORE, 'kernels', *KERNELS, *ABI),
    'compiler': ('core/support', 'public'),
    'gpu_cl': ('gpu_cl/device', 'compiler', 'core/support', 'public'),
    'gpu_cl/device': ('core/support', 'public'),
    'npu_stub': ('public',),
    'npu_stub/litert': ('npu_stub', 'public'),
    'mindspore/ms': ('core/support', 'public'),
    'mindspore': ('mindspore/ms', 'core/support', 'public'),
    'bridges/xnnpack': ('core/support', 'public'),
    'bridges/hexagon': ('core/support', 'public'),
    'bridges/nnapi': ('core/support', 'public'),
    'bridges/onnxruntime': ('core/support', 'public'),
    'bridges/sandbox': ('core/support', 'public'),
    'bridges/layers': ('bridges/layers/record', 'core/base', 'core/support', 'public'),
    'bridges/sandbox/host': ('bridges/sandbox', 'public'),
    'bridges/layers/record': ('public',),
    'bridges/triton': ('core/support', 'public'),
    'bridges/replay': ('bridges/layers', 'bridges/layers/record', 'public'),
    # This delegate is the only one that contains the engine.
    'bridges/cpu': ('c_api/src', *CORE, 'kernels', *KERNELS, *ABI),
    'litert/include': ('public',),
    'litert/src': ('gpu_cl/device', 'core/support', 'public'),
    'litert/client': ('public',),
    'bindings': ('public',),
    'examples': ('public',),
    'tools': ('bridges/layers', 'bridges/layers/record', 'mindspore/ms', 'core/support', 'public'),
}
# Pairs (directory, included directory) that are allowed in addition to LAYERS.
EXCEPTIONS = {('tools/certify', 'tests/conformance'), ('tools/certify', 'tests/cases')}
# Directories without restrictions.
FREE = ('tests',)

# Libraries restricted to some directories, by the prefix of their headers' names.
LIBRARIES = {
    ('flatbuffers/',): ('bindings', 'core/base', 'core/model', 'litert/src', 'mindspore/ms', 'tools'),
    ('tables_generated.h',): ('litert/src',),
    ('schema_generated.h',): ('core/support', 'core/model', 'litert/src', 'mindspore/ms'),
    ('ms_bfbs_generated.h',): ('mindspore/ms',),
    ('CLI/',): ('tools',),
    ('nlohmann/',): ('bridges/triton', 'tools'),
    ('stb/',): ('tools', 'examples'),
    ('CL/',): ('gpu_cl', 'gpu_cl/device'),
    ('xnnpack.h', 'pthreadpool.h'): ('bridges/xnnpack',),
}
# MindSpore's headers are installed as mindspore/x.h, and under the names of its own tree. CMake
# generates mindspore/schema/*.h.
PUBLIC = ('deputy/', 'litert/c/', 'litert/vendors/c/', 'tflite/', 'tensorflow/lite/', 'mindspore/', 'schema/',
          'include/api/', 'include/c_api/', 'include/schema/')
SCHEMA_FILES = ('core/model/model.cc', 'core/support/model_writer.h', 'core/support/op_names.cc', 'litert/src/model_load.cc',
                'litert/src/op_options.cc')
# Users of core/support/model_writer.h, which includes the schema, besides tests.
SCHEMA_WRITERS = ('core/support', 'mindspore/ms')
# Files that may include CLI11. option_checks.h contains the validators that the others share.
CLI_FILES = ('tools/command_line.cc', 'tools/bench/options.cc', 'tools/provider_options.cc',
             'tools/option_checks.h')
INTRINSICS = re.compile(
    r'^(imm|x86|[eptsn]mm|[bw]mm|avx\w*|arm_\w+)intrin\.h$|^arm_neon\.h$|^x86gprintrin\.h$')
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
STB = re.compile(r'^[ \t]*#[ \t]*define[ \t]+STB_\w*IMPLEMENTATION', re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIXES = ('.c', '.cc', '.h', '.inc')
LICENCE = '// SPDX-License-Identifier: Apache-2.0'
LICENCE_LINES = (LICENCE, '/* SPDX-License-Identifier: Apache-2.0')
TOP_FOLDERS = tuple(sorted({folder.split('/')[0] for folder in LAYERS} | set(FREE)))


def layer_of(path):
    """Returns the row of LAYERS for a path, None for files of FREE directories."""
    parts = path.parts
    if parts[0] in FREE:
        return None
    for length in range(len(parts) - 1, 0, -1):
        folder = '/'.join(parts[:length])
        if folder in LAYERS:
            return folder
    return '/'.join(parts[:-1])  # a directory without a row may include nothing


def target_of(root, path, bracket, name):
    """Returns the path of an included file from the root; None for headers of other projects."""
    if bracket == '"' and (root / path.parent / name).is_file():
        return pathlib.Path((root / path.parent / name).resolve().relative_to(root.resolve()))
    if (root / name).is_file():
        return pathlib.Path(name)
    if name.split('/')[0] in TOP_FOLDERS and not name.startswith(PUBLIC):
        return pathlib.Path(name)
    return None


def may_include(path, layer, folder):
    if folder == layer or folder in LAYERS.get(layer, ()):
        return True
    return any(str(path).startswith(source) and (folder or '').startswith(target)
               for source, target in EXCEPTIONS)


def check_include(root, path, bracket, name):
    """Returns the fault of one include as text; '' if there is none."""
    layer = layer_of(path)
    if layer is None:
        return ''
    if INTRINSICS.match(name):
        return '' if path.match('kernels/cpu/*/*/*') else f'intrinsics ({name}) belong in kernels/cpu/*/*/'
    if name == 'core/support/model_writer.h' and layer not in SCHEMA_WRITERS:
        return f'{name} is for {" and ".join(SCHEMA_WRITERS)} only'
    restricted = name.startswith('CLI/') or name.endswith('option_checks.h')
    if restricted and layer == 'tools' and str(path) not in CLI_FILES:
        return f'{name} is for {" and ".join(CLI_FILES)} only'
    target = target_of(root, path, bracket, name)
    if target is not None:
        folder = layer_of(target) or str(target.parent)
        return '' if may_include(path, layer, folder) else f'{layer} may not include {target}'
    if name.startswith(PUBLIC):
        return '' if 'public' in LAYERS.get(layer, ()) else f'{layer} names {name} as clients do'
    for prefixes, folders in LIBRARIES.items():
        if name.startswith(prefixes):
            return '' if layer in folders else f'{layer} may not use {name}'
    return '' if bracket == '<' else f'{layer} includes "{name}", which is not there'


def check_form(path, text):
    """Checks the licence line and the include guard."""
    if not text.startswith(LICENCE_LINES):
        yield f'{path}: the first line must be {LICENCE}'
    if path.suffix == '.h':
        guard = 'DEPUTY_' + re.sub(r'\W', '_', str(path)).upper() + '_'
        if f'#ifndef {guard}\n#define {guard}\n' not in text:
            yield f'{path}: expected the include guard {guard}'


def cycles_of(arrows):
    """Returns the strongly connected components of more than one node, each sorted (Tarjan)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(arrows.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] != index[node]:
            return
        component = []
        while not component or component[-1] != node:
            component.append(stack.pop())
            on_stack.discard(component[-1])
        if len(component) > 1:
            found.append(sorted(component))

    sys.setrecursionlimit(10000)
    for node in sorted(arrows):
        if node not in index:
            visit(node)
    return found


def check_sources(root):
    """Returns all violations under root: those of each file, then those that concern several files."""
    problems, schema, stb = [], [], []
    arrows = collections.defaultdict(set)  # between modules of one directory
    for folder in TOP_FOLDERS:
        for file in sorted((root / folder).rglob('*')):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root)
            text = file.read_text(encoding='utf-8')
            problems += check_form(path, text)
            for bracket, name in INCLUDE.findall(text):
                problem = check_include(root, path, bracket, name)
                if problem:
                    problems.append(f'{path}: {problem}')
                target = target_of(root, path, bracket, name)
                if target and layer_of(path) and layer_of(target) == layer_of(path):
                    if target.with_suffix('') != path.with_suffix(''):
                        arrows[path.with_suffix('')].add(target.with_suffix(''))
                if name == 'schema_generated.h' and (layer_of(path) or '').startswith('core/'):
                    schema.append(path)
            if folder == 'tools' and STB.search(text):
                stb.append(path)
    problems += [f'{cycle[0]}: these include each other in a cycle: {", ".join(map(str, cycle))}'
                 for cycle in cycles_of(arrows)]
    problems += [f'{path}: the schema (530 kB) is for {", ".join(SCHEMA_FILES)} only'
                 for path in schema if str(path) not in SCHEMA_FILES]
    if len(stb) > 1:
        problems.append(f'stb is implemented {len(stb)} times: {", ".join(map(str, stb))}')
    layers = cycles_of({layer: set(below) for layer, below in LAYERS.items()})
    problems += [f'LAYERS has a cycle: {", ".join(cycle)}' for cycle in layers]
    return problems


def sources_of(build, name):
    """Returns the source of a compile command, or those that a generated file includes."""
    path = pathlib.Path(name)
    if (build / 'unity').resolve() not in path.parents:
        return [path.relative_to(ROOT)]
    text = path.read_text(encoding='utf-8')
    return [pathlib.Path(source) for source in re.findall(r'#include "(.*)"', text)]


def symbols_of(object_file):
    """Returns the (defined, undefined) symbols of an object file."""
    defined, undefined = set(), set()
    out = subprocess.run(['nm', '-P', object_file], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        # Weak symbols (inline functions, templates) are defined in every object that uses them.
        if kind in 'TDBRGS':
            defined.add(name)
        elif kind == 'U':
            undefined.add(name)
    return defined, undefined


def check_objects(build):
    """Returns violations found in the object files of a build."""
    symbols = {}
    wanted = {'deputy_support', 'deputy_objects', 'deputy_setup', 'deputy_kernels', 'deputy_small_kernels'}
    found = set()
    for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
        output = re.search(r' -o (CMakeFiles/(\w+)\.dir/\S+\.o) ', entry['command'])
        if not output or output[2] not in wanted:
            continue
        found.add(output[2])
        sources = sources_of(build, entry['file'])
        if len({source.parent for source in sources}) != 1:
            return [f'{entry["file"]}: expected sources of one directory']
        symbols[sources[0]] = symbols_of(build / output[1])
    if found != wanted:
        return [f'{build}: no object files of {", ".join(sorted(wanted - found))}']
    return check_symbols(symbols)


def check_symbols(symbols):
    """Returns calls from one directory into another that LAYERS does not allow."""
    owner = {name: path for path, (defined, _) in symbols.items() for name in defined}
    problems = []
    for path, (_, undefined) in sorted(symbols.items()):
        layer = layer_of(path)
        for name in sorted(undefined):
            target = owner.get(name)
            if layer is None or target is None or may_include(path, layer, layer_of(target)):
                continue
            problems.append(f'{path}: {layer} may not call {name} of {target}')
    return problems


def self_test():
    """Writes one file per rule that violates it, and files without violations."""
    def header(path, body):
        guard = 'DEPUTY_' + re.sub(r'\W', '_', path).upper() + '_'
        return f'{LICENCE}\n#ifndef {guard}\n#define {guard}\n{body}\n#endif  // {guard}\n'

    def source(*includes):
        return LICENCE + '\n' + ''.join(f'#include {name}\n' for name in includes)

    good = {
        'c_api/include/c_api.h': header('c_api/include/c_api.h', '#include "common.h"'),
        'c_api/src/objects.h': header('c_api/src/objects.h', '#include "core/exec/interpreter.h"'),
        'c_api/src/c_api.cc': source('"core/model/model.h"', '"kernels/registry.h"'),
        'core/model/model.cc': source('"c_api/include/common.h"', '"schema_generated.h"'),
        'core/base/error.cc': source('<vector>', '"c_api/include/common.h"', '"core/support/half.h"'),
        'core/support/half.h': header('core/support/half.h', '#include "c_api/include/c_api_types.h"'),
        'compiler/number.cc': source('"core/support/half.h"'),
        'kernels/cast.cc': source('"core/support/half.h"'),
        'kernels/add.cc': source('"core/kernel_api/runtime.h"', '"kernels/conv/winograd.h"'),
        'kernels/conv/winograd.cc': source('"core/base/memory.h"', '"kernels/cpu/cpu.h"'),
        'kernels/cpu/x86_64/avx2/gemm.cc': source('<immintrin.h>'),
        'kernels/cpu/x86_64/amx/tiles.inc': source('<immintrin.h>', '"kernels/cpu/cpu.h"'),
        'tools/certify.cc': source('"tests/cases/add.h"', '"session.h"'),
        'tools/session.h': header('tools/session.h', '#include "deputy/deputy.h"'),
        'gpu_cl/b.cc': source('"compiler/graph.h"', '"deputy/c_api.h"', '<tensorflow/lite/c/common.h>'),
        'gpu_cl/cl.h': header('gpu_cl/cl.h', '#include <CL/cl.h>'),
        'mindspore/ms/write.h': header('mindspore/ms/write.h', '#include "schema_generated.h"'),
        'mindspore/model.cc': source('"mindspore/ms/write.h"', '"deputy/c_api.h"'),
        'tools/command_line.cc': source('<CLI/CLI.hpp>'),
        'tools/model_file.cc': source('"mindspore/ms/write.h"'),
        'tests/kernels/add_test.cc': source('"core/model/model.h"'),
        'mindspore/src/a.cc': source('"deputy/c_api.h"', '"mindspore/src/b.h"'),
        'mindspore/src/b.h': header('mindspore/src/b.h', ''),
        'bridges/xnnpack/a.cc': source('<xnnpack.h>', '"mindspore/delegate.h"'),
        'bridges/cpu/a.cc': source('"core/exec/subgraph.h"', '"kernels/registry.h"',
                                   '"c_api/include/deputy_cpu.h"', '"c_api/src/resolver.h"'),
        'examples/ms.cc': source('"mindspore/model.h"', '"include/api/model.h"'),
    }
    bad = {
        'c_api/include/common.h': header('c_api/include/common.h', '#include "core/base/error.h"'),
        'c_api/include/stray.h': header('c_api/include/stray.h', '#include "../src/objects.h"'),
        'c_api/include/bracket.h': header('c_api/include/bracket.h', '#include <c_api/src/objects.h>'),
        'c_api/abi/helpers.cc': source('"core/base/memory.h"'),
        'core/exec/plan.cc': LICENCE + '\n  # include "kernels/registry.h"\n',
        'core/exec/up.cc': source('"core/delegation/delegation.h"'),
        'core/support/up.cc': source('"core/base/memory.h"'),
        'core/support/client.cc': source('"deputy/c_api.h"'),
        'c_api/include/half.h': header('c_api/include/half.h', '#include "core/support/half.h"'),
        'examples/half.cc': source('"core/support/half.h"'),
        'core/base/up.cc': source('<core/exec/subgraph.h>'),
        'core/model/other.cc': source('"schema_generated.h"'),
        'core/base/writes.cc': source('"core/support/model_writer.h"'),
        'core/model/view.h': header('core/model/view.h', '#include "schema_generated.h"'),
        'core/exec/flat.cc': source('"flatbuffers/flatbuffers.h"'),
        'core/attic/old.cc': source('"core/base/error.h"'),
        'core/exec/private.cc': source('"c_api/src/objects.h"'),
        'core/exec/client.cc': source('"deputy/c_api.h"'),
        'core/base/gone.cc': source('"nowhere.h"'),
        'kernels/mul.cc': source('"core/exec/subgraph.h"'),
        'kernels/sub.cc': source('<immintrin.h>'),
        'kernels/cpu/common/generic.cc': source('<immintrin.h>'),
        'kernels/cpu/up.cc': source('"kernels/registry.h"'),
        'kernels/vector/up.inc': source('"kernels/conv/winograd.h"'),
        'kernels/vector/wide.inc': source('<immintrin.h>'),
        'kernels/linalg/up.cc': source('"kernels/conv/winograd.h"'),
        'kernels/private.cc': source('<c_api/src/objects.h>'),
        'gpu_cl/a.cc': source('"core/base/error.h"'),
        'gpu_cl/c.cc': source('<kernels/registry.h>'),
        'gpu_cl/d.cc': source('"c_api/src/objects.h"'),
        'gpu_cl/e.cc': source('"c_api/include/c_api.h"'),
        'npu_stub/a.c': source('"kernels/registry.h"'),
        'npu_stub/half.c': source('"core/support/half.h"'),
        'npu_stub/b.c': source('"c_api/src/resolver.h"'),
        'mindspore/src/core.cc': source('"core/base/error.h"'),
        'examples/inside.cc': source('"mindspore/src/b.h"'),
        'compiler/a.cc': source('"gpu_cl/device/device.h"'),
        'bridges/xnnpack/b.cc': source('"mindspore/src/b.h"'),
        'bridges/xnnpack/c.cc': source('"core/exec/subgraph.h"'),
        'bridges/cpu/b.cc': source('"gpu_cl/device/device.h"'),
        'bridges/cpu/c.cc': source('"deputy/deputy_cpu.h"'),
        'tools/engine.cc': source('<xnnpack.h>'),
        'tools/devices.cc': source('<CLI/CLI.hpp>'),
        'tools/explain/explain.cc': source('"tools/option_checks.h"'),
        'compiler/b.cc': source('<CL/cl.h>'),
        'mindspore/ms/up.cc': source('"mindspore/src/b.h"'),
        'mindspore/schema.cc': source('"schema_generated.h"'),
        'mindspore/ms/core.cc': source('"core/model/model.h"'),
        'tools/run.cc': source('"tests/cases/add.h"'),
        'tools/objects.cc': source('"c_api/src/objects.h"'),
        'tools/certify_core.cc': source('"core/base/error.h"'),
        'examples/json.cc': source('<nlohmann/json.hpp>'),
        'core/base/no_licence.cc': 'int x;\n',
        'kernels/vector/no_licence.inc': 'int x;\n',
        'core/base/no_guard.h': f'{LICENCE}\n#pragma once\n',
        # These modules form a cycle, one of them through its source.
        'core/plugin/hen.h': header('core/plugin/hen.h', '#include "core/plugin/egg.h"'),
        'core/plugin/egg.h': header('core/plugin/egg.h', ''),
        'core/plugin/egg.cc': source('"core/plugin/egg.h"', '"core/plugin/hen.h"'),
        'kernels/vector/rows.h': header('kernels/vector/rows.h', '#include "kernels/vector/maps.inc"'),
        'kernels/vector/maps.inc': source('"kernels/vector/rows.h"'),
    }
    # Cycles are reported by their first module.
    in_cycles = {'core/plugin/hen.h', 'core/plugin/egg.h', 'core/plugin/egg.cc', 'kernels/vector/rows.h',
                 'kernels/vector/maps.inc'}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for files in (good, bad):
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding='utf-8')
        for name in ('kernels/cpu/cpu.h', 'kernels/conv/winograd.h', 'kernels/registry.h'):
            (root / name).write_text(header(name, ''), encoding='utf-8')
        for name in ('a', 'b'):
            (root / f'tools/{name}.cc').write_text(
                f'{LICENCE}\n#define STB_IMAGE_IMPLEMENTATION\n', encoding='utf-8')
        problems = check_sources(root)
    named = {problem.split(':')[0] for problem in problems}
    missed = [name for name in bad if name not in named | in_cycles]
    wronged = [name for name in good if name in named]
    if 'core/plugin/egg' not in named:
        missed.append('a cycle inside a folder')
    if 'kernels/vector/maps' not in named:
        missed.append('a cycle through an .inc file')
    if not any(problem.startswith('stb is implemented 2 times') for problem in problems):
        missed.append('two copies of stb')
    linked = check_symbols({
        pathlib.Path('core/kernel_api/entry.cc'): ({'RuntimeOf'}, {'SubgraphOf', 'vsnprintf'}),
        pathlib.Path('core/exec/subgraph.cc'): ({'SubgraphOf'}, {'RuntimeOf'}),
    })
    if [problem.split(':')[0] for problem in linked] != ['core/kernel_api/entry.cc']:
        missed.append('a call upwards')
    for name in missed:
        print(f'self-test: not found: {name}')
    for name in wronged:
        print(f'self-test: {name} is valid but was rejected')
    return not missed and not wronged


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('root', nargs='?', type=pathlib.Path, default=ROOT)
    parser.add_argument('--objects', type=pathlib.Path, metavar='BUILD')
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args(arguments)
    if arguments.self_test:
        return 0 if self_test() else 1
    if arguments.objects:
        problems = check_objects(arguments.objects.resolve())
    else:
        problems = check_sources(arguments.root)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
