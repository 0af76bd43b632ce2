#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes a directory to link for GNU's C library 2.28, as the wheels are (make wheels):
#
#   tools/glibc_stubs.sh ZIG CC DIRECTORY
#
# ZIG is the program of PyPI's package ziglang, CC the C compiler of the processor. Zig writes stub libraries with
# the symbols and versions of 2.28, its libc_nonshared.a and start files. The linker script libc.so adds
# tools/glibc_compat.c.
set -eu

zig=${1:?usage: tools/glibc_stubs.sh ZIG CC DIRECTORY}
cc=${2:?usage: tools/glibc_stubs.sh ZIG CC DIRECTORY}
out=${3:?usage: tools/glibc_stubs.sh ZIG CC DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
machine=$($cc -dumpmachine | cut -d- -f1)

[ ! -e "$out/complete" ] || [ "$here/glibc_compat.c" -nt "$out/complete" ] || exit 0
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
# Only zig's cache has the stubs.
echo 'int main(void) { return 0; }' >"$out/main.c"
ZIG_GLOBAL_CACHE_DIR=$out/cache "$zig" cc -target "$machine-linux-gnu.2.28" -fPIE -pie -o "$out/main" "$out/main.c"
find "$out/cache/o" \( -name '*.so.*' -o -name libc_nonshared.a -o -name Scrt1.o \) -exec cp -t "$out" {} +
rm -rf "$out/cache" "$out/main" "$out/main.c"
for library in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
  ln -s "$library" "$out/${library%.*}"
done
"$cc" -O2 -fPIC -ffunction-sections -c "$here/glibc_compat.c" -o "$out/compat.o"
"$("$cc" -print-prog-name=ar)" rcs "$out/libcompat.a" "$out/compat.o"
echo "GROUP ( $out/libc.so.6 $out/libc_nonshared.a $out/libcompat.a AS_NEEDED ( $out/libpthread.so.0 $out/libld.so.2 ) )" >"$out/libc.so"
touch "$out/complete"
