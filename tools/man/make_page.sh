#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes a manual page from the command's help: make_page.sh HELP2MAN DEPUTY PAGE [WORD]; WORD is a
# subcommand. The other sections are in deputy.h2m and subcommand.h2m in this directory. In a cross
# build, DEPUTY_EMULATOR is the command that runs DEPUTY.
set -eu

help2man=$1
deputy=$2
page=$3
word=${4:-}
emulator=${DEPUTY_EMULATOR:-}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# help2man runs a program with --help and --version, so `deputy run` is wrapped in a script, which
# also renames CLI11's heading of the operands. Lines of the help that begin with the command's name are
# moved to the section EXAMPLES.
cat >"$work/program" <<END
#!/bin/sh
if [ "\$1" = --version ]; then
  exec $emulator "$deputy" --version
fi
$emulator "$deputy" $word --help | grep -v '^  deputy ' | sed 's/^Positionals:/Operands:/'
END
chmod +x "$work/program"

include=$here/deputy.h2m
# shellcheck disable=SC2086  # The emulator's command is meant to be split.
run() { $emulator "$deputy" "$@"; }
about=$(run ${word:+"$word"} --help | sed -n 1p)
[ -z "$word" ] || include=$here/subcommand.h2m
{
  echo '[examples]'
  echo '.nf'
  # shellcheck disable=SC1003  # A backslash in a page is written \\e, a hyphen of an option \-.
  run ${word:+"$word"} --help | sed -n 's/^  \(deputy .*\)$/\1/p' | sed -e 's/\\/\\e/g' -e 's/-/\\-/g'
  echo '.fi'
  echo
  cat "$include"
} >"$work/include"
mkdir -p "$(dirname "$page")"
"$help2man" --no-info --section 1 --name "$about" --include "$work/include" \
  --version-string "$(run --version)" --output "$work/page" "$work/program"
# Replaces the program's name by that of the page.
name=deputy${word:+-$word}
sed -e "s/^\.TH [^ ]* /.TH $(echo "$name" | tr '[:lower:]' '[:upper:]') /" \
  -e "s/^deputy \\\\- /$(echo "$name" | sed 's/-/\\\\-/') \\\\- /" "$work/page" >"$page"
