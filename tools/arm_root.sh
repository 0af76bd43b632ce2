#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks the libraries of a Debian that the tests link, for the cross builds of tools/cmake/aarch64.cmake,
# armv7.cmake and riscv64.cmake, and the Python that tools/bench/arm emulates:
#
#   tools/arm_root.sh DIRECTORY [arm64|armhf|riscv64]
#
# Nothing in the directory is executed, so that neither binfmt_misc nor a chroot is needed. An
# existing directory with the same packages is left as it is, also if it has another release.
# DEPUTY_ARM_SUITE selects Debian's release (bookworm; riscv64: trixie, the first with this architecture),
# DEPUTY_ARM_MIRROR its mirror.
set -eu

root=${1:?usage: tools/arm_root.sh DIRECTORY [ARCHITECTURE]}
arch=${2:-arm64}
suite=bookworm
[ "$arch" != riscv64 ] || suite=trixie
suite=${DEPUTY_ARM_SUITE:-$suite}
packages=libc6-dev,libstdc++-12-dev,libgtest-dev,libgmock-dev,libcmocka-dev,libflatbuffers-dev
packages=$packages,libbenchmark-dev,libcli11-dev,nlohmann-json3-dev,libstb-dev,python3
packages=$packages,opencl-headers,libxnnpack-dev,libpthreadpool-dev

# The linker of Debian 12 cannot read the relocations in static libraries of a later Debian: these are compiled here.
compiled=
if [ "$arch" = riscv64 ]; then
  compiled="gtest gmock"
fi

if [ -e "$root/shlibs" ] && [ "$(cat "$root/complete" 2>/dev/null)" = "$packages${compiled:+ $compiled}" ]; then
  exit 0
fi
if ! command -v debootstrap >/dev/null; then
  echo "tools/arm_root.sh: debootstrap is missing (tools/packages-arm.txt)" >&2
  exit 1
fi
rm -rf "$root"
mkdir -p "$root"
if ! debootstrap --foreign --arch="$arch" --variant=minbase --include="$packages" "$suite" "$root" \
    ${DEPUTY_ARM_MIRROR:+"$DEPUTY_ARM_MIRROR"} >"$root.log" 2>&1; then
  tail -n 20 "$root.log" >&2
  exit 1
fi
# debootstrap unpacks only the packages of a minimal system in its first stage. The file shlibs lists
# the packages of the libraries, for dpkg-shlibdeps (tools/make_debs.sh).
for package in "$root"/var/cache/apt/archives/*.deb; do
  dpkg-deb --extract "$package" "$root"
  dpkg-deb --info "$package" shlibs >>"$root/shlibs" 2>/dev/null || true
done
rm -f "$root"/var/cache/apt/archives/*.deb
# FlatBuffers' headers must have the version of this machine's flatc, which generates code for them.
if [ -d /usr/include/flatbuffers ]; then
  rm -rf "$root/usr/include/flatbuffers"
  cp -r /usr/include/flatbuffers "$root/usr/include"
fi
for name in $compiled; do
  folder=$root/usr/src/googletest/google${name#g}
  for part in "$name-all" "${name}_main"; do
    riscv64-linux-gnu-g++ -O2 -fPIC -I"$folder" --sysroot="$(realpath "$root")" \
      -c "$folder/src/$part.cc" -o "$root/$part.o"
  done
  libraries=$root/usr/lib/riscv64-linux-gnu
  rm -f "$libraries/lib$name.a" "$libraries/lib${name}_main.a"
  riscv64-linux-gnu-ar rcs "$libraries/lib$name.a" "$root/$name-all.o"
  riscv64-linux-gnu-ar rcs "$libraries/lib${name}_main.a" "$root/${name}_main.o"
  rm "$root/$name-all.o" "$root/${name}_main.o"
done
echo "$packages${compiled:+ $compiled}" >"$root/complete"
