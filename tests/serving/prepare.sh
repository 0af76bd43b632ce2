#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# prepare.sh FOLDER: installs what the tests of serving need from PyPI into FOLDER: a virtual
# environment with a client, and Triton's server out of the package nvidia-pytriton.
set -euo pipefail
folder=$1
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
