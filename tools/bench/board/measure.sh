#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures Deputy, LiteRT and, if it can be installed, OpenVINO on this machine:
#
#   measure.sh [MODEL.tflite...]
#
# It is part of the archive that `make board-kit` creates (docs/arm.md), next to the library and the models, and needs
# python3 with venv and access to PyPI. Writes deputy-board-HOST.tar.gz: the table, all times as JSON, and a description
# of the machine.
set -euo pipefail
kit=$(cd "$(dirname "$0")" && pwd)
work=$kit/work
report=$work/report
rm -rf "$report"
mkdir -p "$report" "$work/models"

python=$work/venv/bin/python3
if ! "$python" -c 'import ai_edge_litert' 2>/dev/null; then
  python3 -m venv "$work/venv" || { echo "measure.sh: python3 with venv is required (python3-venv)" >&2; exit 1; }
  "$python" -m pip install -q ai-edge-litert==2.3.0 flatbuffers numpy
  "$python" -m pip install -q openvino 2>/dev/null || echo "OpenVINO is not available for this machine"
fi
cp "$kit"/models/*.tflite "$@" "$work/models"

describe() {
  echo "library: $(cat "$kit/version")"
  uname -srm
  sed -n 's/^PRETTY_NAME=//p' /etc/os-release
  tr -d '\0' </proc/device-tree/model 2>/dev/null && echo
  cat /proc/cpuinfo
  grep -H . /sys/devices/system/cpu/cpu*/cpufreq/scaling_{governor,max_freq} /sys/class/thermal/*/temp 2>/dev/null || true
  "$python" -m pip list 2>/dev/null
}
describe >"$report/machine.txt"
cores=$(nproc)
threads=1
if [ "$cores" -gt 1 ]; then threads=1,$((cores < 4 ? cores : 4)); fi
"$python" "$kit/tools/bench/compare.py" --library "$kit/libdeputy.so.1" --build "$kit" --folder "$work/models" \
  --threads "$threads" --no-operators --no-nets --device none --json "$report/times.json" | tee "$report/table.txt"
# The temperature after the measurement shows whether the clock rate may have been lowered.
grep -H . /sys/class/thermal/*/temp >"$report/temperature_after.txt" 2>/dev/null || true
archive=$PWD/deputy-board-$(uname -n).tar.gz
tar -C "$work" -czf "$archive" report
echo "measure.sh: please send $archive"
