#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the exports, dependencies and names of the built libraries.

    check_symbols.py BUILD_FOLDER

The drop-in must export exactly the functions that tests/data/abi_functions.csv lists for the
original (last column: yes, old, expected), all under VERS_1.0. libdeputy.so.1 must export the same
functions, the loader of external delegates, attribute maps, asynchronous execution, and under
DEPUTY_1.0 exactly the Deputy* functions that c_api/include/deputy*.h declares. Both may need only the libraries of C and
C++ (MAY_NEED), and must bind their own symbols locally. libdeputy_mindspore.so.1 exports, under
DEPUTY_1.0, the functions of mindspore/include/*_c.h, and may also need libdeputy.so.1.
libLiteRt.so exports, under VERS_1.0, functions of docs/litert/functions.csv, under DEPUTY_1.0 those of
litert/c/deputy_compiler.h, and may also need libdeputy.so.1.
libdeputy_gpu.so, if built, exports the functions of deputy_gpu.h and of TfLiteGpuDelegateV2 without
a version, and a plug-in's entry points; so does libdeputy_cpu.so with deputy_cpu.h, which also
binds its symbols locally. libdeputy_xnnpack.so, if built, exports only the entry points and may also
need XNNPACK and our two libraries; libdeputy_nnapi.so and libdeputy_hexagon.so export only the entry
points and need none of our libraries. libtriton_deputy.so exports the functions that Triton calls and needs
libdeputy.so.1. Finally, object files compiled for a newer
instruction set may define no weak symbol: the linker could select that copy for all callers, and it
would crash on older CPUs.
"""
import argparse
import csv
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXTERNAL_DELEGATE = {'TfLiteExternalDelegate' + name
                     for name in ('OptionsDefault', 'OptionsInsert', 'Create', 'Delete')}
ENTRY_POINTS = {'tflite_plugin_create_delegate', 'tflite_plugin_destroy_delegate', 'deputy_plugin'}
GPU_ENTRY_POINTS = ENTRY_POINTS | {'TfLiteGpuDelegateV2Create', 'TfLiteGpuDelegateV2Delete',
                                   'TfLiteGpuDelegateOptionsV2Default'}
MAY_NEED = re.compile(r'^(libc|libm|libdl|libpthread|libgcc_s|libstdc\+\+|ld-linux[-\w]*)\.so\.\d+$')


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exports_of(library):
    """Returns {name: version node} of every symbol that the library exports."""
    exports = {}
    for line in output_of('readelf', '-W', '--dyn-syms', library).splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[6] not in ('UND', 'ABS') and fields[4] in ('GLOBAL', 'WEAK'):
            name, _, version = fields[7].partition('@')
            exports[name] = version.strip('@')
    return exports


def tflite_functions():
    """Returns the names that any version of the original's shared library exports."""
    with open(ROOT / 'tests/data/abi_functions.csv', encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file))
    return {row['function'] for row in rows
            if row['exported_by_libtensorflowlite_c'].startswith(('yes', 'old', 'expected'))}


def asynchronous_functions():
    """Returns the functions of attribute maps and of asynchronous execution, which upstream has in
    separate libraries."""
    with open(ROOT / 'tests/data/abi_functions.csv', encoding='utf-8', newline='') as file:
        names = {row['function'] for row in csv.DictReader(file)}
    return {name for name in names
            if re.match(r'TfLite(AttributeMap|Async|ExecutionTask|InterpreterGetAsync)', name)}


def functions_of(header):
    """Returns the Deputy* functions that one of our headers declares."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/', '', header.read_text(encoding='utf-8'), flags=re.DOTALL)
    # Matches names followed by "(" that are not pointers to functions, "(*Name)(".
    return (set(re.findall(r'(?<![\w*])(Deputy\w+)\s*\(', text))
            | set(re.findall(r'\*\s*(Deputy\w+)\s*\((?!\s*\*)', text)))


def declared_functions():
    """Returns the Deputy* functions that our own headers declare for libdeputy.

    Excludes a plug-in's functions (deputy_plugin.h), which plug-ins define, and those of the
    delegates (deputy_gpu.h, deputy_cpu.h, deputy_layers.h), which are in separate libraries.
    """
    return {name for header in sorted(ROOT.glob('c_api/include/deputy*.h'))
            if not header.stem.startswith(('deputy_plugin', 'deputy_gpu', 'deputy_cpu', 'deputy_layers'))
            for name in functions_of(header)}


def mindspore_functions():
    """Returns the functions that the C headers of MindSpore's API declare."""
    names = set()
    for header in ROOT.glob('mindspore/include/*_c.h'):
        text = re.sub(r'//[^\n]*', '', header.read_text(encoding='utf-8'))
        names |= set(re.findall(r'^MS_API\s[^;(]*?\b(\w+)\s*\(', text, re.MULTILINE))
    return names


def check_library(library, soname, expected, may_need=MAY_NEED):
    """Yields one line per violation; `expected` maps names to version nodes."""
    exports = exports_of(library)
    for what, names in (('does not export', expected.keys() - exports.keys()),
                        ('leaks', exports.keys() - expected.keys())):
        if names:
            yield f'{library} {what} {len(names)}: {" ".join(sorted(names))}'
    for name in sorted(expected.keys() & exports.keys()):
        if exports[name] != expected[name]:
            yield f'{library}: {name} is under {exports[name] or "no version"}, not {expected[name]}'
    dynamic = output_of('readelf', '-W', '-d', library)
    if f'Library soname: [{soname}]' not in dynamic:
        yield f'{library}: SONAME is not {soname}'
    if 'SYMBOLIC' not in dynamic:
        yield f'{library}: not linked with -Bsymbolic'
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic):
        if not may_need.match(needed):
            yield f'{library}: may not need {needed}'


def check_mindspore_library(library):
    if library.exists():
        may_need = re.compile(MAY_NEED.pattern + r'|^libdeputy\.so\.1$')
        yield from check_library(library, 'libdeputy_mindspore.so.1',
                                 dict.fromkeys(mindspore_functions(), 'DEPUTY_1.0'), may_need)


def check_litert_library(library):
    if not library.exists():
        yield f'{library} is not built'
        return
    with open(ROOT / 'docs/litert/functions.csv', encoding='utf-8', newline='') as file:
        known = {row['function'] for row in csv.DictReader(file)}
    expected = {name: 'VERS_1.0' for name in exports_of(library) if name in known}
    expected |= dict.fromkeys(functions_of(ROOT / 'litert/include/litert/c/deputy_compiler.h') | ENTRY_POINTS,
                              'DEPUTY_1.0')
    may_need = re.compile(MAY_NEED.pattern + r'|^libdeputy\.so\.1$')
    yield from check_library(library, 'libLiteRt.so', expected, may_need)


def check_gpu_library(library):
    if library.exists():  # not built without OpenCL's headers
        yield from check_delegate(library, 'deputy_gpu.h', GPU_ENTRY_POINTS)


def check_cpu_library(library):
    yield from check_delegate(library, 'deputy_cpu.h', ENTRY_POINTS)
    if 'SYMBOLIC' not in output_of('readelf', '-W', '-d', library):
        yield f'{library}: not linked with -Bsymbolic'


def check_delegate(library, header, entry_points):
    expected = functions_of(ROOT / 'c_api/include' / header) | entry_points
    exports = exports_of(library)
    for what, names in (('does not export', expected - exports.keys()),
                        ('leaks', exports.keys() - expected)):
        if names:
            yield f'{library} {what} {len(names)}: {" ".join(sorted(names))}'
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-W', '-d', library)):
        if not MAY_NEED.match(needed):
            yield f'{library}: may not need {needed}'


def check_xnnpack_library(library):
    if not library.exists():
        return  # not built without XNNPACK
    if exports_of(library).keys() != ENTRY_POINTS:
        yield f'{library} exports {sorted(exports_of(library))}, not {sorted(ENTRY_POINTS)}'
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-W', '-d', library)):
        if not re.match(MAY_NEED.pattern + r'|^lib(deputy_mindspore\.so\.1|deputy\.so\.1|XNNPACK\.so\.0[.\d]*'
                        r'|pthreadpool\.so\.0)$', needed):
            yield f'{library}: may not need {needed}'


def check_bridge(library):
    if exports_of(library).keys() != ENTRY_POINTS:
        yield f'{library} exports {sorted(exports_of(library))}, not {sorted(ENTRY_POINTS)}'
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-W', '-d', library)):
        if not MAY_NEED.match(needed):
            yield f'{library}: may not need {needed}'


def check_triton_library(library):
    """Checks that the library exports the functions that its header declares for the server, and that the server
    defines the other ones that the header declares."""
    if not library.exists():
        return  # not built without nlohmann-json
    header = (ROOT / 'bridges/triton/triton_api.h').read_text(encoding='utf-8')
    expected = set(re.findall(r'DEPUTY_TRITON_EXPORT TRITONSERVER_Error\* (\w+)\(', header))
    if exports_of(library).keys() != expected:
        yield f'{library} exports {sorted(exports_of(library))}, not {sorted(expected)}'
    declared = set(re.findall(r'\b(TRITON(?:SERVER|BACKEND)_\w+)\(', header)) - expected
    undefined = set(re.findall(r' UND (TRITON\w+)', output_of('readelf', '-W', '--dyn-syms', library)))
    if undefined != declared:
        yield f'{library} calls {sorted(undefined)}, but triton_api.h declares {sorted(declared)}'
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]', output_of('readelf', '-W', '-d', library)):
        if not re.match(MAY_NEED.pattern + r'|^libdeputy\.so\.1$', needed):
            yield f'{library}: may not need {needed}'


def check_instruction_set_objects(build):
    objects = sorted(build.glob('CMakeFiles/deputy_kernels.dir/kernels/cpu/*/*/*.o'))
    if not objects and platform.machine() == 'x86_64':
        yield f'{build}: no object files of instruction sets'
    for found in objects:
        # Symbols marked W, w, V or v are weak; those marked u are unique across the process.
        weak = re.findall(r'^\S* *[WVwvu] (\S.*)$', output_of('nm', '-C', '--defined-only', found),
                          re.MULTILINE)
        for name in weak:
            yield f'{found.name} defines {name} weakly: the linker could use it on every CPU'


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=pathlib.Path, help='build directory')
    build = parser.parse_args(arguments).build
    drop_in = dict.fromkeys(tflite_functions(), 'VERS_1.0')
    ours = drop_in | dict.fromkeys(EXTERNAL_DELEGATE | asynchronous_functions(), 'VERS_1.0')
    ours |= dict.fromkeys(declared_functions(), 'DEPUTY_1.0')
    problems = [
        *check_library(build / 'drop-in/libtensorflowlite_c.so', 'libtensorflowlite_c.so', drop_in),
        *check_library(build / 'libdeputy.so.1', 'libdeputy.so.1', ours),
        *check_gpu_library(build / 'libdeputy_gpu.so'),
        *check_cpu_library(build / 'libdeputy_cpu.so'),
        *check_mindspore_library(build / 'libdeputy_mindspore.so.1'),
        *check_litert_library(build / 'drop-in/libLiteRt.so'),
        *check_xnnpack_library(build / 'libdeputy_xnnpack.so'),
        *check_bridge(build / 'libdeputy_nnapi.so'),
        *check_bridge(build / 'libdeputy_onnxruntime.so'),
        *check_bridge(build / 'libdeputy_hexagon.so'),
        *check_bridge(build / 'libdeputy_sandbox.so'),
        *check_bridge(build / 'libdeputy_replay.so'),
        *check_delegate(build / 'libdeputy_layers.so', 'deputy_layers.h', ENTRY_POINTS),
        *check_triton_library(build / 'triton/deputy/libtriton_deputy.so'),
        *check_instruction_set_objects(build),
    ]
    for problem in problems:
        print(problem)
    if not problems:
        print(f'symbols: drop-in {len(drop_in)}, libdeputy {len(ours)}: ok')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
