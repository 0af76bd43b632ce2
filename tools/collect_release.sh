#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Copies the files of a release into the new folder OUTPUT and writes their checksums to OUTPUT/SHA256SUMS:
#
#   tools/collect_release.sh OUTPUT FOLDER...
#
# The FOLDERs are those of make deb, deb-arm64, wheel, wheels and dist. Of files with one name, such as the source
# package of each machine, that of the first folder is used. A missing file is an error. `sha256sum -c SHA256SUMS`
# checks a copy.
set -eu
output=${1:?usage: tools/collect_release.sh OUTPUT FOLDER...}
shift
version=$("$(dirname "$0")/version.sh")
fail() {
  echo "collect_release: $*" >&2
  exit 1
}

rm -rf "$output"
mkdir -p "$output"
for folder in "$@"; do
  for file in "$folder"/*"$version"*; do
    case $file in *.deb | *.dsc | *.tar.gz | *.whl) ;; *) continue ;; esac
    [ -e "$output/${file##*/}" ] || cp "$file" "$output"
  done
done
for machine in amd64 arm64; do
  for package in deputy libdeputy1 libdeputy-dev libdeputy-tflite-dropin; do
    [ -e "$output/${package}_${version}_$machine.deb" ] || fail "${package}_${version}_$machine.deb is missing"
  done
done
for name in "python3-deputy_${version}_all.deb" "deputy_$version.dsc" "deputy_$version.tar.gz" \
  "deputy-$version.tar.gz" \
  "deputy-$version-py3-none-manylinux_2_28_x86_64.whl" "deputy-$version-py3-none-manylinux_2_28_aarch64.whl" \
  "deputy_tflite_runtime-$version-py3-none-any.whl"; do
  [ -e "$output/$name" ] || fail "$name is missing"
done
cd "$output"
sha256sum -- * >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
echo "collect_release: $(wc -l <SHA256SUMS) files in $output"
