#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds examples/container/Containerfile of a copy of the working tree with buildah, whose steps run in a
# chroot, and uses the image. No registry is needed: the base image is made by debootstrap from the
# machine's mirror. Results in the machine's compiler cache are reused.
#
#   container.sh FOLDER    FOLDER keeps the base image and the images (about 3 GB)
#
# If it cannot run (not root, no buildah, no mirror) it prints the reason in one line and exits with 0.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
suite=bookworm

skip() {
  echo "container: skipped: $*"
  exit 0
}

[ "$(id -u)" = 0 ] || skip "needs root"
for tool in buildah debootstrap; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store() { buildah --root "$folder/store" --runroot "$folder/run" "$@"; }

base=docker.io/library/debian:$suite
if ! store inspect "$base" >/dev/null 2>&1; then
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 ~ /^[a-z]+$/ && $3 == "main" && !found { print $1; found = 1 }')
  rm -rf "$folder/root"
  debootstrap --variant=minbase --include=ca-certificates $suite "$folder/root" "${mirror:-http://deb.debian.org/debian}" \
    >"$folder/debootstrap.log" 2>&1 || skip "debootstrap failed, see $folder/debootstrap.log"
  tar -C "$folder/root" --numeric-owner --exclude='./var/cache/apt/archives/*.deb' --exclude='./dev/*' \
    -cf "$folder/base.tar" .
  rm -rf "$folder/root"
  container=$(store from scratch)
  store add "$container" "$folder/base.tar" / >/dev/null
  store commit "$container" "$base" >/dev/null 2>&1
  store rm "$container" >/dev/null
fi

# The files of the working tree that git does not ignore.
rm -rf "$folder/source"
mkdir "$folder/source"
(cd "$here" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf -) | tar -C "$folder/source" -xf -

volumes=()
ccache=$(ccache -k cache_dir 2>/dev/null || true)
if [ -d "$ccache" ]; then volumes=(--volume "$ccache:/root/.cache/ccache"); fi
# Layers are kept, so that a second run repeats only what has changed.
store bud --layers --pull-never "${volumes[@]}" -t deputy -f "$folder/source/examples/container/Containerfile" "$folder/source"

container=$(store from --pull-never localhost/deputy)
trap 'store rm "$container" >/dev/null' EXIT
inside() { store run "$container" -- "$@"; }

store copy "$container" "$here/examples/digits" /digits >/dev/null
inside deputy run /digits/digits_float.tflite --image /digits/images --output /tmp/out.jsonl
inside deputy plugins | grep -q '^npu_stub'
inside deputy run /digits/digits_float.tflite --random --require --delegate xnnpack >/dev/null
inside python3 -c '
import deputy.interpreter
interpreter = deputy.interpreter.Interpreter("/digits/digits_int8.tflite")
interpreter.allocate_tensors()
interpreter.invoke()
print("container: python", deputy.__version__, [plugin["name"] for plugin in deputy.plugins()])'
# The back end's libraries are found; only the server defines the functions of Triton.
inside sh -c '
  back_end=$(find /usr/lib -name libtriton_deputy.so)
  ! ldd "$back_end" | grep "not found"
  ! ldd -r "$back_end" 2>&1 | grep "undefined symbol" | grep -v "undefined symbol: TRITON"
  echo "container: back end $back_end"'
[ "$(inside id -u)" = 65534 ]
echo "container: passed"
