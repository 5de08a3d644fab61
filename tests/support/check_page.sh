#!/bin/sh
# Runs the blocks of a page with a program, and compares the output: check_page.sh PAGE PROGRAM [--write] [FILE...]
#
# See run_blocks.sh for the blocks that are run. They find the program by its name, and copies of the files in their
# folder. --write writes the output into the page.
set -eu

page=$(realpath "$1")
program=$(realpath "$2")
shift 2
write=
if [ "${1:-}" = --write ]; then
    write=yes
    shift
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/play"
ln -s "$program" "$work/bin/"
[ $# = 0 ] || cp "$@" "$work/play"
PATH=$work/bin:$PATH
(cd "$work/play" && sh "$here/run_blocks.sh" "$page" "$work/page")

if [ "$write" ]; then
    cp "$work/page" "$page"
elif ! diff -u "$page" "$work/page"; then
    echo "$page shows what does not come of it; if it should, add --write" >&2
    exit 1
fi
