#!/bin/sh
# Runs the blocks of a page: run_blocks.sh PAGE RESULT
#
# A block ```sh is run as it is, in the current folder; its output must be the block ```json or ```text that follows it.
# RESULT is the page with the actual output in those blocks: if both files are equal, the page is correct.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v to="$work/block" '
    /^```sh$/ { count += 1; file = to count ".sh"; next }
    /^```/ { if (file != "") close(file); file = "" }
    file != "" { print > file }' "$1"
for block in "$work"/block*.sh; do
    sh "$block" > "${block%.sh}.out" < /dev/null || true
done
awk -v from="$work/block" '
    /^```sh$/ { count += 1; ran = 1 }
    ran && /^```(json|text)$/ {
        print
        while ((getline line < (from count ".out")) > 0) print line
        skip = 1
        ran = 0
        next
    }
    /^```$/ { skip = 0 }
    !skip' "$1" > "$2"
