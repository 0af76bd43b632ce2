#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Run by tools/fresh.sh --source on a bare Debian, in a folder with a source package and the binary
# packages that `make deb` has built: installs exactly the packages in Build-Depends, builds the packages
# from the source package, and compares the lists of files.
set -eu
export DEBIAN_FRONTEND=noninteractive

apt() {
  apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 --no-install-recommends "$@" \
    >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}
say() { echo "source package: $*"; }
files_of() { dpkg-deb -c "$1" | awk '{ print $1, $6 }' | sort; }

apt update
apt install dpkg-dev ccache
apt build-dep ./deputy_*.dsc
dpkg-source -x deputy_*.dsc deputy >/dev/null
cd deputy
# The path has the same depth as that of other builds, so that a compiler cache can be used.
DEPUTY_BUILD=$PWD/build/release DEPUTY_CMAKE_ARGS="${DEPUTY_CMAKE_ARGS:-}" \
  dpkg-buildpackage -b -us -uc >/tmp/build.log 2>&1 || { tail -n 40 /tmp/build.log; exit 1; }
say "built with what Build-Depends names"
cd ..
count=0
for given in given/*.deb; do
  case $given in *-dbgsym_*) continue ;; esac
  files_of "$given" >/tmp/given
  files_of "$(basename "$given")" >/tmp/built
  diff /tmp/given /tmp/built || { say "$(basename "$given") differs: < make deb, > from source"; exit 1; }
  count=$((count + 1))
done
say "$count packages hold the files of make deb"
