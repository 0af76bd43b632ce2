#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creates the Python wheels: `deputy`, with the library and its plug-ins, and `deputy-tflite-runtime`, which has
Deputy under the names `tflite_runtime` and `ai_edge_litert`.

The packages contain only Python code, so one wheel serves every Python 3; the platform tag of `deputy` names the
minimum C library that the shared library needs. Prints the wheels' paths. Equal inputs give equal bytes.
"""
import argparse
import base64
import hashlib
import pathlib
import platform
import re
import stat
import subprocess
import sys
import tempfile
import zipfile

import bundle_xnnpack

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINDINGS = ROOT / 'bindings/python'
SHIM = BINDINGS / 'shim'
CLASSIFIERS = ('Development Status :: 4 - Beta', 'Intended Audience :: Developers',
               'Operating System :: POSIX :: Linux',
               'Programming Language :: Python :: 3', 'Programming Language :: Python :: 3 :: Only',
               'Topic :: Scientific/Engineering :: Artificial Intelligence', 'Typing :: Typed')
# Paths in the wheel; the library searches these for plug-ins, and the sandbox for its program. bundle_xnnpack.py has
# those of XNNPACK, whose libraries in Debian need a newer C library than wheels with a fixed version may.
LIBRARIES = {'libdeputy.so.1': 'lib/libdeputy.so.1',
             'drop-in/libLiteRt.so': 'lib/libLiteRt.so',
             'deputy-delegate-host': 'lib/deputy/deputy-delegate-host',
             **{f'libdeputy_{name}.so': f'lib/deputy/plugins/libdeputy_{name}.so'
                for name in ('cpu', 'gpu', 'layers', 'npu_stub', 'onnxruntime', 'replay', 'sandbox')}}

# Packages that an extra of the wheel adds: pip install 'deputy-….whl[NAME]'.
EXTRAS = {'beam': 'apache-beam', 'mlserver': 'mlserver', 'ray': 'ray[data]', 'spark': 'pyspark[sql]'}


def project_version():
    return subprocess.run([ROOT / 'tools/version.sh'], capture_output=True, text=True, check=True).stdout.strip()


def needed_glibc(path, prefix):
    """Returns the newest version of the C library that a library requires, as (2, 36)."""
    words = subprocess.run([f'{prefix}objdump', '-T', path], capture_output=True, text=True, check=True).stdout
    return max((tuple(int(part) for part in found.split('.'))
                for found in re.findall(r'GLIBC_(2\.\d+)', words)), default=(2, 17))


def stripped(path, prefix):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / path.name
        subprocess.run([f'{prefix}objcopy', '--strip-unneeded', path, copy], check=True)
        return copy.read_bytes()


def platform_tag(paths, machine, prefix, highest):
    """Returns the tag for `highest`, or for the newest version that a library needs if `highest` is None."""
    needed = {path: needed_glibc(path, prefix) for path in paths}
    for path, version in needed.items():
        if highest and version > highest:
            sys.exit(f"make_wheel: {path} needs the C library {'.'.join(map(str, version))}, expected at most "
                     f"{'.'.join(map(str, highest))}")
    major, minor = highest or max(needed.values())
    return f'manylinux_{major}_{minor}_{machine}'


def metadata(name, version, summary, keywords, requirements, readme, extras=(), licences=()):
    optional = [f'{package}; extra == "{extra}"' for extra, package in dict(extras).items()]
    expression = 'Apache-2.0 AND BSD-3-Clause AND BSD-2-Clause' if licences else 'Apache-2.0'
    lines = ['Metadata-Version: 2.4', f'Name: {name}', f'Version: {version}', f'Summary: {summary}',
             'Author: Deputy developers', f'Keywords: {keywords}', f'License-Expression: {expression}',
             *(f'License-File: {name}' for name in ('LICENSE', *licences)),
             *(f'Classifier: {line}' for line in CLASSIFIERS), 'Requires-Python: >=3.9',
             *(f'Requires-Dist: {line}' for line in [*requirements, *optional]),
             *(f'Provides-Extra: {extra}' for extra in dict(extras)), 'Description-Content-Type: text/markdown']
    return '\n'.join(lines) + '\n\n' + readme.read_text(encoding='utf-8')


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    return f'{name},sha256={digest},{len(data)}\n'


def write_wheel(output, name, version, tag, files, text, licences):
    """Writes a wheel with the contents in `files` and `licences`, by path, and the metadata `text`."""
    info = f'{name}-{version}.dist-info'
    licences = {'LICENSE': (ROOT / 'LICENSE').read_bytes(), **licences}
    files = {**files, f'{info}/METADATA': text.encode(),
             **{f'{info}/licenses/{file}': content for file, content in licences.items()},
             f'{info}/WHEEL': (f'Wheel-Version: 1.0\nGenerator: deputy\n'
                               f'Root-Is-Purelib: {str(tag.endswith("-any")).lower()}\nTag: {tag}\n').encode()}
    record = ''.join(record_line(place, data) for place, data in files.items())
    files[f'{info}/RECORD'] = (record + f'{info}/RECORD,,\n').encode()
    output.mkdir(parents=True, exist_ok=True)
    wheel = output / f'{name}-{version}-{tag}.whl'
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED) as archive:
        for place, data in files.items():
            entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
            # pip makes a file executable if it is marked as a regular file.
            entry.external_attr = (stat.S_IFREG | (0o755 if '/lib/' in place else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return wheel


def python_files(folder, root):
    return {str(path.relative_to(root)): path.read_bytes()
            for path in sorted([*folder.rglob('*.py'), *folder.rglob('py.typed')])}


def make_wheel(build, output, machine='', highest=None):
    """Writes the wheel of the libraries in `build`. `machine` is the processor of a cross build, whose tools
    have Debian's names, such as aarch64-linux-gnu-objdump; '' is this machine. `highest` is the version of the
    C library in the tag."""
    prefix = f'{machine}-linux-gnu-' if machine else ''
    machine = machine or platform.machine()
    libraries = {build / name: place for name, place in LIBRARIES.items() if (build / name).exists()}
    if build / 'libdeputy.so.1' not in libraries:
        sys.exit(f'make_wheel: {build}/libdeputy.so.1 does not exist: build it with `make`')
    version = project_version()
    xnnpack = [] if highest else bundle_xnnpack.sources(build)
    tag = f'py3-none-{platform_tag([*libraries, *xnnpack], machine, prefix, highest)}'
    files = python_files(BINDINGS / 'deputy', BINDINGS)
    files.update({f'deputy/{place}': stripped(path, prefix) for path, place in libraries.items()})
    with tempfile.TemporaryDirectory() as folder:
        bundled = bundle_xnnpack.bundle(xnnpack, lambda path: stripped(path, prefix), folder)
    files.update({f'deputy/{place}': content for place, content in bundled.items()})
    licences = bundle_xnnpack.licences(xnnpack)
    text = metadata('deputy', version, 'A drop-in interpreter for TensorFlow Lite models',
                    'tflite litert tensorflow inference delegate', ['numpy'], BINDINGS / 'README.md', EXTRAS, licences)
    return write_wheel(output, 'deputy', version, tag, files, text, licences)


def make_shim_wheel(output):
    """Writes the wheel with Deputy under the names of the original packages."""
    version = project_version()
    text = metadata('deputy-tflite-runtime', version, 'Runs programs for tflite_runtime and ai_edge_litert on Deputy',
                    'tflite litert tflite_runtime ai_edge_litert', [f'deputy=={version}'], SHIM / 'README.md')
    return write_wheel(output, 'deputy_tflite_runtime', version, 'py3-none-any', python_files(SHIM, SHIM), text, {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('build', type=pathlib.Path, help='directory of libdeputy.so.1')
    parser.add_argument('output', type=pathlib.Path, help='output directory')
    parser.add_argument('--machine', default='', help="processor of a cross build, e.g. aarch64 (this machine's)")
    parser.add_argument('--glibc', type=lambda text: tuple(map(int, text.split('.'))), metavar='2.28',
                        help='version in the tag; an error if a library needs a newer one (the newest needed)')
    arguments = parser.parse_args()
    print(make_wheel(arguments.build.resolve(), arguments.output, arguments.machine, arguments.glibc))
    print(make_shim_wheel(arguments.output))


if __name__ == '__main__':
    main()
