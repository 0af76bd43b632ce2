#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Creates Debian's packages from an existing build: make_debs.sh BUILD OUTPUT. Deletes OUTPUT,
# writes a source package and the binary packages into it, and fails on errors of lintian.
#
# The build is reconfigured for /usr and restored afterwards; Debian's differences (no RPATH,
# libraries in the architecture's directory) only affect its installation step.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
output=$2
for tool in dpkg-buildpackage dh dh_python3 lintian; do
  command -v "$tool" >/dev/null || {
    echo "make_debs: $tool is missing (Debian: dpkg-dev debhelper dh-python lintian)" >&2
    exit 2
  }
done

rm -rf "$output"
mkdir -p "$output"
output=$(cd "$output" && pwd)
version=$(sed -n 's/^deputy (\(.*\)).*/\1/p' "$here/tools/debian/changelog")
stage=$output/deputy-$version
mkdir "$stage"
(cd "$here" && git -c safe.directory='*' ls-files -co --exclude-standard -z |
  tar --null --files-from=- --ignore-failed-read -cf -) | tar -C "$stage" -xf -
cp -r "$here/tools/debian" "$stage/debian"

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
before=("-DCMAKE_INSTALL_PREFIX=$(cached CMAKE_INSTALL_PREFIX)"
  "-DCMAKE_SKIP_INSTALL_RPATH=$(cached CMAKE_SKIP_INSTALL_RPATH)"
  "-DDEPUTY_SPLIT_DEBUG=$(cached DEPUTY_SPLIT_DEBUG)")
restore() { cmake -S "$here" -B "$build" "${before[@]}" >/dev/null; }
trap restore EXIT

cd "$stage"
dpkg-source -Zgzip -b . >"$output/source.log" 2>&1 || { cat "$output/source.log"; exit 1; }
# -d: the build dependencies are installed, but possibly not as Debian packages.
DEPUTY_BUILD=$build DEPUTY_SOURCE=$here dpkg-buildpackage -b -us -uc -d \
  >"$output/build.log" 2>&1 || { tail -n 40 "$output/build.log"; exit 1; }
rm -rf "$stage"
cd "$output"
lintian --allow-root --fail-on error --suppress-tags bad-distribution-in-changes-file \
  ./*.changes ./*.dsc
ls -- *.deb *.dsc
