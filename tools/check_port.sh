#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the kernel tests and operator cases of a cross build under QEMU (make check-armv7, check-riscv64):
#
#   tools/check_port.sh BUILD ROOT EMULATOR...
#
# BUILD is a cross build of kernel_tests and command, ROOT a Debian with its libraries (tools/arm_root.sh),
# EMULATOR the command that runs a program, as in `qemu-arm -cpu max`. Prints the last lines of each run, and all
# lines of one that fails. Targets whose plug-ins are not built are not run.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$2")
shift 2
log=$build/check-port.log

# run EMULATOR...: runs $tests of kernel_tests. A conformance test that is skipped, or is not in the program, has not
# tested its target.
run() {
  local status=0
  (cd "$build" && "$@" -L "$root" tests/kernel_tests "--gtest_filter=$tests") >"$log" 2>&1 || status=$?
  if [ "$status" -eq 0 ] && [[ $tests == *_agrees/* ]] && grep -q '^\[  SKIPPED' "$log"; then status=77; fi
  if grep -qE '^\[ +PASSED +\] 0 tests' "$log"; then status=77; fi
  if [ "$status" -ne 0 ]; then
    cat "$log"
    echo "check-port: $tests: FAILED with status $status"
    exit 1
  fi
  echo "check-port: $tests: $(grep -E '^\[ +PASSED' "$log") $SECONDS s"
  grep ' ran on the target' "$log" || true
}

table_tests=('*every_operator_case_agrees/generic*' '*every_golden_row_agrees/generic')
if [ "$1" = qemu-arm ]; then
  table_tests+=('*every_operator_case_agrees/neon32*' '*every_golden_row_agrees/neon32')
fi
for tests in '*every_operator_case_agrees/reference' '*every_operator_case_agrees/softmax' "${table_tests[@]}" \
    '-*every_*_agrees*'; do
  run "$@"
done
"$@" -L "$root" "$build/deputy" run examples/digits/digits_int8.tflite --image examples/digits/images \
  --labels examples/digits/labels.txt --expect-from-name | grep "^accuracy"
