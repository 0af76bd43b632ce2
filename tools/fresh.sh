#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the README's two commands, `make run` and `make test` (without the tests labelled `long`), on
# a bare Debian (debootstrap, minbase) with only `make` added, and ca-certificates for a mirror with
# https. DEPUTY_FRESH_SUITE selects the release: bookworm (Debian 12, the default) or trixie (Debian
# 13), DEPUTY_FRESH_ARCH the architecture, which is emulated if it is not the machine's (qemu-user-static; for
# --packages, --wheels and --tests). The system is built once per suite and stored as an archive, as are the packages
# downloaded inside, both in /var/cache/deputy-fresh (DEPUTY_FRESH_CACHE). Results in the machine's compiler
# cache are reused: ccache returns a result only if compiler, flags and every included header are
# equal.
#
#   fresh.sh             tests the committed files (HEAD)
#   fresh.sh --worktree  tests the files of the working tree, including uncommitted changes
#   fresh.sh --packages FOLDER...
#                        tests the packages and the wheel in FOLDERs instead (tests/packaging/packages.sh)
#   fresh.sh --source FOLDER
#                        builds the packages from the source package there (tests/packaging/source_package.sh)
#   fresh.sh --wheels FOLDER
#                        installs and uses the wheel there for the architecture (tests/packaging/wheel.sh)
#   fresh.sh --tests BUILD [CTEST_ARGUMENT...]
#                        runs the tests of a cross build of the working tree (make test-arm)
#
# If it cannot run (not root, no mounts, no mirror) it prints the reason in one line and exits with
# 0. The host's /dev is not visible inside: the chroot has a few device nodes of its own. All mounts
# are in a mount namespace of this script, so they disappear with it in every case.
set -euo pipefail

suite=${DEPUTY_FRESH_SUITE:-bookworm}
arch=${DEPUTY_FRESH_ARCH:-$(dpkg --print-architecture)}
cache=${DEPUTY_FRESH_CACHE:-/var/cache/deputy-fresh}
here=$(cd "$(dirname "$0")/.." && pwd)

skip() {
  echo "fresh: skipped: $*"
  exit 0
}

[ "$(id -u)" = 0 ] || skip "needs root"
for tool in debootstrap unshare mount mknod tar; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -e "/usr/share/debootstrap/scripts/$suite" ] || skip "debootstrap does not know $suite"
if [ -z "${DEPUTY_FRESH_INSIDE:-}" ]; then
  unshare --mount --propagation private true 2>/dev/null || skip "may not create a mount namespace"
  DEPUTY_FRESH_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/deputy-fresh.XXXXXX")
root=$work/root
mounts=(proc sys dev/pts dev/shm)
cleanup() {
  local at
  for at in "${build_mount:-}" var/cache/ccache dev/shm dev/pts sys proc; do
    if [ -n "$at" ] && mountpoint -q "$root/$at"; then umount "$root/$at" || umount -l "$root/$at"; fi
  done
  # A mount that remains must not be emptied. It may be on the same file system, which --one-file-system allows.
  if awk '{ print $2 }' /proc/mounts | grep -qF "$root/"; then
    echo "fresh: $work is left, because something is mounted below" >&2
    return
  fi
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir "$root"
mount -t tmpfs none "$root" 2>/dev/null || skip "may not mount"
umount "$root"

# Prints the machine's own mirror of Debian's releases; the security archive is a different one.
mirror_of_machine() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' \
    2>/dev/null | awk '$2 ~ /^[a-z]+$/ && $3 == "main" && !found { print $1; found = 1 }'
}
mirror=$(mirror_of_machine)
mirror=${mirror:-http://deb.debian.org/debian}
mirror=${mirror%/}
helper=/usr/lib/apt/apt-helper
if [ -x $helper ] && ! timeout 60 $helper download-file "$mirror/dists/$suite/InRelease" \
    "$work/InRelease" >/dev/null 2>&1; then
  skip "cannot reach $mirror"
fi

# ---- the bare system ---------------------------------------------------------------------------
name=$suite
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
  name=$suite-$arch
  arch-test "$arch" >/dev/null 2>&1 || skip "this machine cannot run programs of $arch (qemu-user-static, arch-test)"
  # Debian 13 signs return addresses, which takes QEMU most of its time without this property.
  if [ "$arch" = arm64 ]; then export QEMU_CPU="${DEPUTY_ARM_CPU:-max,pauth-impdef=on}"; fi
fi
archive=$cache/$name.tar
archives=$cache/archives/$name
mkdir -p "$archives"
if [ ! -s "$archive" ]; then
  echo "fresh: bootstrapping $name from $mirror"
  include="make"
  case $mirror in https:*) include="make,ca-certificates" ;; esac
  if ! debootstrap --arch="$arch" --variant=minbase --include=$include "$suite" "$root" "$mirror" \
      >"$work/debootstrap.log" 2>&1; then
    tail -n 20 "$work/debootstrap.log" >&2
    skip "debootstrap failed (its last words are above)"
  fi
  tar -C "$root" --numeric-owner --exclude='./var/cache/apt/archives/*.deb' \
    --exclude='./dev/*' -cf "$archive.new" .
  mv "$archive.new" "$archive"
  rm -rf --one-file-system "$root"
  mkdir "$root"
fi
tests_archive=$cache/$name-tests.tar
if [ "${1:-}" = --tests ] && [ -s "$tests_archive" ]; then archive=$tests_archive; fi
tar -C "$root" --numeric-owner -xf "$archive"

# ---- devices, mounts, network ------------------------------------------------------------------
node() {
  mknod -m "$2" "$root/dev/$1" c "$3" "$4" || skip "may not create device nodes"
}
mkdir -p "$root"/{proc,sys,dev/pts,dev/shm}
node null 666 1 3
node zero 666 1 5
node full 666 1 7
node random 666 1 8
node urandom 666 1 9
node tty 666 5 0
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/${stream%%:*}" "$root/dev/${stream##*:}"
done
mount -t proc proc "$root/proc" &&
  mount -t sysfs -o ro sysfs "$root/sys" &&
  mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts" &&
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" ||
  skip "may not mount ${mounts[*]}"

cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
echo "deb $mirror $suite main" >"$root/etc/apt/sources.list"
{ apt-config dump | grep -iE '^Acquire::https?::(Proxy|.*::Proxy) ' || true; } \
  >"$root/etc/apt/apt.conf.d/90fresh"
# Reuses packages of an earlier run; apt still checks them against the signed index.
find "$archives" -name '*.deb' -exec cp -t "$root/var/cache/apt/archives" {} +

inside() {
  env -i HOME=/root LANG=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${CI:+CI="$CI"} ${QEMU_CPU:+QEMU_CPU="$QEMU_CPU"} ${compiler_cache:+CCACHE_DIR=/var/cache/ccache} \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    chroot "$root" /bin/sh -c "cd '$1' && $2" </dev/null
}
keep_archives() {
  find "$root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' \
    -exec cp -n -t "$archives" {} +
}
compiler_cache=

# ---- packages ----------------------------------------------------------------------------------
if [ "${1:-}" = --packages ]; then
  mkdir "$root/given"
  find "${@:2}" -maxdepth 1 \( -name '*.deb' -o -name '*.whl' \) ! -name '*-dbgsym_*' \
    -exec cp -t "$root/given" {} +
  cp -r "$here/examples/languages" "$here"/examples/digits/digits_*.tflite \
    "$here/examples/link_client.c" "$here/examples/conv_mean.tflite" "$here/examples/mindspore_2x" \
    "$here/docs/cpp.md" "$here/tests/packaging/packages.sh" "$root/given"
  cp "$here"/examples/digits/images/*0_*.png "$root/given"
  status=0
  inside /given ./packages.sh || status=$?
  keep_archives
  exit "$status"
fi

if [ "${1:-}" = --wheels ]; then
  mkdir "$root/given"
  cp "$2"/*.whl "$here"/examples/digits/digits_*.tflite "$here/tests/packaging/wheel.sh" \
    "$here/tests/packaging/check_wheel_use.py" "$root/given"
  status=0
  inside /given ./wheel.sh || status=$?
  keep_archives
  exit "$status"
fi

share_compiler_cache() {
  command -v ccache >/dev/null || return 0
  compiler_cache=$(ccache --get-config cache_dir)
  mkdir -p "$compiler_cache" "$root/var/cache/ccache"
  mount --bind "$compiler_cache" "$root/var/cache/ccache" || compiler_cache=
}

# Uses a directory of equal depth, because paths are among the compiler flags.
if [ "${1:-}" = --source ]; then
  place=$here/build/source
  mkdir -p "$root$place/given"
  find "$2" -maxdepth 1 -name 'deputy_*' ! -name '*.deb' -exec cp -t "$root$place" {} +
  find "$2" -maxdepth 1 -name '*.deb' -exec cp -t "$root$place/given" {} +
  cp "$here/tests/packaging/source_package.sh" "$root$place"
  share_compiler_cache
  status=0
  inside "$place" "CCACHE_BASEDIR='$place' CCACHE_NOHASHDIR=1 \
    DEPUTY_CMAKE_ARGS='${DEPUTY_CMAKE_ARGS:-}' ./source_package.sh" || status=$?
  keep_archives
  exit "$status"
fi

# ---- the sources, as a clone would give them ---------------------------------------------------
copy_worktree() {
  (cd "$here" && git -c safe.directory='*' ls-files -co --exclude-standard -z |
    tar --null --files-from=- --ignore-failed-read -cf -) | tar -C "$root$here" --no-same-owner -xf -
}
# Uses the same path as here, because paths are among the compiler flags.
mkdir -p "$root$here"

# ---- the tests of a cross build ----------------------------------------------------------------
# The system with the packages of the tests is stored as an archive, because their installation takes long in an
# emulator. Omitted: an OpenCL device, whose compiler would be emulated, and a compiler cache.
install_test_packages() {
  local packages
  packages=$(sed -e 's/#.*//' "$here/tools/packages.txt" | grep -vxE 'ccache|pocl-opencl-icd|libclblast-dev|' | xargs)
  [ "$(cat "$root/installed_packages" 2>/dev/null)" != "$packages" ] || return 0
  inside / "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=3 --no-install-recommends install $packages" >"$work/apt.log" 2>&1 ||
    { tail -n 20 "$work/apt.log" >&2; exit 1; }
  keep_archives
  echo "$packages" >"$root/installed_packages"
  tar -C "$root" --one-file-system --numeric-owner --exclude='./var/cache/apt/archives/*.deb' --exclude='./dev/*' \
    -cf "$tests_archive.new" .
  mv "$tests_archive.new" "$tests_archive"
}

if [ "${1:-}" = --tests ]; then
  build=$(realpath "$2")
  shift 2
  install_test_packages
  copy_worktree
  mkdir -p "$root$build"
  build_mount=$build
  mount --bind "$build" "$root$build" || skip "may not mount $build"
  # The build's list of tests names qemu-aarch64 and the path of Python on this machine. Here binfmt_misc starts the
  # emulator, so that a script of that name drops its options and executes the test.
  printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift 2; done\nexec "$@"\n' >"$root/usr/local/bin/qemu-aarch64"
  chmod +x "$root/usr/local/bin/qemu-aarch64"
  python=$(sed -n 's/^_Python3_EXECUTABLE:INTERNAL=//p' "$build/CMakeCache.txt")
  if [ ! -e "$root$python" ]; then
    mkdir -p "$(dirname "$root$python")"
    ln -s /usr/bin/python3 "$root$python"
  fi
  echo "fresh: running the tests of $build on an emulated $name"
  status=0
  inside "$build" "'$here/tools/run_tests.py' \
    --durations '$here/tests/durations.txt' -- --no-tests=error --output-on-failure $*" || status=$?
  exit "$status"
fi

if [ "${1:-}" = --worktree ]; then
  copy_worktree
else
  git -c safe.directory='*' -C "$here" rev-parse -q --verify HEAD >/dev/null ||
    skip "no commit to test here"
  git -c safe.directory='*' -C "$here" archive HEAD | tar -C "$root$here" -xf -
fi

share_compiler_cache

# ---- the README's two commands -----------------------------------------------------------------
# Excludes the longest tests, whose results do not depend on the installed packages.
status=0
for command in 'make run' "make test CTEST_ARGS='-LE long'"; do
  echo "fresh: $command"
  begin=$SECONDS
  if inside "$here" "$command"; then
    echo "fresh: $command took $((SECONDS - begin)) s"
  else
    status=$?
    echo "fresh: $command failed with $status on a bare $suite" >&2
    break
  fi
done
keep_archives
exit "$status"
