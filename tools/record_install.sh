#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Records the files of `make install` for `make uninstall`, and removes those of the previous installation in the same
# place that the present one lacks: record_install.sh BUILD PREFIX DESTDIR.
set -eu
build=$1
prefix=${2%/}
destdir=${3%/}
files=$build/installed_files.txt place=$build/installed_place.txt

if [ -f "$files" ] && [ "$(cat "$place" 2>/dev/null)" = "$destdir$prefix" ]; then
  # cmake ends the list without a newline.
  { cat "$build/install_manifest.txt" && echo; } >"$build/present_files.txt"
  grep -vxF -f "$build/present_files.txt" "$files" >"$build/former_files.txt" || true
  if [ -s "$build/former_files.txt" ]; then
    "$(dirname "$0")/uninstall.sh" "$build/former_files.txt" "$prefix" "$destdir"
  fi
  rm "$build/present_files.txt" "$build/former_files.txt"
fi
cp "$build/install_manifest.txt" "$files"
echo "$destdir$prefix" >"$place"
