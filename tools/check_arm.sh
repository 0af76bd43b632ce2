#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the part of the tests that CI runs for AArch64, under QEMU:
#
#   tools/check_arm.sh BUILD ROOT [JOBS]
#
# BUILD is a cross build of kernel_tests, write_mobilenet_v2 and deputy (make check-arm), ROOT an arm64 Debian
# (tools/arm_root.sh). Prints the last lines of each run, and all lines of one that fails.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$2")
jobs=${3:-2}
tools=$(cd "$(dirname "$0")" && pwd)
work=$build/check-arm
mkdir -p "$work"
rm -f "$work"/*.log "$work"/failed

# Per run: QEMU's processor, tests, excluded tests. `max` has every table of kernels, so that it runs the tests of
# all of them; the others show that a table does not use instructions that its processor lacks.
cases='*every_operator_case_agrees'
rows='*every_golden_row_agrees'
quick='Cpu*:Gemm*:*Depthwise*:Dot*:Vector*:Winograd.absorbs*'
runs="
max         *                                       *every_*_agrees*
max         $cases/neon_i8mm*:$rows/neon_i8mm       none
cortex-a53  $cases/neon:$rows/neon                  none
cortex-a76  $cases/neon_dot*:$rows/neon_dot         none
cortex-a53  $quick                                  none
cortex-a76  $quick                                  none
"

# run CPU TESTS EXCLUDED: runs tests of kernel_tests. A conformance test that is skipped, or is not in the program, has
# not tested its table.
run() {
  local cpu=$1 tests=$2 excluded=$3 log status=0
  log=$(mktemp "$work/$cpu-XXXX.log")
  (cd "$build" && qemu-aarch64 -L "$root" -cpu "$cpu" tests/kernel_tests "--gtest_filter=$tests-$excluded") \
    >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ] && [[ $tests == *_agrees/* ]] && grep -q '^\[  SKIPPED' "$log"; then status=77; fi
  if grep -qE '^\[ +PASSED +\] 0 tests' "$log"; then status=77; fi
  if [ "$status" -ne 0 ]; then
    touch "$work/failed"
    cat "$log"
    echo "check-arm: $cpu, tests $tests: FAILED with status $status"
  else
    echo "check-arm: $cpu, tests $tests: $(grep -E '^\[ +PASSED' "$log")"
    grep ' ran on the target' "$log" || true
  fi
}
export -f run
export build root work
# xargs ends with 123 if a run failed; the file `failed` tells that, too.
awk 'NF' <<<"$runs" | xargs -P "$jobs" -L 1 bash -c 'run "$@"' run
[ ! -e "$work/failed" ] || exit 1

models=()
for type in float32 int8; do
  models+=("$work/mobilenet_v2_$type.tflite")
  qemu-aarch64 -L "$root" "$build/tests/write_mobilenet_v2" "$type" "${models[-1]}"
done
"$tools/bench/arm/check_counts.py" --build "$build" --root "$root" --work "$work" "${models[@]}"
