#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the paths of all source files, sorted, each with a NUL after it: those that git does not ignore, or in an
# unpacked archive all but build outputs.
set -eu
cd "$(dirname "$0")/.."
if [ -e .git ]; then
  git -c safe.directory='*' ls-files -co --exclude-standard -z
else
  find . \( -path ./build -o -path ./.cache -o -name __pycache__ \) -prune -o \( -type f -o -type l \) -printf '%P\0'
fi | LC_ALL=C sort -z
