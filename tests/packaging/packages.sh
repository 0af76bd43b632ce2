#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Run by tools/fresh.sh --packages on a bare Debian, in a folder with the packages, the wheel and
# examples: installs everything, uses it as described in the README, and removes it; no file may remain.
set -eu
export DEBIAN_FRONTEND=noninteractive

apt() {
  apt-get -y -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 --no-install-recommends "$@" \
    >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}
say() { echo "packages: $*"; }
# Prints every file that belongs to Deputy, except the given ones.
rest() {
  find / -xdev \( -path /proc -o -path /sys -o -path /given -o -path /tmp \) -prune -o \
    \( -iname '*deputy*' -o -path '*tensorflow*' -o -path '*tflite*' \) -print
}

apt update
[ -z "$(rest)" ] || { say "not bare: $(rest)"; exit 1; }

# An older development state, with a file that the present one lacks.
dpkg-deb -R ./libdeputy1_*.deb older
touch "$(find older -name plugins)/libdeputy_older.so"
sed -i 's/^Version: .*/&~older/' older/DEBIAN/control
dpkg-deb -b older older.deb >/dev/null
apt install ./older.deb
find /usr/lib -name libdeputy_older.so | grep -q .

# Commands of a user of the command and of Python.
apt install ./deputy_*.deb ./libdeputy1_*.deb ./python3-deputy_*.deb
deputy run digits_int8.tflite --image . --expect-from-name | sed -n 's/^/packages: /p' | head -n 3
deputy plugins | grep -q plugins/libdeputy_npu_stub.so
deputy explain digits_float.tflite --delegate npu_stub | grep -q 'runs 16 of 16 nodes'
deputy explain digits_float.tflite --delegate npu_stub --isolate >isolated
grep -q 'runs 16 of 16 nodes' isolated
grep -q 'own process; profile device' isolated
sed -n 's/.*own process; /packages: own process; /p' isolated
python3 -c "import deputy; print('packages: python3-deputy', deputy.__version__)"
head -c 7840 /dev/zero >images.raw
python3 languages/digits.py digits_float.tflite images.raw >from_python

# Commands of a developer.
apt install ./libdeputy-dev_*.deb ./libdeputy-tflite-dropin_*.deb g++ cmake pkg-config
# shellcheck disable=SC2046 # The output of pkg-config must be split.
cc languages/digits.c -o digits_c $(pkg-config --cflags --libs deputy)
./digits_c digits_float.tflite images.raw | cmp - from_python
# shellcheck disable=SC2046
cc link_client.c -o link_client $(pkg-config --cflags --libs tensorflowlite_c)
./link_client digits_float.tflite >/dev/null
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.21)
project(digits LANGUAGES CXX)
find_package(Deputy REQUIRED)
add_executable(digits languages/digits.cc)
target_link_libraries(digits PRIVATE Deputy::deputy)
END
cmake -S . -B cpp >/dev/null
cmake --build cpp >/dev/null
cpp/digits digits_float.tflite images.raw | cmp - from_python
say "C by pkg-config and C++ by find_package print what Python prints"

cmake -S mindspore_2x -B mindspore_2x/build >/dev/null
cmake --build mindspore_2x/build >/dev/null
mindspore_2x/build/mindspore_2x conv_mean.tflite | grep -q '^kernels of the delegate: 1$'
say "the example for MindSpore Lite 2.x runs its delegate"

# The program and the delegate of docs/cpp.md, whose blocks begin with the names of their files.
mkdir page
block() { sed -n "\\,^\(//\|#\) $1\$,,/^\`\`\`/p" cpp.md | sed '$d'; }
for name in main.cc logistic.cc; do block "$name" >"page/$name"; done
{ block CMakeLists.txt; block 'added to CMakeLists.txt'; } >page/CMakeLists.txt
cmake -S page -B page/build >/dev/null
cmake --build page/build >/dev/null
# shellcheck disable=SC2046
c++ -std=c++17 page/main.cc -o page/first $(pkg-config --cflags --libs tensorflow-lite)
page/build/first conv_mean.tflite | grep -q bytes
[ "$(page/first conv_mean.tflite)" = "$(page/build/first conv_mean.tflite)" ]
deputy explain conv_mean.tflite --delegate page/build/liblogistic.so | grep -q 'runs 1 of 5 nodes'
say "the C++ program and the delegate of docs/cpp.md run"

apt purge deputy libdeputy1 libdeputy-dev libdeputy-tflite-dropin python3-deputy
[ -z "$(rest)" ] || { say "remaining files: $(rest)"; exit 1; }
say "removed without rest"

apt install python3-pip
pip3 install -q --no-index --no-deps --break-system-packages --root-user-action=ignore ./deputy-*.whl
python3 languages/digits.py digits_float.tflite images.raw | cmp - from_python
python3 -c "import deputy; assert [p for p in deputy.plugins() if p['name'] == 'npu_stub']"
[ ! -e /usr/lib/"$(uname -m)"-linux-gnu/libXNNPACK.so.0 ]
python3 -c "from deputy.interpreter import Interpreter, load_delegate
interpreter = Interpreter('digits_float.tflite', experimental_delegates=[load_delegate('xnnpack')])
assert {node['run_by'] for node in interpreter.explain()['nodes']} == {'xnnpack'}"
pip3 install -q --no-index --no-deps --break-system-packages --root-user-action=ignore ./deputy_tflite_runtime-*.whl
sed 's/deputy\.interpreter/tflite_runtime.interpreter/' languages/digits.py >digits_tflite.py
grep -q 'from tflite_runtime' digits_tflite.py
python3 digits_tflite.py digits_float.tflite images.raw | cmp - from_python
pip3 uninstall -q -y --break-system-packages --root-user-action=ignore deputy deputy-tflite-runtime
[ -z "$(rest)" ] || { say "remaining files of the wheels: $(rest)"; exit 1; }
say "the wheels work, and are removed without rest"
