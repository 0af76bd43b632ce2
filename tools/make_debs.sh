#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Creates Debian's packages from an existing build: make_debs.sh BUILD OUTPUT [ARCHITECTURE ROOT].
# Deletes OUTPUT, writes a source package and the binary packages into it, and fails on errors of
# lintian. A cross build needs Debian's name of its ARCHITECTURE and the ROOT with its libraries
# (tools/arm_root.sh), whose packages become dependencies.
#
# The build is reconfigured for /usr and restored afterwards; Debian's differences (no RPATH,
# libraries in the architecture's directory) only affect its installation step.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
output=$2
architecture=${3:-$(dpkg --print-architecture)}
root=${4:+$(cd "$4" && pwd)}
for tool in dpkg-buildpackage dh dh_python3 lintian; do
  command -v "$tool" >/dev/null || {
    echo "make_debs: $tool is missing (Debian: dpkg-dev debhelper dh-python lintian)" >&2
    exit 2
  }
done

rm -rf "$output"
mkdir -p "$output"
output=$(cd "$output" && pwd)
version=$("$here/tools/version.sh")
stage=$output/deputy-$version
mkdir "$stage"
(cd "$here" && tools/source_files.sh | tar --null --files-from=- --ignore-failed-read -cf -) | tar -C "$stage" -xf -
cp -r "$here/tools/debian" "$stage/debian"
sed -i "s/@VERSION@/$version/" "$stage/debian/changelog"

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
before=("-DCMAKE_INSTALL_PREFIX=$(cached CMAKE_INSTALL_PREFIX)"
  "-DCMAKE_SKIP_INSTALL_RPATH=$(cached CMAKE_SKIP_INSTALL_RPATH)"
  "-DCMAKE_INSTALL_LIBDIR=$(cached CMAKE_INSTALL_LIBDIR)"
  "-DDEPUTY_SPLIT_DEBUG=$(cached DEPUTY_SPLIT_DEBUG)")
restore() { cmake -S "$here" -B "$build" "${before[@]}" >/dev/null; }
trap restore EXIT

cd "$stage"
dpkg-source -Zgzip -b . >"$output/source.log" 2>&1 || { cat "$output/source.log"; exit 1; }
if [ -n "$root" ]; then
  # CMake uses Debian's directory of the architecture only for the machine's own.
  triplet=$(dpkg-architecture -a "$architecture" -q DEB_HOST_MULTIARCH)
  export DEPUTY_CMAKE_ARGS=-DCMAKE_INSTALL_LIBDIR=lib/$triplet
  # dpkg-shlibdeps finds libraries in the root, but not in the lists of its packages.
  export DEPUTY_SHLIBDEPS="-l$root/lib/$triplet -l$root/usr/lib/$triplet"
  grep -v '^udeb:' "$root/shlibs" >debian/shlibs.local
fi
# -d: the build dependencies are installed, but possibly not as Debian packages.
DEPUTY_BUILD=$build DEPUTY_SOURCE=$here dpkg-buildpackage -b -us -uc -d -a "$architecture" \
  >"$output/build.log" 2>&1 || { tail -n 40 "$output/build.log"; exit 1; }
rm -rf "$stage"
cd "$output"
lintian --allow-root --fail-on error --suppress-tags bad-distribution-in-changes-file \
  ./*.changes ./*.dsc
ls -- *.deb *.dsc
