#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Removes the files of an installation and the directories that become empty: uninstall.sh LIST
# PREFIX DESTDIR; LIST is cmake's install manifest. Under /usr and /usr/local the standard
# directories (bin, lib, share/man, ...) are kept.
set -eu

manifest=$1
prefix=${2%/}
destdir=${3%/}

if [ ! -f "$manifest" ]; then
  echo "uninstall: nothing was installed from here ($manifest does not exist)" >&2
  exit 2
fi
other=$(PREFIX=$prefix/ awk 'index($0, ENVIRON["PREFIX"]) != 1 { print; exit }' "$manifest")
if [ -n "$other" ]; then
  echo "uninstall: expected an installation under PREFIX=$prefix, found $other" >&2
  exit 2
fi

keep() {
  [ "$1" = "$destdir$prefix" ] && return 0
  case $prefix in
    /usr | /usr/local)
      case ${1#"$destdir$prefix"/} in
        bin | include | lib | lib/*-linux-gnu | share | share/man | share/man/man1) return 0 ;;
        lib/*pkgconfig | lib/*cmake | share/bash-completion*) [ "$prefix" = /usr ] && return 0 ;;
      esac
      ;;
  esac
  return 1
}

count=0
while IFS= read -r name || [ -n "$name" ]; do
  [ -e "$destdir$name" ] || [ -L "$destdir$name" ] || continue
  rm -f "$destdir$name"
  count=$((count + 1))
  folder=$(dirname "$destdir$name")
  while ! keep "$folder" && rmdir "$folder" 2>/dev/null; do
    folder=$(dirname "$folder")
  done
done <"$manifest"
echo "uninstall: removed $count files from $destdir$prefix"
