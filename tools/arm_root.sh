#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks the libraries of an arm64 Debian that the tests link, for the cross build of
# tools/cmake/aarch64.cmake, and the Python that tools/bench/arm emulates:
#
#   tools/arm_root.sh DIRECTORY
#
# Nothing in the directory is executed, so that neither binfmt_misc nor a chroot is needed. An
# existing directory with the same packages is left as it is, also if it has another release.
# DEPUTY_ARM_SUITE selects Debian's release (bookworm), DEPUTY_ARM_MIRROR its mirror.
set -eu

root=${1:?usage: tools/arm_root.sh DIRECTORY}
suite=${DEPUTY_ARM_SUITE:-bookworm}
packages=libc6-dev,libstdc++-12-dev,libgtest-dev,libgmock-dev,libcmocka-dev,libflatbuffers-dev
packages=$packages,libbenchmark-dev,libcli11-dev,nlohmann-json3-dev,libstb-dev,python3
packages=$packages,opencl-headers,libxnnpack-dev,libpthreadpool-dev

if [ -e "$root/shlibs" ] && [ "$(cat "$root/complete" 2>/dev/null)" = "$packages" ]; then
  exit 0
fi
if ! command -v debootstrap >/dev/null; then
  echo "tools/arm_root.sh: debootstrap is missing (tools/packages-arm.txt)" >&2
  exit 1
fi
rm -rf "$root"
mkdir -p "$root"
if ! debootstrap --foreign --arch=arm64 --variant=minbase --include="$packages" "$suite" "$root" \
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
echo "$packages" >"$root/complete"
