#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes the source archive deputy-VERSION.tar.gz into the folder OUTPUT and prints its path: make_dist.sh OUTPUT.
# Equal sources give equal bytes; the time of all files is that of the last commit, and stays so when the archive is
# made again from the unpacked one.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
output=$(cd "$1" && pwd)
name=deputy-$("$here/tools/version.sh")
cd "$here"
time=$(git -c safe.directory='*' log -1 --format=%ct 2>/dev/null || true)
if [ ! -e .git ] || [ -z "$time" ]; then time=$(stat -c %Y CMakeLists.txt); fi
tools/source_files.sh |
  tar --no-recursion --ignore-failed-read --transform "flags=r;s,^,$name/," --format=gnu --owner=0 --group=0 \
    --numeric-owner --mode='u=rwX,go=rX' --mtime="@$time" --null --files-from=- -cf - |
  gzip -n >"$output/$name.tar.gz"
echo "$output/$name.tar.gz"
