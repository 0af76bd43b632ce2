#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Creates an archive with the library, models and scripts that measure.sh needs on another machine:
#
#   make_kit.sh BUILD MODELS ARCHIVE
#
# BUILD has libdeputy.so.1, MODELS is a directory of .tflite files.
set -eu
here=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/deputy-board
mkdir -p "$kit/models" "$kit/tools/bench" "$kit/tests/golden"
cp "$1/libdeputy.so.1" "$here/tools/bench/board/measure.sh" "$kit"
cp "$2"/*.tflite "$kit/models"
cp "$here"/tools/bench/*.py "$kit/tools/bench"
cp "$here"/tests/golden/*.py "$kit/tests/golden"
git -C "$here" describe --always --dirty >"$kit/version" 2>/dev/null || echo unknown >"$kit/version"
mkdir -p "$(dirname "$3")"
tar -C "$work" -czf "$3" deputy-board
echo "$3"
