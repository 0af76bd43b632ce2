#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs an engine and the wheel of build/wheel into build/engines/ENGINE, and runs run_ENGINE.py with a number of
# images and the build folder with the tests' plug-ins: run.sh ENGINE IMAGES BUILD
set -eu

engine=$1
images=$2
cd "$(dirname "$0")/../.."
build=$3
venv=build/engines/$engine
step=tools/step.sh

if [ "$engine" = spark ] && ! command -v java >/dev/null; then
  tools/setup.sh tools/packages-engines.txt
fi
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$step" "build/engines/$engine.log" "install $(grep -m 1 == "tools/requirements-$engine.txt")" \
  "$venv/bin/pip" install -q -r "tools/requirements-$engine.txt"
"$step" "build/engines/$engine-wheel.log" "install the wheel" \
  "$venv/bin/pip" install -q --no-index --no-deps --force-reinstall --find-links build/wheel deputy
"$venv/bin/python" "tests/engines/run_$engine.py" --images "$images" --build "$build"
