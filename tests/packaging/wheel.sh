#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Run by tools/fresh.sh --wheels on a bare Debian, in a folder with wheels and examples: installs the wheel of this
# processor and the one with the names of other packages, runs models and a delegate in a process of its own, and
# removes them.
set -eu
export DEBIAN_FRONTEND=noninteractive

say() { echo "wheel: $*"; }
apt() {
  apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 --no-install-recommends "$@" \
    >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}

apt update
apt install python3-numpy python3-pip
pip3 install -q --no-index --no-deps --break-system-packages --root-user-action=ignore ./deputy-*_"$(uname -m)".whl \
  ./deputy_tflite_runtime-*.whl
python3 check_wheel_use.py
say "$(. /etc/os-release; echo "$PRETTY_NAME"), $(uname -m), $(ldd --version | head -n 1): all uses succeed"
pip3 uninstall -q -y --break-system-packages --root-user-action=ignore deputy deputy-tflite-runtime
