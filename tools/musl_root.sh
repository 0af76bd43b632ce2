#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes the prefix that a build with tools/cmake/zig.cmake uses:
#
#   tools/musl_root.sh ZIG DIRECTORY
#
# googletest is built from its sources of Debian's package googletest by the program ZIG; libraries that consist of
# headers are linked from /usr/include, so that no header of this machine's C library is found.
set -eu

zig=${1:?usage: tools/musl_root.sh ZIG DIRECTORY}
root=${2:?usage: tools/musl_root.sh ZIG DIRECTORY}
toolchain=$(cd "$(dirname "$0")/cmake" && pwd)/zig.cmake

[ ! -e "$root/complete" ] || exit 0
rm -rf "$root"
mkdir -p "$root/include" "$root/lib/cmake" "$root/share/cmake"
root=$(cd "$root" && pwd)
for headers in CL CLI flatbuffers nlohmann stb; do
  ln -s "/usr/include/$headers" "$root/include"
done
# Their packages for CMake, which name the prefix relatively to themselves.
for package in nlohmann_json CLI11; do
  place=$(find /usr/lib/cmake /usr/share/cmake -maxdepth 1 -name "$package" | head -n 1)
  mkdir "$root/share/cmake/$package"
  cp "$place"/* "$root/share/cmake/$package"
done
cmake -S /usr/src/googletest -B "$root/build" -G Ninja --toolchain "$toolchain" -DDEPUTY_ZIG="$zig" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$root" >"$root/build.log" 2>&1 &&
  cmake --build "$root/build" --target install >>"$root/build.log" 2>&1 || {
  tail -n 20 "$root/build.log" >&2
  exit 1
}
touch "$root/complete"
