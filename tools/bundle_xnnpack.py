# SPDX-License-Identifier: Apache-2.0
"""Files of the XNNPACK delegate for the Python wheel (make_wheel.py), with the shared libraries that it needs.

The libraries are Debian's, under names of their own: the loader identifies a library by its SONAME, so another
package's libXNNPACK.so.0 in the same process would otherwise be used instead.
"""
import pathlib
import re
import shutil
import subprocess
import sys

PLUGIN, MINDSPORE = 'libdeputy_xnnpack.so', 'libdeputy_mindspore.so.1'
# Libraries that every system has, and ours.
PRESENT = re.compile(r'(libc|libm|libdl|libpthread|libstdc\+\+|libgcc_s|ld-linux.*|libdeputy.*)\.so\.\d$')


def bundled_name(soname):
    """Returns the name in the wheel: libdeputy_bundled_XNNPACK.so.0 for libXNNPACK.so.0."""
    return f"libdeputy_bundled_{soname.removeprefix('lib')}"


def needed(path):
    """Returns the SONAMEs of the libraries that a library needs and that systems may lack."""
    words = subprocess.run(['patchelf', '--print-needed', path], capture_output=True, text=True, check=True).stdout
    return [name for name in words.split() if not PRESENT.match(name)]


def debian_folder(build):
    """Returns the folder of the libraries that the build links. A cross build names a folder of the build
    machine; on its target (tools/fresh.sh --tests) it is /usr/lib/TRIPLET."""
    found = re.search(r'^DEPUTY_XNNPACK_LIBRARY:\w+=(/.+)$', (build / 'CMakeCache.txt').read_text(encoding='utf-8'),
                      re.MULTILINE)
    folder = pathlib.Path(found[1]).parent
    return folder if folder.exists() else pathlib.Path('/usr/lib', folder.name)


def sources(build):
    """Returns the files: the plug-in, MindSpore Lite's interface, and the libraries by SONAME. Returns nothing, with
    a line on stderr, if patchelf is missing."""
    if not (build / PLUGIN).exists():
        return []
    if not shutil.which('patchelf'):
        print('make_wheel: the wheel has no delegate for XNNPACK, because patchelf is missing', file=sys.stderr)
        return []
    folder, found = debian_folder(build), [build / PLUGIN]
    for path in found:
        found += [folder / name for name in needed(path) if folder / name not in found]
    return [*found, build / MINDSPORE]


def bundle(found, strip, folder):
    """Returns {path in the package: content} of the files in `found`; `strip` returns a stripped copy's content."""
    files = {}
    for path in found:
        if path.name == PLUGIN:
            name, place, rpath = path.name, 'lib/deputy/plugins', '$ORIGIN/../..:$ORIGIN/../bundled'
        elif path.name == MINDSPORE:
            name, place, rpath = path.name, 'lib', '$ORIGIN'
        else:
            name, place, rpath = bundled_name(path.name), 'lib/deputy/bundled', '$ORIGIN'
        copy = pathlib.Path(folder) / name
        copy.write_bytes(strip(path))
        # patchelf 0.14 writes wrong texts if it makes several changes at once.
        for soname in needed(copy):
            subprocess.run(['patchelf', '--replace-needed', soname, bundled_name(soname), copy], check=True)
        subprocess.run(['patchelf', '--set-rpath', rpath, copy], check=True)
        if name != path.name:
            subprocess.run(['patchelf', '--set-soname', name, copy], check=True)
        files[f'{place}/{name}'] = copy.read_bytes()
    return files


def licences(found):
    """Returns {name: text} of the licences of Debian's libraries in `found`, which are BSD's with two or three
    clauses."""
    texts = {}
    for path in found:
        if path.name not in (PLUGIN, MINDSPORE):
            owner = subprocess.run(['dpkg', '-S', f'*/{path.name}'], capture_output=True, text=True, check=True).stdout
            package = owner.partition(':')[0]
            texts[f'{package}.txt'] = pathlib.Path(f'/usr/share/doc/{package}/copyright').read_bytes()
    return texts
