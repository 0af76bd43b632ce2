#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs one step of a longer job with its output in a file, and prints one line for it:
#
#   step.sh LOG TEXT COMMAND [ARGUMENT]...
#
# prints "TEXT (log: LOG): 12 s". If COMMAND fails, the end of LOG follows and the exit status is
# that of COMMAND. On a terminal the newest line of LOG is shown after TEXT while COMMAND runs. With
# V=1 in the environment the output is shown and no log is written.
set -eu

log=$1
text=$2
shift 2
if [ "${V:-}" = 1 ]; then
  echo "$text"
  exec "$@"
fi

show_newest_line() {
  while sleep 1; do
    newest=$(tail -n 1 "$log" | tr -cd '[:print:]' | cut -c 1-48)
    printf '\r\033[K%s (log: %s): %s' "$text" "$log" "$newest"
  done
}

mkdir -p "$(dirname "$log")"
: >"$log"
start=$(date +%s)
printf '%s (log: %s): ' "$text" "$log"
display=
if [ -t 1 ]; then
  show_newest_line &
  display=$!
  trap 'kill $display 2>/dev/null || true' EXIT
fi
status=0
"$@" >"$log" 2>&1 </dev/null || status=$?
if [ -n "$display" ]; then
  kill "$display" 2>/dev/null || true
  printf '\r\033[K%s (log: %s): ' "$text" "$log"
fi

if [ $status != 0 ]; then
  echo "failed with $status; the end of the log:"
  tail -n 40 "$log"
  exit $status
fi
echo "$(($(date +%s) - start)) s"
