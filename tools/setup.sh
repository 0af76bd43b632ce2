#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages of the given lists (default: packages.txt in this directory). Queries
# dpkg first and exits immediately if nothing is missing. Works as root without sudo, otherwise
# through `sudo -n`, which never prompts for a password.
set -eu

here=$(dirname "$0")
[ $# -gt 0 ] || set -- "$here/packages.txt"

wanted=$(sed -e 's/#.*//' "$@" | tr -s ' \t\n' '   ')

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "setup: not a Debian system; please install equivalents of:$wanted" >&2
  exit 0
fi

# shellcheck disable=SC2086  # The list is meant to be split.
present=$(dpkg-query -W -f='${db:Status-Status}:${Package}\n' $wanted 2>/dev/null || true)
missing=
for package in $wanted; do
  case "
$present
" in
    *"
installed:$package
"*) ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  echo "setup: neither root nor sudo without a password. Please run as root:" >&2
  echo "  apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

# The package lists of a fresh machine are empty or outdated: update once, then install.
# shellcheck disable=SC2086
"$here/step.sh" build/setup-lists.log "setup: update the package lists" \
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 update ||
  echo "setup: apt-get update failed, using the existing package lists" >&2
count=$(echo "$missing" | wc -w)
# shellcheck disable=SC2086
if ! "$here/step.sh" build/setup.log "setup: install $count packages" \
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends \
    -o Dpkg::Options::=--force-confold -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
    install $missing; then
  echo "setup: could not install$missing" >&2
  exit 1
fi
