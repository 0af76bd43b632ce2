#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# prepare.sh FOLDER [mlserver]: installs what the tests of serving need from PyPI into FOLDER: a
# virtual environment with a client, and Triton's server out of the package nvidia-pytriton. With
# `mlserver`, a virtual environment with MLServer instead.
set -euo pipefail
folder=$1
if [ "${2:-}" = mlserver ]; then
  if [ ! -e "$folder/mlserver/complete" ]; then
    python3 -m venv "$folder/mlserver"
    "$folder/mlserver/bin/pip" install -q mlserver==1.7.1
    touch "$folder/mlserver/complete"
  fi
  exit
fi
venv=$folder/venv
mkdir -p "$folder"
if [ ! -e "$venv/complete" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q 'tritonclient[grpc]' numpy
  touch "$venv/complete"
fi
if [ ! -e "$folder/triton/complete" ]; then
  rm -rf "$folder/triton" "$folder/wheels"
  "$venv/bin/pip" download -q --no-deps --only-binary :all: -d "$folder/wheels" nvidia-pytriton==0.7.0
  "$venv/bin/python" -m zipfile -e "$folder"/wheels/nvidia_pytriton-*.whl "$folder/triton"
  chmod +x "$folder/triton/pytriton/tritonserver/bin/tritonserver"
  rm -r "$folder/wheels"
  touch "$folder/triton/complete"
fi
